"""A drive of a device file, smaller in proportion, and what a fill or random writes measure of it."""

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
from wordline.real.sheet import scaled


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
        scheme = "slc-cache" if "slc_cache" in file else "conventional"
        return cls(text, scheme, changes, by, seed)

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

    def fill(self, share: float = 1.0, most: int = 4) -> tuple[Any, Any, list[Plateau]]:
        """Write a share of an empty drive in order; return GB, seconds and plateaus.

        Bytes and times are those of the whole drive. Requests are of 16 KiB, 256 outstanding: a cache
        follows its fill by a number of writes, which is large on a small drive.
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
        gb, seconds = gb * self.by, seconds * self.by
        return gb, seconds, plateaus(gb, seconds, most)
