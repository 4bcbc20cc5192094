"""A drive of a device file, smaller in proportion, and what a fill measures of it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import wordline as wl
from wordline import toml
from wordline.quantity import in_bytes
from wordline.real.curve import Plateau, plateaus
from wordline.real.sheet import scaled, scheme_of

#: Writes that pass before a full write buffer shows the rate of the flash, in sizes of the buffer.
BURST = 8
#: Looks at the rate of writes behind a rest.
STEPS = 200


@dataclass(frozen=True)
class Bench:
    """A device file, the part of the drive that is simulated, and the scheme on it."""

    text: str
    scheme: str
    #: Settings that make it smaller, and by how much it is.
    set: Mapping[str, object]
    by: float
    seed: int

    @classmethod
    def of(cls, text: str, size: float, seed: int) -> Bench:
        """Make a drive of about so many logical bytes, at most those of the file."""
        file = toml.parse(text)
        changes, by = scaled(file, size / in_bytes(file["capacity"]["logical"]))
        return cls(text, scheme_of(file), changes, by, seed)

    def run(self, workload: str, initial: str = "fresh", **also: Any) -> Any:
        """Return the report of a run."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "drive.toml"
            path.write_text(self.text, encoding="utf-8")
            return wl.run(
                device=path,
                scheme=self.scheme,
                workload=workload,
                initial=initial,
                set=dict(self.set),
                seed=self.seed,
                **also,
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
        """Return the GB behind a rest that are written before the rate falls below `fast` MB/s.

        The drive begins in a state, such as ``fresh`` or ``fill:80%``; then `before_gb` are written
        in order, it rests for `rest_s`, and `after_gb` follow. All of it is of the whole drive.
        """
        file = toml.parse(self.text)
        capacity = in_bytes(file["capacity"]["logical"]) / 1e9
        words = "sequential:read=0%,bs=16KiB,qd=256,bytes="
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "drive.toml"
            path.write_text(self.text, encoding="utf-8")
            drive = wl.Drive(
                device=path, scheme=self.scheme, set=dict(self.set), seed=self.seed, initial=state
            )
            if before_gb:
                feed = drive.feed(f"{words}{before_gb / capacity:.6f}x", seed=self.seed)
                while not feed.is_over or drive.look().outstanding:
                    feed.measure(until_ns=drive.now_ns + 10**9)
            drive.run(until_ns=drive.now_ns + round(rest_s * 1e9 / self.by))
            # Where the data of the drive end, so that what is written is new.
            held = float(state.partition(":")[2].partition("%")[0] or 0)
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

    def fill(self, share: float = 1.0, most: int = 4) -> tuple[Any, Any, list[Plateau]]:
        """Write a share of an empty drive in order; return GB, seconds and plateaus.

        Bytes and times are those of the whole drive. Requests are of 16 KiB, 256 outstanding: the
        size of a cache follows the fill in steps of 1024 writes, which a small drive feels.
        """
        bound = f"bytes={share:.4f}x"
        report = self.run(f"sequential:read=0%,bs=16KiB,qd=256,{bound}")
        line = report.timeline.to_dict()
        rates = np.array(line["write_mb_per_s"], dtype=float)
        seconds = np.arange(len(rates) + 1) * line["bin_s"]
        # The last bin may be a part of one.
        gb = np.concatenate([[0], (rates * line["bin_s"]).cumsum()]) / 1e3
        if len(rates) > 8:
            gb, seconds = gb[:-1], seconds[:-1]
        # A write buffer is not smaller in proportion: the first writes go at the link's rate.
        file = toml.parse(self.text)
        buffer = file.get("ack", {}).get("pages", 0) * in_bytes(file["mapping"]["unit"]) / 1e9
        later = gb >= min(BURST * buffer, gb[-1] / 8)
        gb, seconds = gb[later] * self.by, seconds[later] * self.by
        return gb, seconds, plateaus(gb, seconds, most)
