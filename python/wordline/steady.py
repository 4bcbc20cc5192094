"""How many runs an answer rests on, how many are steady, and how long the others must be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wordline import _wordline

#: The share of the runs of a scheme that must be steady for an answer to rest on them, as in the
#: headline of a report: of long runs as many are called steady.
ENOUGH = 0.8


@dataclass(frozen=True)
class Steady:
    """Runs, and how many of them are steady."""

    steady: int
    runs: int
    #: The requests with which each of the others may be steady, too; 0 where that is not known.
    needed: int = 0

    @property
    def is_enough(self) -> bool:
        """Whether an answer may rest on them."""
        return self.runs > 0 and self.steady >= ENOUGH * self.runs

    def __add__(self, other: Steady) -> Steady:
        """Return both together."""
        needed = max(self.needed, other.needed)
        return Steady(self.steady + other.steady, self.runs + other.runs, needed)

    def __str__(self) -> str:
        """Say it in words: ``48 of 300 runs steady``."""
        return f"{self.steady:,} of {self.runs:,} {'run' if self.runs == 1 else 'runs'} steady"


#: No runs at all.
NO_RUNS = Steady(0, 0)


def of_reports(reports: Iterable[Mapping[str, Any]]) -> Steady:
    """Count runs by their reports; one that was not judged is not known to be steady."""
    found = list(reports)
    reached = [(r.get("steady_state") or {}).get("reached") == "yes" for r in found]
    needed = _wordline.needed([json.dumps(r) for r in found])
    return Steady(sum(reached), len(reached), needed or 0)


def answer(figures: Mapping[str, Any], rests: Sequence[Steady]) -> str:
    """Say what figures come to, in words by name, or that it is not known.

    It is not where too few runs are steady of a scheme that they rest on.
    """
    runs = sum(rests, NO_RUNS)
    if not all(of.is_enough for of in rests):
        longer = f"such as with requests={runs.needed}" if runs.needed else "with more requests"
        return f"not known: run longer, {longer} ({runs})"
    return ", ".join(f"{name} {figure}" for name, figure in figures.items()) + f" ({runs})"
