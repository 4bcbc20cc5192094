"""Number of equal units behind reads, from the mean number of them that work."""

from __future__ import annotations

import random
from functools import cache
from heapq import heapify, heappop, heappush

#: Reads after which the network is in equilibrium, and over which it is measured.
WARM, MEASURED = 4_000, 40_000
#: The most units that are looked for.
MOST = 4096


@cache
def busy(units: int, outstanding: int) -> float:
    """Return the mean number of busy units at a number of outstanding reads.

    Each read goes to a unit drawn at random, waits for those before it, and takes one unit of time:
    flash senses in a constant time. No formula is known for such a closed network (of exponential
    times it is n d / (n + d - 1)), so it is simulated, with a seed of its own.
    """
    draw = random.Random(units * 65_537 + outstanding)
    # When each unit has completed what was sent to it.
    free = [0.0] * units

    def send(now: float) -> float:
        at = draw.randrange(units)
        free[at] = max(free[at], now) + 1.0
        return free[at]

    ends = [send(0.0) for _ in range(outstanding)]
    heapify(ends)
    begun = 0.0
    for number in range(WARM + MEASURED):
        now = heappop(ends)
        if number == WARM:
            begun = now
        heappush(ends, send(now))
    return MEASURED / (ends[0] - begun)


def units_of(working: float, outstanding: int) -> float:
    """Return the number of units of which this many work, interpolated between whole numbers.

    `working` is below `outstanding`.
    """
    low, high = 1, 2
    while high < MOST and busy(high, outstanding) < working:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if busy(middle, outstanding) < working else (low, middle)
    below, above = busy(low, outstanding), busy(high, outstanding)
    return low + (working - below) / (above - below) if above > below else float(high)
