"""A scaled-down drive of a device file, and what fills, bursts and reads measure on it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import wordline as wl
from wordline import toml
from wordline.implausible import quiet
from wordline.quantity import in_bytes, in_us
from wordline.real import measurements, sheet
from wordline.real.curve import Plateau, plateaus
from wordline.real.jobs import BLOCK, Writes
from wordline.real.sheet import scaled, scheme_of

#: Writes before a full write buffer shows the rate of the flash, in multiples of the buffer.
BURST = 8
#: Number of points at which the write rate after an idle time is checked.
STEPS = 200
#: Number of lines in the log of a simulated drive above which their interval doubles.
LINES = 1000
#: Requests that measure random IOPS, the share of them that is not counted at the start, and reads
#: that measure those of queue depth 1.
RANDOM, EARLY, SINGLE = 100_000, 0.2, 2000
#: Bytes of the requests that fill a drive, each of which stands for a part of one of `BLOCK`.
PART = 16 << 10
#: Logical bytes of the drive whose sequential reads are measured, and how many times it is read.
READ_SIZE, READ_TIMES = 2e9, 0.5


@contextmanager
def device_file(text: str) -> Iterator[Path]:
    """Write a device file, which exists as long as it is used."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drive.toml"
        path.write_text(text, encoding="utf-8")
        # Erases of a scaled drive are short.
        with quiet():
            yield path


def measured(drive: wl.Drive, feed: wl.Feed, step_ns: int = 10**9) -> Iterator[wl.Figures]:
    """Feed a workload to a drive step by step until its last request ends; give each step."""
    while not feed.is_over or drive.look().outstanding:
        yield feed.measure(until_ns=drive.now_ns + step_ns)


