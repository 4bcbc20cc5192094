"""What the error model foretells of one stage when it is fitted to the two others.

Of the built-in model ``raro`` two coefficients of QLC were fitted, the rate of fresh pages and that
of wear, to three shares that section III-C prints. Here each share is left out in turn. The
exponents and the terms of retention and disturb are those of published 72-layer TLC (B. S. Kim,
J. Choi, S. L. Min, FAST 2019), and pages vary as in the model, not cut off at 2.5 deviations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

#: By stage: first and last cycle, the most retries, and the share of pages that take them.
PRINTED = {
    "young": (0, 333, 10, 0.0101),
    "middle": (334, 666, 13, 0.0104),
    "old": (667, 1000, 16, 0.0971),
}
#: Rate of fresh pages and coefficient of wear of the model, where the search begins.
MODEL = (1.317e-2, 1.627e-8)
WEAR, RETENTION = 2.05, (6.28e-5, 0.14, 0.54)
HOURS = 720.0
#: Errors over what can be corrected, by raw bit error rate: a codeword of 1 KiB, 72 bits of it.
WORDS = 8192 / 72
#: Logarithm of the errors that a retry takes away, at a share of 10 %.
STEP = -math.log(0.9)
#: Deviation of the logarithm of a page's rate, block and wordline together.
SIGMA = math.hypot(0.02, 0.03)
SENSES = np.array([4, 4, 4, 3]) / 3.75


def share(
    stage: str, coefficients: Sequence[float] | NDArray[np.float64], wear: float = WEAR
) -> float:
    """Share of the pages of a stage that take its most retries, or more; `wear` is a power."""
    first, last, most, _ = PRINTED[stage]
    cycles = np.linspace(first, last, last - first + 1)
    beta, m, n = RETENTION
    rate = coefficients[0] + coefficients[1] * cycles**wear
    rate += beta * np.maximum(cycles, 1) ** m * HOURS**n
    above = np.log(WORDS * rate[:, None] * SENSES) - (most - 1) * STEP
    return float(np.mean([0.5 * math.erfc(-z / SIGMA / math.sqrt(2)) for z in above.flat]))


def fitted(stages: Sequence[str]) -> NDArray[np.float64]:
    """Coefficients at which two stages have their printed shares, by Newton's method."""
    wanted = np.log([PRINTED[s][3] for s in stages])

    def off(scaled: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log([share(s, scaled * MODEL) for s in stages]) - wanted

    at: NDArray[np.float64] = np.ones(2)
    for _ in range(20):
        now, by = off(at), 1e-5
        slopes = np.column_stack([(off(at + by * e) - now) / by for e in np.eye(2)])
        at = at - np.clip(np.linalg.solve(slopes, now), -0.05, 0.05)
    return at * MODEL


def foretold() -> Mapping[str, float]:
    """By stage, the share of pages with the most retries when only the others are fitted."""
    return {s: share(s, fitted([o for o in PRINTED if o != s])) for s in PRINTED}


def linear() -> NDArray[np.float64]:
    """Coefficients of a law linear in the cycles that come nearest to all three shares.

    By least squares of the shares' logarithms (Gauss and Newton). No two coefficients meet three
    shares, and those of this law miss them by more: 10, 13 and 16 retries at 333, 666 and 1,000
    cycles are rates that grow by equal factors.
    """
    begin = np.array([6.5e-3, 2.8e-5])

    def off(scaled: NDArray[np.float64]) -> NDArray[np.float64]:
        found = [share(s, scaled * begin, 1.0) / printed[3] for s, printed in PRINTED.items()]
        return np.log(found)

    at: NDArray[np.float64] = np.ones(2)
    for _ in range(20):
        now, by = off(at), 1e-5
        slopes = np.column_stack([(off(at + by * e) - now) / by for e in np.eye(2)])
        at = at - np.clip(np.linalg.lstsq(slopes, now, rcond=None)[0], -0.05, 0.05)
    return at * begin
