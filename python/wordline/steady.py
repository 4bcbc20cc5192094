"""How many runs an answer rests on, and how many of them are steady."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: The share of the runs of a scheme that must be steady for an answer to rest on them, as in the
#: headline of a report: of long runs as many are called steady.
ENOUGH = 0.8


@dataclass(frozen=True)
class Steady:
    """Runs, and how many of them are steady.

    Attributes
    ----------
    steady, runs
        Counts.
    """

    steady: int
    runs: int

    @property
    def is_enough(self) -> bool:
        """Whether an answer may rest on them."""
        return self.runs > 0 and self.steady >= ENOUGH * self.runs

    def __add__(self, other: Steady) -> Steady:
        """Return both together."""
        return Steady(self.steady + other.steady, self.runs + other.runs)

    def __str__(self) -> str:
        """Say it in words: ``48 of 300 runs steady``."""
        return f"{self.steady:,} of {self.runs:,} {'run' if self.runs == 1 else 'runs'} steady"


#: No runs at all.
NO_RUNS = Steady(0, 0)


def of_reports(reports: Iterable[Mapping[str, Any]]) -> Steady:
    """Count runs by their reports; one that was not judged is not known to be steady."""
    reached = [(r.get("steady_state") or {}).get("reached") == "yes" for r in reports]
    return Steady(sum(reached), len(reached))


def answer(figures: Mapping[str, Any], rests: Sequence[Steady], longer: str) -> str:
    """Say what figures come to, or that it is not known where too few runs are steady.

    Parameters
    ----------
    figures
        By name, in words.
    rests
        The runs of each scheme that they rest on.
    longer
        What makes the runs longer.
    """
    runs = sum(rests, NO_RUNS)
    if not all(of.is_enough for of in rests):
        return f"not known: run longer, {longer} ({runs})"
    return ", ".join(f"{name} {figure}" for name, figure in figures.items()) + f" ({runs})"


def longer(requests: int | None) -> str:
    """Say what makes runs of so many requests longer, or of as many as their workloads have."""
    return "with more requests" if requests is None else f"such as with requests={4 * requests}"
