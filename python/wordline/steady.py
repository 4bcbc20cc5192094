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
    changing: int = 0  #: Runs at whose end something still changes; the others are too short.
    #: Whether the question is of these very requests, so that no steady state is asked for.
    is_finite: bool = False
    #: The options with which the others may be steady, as the engine gives them: for each way in
    #: which runs end, such as with their trace, the keys of ``--set``, or "" for ``--requests``,
    #: with their numbers.
    options: Sequence[Mapping[str, int]] = ()
    ways: Sequence[str] = ()  #: What makes the runs longer that no option does, in words.

    @property
    def is_steady(self) -> bool:
        """Whether enough of them are steady."""
        return self.runs > 0 and self.steady >= ENOUGH * self.runs

    @property
    def is_enough(self) -> bool:
        """Whether an answer may rest on them."""
        return self.is_steady or (self.is_finite and self.runs > 0)

    @property
    def is_judged(self) -> bool:
        """Whether enough of them are steady or still change: a transient has been measured."""
        return self.runs > 0 and self.steady + self.changing >= ENOUGH * self.runs

    def __add__(self, other: Steady) -> Steady:
        """Return both together."""
        return Steady(
            self.steady + other.steady,
            self.runs + other.runs,
            max(self.needed, other.needed),
            self.changing + other.changing,
            self.is_finite or other.is_finite,
            _together([*self.options, *other.options]),
            list(dict.fromkeys([*self.ways, *other.ways])),
        )

    @property
    def longer(self) -> str:
        """How to make the others longer, as on the command line; empty if nothing is known to."""
        found: list[str] = []
        for options in self.options:
            words = [f"--set {k}={n}" if k else f"--requests {n}" for k, n in options.items()]
            also = "for traces " if "workload.loops" in options else "for bursts "
            found.append((also if found else "with ") + " ".join(words))
        said = f"{', and '.join(found)} all may be" if found else ""
        return "; ".join([said, *self.ways] if said else self.ways)

    def __str__(self) -> str:
        """Say it in words: ``48 of 300 runs steady``."""
        if self.is_finite:
            return f"{self.runs:,} runs"
        return f"{self.steady:,} of {self.runs:,} {'run' if self.runs == 1 else 'runs'} steady"


#: No runs at all.
NO_RUNS = Steady(0, 0)


def _together(all_options: Iterable[Mapping[str, int]]) -> list[dict[str, int]]:
    """Return the options of each way in which runs end, with the largest numbers."""
    found: dict[tuple[str, ...], dict[str, int]] = {}
    for options in all_options:
        # Whether requests need more bursts, too, depends on the run.
        own = found.setdefault((next(iter(options)),), {})
        for key, number in options.items():
            own[key] = max(number, own.get(key, 0))
    return sorted(found.values(), key=lambda own: "" not in own)


def of_reports(reports: Iterable[Mapping[str, Any]], *, over_seeds: bool = False) -> Steady:
    """Count runs by their reports; one that was not judged is not known to be steady.

    With ``over_seeds`` stationary runs count as steady, however imprecise the mean of each: the
    interval over the seeds has the precision. In reports: `steady_state.stationary`.
    """
    found = [(report, report.get("steady_state") or {}) for report in reports]
    key, value = ("stationary", True) if over_seeds else ("reached", "yes")
    short = [(report, state) for report, state in found if state.get(key) != value]
    needed, options, ways = _wordline.needed([json.dumps(report) for report, _ in short])
    changing = sum(state.get("reached") == "no" for _, state in short)
    count = len(found) - len(short)
    each = _together(map(dict, options))
    return Steady(count, len(found), needed or 0, changing, options=each, ways=ways)


def answer(figures: Mapping[str, Any], rests: Sequence[Steady]) -> str:
    """Say what figures come to, in words by name, or that it is not known.

    It is not where too few runs are steady of a scheme that they rest on.
    """
    runs = sum(rests, NO_RUNS)
    if not all(of.is_enough for of in rests):
        longer = f"such as with requests={runs.needed}" if runs.needed else "with more requests"
        return f"not known: run longer, {longer} ({runs})"
    return ", ".join(f"{name} {figure}" for name, figure in figures.items()) + f" ({runs})"
