"""Recovery of an SLC cache in idle time: its delay, its rate, and the cache's static part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordline.real.measurements import Value

#: A size equals the greatest if it is smaller by less than this share of it, or by less than the
#: resolution of the log.
SAME = 0.04
#: Minimum number of idle times that lie on the line.
LEAST = 2
#: Source of what was measured on a full drive after idle times, such as its static part.
FULL = "06-rest"
#: A cache that took more than this share of what the host wrote may be larger.
WHOLE = 0.9


@dataclass(frozen=True)
class Back:
    """What a full cache recovered in an idle time."""

    rest_s: float
    gb: float
    #: Resolution of the log, in GB.
    off: float
    #: Whether the host stopped before the rate fell: `gb` is then a lower bound.
    at_least: bool = False


def recovery(found: Sequence[Back]) -> tuple[Value, Value] | None:
    """Return the delay in seconds and the rate in MB/s (10^6); None if they cannot be determined.

    After an idle time t the cache takes what it takes without idle time plus min(C, R (t - D)),
    which is a level up to the delay D, and then a line of slope R up to the longest idle time.
    The fewest idle times count as level with which all sizes lie on the two within half a line
    of the log; if there are none, those with the least squares. If every idle time recovered
    something, what the cache takes without idle time is unknown and counts as zero. No two idle
    times are equal.
    """
    rests = sorted(found, key=lambda b: b.rest_s)
    if len(rests) <= LEAST:
        return None
    most = max(b.gb for b in rests)
    between = [b for b in rests if not b.at_least and most - b.gb > max(b.off, SAME * most)]
    shapes = (_shape(between, level) for level in range(len(between) - LEAST + 1))
    rising = [shape for shape in shapes if shape.slope > 0]
    if not rising:
        return None
    off = max(b.off for b in between)
    least = min(rising, key=lambda shape: shape.error)
    shape = next((shape for shape in rising if shape.error <= off / 2), least)
    off = max(off, shape.error)
    # The delay is at least the longest idle time without recovery, and at most the shortest with.
    shortest = between[shape.level - 1].rest_s if shape.level else 0.0
    longest = float(between[shape.level].rest_s)
    delay = min(max(shape.delay, shortest), longest)
    rate, late = 1e3 * shape.slope, off / shape.slope
    error = off / float(np.ptp([b.gb for b in between[shape.level :]])) * rate
    after = Value(delay, max(shortest, delay - late), min(longest, delay + late), FULL)
    return after, Value.around(rate, error, FULL)


@dataclass(frozen=True)
class _Shape:
    """A level, and the line behind it."""

    level: int
    slope: float  #: GB/s.
    delay: float
    #: Root of the mean square by which the sizes are off, in GB.
    error: float


def _shape(sizes: Sequence[Back], level: int) -> _Shape:
    """Return the shape by least squares of which the first `level` sizes are the level."""
    t, gb = np.array([(b.rest_s, b.gb) for b in sizes], dtype=float).T
    base = float(gb[:level].mean()) if level else 0.0
    slope, at_zero = (float(x) for x in np.polyfit(t[level:], gb[level:], 1))
    off = np.concatenate([gb[:level] - base, gb[level:] - slope * t[level:] - at_zero])
    delay = (base - at_zero) / slope if slope else 0.0
    return _Shape(level, slope, delay, float(np.sqrt(np.mean(off**2))))


def static_of_full(
    found: Sequence[Back], after_s: float, rate: float, most_gb: float
) -> Value | None:
    """Return the cache of a full drive in GB, which is its static part, after a long idle time.

    It recovers after `after_s` seconds at `rate` MB/s, and the host wrote `most_gb` after each idle
    time. None if the host stopped before the rate fell, or no idle time emptied the cache.
    """
    longest = max(found, key=lambda b: b.rest_s)
    is_bound = longest.at_least or longest.gb > WHOLE * most_gb
    if is_bound or after_s + 1e3 * longest.gb / rate > longest.rest_s:
        return None
    return Value.around(longest.gb, longest.off, FULL)


def static_part(cache_gb: float, half_gb: float, capacity_gb: float, half: float) -> float | None:
    """Return the static part of a cache in GB, if the rest shrinks in proportion to the fill level.

    The cache has `cache_gb` on an empty drive, and `half_gb` after an idle time on a drive of which
    the share `half` holds data. None if it shrinks by more, as a cache that takes free flash does.
    """
    lost = cache_gb - half_gb
    if lost <= SAME * cache_gb:
        return cache_gb
    # Data in the cache count towards the fill level: each size is static + dynamic (1 - fill).
    dynamic = lost / (half - lost / capacity_gb)
    static = cache_gb - dynamic * (1 - cache_gb / capacity_gb)
    return static if static > -SAME * cache_gb else None
