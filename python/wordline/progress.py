"""How far many runs are: bars where somebody watches, a line for each run that ends elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from wordline.runs import Run


class Bars:
    """Shows runs on standard error while they go. A context manager."""

    def __init__(self, total: int, name: Callable[[Run], str]) -> None:
        self._name = name
        self._total = total
        self._done = 0
        self._found = 0
        self._begin = time.perf_counter()
        self._begun: dict[Run, float] = {}
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._watched = console.is_terminal
        self._all = self._progress.add_task("runs", total=total, note="")
        self._tasks: dict[Run, int] = {}

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
            self._tasks[run] = self._progress.add_task(self._name(run), total=None, note="")
        note = f"requests, {now / 3600:.2f} h"
        self._progress.update(self._tasks[run], completed=completed, note=note)

    def ended(self, run: Run, found: bool) -> None:
        """Take in that a run has ended."""
        self._done += 1
        self._found += found
        self._progress.advance(self._all)
        if run in self._tasks:
            self._progress.remove_task(self._tasks.pop(run))
        if found or self._watched:
            return
        seconds = time.perf_counter() - self._begun.get(run, self._begin)
        at = f"[{self._done}/{self._total}]"
        print(f"{at} {self._name(run)}: {seconds:.0f} s", file=sys.stderr, flush=True)

    def summary(self) -> str:
        """Say how many runs there were, and how long they took."""
        seconds = time.perf_counter() - self._begin
        done = self._done - self._found
        return f"{done} runs done and {self._found} found in {seconds:.0f} s"
