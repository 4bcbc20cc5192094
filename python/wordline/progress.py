"""Progress on standard error: bars on a terminal, else lines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from wordline import Run
from wordline.commands import tell


def rate(per_second: float) -> str:
    """Return a rate with three digits, such as ``79.3 k/s``."""
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")):
        # What rounds to a thousand is shown in the next unit.
        if per_second >= 0.9995 * size or not sign:
            value = per_second / size
            digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
            return f"{value:.{digits}f} {sign}/s"
    return ""


class _Left(ProgressColumn):
    """The remaining time, once it is known."""

    def render(self, task: Task) -> Text:
        left = task.time_remaining
        if left is None or task.finished:
            return Text("")
        return Text(f"{left / 60:.0f} min left" if left >= 100 else f"{left:.0f} s left")


class Bars:
    """Shows runs on standard error while they go. A context manager."""

    def __init__(self, total: int, name: Callable[[Run], str]) -> None:
        """Take the number of runs, and the name of a run on its bar."""
        self._name, self._total = name, total
        self._done = self._found = 0
        self._begin = time.perf_counter()
        self._begun: dict[Run, float] = {}
        console = Console(stderr=True)
        texts = (TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.fields[note]}"))
        columns = (*texts, TimeElapsedColumn(), _Left())
        self._progress = Progress(*columns, console=console, transient=True)
        self._watched = console.is_terminal
        self._all = self._progress.add_task("runs", total=total, note=f"0 of {total}")
        self._tasks: dict[Run, TaskID] = {}

    def __enter__(self) -> Bars:
        """Begin to show."""
        if self._watched:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bars away."""
        if self._watched:
            self._progress.stop()

    def watch(self, run: Run, completed: int, now: float) -> None:
        """Take in how far a run is."""
        self._begun.setdefault(run, time.perf_counter())
        if not self._watched:
            return
        if run not in self._tasks:
            total = run.requests
            self._tasks[run] = self._progress.add_task(self._name(run), total=total, note="")
        seconds = time.perf_counter() - self._begun[run]
        speed = f" at {rate(completed / seconds)}" if seconds > 0 else ""
        note = f"{completed:,} requests{speed}, {now / 3600:.2f} h simulated"
        self._progress.update(self._tasks[run], completed=completed, note=note)

    def ended(self, run: Run, found: bool) -> None:
        """Take in that a run has ended."""
        self._done += 1
        self._found += found
        note = f"{self._done} of {self._total}"
        self._progress.update(self._all, advance=1, note=note)
        if run in self._tasks:
            self._progress.remove_task(self._tasks.pop(run))
        if not (found or self._watched):
            seconds = time.perf_counter() - self._begun.get(run, self._begin)
            tell(f"[{self._done}/{self._total}] {self._name(run)}: {seconds:.0f} s")

    def summary(self) -> str:
        """Say how many runs there were, and how long they took."""
        seconds, done = time.perf_counter() - self._begin, self._done - self._found
        runs = "run" if done == 1 else "runs"
        return f"{done} {runs} done and {self._found} found in {seconds:.0f} s"


#: Seconds between two lines that say how far long work is.
_EVERY = 10.0


class Meter:
    """Shows how far several pieces of work are, each with a name. A context manager.

    On a terminal each has a bar; else each that goes on has a line every ten seconds.
    """

    def __init__(self, names: Sequence[str], every: float = _EVERY) -> None:
        """Take the names of what goes in parallel."""
        console = Console(stderr=True)
        texts = (TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.fields[note]}"))
        self._progress = Progress(
            *texts, TimeElapsedColumn(), _Left(), console=console, transient=True
        )
        self._watched, self._every = console.is_terminal, every
        self._notes: dict[str, str] = {}
        self._tasks = {
            name: self._progress.add_task(name, total=None, note="")
            for name in dict.fromkeys(names)
        }
        self._ended = threading.Event()

    def __enter__(self) -> Meter:
        """Begin to show."""
        if self._watched:
            self._progress.start()
        else:
            threading.Thread(target=self._say, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bars away."""
        self._ended.set()
        if self._watched:
            self._progress.stop()

    def _say(self) -> None:
        begin = time.monotonic()
        while not self._ended.wait(self._every):
            for name, note in list(self._notes.items()):
                self.tell(f"{name}: {note}, {time.monotonic() - begin:.0f} s")

    def see(self, name: str, note: str, share: float | None) -> None:
        """Take in how far one is: in words, and as a share from 0 to 1 if it is known."""
        percent = "" if share is None else f" {100 * min(share, 1.0):.0f} %"
        self._notes[name] = note + percent
        total = None if share is None else 1.0
        self._progress.update(self._tasks[name], total=total, completed=share or 0.0, note=note)

    def ended(self, name: str) -> None:
        """Take in that one has ended."""
        self._notes.pop(name, None)
        self._progress.update(self._tasks[name], visible=False)

    def tell(self, text: str) -> None:
        """Print a line that stays."""
        if self._watched:
            self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            tell(text)
