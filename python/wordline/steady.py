"""How many runs an answer rests on, how many are steady, and how long the others must be."""

from __future__ import annotations

import json
import math
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
    #: The passes over a trace with which each run that ended with its trace may be steady, and
    #: whether all others did: more requests do not make a trace longer.
    loops: int = 0
    ended_with_trace: bool = False
    bursts: int = 0  #: The bursts that workloads in bursts need for as many requests.

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
            max(self.loops, other.loops),
            all(of.ended_with_trace for of in (self, other) if of.steady < of.runs),
            max(self.bursts, other.bursts),
        )

    @property
    def longer(self) -> str:
        """The options of the command line that make the others longer; empty if none is known."""
        found = [f"--set workload.loops={self.loops}"] if self.loops else []
        if self.needed and not self.ended_with_trace:
            more = f" --set workload.bursts={self.bursts}" if self.bursts else ""
            found.insert(0, f"--requests {self.needed}{more}")
        return " and of traces ".join(found)

    def __str__(self) -> str:
        """Say it in words: ``48 of 300 runs steady``."""
        if self.is_finite:
            return f"{self.runs:,} runs"
        return f"{self.steady:,} of {self.runs:,} {'run' if self.runs == 1 else 'runs'} steady"


#: No runs at all.
NO_RUNS = Steady(0, 0)


def of_reports(reports: Iterable[Mapping[str, Any]], *, over_seeds: bool = False) -> Steady:
    """Count runs by their reports; one that was not judged is not known to be steady.

    With ``over_seeds`` stationary runs count as steady, however imprecise the mean of each: the
    interval over the seeds has the precision. In reports: `steady_state.stationary`.
    """
    found = [(report, report.get("steady_state") or {}) for report in reports]
    key, value = ("stationary", True) if over_seeds else ("reached", "yes")
    short = [(report, state) for report, state in found if state.get(key) != value]
    needed, bursts = _wordline.needed([json.dumps(report) for report, _ in short])
    changing = sum(state.get("reached") == "no" for _, state in short)
    passes = [_passes(report) for report, _ in short]
    loops, is_trace = max(filter(None, passes), default=0), bool(passes) and None not in passes
    count = len(found) - len(short)
    return Steady(
        count,
        len(found),
        needed or 0,
        changing,
        loops=loops,
        ended_with_trace=is_trace,
        bursts=bursts or 0,
    )


def _passes(report: Mapping[str, Any]) -> int | None:
    """Return the passes over its trace that a run needs; None if it did not end with its trace.

    0 where no number of passes makes it steady.
    """
    workload = report.get("workload") or {}
    if workload.get("kind") != "trace" or any(map(workload.get, ("requests", "bytes", "duration"))):
        return None
    needed, _ = _wordline.needed([json.dumps(report)])
    passes = workload.get("loops") or 1
    return math.ceil((needed or 0) * passes / max(1, report["host"]["requests"]))


def answer(figures: Mapping[str, Any], rests: Sequence[Steady]) -> str:
    """Say what figures come to, in words by name, or that it is not known.

    It is not where too few runs are steady of a scheme that they rest on.
    """
    runs = sum(rests, NO_RUNS)
    if not all(of.is_enough for of in rests):
        longer = f"such as with requests={runs.needed}" if runs.needed else "with more requests"
        return f"not known: run longer, {longer} ({runs})"
    return ", ".join(f"{name} {figure}" for name, figure in figures.items()) + f" ({runs})"
