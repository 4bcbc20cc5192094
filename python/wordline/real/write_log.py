"""Writes to a simulated drive, with the output and the bandwidth log that fio has of them."""

from __future__ import annotations

from typing import Any

import wordline as wl
from wordline.real.jobs import Writes

#: Number of lines in the log of a simulated drive above which their interval doubles.
LINES = 1000


def write(drive: wl.Drive, wanted: Writes, capacity: int, seed: int) -> tuple[dict[str, Any], str]:
    """Write to a drive; return output as fio would print it, and a bandwidth log.

    A line of the log covers the interval of the job on a drive of 1 TB, and proportionally less on
    a smaller drive. A line without writes has the rate of the next line with writes. An idle time
    has its own line.
    """
    began = line_began = drive.now_ns
    written = requests = 0
    log: list[str] = []

    def lines(ends: list[int], done: int) -> None:
        nonlocal line_began
        rate = done / (ends[-1] - line_began) * 1e9 / 1024
        log.extend(f"{(to - began) / 1e6:.6f}, {rate:.3f}, 1, {wanted.block}, 0\n" for to in ends)
        line_began = ends[-1]

    for workload, rest_s in wanted.workloads():
        feed = drive.feed(workload, seed=seed)
        step, looks = max(1000, 1_000_000 * wanted.log_ms * capacity // 10**12), 0
        ends: list[int] = []
        while not feed.is_over or drive.look().outstanding:
            part = feed.measure(until_ns=drive.now_ns + step)
            looks += 1
            # A slow drive writes for long, so its lines become longer.
            step *= 2 if looks % LINES == 0 else 1
            written += part.write_bytes
            requests += part.requests
            ends.append(drive.now_ns)
            if part.write_bytes:
                lines(ends, part.write_bytes)
                ends.clear()
        if rest_s:
            line_began = drive.now_ns
            drive.run(until_ns=drive.now_ns + rest_s * 10**9)
            lines([drive.now_ns], 0)
    seconds = (line_began - began) / 1e9
    wrote = {
        "io_bytes": written,
        "bw": written / 1024 / seconds,
        "iops": requests / seconds,
        "total_ios": requests,
        "clat_ns": {"mean": 0.0},
    }
    read = {"io_bytes": 0, "bw": 0.0, "iops": 0.0, "total_ios": 0, "clat_ns": {"mean": 0.0}}
    return output([{"jobname": "writes", "read": read, "write": wrote}]), "".join(log)


def output(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return fio's JSON for the results of sections."""
    return {"fio version": f"wordline-{wl.__version__}", "jobs": entries}
