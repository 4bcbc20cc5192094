"""`sector`, as ``crates/schemes/src/sector.rs`` has it: an SLC cache mapped by sector.

I. Fareed, M. Kang, W. Lee, S. Kim, "Leveraging Intra-Page Update Diversity for Mitigating Write
Amplification in SSDs", 2020, reconstructed. The sectors of a page are updated at different rates:
packed with equally hot ones, they become invalid at about the same time.
"""

from dataclasses import replace

from wordline import (
    DriveInfo,
    Layout,
    Move,
    Overlay,
    Param,
    Parcel,
    Place,
    Scheme,
    Span,
    State,
    View,
    into_buffer,
    sectors,
    to,
)
from wordline.examples.packing import Cache, whole

HOTTEST, HALVE_EVERY = 7, 16384
#: By the updates of a sector its class (0 or 1, 2 or 3, more), and its updates after one more.
CLASS = [min(updates // 2, 2) for updates in range(HOTTEST + 2)]
NEXT = [min(updates, HOTTEST) + 1 for updates in range(HOTTEST + 2)]
WHOLE, SEALED = to("S", gather="as-is"), to("S", gather="as-is", plane="any")
CLASSES = [into_buffer(key) for key in range(3)]
FROM_CACHE, FROM_DENSE = to("D", gather="whole"), to("D", gather="as-is")


class SectorPy(Scheme):
    """SLC cache mapped by sector, which packs sectors of similar update rates, in Python."""

    static_blocks = Param(0, "SLC blocks of each plane; 0 for the device file's")

    #: Of the cached sectors of each page the updates, from 1 on; 0 for those not cached.
    heat = State({})

    def layout(self, drive: DriveInfo) -> Layout:
        """Lay out the drive, with runs of sectors in the cache."""
        cache = Cache(drive, self.static_blocks)
        self.all = whole(drive)
        self.each = drive.geometry.sectors_per_unit
        layout = cache.layout([cache.region("S")], Overlay(["S"], cache.pages), "same-key")
        return replace(layout, tick_every_writes=HALVE_EVERY)

    def split_write(self, span: Span, view: View) -> int:
        """Split a partial page by the classes of its sectors."""
        lpn, mask, _ = span
        counts = self.heat.get(str(lpn))
        if counts is None or mask == self.all or not mask & (mask - 1):
            return mask
        written = sectors(mask)
        wanted = CLASS[counts[written[0]]]
        return sum([1 << s for s in written if CLASS[counts[s]] == wanted])

    def place(self, p: Parcel, view: View) -> Place:
        """Make parts wait for others of their class; pages migrate from the cache as a whole."""
        if p.is_host:
            return self.of_host(p.spans[0])
        if p.origin == "sealed":
            return SEALED
        if p.is_collected and p.region == "S":
            for lpn in p.lpns:
                self.heat.pop(str(lpn), None)
            return FROM_CACHE
        return FROM_DENSE

    def of_host(self, span: Span) -> Place:
        """Count a host write, and place it."""
        lpn, mask, _ = span
        key = str(lpn)
        counts = self.heat.get(key)
        if counts is None:
            counts = self.heat[key] = [0] * self.each
        written = sectors(mask)
        wanted = CLASS[counts[written[0]]]
        for s in written:
            counts[s] = NEXT[counts[s]]
        return WHOLE if mask == self.all else CLASSES[wanted]

    def tick(self, view: View) -> list[Move]:
        """Halve all counts."""
        for counts in self.heat.values():
            counts[:] = [(count - 1) // 2 + 1 if count else 0 for count in counts]
        return []

    def on_trim(self, lpn: int) -> None:
        """Forget a page."""
        self.heat.pop(str(lpn), None)
