"""How a scheme in Python divides a drive: pools of blocks, and the regions that own them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from wordline._wordline import Geometry, Refused

__all__ = ["DriveInfo", "Layout", "Overlay", "Pool", "Region"]


@dataclass(frozen=True)
class DriveInfo:
    """What `layout` is given.

    Attributes
    ----------
    spec
        The device file, resolved, as ``identity()["device"]`` has it.
    logical_pages, page_bytes
        What the host can address.
    planes
        Of all media.
    modes, blocks_per_plane, sectors_per_page
        Of each medium its modes, from ``slc`` up, its blocks a plane, and the sectors of a page.
    geometry
        The drive's numbering.
    slc_cache_trigger
        When the device file wants its SLC cache collected; none without one.
    """

    spec: Mapping[str, Any]
    logical_pages: int
    page_bytes: int
    planes: int
    modes: Sequence[Sequence[str]]
    blocks_per_plane: Sequence[int]
    sectors_per_page: Sequence[int]
    geometry: Geometry
    slc_cache_trigger: str | None = None

    @property
    def slc_cache(self) -> Mapping[str, Any] | None:
        """The device file's SLC cache: ``static_blocks``, ``dynamic_blocks``, ``when_full``."""
        return self.spec.get("slc_cache")

    @property
    def dense(self) -> str:
        """The densest mode of the first medium."""
        return self.modes[0][-1]


@dataclass(frozen=True)
class Pool:
    """Blocks of one medium that may change owner or mode: how many of each plane.

    Of its erased blocks the one erased first is opened next, or the one erased least often.
    """

    blocks: int
    medium: int = 0
    least_erased_first: bool = False


@dataclass(frozen=True)
class Region:
    """Owns blocks of a pool, and gives them their mode and order of programs.

    Attributes
    ----------
    name
        As `to` names it.
    mode
        ``slc``, ``mlc``, ``tlc`` or ``qlc``.
    pool
        Where its blocks come from, by position.
    rule
        ``device`` (as the flash programs that mode), ``sequential``, ``one-shot``, ``relaxed``,
        ``strict-diagonal``, or with a window ``reprogram-window``.
    blocks
        The most of each plane that it may own; no limit if not given.
    trigger, victim
        As in a device file, such as ``free_blocks < 50%`` and ``greedy``; by default the device's.
        The trigger may be ``last-block``, too: when the last block is opened that it may own.
    evicts_to_other_pool
        Whether all that is collected here goes to another pool.
    window
        Wordlines and layers of a window, for the rule ``reprogram-window``: its wordlines serve as
        SLC first and get their further bits later, in place.
    earlier_bits, reread_ns
        Where the earlier bits of a wordline are when it gets a further one: ``buffered`` in RAM, or
        ``reread``, each on the die that programs; or all of them are read in so long.
    partial_victims
        Whether a block that still has free slots may be collected.
    slots
        The most slots of each plane that may be programmed in its blocks; no limit if not given.
    pad_after_ns, pad_host_after_ns
        How long data wait for the rest of a one-shot group before it is padded: those that no
        request waits for, or ``never``, and those that one does. The device's if not given.
    protected
        Whether pages that wait for a one-shot program are safe from a power cut. The device's if
        not given.
    moved_in
        How logical pages that are moved here share a page of the flash: ``packed``, a number for
        packed through a buffer of so many, ``alone``, or ``rewritten`` with the other of a pair.
    """

    name: str
    mode: str
    pool: int = 0
    rule: str = "device"
    blocks: int | None = None
    trigger: str | None = None
    victim: str | None = None
    evicts_to_other_pool: bool = False
    window: tuple[int, int] | None = None
    reread_ns: int | None = None
    partial_victims: bool = False
    slots: int | None = None
    pad_after_ns: int | str | None = None
    pad_host_after_ns: int | None = None
    protected: bool | None = None
    earlier_bits: str = "buffered"
    moved_in: int | str = "packed"


class Overlay(NamedTuple):
    """A map of pages, and over it runs of sectors: those in some regions, in so many slots at most.

    There several logical pages share a slot. A sector has its place in a run, else in its page.
    """

    regions: Sequence[str]
    slots: int


