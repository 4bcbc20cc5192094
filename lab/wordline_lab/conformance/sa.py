"""`sa`, as ``crates/schemes/src/sa.rs`` has it: a subpage-aware SLC cache.

M. Kang, W. Lee, S. Kim, "Subpage-Aware Solid State Drive for Improving Lifetime and Performance",
2018, reconstructed. Partial pages share flash pages, and the map knows which sectors of a page
exist, so that a partial write needs no read if no others exist.
"""

from wordline import DriveInfo, Layout, Param, Parcel, Place, Scheme, View, into_buffer, to
from wordline.examples.packing import Cache, whole

WHOLE, PART = to("S"), into_buffer(gather="fill")
SEALED, COLLECTED = to("S", plane="any"), to("D")


class SaPy(Scheme):
    """SLC cache that packs partial pages together, with one location per page, in Python."""

    static_blocks = Param(0, "SLC blocks of each plane; 0 for the device file's")

    def layout(self, drive: DriveInfo) -> Layout:
        """Lay out the drive, under a page map that knows the sectors of each page."""
        cache = Cache(drive, self.static_blocks)
        self.all = whole(drive)
        return cache.layout([cache.region("S")], "extent", "first")

    def place(self, p: Parcel, view: View) -> Place:
        """Make a partial page wait for others, unless it is whole together with the rest."""
        if p.is_host:
            [span] = p.spans[:1]
            return WHOLE if span.mask | view.sectors(span.lpn) == self.all else PART
        return SEALED if p.origin == "sealed" else COLLECTED
