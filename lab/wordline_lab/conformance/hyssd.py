"""`hyssd:static`, as ``crates/schemes/src/hyssd.rs`` has it: two media, one filled to a share.

Y. Oh, E. Lee, J. Choi, D. Lee, S. H. Noh, "Hybrid Solid State Drives for Improved Performance and
Enhanced Lifetime", 2013, section II, without the model that chooses the share. Every write goes to
the faster medium, S; for each, the least recently written page moves to the other medium, T.
"""

from collections.abc import Iterator
from dataclasses import replace

from wordline import (
    Collect,
    DriveInfo,
    Layout,
    Move,
    Param,
    Parcel,
    Place,
    Pool,
    Refused,
    Region,
    Scheme,
    State,
    View,
    to,
)

MODES = ("slc", "mlc", "tlc", "qlc")
TO_S, TO_T = to("S", plane="most-free"), to("T", plane="most-free")
STAYS = {"S": to("S"), "T": to("T")}
SHARED = {"packed": None, "unpacked": "alone", "rmw": "rewritten"}


class HyssdPy(Scheme):
    """Two media, the faster one filled with the most recently written data, in Python."""

    u = Param(-1.0, "share of the faster medium that is filled; negative for 50 % or the nearest")
    tlc_unit = Param("packed", "how logical pages share larger pages of T", tuple(SHARED))
    period = Param(65536, "page writes of a period")
    age = Param(10, "periods after which a surplus page is moved when idle")
    idle_after_ns = Param(10_000_000, "how long the drive must have been idle for that")

    #: Of each page of S the number of its last write, and its period; and writes in their order, of
    #: which those that are not the last of their page count for nothing.
    last = State({})
    order = State([])
    page_writes, has_stock = State(0), State(False)

    def layout(self, drive: DriveInfo) -> Layout:
        """Give each medium a region; initially a share of the data is in the faster one."""
        if len(drive.modes) != 2:
            raise Refused(f"it needs two media of its own, and this drive has {len(drive.modes)}")
        s, t = sorted((0, 1), key=lambda medium: MODES.index(drive.modes[medium][-1]))
        if drive.modes[s][-1] == drive.modes[t][-1]:
            raise Refused("both of its media store as many bits per cell")
        capacity, planes, s_most = self.sizes(drive, s)
        _, _, t_most = self.sizes(drive, t)
        most = min(s_most, int(0.98 * capacity))
        least = max(drive.logical_pages - t_most, 0)
        share = int((self.u if self.u >= 0 else 0.5) * capacity)
        self.target = min(max(share, least), most) if self.u < 0 else share
        if not least <= self.target <= most:
            raise Refused(f"of {capacity} pages of the faster medium {least} to {most} may be full")
        self.most, self.most_in_plane, self.capacity = most, s_most // planes, capacity
        through = drive.geometry.units_per_page(t)
        if self.tlc_unit == "rmw" and through != 2:
            raise Refused(f"tlc_unit=rmw is of pages that hold two logical ones, not {through}")
        moved_in = SHARED[self.tlc_unit] or through
        fast = Region(
            "S", drive.modes[s][-1], rule="sequential", protected=True, pad_after_ns="never"
        )
        dense = replace(fast, name="T", mode=drive.modes[t][-1], pool=1, moved_in=moved_in)
        pools = [Pool(drive.blocks_per_plane[medium], medium) for medium in (s, t)]
        return Layout(
            [fast, dense],
            pools,
            "T",
            second_home=("S", self.target),
            idle_after_ns=self.idle_after_ns,
        )

    def sizes(self, drive: DriveInfo, medium: int) -> tuple[int, int, int]:
        """Return a medium's pages, its planes, and how much it can hold so that GC still works."""
        first, end = drive.geometry.planes_of_medium(medium)
        bits = MODES.index(drive.modes[medium][-1]) + 1
        pages = drive.spec["media"][medium]["wordlines_per_block"] * bits
        planes, blocks = end - first, drive.blocks_per_plane[medium]
        units = drive.geometry.units_per_page(medium)
        return planes * blocks * pages, planes, planes * max(blocks - 2, 0) * (pages - 1) * units

    def take_stock(self, view: View) -> None:
        """Find the initial contents of S."""
        if self.has_stock:
            return
        self.has_stock = True
        for lpn in range(view.logical_pages):
            ppn = view.locate(lpn)
            if ppn is not None and view.owner(ppn)[1] == "S":
                self.renew(lpn, 0)

    def renew(self, lpn: int, period: int) -> bool:
        """Record a write of a page; return whether S held it."""
        was_there = str(lpn) in self.last
        number = self.order[-1][0] + 1 if self.order else 0
        self.last[str(lpn)] = (number, period)
        self.order.append((number, lpn))
        if len(self.order) > 2 * len(self.last) + 64:
            self.order = [write for write in self.order if self.is_last(*write)]
        return was_there

    def is_last(self, number: int, lpn: int) -> bool:
        """Return whether a write is the newest of a page in S."""
        return bool(self.last.get(str(lpn), (-1,))[0] == number)

    def coldest(self) -> Iterator[int]:
        """Return the pages of S, least recently written first."""
        return (lpn for number, lpn in self.order if self.is_last(number, lpn))

    def make_room(self, p: Parcel, view: View) -> list[Move]:
        """Move a page to T for each that enters S, and another one if S is too full."""
        self.take_stock(view)
        moves: list[Move] = []
        for lpn in p.lpns:
            if not self.renew(lpn, self.page_writes // self.period):
                surplus, beyond = len(self.last) - self.target, len(self.last) > self.most
                for _ in range(min(max(surplus, 0), 1 + beyond)):
                    moves += self.destage(lpn, view)
            self.page_writes += 1
        return moves

    def destage(self, written: int, view: View) -> list[Move]:
        """Return a move of the coldest other page whose newest data are in S."""
        for lpn in self.coldest():
            ppn = view.locate(lpn)
            if lpn == written or ppn is None or view.is_staged(lpn) or view.owner(ppn)[1] != "S":
                continue
            del self.last[str(lpn)]
            return [Move(lpn, ppn, TO_T)]
        return []

    def place(self, p: Parcel, view: View) -> Place:
        """Write to S; GC keeps pages in their medium, unless S is too full."""
        self.take_stock(view)
        if p.region is None:
            return TO_S
        if p.is_collected and p.region == "S" and not self.stays(p.lpn, p.home, view):
            return TO_T
        return STAYS[p.region]

    def stays(self, lpn: int, plane: int, view: View) -> bool:
        """Return whether GC keeps a page in a plane of S."""
        if view.live_units("S", plane) > self.most_in_plane:
            self.last.pop(str(lpn), None)
        return str(lpn) in self.last

    def idle(self, plane: int, view: View) -> Move | Collect | None:
        """Move the coldest page of S if there are more than the target."""
        self.take_stock(view)
        if view.draining or len(self.last) <= self.target or not view.takes_moves("T"):
            return None
        lpn = next(self.coldest(), None)
        if lpn is None:
            return None
        age = self.page_writes // self.period - self.last[str(lpn)][1]
        ppn = view.locate(lpn)
        if age < self.age or view.is_staged(lpn) or ppn is None or view.owner(ppn) != (plane, "S"):
            return None
        del self.last[str(lpn)]
        return Move(lpn, ppn, TO_T)

    def on_trim(self, lpn: int) -> None:
        """Forget a page."""
        self.last.pop(str(lpn), None)

    def metrics(self) -> dict[str, list[tuple[float, float]]]:
        """Return the target share of S."""
        return {"u": [(0, self.target / self.capacity)]}
