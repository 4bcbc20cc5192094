"""`slc-cache`, as ``crates/schemes/src/slc_cache.rs`` has it.

Every host write goes to SLC blocks, which are fast; when they run short, the pages that are still
live move on to the dense region. A dynamic cache shrinks as the drive fills.
"""

from wordline import DriveInfo, Layout, Param, Parcel, Place, Scheme, SetQuota, View, to

CACHE, CACHE_OR_DENSE, DENSE = to("slc"), to("slc", "dense"), to("dense")


class SlcCachePy(Scheme):
    """Page-granular SLC write cache in front of dense flash, in Python."""

    when_full = Param("device", "what a write does without a slot", ("device", "wait", "direct"))

    def layout(self, drive: DriveInfo) -> Layout:
        """Divide the drive as its device file has the cache: its size, and what a full one does."""
        cache = drive.slc_cache
        wanted = cache["when_full"] if cache and self.when_full == "device" else self.when_full
        self.waits = wanted == "wait"
        self.static, self.dynamic = Layout.cache_blocks(drive)
        return Layout.slc_cache(drive, least=int(self.waits))

    def place(self, p: Parcel, view: View) -> Place:
        """Place host data in the cache, and all that is collected behind it."""
        if not p.is_host:
            return DENSE
        return CACHE if self.waits else CACHE_OR_DENSE

    def tick(self, view: View) -> list[SetQuota]:
        """Let a dynamic cache own what the data in the drive leave it."""
        empty = view.logical_pages - view.mapped
        blocks = self.static + self.dynamic * empty // view.logical_pages
        return [SetQuota("slc", max(blocks, int(self.waits)))]
