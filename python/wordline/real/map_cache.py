"""The L2P cache of a drive, from the latency of single reads over growing spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordline.quantity import in_bytes
from wordline.real.measurements import Drive, Value
from wordline.real.sheet import Sheet

#: Bytes of an entry of an L2P table.
ENTRY = 4
#: A drive whose reads over all of it take longer by less than this share hits its table always.
SEEN = 0.02
#: Share of a mean latency that single jobs differ by, in addition to the chance of hits.
NOISE = 0.01
#: Sum of squared errors, in standard deviations, above which the latencies do not follow hits and
#: misses; and by which a size or a law may be worse than the best and stays (2 deviations).
MISFIT, NEAR = 20.0, 4.0
#: Number of sizes tried between the smallest span and the drive.
SIZES = 2000


@dataclass(frozen=True)
class Lookup:
    """Mean latency of single reads over a share of the drive."""

    share: float
    us: float
    reads: int


@dataclass(frozen=True)
class MapCache:
    """An L2P cache: the share of the drive that it covers, and the cost of a miss."""

    share: Value
    #: Latency of a hit, in us, and how much longer a miss takes.
    hit_us: float
    miss_us: float


def map_bytes(share: float, capacity: int, unit: int) -> int:
    """Return the bytes of the entries for a share of a drive, in whole mapping units."""
    return max(1, round(share * capacity / unit * ENTRY / unit)) * unit


def put(text: Sheet, drive: Drive) -> None:
    """Give a device file the L2P cache of a drive, if it was measured."""
    if (covered := drive.values.get("map_share")) is not None:
        table = map_bytes(covered.value, drive.capacity, in_bytes(text.get("mapping.unit")))
        why = f"Rows, reads over growing spans: entries for {covered} of the drive"
        text.put("dram.map_cache", f"{table}B", why)


def map_cache(found: Sequence[Lookup]) -> MapCache | None:
    """Return the L2P cache; None if no miss is seen, or the spans do not determine it.

    Under uniform reads over a share s of the drive a cache that covers a share m hits with
    probability min(1, m / s), so that a read takes h + c max(0, 1 - m / s). Least squares give h, c
    and m: for each m, h and c are linear. Two spans above m are needed. All spans begin at one
    place, have different shares, and were read with warm caches.
    """
    spans = sorted(found, key=lambda x: x.share)
    if len(spans) < 4:
        return None
    shares, us, reads = (
        np.array([getattr(x, key) for x in spans], dtype=float) for key in ("share", "us", "reads")
    )
    if us[-1] < (1 + SEEN) * us[0]:
        return None
    law = _law(shares, us, reads, held=False)
    # What an SLC cache holds may fill the smallest span, and more.
    for first in (0, 1):
        other = _law(shares[first:], us[first:], reads[first:], held=True)
        if law is None or (other is not None and other[0] < law[0] - NEAR):
            law = other
    if law is None or law[0] > MISFIT:
        return None
    _, size, (low, high), hit, cost = law
    # A size at an end of what was tried is a bound, not a measurement.
    if low <= shares[0] * 1.001 or high >= shares[-2] * 0.995:
        return None
    return MapCache(Value(size, low, high, "05-span"), hit, cost)


def _law(
    shares: Any, us: Any, reads: Any, *, held: bool
) -> tuple[float, float, tuple[float, float], float, float] | None:
    """Return error, size, its bounds, hit latency and miss cost of the best size.

    With `held`, data that are read faster, as in an SLC cache, lie in all spans but the first, and
    shorten the mean over a share s by a / s. Only spans that the L2P cache covers tell them from
    its hits, so it must cover three.
    """
    tried = []
    least = shares[2] if held else shares[0]
    for size in np.geomspace(least, shares[-2], SIZES, endpoint=False):
        missed = np.maximum(0.0, 1 - size / shares)
        # The chance of hits and misses in a job decides how far its mean may be off.
        guess = (us[-1] - us[0]) / missed[-1]
        off = np.sqrt(guess**2 * missed * (1 - missed) / reads + (NOISE * us[-1]) ** 2)
        columns = [np.ones_like(missed), missed, *([-shares[0] / shares] if held else [])]
        law = np.column_stack(columns) / off[:, None]
        terms = np.linalg.lstsq(law, us / off, rcond=None)[0]
        error = float(np.sum((law @ terms - us / off) ** 2))
        tried.append((error, float(size), float(terms[0]), float(terms[1])))
    good = [found for found in tried if found[3] > 0]
    if not good:
        return None
    error, size, hit, cost = min(good)
    near = [found[1] for found in good if found[0] <= error + NEAR]
    return error, size, (min(near), max(near)), hit, cost
