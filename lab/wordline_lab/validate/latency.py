"""Latency of one die under Poisson arrivals.

The bus costs nothing, so that a die is a single server. Random reads of a randomly filled drive
draw their page types independently, as M/G/1 wants. Programs do not: the pages of a block come in
order, LSB, CSB, MSB, so that their times come in a cycle and the wait is shorter (by a third at a
load of .8 with TLC times), which `wordline_lab.theory.cyclic_wait` accounts for.
"""

from __future__ import annotations

import numpy as np

from wordline.interval import mean_and_half_width
from wordline_lab import theory
from wordline_lab.validate.drives import Drive
from wordline_lab.validate.outcome import Outcome

# Service times in us: the TLC pages of the literature, PA-SSD's, and IPS in steady state, all ten
# times as fast, so that rates in whole requests per second are fine enough.
MIXES = {"tlc": (50, 200, 550), "pa-ssd": (50, 210, 570), "ips": (50, 302, 302)}
SEEDS = 4


def _rate(u: float, mean_us: float) -> int:
    return round(u * 1e6 / mean_us)


def latency(
    *,
    kind: str,
    u: float,
    formula: str,
    service_us: list[int] | None = None,
    mix: str | None = None,
    requests: int = 1_000_000,
) -> Outcome:
    """Mean wait, or response over service time, of reads or programs at load u."""
    if service_us is None:
        if mix is None:
            raise TypeError("latency() needs service_us or mix")
        service_us = list(MIXES[mix])
    service = [1000 * s for s in service_us]
    times = [service[0]] * 3 if kind == "one-shot" else service
    mean_us = float(np.mean(service)) / 1e3
    rate = _rate(u, mean_us)
    # Reads: a full drive. Programs: an empty one with room for every request and no collection.
    reads = kind == "read"
    blocks = 1024 if reads else (requests * (3 if kind == "one-shot" else 1)) // (256 * 3) + 64
    pages = blocks * 256 * len(times)
    drive = Drive(
        logical_pages=pages * 9 // 10 // 768 * 768,
        blocks=blocks,
        wordlines=256,
        read=times,
        program=times,
        one_shot=kind == "one-shot",
    )
    size = "12KiB" if kind == "one-shot" else "4KiB"
    workload = f"uniform:read={100 if reads else 0}%,bs={size},rate={rate},requests={requests}"
    waits = []
    for seed in range(1, SEEDS + 1):
        report = drive.run(workload, initial="preload" if reads else "fresh", seed=seed)
        one = report.latency_us.read if reads else report.latency_us.write
        waits.append(one.mean - mean_us)
    ours, half = mean_and_half_width(waits)
    per_us = rate / 1e6
    if formula == "md1_response":
        theirs = theory.md1_response(per_us * mean_us)
        ours, half = 1 + ours / mean_us, half / mean_us
    else:
        theirs = getattr(theory, formula)(per_us, [s / 1e3 for s in service])
    data = {"u": u, "rate_per_s": rate}
    if formula == "cyclic_wait":
        data["mg1_wait_us"] = theory.mg1_wait(per_us, [s / 1e3 for s in service])
    return Outcome(ours, half, theirs, data=data)


def priority(
    *, of: str, u: float, service_us: list[int], formula: str, requests: int = 1_000_000
) -> Outcome:
    """Mean wait of one of two classes: reads first, without preemption."""
    mean_us = float(np.mean(service_us))
    rate = _rate(u, mean_us)
    drive = Drive(
        logical_pages=256 * 1024,
        blocks=1024 + requests // 2 // 256 + 64,
        wordlines=256,
        read=[1000 * service_us[0]],
        program=[1000 * service_us[1]],
    )
    workload = f"uniform:read=50%,bs=4KiB,rate={rate},requests={requests}"
    waits = []
    for seed in range(1, SEEDS + 1):
        latencies = drive.run(workload, seed=seed).latency_us
        one = latencies.read if of == "reads" else latencies.write
        waits.append(one.mean - service_us[0 if of == "reads" else 1])
    half_rate = rate / 2 / 1e6
    each = getattr(theory, formula)([half_rate] * 2, [[s] for s in service_us])
    ours, half = mean_and_half_width(waits)
    return Outcome(ours, half, each[0 if of == "reads" else 1], data={"u": u, "rate_per_s": rate})
