"""How a scheme in Python divides a drive: pools of blocks, and the regions that own them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from wordline._wordline import Geometry, Refused


@dataclass(frozen=True)
class DriveInfo:
    """The drive, as `Scheme.layout` receives it.

    Attributes
    ----------
    spec
        The resolved device file, as in ``identity()["device"]``.
    logical_pages, page_bytes
        Number of logical pages, and bytes of each.
    planes
        Number of planes in all media.
    modes, blocks_per_plane, sectors_per_page
        For each medium its cell modes from ``slc`` up, its blocks per plane, and the sectors of a
        page.
    geometry
        The drive's numbering.
    slc_cache_trigger
        Trigger of the device file for GC of the SLC cache; ``None`` without a cache.
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
    """Blocks of one medium that can change owner and mode: how many per plane.

    The erased block that was erased first is opened next, or the one with the fewest erases.
    """

    blocks: int
    medium: int = 0
    least_erased_first: bool = False


@dataclass(frozen=True)
class Region:
    """A region owns blocks of a pool and sets their cell mode and program rule.

    Attributes
    ----------
    name
        Name for `to`.
    mode
        ``slc``, ``mlc``, ``tlc`` or ``qlc``.
    pool
        Index of its pool.
    rule
        ``device`` (the rule of the flash for that mode), ``sequential``, ``one-shot``, ``relaxed``,
        ``strict-diagonal``, or with a window ``reprogram-window``.
    blocks
        Maximum number of blocks per plane; by default no limit.
    trigger, victim
        As in a device file, such as ``free_blocks < 50%`` and ``greedy``; by default those of the
        device. The trigger can also be ``last-block``: when the region opens its last block.
    evicts_to_other_pool
        Whether GC moves all data to another pool.
    window
        Wordlines and layers of a window, for the rule ``reprogram-window``: its wordlines serve as
        SLC first and are reprogrammed later.
    earlier_bits, reread_ns
        Source of the earlier bits when a wordline gets a further one: ``buffered`` in RAM, or
        ``reread`` one by one from flash; with reread_ns all of them in this time.
    partial_victims
        Whether a block with free slots can be a victim.
    slots
        Maximum number of programmed slots per plane; by default no limit.
    pad_after_ns, pad_host_after_ns
        Time before an incomplete one-shot program is padded: for data that no request waits for (or
        ``never``), and for data that a request waits for. By default those of the device.
    protected
        Whether pages that wait for a one-shot program survive a power cut. By default as the
        device.
    moved_in
        How moved logical pages share a flash page: ``packed``, a number (packed through a buffer of
        this many pages), ``alone``, or ``rewritten`` with the other of a pair.
    kept
        Blocks per plane of its pool that the other regions leave to it.
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
    kept: int = 0


class Overlay(NamedTuple):
    """A page map with runs of sectors over it, in some regions and at most this many slots.

    Several logical pages share such a slot. A sector has its place in a run, else in its page.
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
        Pools of each medium, in block order.
    home
        The region for data at rest.
    tick_every_writes
        Host write requests between calls of `Scheme.tick`; 0: never.
    idle_after_ns
        Idle time before `Scheme.idle` is called.
    map
        ``page``, one place for each logical page; ``sector``, one for each sector; ``extent``, one
        per logical page with its sectors there, several of which may share a slot;
        or an `Overlay`.
    merges
        Which open page of the merge buffer a partial page joins (`into_buffer`): the ``first``, the
        first of the ``same-key``, or the one on the ``fewest-channels``. By default there is no
        merge buffer.
    second_home
        Another region for data at rest, and its number of logical pages, drawn at random.
    enabled_hooks
        Optional hooks of the class that are called; by default all.
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
        """Return one region, ``dense``, on all blocks of a single medium."""
        _only_medium(drive)
        dense = Region("dense", mode or drive.dense, **region)
        return Layout([dense], [Pool(drive.blocks_per_plane[0])], "dense")

    @staticmethod
    def shared(drive: DriveInfo, names: Sequence[str], home: str) -> Layout:
        """Return regions in the densest mode that share all blocks of a single medium."""
        _only_medium(drive)
        regions = [Region(name, drive.dense) for name in names]
        return Layout(regions, [Pool(drive.blocks_per_plane[0])], home)

    @staticmethod
    def cache_blocks(drive: DriveInfo) -> tuple[int, int]:
        """Return the size of the SLC cache in the device file, in blocks per plane.

        The static blocks, and the further ones of an empty drive.

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

        A cache of fixed size has blocks of its own. A dynamic cache shares all but its static ones:
        `Scheme.tick` is called every 1024 writes and should return a `SetQuota`.

        Parameters
        ----------
        drive
            The argument of `Scheme.layout`.
        blocks, dynamic_blocks
            Static blocks per plane, and further ones of an empty drive; by default both from the
            device file.
        least
            Minimum initial blocks per plane of a dynamic cache.
        trigger
            GC trigger of the cache; by default that of the device file, else half of it free.

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
        slc = replace(slc, blocks=max(cache, least), kept=blocks)
        shared = [slc, Region("dense", drive.dense)]
        return Layout(shared, [Pool(whole)], "dense", tick_every_writes=1024)


def _only_medium(drive: DriveInfo) -> None:
    if len(drive.blocks_per_plane) > 1:
        raise Refused("it supports a single medium, and this drive has several")
