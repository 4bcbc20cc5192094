"""The unit of collection of a drive, from writes of zones: data written in order, zones at random.

GC finds a unit without valid data if one zone fills it, and one with the average share of valid
data if many zones do. Between the two WAF depends on the ratio of both sizes and on the spare flash
alone, so a small drive of whole units shows what each size of the unit would give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import mean

import numpy as np

import wordline as wl
from wordline import UserError, _wordline
from wordline.drive import programmed_bytes
from wordline.real.bench import device_file, measured
from wordline.real.measurements import Value

#: Logical pages of the small drive, a multiple of the number of zones.
PAGES = 1 << 15
#: Pages of a unit that are tried; the ratio of two is 1.6.
TRIED = tuple(round(8 * 1.6**n) for n in range(11))
#: The same for jobs apart, where the ratio is 1.35; the drive writes before each is measured, for
#: copies increase with them, and the number of runs, for few zones are overwritten by chance.
TRIED_APART, AGED, RUNS = tuple(round(8 * 1.35**n) for n in range(17)), 3, 2
#: Pages that a victim frees at least, on average.
FREED = 2.0
#: Standard deviation of the share of copies that remain, by counters, by rates and of jobs apart,
#: in which few zones are overwritten by chance; the misfit in these deviations above which no unit
#: explains the writes.
BY_COUNTERS, BY_RATES, BY_CHANCE, MISFIT = 0.03, 0.05, 0.04, 3.0
#: Squared deviations that a size may be worse than the best one and remain possible.
NEAR = 4.0
#: Number of sizes between the smallest and the largest one.
SIZES = 2000
#: Factor between two units that show how copies grow with the unit.
FURTHER = 1.1

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


def copies(
    numbers: Iterable[int], wafs: Sequence[float | None], rates: Sequence[float]
) -> tuple[list[Zones], bool]:
    """Return the copies that remain of each number of zones, and whether counters tell them.

    WAFs and rates are those of writes in order, of uniform random writes, and of each number. What
    a host byte costs is a WAF, if all are known, or a time: a copy takes the same under any load.
    """
    known = [waf for waf in wafs if waf is not None]
    is_counted = len(known) == len(wafs)
    order, random, *costs = known if is_counted else [1 / rate for rate in rates]
    shares = ((cost - order) / (random - order) for cost in costs)
    return [Zones(*each) for each in zip(numbers, shares, strict=True)], is_counted


def collection_unit(
    zones: Sequence[Zones], usable: float, off: float = BY_COUNTERS, *, apart: bool = False
) -> tuple[Value | None, str]:
    """Return the unit of collection as a share of the drive, or why it is not identifiable.

    The jobs are ordered by the size of their zones, `usable` is the flash per byte of data, and
    `off` the standard deviation of a share of copies. Jobs `apart` start each on a drive that was
    filled in order, and are measured after three drive writes, as rows of a table are. Others
    follow each other, each a drive write, after uniform random writes in steady state.
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
    tried = TRIED_APART if apart else TRIED
    tried = tuple(pages for pages in tried if pages * (1 - 1 / usable) >= FREED)
    curves = []
    for pages in tried:
        try:
            curves.append(copies_of(pages, usable, numbers, apart))
        except UserError:
            # From few pages GC frees none, and units as large as the spare flash leave it no block.
            if curves:
                break
    if len(curves) < 2:
        return None, f"{100 * (usable - 1):.2g} % of flash beyond the data is too little to show it"
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
    return Value(value, least, most, "writes of zones"), ""


def matched(unit: Value, wanted: float, copied: Callable[[Value], float]) -> Value:
    """Return the unit, within its interval, at which a drive of several planes copies as much.

    Its planes collect blocks of their own, and a zone fills those of each plane in part, so that
    it copies less than a drive of whole units. `copied` returns the copies with a unit.
    """

    def of(factor: float) -> Value:
        return replace(unit, value=min(max(factor * unit.value, unit.low), unit.high))

    first, second = copied(unit), copied(of(FURTHER))
    if not 0 < first < second:
        return unit
    grows = math.log(second / first) / math.log(of(FURTHER).value / unit.value)
    return of((wanted / first) ** (1 / grows))


@cache
def copies_of(
    pages: int, usable: float, numbers: tuple[int, ...], apart: bool = False
) -> tuple[float, list[float]]:
    """Return the share of the drive of a unit of about this many pages, and its copies by zones."""
    units = max(3, round(usable * PAGES / pages))
    pages = round(usable * PAGES / units)
    text = DEVICE.format(blocks=units + 1, pages=pages, logical=PAGES * 4096)
    with device_file(text) as path:

        def drive(initial: str) -> wl.Drive:
            return wl.Drive(
                device=path, scheme="conventional", initial=initial, seed=_wordline.DEFAULT_SEED
            )

        same = drive("steady")
        uniform = _copies(same, 1)
        found = []
        for number in numbers:
            zone = PAGES // number
            each = [] if apart else [_copies(same, zone)]
            for run in range(RUNS if apart else 0):
                same = drive("fill:100%,order=seq")
                _copies(same, zone, AGED, more=2 * run + 1)
                each.append(_copies(same, zone, more=2 * run + 2))
            found.append(mean(each) / uniform)
    return pages / PAGES, found


def _copies(drive: wl.Drive, pages: int, times: int = 1, more: int = 0) -> float:
    """Write a drive in zones of a number of pages; return the copied bytes per host byte.

    `more` makes the sequence of zones another one.
    """
    before = programmed_bytes(drive)
    words = f"uniform:read=0%,bs={4 * pages}KiB,qd=1,bytes={times}x"
    feed = drive.feed(words, seed=_wordline.DEFAULT_SEED + pages + PAGES * more)
    wrote = sum(part.write_bytes for part in measured(drive, feed))
    return (programmed_bytes(drive) - before) / wrote - 1
