"""The unit of collection of a drive, from writes of zones: data written in order, zones at random.

GC finds a unit without valid data if one zone fills it, and one with the average share of valid
data if many zones do. Between the two WAF depends on the ratio of both sizes and on the spare flash
alone, so a small drive of whole units shows what each size of the unit would give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import wordline as wl
from wordline import _wordline
from wordline.real.bench import device_file
from wordline.real.measurements import Value

#: Logical pages of the small drive, a multiple of the number of zones.
PAGES = 1 << 15
#: Pages of a unit that are tried, each with its share of the drive; the ratio of two is 1.6.
TRIED = tuple(round(8 * 1.6**n) for n in range(11))
#: Pages that a victim frees at least, on average.
FREED = 2.0
#: Standard deviation of the share of copies that remain, by counters and by rates, and the misfit
#: in these deviations above which no unit explains the writes.
BY_COUNTERS, BY_RATES, MISFIT = 0.03, 0.05, 3.0
#: Squared deviations that a size may be worse than the best one and remain possible.
NEAR = 4.0
#: Number of sizes between the smallest and the largest one.
SIZES = 2000

DEVICE = """
[device]
name = "units"
[medium.flash]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = {blocks}
wordlines_per_block = {pages}
page = "4KiB"
bus = {{ rate = "off" }}
slc = {{ read = "1us", program = "1us", erase = "1us" }}
[capacity]
logical = "{logical}B"
[gc]
trigger = "free_blocks < 0.5%"
victim = "greedy"
"""


@dataclass(frozen=True)
class Zones:
    """A job that writes a drive in this many zones: how many of the copies remain.

    `copies` are the copied bytes per host byte, over those of uniform random writes.
    """

    number: int
    copies: float


def copies_by_rate(rate: float, uniform: float, fill: float) -> float:
    """Return the share of copies that remain, from the rate of zones and those of both limits.

    A copy takes the same time under any load, so that the time per host byte grows with them.
    """
    return (1 / rate - 1 / fill) / (1 / uniform - 1 / fill)


def collection_unit(
    zones: Sequence[Zones], usable: float, off: float = BY_COUNTERS
) -> tuple[Value | None, str]:
    """Return the unit of collection as a share of the drive, or why it is not identifiable.

    Parameters
    ----------
    zones
        The jobs in their order, after uniform random writes in steady state; each writes as many
        bytes as the drive has.
    usable
        Flash per byte of data.
    off
        Standard deviation of a share of copies.
    """
    seen = np.array([z.copies for z in zones])
    numbers = tuple(z.number for z in zones)
    if len(zones) < 2:
        return None, "zones of one size do not show it"
    if seen.min() > 1 - 3 * off:
        return None, (
            f"writes of 1/{numbers[-1]} of the drive cost as many copies as random ones: the unit "
            "is larger, or victims are not those with the fewest valid pages"
        )
    if seen.max() < 3 * off:
        return None, f"writes of 1/{numbers[0]} of the drive cost no copies: the unit is smaller"
    # A finer knee does not change the curves, and fewer drives are simulated.
    usable = round(usable, 2)
    tried = [pages for pages in TRIED if pages * (1 - 1 / usable) >= FREED]
    curves = [_curve(pages, usable, numbers) for pages in tried]
    shares = np.log([share for share, _ in curves])
    fine = np.linspace(shares[0], shares[-1], SIZES)
    model = np.array([np.interp(fine, shares, of) for of in np.transpose([c for _, c in curves])])
    misfit = (((model - seen[:, None]) / off) ** 2).sum(axis=0)
    best = int(misfit.argmin())
    if misfit[best] > MISFIT**2 * len(zones):
        return None, "no unit explains the writes of zones"
    near = np.flatnonzero(misfit <= misfit[best] + NEAR)
    low, high = near[0], near[-1]
    if low == 0 or high == SIZES - 1:
        return None, "the writes of zones bound it on one side only"
    value, least, most = (float(np.exp(fine[i])) for i in (best, low, high))
    return Value(value, least, most, "12-zones"), ""


@cache
def _curve(pages: int, usable: float, numbers: tuple[int, ...]) -> tuple[float, list[float]]:
    """Return the share of the drive of a unit of about this many pages, and its copies by zones."""
    units = max(3, round(usable * PAGES / pages))
    pages = round(usable * PAGES / units)
    text = DEVICE.format(blocks=units + 1, pages=pages, logical=PAGES * 4096)
    with device_file(text) as path:
        drive = wl.Drive(
            device=path,
            scheme="conventional",
            initial="steady",
            seed=_wordline.DEFAULT_SEED,
        )
        uniform = _copies(drive, 1)
        found = [_copies(drive, PAGES // number) / uniform for number in numbers]
    return pages / PAGES, found


def _copies(drive: wl.Drive, pages: int) -> float:
    """Write a drive once in zones of a number of pages; return the copied bytes per host byte."""
    before = programmed(drive)
    words = f"uniform:read=0%,bs={4 * pages}KiB,qd=1,bytes=1x"
    feed, wrote = drive.feed(words, seed=_wordline.DEFAULT_SEED + pages), 0
    while not feed.is_over or drive.look().outstanding:
        wrote += feed.measure(until_ns=drive.now_ns + 10**9).write_bytes
    return (programmed(drive) - before) / wrote - 1


def programmed(drive: wl.Drive) -> int:
    """Return the bytes that a drive has programmed so far."""
    regions: Any = drive.look().regions
    return sum(sum(region["programmed_bytes"].values()) for region in regions)
