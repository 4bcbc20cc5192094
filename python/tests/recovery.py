"""Hidden drives come back: each is probed in simulated time and fitted, and both are compared.

Run by ``make recovery``, with DRIVES=20 drives of random values; `test_hidden_drives` has one
of them.
"""

from __future__ import annotations

import argparse
import csv
import io
import random
import re
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wordline import toml
from wordline.implausible import quiet
from wordline.quantity import in_bytes, in_us
from wordline.real import (
    controller_time,
    fit,
    jobs,
    measurements,
    probe,
    probe_page,
    probed,
    sheet,
    steady_rows,
)
from wordline.real.bench import Bench
from wordline.real.map_cache import ENTRY, map_bytes
from wordline.real.result import FitResult

#: The file whose mechanisms the hidden drives have, and the share of its capacity.
BASE, SHARE = "micron-7450-max-800gb", 0.01
#: The jobs that the fit of a drive without an SLC cache uses.
RATES = ("11-rate-1000", "11-rate-3000")
KINDS = ("01", "02", "03", "04", "09", "10", "12", "14")
JOBS = [j for j in jobs.JOBS if j.name in RATES or j.name[:2] in KINDS]


@dataclass(frozen=True)
class Hidden:
    """Values of a drive that the fit is not told."""

    channels: int
    dies: int
    spare: float
    program_us: float
    read_us: float
    write_latency_us: float
    buffered: int
    blocks: int
    link: float
    channels_carry: float

    @classmethod
    def of(cls, seed: int) -> Hidden:
        """Draw them."""
        draw = random.Random(seed)
        return cls(
            draw.choice((6, 8, 10)),
            draw.choice((2, 3, 4)),
            draw.uniform(0.12, 0.45),
            draw.uniform(500, 1200),
            draw.uniform(40, 90),
            draw.uniform(5, 15),
            draw.randint(1000, 4000),
            round(100 * 8 ** draw.random()),
            draw.uniform(1500, 7000),
            draw.uniform(3000, 12_000),
        )

    def set(self) -> dict[str, object]:
        """Return them as settings of the file of `BASE`."""
        file = toml.parse(toml.builtin(f"devices/{BASE}.toml") or "")
        changes, _ = sheet.scaled(file, SHARE)
        logical = in_bytes(str(changes["capacity.logical"]))
        flash = file["medium"]["flash"]
        wordline = 3 * in_bytes(flash["page"]) * self.blocks
        wordlines = logical * (1 + self.spare) / wordline / self.channels / self.dies
        at = "medium.flash."
        return {
            **changes,
            at + "channels": self.channels,
            at + "dies_per_chip": self.dies,
            at + "blocks_per_plane": self.blocks,
            # What a probe does not show, as a fit writes it.
            "allocation.order": "CWDP",
            "gc.copies": "together",
            "gc.victim": "greedy",
            # GC of all units at once needs two blocks of each.
            "gc.trigger": f"free_blocks < {max(0.5, 190 / self.blocks):.3g}%",
            at + "wordlines_per_block": max(8, round(wordlines)),
            at + "tlc.program": f"{self.program_us:.1f}us",
            at + "tlc.read": f"{self.read_us:.1f}us",
            "host.write_latency": f"{self.write_latency_us:.1f}us",
            "ack.pages": self.buffered,
            "host.rate": f"{self.link:.0f}MB/s",
            at + "bus.rate": f"{self.channels_carry / self.channels:.0f}MT/s",
        }


def simulate(*where: Any, **how: Any) -> None:
    """Probe a scaled drive, whose erases are too short for a real one."""
    with quiet():
        probe.simulate(*where, **how)


def values(file: dict[str, Any]) -> dict[str, float]:
    """Return what is compared, of a device file."""
    flash, host = file["medium"]["flash"], file["host"]
    units = flash["channels"] * flash["dies_per_chip"]
    wordlines = flash["blocks_per_plane"] * flash["wordlines_per_block"]
    return {
        "usable flash, GB": 3 * in_bytes(flash["page"]) * wordlines * units / 1e9,
        "units in parallel": units,
        "unit of collection, MB": 3
        * in_bytes(flash["page"])
        * flash["wordlines_per_block"]
        * units
        / 1e6,
        "4 KiB read, us": in_us(flash["tlc"]["read"])
        + 4096 * (1 / rate(flash["bus"]) + 1 / rate(host))
        + in_us(host.get("read_latency", "0us")),
        "write acknowledgement, us": in_us(host["write_latency"]),
        "write buffer, MB": file["ack"]["pages"] * in_bytes(file["mapping"]["unit"]) / 1e6,
    }


def rate(of: dict[str, Any]) -> float:
    """Return MB/s of a link or a channel."""
    return float(re.sub(r"[^\d.]", "", of["rate"]))


