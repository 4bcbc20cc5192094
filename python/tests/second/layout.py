"""The drive at time 0: its regions, planes and blocks, and the data that it holds."""

from __future__ import annotations

from math import ceil

from .config import share_down
from .records import COLLECTED, HOST, MOVED, Array, Block, Plane, PlaneProgramBuffer, Pool, Region
from .room import Room


class Layout(Room):
    """The drive at time 0: its regions, planes and blocks, and the data that it holds."""

    def lay_out(self) -> None:
        c = self.config

        def region(name, pool, bits, times, one_shot, trigger, quota):
            pool.reserve += 1
            r = Region(name, pool, bits, times, bits if one_shot else 1, trigger, quota)
            r.slots_per_block = c.wordlines * bits * self.units_per_page
            return r

        endless = 1 << 32
        if c.scheme == "conventional":
            pools = [Pool(c.blocks)]
            times, bits = (c.tlc, 3) if c.tlc else (c.slc, 1)
            self.regions = [region("D", pools[0], bits, times, c.one_shot, c.trigger, endless)]
            if c.copies_apart:
                self.regions.append(
                    region("C", *pools, bits, times, c.one_shot, c.trigger, endless)
                )
            self.host_route = [self.regions[0]]
        else:
            static, dynamic = c.cache
            pools = [Pool(static), Pool(c.blocks - static)] if dynamic == 0 else [Pool(c.blocks)]
            quota = endless if dynamic == 0 else self.cache_blocks(0, 0)
            rest = endless if dynamic == 0 else c.blocks - static
            s = region("S", pools[0], 1, c.slc, False, c.cache_trigger, quota)
            d = region("D", pools[-1], 3, c.tlc, c.one_shot, c.trigger, rest)
            self.regions = [s, d]
            self.host_route = [s, d] if c.when_full == "direct" else [s]
        self.home = self.regions[-1]
        if len(pools) == 2:
            pools[1].first = pools[0].blocks

        dies_per_channel = c.chips * c.dies
        self.planes = []
        for number in range(c.channels * dies_per_channel * c.planes):
            die = number // c.planes
            plane = Plane(number, die, die // dies_per_channel)
            for pool in pools:
                first = number * c.blocks + pool.first
                plane.free[pool] = [Block(first + i, plane, pool) for i in range(pool.blocks)]
            for r in self.regions:
                plane.open[r] = []
                plane.jobs[r] = None
                for which in (HOST, MOVED, COLLECTED):
                    plane.program_buffers[r, which] = PlaneProgramBuffer()
            self.planes.append(plane)
        self.blocks = [b for p in self.planes for pool in pools for b in p.free[pool]]
        self.blocks_of = [[b for pool in pools for b in p.free[pool]] for p in self.planes]
        for r in self.regions:
            cycles = c.cycles.get("slc" if r.bits == 1 else "tlc", 0)
            for block in (b for b in self.blocks if b.pool is r.pool):
                block.erases = max(block.erases, cycles)
        self.bus_busy = {p.channel: False for p in self.planes}
        self.on_bus = {p.channel: None for p in self.planes}  # what a busy bus moves
        self.array_busy = {self.array_of(p): False for p in self.planes}
        self.arrays = {self.array_of(p): Array() for p in self.planes}

    def array_of(self, plane: Plane) -> int:
        return plane.die if self.config.parallel == "die" else plane.number

    def home_plane(self, lpn: int) -> Plane:
        """Consecutive pages step through the levels in the order given, the first fastest."""
        c = self.config
        size = {"C": c.channels, "W": c.chips, "D": c.dies, "P": c.planes}
        at = {}
        page = lpn // self.units_per_page
        for level in "CWDP" if c.goes_anywhere else c.order:
            at[level] = page % size[level]
            page //= size[level]
        return self.planes[((at["C"] * c.chips + at["W"]) * c.dies + at["D"]) * c.planes + at["P"]]

    def fill(self) -> None:
        c, home = self.config, self.home
        count = share_down(c.fill, c.logical_pages)
        slots = home.slots_per_block
        per_block = min(max(share_down(c.valid, slots), 1), slots)
        step = self.units_per_page * home.pages_per_program
        for plane in self.planes:
            lpns = [n for n in range(count) if self.home_plane(n) is plane]
            while lpns:
                live, lpns = lpns[:per_block], lpns[per_block:]
                block = plane.free[home.pool].pop(0)
                whole = bool(lpns) or per_block < slots
                block.programmed = slots if whole else ceil(len(live) / step) * step
                block.region, block.written = home, -c.retention
                for slot, lpn in enumerate(live, block.programmed - len(live)):
                    block.holds[slot] = lpn
                    self.map[lpn] = (block, slot)
                if block.programmed == slots:
                    self.close(block)
                else:
                    block.phase = "open"
                    plane.open[home].append(block)
