"""Hidden drives come back: each is probed in simulated time and fitted, and both are compared.

Run by ``make recovery``, with DRIVES=20 drives of random values; `test_real` does one of them.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordline import toml
from wordline.quantity import in_bytes, in_us
from wordline.real import fit, jobs, probe, sheet

#: The file whose mechanisms the hidden drives have, and the share of its capacity.
BASE, SHARE = "micron-7450-max-800gb", 0.01
#: The jobs that the fit of a drive without an SLC cache uses.
JOBS = [j for j in jobs.JOBS if j.name[:2] in ("01", "02", "03", "04", "09", "10")]
JOBS += [j for j in jobs.JOBS if j.name in ("11-rate-1000", "11-rate-3000")]


@dataclass(frozen=True)
class Hidden:
    """Values of a drive that the fit is not told."""

    channels: int
    dies: int
    spare: float
    program_us: float
    read_us: float
    write_latency_us: float

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
        )

    def set(self) -> dict[str, object]:
        """Return them as settings of the file of `BASE`."""
        file = toml.parse(toml.builtin(f"devices/{BASE}.toml") or "")
        changes, _ = sheet.scaled(file, SHARE)
        logical = in_bytes(str(changes["capacity.logical"]))
        flash = file["medium"]["flash"]
        wordline = 3 * in_bytes(flash["page"]) * flash["blocks_per_plane"]
        wordlines = logical * (1 + self.spare) / wordline / self.channels / self.dies
        at = "medium.flash."
        return {
            **changes,
            at + "channels": self.channels,
            at + "dies_per_chip": self.dies,
            at + "wordlines_per_block": max(8, round(wordlines)),
            at + "tlc.program": f"{self.program_us:.1f}us",
            at + "tlc.read": f"{self.read_us:.1f}us",
            "host.write_latency": f"{self.write_latency_us:.1f}us",
        }


def values(flash: dict[str, Any], host: dict[str, Any]) -> dict[str, float]:
    """Return what is compared, of a device file's tables."""
    units = flash["channels"] * flash["dies_per_chip"]
    wordlines = flash["blocks_per_plane"] * flash["wordlines_per_block"]
    return {
        "usable flash, GB": 3 * in_bytes(flash["page"]) * wordlines * units / 1e9,
        "units in parallel": units,
        "fill, MB/s": 3 * in_bytes(flash["page"]) * units / in_us(flash["tlc"]["program"]),
        "read, us": in_us(flash["tlc"]["read"]),
        "write acknowledgement, us": in_us(host["write_latency"]),
    }


def recovered(seed: int, folder: Path) -> dict[str, tuple[float, float]]:
    """Probe and fit a hidden drive; return each value of it and of the fitted one."""
    hidden = Hidden.of(seed).set()
    probe.simulate(folder, BASE, set=hidden, seed=seed, force=True, jobs=JOBS)
    fitted = toml.parse(fit.fit(fit.load(folder), "mine", tell=lambda _: None).sheet.toml())
    file = toml.parse(toml.builtin(f"devices/{BASE}.toml") or "")
    for key, value in hidden.items():
        *tables, last = key.split(".")
        at = file
        for table in tables:
            at = at[table]
        at[last] = value
    was, found = (values(f["medium"]["flash"], f["host"]) for f in (file, fitted))
    return {key: (was[key], found[key]) for key in was}


#: The file whose SLC cache hidden drives have with other values, the share of its capacity, and the
#: jobs that show the cache.
CACHED, CACHED_SHARE = "kingston-a2000-1tb", 0.01
CACHE_JOBS = [j for j in jobs.JOBS if j.name[:2] in ("01", "06", "13")]


def recovered_cache(seed: int, folder: Path) -> dict[str, tuple[float, float]]:
    """Probe and fit a hidden drive with an SLC cache; return each value of it and of the fit."""
    draw = random.Random(seed)
    file = toml.parse(toml.builtin(f"devices/{CACHED}.toml") or "")
    hidden, _ = sheet.scaled(file, CACHED_SHARE)
    static = draw.randint(170, 220)
    # What is written behind a rest comes back in about 35 s.
    capacity = in_bytes(str(hidden["capacity.logical"]))
    after, rate = draw.uniform(4, 7), 0.05 * capacity / draw.uniform(33, 38) / 1e6
    hidden |= {
        "medium.flash.blocks_per_plane": file["medium"]["flash"]["blocks_per_plane"] + static,
        "slc_cache.static_blocks": static,
        "slc_cache.dynamic_blocks": 0,
        "slc_cache.idle_after": f"{1e3 * after:.0f}ms",
        "slc_cache.idle_rate": f"{rate:.2f}MB/s",
    }
    probe.simulate(folder, CACHED, set=hidden, seed=seed, force=True, jobs=CACHE_JOBS)
    drive = fit.load(folder)
    fitted = toml.parse(fit.fit(drive, "mine", tell=lambda _: None).sheet.toml())
    flash, wordlines = file["medium"]["flash"], hidden["medium.flash.wordlines_per_block"]

    def block(flash: dict[str, Any], wordlines: float) -> float:
        planes = flash["channels"] * flash["dies_per_chip"] * flash["planes_per_die"]
        return float(planes * wordlines * in_bytes(flash["page"]) / 1e9)

    was = block(flash, float(str(wordlines)))
    found, cache = fitted["medium"]["flash"], fitted["slc_cache"]
    now = block(found, found["wordlines_per_block"])
    return {
        "SLC cache, GB": (static * was, cache["static_blocks"] * now),
        "delay, s": (round(after, 3), in_us(cache["idle_after"]) / 1e6),
        "rate, MB/s": (rate, float(cache["idle_rate"].removesuffix("MB/s"))),
    }


def main() -> int:
    """Print a table of errors; return 1 if a value but the units is off by more than 5 %."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drives", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    worst: dict[str, float] = {}
    for seed in range(args.seed, args.seed + args.drives):
        with tempfile.TemporaryDirectory() as folder:
            found = recovered(seed, Path(folder) / "steady")
            found |= recovered_cache(seed, Path(folder) / "cache")
        errors = {key: after / before - 1 for key, (before, after) in found.items()}
        shown = ", ".join(f"{key} {found[key][0]:.4g} {e:+.1%}" for key, e in errors.items())
        print(f"{seed}: {shown}", flush=True)
        for key, error in errors.items():
            worst[key] = max(worst.get(key, 0.0), abs(error))
    print("worst: " + ", ".join(f"{key} {error:.1%}" for key, error in worst.items()))
    return int(any(e > 0.05 for key, e in worst.items() if key != "units in parallel"))


if __name__ == "__main__":
    sys.exit(main())