def recovered(seed: int, folder: Path) -> dict[str, tuple[float, float]]:
    """Probe and fit a hidden drive; return each value of it and of the fitted one."""
    hidden = Hidden.of(seed).set()
    simulate(folder, BASE, set=hidden, seed=seed, force=True, jobs=JOBS)
    # As the kernel names it, which does not say how much of it is left for data.
    about = probed.read_about(folder / probed.ABOUT) | {"interface": "PCIe4"}
    probed.write_about(folder, about.pop("capacity_bytes"), about)
    result = fit.fit(fit.load(folder), "mine", tell=lambda _: None)
    file = toml.parse(toml.builtin(f"devices/{BASE}.toml") or "")
    for key, value in hidden.items():
        *tables, last = key.split(".")
        at = file
        for table in tables:
            at = at[table]
        at[last] = value
    was, found = values(file), values(toml.parse(result.sheet.toml()))
    return {key: (was[key], found[key]) for key in was} | figures(
        result, "knee", "steady", "sequential"
    )


def figures(result: FitResult, *names: str) -> dict[str, tuple[float, float]]:
    """Return figures of the drive, and what the fitted file has of them."""
    return {
        row.what.partition(" (")[0]: (row.measured.value, row.modelled)
        for row in result.rows
        if any(name in row.what for name in names)
    }


#: The jobs that show an L2P cache.
MAP_JOBS = [j for j in jobs.JOBS if j.name[:2] in ("01", "05")]


def recovered_table(seed: int, folder: Path) -> dict[str, tuple[float, float]]:
    """Probe a hidden drive with an L2P cache and no SLC cache; return its share and that found."""
    hidden, share = Hidden.of(seed).set(), random.Random(seed).uniform(0.05, 0.35)
    capacity = in_bytes(str(hidden["capacity.logical"]))
    hidden["dram.map_cache"] = f"{map_bytes(share, capacity, 4096)}B"
    simulate(folder, BASE, set=hidden, seed=seed, force=True, jobs=MAP_JOBS)
    found = probed.Probed(folder).map_cache
    return {"L2P cache without SLC cache": (share, found.share.value if found else 1.0)}


#: The file whose SLC cache hidden drives have with other values, the share of its capacity, and the
#: jobs that show caches.
CACHED, CACHED_SHARE = "kingston-a2000-1tb", 0.01
KINDS_OF_CACHE = ("01", "02", "03", "05", "06", "13", "14")
CACHE_JOBS = [j for j in jobs.JOBS if j.name[:2] in KINDS_OF_CACHE]
#: Those that show the cache on an empty, a full and a half-full drive.
THREE_FILLS = [j for j in jobs.JOBS if j.name in ("01-fill", "06-rest-600", "13-half")]


def recovered_cache(seed: int, folder: Path) -> dict[str, tuple[float, float]]:
    """Probe and fit a hidden drive with an SLC cache; return each value of it and of the fit.

    Every second drive has a dynamic cache with a static part, the others a static one alone; all
    have an L2P cache.
    """
    draw = random.Random(seed)
    file = toml.parse(toml.builtin(f"devices/{CACHED}.toml") or "")
    hidden, _ = sheet.scaled(file, CACHED_SHARE)
    is_dynamic = bool(seed % 2)
    static = draw.randint(110, 145) if is_dynamic else draw.randint(170, 220)
    capacity, unit = in_bytes(str(hidden["capacity.logical"])), in_bytes(file["mapping"]["unit"])
    wordlines = float(str(hidden["medium.flash.wordlines_per_block"]))
    was = static_gb(file["medium"]["flash"], wordlines, static)
    # The static part, or what is written behind a rest, comes back in about 35 s, so that two of
    # the idle times of the probe find it in between.
    back = min(was, jobs.AFTER * capacity / 1e9)
    after, rate = draw.uniform(4, 7), 1e3 * back / draw.uniform(33, 38)
    table = map_bytes(draw.uniform(0.05, 0.35), capacity, unit)
    share, buffered = table / ENTRY * unit / capacity, 4 * draw.randint(100, 600)
    hidden |= {
        "medium.flash.blocks_per_plane": file["medium"]["flash"]["blocks_per_plane"] + static,
        # Where data migrate late, overwritten ones free the cache at once, and rests show no rate.
        "slc_cache.trigger": "free_blocks < 10%",
        "medium.flash.tlc.program": "1357us",
        "slc_cache.static_blocks": static,
        "slc_cache.dynamic_blocks": draw.randint(100, 300) if is_dynamic else 0,
        "slc_cache.idle_after": f"{1e3 * after:.0f}ms",
        "slc_cache.idle_rate": f"{rate:.2f}MB/s",
        "dram.map_cache": f"{table}B",
        "ack.pages": buffered,
    }
    simulate(folder / "hidden", CACHED, set=hidden, seed=seed, force=True, jobs=CACHE_JOBS)
    result = fit.fit(fit.load(folder / "hidden"), "mine", tell=lambda _: None)
    fitted = toml.parse(result.sheet.toml())
    (folder / "mine.toml").write_text(result.sheet.toml(), encoding="utf-8")
    mine = str(folder / "mine.toml")
    simulate(folder / "mine", mine, seed=seed, force=True, jobs=THREE_FILLS)
    sizes = [probed.Probed(folder / name) for name in ("hidden", "mine")]
    cache = fitted["slc_cache"]

    return {
        **figures(result, "cache", "sequential"),
        "cache when full, GB": (sizes[0].rests()[-1].gb, sizes[1].rests()[-1].gb),
        "cache at half, GB": (half(sizes[0]), half(sizes[1])),
        "delay, s": (round(after, 3), in_us(cache["idle_after"]) / 1e6),
        "rate, MB/s": (rate, float(cache["idle_rate"].removesuffix("MB/s"))),
        "L2P cache, share": (share, covered(fitted)),
        "write buffer, pages": (buffered, fitted["ack"]["pages"]),
    }


