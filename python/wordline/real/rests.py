"""Recovery of an SLC cache in idle time: its delay, its rate, and the cache's static part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordline.real.measurements import Value

#: Two sizes after idle times are equal if they differ by less than this share of the greatest, or
#: by less than the resolution of the log.
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

    After an idle time t the cache takes what it takes without idle time plus min(C, R (t - D)). The
    line goes through the idle times that recovered more than the shortest and less than the
    longest. Its slope is the rate R, and it begins at the delay D. If every idle time recovered
    something, what the cache takes without idle time is unknown and counts as zero; the delay is
    then at most the shortest idle time. No two idle times are equally long.
    """
    rests = sorted(found, key=lambda b: b.rest_s)
    if len(rests) <= LEAST:
        return None
    most = max(b.gb for b in rests)
    between = [b for b in rests if not b.at_least and most - b.gb > max(b.off, SAME * most)]
    flat = [b for b in between if abs(b.gb - rests[0].gb) <= b.off]
    rising = [b for b in between if b not in flat]
    if len(rising) < LEAST and len(flat) == 1:
        # The shortest may lie on the line: then the cache takes nothing without idle time.
        flat, rising = [], between
    if len(rising) < LEAST:
        return None
    t, gb = np.array([(b.rest_s, b.gb) for b in rising], dtype=float).T
    slope = float(np.polyfit(t, gb, 1)[0])
    if slope <= 0:
        return None
    off = max(b.off for b in rising)
    begin = float(np.mean(t) - np.mean(gb) / slope)
    while flat and flat[-1].gb < slope * (flat[-1].rest_s - begin) + off / 2:
        flat.pop()  # it lies on the line
    at_once = flat[-1].gb if flat else 0.0
    # The delay is at least the longest idle time without recovery, and at most the shortest with.
    shortest, longest = flat[-1].rest_s if flat else 0.0, float(t[0])
    delay = min(max(begin + at_once / slope, shortest), longest)
    rate = 1e3 * slope
    error = off / float(np.ptp(gb)) * rate
    late = off / slope
    after = Value(delay, max(shortest, delay - late), min(longest, delay + late), FULL)
    return after, Value.around(rate, error, FULL)


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
