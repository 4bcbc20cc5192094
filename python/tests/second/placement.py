"""Which plane takes host data, and how many blocks a dynamic cache may own."""

from __future__ import annotations

from .config import Config, share_up
from .records import HOST, Plane
from .room import Room


class Placement(Room):
    """Which plane takes host data, and how many blocks a dynamic cache may own."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.turn = 0

    def pick_plane(self, home: Plane, units: int) -> Plane:
        if not self.config.goes_anywhere:
            return home
        self.turn += 1
        n, is_dynamic = len(self.planes), self.config.order == "dynamic"
        region = self.host_route[0]
        in_turn = [self.home_plane((i + self.turn) % n * self.units_per_page) for i in range(n)]
        waiting = [op for p in self.planes for op in p.backlog]

        def stands_before(plane: Plane) -> tuple[int, int, int]:
            at_array = [op for op in waiting if self.array_of(op.plane) == self.array_of(plane)]
            on_channel = [op for op in waiting if op.plane.channel == plane.channel]
            work = sum(self.mean_time(op.kind) for op in at_array)
            return work, sum(op.kind != "erase" for op in on_channel), len(plane.backlog)

        sizes = (units, self.units_per_page, region.pages_per_program)
        plane = min(
            in_turn,
            key=lambda p: (
                is_dynamic and self.free_slots(region, p) == 0,
                not p.program_buffers[region, HOST].draws(*sizes),
                stands_before(p) if is_dynamic else (),
            ),
        )
        if plane.program_buffers[region, HOST].joins(*sizes):
            self.turn -= 1  # what joins a program takes no turn
        return plane

    def mean_time(self, kind: str) -> int:
        """What an operation takes the array in the densest mode, over the page types, ns."""
        times = (self.config.tlc or self.config.slc)[kind]
        return times if kind == "erase" else sum(times) // len(times)

    def cache_blocks(self, mapped: int, cached: int) -> int:
        """Return the blocks of a plane that a dynamic cache may own with so many pages of data."""
        c = self.config
        static, dynamic = c.cache
        least = c.when_full == "wait"
        if c.cache_reserve is None:
            return max(static + dynamic * (c.logical_pages - mapped) // c.logical_pages, least)
        planes = c.channels * c.chips * c.dies * c.planes
        row = planes * c.wordlines * 3 * self.units_per_page
        at_rest = -(-(mapped - cached) // row)
        free = c.blocks - static - share_up(c.cache_reserve, c.blocks) - at_rest
        return max(static + min(dynamic, max(free, 0)), least)

    def look_at_quota(self) -> None:
        region = self.regions[0]
        cached = sum(block.region is region for block, _ in self.map.values())
        region.quota = self.cache_blocks(len(self.map), cached)
        for plane in self.planes:
            self.todo.append(lambda plane=plane: self.wake(plane))
            self.collect_if_short(region, plane)
