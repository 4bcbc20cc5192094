"""The write buffer of a drive, from a burst of writes that fills it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wordline.quantity import in_bytes
from wordline.real.bench import Bench
from wordline.real.jobs import BUFFERED
from wordline.real.measurements import Drive, Value
from wordline.real.sheet import Sheet

#: Share of the burst before the buffer is surely full: behind it the rate is that of the flash.
FULL = 0.5
#: Share of the buffer that is filled at the rate of the link.
EARLY = 0.7
#: Lines of the log that the buffer must fill for its size to be known.
LINES = 3
#: Logical bytes of the drive that is simulated, the least that a burst writes in multiples of the
#: buffer, and the number of corrections.
SIZE, BURST, ROUNDS = 16e9, 4, 3


def write_buffer(gb: Any, seconds: Any) -> Value | None:
    """Return the bytes that a write buffer takes; None if the burst does not show it.

    Gigabytes and seconds are those at the end of each line of a log, shape ``(n,)``, from 0. Behind
    the moment when the buffer is full, gigabytes grow at the rate r of the flash, and are ahead of
    r t by what the buffer holds. The first programs end after their time, so that this is a little
    less than its size, on a simulated drive as on a real one.
    """
    gb, seconds = np.asarray(gb, dtype=float), np.asarray(seconds, dtype=float)
    tail = gb > FULL * gb[-1]
    if tail.sum() < LINES or (~tail).sum() <= LINES:
        return None
    rate, held = (float(x) for x in np.polyfit(seconds[tail], gb[tail], 1))
    # How far the lines lie from the growth at one rate, and what one line of the beginning holds.
    off = float(np.abs(gb[tail] - rate * seconds[tail] - held).max())
    off = max(off, float(np.diff(gb[~tail]).max()))
    if held < LINES * off:
        return None
    return Value(1e9 * held, 1e9 * (held - off), 1e9 * (held + off), "14-buffer")


def link_rate(gb: Any, seconds: Any, held: float) -> Value | None:
    """Return the MB/s at which the buffer takes writes, the rate of the link; None if not shown.

    `held` is what the buffer holds, in bytes; the other parameters are those of `write_buffer`.
    """
    gb, seconds = np.asarray(gb, dtype=float), np.asarray(seconds, dtype=float)
    early = np.flatnonzero(1e9 * gb < EARLY * held)
    if len(early) <= 2 * LINES:
        return None
    first, last = early[LINES], early[-1]
    rate = float((gb[last] - gb[first]) * 1e3 / (seconds[last] - seconds[first]))
    # A line more or less is full.
    return Value.within(rate, 1 / (last - first), "14-buffer")


def put(text: Sheet, drive: Drive, seed: int) -> None:
    """Give a device file the write buffer that shows as measured, if it was measured."""
    if (target := drive.values.get("buffer_bytes")) is None:
        return
    unit = in_bytes(text.get("mapping.unit"))
    wanted = replace(BUFFERED, share=max(BUFFERED.share, BURST * target.value / SIZE))
    pages = max(1, round(target.value / unit))
    why = f"Rows, {target.value / 1e6:.4g} MB at the rate of the link before that of the flash"
    for _ in range(ROUNDS):
        text.put("ack.pages", pages, why)
        found = write_buffer(*Bench.of(text.toml(), SIZE, seed).burst(wanted))
        if found is None:
            return
        more = round((target.value - found.value) / unit)
        if not more:
            return
        pages = max(1, pages + more)
    text.put("ack.pages", pages, why)