#: The files that hidden drives have with other times of the controller: PCIe 3, PCIe 4 and SATA.
RATED = ("kingston-a2000-1tb", "wd-sn580-1tb", "samsung-840-evo-1tb")


def recovered_controller(seed: int) -> dict[str, tuple[float, float]]:
    """Measure the random IOPS of a hidden drive and fit it to these and to its review.

    Return the time that its controller takes for each read and each write, and that of the fit.
    """
    draw, device = random.Random(seed), RATED[seed % len(RATED)]
    text = toml.builtin(f"devices/{device}.toml") or ""
    table = toml.builtin("devices/measured/cliffs.csv") or ""
    (row,) = (r for r in csv.DictReader(io.StringIO(table)) if r["device"] == device)
    drive = steady_rows.drives([measurements.Table("cliffs.csv", table)])[row["model"]]
    depth = 32 if row["interface"] == "SATA" else draw.choice((64, 128, 512))
    bench = Bench.of(text, fit.simulated_size(drive), seed)
    hidden = {way: draw.uniform(1.2, 6.0) for way in controller_time.WAYS}
    times = {f"host.{way}_overhead": f"{us:.3f}us" for way, us in hidden.items()}
    bench, cache = replace(bench, set={**bench.set, **times}), drive.values["cache_gb"].value
    row[measurements.OUTSTANDING] = str(depth)
    for way, column in zip(
        controller_time.WAYS, (measurements.READS, measurements.WRITES), strict=True
    ):
        row[column] = f"{bench.random_kiops(way == 'read', depth, cache / 2):.5g}"
    given = io.StringIO()
    writer = csv.DictWriter(given, list(row))
    writer.writeheader()
    writer.writerow(row)
    stated = steady_rows.drives([measurements.Table("mine.csv", given.getvalue())])
    result = fit.fit(stated[row["model"]], "mine", tell=lambda _: None)
    host = toml.parse(result.sheet.toml())["host"]
    found = {way: in_us(host[f"{way}_overhead"]) for way in controller_time.WAYS}
    return {f"controller per {way}, us": (hidden[way], found[way]) for way in controller_time.WAYS}


def static_gb(flash: dict[str, Any], wordlines: float, blocks: int) -> float:
    """Return the bytes of blocks of every plane as SLC, in GB."""
    planes = flash["channels"] * flash["dies_per_chip"] * flash["planes_per_die"]
    return float(blocks * planes * wordlines * in_bytes(flash["page"]) / 1e9)


def half(found: probed.Probed) -> float:
    """Return the SLC cache of a half-full drive, in GB."""
    return next(r.value for r in probe_page.readings(found) if r.job == "13-half")


def covered(file: dict[str, Any]) -> float:
    """Return the share of a drive that its L2P cache covers; 1 without one."""
    cached = file.get("dram", {}).get("map_cache", "off")
    if cached == "off":
        return 1.0
    unit = in_bytes(file["mapping"]["unit"])
    return in_bytes(cached) / ENTRY * unit / in_bytes(file["capacity"]["logical"])


#: How far a value may be off, if not 5 %.
BARS = {"units in parallel": 0.1, "unit of collection, MB": 0.5}


def main() -> int:
    """Print a table of errors; return 1 if a value is off by more than its bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drives", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    worst: dict[str, float] = {}
    for seed in range(args.seed, args.seed + args.drives):
        with tempfile.TemporaryDirectory() as folder:
            found = recovered(seed, Path(folder) / "steady")
            found |= recovered_table(seed, Path(folder) / "table")
            found |= recovered_cache(seed, Path(folder) / "cache")
            found |= recovered_controller(seed)
        errors = {key: after / before - 1 for key, (before, after) in found.items()}
        shown = ", ".join(f"{key} {found[key][0]:.4g} {e:+.1%}" for key, e in errors.items())
        print(f"{seed}: {shown}", flush=True)
        for key, error in errors.items():
            # A factor of 1.5 either way is one of 0.5 here.
            far = max(error, 1 / (1 + error) - 1) if key in BARS else abs(error)
            worst[key] = max(worst.get(key, 0.0), far)
    print("worst: " + ", ".join(f"{key} {error:.1%}" for key, error in worst.items()))
    return int(any(e > BARS.get(key, 0.05) for key, e in worst.items()))


if __name__ == "__main__":
    sys.exit(main())
