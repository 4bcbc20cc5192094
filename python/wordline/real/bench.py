"""A scaled-down drive of a device file, and what a fill measures on it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import wordline as wl
from wordline import toml
from wordline.implausible import quiet
from wordline.quantity import in_bytes
from wordline.real import measurements, write_log
from wordline.real.curve import Plateau, plateaus
from wordline.real.jobs import Writes
from wordline.real.sheet import scaled, scheme_of

#: Writes before a full write buffer shows the rate of the flash, in multiples of the buffer.
BURST = 8
#: Number of points at which the write rate after an idle time is checked.
STEPS = 200


@contextmanager
def device_file(text: str) -> Iterator[Path]:
    """Write a device file, which exists as long as it is used."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drive.toml"
        path.write_text(text, encoding="utf-8")
        # Erases of a scaled drive are short.
        with quiet():
            yield path


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

    def run(self, workload: str, initial: str = "fresh", **also: Any) -> Any:
        """Return the report of a run."""
        with device_file(self.text) as path:
            return wl.run(
                device=path,
                scheme=self.scheme,
                workload=workload,
                initial=initial,
                set=dict(self.set),
                seed=self.seed,
                **also,
            )

    @contextmanager
    def _drive(self, state: str) -> Iterator[wl.Drive]:
        """Make the drive in an initial state; its device file exists as long as it is used."""
        with device_file(self.text) as path:
            yield wl.Drive(
                device=path, scheme=self.scheme, set=dict(self.set), seed=self.seed, initial=state
            )

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
        file = toml.parse(self.text)
        capacity = in_bytes(file["capacity"]["logical"]) / 1e9
        words = "sequential:read=0%,bs=16KiB,qd=256,bytes="
        with self._drive(state) as drive:
            if before_gb:
                feed = drive.feed(f"{words}{before_gb / capacity:.6f}x", seed=self.seed)
                while not feed.is_over or drive.look().outstanding:
                    feed.measure(until_ns=drive.now_ns + 10**9)
            drive.run(until_ns=drive.now_ns + round(rest_s * 1e9 / self.by))
            # Where the drive's data end, so that new addresses are written; a full drive has none.
            held = float(state.partition(":")[2].partition("%")[0] or 0) % 100
            at = f"offset={held + 100 * before_gb / capacity:.4f}%"
            feed = drive.feed(f"{words}{after_gb / capacity:.6f}x,{at}", seed=self.seed)
            step = round(after_gb / self.by / fast * 1e3 / STEPS * 1e9)
            written, limit = 0, fast * 1e6 * step / 1e9
            while not feed.is_over or drive.look().outstanding:
                part = feed.measure(until_ns=drive.now_ns + step).write_bytes
                if part < limit and not feed.is_over:
                    break
                written += part
        return written * self.by / 1e9

    def burst(self, wanted: Writes) -> tuple[Any, Any]:
        """Write to an empty drive; return GB and seconds, shape ``(n,)``, of the scaled drive."""
        with self._drive("fresh") as drive, tempfile.TemporaryDirectory() as folder:
            _, log = write_log.write(drive, wanted, drive.look().logical_bytes, self.seed)
            file = Path(folder) / "burst.log"
            file.write_text(log, encoding="utf-8")
            return measurements.fio_log(file)

    def fill(self, share: float = 1.0, most: int = 4) -> tuple[Any, Any, list[Plateau]]:
        """Write a share of an empty drive in order; return GB, seconds and plateaus.

        Bytes and times are those of the whole drive. Requests are of 16 KiB, at queue depth 256:
        the size of a cache follows the fill level in steps of 1024 writes, which matter on a small
        drive.
        """
        bound = f"bytes={share:.4f}x"
        report = self.run(f"sequential:read=0%,bs=16KiB,qd=256,{bound}")
        line = report.timeline.to_dict()
        rates = np.array(line["write_mb_per_s"], dtype=float)
        seconds = np.arange(len(rates) + 1) * line["bin_s"]
        # The last bin may cover less than a whole one.
        gb = np.concatenate([[0], (rates * line["bin_s"]).cumsum()]) / 1e3
        if len(rates) > 8:
            gb, seconds = gb[:-1], seconds[:-1]
        # The write buffer is not scaled down: the first writes run at the rate of the link.
        file = toml.parse(self.text)
        buffer = file.get("ack", {}).get("pages", 0) * in_bytes(file["mapping"]["unit"]) / 1e9
        later = gb >= min(BURST * buffer, gb[-1] / 8)
        gb, seconds = gb[later] * self.by, seconds[later] * self.by
        return gb, seconds, plateaus(gb, seconds, most)
