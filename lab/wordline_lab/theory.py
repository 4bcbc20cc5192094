"""Theory of a drive: write amplification, latency of one die, unloaded times.

All functions are pure and independent of the engine. Where a formula has no closed form it is
solved with SciPy (which the extra ``sweep`` brings).

Symbols, as in the literature: ``rho`` user pages over physical pages, ``b`` pages per block, ``f``
the share of the data that is hot and ``r`` the share of the writes that it gets, ``u`` the load of
a server, ``s`` service times.

References
----------
.. [D12] P. Desnoyers, "Analytic Modeling of SSD Write Performance", SYSTOR 2012.
.. [VH13] B. Van Houdt, "A Mean Field Model for a Class of Garbage Collection Algorithms in
   Flash-based Solid State Drives", SIGMETRICS 2013.
.. [S14] R. Stoica, A. Ailamaki, "Improving Flash Write Performance by Using Update Frequency",
   PVLDB 6(9), 2013, section 3 (pools with spare of their own).
.. [K75] L. Kleinrock, "Queueing Systems", volume 1, 1975, section 5.6 (Pollaczek-Khinchine);
   volume 2, 1976, section 3.2 (non-preemptive priorities).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import lambertw

# --- write amplification under uniform random writes ----------------------------------------------


def rho_effective(user_pages: float, blocks: int, b: int, free: float, open_: float) -> float:
    """Return the utilization of the blocks that hold old data when a victim is chosen.

    Parameters
    ----------
    user_pages
        Logical pages that hold data.
    blocks, b
        Blocks, and pages of a block.
    free, open_
        Blocks that are erased, and blocks just opened, at that moment: neither can hold old data.
    """
    return user_pages / ((blocks - free - open_) * b)


def fifo(rho: float) -> float:
    """Return the write amplification of FIFO (LRU) cleaning, many blocks.

    The live share x of a victim solves x = exp(-(1 - x) / rho); in Lambert's W, [D12]_ section 3.1.
    """
    x = float(np.real(-rho * lambertw(-np.exp(-1 / rho) / rho)))
    return 1 / (1 - x)


def greedy(rho: float, b: int) -> float:
    """Return the write amplification of greedy cleaning, exact for many blocks.

    Mean field: above the victims' level each level of live pages has the same flow, one block a
    collection, so that level i holds 1 / (lambda i) of the blocks with lambda = (b - E) / (rho b).
    E, the live pages of a victim, mixes the levels j and j + 1 so that the shares add up to one.
    """
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, b + 1))])
    for j in range(b - 1):

        def excess(theta: float, j: int = j) -> float:
            moved = j + theta
            levels = harmonic[b] - harmonic[j + 1] + (1 - theta) / (j + 1)
            return levels * rho * b / (b - moved) - 1

        if excess(0.0) * excess(1.0) <= 0:
            return b / (b - j - brentq(excess, 0, 1))
    raise ValueError(
        f"no number of valid pages balances rho={rho}, b={b}; allowed: rho from 0 to 1"
    )


def greedy_desnoyers(rho: float, b: int) -> float:
    """Return Desnoyers' closed form for greedy cleaning, [D12]_ section 3.2; within 0.8 %."""
    k = (1 + 1 / (2 * b)) / rho
    x = 0.5 - b * rho * float(np.real(lambertw(-k * np.exp(-k))))
    return b / (b - (x - 1))


def d_choices(rho: float, b: int, d: int) -> float:
    """Return the write amplification of the least live of d random blocks, [VH13]_ section 4.

    The fixed point of the drift: lambda i w_i = 1 - F_i^d with F_i the share of the blocks with at
    least i live pages, solved from i = b down, and lambda so that the live pages add up.
    """

    def live_pages_over(lam: float) -> float:
        above = total = 0.0
        for i in range(b, 0, -1):
            w = brentq(
                lambda w, i=i, above=above: lam * i * w + (above + w) ** d - 1,
                0,
                1 - above + 1e-12,
            )
            above += w
            total += i * w
        return total - rho * b

    lam = brentq(live_pages_over, (1 - rho) / rho * 0.5, 1 / rho)
    return 1 / (rho * lam)


# --- hot and cold data ----------------------------------------------------------------------------


def fifo_hot_cold(rho: float, f: float, r: float) -> float:
    """Return the write amplification of FIFO cleaning with hot and cold data mixed.

    A block lives through rho A / 1 drive writes; a page survives with exp(-rate x life). [D12]_
    section 4.
    """

    def excess(a: float) -> float:
        hot = r / -np.expm1(-r / (f * rho * a))
        cold = (1 - r) / -np.expm1(-(1 - r) / ((1 - f) * rho * a))
        return hot + cold - a

    return brentq(excess, 1 + 1e-9, 500)


def pools(
    amplification: Callable[[float], float], rho: float, f: float, r: float, spare: float
) -> float:
    """Return the write amplification of hot and cold data in pools of their own.

    Parameters
    ----------
    amplification
        Of one pool under uniform writes, as a function of its utilization.
    spare
        Share of the spare space that the hot pool gets. [S14]_
    """
    hot = f * rho / (f * rho + spare * (1 - rho))
    cold = (1 - f) * rho / ((1 - f) * rho + (1 - spare) * (1 - rho))
    return r * amplification(hot) + (1 - r) * amplification(cold)


