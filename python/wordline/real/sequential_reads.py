"""The sequential read rate of a device file, which the link, the channels or the units limit."""

from __future__ import annotations

from wordline.real.bench import Bench

#: Logical bytes of the simulated drive, and how many times it is read.
SIZE, TIMES = 2e9, 0.5


def read_mbps(text: str, seed: int) -> float:
    """Return the MB/s of sequential reads of 128 KiB at queue depth 32, the drive full."""
    words = f"sequential:read=100%,bs=128KiB,qd=32,bytes={TIMES}x"
    report = Bench.of(text, SIZE, seed).run(words, initial="fill:100%,order=seq")
    return float(report.to_dict()["throughput"]["read_mb_per_s"])
