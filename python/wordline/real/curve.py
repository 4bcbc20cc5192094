"""Plateaus of write throughput over the data written, and where they end."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

#: Number of points of a resampled curve, evenly spaced over the bytes written.
POINTS = 400
#: Neighboring plateaus differ by at least this factor; closer ones are merged.
APART = 1.12
#: The beginning of a fill counts as a cache if the rate falls by this factor after it.
CLIFF = 1.15
#: Maximum share of a fill that a write buffer takes; a larger first part is a cache.
BUFFER = 0.004
#: Minimum share of the points that a plateau covers.
LEAST = 0.04


@dataclass(frozen=True)
class Plateau:
    """Part of a curve at a constant rate: its begin and end in GB, and its MB/s (10^6)."""

    start_gb: float
    end_gb: float
    mb_per_s: float


def plateaus(gb: Any, seconds: Any, most: int = 4) -> list[Plateau]:
    """Return the plateaus of a sequential fill, first to last, at most this many.

    Gigabytes written (10^9 B) and seconds are cumulative, both from 0, shape ``(n,)``.
    """
    gb, seconds = np.asarray(gb, dtype=float), np.asarray(seconds, dtype=float)
    # Drop samples in which nothing was written: idle times do not belong to a rate.
    grows = np.diff(gb) > 0
    keep = np.concatenate([[True], grows])
    idle = np.concatenate([[0.0], np.where(grows, 0.0, np.diff(seconds))]).cumsum()
    gb, seconds = gb[keep], (seconds - idle)[keep]
    # A short first plateau would be lost among the points of a whole fill: resolve it separately.
    for share in (64, 8):
        close = _plateaus(gb, seconds, gb[0] + (gb[-1] - gb[0]) / share, 2)
        falls = len(close) == 2 and close[0].mb_per_s > CLIFF * close[1].mb_per_s
        if falls and close[0].end_gb > BUFFER * gb[-1]:
            later = gb >= close[0].end_gb
            rest = _plateaus(gb[later], seconds[later], gb[-1], most - 1)
            first = Plateau(close[0].end_gb, rest[0].end_gb, rest[0].mb_per_s)
            return [close[0], first, *rest[1:]]
    return _plateaus(gb, seconds, gb[-1], most)


def _plateaus(gb: Any, seconds: Any, until: float, most: int) -> list[Plateau]:
    grid = np.linspace(gb[0], min(until, gb[-1]), POINTS + 1)
    time = np.interp(grid, gb, seconds)
    pace = np.maximum(np.diff(time), 1e-12)
    rate = np.log(np.diff(grid) * 1e3 / pace)
    cuts = _cuts(rate, most)
    found = []
    for a, b in pairwise(cuts):
        # Edges of a plateau are affected by its neighbors: take the rate from its middle.
        edge = (b - a) // 8
        wrote, took = (x[b - edge] - x[a + edge] for x in (grid, time))
        found.append(Plateau(float(grid[a]), float(grid[b]), float(wrote * 1e3 / took)))
    return _placed(found, grid, time)


def _placed(found: list[Plateau], grid: Any, time: Any) -> list[Plateau]:
    """Place each edge where the two rates explain the time of the points around it."""
    step = grid[1] - grid[0]
    edges = [p.start_gb for p in found] + [found[-1].end_gb]
    for i in range(1, len(found)):
        a, b = max(edges[i] - 2 * step, grid[0]), min(edges[i] + 2 * step, grid[-1])
        took = np.interp(b, grid, time) - np.interp(a, grid, time)
        before, after = found[i - 1].mb_per_s / 1e3, found[i].mb_per_s / 1e3
        at = (took - b / after + a / before) / (1 / before - 1 / after)
        edges[i] = float(np.clip(at, a, b))
    ends = zip(edges[:-1], edges[1:], found, strict=True)
    return [Plateau(a, b, p.mb_per_s) for a, b, p in ends]


def _cuts(rate: Any, most: int) -> list[int]:
    """Cut into the fewest parts of constant rate that need no further cut (least squares)."""
    n = len(rate)
    least = max(2, round(LEAST * n))
    one, two = np.concatenate([[0], rate.cumsum()]), np.concatenate([[0], (rate**2).cumsum()])

    def cost(a: Any, b: Any) -> Any:
        return (two[b] - two[a]) - (one[b] - one[a]) ** 2 / np.maximum(b - a, 1)

    ends = np.arange(n + 1)
    best = [np.where(ends >= least, cost(0, ends), np.inf)]
    back = [np.zeros(n + 1, dtype=int)]
    for _ in range(1, most):
        now, came = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=int)
        for end in range(least, n + 1):
            starts = ends[: end - least + 1]
            total = best[-1][starts] + cost(starts, end)
            came[end] = int(np.argmin(total))
            now[end] = total[came[end]]
        best.append(now)
        back.append(came)
    chosen = [0, n]
    for pieces in range(2, most + 1):
        cuts = [n]
        for k in range(pieces - 1, -1, -1):
            cuts.append(int(back[k][cuts[-1]]) if k else 0)
        cuts.reverse()
        levels = [float(np.median(rate[a:b])) for a, b in pairwise(cuts)]
        near = np.abs(np.diff(levels)) < np.log(APART)
        if near.any():
            break
        chosen = cuts
    return chosen
