"""How good a candidate is: its figures over those of a reference, on the same seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wordline import Report, Run, UserError
from wordline._measures import value
from wordline.atlas.cells import LEAST_LATENCY_US
from wordline.interval import mean_and_half_width

#: Objectives with a name of their own.
NAMED = {"lifetime": "+lifetime.total_bytes_written"}


@dataclass(frozen=True)
class Objective:
    """A figure of a report that is to become smaller, or greater."""

    name: str  #: As it was asked for.
    path: str  #: Its path in a report.
    more_is_better: bool  #: Whether it is to become greater.

    def of(self, report: Report) -> float | None:
        """Return the figure of a report as a cost; none where it has no such figure, or 0."""
        found = value(report.to_dict(), self.path)
        if found is not None and self.path.startswith("latency_us."):
            found = max(found, LEAST_LATENCY_US)
        if found is None or found <= 0:
            return None
        return 1 / found if self.more_is_better else found


def objectives(names: Sequence[str]) -> list[Objective]:
    """Read objectives: paths of figures, ``+`` before one that is to become greater.

    Raises `UserError`: there is none, or one twice.
    """
    if isinstance(names, str) or not names:
        raise UserError(f"objectives={names!r}: give a list of figures, such as ['waf.total']")
    found = []
    for name in names:
        path = NAMED.get(name, name)
        found.append(Objective(name.lstrip("+"), path.lstrip("+"), path.startswith("+")))
    if len({o.path for o in found}) < len(found):
        raise UserError(f"objectives={list(names)!r}: one appears twice")
    return found


@dataclass(frozen=True)
class Ratio:
    """A cost over the reference's: the geometric mean, with its interval over the seeds.

    Below 1 the candidate is better, also of a figure that is to become greater.
    """

    ratio: float
    low: float
    high: float


def logs(
    objective: Objective,
    candidate: Sequence[Sequence[Report]],
    reference: Sequence[Sequence[Report]],
) -> list[float]:
    """Return of each seed the mean over workloads of the logarithm of cost over reference.

    Both have of each workload a report for each seed, the same seeds.
    Raises `UserError`: no workload has the figure.
    """
    by_workload = []
    for ours, theirs in zip(candidate, reference, strict=True):
        pairs = [(objective.of(a), objective.of(b)) for a, b in zip(ours, theirs, strict=True)]
        found = [math.log(a / b) for a, b in pairs if a is not None and b is not None]
        if len(found) == len(pairs):
            by_workload.append(found)
    if not by_workload:
        raise UserError(f"{objective.path}: no workload has this figure, so it cannot be compared")
    return [sum(seed) / len(seed) for seed in zip(*by_workload, strict=True)]


def ratio(samples: Sequence[float]) -> Ratio:
    """Return the ratio of logarithms of two seeds or more, with its 95 % interval."""
    mean, half = mean_and_half_width(samples)
    return Ratio(math.exp(mean), math.exp(mean - half), math.exp(mean + half))


#: What all runs of a search, or of a verdict, have in common.
_COMMON = ("device", "initial", "set", "requests", "fit", "traces")


def conditions(workloads: Sequence[Any], run: Run) -> dict[str, Any]:
    """Return what all runs have in common with one, as `Run` takes it.

    Raises `UserError`: the workloads are none.
    """
    if isinstance(workloads, str) or not workloads:
        raise UserError(f"workloads={workloads!r}: pass a list of at least one")
    return {key: getattr(run, key) for key in _COMMON}


def runs(
    scheme: str, how: Mapping[str, Any], workloads: Sequence[str | Run], seeds: Sequence[int]
) -> list[list[Run]]:
    """Return the runs of a scheme: of each workload, or run in its place, one for each seed."""
    given = [w if isinstance(w, Run) else Run(scheme=scheme, workload=w, **how) for w in workloads]
    return [[replace(run, scheme=scheme, seed=seed) for seed in seeds] for run in given]
