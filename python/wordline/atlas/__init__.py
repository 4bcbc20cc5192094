"""Where each scheme pays: every scheme and combination under many conditions: ``wordline atlas``.

`design` says what is run, and `pieces` which real traces; `execute` runs it, `cells` holds what
came out, `judge` takes means and intervals of it, `findings` says it in words, and `beside` how
real traces compare with twins; `page` and `report` show it.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordline import Refused, UserError, _wordline
from wordline.commands import SWEEP, perform
from wordline.quantity import duration

if TYPE_CHECKING:
    from wordline.atlas.cells import Atlas
    from wordline.atlas.design import Condition, Design
    from wordline.runs import Runner

#: Of an atlas of one's own workload, where nothing is said.
SEEDS, REQUESTS = 5, 50_000
#: Seeds that an interval may stand on.
MOST_SEEDS = 10
#: The parts of the published atlas, in the order in which they are done: real traces beside twins,
#: which have a folder of that name, and twins alone.
PARTS = TRACES, TWINS = "pieces", "twins"


def main(**arguments: Any) -> int:
    """Do ``wordline atlas``; return its exit code: 0, or 2 where the input is wrong, or 1."""
    return perform("atlas", SWEEP, lambda: make(**arguments))


def make(
    *,
    workload: str | None = None,
    device: str | None = None,
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
    """Make the published atlas, or that of one workload on one drive.

    Parameters
    ----------
    workload, device, schemes
        Of an atlas of one's own; every scheme that the device admits if none is named.
    seeds, requests
        Of each run.
    most_seeds
        Up to which seed the best two schemes of a condition run that are not apart; twice `seeds`
        of an atlas of one's own, and no more than `seeds` of the published one.
    traces
        A folder of real traces, which are run beside twins and have a page of their own.
    only
        Patterns of the parts of the published atlas that are done, of `PARTS`.
    out
        Where its page, data and pictures go, and the reports of all runs.
    jobs
        Runs that go at once; as many as there are cores if not given.
    on
        In place of `jobs` that number, or a cluster: ``dask://HOST:PORT``.
    dry_run
        Only say how many runs there are, and how long they take.

    Raises
    ------
    UserError, Fault
        As `wordline.run`; real traces are asked for and there are none.
    """
    from wordline.atlas import design as designs
    from wordline.atlas import page, pieces, report
    from wordline.atlas.execute import SERIES
    from wordline.cluster import at
    from wordline.runs import Runner

    if (workload is None) != (device is None):
        missing = "device" if device is None else "workload"
        raise UserError(
            f"--{missing} is missing: give workload and device for an atlas of your own, or "
            "neither for the published one"
        )
    for number, name in ((seeds, "seeds"), (requests, "requests")):
        if number is not None and number < 1:
            raise UserError(f"--{name} {number}: it must be at least 1")
    if seeds is not None and seeds > MOST_SEEDS:
        raise UserError(f"--seeds {seeds}: at most {MOST_SEEDS}")
    first = seeds or SEEDS
    if most_seeds is not None and not (
        first == most_seeds or first + 2 <= most_seeds <= first + MOST_SEEDS
    ):
        raise UserError(
            f"--most-seeds {most_seeds}: with {first} seeds it must be {first}, for no more, or "
            f"{first + 2} to {first + MOST_SEEDS}: an interval needs two further seeds"
        )
    folder = Path(out) if out else Path("out/atlas")
    given = f" --seeds {seeds}" if seeds else ""
    given += f" --most-seeds {most_seeds}" if most_seeds else ""
    given += f" --requests {requests}" if requests else ""
    at_once, executor = at(on, jobs)
    runner = Runner(
        folder / "runs",
        jobs=at_once,
        executor=executor,
        leave_out=SERIES,
        refusals=(Refused, UserError),
    )
    if workload is not None and device is not None:
        design = designs.of_workload(
            workload,
            device,
            schemes=_schemes(device, schemes),
            seeds=first,
            most_seeds=most_seeds or first + max(first, 2),
            requests=requests or REQUESTS,
        )
        own = ["--workload", workload, "--device", device]
        own += [word for scheme in schemes for word in ("--scheme", scheme)]
        command = f"wordline atlas {shlex.join(own)}{given}"
        if atlas := _perform(design, runner, dry_run):
            _show(atlas, folder, command)
        return
    if schemes:
        raise UserError("--scheme goes with a workload and a device of your own")
    parts = _parts(only, traces)
    if traces and TRACES in parts:
        design, lacks = pieces.design(traces, seeds=seeds, requests=requests)
        if lacks:
            print(f"{traces} lacks {', '.join(lacks)}: not run", file=sys.stderr)
        command = f"wordline reproduce atlas --only {TRACES} --traces DIR"
        if atlas := _perform(design, runner, dry_run):
            _show(atlas, folder / TRACES, command)
    twins = replace(designs.built_in(seeds=seeds, requests=requests), most_seeds=most_seeds or 0)
    command = f"wordline atlas{given}" if given else "wordline reproduce atlas"
    if TWINS in parts:
        if atlas := _perform(twins, runner, dry_run):
            _show(atlas, folder, command, pieces.section(folder / TRACES))
    elif not dry_run:
        # What the traces came to is told on the page of the twins that is there.
        kept = page.data_of(folder / "index.html")
        if kept is not None and kept.title == twins.title:
            report.write(kept, folder, command, pieces.section(folder / TRACES))


def _parts(only: Sequence[str], traces: str | None) -> list[str]:
    """Return the parts of the published atlas that are asked for and can be done."""
    from wordline.atlas import pieces

    for pattern in only:
        if not any(fnmatchcase(part, pattern) for part in PARTS):
            raise UserError(f"--only {pattern}: the atlas has the parts {' and '.join(PARTS)}")
    parts = [p for p in PARTS if not only or any(fnmatchcase(p, pattern) for pattern in only)]
    if parts == [TRACES] and not traces:
        raise UserError(
            f"--only {TRACES}: --traces DIR is missing: name a folder that has one of "
            f"{pieces.files()}"
        )
    return parts


def _perform(design: Design, runner: Runner, dry_run: bool) -> Atlas | None:
    """Do the runs of a design; only say how many there are and how long they take if it is dry."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from wordline.atlas.execute import Performer

    performer = Performer(design, runner)
    print(
        f"{design.title}: {performer.runs():,} runs: {len(design.conditions)} conditions on "
        f"{len(design.drives)} {'drive' if len(design.drives) == 1 else 'drives'}, "
        f"{design.seeds} seeds"
    )
    if further := performer.further():
        print(f"and up to {further:,} with further seeds, where the best two are not apart")
    if dry_run:
        print(performer.forecast())
        return None
    columns = (
        TextColumn("{task.description}"),
        BarColumn(24),
        TextColumn("{task.completed} of {task.total} conditions"),
        TimeRemainingColumn(),
    )
    begin = time.perf_counter()
    with Progress(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task("atlas", total=design.condition_count())

        def told(drive: str, number: int, condition: Condition) -> None:
            bars.update(task, advance=1, description=f"{drive}: {condition}")

        performer.told = told
        atlas = performer.perform()
    print(f"took {duration(time.perf_counter() - begin)}")
    return atlas


def _show(atlas: Atlas, folder: Path, command: str, section: str = "") -> None:
    """Write the folder of an atlas, and say what came out."""
    from wordline.atlas import report

    written = report.write(atlas, folder, command, section)
    for number, sentence in enumerate(report.sentences(atlas), 1):
        print(f"{number}. {sentence.replace('`', '')}")
    if command := report.longer(atlas, command):
        print("longer runs:")
        print(command)
    page = next(path for path in written if path.name == "index.html")
    print(f"wrote {len(written)} files; the page is {page}", file=sys.stderr)


def _schemes(device: str, named: Sequence[str]) -> list[str]:
    """Return the schemes asked for, or every one that a device admits."""
    from wordline import Run
    from wordline._run import asked

    wanted = list(named) or [_wordline.ALL_COMPATIBLE]
    run = Run(device=device, scheme="conventional", workload="uniform:requests=1")
    found, _ = _wordline.admitted(asked(run), wanted)
    return found
