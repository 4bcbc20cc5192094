"""A device file with a source for each value, and a scaled-down copy of its drive."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wordline import UserError, toml
from wordline.quantity import in_bytes, in_us

PAGE, MAPPED = 16 << 10, 4 << 10
#: Data rate of a link in MB/s (10^6), by words that name the link; with `LANES`, of PCIe.
LINKS = {"pcie5": 14000.0, "pcie4": 7000.0, "pcie3": 3500.0, "nvme": 3500.0, "sata": 560.0}
LANES = 4
#: Array times in us (read, program of a wordline, erase) and P/E cycles.
USUAL: dict[str, tuple[float, float, float, int]] = {
    "slc": (25.0, 200.0, 2000.0, 100_000),
    "tlc": (60.0, 1900.0, 5000.0, 3000),
    "qlc": (85.0, 6550.0, 10_000.0, 1000),
}
BITS = {"slc": 1, "tlc": 3, "qlc": 4}
#: Wordlines per block of a scaled drive whose scaling is exact; fewer for a smaller cache.
WORDLINES = (768, 192, 48, 12)


def time(us: float) -> str:
    """Spell a time in nanoseconds, above 100 us in whole microseconds."""
    ns = round(us) * 1000 if us > 100 else round(us * 1e3)
    return f"{ns}ns" if ns % 1000 else f"{ns // 1000}us"


@dataclass(frozen=True)
class Sheet:
    """A device file: values by path, each with the comment that gives its source."""

    name: str
    description: str
    head: tuple[str, ...] = ()
    values: dict[str, tuple[Any, str]] = field(default_factory=dict)

    def put(self, path: str, value: Any, source: str) -> None:
        """Set a value; text is quoted, a `dict` becomes an inline table."""
        self.values[path] = (value, source)

    def get(self, path: str) -> Any:
        """Return a value."""
        return self.values[path][0]

    def toml(self) -> str:
        """Return the file."""
        tables: dict[str, list[tuple[str, str, str]]] = {}
        for path, (value, source) in self.values.items():
            table, _, key = path.rpartition(".")
            tables.setdefault(table, []).append((key, _spelled(value), source))
        lines = [f"# {line}".rstrip() for line in self.head]
        lines += ["", "[device]", f"name = {json.dumps(self.name, ensure_ascii=False)}"]
        lines.append(f"description = {json.dumps(self.description, ensure_ascii=False)}")
        for table, rows in tables.items():
            lines += ["", f"[{table}]"]
            wide = max(len(f"{key} = {value}") for key, value, _ in rows)
            lines += [f"{f'{key} = {value}':<{min(wide, 40)}}  # {why}" for key, value, why in rows]
        return "\n".join(lines) + "\n"


def _spelled(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_spelled(v)}" for k, v in value.items()) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, str) else str(value)


def read(device: str) -> tuple[str, dict[str, Any]]:
    """Return the text of a device file, built-in or the user's, and its parsed contents.

    Raises `UserError`: the file does not exist, or is not TOML.
    """
    text = toml.builtin(f"devices/{device}.toml")
    if text is not None:
        return text, toml.parse(text)
    file = toml.read(Path(device))
    return Path(device).read_text(encoding="utf-8"), file


def scheme_of(file: Mapping[str, Any]) -> str:
    """Return the scheme of a drive: ``slc-cache`` if its device file has an SLC cache."""
    return "slc-cache" if "slc_cache" in file else "conventional"


def scaled(file: Mapping[str, Any], share: float) -> tuple[dict[str, object], float]:
    """Return settings that scale a drive down, and the resulting share of its size.

    The number of blocks per plane stays the same. Blocks have fewer wordlines and a proportionally
    shorter erase time, so that shares of blocks, rates and the state of each plane are preserved.
    The desired share, at most 1, is met as closely as at least four whole wordlines allow.
    """
    changes: dict[str, object] = {}
    counts = {name: int(m["wordlines_per_block"]) for name, m in file["medium"].items()}
    least = min(counts.values())
    kept = min(least, max(4, round(least * share)))
    by = least / kept
    if by == 1:
        return {}, 1.0
    for name, medium in file["medium"].items():
        changes[f"medium.{name}.wordlines_per_block"] = max(1, round(counts[name] / by))
        for mode in ("slc", "mlc", "tlc", "qlc"):
            if mode in medium:
                changes[f"medium.{name}.{mode}.erase"] = time(in_us(medium[mode]["erase"]) / by)
    if "idle_after" in (cache := file.get("slc_cache", {})) and cache["idle_after"] != "never":
        changes["slc_cache.idle_after"] = time(in_us(cache["idle_after"]) / by)
    capacity, unit = file["capacity"], in_bytes(file.get("mapping", {}).get("unit", "16KiB"))
    if (cached := file.get("dram", {}).get("map_cache", "off")) != "off":
        changes["dram.map_cache"] = f"{max(1, round(in_bytes(cached) / by / unit)) * unit}B"
    if "logical" in capacity:
        logical = in_bytes(capacity["logical"]) / by
        changes["capacity.logical"] = f"{round(logical / unit) * unit}B"
    return changes, by


@dataclass(frozen=True)
class Shape:
    """Geometry of a drive. Rates do not determine it, so typical values are chosen."""

    channels: int
    dies_per_channel: int
    blocks: int
    wordlines: int
    link: float  #: MB/s.

    @property
    def planes(self) -> int:
        """Planes of the drive, two on each die."""
        return self.channels * self.dies_per_channel * 2

    @property
    def slc_block_gb(self) -> float:
        """Capacity of a block of each plane as SLC, in GB."""
        return self.planes * self.wordlines * PAGE / 1e9


def link_of(interface: str | None) -> float:
    """Return the data rate of a link, in MB/s.

    Raises `UserError`: the words name no known link.
    """
    word = re.sub(r"[ _-]|\.0|gen|rev", "", (interface or "").lower())
    if word == "off":
        return 1e5
    if found := re.match(r"([\d.]+)mb/s", word):
        return float(found[1])
    lanes = re.search(r"(?:pcie|nvme).*?x(\d+)", word)
    for name, rate in LINKS.items():
        if name in word:
            return rate * (int(lanes[1]) / LANES if lanes else 1.0)
    raise UserError(
        f"interface {interface or 'missing'}: unknown\n"
        f"  allowed: a text with {', '.join(LINKS)}, or a rate such as 2000MB/s"
    )


def shape(cell: str, link: float, usable: float, planes: float, grain_gb: float) -> Shape:
    """Choose channels, dies and blocks for an amount of usable flash, in bytes.

    About `planes` planes work in parallel, which gives the measured rates at typical program times.
    A block of each plane holds at most about `grain_gb` as SLC.
    """
    channels = 8 if link > 3500 else 4
    dies = max(1, round(planes / channels / 2))
    wordline_gb = channels * dies * 2 * PAGE / 1e9
    wordlines = next((w for w in WORDLINES if w * wordline_gb <= grain_gb), WORDLINES[-1])
    blocks = round(usable / (channels * dies * 2 * wordlines * BITS[cell] * PAGE))
    return Shape(channels, dies, blocks, wordlines, link)


def base(made: Shape, cell: str, capacity: int, about: tuple[str, str], head: list[str]) -> Sheet:
    """Return a sheet with typical values for everything that was not measured.

    `about` is the name and the description of the device.
    """
    sheet = Sheet(about[0], about[1], tuple(head))
    flash = "medium.flash."

    def usual(path: str, value: Any, why: str) -> None:
        sheet.put(path, value, f"ASSUMED: not identifiable; {why}")

    usual(flash + "channels", made.channels, "usual for this link")
    usual(flash + "chips_per_channel", 1, "one package per channel")
    usual(flash + "dies_per_chip", made.dies_per_channel, "programs take about their usual time")
    usual(flash + "planes_per_die", 2, "planes are what counts")
    usual(flash + "blocks_per_plane", made.blocks, "7 % more flash than capacity")
    usual(flash + "wordlines_per_block", made.wordlines, "usual for 3D flash")
    usual(flash + "page", "16KiB", "usual for 3D flash")
    bus = {"rate": f"{1200 if made.link <= 7000 else 2400}MT/s", "width": 1}
    usual(flash + "bus", bus, "channels carry more than the link")
    for mode in ("slc", cell):
        read, program, erase, cycles = USUAL[mode]
        at, why = f"{flash}{mode}.", f"usual for {mode.upper()}"
        usual(at + "read", time(read), why)
        usual(at + "program", time(program), why)
        if mode != "slc":
            usual(at + "one_shot", True, "one-shot programs, as on 3D flash")
        # A block with few wordlines represents part of a whole one, and so does its erase time.
        usual(at + "erase", time(erase * min(1.0, made.wordlines / WORDLINES[1])), why)
        usual(at + "endurance", cycles, why)
    usual("mapping.unit", "4KiB", "usual")
    usual("mapping.sector", "4KiB", "usual")
    usual("mapping.packing", "page", "units of several writes share a page")
    logical = capacity // MAPPED * MAPPED
    sheet.put("capacity.logical", f"{logical}B", "Cap, in whole mapping units")
    sheet.put("host.rate", f"{made.link:g}MB/s", "Link, what is left of it for data")
    usual("host.read_overhead", "500ns", "firmware and link")
    usual("host.write_overhead", "500ns", "firmware and link")
    usual("parallel.unit", "plane", "stands for multi-plane programs")
    usual("allocation.order", "dynamic", "the plane with the least to do")
    usual("gc.trigger", "free_blocks < 2%", "below the spare blocks")
    usual("gc.victim", "greedy", "usual")
    usual("gc.class", "background", "collects when idle, urgent when short")
    usual("ack.mode", "buffer", "writes are acknowledged from RAM")
    pages = 2 * made.planes * BITS[cell] * PAGE // MAPPED
    usual("ack.pages", pages, "two wordlines of every plane, which avoids padding")
    return sheet
