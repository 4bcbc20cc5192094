"""Delay and rate at which a rest gives back an SLC cache, and its part that shrinks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordline.real.measurements import Value

#: Two sizes behind rests are one if they differ by less than this share of the greatest, or by what
#: the log leaves open.
SAME = 0.04
#: Rests that show the rate: between these there is a line.
LEAST = 2


@dataclass(frozen=True)
class Back:
    """What a rest gave back of a full cache."""

    rest_s: float
    gb: float
    #: By how much the log leaves it open.
    off: float
    #: Whether the host stopped before the rate fell: then it is at least so much.
    at_least: bool = False


def recovery(found: Sequence[Back]) -> tuple[Value, Value] | None:
    """Return the delay in seconds and the rate in MB/s (10^6); None if the rests do not tell.

    Behind a rest of t the cache takes what it took at once and min(C, R (t - D)): a line through
    those rests that gave back more than the shortest and less than the longest. Its slope is the
    rate; it begins at the delay. Without a rest that gave back nothing, what the cache took at once
    is not known and counts as nothing, so that the delay is at most the shortest rest.

    Parameters
    ----------
    found
        One rest each, of different lengths.
    """
    rests = sorted(found, key=lambda b: b.rest_s)
    if len(rests) <= LEAST:
        return None
    most = max(b.gb for b in rests)

    def is_near(back: Back, gb: float) -> bool:
        return abs(back.gb - gb) <= max(back.off, SAME * most)

    between = [b for b in rests if not b.at_least and not is_near(b, most)]
    flat = [b for b in between if abs(b.gb - rests[0].gb) <= b.off]
    rising = [b for b in between if b not in flat]
    if len(rising) < LEAST:
        # The shortest may lie on the line: then nothing was taken at once.
        flat, rising = [], between
    if len(rising) < LEAST:
        return None
    t, gb = (
        np.array(x, dtype=float) for x in zip(*((b.rest_s, b.gb) for b in rising), strict=True)
    )
    slope = float(np.polyfit(t, gb, 1)[0])
    if slope <= 0:
        return None
    off = max(b.off for b in rising)
    begin = float(np.mean(t) - np.mean(gb) / slope)
    while flat and flat[-1].gb < slope * (flat[-1].rest_s - begin) + off / 2:
        flat.pop()  # it lies on the line
    at_once = flat[-1].gb if flat else 0.0
    # A rest that gave back nothing was not longer than the delay, and one that did was.
    shortest = flat[-1].rest_s if flat else 0.0
    longest = float(t[0])
    delay = min(max(begin + at_once / slope, shortest), longest)
    rate = 1e3 * slope
    error = off / float(np.ptp(gb)) * rate
    late = off / slope
    source = "06-rest"
    return (
        Value(delay, max(shortest, delay - late), min(longest, delay + late), source),
        Value(rate, rate - error, rate + error, source),
    )


def static_part(cache_gb: float, half_gb: float, capacity_gb: float, half: float) -> float | None:
    """Return the static part of a cache in GB, whose other part shrinks in proportion to the fill.

    None if it shrinks by more: then it takes free flash.

    Parameters
    ----------
    cache_gb, half_gb
        Size on an empty drive, and behind a rest on one of which a share holds data.
    capacity_gb
        Logical capacity.
    half
        That share.
    """
    lost = cache_gb - half_gb
    if lost <= SAME * cache_gb:
        return cache_gb
    # The data in the cache count to the fill: each size is static + dynamic (1 - fill).
    dynamic = lost / (half - lost / capacity_gb)
    static = cache_gb - dynamic * (1 - cache_gb / capacity_gb)
    return static if static > -SAME * cache_gb else None
