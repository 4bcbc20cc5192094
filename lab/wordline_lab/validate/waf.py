"""Write amplification in steady state, against theory at the utilization that the engine leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wordline import Report
from wordline.interval import mean_and_half_width
from wordline_lab import theory
from wordline_lab.validate.drives import Drive
from wordline_lab.validate.outcome import Outcome

# Drive writes before anything counts, and those that count.
WARM_UP = 8
MEASURED = 6
BATCHES = 8


def held_back(drive: Drive, regions: int = 1) -> tuple[int, float]:
    """Return the erased and open blocks of a pool in one plane when a victim is chosen.

    A collection begins when a block has just been opened and too few are left: fewer than the
    trigger's share, or no more than the hard reserve, which is at least one block for each region
    of the pool. The block just opened is empty; those of other regions are half full on average.
    """
    by_trigger = math.ceil(drive.trigger * drive.blocks - 1e-9) - 1
    by_reserve = max(min(drive.hard_reserve, drive.blocks // 2), regions)
    return max(by_trigger, by_reserve), 1 + (regions - 1) / 2


def steady(report: Report, drive_bytes: int) -> tuple[float, float, float]:
    """Return WAF after the warm-up, half its 95 % interval, and the least share of free blocks."""
    line = report.timeline
    written = np.nan_to_num(line.write_mb_per_s) * line.bin_s * 1e6
    warm = np.cumsum(written) >= WARM_UP * drive_bytes
    warm &= np.arange(len(warm)) < len(warm) - 1  # the last bin is not full
    waf, weight = line.waf[warm], written[warm]
    batches = [
        float(np.average(w, weights=v))
        for w, v in zip(np.array_split(waf, BATCHES), np.array_split(weight, BATCHES), strict=True)
    ]
    mean = float(np.average(waf, weights=weight))
    return mean, mean_and_half_width(batches)[1], float(np.nanmin(line.free_blocks[warm]))


def waf(
    *,
    victim: str,
    blocks: int,
    b: int,
    spare: float,
    planes: int = 1,
    d: int = 0,
    hard_reserve: int = 1,
    f: float | None = None,
    r: float | None = None,
    scheme: str = "conventional",
    formula: str | None = None,
) -> Outcome:
    """Write at random until the state is steady, and on.

    Parameters
    ----------
    spare
        1 - user pages / physical pages, before anything is held back.
    f, r
        Share of the data that is hot, and of the writes that it gets; without them all is uniform.
    scheme
        ``conventional``, or how the scheme ``hot-cold`` shares its blocks.
    """
    user = round((1 - spare) * blocks * b) * planes
    drive = Drive(
        logical_pages=user,
        planes=planes,
        blocks=blocks,
        wordlines=b,
        victim=f"d-choices:{d}" if victim == "d-choices" else victim,
        hard_reserve=hard_reserve,
    )
    # Under the scheme the cold part comes first, since the initial state lies in the cold region.
    split = scheme != "conventional"
    pattern, spelling, initial = "uniform:", "conventional", "fill:100%,order=random"
    if f is not None and r is not None:
        pattern = f"hot-cold:hot_space={1 - f:.4g},hot_traffic={1 - r:.4g},"
    elif split or formula in ("fifo_hot_cold", "pools"):
        raise TypeError("waf() needs f and r if data are hot and cold")
    else:
        f = r = 1.0  # all data are of one kind, and get all writes
    if split:
        spelling = f"hot-cold:hot={f:g},at=end,pools={scheme},spare=50%"
        initial = f"fill:{1 - f:.4g},order=random"
    report = drive.run(
        f"{pattern}bs=4KiB,qd=1,bytes={WARM_UP + MEASURED}x", scheme=spelling, initial=initial
    )
    ours, half, least_free = steady(report, user * drive.page)

    regions = 2 if scheme == "shared" else 1
    free, open_ = held_back(drive, regions)
    data: dict[str, Any] = {"victim": victim, "b": b, "d": d or None, "spare": spare}
    rho = theory.rho_effective(user, blocks * planes, b, free * planes, open_ * planes)
    data["rho_effective"] = rho
    theirs = None
    if formula in ("greedy", "oracle_frontiers"):
        theirs = getattr(theory, formula)(rho, b)
    elif formula == "fifo":
        theirs = theory.fifo(rho)
    elif formula == "d_choices":
        theirs = theory.d_choices(rho, b, d)
    elif formula == "fifo_hot_cold":
        theirs = theory.fifo_hot_cold(rho, f, r)
    elif formula == "pools":
        theirs = _pools(user, blocks, b, free, open_, f, r, victim)

    # What is held back is derived from the description; here the engine confirms it. The share of
    # free blocks is of the home region's pool. What a collection moves fits into the block just
    # opened, unless the pages go to another frontier, or the victim was drawn nearly full and host
    # pages came between: then it takes a block of the reserve, which is what the reserve is for.
    pool = report.capacity.to_dict()["regions"][-1]["blocks"] if scheme == "separate" else blocks
    seen = round(least_free * pool)
    fits = scheme != "shared" and victim != "d-choices"
    # Of several planes the share is a mean, and each has one block more between two collections.
    low, high = free - (0 if fits else 1), free + (1 if planes > 1 else 0)
    wrong = ""
    if not low <= seen <= high:
        wrong = f"{seen} blocks were free at least, and {free} should be"
    data["free_blocks_seen"] = seen
    return Outcome(ours, half, theirs, wrong=wrong, data=data)


def _pools(
    user: int, blocks: int, b: int, free: int, open_: float, f: float, r: float, victim: str
) -> float:
    """Return the WAF of two pools with half the spare blocks each."""
    hot = int(f * user)
    cold = user - hot
    full = math.ceil(hot / b), math.ceil(cold / b)
    to_hot = (blocks - sum(full)) // 2
    sizes = full[0] + to_hot, blocks - full[0] - to_hot
    one = theory.fifo if victim == "fifo" else lambda rho: theory.greedy(rho, b)
    each = [
        one(theory.rho_effective(pages, size, b, free, open_))
        for pages, size in zip((hot, cold), sizes, strict=True)
    ]
    return r * each[0] + (1 - r) * each[1]