@dataclass(frozen=True)
class Bench:
    """A device file, its scaled-down drive, and the drive's scheme."""

    text: str
    scheme: str
    #: Settings that scale the drive down, and its share of the whole drive.
    set: Mapping[str, object]
    by: float
    seed: int

    @classmethod
    def of(cls, text: str, size: float, seed: int) -> Bench:
        """Create a drive of about this many logical bytes, at most those of the file."""
        file = toml.parse(text)
        changes, by = scaled(file, size / in_bytes(file["capacity"]["logical"]))
        return cls(text, scheme_of(file), changes, by, seed)

    @cached_property
    def file(self) -> dict[str, Any]:
        """The parsed device file."""
        return toml.parse(self.text)

    @cached_property
    def in_parts(self) -> Bench:
        """The drive for requests of `PART` bytes, each of which stands for a part of `BLOCK`."""
        us = in_us(self.file.get("host", {}).get("write_overhead", "0ns")) * PART / BLOCK
        return replace(self, set={**self.set, "host.write_overhead": sheet.time(us)})

    def run(self, workload: str, initial: str = "fresh") -> Any:
        """Return the report of a run."""
        with device_file(self.text) as path:
            return wl.run(device=path, workload=workload, initial=initial, **self._how)

    @property
    def _how(self) -> dict[str, Any]:
        return {"scheme": self.scheme, "set": dict(self.set), "seed": self.seed}

    @contextmanager
    def _drive(self, state: str) -> Iterator[wl.Drive]:
        """Make the drive in an initial state; its device file exists as long as it is used."""
        with device_file(self.text) as path:
            yield wl.Drive(device=path, initial=state, **self._how)

    def behind(
        self,
        state: str,
        after_gb: float,
        fast: float,
        *,
        before_gb: float = 0.0,
        rest_s: float = 0.0,
    ) -> float:
        """Return the GB written after an idle time until the rate falls below `fast` MB/s.

        The drive starts in an initial state, such as ``fresh`` or ``fill:80%``. Then `before_gb`
        are written in order, the drive is idle for `rest_s`, and `after_gb` are written. All sizes
        and times are those of the whole drive.
        """
        capacity = in_bytes(self.file["capacity"]["logical"]) / 1e9
        words = f"sequential:read=0%,bs={PART}B,qd=256,bytes="
        with self.in_parts._drive(state) as drive:
            if before_gb:
                feed = drive.feed(f"{words}{before_gb / capacity:.6f}x", seed=self.seed)
                for _ in measured(drive, feed):
                    pass
            drive.run(until_ns=drive.now_ns + round(rest_s * 1e9 / self.by))
            # Where the drive's data end, so that new addresses are written; a full drive has none.
            held = float(state.partition(":")[2].partition("%")[0] or 0) % 100
            at = f"offset={held + 100 * before_gb / capacity:.4f}%"
            feed = drive.feed(f"{words}{after_gb / capacity:.6f}x,{at}", seed=self.seed)
            step = round(after_gb / self.by / fast * 1e3 / STEPS * 1e9)
            written, limit = 0, fast * 1e6 * step / 1e9
            for part in measured(drive, feed, step):
                if part.write_bytes < limit and not feed.is_over:
                    break
                written += part.write_bytes
        return written * self.by / 1e9

    def random_kiops(self, is_read: bool, depth: int, gb: float) -> float:
        """Return thousands of random reads or writes of 4 KiB per second on an erased drive.

        They fall on the first `gb` GB; for reads, these are written in order before.
        """
        capacity = in_bytes(self.file["capacity"]["logical"]) / 1e9
        span = f"span={100 * gb / capacity:.4f}%"
        way = f"uniform:read={100 * is_read}%,bs=4KiB,qd={depth},{span},requests={RANDOM}"
        ends: list[int] = []
        with self._drive("fresh") as drive:
            if is_read:
                words = f"sequential:read=0%,bs={PART}B,qd=256,bytes={gb / capacity:.6f}x"
                for _ in measured(drive, drive.feed(words, seed=self.seed)):
                    pass
            feed = drive.feed(way, seed=self.seed)
            while not feed.is_over:
                ends += [c.end_ns for c in feed.step(RANDOM // 10)]
            ends += [c.end_ns for c in drive.run()]
        ends.sort()
        first = round(EARLY * len(ends))
        return (len(ends) - 1 - first) / (ends[-1] - ends[first]) * 1e6

    def single_kiops(self) -> float:
        """Return thousands of single random reads of 4 KiB per second, the drive full."""
        words = f"uniform:read=100%,bs=4KiB,qd=1,requests={SINGLE}"
        found = self.run(words, initial="fill:100%").to_dict()["latency_us"]
        return 1e3 / float(found["read"]["mean"])

    def burst(self, wanted: Writes) -> tuple[Any, Any]:
        """Write to an empty drive; return GB and seconds, shape ``(n,)``, of the scaled drive."""
        with self._drive("fresh") as drive, tempfile.TemporaryDirectory() as folder:
            _, log = write(drive, wanted, drive.look().logical_bytes, self.seed)
            file = Path(folder) / "burst.log"
            file.write_text(log, encoding="utf-8")
            return measurements.fio_log(file)

    def fill(self, share: float = 1.0, most: int = 4) -> tuple[Any, Any, list[Plateau]]:
        """Write a share of an empty drive in order; return GB, seconds and plateaus.

        Bytes and times are those of the whole drive. Requests are of 16 KiB, at queue depth 256:
        the size of a cache follows the fill level in steps of 1024 writes, which matter on a small
        drive.
        """
        report = self.in_parts.run(f"sequential:read=0%,bs={PART}B,qd=256,bytes={share:.4f}x")
        line = report.timeline.to_dict()
        rates = np.array(line["write_mb_per_s"], dtype=float)
        seconds = np.arange(len(rates) + 1) * line["bin_s"]
        # The last bin may cover less than a whole one.
        gb = np.concatenate([[0], (rates * line["bin_s"]).cumsum()]) / 1e3
        if len(rates) > 8:
            gb, seconds = gb[:-1], seconds[:-1]
        # The write buffer is not scaled down: the first writes run at the rate of the link.
        pages, unit = self.file.get("ack", {}).get("pages", 0), self.file["mapping"]["unit"]
        later = gb >= min(BURST * (pages * in_bytes(unit) / 1e9), gb[-1] / 8)
        gb, seconds = gb[later] * self.by, seconds[later] * self.by
        return gb, seconds, plateaus(gb, seconds, most)


def read_mbps(text: str, seed: int) -> float:
    """Return the MB/s of sequential reads of 128 KiB at queue depth 32, the drive full.

    The link, the channels or the units limit them.
    """
    words = f"sequential:read=100%,bs=128KiB,qd=32,bytes={READ_TIMES}x"
    report = Bench.of(text, READ_SIZE, seed).run(words, initial="fill:100%,order=seq")
    return float(report.to_dict()["throughput"]["read_mb_per_s"])


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
    rates = {"bw": written / 1024 / seconds, "iops": requests / seconds}
    wrote = {"io_bytes": written, **rates, "total_ios": requests, "clat_ns": {"mean": 0.0}}
    read = {"io_bytes": 0, "bw": 0.0, "iops": 0.0, "total_ios": 0, "clat_ns": {"mean": 0.0}}
    return output("writes", {"read": read, "write": wrote}), "".join(log)


def output(job: str, ways: Mapping[str, Any]) -> dict[str, Any]:
    """Return fio's JSON for the results of a section: those of its reads and of its writes."""
    return {"fio version": f"wordline-{wl.__version__}", "jobs": [{"jobname": job, **ways}]}