def best_split(
    amplification: Callable[[float], float], rho: float, f: float, r: float
) -> tuple[float, float]:
    """Return the least write amplification over all splits of the spare space, and the split."""
    found = minimize_scalar(
        lambda spare: pools(amplification, rho, f, r, spare), bounds=(0.05, 0.95), method="bounded"
    )
    return float(found.fun), float(found.x)


def oracle_frontiers(rho: float, b: int) -> float:
    """Return the write amplification of hot and cold frontiers with one greedy victim.

    The same as for uniform writes. With E live pages in every victim, a frontier whose data take a
    share r of the writes closes r / (b - E) blocks per write, each page of which dies at the rate
    r / (f U): its levels hold f U / (i (b - E)) blocks, and those of all frontiers together
    U / (i (b - E)), whatever f and r are. What frontiers gain, the common victim takes back.
    """
    return greedy(rho, b)


# --- latency of one server ------------------------------------------------------------------------


def md1_response(u: float) -> float:
    """Return the mean response time of M/D/1 in units of the service time, [K75]_."""
    return 1 + u / (2 * (1 - u))


def mg1_wait(rate: float, s: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Return the mean wait of M/G/1 by Pollaczek-Khinchine, in the unit of `s`.

    Parameters
    ----------
    rate
        Arrivals per unit of time.
    s, weights
        Service times, independent of one another, and how likely each is (equally, by default).
    """
    mean, square = np.average(s, weights=weights), np.average(np.square(s), weights=weights)
    return float(rate * square / (2 * (1 - rate * mean)))


def cyclic_wait(rate: float, s: Sequence[float]) -> float:
    """Return the mean wait with Poisson arrivals and service times that come in a fixed cycle.

    Pages of a block are programmed in order, so that their times are not independent: LSB, CSB,
    MSB, and again. Lindley's recursion W' = (W + S - A)+ with exponential A gives the transforms
    (rate - z) phi_{k+1}(z) = rate phi_k(z) exp(-z s_k) - z p_k, where p_k is the chance that the
    server is idle after service k. Around the cycle phi_0 has a numerator that must vanish where
    its denominator does, at Re z > 0 and in 0, which fixes all p_k. (Our derivation; with one
    service time it is M/D/1.)
    """
    n, unit = len(s), float(np.mean(s))
    times, lam = np.asarray(s, dtype=np.float64) / unit, rate * unit
    total = float(times.sum())

    def tails(z: complex, first: int) -> NDArray[np.complex128]:
        """Return the factors of p_first, p_first+1, ... in the numerator of phi_first."""
        at = [(first + k) % n for k in range(n)]
        after = [np.prod([lam * np.exp(-z * times[j]) for j in at[k + 1 :]]) for k in range(n)]
        return np.array([(lam - z) ** k * after[k] for k in range(n)])

    # The zeros with Re z > 0: (lam - z) exp(z mean) = lam w for each n-th root of unity w but 1.
    zeros = []
    for k in range(1, n):
        w = np.exp(2j * np.pi * k / n)
        zeros.append(lam + lambertw(-lam * w * np.exp(-lam)))
    rows = [tails(z, 0) for z in zeros] + [np.ones(n)]
    sums = [0.0] * (n - 1) + [n - lam * total]
    idle = np.linalg.solve(np.array(rows, np.complex128), np.array(sums, np.complex128))
    # phi'(0) by Taylor: numerator -z (T0 + T1 z), denominator D1 z + D2 z^2.
    waits = []
    d1 = -n * lam ** (n - 1) + lam**n * total
    d2 = n * (n - 1) / 2 * lam ** (n - 2) - lam**n * total**2 / 2
    for first in range(n):
        at = [(first + k) % n for k in range(n)]
        t1 = 0.0
        for k in range(n):
            after = sum(times[j] for j in at[k + 1 :])
            slope = -k * lam ** (n - 2) - lam ** (n - 1) * after
            t1 += idle[at[k]].real * slope
        t0 = lam ** (n - 1) * idle.real.sum()
        # phi = -(t0 + t1 z) / (d1 + d2 z), phi(0) = 1; the mean is -phi'(0).
        waits.append((t1 * d1 - t0 * d2) / d1**2)
    return float(np.mean(waits) * unit)


def priority_waits(
    rates: Sequence[float], services: Sequence[Sequence[float]]
) -> tuple[float, ...]:
    """Return the mean wait of each class of M/G/1, the first class first, non-preemptive.

    W_k = R / ((1 - u_1 - ... - u_{k-1}) (1 - u_1 - ... - u_k)), R the mean residual service time
    over all classes, [K75]_ volume 2, eq. 3.31.
    """
    residual = sum(
        rate * np.mean(np.square(s)) / 2 for rate, s in zip(rates, services, strict=True)
    )
    waits, before = [], 0.0
    for rate, s in zip(rates, services, strict=True):
        upto = before + rate * float(np.mean(s))
        waits.append(float(residual / ((1 - before) * (1 - upto))))
        before = upto
    return tuple(waits)
