"""Means, intervals and verdicts over conditions; the script of the page has the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wordline.atlas.cells import EXTRAPOLATED, FEWEST_P999, KEYS, MEASURES, DriveCells, Place
from wordline.atlas.design import FACTORS
from wordline.interval import mean_and_half_width
from wordline.steady import NO_RUNS, Steady


@dataclass(frozen=True)
class Over:
    """A figure over another: a geometric mean over conditions, its interval over the seeds."""

    #: Logarithm to base 2, and half of its 95 % interval.
    log: float
    half: float
    count: int  #: Conditions that it is a mean of.
    few: bool = False  #: Whether too few requests were measured for a percentile.
    #: The runs of each of the two schemes, and how many of them are steady.
    rests: tuple[Steady, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Whether enough runs of each scheme are steady for an answer to rest on them."""
        return all(of.is_enough for of in self.rests)

    @property
    def steady(self) -> Steady:
        """All of those runs."""
        return sum(self.rests, NO_RUNS)

    @property
    def ratio(self) -> float:
        """The ratio."""
        return float(2**self.log)

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the interval of the ratio."""
        return float(2 ** (self.log - self.half)), float(2 ** (self.log + self.half))

    @property
    def is_chance(self) -> bool:
        """Whether the interval holds 1, or too little was measured."""
        return self.few or abs(self.log) <= self.half

    def __str__(self) -> str:
        """Say it in words; a figure of runs that are not steady is none."""
        if not self.is_settled:
            return f"not known ({self.steady})"
        low, high = self.interval
        return f"{self.ratio:.3g} times ({low:.3g} to {high:.3g})"


def where(drive: DriveCells, **levels: str) -> list[Place]:
    """Return the conditions of a drive with these levels, by the names of the factors."""
    at = {list(FACTORS).index(f): level for f, level in levels.items()}
    return [p for p in drive.places if all(p.at[i] == level for i, level in at.items())]


def over(places: Sequence[Place], scheme: str, measure: str) -> Over | None:
    """Return a scheme's figure over the baseline's; none where no condition has it.

    Of a figure that is extrapolated from runs there is none, either, where they are not steady.
    """
    return _mean(places, measure, lambda p: _logs(p, scheme, measure), (scheme, None))


def steady(places: Sequence[Place], scheme: str | None) -> Steady:
    """Return how many runs of a scheme, or of the baseline, there are, and how many are steady."""
    cells = [place.baseline if scheme is None else place.cells[scheme] for place in places]
    return sum((cell.steadiness for cell in cells if cell is not None), NO_RUNS)


def between(places: Sequence[Place], scheme: str, other: str, measure: str) -> Over | None:
    """Return a scheme's figure over another scheme's, paired by seed."""

    def logs(p: Place) -> np.ndarray | None:
        one, two = _logs(p, scheme, measure), _logs(p, other, measure)
        return None if one is None or two is None else one - two

    return _mean(places, measure, logs, (scheme, other))


def _logs(place: Place, scheme: str, measure: str) -> np.ndarray | None:
    logs = place.cells[scheme].logs
    if logs is None:
        return None
    row = logs[KEYS[measure]]
    return None if np.isnan(row).any() else row


def _mean(
    places: Sequence[Place],
    measure: str,
    logs: Callable[[Place], np.ndarray | None],
    schemes: tuple[str | None, ...],
) -> Over | None:
    found = [(p, row) for p in places if (row := logs(p)) is not None]
    if not found:
        return None
    by_seed = np.mean([row for _, row in found], axis=0)
    log, half = mean_and_half_width(by_seed) if len(by_seed) > 1 else (float(by_seed[0]), np.inf)
    requests = [p.requests[1 if measure.startswith("write") else 0] for p, _ in found]
    few = measure.endswith("p999") and sum(requests) < FEWEST_P999
    rests = tuple(steady([p for p, _ in found], scheme) for scheme in schemes)
    over = Over(log, half, len(found), few, rests)
    is_steady = all(of.is_steady for of in rests)
    return None if measure in EXTRAPOLATED and not is_steady else over


@dataclass(frozen=True)
class Choice:
    """What to take under some conditions."""

    scheme: str  #: The best of a measure among schemes that have it in all of the conditions.
    gain: Over  #: Its figure over the baseline's.
    #: The next best, and the best's figure over it. Where the two were run with further seeds
    #: (`Place.again`), that of those alone: they have not chosen the two, and they decide which of
    #: them is the best where they tell them apart.
    second: str
    apart: Over
    steady: Steady  #: The runs of the two and of the baseline, and how many of them are steady.

    @property
    def is_settled(self) -> bool:
        """Whether enough runs of it, of the second and of the baseline are steady."""
        return self.gain.is_settled and self.apart.is_settled

    @property
    def is_transient(self) -> bool:
        """Whether it is that of a drive which still changes at the end of the runs."""
        rests = (*self.gain.rests, *self.apart.rests)
        return not self.is_settled and all(of.is_judged for of in rests)

    @property
    def is_sure(self) -> bool:
        """Whether it beats the baseline and the second beyond chance, on steady runs."""
        return self.is_settled and not self.gain.is_chance and not self.apart.is_chance


def choose(
    drive: DriveCells, places: Sequence[Place], measure: str, schemes: Sequence[str] | None = None
) -> Choice | None:
    """Return the best of a measure; none where nothing but the baseline has it."""
    ranked = rank(drive, places, measure, schemes)
    if len(ranked) < 2:
        return None
    (best, gain), (second, next_gain) = ranked[:2]
    apart = _again(places, best, second, measure) or between(places, best, second, measure)
    if apart is None:
        return None
    named = dict.fromkeys((best, second, drive.baseline))
    rests = sum((steady(places, scheme) for scheme in named), NO_RUNS)
    if not apart.is_chance and apart.log * _sign(measure) > 0:
        turned = replace(apart, log=-apart.log, rests=apart.rests[::-1])
        return Choice(second, next_gain, best, turned, rests)
    return Choice(best, gain, second, apart, rests)


def _sign(measure: str) -> int:
    """Return 1 where less of a measure is better, or else -1."""
    return -1 if MEASURES[KEYS[measure]].more else 1


def _again(places: Sequence[Place], scheme: str, other: str, measure: str) -> Over | None:
    """Return a scheme's figure over another's by further seeds; none where there are none."""
    if len(places) != 1 or not {scheme, other} <= set(places[0].again):
        return None
    one, two = (places[0].again[s][KEYS[measure]] for s in (scheme, other))
    known = None if np.isnan(one - two).any() else one - two
    return _mean(places, measure, lambda _: known, (scheme, other))


def rank(
    drive: DriveCells, places: Sequence[Place], measure: str, schemes: Sequence[str] | None = None
) -> list[tuple[str, Over]]:
    """Return the schemes that have a measure in most conditions, the best first."""
    names = drive.schemes if schemes is None else schemes
    known = [(s, found) for s in names if (found := over(places, s, measure)) is not None]
    most = max((found.count for _, found in known), default=0)
    ranked = [(s, found) for s, found in known if found.count == most]
    return sorted(ranked, key=lambda found: _sign(measure) * found[1].log)


def is_better(measure: str, found: Over) -> bool:
    """Whether a figure is better than what it is over, beyond chance."""
    more = MEASURES[KEYS[measure]].more
    return not found.is_chance and (found.log > 0) == more


def parts(place: Place, scheme: str, baseline: str, kind: str) -> Mapping[str, float]:
    """Return by how much each part of a scheme differs from the baseline's, the largest first."""
    own, base = place.cells[scheme].parts.get(kind, {}), place.cells[baseline].parts.get(kind, {})
    found = {n: own.get(n, 0.0) - base.get(n, 0.0) for n in {**own, **base}}
    return dict(sorted(found.items(), key=lambda item: -abs(item[1])))