@dataclass(frozen=True)
class Layout:
    """How a scheme divides the drive.

    Attributes
    ----------
    regions
        At most 15.
    pools
        The blocks of each medium, in the order in which they lie in each plane.
    home
        The region where data lie at rest.
    tick_every_writes
        After how many host write requests `Scheme.tick` is asked; 0 for never.
    idle_after_ns
        How long the drive must have had no request before `Scheme.idle` is asked.
    map
        ``page``, one place for each logical page; ``sector``, one for each sector; ``extent``, one
        for each logical page with the sectors that it has there, of which several may share a slot;
        or an `Overlay`.
    merges
        Which open page of the merge buffer a part of a page joins (`into_buffer`): the ``first``,
        the first of the ``same-key``, or that on the ``fewest-channels``. Without it there is none.
    second_home
        Another region where data lie at rest, and how many of the logical pages, drawn by chance.
    enabled_hooks
        Of the optional hooks that the class has, those that are asked; all if not given.
    """

    regions: Sequence[Region]
    pools: Sequence[Pool]
    home: str
    tick_every_writes: int = 0
    idle_after_ns: int = 0
    map: str | Overlay = "page"
    merges: str | None = None
    second_home: tuple[str, int] | None = None
    enabled_hooks: Sequence[str] | None = None

    @staticmethod
    def one_region(drive: DriveInfo, *, mode: str | None = None, **region: Any) -> Layout:
        """Return one region, ``dense``, on all blocks of the only medium."""
        _only_medium(drive)
        dense = Region("dense", mode or drive.dense, **region)
        return Layout([dense], [Pool(drive.blocks_per_plane[0])], "dense")

    @staticmethod
    def shared(drive: DriveInfo, names: Sequence[str], home: str) -> Layout:
        """Return regions of the densest mode that share all blocks of the only medium."""
        _only_medium(drive)
        regions = [Region(name, drive.dense) for name in names]
        return Layout(regions, [Pool(drive.blocks_per_plane[0])], home)

    @staticmethod
    def cache_blocks(drive: DriveInfo) -> tuple[int, int]:
        """Return the blocks of each plane that the device file gives an SLC cache.

        Those that it always has, and those that it has besides while the drive is empty.

        Raises
        ------
        Refused
            The device file has no such cache.
        """
        if drive.slc_cache is None:
            raise Refused("the device file has no [slc_cache]; set the size of the cache")
        return drive.slc_cache["static_blocks"], drive.slc_cache["dynamic_blocks"]

    @staticmethod
    def slc_cache(
        drive: DriveInfo,
        *,
        blocks: int | None = None,
        dynamic_blocks: int = 0,
        least: int = 0,
        trigger: str | None = None,
    ) -> Layout:
        """Return an SLC cache, ``slc``, in front of a region ``dense``.

        A cache of fixed size has blocks of its own. One with dynamic blocks shares them: then
        `Scheme.tick` is asked every 1024 writes, and is to return a `SetQuota`.

        Parameters
        ----------
        drive
            As `Scheme.layout` is given it.
        blocks, dynamic_blocks
            Blocks of each plane, always and while the drive is empty; if no blocks are given, both
            are the device file's.
        least
            The fewest blocks of each plane that a dynamic cache may own at first.
        trigger
            When the cache is collected; the device file's, or half of it free.

        Raises
        ------
        Refused
            The flash has no SLC mode and a denser one, or the size does not fit.
        """
        _only_medium(drive)
        if len(drive.modes[0]) < 2 or drive.modes[0][0] != "slc":
            raise Refused("its flash must support SLC and a denser mode")
        if blocks is None:
            blocks, dynamic_blocks = Layout.cache_blocks(drive)
        whole, cache = drive.blocks_per_plane[0], blocks + dynamic_blocks
        if not 2 <= cache < whole:
            raise Refused(f"a cache of {cache} blocks per plane is not between 2 and {whole - 1}")
        trigger = trigger or drive.slc_cache_trigger or "free_blocks < 50%"
        slc = Region("slc", "slc", rule="sequential", trigger=trigger)
        if not dynamic_blocks:
            dense = Region("dense", drive.dense, pool=1)
            return Layout([slc, dense], [Pool(blocks), Pool(whole - blocks)], "dense")
        slc = replace(slc, blocks=max(cache, least))
        shared = [slc, Region("dense", drive.dense)]
        return Layout(shared, [Pool(whole)], "dense", tick_every_writes=1024)


def _only_medium(drive: DriveInfo) -> None:
    if len(drive.blocks_per_plane) > 1:
        raise Refused("it supports a single medium, and this drive has several")
