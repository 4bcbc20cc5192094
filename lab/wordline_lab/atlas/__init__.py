"""The published atlas: ``wordline atlas`` without a workload of one's own.

`published` lists the runs on twins, and `pieces` those on real traces; `trace_vs_twin` compares the
two, `tuning_gains` reports the gains of tuning, and `words` writes both into the text. `tuning`
describes the search of `wordline_lab.tuning` for parameters, and `tuned` reads its results. `kept`
reads the data of a page back.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from wordline import UserError
from wordline.commands import SWEEP, perform

#: Its parts, in the order in which they are done: real traces beside twins, which have a folder of
#: that name, and twins alone.
PARTS = TRACES, TWINS = "pieces", "twins"


def main(**arguments: Any) -> int:
    """Execute ``wordline atlas``; return its exit code: 0, or 2 where the input is wrong, or 1."""
    return perform("atlas", SWEEP, lambda: make(**arguments))


def make(
    *,
    schemes: Sequence[str] = (),
    seeds: int | None = None,
    most_seeds: int | None = None,
    requests: int | None = None,
    traces: str | None = None,
    only: Sequence[str] = (),
    out: str | None = None,
    jobs: int | None = None,
    on: str | None = None,
    dry_run: bool = False,
) -> None:
    """Make the published atlas.

    Parameters
    ----------
    schemes
        None may be named: it has its own.
    seeds, most_seeds, requests
        In place of its own, for a smaller or a longer one; `most_seeds` is no more than `seeds` if
        not given.
    traces
        A folder of real traces, which are run beside twins and have a page of their own.
    only
        Patterns of the parts that are done, of `PARTS`.
    out, jobs, on, dry_run
        As `wordline.atlas.make`.

    Raises
    ------
    UserError, Fault
        As `wordline.run`; real traces are asked for and there are none.
    """
    from wordline import atlas as own
    from wordline.atlas import report
    from wordline_lab.atlas import kept as pages
    from wordline_lab.atlas import pieces, published, words

    given = own.extent(seeds, most_seeds, requests)
    if schemes:
        raise UserError("--scheme requires --workload and --device")
    folder = Path(out) if out else Path("out/atlas")
    runner = own.runner_in(folder, jobs, on)
    parts = _parts(only, traces)
    if traces and TRACES in parts:
        design, lacks = pieces.design(traces, seeds=seeds, requests=requests)
        if lacks:
            print(f"{traces} lacks {', '.join(lacks)}: not run", file=sys.stderr)
        command = f"wordline atlas --only {TRACES} --traces DIR"
        if atlas := own.carry_out(design, runner, dry_run=dry_run):
            atlas = design.came_to(atlas)
            own.show(atlas, folder / TRACES, command, words.of(atlas))
    twins = published.built_in(seeds=seeds, requests=requests)
    twins = replace(twins, most_seeds=most_seeds or 0)
    command = f"wordline atlas{given}"
    if TWINS in parts:
        if atlas := own.carry_out(twins, runner, dry_run=dry_run):
            atlas = twins.came_to(atlas)
            own.show(atlas, folder, command, words.of(atlas, pieces.section(folder / TRACES)))
    elif not dry_run:
        # What the traces came to is told on the page of the twins that is there.
        kept = pages.data_of(folder / "index.html")
        if kept is not None and kept.title == twins.title:
            text = words.of(kept, pieces.section(folder / TRACES))
            report.write(kept, folder, command, text)


def _parts(only: Sequence[str], traces: str | None) -> list[str]:
    """Return the parts of the published atlas that are asked for and can be done."""
    from wordline_lab.atlas import pieces

    for pattern in only:
        if not any(fnmatchcase(part, pattern) for part in PARTS):
            raise UserError(f"--only {pattern}: unknown part; allowed: {' and '.join(PARTS)}")
    parts = [p for p in PARTS if not only or any(fnmatchcase(p, pattern) for pattern in only)]
    if parts == [TRACES] and not traces:
        raise UserError(
            f"--only {TRACES}: --traces DIR is missing: name a folder that has one of "
            f"{pieces.files()}"
        )
    return parts
