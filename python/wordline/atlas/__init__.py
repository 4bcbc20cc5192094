"""Where each scheme pays: every scheme and combination under many conditions: ``wordline atlas``.

`design` says what is run; `execute` runs it, `cells` holds what came out, `judge` takes means and
intervals of it, and `findings` says it in words; `page` and `report` show it. The laboratory makes
the published atlas of these.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wordline import Refused, UserError, _wordline
from wordline.commands import SWEEP, command, tell
from wordline.quantity import duration

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from wordline.atlas.cells import Atlas
    from wordline.atlas.design import Condition, Design
    from wordline.atlas.report import Words
    from wordline.runs import Runner

#: Of an atlas of one's own workload, where nothing is said.
SEEDS, REQUESTS = 5, 50_000
#: Characters of the bar of the conditions.
_BAR = 24
#: Seeds that an interval may stand on.
MOST_SEEDS = 10


@command("atlas", SWEEP)
def main(
    *,
    workload: str | None = None,
    device: str | None = None,
    schemes: Sequence[str] = (),
    seeds: int | None = None,
    most_seeds: int | None = None,
    requests: int | None = None,
    out: str | None = None,
    jobs: int | None = None,
    on: str | None = None,
    dry_run: bool = False,
) -> None:
    """Do ``wordline atlas``: make the atlas of one workload on one drive.

    Without schemes it is of every one that the device admits; ``seeds`` and ``requests`` are those
    of each run, and ``most_seeds`` is twice ``seeds`` if not given. ``out`` gets page, data,
    pictures and the reports of all runs.
    """
    from wordline import Run
    from wordline._run import asked
    from wordline.atlas import design as designs

    if workload is None or device is None:
        missing = "device" if device is None else "workload"
        raise UserError(
            f"--{missing} is missing: set both workload and device for your own atlas, or "
            "neither for the published one"
        )
    given = extent(seeds, most_seeds, requests)
    first = seeds or SEEDS
    folder = Path(out or "out/atlas")
    # Without names those that the device admits.
    probe = asked(Run(device=device, scheme="conventional", workload="uniform:requests=1"))
    admitted, _ = _wordline.admitted(probe, list(schemes) or [_wordline.ALL_COMPATIBLE])
    design = designs.of_workload(
        workload,
        device,
        schemes=admitted,
        seeds=first,
        most_seeds=most_seeds or first + max(first, 2),
        requests=requests or REQUESTS,
    )
    own = ["--workload", workload, "--device", device]
    own += [word for scheme in schemes for word in ("--scheme", scheme)]
    if atlas := carry_out(design, runner_in(folder, jobs, on), dry_run=dry_run):
        show(atlas, folder, f"wordline atlas {shlex.join(own)}{given}")


def extent(seeds: int | None, most_seeds: int | None, requests: int | None) -> str:
    """Return the options that say how much is run, as a command spells them.

    Raises `UserError`: there are no requests, or no interval can stand on the further seeds.
    """
    if requests is not None and requests < 1:
        raise UserError(f"--requests {requests}: it must be at least 1")
    first = seeds or SEEDS
    if most_seeds is not None and not (
        first == most_seeds or first + 2 <= most_seeds <= first + MOST_SEEDS
    ):
        raise UserError(
            f"--most-seeds {most_seeds}: with {first} seeds it must be {first} (no further seeds), "
            f"or {first + 2} to {first + MOST_SEEDS}, since an interval needs two further seeds"
        )
    given = {"seeds": seeds, "most-seeds": most_seeds, "requests": requests}
    return "".join(f" --{name} {number}" for name, number in given.items() if number)


def runner_in(folder: Path, jobs: int | None, on: str | None) -> Runner:
    """Return what does the runs of an atlas and keeps them in its folder."""
    from wordline.atlas.execute import SERIES
    from wordline.cluster import at
    from wordline.runs import Runner

    refusals = (Refused, UserError)
    return Runner(folder / "runs", *at(on, jobs), leave_out=SERIES, refusals=refusals)


def carry_out(design: Design, runner: Runner, *, dry_run: bool = False) -> Atlas | None:
    """Do the runs of a design; only say how many there are and how long they take if it is dry."""
    from rich.console import Console

    from wordline.atlas.execute import Performer

    performer = Performer(design, runner)
    print(
        f"{design.title}: {performer.runs():,} runs: {len(design.conditions)} conditions on "
        f"{len(design.drives)} {'drive' if len(design.drives) == 1 else 'drives'}, "
        f"{design.seeds} seeds"
    )
    if further := performer.further():
        print(
            f"and up to {further:,} with additional seeds, where the best two do not differ "
            "significantly"
        )
    if design.longest > 1:
        print(f"runs of conditions that have not settled become {design.longest} times as long")
    if design.fit:
        print(f"requests beyond the drive: fit={design.fit} (change with WORKLOAD:fit=compact)")
    if dry_run:
        print(performer.forecast())
        return None
    begin = time.perf_counter()
    console = Console(stderr=True)
    with _bars(console) as bars:
        total = design.condition_count()
        task = bars.add_task("atlas", total=total)

        def told(drive: str, number: int, condition: Condition) -> None:
            described = _cut(f"{drive}: {condition}", console.width, total)
            bars.update(task, advance=1, description=described)

        performer.told = told
        atlas = performer.perform()
    print(f"took {duration(time.perf_counter() - begin)}")
    return atlas


def _bars(console: Console) -> Progress:
    """Return the bar of the conditions, on one line."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(_BAR),
        TextColumn("{task.completed} of {task.total} conditions"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console)


def _cut(text: str, width: int, total: int) -> str:
    """Cut what stands before the bar, so that the number and the remaining time have room."""
    room = max(1, width - _BAR - len(f"{total} of {total} conditions") - len("0:00:00") - 3)
    return text if len(text) <= room else f"{text[: room - 1]}…"


def show(atlas: Atlas, folder: Path, command: str, words: Words | None = None) -> None:
    """Write the folder of an atlas as `wordline.atlas.report.write`, and say what came out."""
    from wordline.atlas import findings, report

    words = words or report.Words(findings.sentences(atlas))
    written = report.write(atlas, folder, command, words)
    for number, sentence in enumerate(words.sentences, 1):
        print(f"{number}. {sentence.replace('`', '')}")
    if command := report.longer(atlas, command, words.sentences):
        print("longer runs:")
        print(command)
    page = next(path for path in written if path.name == "index.html")
    tell(f"wrote {len(written)} files; the page is {page}")
