"""Where a drive copies pages to, from skewed writes: blocks of host data, or blocks of their own.

Blocks of their own part cold data from hot ones, so that skewed writes cost fewer copies. How many
depends on the skew and on the spare flash alone, so a small drive of each kind shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

import wordline as wl
from wordline import _wordline
from wordline.drive import programmed_bytes
from wordline.real.bench import device_file, measured
from wordline.real.collection_unit import DEVICE, MISFIT, PAGES

#: Both kinds of drives, as ``gc.copies`` names them.
KINDS = ("together", "apart")
#: Blocks of the small drive; drive writes before it is measured, and those over which it is.
BLOCKS, AGED, WRITES = 400, 3, 2
#: Skew above which the writes that RAM merges count, and below which both kinds cost the same.
MOST_SKEW, LEAST_SKEW = 0.9, 0.5
#: Relative standard deviation of the copies per host byte.
OFF = 0.05


@dataclass(frozen=True)
class Skewed:
    """Writes by Zipf's law: their skew, and the copies per host byte over those of uniform ones."""

    theta: float
    copies: float


def tells(theta: float) -> bool:
    """Whether writes of a skew tell the kinds apart."""
    return LEAST_SKEW <= theta <= MOST_SKEW


def copied_pages(rows: Sequence[Skewed], usable: float) -> tuple[str, str]:
    """Return one of `KINDS`, or nothing and why the writes do not tell.

    `usable` is the flash per byte of data.
    """
    rows = [row for row in rows if tells(row.theta)]
    if not rows:
        return "", f"no writes of a skew from {LEAST_SKEW:g} to {MOST_SKEW:g}"
    seen = np.array([row.copies for row in rows])
    off = {}
    for kind in KINDS:
        model = np.array([copies_of(kind, row.theta, round(usable, 2)) for row in rows])
        off[kind] = float((((model - seen) / (OFF * seen)) ** 2).sum())
    best, other = sorted(KINDS, key=off.__getitem__)
    if off[best] > MISFIT**2 * len(rows):
        return "", "neither kind of copies explains the skewed writes"
    if off[other] - off[best] < MISFIT**2:
        return "", "both kinds of copies explain the skewed writes"
    return best, ""


@cache
def copies_of(kind: str, theta: float, usable: float) -> float:
    """Return the copies per host byte of skewed writes to a small drive, over uniform ones."""
    return _copies(kind, f"zipf:theta={theta}", usable) / _copies("together", "uniform:", usable)


def _copies(kind: str, words: str, usable: float) -> float:
    pages = round(usable * PAGES / BLOCKS)
    text = DEVICE.format(blocks=BLOCKS + 2, pages=pages, logical=PAGES * 4096)
    words += f"{',' * (words[-1] != ':')}read=0%,bs=4KiB,qd=1,bytes="
    with device_file(f'{text}copies = "{kind}"\n') as path:
        drive = wl.Drive(
            device=path,
            scheme="conventional",
            initial="fill:100%,order=seq",
            seed=_wordline.DEFAULT_SEED,
        )
        found = 0.0
        for times in (AGED, WRITES):
            before = programmed_bytes(drive)
            feed = drive.feed(f"{words}{times}x", seed=_wordline.DEFAULT_SEED)
            wrote = sum(part.write_bytes for part in measured(drive, feed))
            found = (programmed_bytes(drive) - before) / wrote - 1
    return found
