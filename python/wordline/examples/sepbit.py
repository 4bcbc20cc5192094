"""`sepbit`: six classes of data by how long they will live.

Q. Wang, J. Li, P. P. C. Lee, T. Ouyang, C. Shi, L. Huang, "Separating Data via Block Invalidation
Time Inference for Write Amplification Reduction in Log-Structured Storage", FAST 2022, section 3.
What overwrites data that lived shortly will live shortly, too; and the longer collected data have
lived, the longer they will. So each block is filled with data that will die at about one time.

The paper's segments are the blocks of each plane here, its blocks are logical pages, and its victim
is the one with most invalid data of all classes. Its time counts pages that the host has written.
"""

from __future__ import annotations

from wordline import (
    Collect,
    DriveInfo,
    Layout,
    Param,
    Parcel,
    Place,
    Refused,
    Scheme,
    State,
    View,
    to,
)

#: Written by the host: what overwrites short-lived data, and all other; collected from the first
#: class; collected from any other, by age.
CLASSES = ("short", "long", "rewritten", "young", "middle", "old")
TO = {name: to(name) for name in CLASSES}


class SepBit(Scheme):
    """Data that will live as long as each other in blocks of their own, by what they overwrite."""

    blocks = Param(16, "collected blocks of the first class over which its life is averaged")
    middle = Param(4, "times that average from which on collected data are of middle age")
    old = Param(16, "times that average from which on they are old")

    #: Pages that the host has written.
    clock = State(0)
    #: When each logical page was written last; -1 for never.
    written = State([])
    #: When the blocks of the first class that are open or full were opened.
    opened = State({})
    #: The average life of a block of the first class; none until enough have been collected.
    life = State(None)
    #: Lives since the last average.
    lives = State([])

    def layout(self, drive: DriveInfo) -> Layout:
        """Share all blocks of the only medium between the classes."""
        if not 0 < self.middle <= self.old or self.blocks < 1:
            raise Refused("blocks must be at least 1, and middle at most old")
        self.written = [-1] * drive.logical_pages
        return Layout.shared(drive, CLASSES, "long")

    def place(self, p: Parcel, view: View) -> Place:
        """Class host data by the life of what they overwrite, collected data by their age."""
        lpn, region = p.lpn, p.region
        if region is not None:
            return TO[self.collected(region, self.clock - self.written[lpn])]
        self.clock = clock = self.clock + 1
        before, self.written[lpn] = self.written[lpn], clock
        if before < 0 or (self.life is not None and clock - before >= self.life):
            return TO["long"]
        block = view.frontier("short", p.home)
        if block is not None:
            self.opened.setdefault(str(block), clock)
        return TO["short"]

    def collected(self, region: str, age: int) -> str:
        """Return the class of a page that is collected."""
        if region == "short":
            return "rewritten"
        if self.life is None or age < self.middle * self.life:
            return "young"
        return "middle" if age < self.old * self.life else "old"

    def collect(self, region: str, plane: int, view: View) -> Collect | None:
        """Take the victim with the least live data, of whichever class."""
        victim = Collect.least_live(view, CLASSES, plane)
        if victim is not None and victim.region == "short":
            self.ended(victim.block)
        return victim

    def ended(self, block: int | None) -> None:
        """Take in how long a block of the first class has lived."""
        opened = self.opened.pop(str(block), None)
        if opened is None:
            return
        self.lives.append(self.clock - opened)
        if len(self.lives) >= self.blocks:
            self.life = sum(self.lives) / len(self.lives)
            self.lives = []
