"""Behavior of a device file in steady state: fills, uniform random writes, latency at a rate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from wordline import toml
from wordline.quantity import in_bytes
from wordline.real.bench import Bench
from wordline.real.sheet import BITS
from wordline.real.steady_rows import LATENCY, SKEWED, ZONES, SteadyRow

#: Minimum number of wordlines per block of the simulated drive. A drive with little spare flash has
#: more: a victim with an average share of valid data must free more than the units of a program, by
#: this factor.
WORDLINES, FREED = 4, 1.2
#: The same for writes of zones, which a write buffer must not hold whole, and drive writes of them;
#: the unit in which a zone is scaled.
ZONE_WORDLINES, ZONE_WRITES, UNIT = 24, 4, 4096
#: Logical bytes of the drive for skewed writes; its drive writes, of which the last fifth counts.
SKEW_SIZE, SKEW_WRITES = 4e9, 5
#: Drive writes of a run, and additional ones after a partial fill and on an erased drive.
WRITES, PART, ERASED = 2.8, 1.2, 3.2
#: Drive writes at the end of a run over which a steady figure is measured.
LAST = 1.2
#: Number of requests in a run for latencies.
REQUESTS = 60_000
#: A bin below this share of the rate before it is past the knee.
FALL = 0.8
#: Outstanding requests if a row does not state them: 4 threads of 128.
DEPTH = 512


@dataclass(frozen=True)
class SteadyModel:
    """A scaled-down device file in simulation; media bytes per byte of a sequential fill."""

    text: str
    seed: int
    overhead: float = 1.0
    #: Factor by which the simulated drive is larger than necessary.
    larger: float = 1.0
    #: Keys of the device to change.
    set: Mapping[str, object] = field(default_factory=dict)

    def _scaled(self, size: float) -> Bench:
        bench = Bench.of(self.text, size, self.seed)
        return replace(bench, set={**bench.set, **self.set})

    def _bench(self) -> Bench:
        file = toml.parse(self.text)
        (medium,) = file["medium"].values()
        logical = in_bytes(file["capacity"]["logical"])
        bits = max(BITS[mode] for mode in BITS if mode in medium)
        units = bits * in_bytes(medium["page"]) // in_bytes(file["mapping"]["unit"])
        dies = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")
        blocks = medium["blocks_per_plane"] * math.prod(medium[key] for key in dies)
        flash = blocks * medium["wordlines_per_block"] * bits * in_bytes(medium["page"])
        spare = max(1 - logical / flash, 0.02)
        kept = max(WORDLINES, math.ceil(FREED * (units + 1) / units / spare)) * self.larger
        share = min(1.0, kept / medium["wordlines_per_block"])
        bench = self._scaled(share * logical)
        # Greedy has the WAF of FIFO if blocks have many pages. Those of a small drive have few.
        # Where copies go does not matter to writes that are not skewed.
        return replace(bench, set={**bench.set, "gc.victim": "fifo", "gc.copies": "together"})

    @property
    def simulated_gb(self) -> float:
        """Logical gigabytes of the simulated drive."""
        return self._used(self._bench()) / 1e9

    def _used(self, bench: Bench) -> float:
        logical = bench.set.get("capacity.logical") or toml.parse(self.text)["capacity"]["logical"]
        return in_bytes(str(logical))

    def fill_mbps(self) -> float:
        """Return the MB/s at which one stream of 512 KiB fills an empty drive."""
        line = self._bench().run("sequential:read=0%,bs=512KiB,qd=1,bytes=0.5x").timeline.to_dict()
        rates = np.array(line["write_mb_per_s"], dtype=float)
        gone = rates.cumsum() / rates.sum()
        return float(rates[(gone > 0.2) & (gone < 0.95)].mean())

    def figures(self, row: SteadyRow) -> dict[str, float]:
        """Return the figures of a row by their names in it."""
        kinds = {LATENCY: self._latency, ZONES: self._zones, SKEWED: self._skewed}
        return kinds.get(row.kind, self._uniform)(row)

    def _uniform(self, row: SteadyRow) -> dict[str, float]:
        share = min(row.share, 1.0)
        span = f",span={100 * share:.4f}%" if share < 0.999 else ""
        writes = WRITES + (ERASED if row.initial == "fresh" else PART if share < 0.9 else 0.0)
        words = f"uniform:read=0%,bs=4KiB,qd={row.depth or DEPTH}{span},bytes={writes * share:.4f}x"
        bench = self._bench()
        host, media, bin_s = self._writes(bench, words, row)
        used = self._used(bench) * share / 1e6
        gone = (host * bin_s).cumsum() / used
        found = curve_figures(gone, host)
        last = gone > gone[-1] - LAST
        # Writes at the end of a run do not come from the host.
        last[-1] = False
        found["steady"] = float(host[last].mean())
        found["waf"] = float(self.overhead * media[last].sum() / host[last].sum())
        return found

    @staticmethod
    def _writes(bench: Bench, words: str, row: SteadyRow) -> tuple[Any, Any, float]:
        """Return the MB/s of the host and of the flash in each bin of a run, and its seconds."""
        line = bench.run(words, initial=row.initial).timeline.to_dict()
        host, media = (line[key] for key in ("write_mb_per_s", "programmed_mb_per_s"))
        return np.array(host, dtype=float), np.array(media, dtype=float), line["bin_s"]

    def _zones(self, row: SteadyRow) -> dict[str, float]:
        """Write zones in order, each drawn at random, and measure the last fifth."""
        file = toml.parse(self.text)
        (medium,) = file["medium"].values()
        share = min(1.0, ZONE_WORDLINES / medium["wordlines_per_block"])
        bench = self._scaled(share * in_bytes(file["capacity"]["logical"]))
        zone = max(1, round(row.zone / bench.by / UNIT)) * UNIT
        words = f"uniform:read=0%,bs={zone}B,qd=1,bytes={ZONE_WRITES}x"
        host, media, _ = self._writes(bench, words, row)
        last = slice(4 * len(host) // 5, -1)
        waf = self.overhead * media[last].sum() / host[last].sum()
        return {"steady": float(host[last].mean()), "waf": float(waf)}

    def _skewed(self, row: SteadyRow) -> dict[str, float]:
        """Write by Zipf's law, and measure the last fifth."""
        bench = self._scaled(SKEW_SIZE)
        words = f"zipf:theta={row.skew:g},read=0%,bs=4KiB,qd={row.depth or DEPTH}"
        host, media, _ = self._writes(bench, f"{words},bytes={SKEW_WRITES}x", row)
        last = slice(4 * len(host) // 5, -1)
        waf = self.overhead * media[last].sum() / host[last].sum()
        return {"steady": float(host[last].mean()), "waf": float(waf)}

    def _latency(self, row: SteadyRow) -> dict[str, float]:
        writes, reads = (row.figures[key].value for key in ("writes", "reads"))
        rate = writes + reads
        words = f"uniform:read={100 * reads / rate:.2f}%,bs=4KiB,rate={math.ceil(rate)}"
        # A table on flash has no steady initial state.
        has_table = "map_cache" in toml.parse(self.text).get("dram", {})
        initial = "fill:100%" if has_table else "steady"
        words += f",requests={REQUESTS}"
        found = self._bench().run(words, initial=initial).to_dict()["latency_us"]
        ways = itertools.product(("read", "write"), ("p50", "p99"))
        return {f"{op[0]}_{q}": float(found[op][q]) for op, q in ways}


def curve_figures(gone: Any, host: Any) -> dict[str, float]:
    """Return where the rate of random writes falls, and the rates around several drive writes.

    Of the drive writes at the end of each bin and the MB/s in it, shape ``(n,)``, that is ``knee``
    in drive writes, if the rate falls, and ``dw0.5``, ``dw1`` and ``dw2`` in MB/s, as far as the
    bins reach.
    """
    found = {}
    for at in (0.5, 1.0, 2.0):
        near = np.abs(gone - at) < 0.05
        if near.any():
            found[f"dw{at:g}"] = float(host[near].mean())
    # The rate before the knee excludes what a write buffer takes at the rate of the link.
    early = (gone > 0.01) & (gone < 0.08)
    before = float(np.median(host[early])) if early.any() else float(host[1])
    past = np.flatnonzero((host < FALL * before) & (gone > 0.02))
    if len(past) and 0 < past[0] < len(host) - 2:
        at = int(past[0])
        after = host[at + 1]
        share = float(np.clip((host[at] - after) / max(before - after, 1e-9), 0, 1))
        whole = (gone[at] - gone[at - 1]) / max(host[at], 1e-9) * before
        found["knee"] = float(gone[at - 1] + share * whole)
    return found
