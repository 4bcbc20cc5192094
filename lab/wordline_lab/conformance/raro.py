"""`raro`, as ``crates/schemes/src/raro.rs`` has it, without reclaim, which the paper's runs lack.

Y. Wang, D. Yu, Y. Lv, Y. Song, Y. Zhao, L. Shi, "RARO: Reliability-Aware Read Optimization for
Hybrid Flash Storage", 2025, section IV. Reads of QLC are slow mostly because of retries on worn
pages, so data that are read often and take many retries move to cells with fewer bits.
"""

from wordline import (
    Collect,
    DriveInfo,
    Layout,
    Move,
    Param,
    Parcel,
    Place,
    Pool,
    ReadSeen,
    Refused,
    Region,
    Scheme,
    State,
    View,
    to,
)

#: The regions, the densest first, each with the bits of its cells.
BITS = {"Z": 4, "Y": 3, "X": 1}
MODES = {"Z": "qlc", "Y": "tlc", "X": "slc"}
TO = {region: to(region) for region in BITS}


class RaroPy(Scheme):
    """QLC with blocks converted to TLC or SLC for frequently read data with retries, in Python."""

    r1 = Param(1, "retries from which on hot pages move to SLC")
    r2_young = Param(5, "retries from which on warm pages of young blocks move to TLC")
    r2_middle = Param(7, "the same in the second third of a block's life")
    r2_old = Param(11, "the same in the last third")
    warm = Param(4, "reads from which on a page is warm")
    hot = Param(16, "reads from which on a page is hot; more than warm")

    #: How often each place was read since its block was erased.
    reads: State[list[int]] = State([])
    #: The erases behind each block when its places were first read; -1 before.
    erased: State[list[int]] = State([])

    def layout(self, drive: DriveInfo) -> Layout:
        """Make one pool of all blocks, least worn first; the region sets the mode of a block."""
        if self.hot <= self.warm:
            raise Refused(f"hot={self.hot} is not more than warm={self.warm}")
        if len(drive.modes) > 1:
            raise Refused("it supports a single medium, and this drive has several")
        for mode in MODES.values():
            if mode not in drive.modes[0]:
                raise Refused(
                    f"it moves data between slc, tlc and qlc, and this flash has no {mode}"
                )
        self.wordlines = drive.spec["media"][0]["wordlines_per_block"]
        self.sectors = drive.sectors_per_page[0]
        self.least_free = max(drive.spec["gc"]["hard_reserve"], len(BITS))
        pool = Pool(drive.blocks_per_plane[0], least_erased_first=True)
        return Layout([Region(name, mode) for name, mode in MODES.items()], [pool], "Z")

    def place(self, p: Parcel, view: View) -> Place:
        """Write to QLC; GC keeps a page in its mode while it is warm and there is space."""
        if p.region is None:
            return TO["Z"]
        ppn = view.locate(p.lpn)
        stays = ppn is not None and self.reads_of(ppn, view) >= self.warm
        return TO[p.region] if stays and not self.is_short(p.home, view) else TO["Z"]

    def read(self, seen: ReadSeen, view: View) -> Move | None:
        """Count a read of a place; move its page if it is hot or warm and took enough retries."""
        lpn, ppn, mode, retries = seen
        reads = self.count(ppn, view)
        if reads >= self.hot:
            if mode in ("qlc", "tlc") and retries >= self.r1:
                return Move(lpn, ppn, TO["X"])
        elif reads >= self.warm and mode == "qlc" and retries >= self.r2(ppn, view):
            return Move(lpn, ppn, TO["Y"])
        return None

    def collect(self, region: str, plane: int, view: View) -> Collect | None:
        """Choose the victim that frees the most wordlines; among equals the densest."""
        short = self.is_short(plane, view)
        best, most = None, 0
        for name in ("X", "Y", "Z"):
            block = view.best(name, plane)
            if block is None:
                continue
            pages = -(-view.live_sectors(block) // self.sectors)
            gain = self.wordlines - -(-pages // BITS["Z" if short else name])
            if gain >= max(most, 1):
                best, most = name, gain
        return Collect(best) if best else None

    def r2(self, ppn: int, view: View) -> int:
        """Return the threshold of retries for a warm page, by the wear of its block."""
        thirds = (self.r2_young, self.r2_middle, self.r2_old)
        return thirds[min(int(view.life_used(view.block_of(ppn)) * 3), 2)]

    def is_short(self, plane: int, view: View) -> bool:
        """Return whether a plane needs the space of blocks with fewer bits."""
        return view.free_blocks("Z", plane) <= self.least_free

    def reads_of(self, ppn: int, view: View) -> int:
        """Return the number of reads of a place since its block was erased."""
        block = view.block_of(ppn)
        known = self.erased and self.erased[block] == view.erases(block)
        return self.reads[ppn] if known else 0

    def count(self, ppn: int, view: View) -> int:
        """Count a read of a place, and return its number of reads."""
        if not self.erased:
            geometry = view.geometry  # behind another scheme that of a layout is of a part
            self.erased = [-1] * geometry.blocks
            self.reads = [0] * (geometry.ppn(geometry.blocks - 1, geometry.most_slots - 1) + 1)
        block = view.block_of(ppn)
        erases = view.erases(block)
        if self.erased[block] != erases:
            first, slots = view.geometry.ppn(block, 0), view.geometry.most_slots
            self.reads[first : first + slots] = [0] * slots
            self.erased[block] = erases
        count = self.reads[ppn] = self.reads[ppn] + 1
        return count
