"""How often a page must be read again, from the formulas of docs/engine/errors-and-wear.md alone.

Everything is found anew for each read: the block's rate, the hashes of its number and of its
wordline's, and the quantile that they choose. Only the precision is the engine's, since a page
with just as many errors as can be corrected is read once or twice by the last bit of a number.
"""

from __future__ import annotations

from math import log
from statistics import NormalDist

from numpy import float32

HOUR = 3_600_000_000_000
MASK = (1 << 64) - 1
QUANTILES = 4096
CLIP = 2.5


def mix(x: int) -> int:
    """SplitMix64's output for a state."""
    x = x + 0x9E3779B97F4A7C15 & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def normal(key: int) -> float32:
    """The value that a number draws from a standard normal distribution, cut off at both ends."""
    part = (mix(key) >> 52) % QUANTILES
    z = NormalDist().inv_cdf((part + 0.5) / QUANTILES)
    return float32(max(-CLIP, min(CLIP, z)))


def rate(mode: dict, cycles: int, time: float, reads: int) -> float:
    """The raw bit error rate."""
    c = max(cycles, 1)
    wear = mode["alpha"] * cycles ** mode["k"]
    retention = mode["beta"] * c ** mode["m"] * time ** mode["n"]
    disturb = mode["gamma"] * c ** mode["p"] * reads ** mode["q"]
    return min(max(mode["epsilon"] + wear + retention + disturb, 0.0), 0.5)


def retries(errors: dict, mode: str, place: tuple, cycles: int, age: int, reads: int) -> tuple:
    """Reads after the first, and whether the last of them still fails.

    ``place`` is (block, wordline, bit), ``age`` in ns, ``reads`` whole reads of each page.
    """
    block, wordline, bit = place
    m = errors[mode]
    per_log = -1 / log(1 - errors["delta"])
    hours = age // HOUR
    time = hours * (HOUR / errors["t_unit"])
    words = errors["codeword"] * 8 / errors["correctable"]
    of_block = m["sigma_block"] * float(normal(block ^ 0x626C6F636B73))
    steps = float32((log(rate(m, cycles, time, reads) * words) + of_block) * per_log)
    mean = sum(m["senses"]) / len(m["senses"])
    steps = steps + float32(log(m["senses"][bit] / mean) * per_log)
    steps = steps + float32(m["sigma_page"] * per_log) * normal(block << 32 | wordline)
    if steps <= 0:
        return 0, False
    most = m["most_retries"]
    failed = steps > most and m["beyond"] == "uncorrectable"
    steps = min(float(steps), float(most))
    return int(steps) + (steps > int(steps)), failed
