"""`sector`, as ``crates/schemes/src/sector.rs`` has it: an SLC cache mapped by sector.

I. Fareed, M. Kang, W. Lee, S. Kim, "Leveraging Intra-Page Update Diversity for Mitigating Write
Amplification in SSDs", 2020, reconstructed. Sectors of one page are not updated alike often:
packed with others that are as hot, they leave behind pages that die as a whole.
"""

from dataclasses import replace

from wordline import (
    DriveInfo,
    Layout,
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
WHOLE, SEALED = to("S", gather="as-is"), to("S", gather="as-is", plane="any")
CLASSES = [into_buffer(key) for key in range(3)]
FROM_CACHE, FROM_DENSE = to("D", gather="whole"), to("D", gather="as-is")


class SectorPy(Scheme):
    """SLC cache mapped by sector, which packs sectors updated alike often, in Python."""

    static_blocks = Param(0, "SLC blocks of each plane; 0 for the device file's")

    #: Of the cached sectors of each page the updates, from 1 on; 0 for those not cached.
    heat = State({})

    def layout(self, drive: DriveInfo) -> Layout:
        """Divide the drive, with runs of sectors in the cache."""
        cache = Cache(drive, self.static_blocks)
        self.all = whole(drive)
        self.each = drive.geometry.sectors_per_unit
        layout = cache.layout([cache.region("S")], Overlay(["S"], cache.pages), "same-key")
        return replace(layout, tick_every_writes=HALVE_EVERY)

    def when_written(self, lpn: int, sector: int) -> int:
        """Return the updates of a sector when the host has written it now."""
        counts = self.heat.get(str(lpn))
        return min(counts[sector], HOTTEST) if counts else 0

    def heat_of(self, lpn: int, sector: int) -> int:
        """Return its class then: 0 or 1, 2 or 3, more updates."""
        return min(self.when_written(lpn, sector) // 2, 2)

    def split_write(self, span: Span, view: View) -> int:
        """Divide a part of a page by the classes of its sectors."""
        if span.mask == self.all:
            return span.mask
        first, *others = sectors(span.mask)
        wanted = self.heat_of(span.lpn, first)
        alike = [s for s in others if self.heat_of(span.lpn, s) == wanted]
        return sum(1 << s for s in (first, *alike))

    def place(self, p: Parcel, view: View) -> Place:
        """Let parts wait for others of their class; what is collected leaves the cache whole."""
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
        """Count a write of the host, and place it."""
        written = sectors(span.mask)
        wanted = self.heat_of(span.lpn, written[0])
        counts = self.heat.setdefault(str(span.lpn), [0] * self.each)
        for s in written:
            counts[s] = min(counts[s], HOTTEST) + 1
        return WHOLE if span.mask == self.all else CLASSES[wanted]

    def tick(self, view: View) -> list[object]:
        """Halve all counts."""
        for counts in self.heat.values():
            counts[:] = [(count - 1) // 2 + 1 if count else 0 for count in counts]
        return []

    def on_trim(self, lpn: int) -> None:
        """Forget a page."""
        self.heat.pop(str(lpn), None)
