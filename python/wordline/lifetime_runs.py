"""Lifetime runs, each stored as soon as it ends, on this machine or a cluster."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from wordline import Run, UserError, _wordline
from wordline._result import Lifetimes
from wordline._run import Progress, asked, asked_of, native
from wordline.commands import command, settings, tell
from wordline.runs import Runner, write_whole


@dataclass(frozen=True)
class Life(Run):
    """One drive under one scheme, with a workload repeated until it wears out."""

    acceleration: int = 1  #: Cycles that each of its erases stands for.
    shelf: str | None = None  #: Time on the shelf after each pass of the workload.
    end: str = "capacity"  #: What ends it, as for `wordline.lifetime`.

    def identity(self) -> dict[str, Any]:
        """Return everything that determines the result, without running; errors as for a run."""
        worn = (("wear.enforce", "true"), ("wear.acceleration", str(self.acceleration)))
        run = Run.identity(replace(self, set=(*self.set, *worn)))
        return {**run, "shelf": self.shelf, "end": self.end}

    def kept(self, save_state: str | None, progress: Progress | None) -> str:
        """Execute it in this thread and return its lifetime as JSON; errors as for a run."""

        def told(_: int, __: int, drive_writes: float) -> None:
            if progress is not None:
                progress(0, 0, 0.0)

        return _wordline.lifetime(asked(self), [native(self)], self.asked(), 1, told)

    def asked(self) -> dict[str, Any]:
        """Return what the native half takes of a life."""
        return asked_life(self.acceleration, self.shelf, self.end, checks_acceleration=False)


def asked_life(
    acceleration: int | None, shelf: str | None, end: str, *, checks_acceleration: bool
) -> dict[str, Any]:
    """Return how drives live as the native half takes it.

    Raises `UserError`: the acceleration is out of its bounds.
    """
    if acceleration is not None and not 1 <= acceleration < 2**32:
        raise UserError(f"acceleration={acceleration} is not between 1 and 2**32 - 1")
    ends = {"checks_acceleration": checks_acceleration, "shelf": shelf, "end": end}
    return {"acceleration": acceleration, **ends}


def live(
    run: Run,
    replicas: int,
    schemes: Sequence[str],
    life: dict[str, Any],
    runner: Runner,
    begin: Callable[[int], None] = lambda count: None,
) -> Lifetimes:
    """Execute the lifetime runs that are not stored yet, and combine all; `asked_life` says how.

    They have a run's device, workload and first seed in common; the first scheme is the baseline.
    ``begin`` is told how many lives there are. Raises as for `wordline.lifetime`.
    """
    wanted, names = asked_of(run, schemes, replicas)
    common = {f.name: getattr(run, f.name) for f in fields(Run)}
    common |= {key: life[key] for key in ("shelf", "end")}
    lives = [
        Life(**{**common, "scheme": schemes[at], "seed": seed, "acceleration": acceleration})
        for at, seed, acceleration in _wordline.lives(wanted, names, life)
    ]
    begin(len(lives))
    for error in runner.do(lives).values():
        raise error
    kept = [runner.path(one).read_text(encoding="utf-8") for one in lives]
    return Lifetimes(_wordline.lives_together(wanted, names, life, kept))


@command("lifetime", ())
def main(
    *,
    run: Sequence[str],
    schemes: Sequence[str],
    on: str,
    out: str,
    set: Sequence[str],
    replicas: int,
    end: str,
    acceleration: int | None = None,
    shelf: str | None = None,
    **of_run: Any,
) -> None:
    """Do ``wordline lifetime --on``."""
    from wordline.cluster import at

    at_once, executor = at(on)
    device, workload = run
    wanted = Run(device, schemes[0], workload, set=tuple(settings(set).items()), **of_run)
    count, ended = 0, itertools.count(1)

    def begin(lives: int) -> None:
        nonlocal count
        count = lives

    def show_run(run: Run, found: bool) -> None:
        life = f", acceleration {run.acceleration}" if isinstance(run, Life) else ""
        what = "was kept" if found else "has ended"
        name = f"{run.scheme}, seed {run.seed}{life}"
        tell(f"[{next(ended)}/{count}] {name}: {what}")

    kept = Path(out) / "runs"
    runner = Runner(kept, jobs=at_once, executor=executor, refusals=(), ended=show_run)
    life = asked_life(acceleration, shelf, end, checks_acceleration=True)
    lived = live(wanted, replicas, schemes, life, runner, begin)
    print(lived, end="")
    for path in save(lived, Path(out)):
        tell(f"wrote {path}")


def save(lived: Lifetimes, folder: Path) -> list[Path]:
    """Write lifetimes as the native command does; return what was written."""
    texts = {"phases.csv": lived.csv()}
    for figure in lived.figures():
        texts[f"figures/{figure.name}.svg"] = figure.svg
        texts[f"figures/{figure.name}.csv"] = figure.csv
    texts |= {"lifetime.html": lived.html(), "lifetime.json": lived.json}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, text.encode())
    return [folder / name for name in texts]
