"""The drive: its geometry and its times, from the header of a log alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from wordline_replay.log import Unreadable, Use

BITS = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}
PAGES = ("lsb", "csb", "msb", "tsb")
#: Rules that program the bits of a wordline at different times.
BY_BIT = ("strict-diagonal", "relaxed", "reprogram-window")
# What flash bears of reprogramming (In-place Switch, sections II-B and IV-D1): layers within which
# it is safe, reprograms of a wordline.
MOST_LAYERS = 2
MOST_REPROGRAMS = 4


@dataclass
class Region:
    """The header's word on a region."""

    name: str
    medium: int
    mode: str
    rule: str
    slots_per_page: int
    slots_per_program: int
    slots_per_block: int
    rereads_earlier_bits: bool
    window: int = 0  # wordlines that serve as SLC together, under the rule reprogram-window
    reread_ns: int | None = None  # time to read the earlier bits, where it is fixed

    @cached_property
    def bits(self) -> int:
        """Pages of a wordline."""
        return BITS[self.mode]

    @cached_property
    def wordlines(self) -> int:
        """Wordlines of a block."""
        return self.slots_per_block // self.slots_per_page // self.bits

    def diagonals(self) -> Iterator[tuple[int, int]]:
        """Give wordline and bit of each page in the strict order of PA-SSD's Fig. 4."""
        for step in range(self.wordlines + self.bits - 1):
            for bit in range(self.bits):
                if 0 <= step - bit < self.wordlines:
                    yield step - bit, bit


class Drive:
    """Geometry and times, from the header alone."""

    def __init__(self, header: dict[str, Any]) -> None:
        """Read the header of a log, schema ``wordline.log/1``.

        Raises `Unreadable`: a log of this drive cannot be checked: its reads suspend what is under
        way, or a region has a program rule or windows that are unknown here.
        """
        self.unit = header["unit_bytes"]
        self.sector = header["sector_bytes"]
        self.media = header["media"]
        self.arrays_by_die = header["parallel_unit"] == "die"
        self.pairs_planes = header["multiplane"] == "opportunistic"
        self.pairs_same_pages = header.get("multiplane_pages") == "same"
        if header.get("suspends"):
            raise Unreadable(
                "the log comes from a drive with service.suspend, where operations are split; "
                "check a run without service.suspend"
            )
        errors = header.get("errors") or {}
        self.decode_ns = errors.get("decode_ns", 0)
        self.retransfers = errors.get("retransfer", False)
        self.most_retries = errors.get("most_retries", 0)
        self.medium_of: list[int] = []
        self.die_of: list[int] = []
        self.channel_of: list[int] = []
        self.first_block: list[int] = []
        blocks = dies = channels = 0
        for number, m in enumerate(self.media):
            dies_per_channel = m["chips_per_channel"] * m["dies_per_chip"]
            for die in range(m["channels"] * dies_per_channel):
                for _ in range(m["planes_per_die"]):
                    self.medium_of.append(number)
                    self.die_of.append(dies + die)
                    self.channel_of.append(channels + die // dies_per_channel)
                    self.first_block.append(blocks)
                    blocks += m["blocks_per_plane"]
            dies += m["channels"] * dies_per_channel
            channels += m["channels"]
        self.blocks = blocks
        self.by_number = [self._region(r) for r in header["regions"]]
        self.regions = {region.name: region for region in self.by_number}

    def _region(self, r: dict[str, Any]) -> Region:
        medium, window = self.media[r["medium"]], r.get("window") or {}
        per_page = medium["page_bytes"] // self.unit
        region = Region(
            name=r["name"],
            medium=r["medium"],
            mode=r["mode"],
            rule=r["rule"],
            slots_per_page=per_page,
            slots_per_program=per_page * r["pages_per_program"],
            slots_per_block=medium["wordlines_per_block"] * BITS[r["mode"]] * per_page,
            rereads_earlier_bits=r.get("rereads_earlier_bits", False),
            window=window.get("wordlines", 0),
            reread_ns=r.get("reread_ns"),
        )
        if region.rule not in ("sequential", "one-shot", *BY_BIT):
            raise Unreadable(f"region {region.name} has the unknown program rule {region.rule!r}")
        layers = window.get("layers", 1)
        bears = 1 <= layers <= MOST_LAYERS and 1 <= region.bits - 1 <= MOST_REPROGRAMS
        if region.rule == "reprogram-window" and not (
            bears and 0 < region.window <= region.wordlines and region.window % layers == 0
        ):
            what = f"{region.window} wordlines over {layers} layers of {region.mode}"
            raise Unreadable(
                f"region {region.name} has windows that flash does not support: {what}"
            )
        return region

    def copies(self, u: Use) -> bool:
        """Whether a program is a copy within its plane, which moves nothing over the bus.

        Only what is collected or moved is copied, where the flash offers that.
        """
        if u.kind != "program" or u.bytes != 0:
            return False
        times = self.media[self.medium_of[u.plane]]["modes"][u.mode]
        moved = all(cause in ("gc", "migrate") for _, _, _, cause in u.parts())
        return "copy_back_ns" in times and moved

    def may_overlap(self, first: Use, then: Use) -> bool:
        """Whether the second may begin in a plane while it still has the first.

        With a cache register reads go out over the bus while the array works, and programs come in.
        Where windows are reprogrammed, and for a copy, the page register is needed for that.
        """
        cache = self.media[self.medium_of[then.plane]].get("cache_register", "off")
        if first.kind == "read":
            return then.kind != "program" and cache in ("read", "on")
        windows = any(self.regions[u.region].window for u in (first, then))
        copied = self.copies(first) or self.copies(then)
        both = first.kind == then.kind == "program"
        return both and cache in ("program", "on") and not windows and not copied

    def plane_of(self, block: int) -> int:
        """Return the plane in which a block lies."""
        return bisect_right(self.first_block, block) - 1

    def duration(self, u: Use, region: Region, *, goes_on: bool, reprograms: bool) -> int:
        """How long the use must take, of an operation that begins or goes on with it."""
        medium = self.media[self.medium_of[u.plane]]
        command = medium["command_ns"]
        if u.use == "bus":
            bus = medium["bus"]
            moved = -(-u.bytes * bus["ns"] // bus["bytes"]) if bus["bytes"] else 0
            return moved + (command["program"] if u.kind == "program" else 0)
        times = medium["modes"][u.mode]
        if u.kind == "erase":
            return times["erase_ns"] + command["erase"]
        if self.copies(u):
            return times["copy_back_ns"]
        bit = u.slot // region.slots_per_page % BITS[region.mode]
        if u.kind == "read":
            sense = times["read_ns"][bit] + command["read"]
            if self.retransfers:
                return sense + (self.decode_ns if goes_on else 0)
            return sense + u.retries * (sense + self.decode_ns)
        if region.window:
            reread = region.reread_ns or 0
            return times["program_ns"][bit] + (reread if reprograms else 0)
        earlier = sum(times["read_ns"][:bit]) if region.rereads_earlier_bits else 0
        return times["program_ns"][bit] + earlier
