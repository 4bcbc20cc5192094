"""How `sa`, `sector` and `hierarchy` divide a drive, as ``parts/packing.rs`` of Rust has it.

An SLC cache of fixed size, in whose pages parts of logical pages share the space, over dense flash
whose pages wait in protected RAM for the rest of a one-shot program.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from wordline import DriveInfo, Layout, Overlay, Pool, Refused, Region


class Cache:
    """The cache of a drive: its blocks of each plane, and what it is divided into.

    Parameters
    ----------
    drive
        As `Scheme.layout` is given it.
    blocks
        SLC blocks of each plane; 0 for the device file's.

    Raises
    ------
    Refused
        The drive has no such cache, or its pages have no parts.
    """

    def __init__(self, drive: DriveInfo, blocks: int) -> None:
        """Take what the device file says of it."""
        if len(drive.modes) > 1:
            raise Refused("it supports a single medium, and this drive has several")
        if len(drive.modes[0]) < 2 or drive.modes[0][0] != "slc":
            raise Refused("its flash must support SLC and a denser mode")
        unit, sectors = drive.geometry.sectors_per_unit, drive.sectors_per_page[0]
        if unit != sectors or unit == 1:
            raise Refused(
                f"it packs sectors into pages, but a page of {sectors} has mapping units of {unit}"
            )
        static, dynamic = (0, 1) if drive.slc_cache is None else Layout.cache_blocks(drive)
        if not blocks and dynamic:
            raise Refused("it needs a static cache, and the device file has none")
        self.blocks = blocks or static
        self.others = drive.blocks_per_plane[0] - self.blocks
        if self.blocks < 2 or self.others < 1:
            raise Refused(f"a cache of {self.blocks} blocks per plane does not fit")
        self.drive = drive
        self.pages_per_block = drive.spec["media"][0]["wordlines_per_block"]
        self.pages = drive.planes * self.blocks * self.pages_per_block

    @property
    def usable(self) -> int:
        """Blocks of a plane that hold data when collection has done its work."""
        cache: Mapping[str, Any] = self.drive.slc_cache or {"trigger": {"free_blocks": "50%"}}
        trigger = cache["trigger"]
        free = 0.0 if isinstance(trigger, str) else float(next(iter(trigger.values())).rstrip("%"))
        return max(self.blocks - min(ceil(free * self.blocks / 100), self.blocks), 1)

    def region(self, name: str) -> Region:
        """Return a region of the cache."""
        trigger = self.drive.slc_cache_trigger or "free_blocks < 50%"
        return Region(name, "slc", rule="sequential", trigger=trigger, evicts_to_other_pool=True)

    def layout(self, cache: Sequence[Region], map: str | Overlay, merges: str) -> Layout:
        """Return the drive with regions of the cache, and the dense one, ``D``, behind them."""
        dense = Region("D", self.drive.dense, pool=1, protected=True, pad_after_ns="never")
        pools = [Pool(self.blocks), Pool(self.others)]
        return Layout([*cache, dense], pools, "D", map=map, merges=merges)


def whole(drive: DriveInfo) -> int:
    """Return the sectors of a whole logical page."""
    return (1 << drive.geometry.sectors_per_unit) - 1


def quota(region: Region, blocks: int | None, slots: int | None) -> Region:
    """Return a region that collects when it has reached so many blocks or slots of each plane."""
    return replace(region, trigger="last-block", blocks=blocks, slots=slots)
