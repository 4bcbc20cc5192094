"""`hierarchy`, as ``crates/schemes/src/hierarchy.rs`` has it: an SLC cache of two levels.

L. Cai, Z. Sha, J. Li et al., "A Two-level SLC Cache Hierarchy for Hybrid SSDs", 2025, section III.
L1 holds packed partial pages, which are hot, L2 whole pages; the sizes of the writes determine the
share of each.
"""

from dataclasses import replace
from math import floor

from wordline import (
    DriveInfo,
    Layout,
    Overlay,
    Param,
    Parcel,
    Place,
    Request,
    Scheme,
    SetQuota,
    Span,
    State,
    View,
    into_buffer,
    to,
)
from wordline.examples.packing import Cache, quota, whole

LEVELS = ("L1", "L2")
WHOLE, FROM_L1, FROM_OTHERS = (
    to("L2", gather="as-is"),
    to("D", gather="whole"),
    to("D", gather="as-is"),
)
METRICS = ("cur_ratio", "l1_share", "l1_owned", "l2_owned")


class HierarchyPy(Scheme):
    """SLC cache with two levels: packed partial pages, and whole pages, in Python."""

    static_blocks = Param(0, "SLC blocks of each plane; 0 for the device file's")
    division = Param("block", "what the levels' shares count", ("block", "page"))
    runs = Param("one", "in how many pages of L1 the parts of a page may lie", ("one", "any"))
    window = Param(1024, "write requests from one adaptation of the shares to the next")
    ws_unit = Param("page", "what is counted as written to L1", ("page", "request"))

    #: Pages of the cache on L2's side, and the target of their share.
    l2_pages = State(0)
    target = State(0.5)
    #: Parts and whole pages written in the window, and all pages of the host.
    ws, wl, page_writes = State(0), State(0), State(0)
    followed = State({name: [] for name in METRICS})

    def layout(self, drive: DriveInfo) -> Layout:
        """Divide the drive, with runs of sectors in L1."""
        cache = Cache(drive, self.static_blocks)
        self.cache_pages, self.usable, self.each = cache.pages, cache.usable, cache.pages_per_block
        self.all, self.geometry = whole(drive), drive.geometry
        self.part = into_buffer(gather="fill" if self.runs == "one" else "as-is")
        self.l2_pages = cache.pages // 2
        levels = [quota(cache.region(q.region), q.blocks, q.slots) for q in self.quotas()]
        layout = cache.layout(levels, Overlay(["L1"], cache.pages // 2), "fewest-channels")
        return replace(layout, tick_every_writes=self.window)

    @property
    def cur_ratio(self) -> float:
        """L2's share of the cache."""
        return float(self.l2_pages / self.cache_pages)

    def quotas(self) -> list[SetQuota]:
        """Return the maximum size of each level, with one block in reserve for GC."""
        if self.division == "block":
            l2 = floor(self.cur_ratio * self.usable + 0.5)
            shares = (self.usable - min(l2, self.usable), l2)
            return [SetQuota(name, n + 1) for name, n in zip(LEVELS, shares, strict=True)]
        all_pages = self.usable * self.each
        l2 = floor(self.cur_ratio * self.usable * self.each + 0.5)
        shares = (all_pages - min(l2, all_pages), l2)
        return [
            SetQuota(name, slots=max(n, self.each) + self.each)
            for name, n in zip(LEVELS, shares, strict=True)
        ]

    def admit(self, request: Request, view: View) -> int:
        """Move a page of the cache to the other level."""
        if self.target > self.cur_ratio:
            self.l2_pages += 1
        else:
            self.l2_pages = max(self.l2_pages - 1, 0)
        return 0

    def place(self, p: Parcel, view: View) -> Place:
        """Place whole pages in L2, parts in the merge buffer and then L1, the rest behind them."""
        if p.is_host:
            self.page_writes += 1
            if p.spans[0].mask == self.all:
                self.wl += 1
                return WHOLE
            self.ws += self.ws_unit == "request"
            return self.part
        if p.origin == "sealed":
            self.ws += self.ws_unit == "page"
            return to("L1", gather="as-is", plane="any", avoid=self.conflicts(p.spans, view))
        return FROM_L1 if p.is_collected and p.region == "L1" else FROM_OTHERS

    def conflicts(self, spans: list[Span], view: View) -> list[int]:
        """Return the channels with more pages of some spans outside L1 than other channels."""
        members = [0] * self.geometry.channels
        for span in spans:
            ppn = view.locate(span.lpn)
            if ppn is None:
                continue
            members[self.geometry.channel_of(self.geometry.die_of(view.owner(ppn)[0]))] += 1
        return [channel for channel, n in enumerate(members) if n > min(members)]

    def tick(self, view: View) -> list[SetQuota]:
        """Set the target from the recent writes, and give each level its share."""
        if self.ws + self.wl:
            self.target = min(max(self.wl / (self.ws + self.wl), 0.5), 1.0)
        self.ws = self.wl = 0
        taken = [view.taken(level) for level in LEVELS]
        l1, l2 = (pair[self.division == "page"] for pair in taken)
        values = (self.cur_ratio, l1 / max(l1 + l2, 1), taken[0][0], taken[1][0])
        for name, value in zip(METRICS, values, strict=True):
            self.followed[name].append([self.page_writes, value])
        return self.quotas()

    def metrics(self) -> dict[str, list[list[float]]]:
        """Return the shares of the levels."""
        return dict(self.followed)
