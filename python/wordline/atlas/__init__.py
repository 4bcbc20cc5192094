"""Where each scheme pays: every scheme and combination under many conditions: ``wordline atlas``.

`design` says what is run, `execute` runs it, `cells` holds what came out, `judge` takes means and
intervals of it, `findings` says it in words, `page` and `report` show it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wordline import Refused, UserError, _wordline
from wordline.commands import SWEEP, perform

#: Of an atlas of one's own workload, where nothing is said.
SEEDS, REQUESTS = 5, 50_000


def main(**arguments: Any) -> int:
    """Do ``wordline atlas``; return its exit code: 0, or 2 where the input is wrong, or 1."""
    return perform("atlas", SWEEP, lambda: make(**arguments))


def make(
    *,
    workload: str | None = None,
    device: str | None = None,
    schemes: Sequence[str] = (),
    seeds: int | None = None,
    requests: int | None = None,
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
        As `wordline.run`.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from wordline.atlas import design as designs
    from wordline.atlas import findings, report
    from wordline.atlas.execute import SERIES, Performer
    from wordline.cluster import at
    from wordline.quantity import duration
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
    if seeds is not None and seeds > 10:
        raise UserError(f"--seeds {seeds}: at most 10")
    if workload is None or device is None:
        if schemes:
            raise UserError("--scheme goes with a workload and a device of your own")
        design = designs.built_in(seeds=seeds, requests=requests)
        command = "wordline reproduce atlas"
    else:
        design = designs.of_workload(
            workload,
            device,
            schemes=_schemes(device, schemes),
            seeds=seeds or SEEDS,
            requests=requests or REQUESTS,
        )
        command = f"wordline atlas --workload {workload} --device {device}"
    command += f" --seeds {seeds}" if seeds else ""
    command += f" --requests {requests}" if requests else ""
    folder = Path(out) if out else Path("out/atlas")
    at_once, executor = at(on, jobs)
    runner = Runner(
        folder / "runs",
        jobs=at_once,
        executor=executor,
        leave_out=SERIES,
        refusals=(Refused, UserError),
    )
    performer = Performer(design, runner)
    print(
        f"{performer.runs():,} runs: {len(design.conditions)} conditions on {len(design.drives)} "
        f"{'drive' if len(design.drives) == 1 else 'drives'}, {design.seeds} seeds"
    )
    if dry_run:
        print(performer.forecast())
        return
    begin = time.perf_counter()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(24),
        TextColumn("{task.completed} of {task.total} conditions"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task("atlas", total=design.condition_count())

        def told(drive: str, number: int, condition: designs.Condition) -> None:
            bars.update(task, advance=1, description=f"{drive}: {condition}")

        performer.told = told
        atlas = performer.perform()
    written = report.write(atlas, folder, command)
    for number, sentence in enumerate(findings.sentences(atlas), 1):
        print(f"{number}. {sentence.replace('`', '')}")
    print(f"took {duration(time.perf_counter() - begin)}")
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
