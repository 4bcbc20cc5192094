"""The device's semantics a second time: slow, obvious, one event after the other.

Nothing here is kept that can be counted again: who is served next, which block has the fewest
live pages, how many slots are free are found by looking at everything. It shares no code with the
engine and follows ARCHITECTURE.md (the lives of a write and a collection) and the pages time.md and
order.md of docs/engine.
Times are integer nanoseconds, sets of sectors are bit masks.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from math import ceil

from . import errors, latency

# Order of service.
READ, URGENT, WRITE, BACKGROUND = 1, 2, 3, 4

# Who may share a program: what comes from another pool takes what is free, what is collected within
# the pool may open its reserve, and a group may do what its most privileged page may.
HOST, MOVED, COLLECTED = "host", "moved", "collected"

# How long host data wait for company in a region that never pads.
PAD_FOR_HOST = 500_000


@dataclass
class Config:
    """A drive and a scheme. Fractions are in parts per billion, sizes in bytes, times in ns."""

    channels: int = 1
    chips: int = 1
    dies: int = 1
    planes: int = 1
    blocks: int = 12
    wordlines: int = 4
    page: int = 4096
    unit: int = 4096
    sector: int = 1024
    bus: tuple[int, int] = (1, 1)  # bytes in so many nanoseconds; (0, 0) takes no time
    command: dict = field(default_factory=lambda: {"read": 0, "program": 0, "erase": 0})
    further: dict | None = None  # what each further plane of a multi-plane command adds
    slc: dict | None = None  # read, program: a time for each page type; erase; one_shot
    tlc: dict | None = None
    logical_pages: int = 100
    parallel: str = "die"
    multiplane: bool = False
    same_pages: bool = False  # what goes together has one page number
    suspend: dict | None = None  # program, erase (a time or None), resume, limit
    order: str = "CWDP"
    trigger: tuple[str, int] = ("free_blocks", 200_000_000)
    victim: str = "greedy"
    gc_class: str = "host"
    hard_reserve: int = 2
    pace_below: int | None = None  # free blocks of a plane below which host writes are paced
    ack_buffer: int | None = None
    packing: bool = False  # host data of several writes share a page
    pad_after: int | None = 500_000
    host_rate: tuple[int, int] = (0, 0)
    read_overhead: int = 0
    write_overhead: int = 0
    read_latency: int = 0
    write_latency: int = 0
    queue_depth: int = 8
    closed: bool = False
    scheme: str = "conventional"
    one_shot: bool = False
    cache: tuple[int, int] = (3, 0)  # static and dynamic blocks of a plane
    cache_trigger: tuple[str, int] = ("free_blocks", 500_000_000)
    when_full: str = "direct"
    cache_reserve: int | None = None  # share of a plane's blocks that a dynamic cache leaves
    idle_after: int | None = None  # how long without a request until the cache is migrated, ns
    idle_rate: tuple[int, int] = (0, 0)  # how fast; (0, 0): as fast as the flash allows
    fill: int = 0  # share of the logical pages that hold data at time 0
    valid: int = 1_000_000_000
    errors: dict | None = None  # the table [errors], with its modes
    cycles: dict = field(default_factory=dict)  # by mode, before time 0
    retention: int = 0  # how long what is filled has lain, ns


def transfer(rate: tuple[int, int], size: int) -> int:
    """Time for so many bytes, rounded up."""
    amount, ns = rate
    return -(-size * ns // amount) if amount else 0


def share_down(share: int, of: int) -> int:
    return share * of // 1_000_000_000


def share_up(share: int, of: int) -> int:
    return -(-share * of // 1_000_000_000)


@dataclass(eq=False)
class Request:
    number: int
    op: str
    lba: int
    blocks: int
    arrival: int = 0
    outcome: str = "done"
    parts: int = 1  # one is held until all are known
    admitted: int = 0
    ended: int = 0
    completion: int | None = None
    latency: dict[str, int] = field(default_factory=dict)


@dataclass(eq=False)
class Part:
    """A logical page on its way into flash."""

    lpn: int
    sectors: int
    version: int = 0
    requests: list = field(default_factory=list)
    is_host: bool = False
    program: Op | None = None
    whom: str = "behind_host"  # what others are who wait while it is programmed
    source: tuple | None = None  # where a relocation found it
    job: Job | None = None
    in_window: bool = True
    staged: bool = False
    at: int = 0  # which of its program's slots it fills


@dataclass(eq=False)
class Op:
    kind: str
    plane: Plane
    service: int
    parts: list = field(default_factory=list)
    route: list = field(default_factory=list)
    slots: int = 1
    privileged: bool = False
    fills: int = 0
    order: int | None = None
    block: Block | None = None
    slot: int = 0
    sectors: int = 0  # of a read
    why: str = ""
    owner: object = None
    wants: str = ""  # the resource that it needs next: "array" or "bus"
    queued: int = 0
    first_queued: int = 0  # other than the above once it has been suspended
    earlier: dict | None = None  # what it had been through when it was suspended last
    queued_at: Plane | None = None  # its plane then
    blocked: int | None = None  # when it first found no free page
    began: int = 0
    turned: int = 0  # from bus to array, or from array to bus for the first time
    retries: int | None = None  # of a read that has begun
    repeated: int = 0  # how often it has been sensed again after a transfer
    again: int = 0  # time that the array senses it again, the first time that it has the array
    sensed: int = 0  # when it was sensed for the last time
    failed: bool = False

    @property
    def key(self):
        return (self.service, self.order)


@dataclass(eq=False)
class Block:
    number: int
    plane: Plane
    pool: Pool
    phase: str = "free"  # free, open, full, victim, erasing
    region: Region | None = None
    programmed: int = 0  # slots
    holds: dict = field(default_factory=dict)  # slot -> logical page programmed there
    readers: int = 0
    writers: int = 0
    closed_at: int = 0  # which block of the drive was closed before which
    erases: int = 0
    written: int = 0  # when its oldest data were
    reads: int = 0  # of its pages since then


@dataclass(eq=False)
class Pool:
    blocks: int
    first: int = 0
    reserve: int = 0


@dataclass(eq=False)
class Region:
    name: str
    pool: Pool
    bits: int
    times: dict
    pages_per_program: int
    trigger: tuple
    quota: int
    slots_per_block: int = 0


@dataclass(eq=False)
class PlaneProgramBuffer:
    page: list = field(default_factory=list)  # units that do not fill a page yet
    group: Op | None = None  # pages that do not fill a program yet
    pages: int = 0
    since: object = None  # the timer of what waits

    @property
    def parts(self) -> list[Part]:
        """All that waits."""
        grouped = self.group.parts if self.group is not None else []
        return grouped + [part for unit in self.page for part in unit.parts]


@dataclass(eq=False)
class Job:
    region: Region
    plane: Plane
    block: Block
    next_slot: int = 0
    inflight: int = 0
    window: int = 0
    exhausted: bool = False
    erasing: bool = False
    idle: bool = False  # begun by a drive at rest, and by nothing else since
    granted: bool = True  # may read its next page, or erase
    began: int | None = None  # of a job on which the pace of host writes depends
    frees: int = 0  # slots

    @property
    def rests(self) -> bool:
        return self.idle and not self.granted


@dataclass(eq=False)
class Array:
    at: list = field(default_factory=list)  # what it works on, in the order of service
    until: int | None = None  # when it is through with that, or has stopped
    aside: list = field(default_factory=list)  # what it has been suspended in
    stops: bool = False
    left: int = 0
    times: int = 0  # how often what is aside, or what it is at, has been suspended


@dataclass(eq=False)
class Plane:
    number: int
    die: int
    channel: int
    queue: list = field(default_factory=list)
    parked: list = field(default_factory=list)  # programs that found no slot
    current: Op | None = None
    free: dict = field(default_factory=dict)  # pool -> erased blocks, oldest first
    open: dict = field(default_factory=dict)  # region -> open blocks, oldest first
    program_buffers: dict = field(default_factory=dict)  # (region, HOST, MOVED or COLLECTED)
    jobs: dict = field(default_factory=dict)  # region
    past: list = field(default_factory=list)  # (begin, end, for whom) of what has ended
    backlog: list = field(default_factory=list)  # operations that wait or are under way
    waited_for: set = field(default_factory=set)  # regions that programs wait for a slot of
    gc_blocked: bool = False


@dataclass(eq=False)
class Stage:
    """What RAM holds of a logical page."""

    sectors: int = 0
    pending: int = 0
    committed: int = 0
    filling: Part | None = None
    fill_read: Op | None = None


@dataclass(eq=False)
class Flush:
    version: int
    request: Request
    remaining: int


class Simulator:
    def __init__(self, config: Config) -> None:
        c = self.config = config
        self.now = 0
        self.events: list = []  # (time, order in which it was set, what to do)
        self.set_count = 0
        self.order = 0
        self.version = 0
        self.map: dict[int, tuple[Block, int]] = {}
        self.stages: dict[int, Stage] = {}
        self.flushes: list[Flush] = []
        self.unsettled = 0
        self.buffered = 0
        self.outstanding = 0
        self.held_up: list[Request] = []
        self.todo: list = []
        self.newly_queued: list[Plane] = []  # planes that have not looked at what they got
        self.ended: list[Request] = []
        self.ending: Op | None = None  # a host operation, while its end takes effect
        self.done: list[Request] = []
        self.link_free_at = 0
        self.link_queue: list = []
        self.link_busy = False
        # When each request ends that the link is through with and the controller is not.
        self.in_controller: list[int] = []
        self.turn = 0
        self.closings = 0
        self.writes = 0
        self.is_idle = False
        self.rests_since = 0
        self.idle_alarm = False
        self.idle_work: dict[int, int] = {}  # by die, grants that are not over
        self.idle_turns: dict[int, int] = {}  # by die, the plane that is asked first
        self.idle_die = 0  # the die that is asked first
        self.next_idle_page = 0  # not before this time
        self.pace_alarm = False
        self.next_write = 0  # not before this time while a collection is under way
        self.write_alarm = False
        self.freeing = (0, 0)  # time that collections took, and slots that they freed
        self.units_per_page = c.page // c.unit
        self.sectors_per_unit = c.unit // c.sector
        self.all_sectors = (1 << self.sectors_per_unit) - 1
        self._lay_out()
        self._fill()

    # --- the drive at time 0 -----------------------------------------------------------------

    def _lay_out(self) -> None:
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
            self.host_route = [self.regions[0]]
        else:
            static, dynamic = c.cache
            pools = [Pool(static), Pool(c.blocks - static)] if dynamic == 0 else [Pool(c.blocks)]
            quota = endless if dynamic == 0 else self.cache_blocks(0, 0)
            s = region("S", pools[0], 1, c.slc, False, c.cache_trigger, quota)
            d = region("D", pools[-1], 3, c.tlc, c.one_shot, c.trigger, endless)
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
        for level in c.order if c.order != "dynamic" else "CWDP":
            at[level] = page % size[level]
            page //= size[level]
        return self.planes[((at["C"] * c.chips + at["W"]) * c.dies + at["D"]) * c.planes + at["P"]]

    def _fill(self) -> None:
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

    # --- what can be counted -----------------------------------------------------------------

    def live_slots(self, block: Block) -> list[int]:
        return sorted(s for s, lpn in block.holds.items() if self.map.get(lpn) == (block, s))

    def owned(self, region: Region, plane: Plane) -> int:
        return len(self.blocks_in(region, plane))

    def blocks_in(self, region: Region, plane: Plane) -> list[Block]:
        return [b for b in self.blocks_of[plane.number] if b.region is region]

    def free_blocks(self, region: Region, plane: Plane) -> int:
        left = region.quota - self.owned(region, plane)
        return min(len(plane.free[region.pool]), max(left, 0))

    def free_slots(self, region: Region, plane: Plane) -> int:
        left = sum(region.slots_per_block - b.programmed for b in plane.open[region])
        return left + self.free_blocks(region, plane) * region.slots_per_block

    def total_blocks(self, region: Region) -> int:
        return min(region.quota, region.pool.blocks)

    def is_desperate(self, region: Region, plane: Plane) -> bool:
        half = self.total_blocks(region) // 2
        reserve = max(min(self.config.hard_reserve, half), region.pool.reserve)
        if region.trigger[0] == "free_blocks":
            return self.free_blocks(region, plane) <= reserve
        return self.free_slots(region, plane) <= reserve * region.slots_per_block

    def is_short(self, region: Region, plane: Plane) -> bool:
        what, share = region.trigger
        total = self.total_blocks(region)
        if what == "free_blocks":
            below = self.free_blocks(region, plane) < share_up(share, total)
        else:
            all_slots = total * region.slots_per_block
            below = self.free_slots(region, plane) < share_up(share, all_slots)
        return below or self.is_desperate(region, plane)

    def gains(self, region: Region, block: Block) -> bool:
        """Whether emptying a block gives back more than the padding of one program may cost."""
        lost = self.units_per_page * region.pages_per_program
        return len(self.live_slots(block)) <= region.slots_per_block - lost

    def best_victim(self, region: Region, plane: Plane) -> Block | None:
        closed = [b for b in self.blocks_in(region, plane) if b.phase == "full" and b.writers == 0]
        if not closed:
            return None
        if self.config.victim == "greedy":
            return min(closed, key=lambda b: (len(self.live_slots(b)), b.number))
        closed.sort(key=lambda b: b.closed_at)
        return next((b for b in closed if self.gains(region, b)), closed[0])

    def close(self, block: Block) -> None:
        """The last program of a block has ended: it may be collected."""
        block.phase = "full"
        self.closings += 1
        block.closed_at = self.closings

    # --- time --------------------------------------------------------------------------------

    def set_event(self, at: int, what) -> None:
        self.set_count += 1
        heapq.heappush(self.events, (at, self.set_count, what))

    def step(self) -> None:
        """One event, and all that follows from it at once."""
        self.now, _, what = heapq.heappop(self.events)
        what()
        self.settle()

    def settle(self) -> None:
        """Rounds: what was asked for is queued, then ended requests leave, then others come in."""
        while self.todo or self.ended or self.held_up:
            todo, self.todo = self.todo, []
            for act in todo:
                act()
            # What goes together has all been queued before any of it begins.
            queued, self.newly_queued = self.newly_queued, []
            queued = [plane for plane in queued if plane.current is None]
            for plane in queued:
                self.serve_bus(plane.channel)
                self.serve_array(self.array_of(plane))
            ended, self.ended = self.ended, []
            for request in ended:
                self.put_on_link(request)
            while self.held_up and self.may_go_in(self.held_up[0]):
                self.take_in(self.held_up.pop(0))
            if self.held_up:
                self.keep_waiting(self.held_up[0])
            if not self.todo and not self.ended:
                return

    def run(self, requests: list[Request]) -> list[Request]:
        c = self.config
        for request in requests:
            while self.outstanding >= c.queue_depth:
                self.step_or_give_up()
            if c.closed:
                request.arrival = self.now
            else:
                while self.now <= request.arrival:
                    if self.events and self.events[0][0] <= request.arrival:
                        self.step()
                    elif self.events or self.now == request.arrival:
                        break
                    elif self.send_elsewhere():
                        continue
                    elif not self.outstanding:
                        break
                    elif not self.give_up():
                        raise AssertionError("stuck")
            at = max(self.now, request.arrival)
            while self.events and self.events[0][0] <= at:
                self.step()
            self.now = at
            self.outstanding += 1
            first = not self.held_up and self.may_go_in(request)
            if first or self.overtakes(request):
                self.take_in(request)
            else:
                self.keep_waiting(request)
                self.held_up.append(request)
            self.is_idle = False
            self.settle()
        while self.outstanding:
            self.step_or_give_up()
        return self.done

    def step_or_give_up(self) -> None:
        if self.events:
            self.step()
        elif not (self.send_elsewhere() or self.give_up()):
            raise AssertionError(f"{self.outstanding} requests can never complete")

    def send_elsewhere(self) -> bool:
        """Nothing is pending: programs that may go anywhere go to the roomiest plane.

        Where none has room they go to the first where a collection begins.
        """
        went = False
        for op in sorted((op for p in self.planes for op in p.parked), key=lambda op: op.key):
            there = self.other_plane(op)
            if there is None:
                continue
            op.plane.parked.remove(op)
            op.plane.backlog.remove(op)
            there.backlog.append(op)
            op.plane = there
            self.todo.append(lambda op=op: self.enter(op))
            went = True
        self.settle()
        return went

    def other_plane(self, op: Op) -> Plane | None:
        part = op.parts[0]
        if self.config.order != "dynamic" if part.is_host else not part.staged:
            return None
        for region in op.route:
            others = [p for p in self.planes if p is not op.plane]
            others = [p for p in others if self.has_room(region, p, False)]
            if others:
                return max(others, key=lambda p: (self.room(region, p), p.number))
        for region in op.route:
            for plane in (p for p in self.planes if p is not op.plane):
                before = list(plane.jobs.values())
                self.collect_for(region, plane)
                if list(plane.jobs.values()) != before:
                    return plane
        return None

    def room(self, region: Region, plane: Plane) -> int:
        """Slots that hold nothing live, or will when what waits there is done."""
        live = sum(len(self.live_slots(b)) for b in self.blocks_in(region, plane))
        taken = live + len(plane.backlog) * self.units_per_page
        return max(self.total_blocks(region) * region.slots_per_block - taken, 0)

    def give_up(self) -> bool:
        """Nothing is pending: host programs that wait for a slot never will have one.

        What a buffer has acknowledged stays in it; flushes fail, else the first that it holds up.
        Before that nothing waits for company any longer.
        """
        incomplete = self.incomplete_groups()
        for region, plane in incomplete:
            self.pad(region, plane, HOST)
        if incomplete:
            self.settle()
            return True
        gave_up = False
        if self.config.ack_buffer is not None:
            if self.flushes:
                failed = [flush.request for flush in self.flushes]
                self.flushes.clear()
                for request in failed:
                    request.outcome = "out_of_space"
                    self.part_done(request)
                gave_up = True
            elif self.held_up:
                request = self.held_up.pop(0)
                request.outcome, request.admitted = "out_of_space", self.now
                self.part_done(request)
                gave_up = True
            self.settle()
            return gave_up
        for plane in self.planes:
            parked, plane.parked = plane.parked, []
            for op in parked:
                if not op.parts[0].is_host:
                    plane.parked.append(op)
                    continue
                gave_up = True
                plane.backlog.remove(op)
                for part in op.parts:
                    for request in part.requests:
                        request.outcome = "out_of_space"
                    self.settle_part(part)
        self.settle()
        return gave_up

    # --- planes, arrays, buses ---------------------------------------------------------------

    def emit(self, op: Op) -> None:
        """An operation gets its place in the order of service now, and is queued in this round."""
        self.order += 1
        op.order = self.order
        op.wants = "bus" if op.kind == "program" else "array"
        op.plane.backlog.append(op)
        self.todo.append(lambda: self.enqueue(op))

    def enqueue(self, op: Op) -> None:
        op.queued, op.queued_at, op.blocked = self.now, op.plane, None
        op.first_queued = self.now
        self.enter(op)

    def enter(self, op: Op) -> None:
        op.plane.queue.append(op)
        if self.config.multiplane:
            self.newly_queued.append(op.plane)
        elif op.plane.current is None:
            self.offer(op.plane)
        if self.config.suspend is not None:
            self.interrupt(op)

    def first(self, plane: Plane) -> Op | None:
        """While something is aside in its array, a plane begins nothing but reads of the host."""
        suspended = self.arrays[self.array_of(plane)].aside
        may_begin = [op for op in plane.queue if op.service == READ or not suspended]
        return min(may_begin, key=lambda op: op.key, default=None)

    def wanted(self, plane: Plane) -> Op | None:
        """The operation of a plane that wants a resource: the one under way, or the first."""
        return plane.current if plane.current is not None else self.first(plane)

    def offer(self, plane: Plane) -> None:
        op = self.first(plane)
        if op is None:
            return
        if op.kind == "program":
            self.serve_bus(plane.channel)
        else:
            self.serve_array(self.array_of(plane))

    def most_urgent(self, resource: str, planes: list[Plane]) -> Op | None:
        waiting = [self.wanted(p) for p in planes]
        waiting = [op for op in waiting if op is not None and op.wants == resource]
        return min(waiting, key=lambda op: op.key, default=None)

    def serve_array(self, array: int) -> None:
        if self.array_busy[array]:
            return
        op = self.most_urgent("array", [p for p in self.planes if self.array_of(p) == array])
        suspended = self.arrays[array].aside
        if op is None or (suspended and op.service != READ):
            return
        together = [op]
        if self.config.multiplane:
            coming = self.on_bus[op.plane.channel]
            if (
                op.kind == "program"
                and coming is not None
                and self.array_of(coming.plane) == array
                and self.are_alike(op, coming)
            ):
                return
            others = [self.wanted(p) for p in self.planes if self.array_of(p) == array]
            others = [o for o in others if o is not None and o is not op and o.wants == "array"]
            others = [o for o in others if o.service == READ or not suspended]
            others.sort(key=lambda o: o.key)
            together += [o for o in others if self.are_alike(op, o)]
        for one in together:
            self.begin(one)
            one.wants = ""
        self.array_busy[array] = True
        if not suspended:
            self.arrays[array].times = 0
        time = max(self.time_of(one) for one in together)
        if self.config.further is not None and op.kind != "program":
            time += (len(together) - 1) * self.config.further[op.kind]
        self.works_on(array, together, time)

    def works_on(self, array: int, together: list[Op], time: int) -> None:
        self.arrays[array].at, self.arrays[array].until = together, self.now + time
        self.set_event(self.now + time, lambda: self.array_event(array))

    def array_event(self, array: int) -> None:
        """The array is through, or has stopped; at another time the event is void."""
        a = self.arrays[array]
        if a.until != self.now or not a.at:
            return
        together, a.at = a.at, []
        if a.stops:
            a.stops = False
            self.set_aside(array, together)
        else:
            self.array_done(array, together)
            self.go_on_with_rest(array)

    # --- suspension --------------------------------------------------------------------------

    def interrupt(self, read: Op) -> None:
        """A read of the host comes: what its array is at may have to stop for it."""
        array = self.array_of(read.plane)
        a, rule = self.arrays[array], self.config.suspend
        if read.service != READ or not a.at or a.stops or a.times >= rule["limit"]:
            return
        stop = rule.get(a.at[0].kind)
        if stop is None or a.until - self.now <= stop:
            return
        a.stops, a.left, a.times = True, a.until - self.now, a.times + 1
        a.until = self.now + stop
        self.set_event(a.until, lambda: self.array_event(array))

    def set_aside(self, array: int, together: list[Op]) -> None:
        """The array has stopped: to those who wait, what it was at ends, and waits once more."""
        self.array_busy[array] = False
        for op in together:
            op.plane.current = None
            op.plane.past.append((op.began, self.now, latency.of_op(op, self.home)))
            op.earlier = latency.until_now(op, self.now)
            op.queued, op.queued_at, op.blocked = self.now, op.plane, None
        self.arrays[array].aside = together
        self.offer_all(array)
        self.serve_array(array)
        self.go_on_with_rest(array)

    def offer_all(self, array: int) -> None:
        for plane in self.planes:
            if self.array_of(plane) == array and plane.current is None:
                self.offer(plane)

    def go_on_with_rest(self, array: int) -> None:
        """If no read of the host is next and all of its planes are free, what is aside goes on."""
        a = self.arrays[array]
        planes = [p for p in self.planes if self.array_of(p) == array]
        if not a.aside or self.array_busy[array]:
            return
        following = self.most_urgent("array", planes)
        if following is not None and following.service == READ:
            return
        if any(op.plane.current is not None for op in a.aside):
            return
        for op in a.aside:
            op.plane.current, op.began = op, self.now
        self.array_busy[array] = True
        together, a.aside = a.aside, []
        self.works_on(array, together, self.config.suspend["resume"] + a.left)
        self.offer_all(array)

    def time_of(self, op: Op) -> int:
        """Time on the array from now on; a read with errors finds how often it is repeated."""
        time = self.array_time(op)
        if op.kind == "read" and self.config.errors is not None:
            return self.time_of_read(op, time)
        return time

    def are_alike(self, one: Op, other: Op) -> bool:
        """Whether two operations may be one multi-plane command."""
        return (
            one.kind == other.kind
            and one.block.region.bits == other.block.region.bits
            and self.array_time(one) == self.array_time(other)
            and (
                not self.config.same_pages
                or one.kind == "erase"
                or one.slot // self.units_per_page == other.slot // self.units_per_page
            )
        )

    def serve_bus(self, channel: int) -> None:
        while not self.bus_busy[channel]:
            op = self.most_urgent("bus", [p for p in self.planes if p.channel == channel])
            if op is None:
                return
            plane = op.plane
            time = 0
            if plane.current is None:
                plane.queue.remove(op)
                bound = self.bind(op)
                if not bound:
                    if bound is None:
                        self.blocked(op)
                    after = self.first(plane)
                    if after is not None and after.kind != "program":
                        self.serve_array(self.array_of(plane))
                    continue
                plane.current, op.began = op, self.now
                time += self.command_of_program(op)
            self.bus_busy[channel] = True
            self.on_bus[channel] = op
            op.wants = ""
            if op.kind == "read":
                size = op.sectors.bit_count() * self.config.sector
            else:
                size = op.slots * self.config.unit
            time += transfer(self.config.bus, size)
            self.set_event(self.now + time, lambda op=op: self.bus_done(channel, op))
            return

    def command_of_program(self, op: Op) -> int:
        """A program's command is that of a further plane where one like it waits for the array."""
        brought = [p.current for p in self.planes if self.array_of(p) == self.array_of(op.plane)]
        joins = any(
            o is not None
            and o is not op
            and o.kind == "program"
            and o.wants == "array"
            and self.are_alike(o, op)
            for o in brought
        )
        if self.config.multiplane and self.config.further is not None and joins:
            return self.config.further["program"]
        return self.config.command["program"]

    def begin(self, op: Op) -> None:
        if op.plane.current is None:
            op.plane.queue.remove(op)
            op.plane.current, op.began = op, self.now

    def array_time(self, op: Op) -> int:
        region = op.block.region
        extra = self.config.command
        if op.kind == "erase":
            return region.times["erase"] + extra["erase"]
        bit = op.slot // self.units_per_page % region.bits
        if op.kind == "read":
            return region.times["read"][bit] + extra["read"]
        return region.times["program"][bit]

    def time_of_read(self, op: Op, once: int) -> int:
        """With the retries that follow at once, where data need not go over the bus for them."""
        decode, by_bus = self.config.errors["decode"], self.config.errors["retransfer"]
        if op.retries is not None:
            return decode + once
        block, region = op.block, op.block.region
        page = op.slot // self.units_per_page
        whole = block.reads // (region.slots_per_block // self.units_per_page)
        op.retries, op.failed = errors.retries(
            self.config.errors,
            "slc" if region.bits == 1 else "tlc",
            (block.number, page // region.bits, page % region.bits),
            block.erases,
            self.now - block.written,
            whole,
        )
        block.reads += 1
        op.again = 0 if by_bus else op.retries * (once + decode)
        return once + op.again

    def array_done(self, array: int, together: list[Op]) -> None:
        """The array is taken until the last has had its effect; reads all want the bus at once."""
        for op in together:
            self.array_busy[array] = op is not together[-1]
            if op.kind == "read":
                op.wants, op.sensed = "bus", self.now
                if op.repeated == 0:
                    op.turned = self.now
            else:
                self.end(op)
        if together[0].kind == "read":
            self.serve_bus(together[0].plane.channel)
        self.serve_array(array)

    def bus_done(self, channel: int, op: Op) -> None:
        self.bus_busy[channel], self.on_bus[channel] = False, None
        by_bus = self.config.errors is not None and self.config.errors["retransfer"]
        again = op.kind == "read" and by_bus and op.repeated < op.retries
        if op.kind == "read" and not again:
            self.end(op)
        else:
            if again:
                op.repeated += 1
            else:
                op.turned = self.now
            op.wants = "array"
            if self.config.multiplane:
                self.serve_bus(channel)
            self.serve_array(self.array_of(op.plane))
        self.serve_bus(channel)

    def end(self, op: Op) -> None:
        """The plane is free, what the operation did takes effect, and the plane takes its next."""
        op.plane.current = None
        op.plane.backlog.remove(op)
        self.ending = op if latency.serves_host(op) else None
        {"read": self.read_done, "program": self.program_done, "erase": self.erase_done}[op.kind](
            op
        )
        self.ending = None
        if self.is_idle:
            self.ask_idle(op.plane.die)
        op.plane.past.append((op.began, self.now, latency.of_op(op, self.home)))
        self.offer(op.plane)
        self.go_on_with_rest(self.array_of(op.plane))

    def wake(self, plane: Plane) -> None:
        plane.queue += plane.parked
        plane.parked = []
        if self.config.multiplane:
            self.newly_queued.append(plane)
        elif plane.current is None:
            self.offer(plane)

    # --- the host link -----------------------------------------------------------------------

    def put_on_link(self, request: Request) -> None:
        c = self.config
        times = (c.read_overhead, c.write_overhead, c.read_latency, c.write_latency)
        free = c.host_rate == (0, 0) and not any(times)
        waits = request.op == "flush" and (self.link_queue or self.in_controller)
        if free or request.op == "trim" or (request.op == "flush" and not waits):
            self.complete(request)
            return
        self.link_queue.append(request)
        if not self.link_busy:
            self.serve_link()

    def serve_link(self) -> None:
        c = self.config
        request = self.link_queue[0]
        if request.op == "flush":
            # It moves nothing, and does not overtake.
            self.link_busy = True
            self.set_event(self.now, self.link_done)
            return
        time = c.read_overhead if request.op == "read" else c.write_overhead
        time += transfer(c.host_rate, request.blocks * 512)
        self.link_busy = True
        self.set_event(self.now + time, self.link_done)

    def link_done(self) -> None:
        self.link_busy = False
        request = self.link_queue.pop(0)
        c = self.config
        until = self.now
        if request.op == "flush":
            until = max([until, *self.in_controller])
        else:
            until += c.read_latency if request.op == "read" else c.write_latency
        if until == self.now:
            self.complete(request)
        else:
            self.in_controller.append(until)
            self.set_event(until, lambda: self.controller_done(request))
        if self.link_queue:
            self.serve_link()

    def controller_done(self, request: Request) -> None:
        self.in_controller.remove(self.now)
        self.complete(request)

    def complete(self, request: Request) -> None:
        request.completion = self.now
        request.latency["link"] = self.now - request.ended
        self.outstanding -= 1
        self.done.append(request)
        if self.config.idle_after is not None and self.outstanding == 0:
            self.rests_since = self.now
            if not self.idle_alarm:
                self.set_idle_alarm(self.now + self.config.idle_after)

    def part_done(self, request: Request) -> None:
        request.parts -= 1
        if request.parts == 0:
            request.ended = self.now
            request.latency = latency.ended(request, self.ending, self.now)
            self.ended.append(request)

    # --- requests ----------------------------------------------------------------------------

    def admits(self, request: Request) -> bool:
        if self.config.ack_buffer is None or request.op != "write" or self.buffered == 0:
            return True
        per_unit = self.config.unit // 512
        pages = ceil((request.lba + request.blocks) / per_unit) - request.lba // per_unit
        return self.buffered + pages <= self.config.ack_buffer

    def may_go_in(self, request: Request) -> bool:
        return self.admits(request) and not self.is_paced(request)

    def is_paced(self, request: Request) -> bool:
        """A write waits for its time, but only for a collection that is at work."""
        works = any(job and job.began is not None for p in self.planes for job in p.jobs.values())
        return request.op == "write" and self.now < self.next_write and works

    def pages_of(self, request: Request) -> range:
        per_unit = self.config.unit // 512
        last = (request.lba + request.blocks - 1) // per_unit
        return range(request.lba // per_unit, last + 1)

    def overtakes(self, request: Request) -> bool:
        """Where writes are paced, a read does not wait behind those that it does not read."""
        if self.config.pace_below is None or request.op != "read":
            return False
        changed = [r for r in self.held_up if r.op in ("write", "trim")]
        return not any(page in self.pages_of(r) for r in changed for page in self.pages_of(request))

    def keep_waiting(self, request: Request) -> None:
        if not (self.is_paced(request) and self.admits(request)):
            self.make_way_in_groups()
        elif not self.write_alarm:
            self.write_alarm = True
            self.set_event(self.next_write, self.write_alarm_over)

    def write_alarm_over(self) -> None:
        self.write_alarm = False

    def pace_writes(self, request: Request) -> None:
        """A write goes in: half-way through the zone, the next waits for as much to be freed."""
        below = self.config.pace_below
        home, planes = self.home, self.planes
        if below is None or all(p.jobs[home] is None or p.jobs[home].began is None for p in planes):
            return
        slots = home.slots_per_block * len(planes)
        half = self.total_blocks(home) // 2
        reserve = max(min(self.config.hard_reserve, half), home.pool.reserve)
        zone = max(below - reserve, 1) * slots
        free = sum(self.free_slots(home, p) for p in planes)
        lacking = min(max(below * slots - free, 0), zone)
        time, freed = self.freeing
        gap = 0
        if freed > 0:
            pages = len(self.pages_of(request))
            gap = 2 * pages * lacking * time // (zone * freed * len(planes))
        self.next_write = max(self.next_write, self.now) + gap

    def learn(self, job: Job) -> None:
        if job.began is None:
            return
        time, freed = self.freeing
        time, freed = time + self.now - job.began, freed + job.frees
        if freed > 2 * len(self.planes) * self.home.slots_per_block:
            time, freed = time // 2, freed // 2
        self.freeing = (time, freed)

    def take_in(self, request: Request) -> None:
        request.admitted = self.now
        if request.op == "write":
            self.pace_writes(request)
        if request.op == "read":
            self.take_read(request)
        elif request.op == "write":
            self.take_write(request)
        elif request.op == "trim":
            self.take_trim(request)
        else:
            self.take_flush(request)
        self.part_done(request)

    def units(self, request: Request) -> list[tuple[int, int]]:
        """The logical pages that a request covers, each with its sectors, rounded outward."""
        per_sector = self.config.sector // 512
        first = request.lba // per_sector
        last = (request.lba + request.blocks - 1) // per_sector
        found: dict[int, int] = {}
        for sector in range(first, last + 1):
            lpn, at = divmod(sector, self.sectors_per_unit)
            found[lpn] = found.get(lpn, 0) | 1 << at
        return list(found.items())

    def take_read(self, request: Request) -> None:
        last: Op | None = None
        for lpn, sectors in self.units(request):
            if lpn in self.stages:
                sectors &= ~self.stages[lpn].sectors
            if not sectors or lpn not in self.map:
                continue
            block, slot = self.map[lpn]
            if last is not None and self.in_same_page(last, block, slot):
                # Units that share a page are sensed once.
                last.sectors |= sectors << (slot - last.slot) * self.sectors_per_unit
                continue
            last = Op("read", block.plane, READ, block=block, slot=slot, sectors=sectors)
            last.why, last.owner = "request", request
            request.parts += 1
            block.readers += 1
            self.emit(last)

    def in_same_page(self, op: Op, block: Block, slot: int) -> bool:
        u = self.units_per_page
        return op.block is block and op.slot < slot and op.slot // u == slot // u

    def take_write(self, request: Request) -> None:
        self.version += 1
        parcels: dict[int, list] = {}
        for lpn, sectors in self.units(request):
            parcels.setdefault(lpn // self.units_per_page, []).append((lpn, sectors))
        for parcel in parcels.values():
            rest = []
            for lpn, sectors in parcel:
                self.stages.setdefault(lpn, Stage())
                if not self.joins_fill(request, lpn, sectors):
                    rest.append((lpn, sectors))
            if rest:
                self.write_parcel(request, rest)
        if self.config.scheme == "slc-cache" and self.config.cache[1] > 0:
            self.writes += 1
            if self.writes % (1024 if self.config.cache_reserve is None else 64) == 0:
                self.look_at_quota()

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

    def joins_fill(self, request: Request, lpn: int, sectors: int) -> bool:
        """A write to a page whose program still waits for missing sectors joins that program."""
        stage = self.stages[lpn]
        part = stage.filling
        if part is None or any(f.version > part.version for f in self.flushes):
            return False
        stage.sectors |= sectors
        part.sectors |= sectors
        part.version = self.version
        if self.config.ack_buffer is None:
            request.parts += 1
            part.requests.append(request)
        if part.sectors == self.all_sectors:
            self.cancel_fill(stage)
        return True

    def write_parcel(self, request: Request, spans: list) -> None:
        plane = self.pick_plane(self.home_plane(spans[0][0]))
        program = Op("program", plane, WRITE, route=list(self.host_route))
        for at, (lpn, sectors) in enumerate(spans):
            part = Part(lpn, sectors, self.version, is_host=True, staged=True, at=at)
            part.program = program
            program.parts.append(part)
            if self.config.ack_buffer is None:
                request.parts += 1
                part.requests.append(request)
            else:
                self.buffered += 1
            self.unsettled += 1
            stage = self.stages[lpn]
            stage.pending += 1
            part.sectors |= stage.sectors
            stage.sectors |= sectors
            missing = self.all_sectors & ~part.sectors
            if missing and lpn in self.map:
                block, slot = self.map[lpn]
                read = Op("read", block.plane, WRITE, block=block, slot=slot, sectors=missing)
                read.why, read.owner = "fill", part
                block.readers += 1
                stage.filling, stage.fill_read = part, read
                program.fills += 1
                self.emit(read)
        if program.fills == 0:
            self.launch(program)

    def pick_plane(self, home: Plane) -> Plane:
        if self.config.order != "dynamic":
            return home
        self.turn += 1
        n = len(self.planes)
        region = self.host_route[0]
        in_turn = [self.home_plane((i + self.turn) % n * self.units_per_page) for i in range(n)]
        waiting = [op for p in self.planes for op in p.backlog]

        def stands_before(plane: Plane) -> tuple[int, int, int]:
            at_array = [op for op in waiting if self.array_of(op.plane) == self.array_of(plane)]
            on_channel = [op for op in waiting if op.plane.channel == plane.channel]
            work = sum(self.mean_time(op.kind) for op in at_array)
            return work, sum(op.kind != "erase" for op in on_channel), len(plane.backlog)

        return min(
            in_turn,
            key=lambda p: (
                self.free_slots(region, p) == 0,
                not p.program_buffers[region, HOST].parts,
                stands_before(p),
            ),
        )

    def mean_time(self, kind: str) -> int:
        """What an operation takes the array in the densest mode, over the page types, ns."""
        times = (self.config.tlc or self.config.slc)[kind]
        return times if kind == "erase" else sum(times) // len(times)

    def take_trim(self, request: Request) -> None:
        """Rounded inward; a page map forgets whole pages only."""
        self.version += 1
        per_unit = self.config.unit // 512
        first = -(-request.lba // per_unit)
        for lpn in range(first, (request.lba + request.blocks) // per_unit):
            if lpn in self.stages:
                stage = self.stages[lpn]
                stage.committed = max(stage.committed, self.version)
                stage.sectors = 0
                if stage.filling is not None:
                    self.cancel_fill(stage)
            if lpn in self.map:
                block, _ = self.map.pop(lpn)
                self.page_died(block)
                self.todo.append(lambda plane=block.plane: self.wake(plane))

    def take_flush(self, request: Request) -> None:
        self.version += 1
        for region in self.regions:
            for plane in self.planes:
                self.pad(region, plane, HOST)
        if self.unsettled:
            request.parts += 1
            self.flushes.append(Flush(self.version, request, self.unsettled))

    # --- read-modify-write -------------------------------------------------------------------

    def cancel_fill(self, stage: Stage) -> None:
        stage.fill_read.why = "nobody"
        self.filled(stage, stage.filling)

    def filled(self, stage: Stage, part: Part) -> None:
        if stage.filling is part:
            stage.filling = None
        part.program.fills -= 1
        if part.program.fills == 0:
            self.launch(part.program)

    # --- company for programs that write several pages ---------------------------------------

    def launch(self, program: Op) -> None:
        region = program.route[0]
        if self.units_per_page == 1 and region.pages_per_program == 1:
            self.emit(program)
        elif self.units_per_page == 1 or self.is_page(program):
            self.add_page(region, program)
        else:
            first, *rest = program.parts
            program.parts = [first]
            self.add_unit(region, program)
            for part in rest:
                part.at = 0
                unit = Op("program", program.plane, program.service, [part], program.route)
                part.program = unit
                self.add_unit(region, unit)

    def is_page(self, program: Op) -> bool:
        """Whether host data have a page to themselves: unless they leave room and are packed."""
        shares = self.config.packing and len(program.parts) < self.units_per_page
        return program.parts[0].is_host and not shares

    def add_unit(self, region: Region, unit: Op) -> None:
        """Moved units share pages, and those of the host where these are packed."""
        plane, which = unit.plane, self.stream(unit)
        self.enter_program_buffer(unit)
        buffer = plane.program_buffers[region, which]
        buffer.page.append(unit)
        if len(buffer.page) == self.units_per_page:
            self.close_page(region, plane, which)
        else:
            self.arm(region, plane, which)

    def stream(self, op: Op) -> str:
        if op.parts[0].is_host:
            return HOST
        return COLLECTED if op.privileged else MOVED

    def close_page(self, region: Region, plane: Plane, which: str) -> None:
        buffer = plane.program_buffers[region, which]
        units, buffer.page = buffer.page, []
        if region.pages_per_program == 1:
            buffer.since = None  # the next page waits for itself
        if units:
            page = units[0]
            for at, unit in enumerate(units[1:], 1):
                unit.parts[0].at = at
                self.join(page, unit)
            self.add_page(region, page)

    def join(self, program: Op, more: Op) -> None:
        program.parts += more.parts
        program.service = min(program.service, more.service)
        program.privileged = program.privileged or more.privileged

    def add_page(self, region: Region, page: Op) -> None:
        plane = page.plane
        if region.pages_per_program == 1:
            page.slots = self.units_per_page
            self.emit(page)
            return
        which = self.stream(page)
        if self.units_per_page == 1:
            self.enter_program_buffer(page)
        buffer = plane.program_buffers[region, which]
        for part in page.parts:
            part.at += buffer.pages * self.units_per_page
        buffer.pages += 1
        if buffer.group is None:
            buffer.group = page
        else:
            self.join(buffer.group, page)
        if buffer.pages == region.pages_per_program:
            self.close_group(region, plane, which)
        else:
            self.arm(region, plane, which)

    def close_group(self, region: Region, plane: Plane, which: str) -> None:
        buffer = plane.program_buffers[region, which]
        group, buffer.group = buffer.group, None
        buffer.pages = 0
        buffer.since = None
        if group is not None:
            group.slots = self.units_per_page * region.pages_per_program
            self.emit(group)
        if buffer.page:
            self.arm(region, plane, which)  # it waits on, for its own time

    def enter_program_buffer(self, op: Op) -> None:
        """A relocation that waits for company no longer holds back its job.

        If the buffer never pads it is protected, and the data leave their old place at once.
        """
        part = op.parts[0]
        job = part.job
        if job is None:
            return
        if self.config.pad_after is not None:
            job.window -= 1
            part.in_window = False
            return
        stays = self.map.get(part.lpn) == part.source
        stage = self.stages.setdefault(part.lpn, Stage())
        stage.pending += 1
        part.version = stage.committed
        part.staged = True
        block = part.source[0]
        part.source = part.job = None
        part.sectors = 0
        if stays:
            part.sectors = self.all_sectors
            stage.sectors |= self.all_sectors
            del self.map[part.lpn]
            self.page_died(block)
        self.job_page_over(job, in_window=True)

    def incomplete_groups(self) -> list[tuple[Region, Plane]]:
        """Where the host's pages wait for company for as long as it takes."""
        if self.config.pad_after is not None:
            return []
        places = [(region, plane) for region in self.regions for plane in self.planes]
        return [(r, p) for r, p in places if p.program_buffers[r, HOST].parts]

    def make_way_in_groups(self) -> None:
        """Groups that wait take half of a full buffer; beyond that the fullest are padded."""
        if self.config.ack_buffer is None:
            return
        incomplete = self.incomplete_groups()
        units = {at: len(at[1].program_buffers[at[0], HOST].parts) for at in incomplete}
        while sum(units.values()) > self.config.ack_buffer // 2:
            fullest = max(units, key=lambda at: units[at])
            del units[fullest]
            self.pad(*fullest, HOST)

    def is_waited_for(self, parts: list[Part]) -> bool:
        """Whether a request waits for host data to be on flash: not if a buffer has answered it."""
        return self.config.ack_buffer is None or any(
            flush.version > part.version for flush in self.flushes for part in parts
        )

    def arm(self, region: Region, plane: Plane, which: str) -> None:
        wait = self.config.pad_after
        buffer = plane.program_buffers[region, which]
        if wait is None:
            if which != HOST or not self.is_waited_for(buffer.parts):
                return
            wait = PAD_FOR_HOST
        if buffer.since is not None:
            return
        token = buffer.since = object()
        at = self.now + wait
        self.todo.append(lambda: self.set_event(at, lambda: self.ring(region, plane, which, token)))

    def ring(self, region: Region, plane: Plane, which: str, token: object) -> None:
        buffer = plane.program_buffers[region, which]
        if buffer.since is not token:
            return
        buffer.since = None
        # While a job still reads, its pages are the company to wait for.
        if self.feeds(region, plane, which) and not plane.gc_blocked:
            self.arm(region, plane, which)
        else:
            self.pad(region, plane, which)

    def feeds(self, region: Region, plane: Plane, which: str) -> bool:
        """Whether a job may still bring company: from the pool itself, or from another."""
        jobs = [job for job in plane.jobs.values() if job is not None]
        return which != HOST and any(
            (job.region.pool is region.pool) == (which == COLLECTED)
            and not job.rests
            and (not job.exhausted or job.window > 0)
            for job in jobs
        )

    def pad(self, region: Region, plane: Plane, which: str) -> None:
        if which != HOST or self.config.packing:
            self.close_page(region, plane, which)
        self.close_group(region, plane, which)

    # --- bound late --------------------------------------------------------------------------

    def bind(self, op: Op) -> bool | None:
        """True with a slot, None without, False where it has left for a group."""
        plane = op.plane
        for region in op.route:
            whole = self.units_per_page * region.pages_per_program
            if op.slots < whole and region.pages_per_program > 1:
                if self.has_room(region, plane, op.privileged):
                    plane.backlog.remove(op)
                    op.route = [region]
                    self.add_page(region, op)
                    return False
            elif self.take_slot(op, region, plane):
                return True
        return None

    def may_take(self, region: Region, plane: Plane, privileged: bool) -> bool:
        return privileged or len(plane.free[region.pool]) >= region.pool.reserve

    def may_open(self, region: Region, plane: Plane, privileged: bool) -> bool:
        free = len(plane.free[region.pool])
        if privileged:
            return free > 0
        return free > region.pool.reserve and self.owned(region, plane) < region.quota

    def has_room(self, region: Region, plane: Plane, privileged: bool) -> bool:
        if not self.may_take(region, plane, privileged):
            return False
        return bool(plane.open[region]) or self.may_open(region, plane, privileged)

    def take_slot(self, op: Op, region: Region, plane: Plane) -> bool:
        if not self.has_room(region, plane, op.privileged):
            return False
        opened = not plane.open[region]
        if opened:
            block = plane.free[region.pool].pop(0)
            block.phase, block.region = "open", region
            block.programmed, block.holds = 0, {}
            block.written, block.reads = self.now, 0
            plane.open[region].append(block)
        block = plane.open[region][0]
        op.block, op.slot = block, block.programmed
        block.programmed += self.units_per_page * region.pages_per_program
        block.writers += 1
        if block.programmed == region.slots_per_block:
            plane.open[region].pop(0)
            block.phase = "full"
        if opened or region.trigger[0] == "free_slots":
            for other in self.regions:
                if other.pool is region.pool:
                    self.collect_if_short(other, plane)
        return True

    def blocked(self, op: Op) -> None:
        plane = op.plane
        op.blocked = self.now if op.blocked is None else op.blocked
        plane.waited_for |= set(op.route)
        lead = op.parts[0]
        plane.gc_blocked = plane.gc_blocked or (lead.job is not None and lead.in_window)
        for region in op.route:
            self.collect_for(region, plane)
        plane.parked.append(op)

    # --- committed late ----------------------------------------------------------------------

    def page_died(self, block: Block) -> None:
        if block.phase == "full" and block.writers == 0 and block.plane.waited_for:
            self.collect_for_waiting(block.region, block.plane)

    def read_done(self, op: Op) -> None:
        if op.why == "request":
            if op.failed:
                op.owner.outcome = "uncorrectable"
            self.part_done(op.owner)
        elif op.why == "fill":
            part = op.owner
            stage = self.stages[part.lpn]
            # After a trim, or with something newer on flash, what was read is old.
            if part.version >= stage.committed:
                stage.sectors |= op.sectors
                part.sectors |= op.sectors
            self.filled(stage, part)
        elif op.why == "job":
            self.relocate(op)
        block = op.block
        block.readers -= 1
        if block.readers == 0 and block.phase == "victim":
            self.step_job(block.plane.jobs[block.region])

    def program_done(self, op: Op) -> None:
        block = op.block
        region = block.region
        for part in op.parts:
            self.commit(part, block, op.slot + part.at)
        block.writers -= 1
        if block.phase == "full" and block.writers == 0:
            self.close(block)
            self.collect_for_waiting(region, block.plane)

    def commit(self, part: Part, block: Block, slot: int) -> None:
        block.holds[slot] = part.lpn
        if part.source is not None:
            newest = self.map.get(part.lpn) == part.source
        else:
            stage = self.stages[part.lpn]
            newest = part.sectors != 0 and part.version >= stage.committed
        if newest:
            old = self.map.get(part.lpn)
            self.map[part.lpn] = (block, slot)
            if old is not None:
                self.page_died(old[0])
            if part.source is None:
                stage.committed = max(stage.committed, part.version)
        if part.job is not None:
            self.job_page_over(part.job, part.in_window)
        else:
            self.settle_part(part)

    def settle_part(self, part: Part) -> None:
        if part.staged:
            stage = self.stages[part.lpn]
            stage.pending -= 1
            if stage.pending == 0:
                del self.stages[part.lpn]
        for request in part.requests:
            self.part_done(request)
        if part.is_host:
            self.unsettled -= 1
            if self.config.ack_buffer is not None:
                self.buffered -= 1
            for flush in self.flushes:
                flush.remaining -= part.version < flush.version
            for flush in [f for f in self.flushes if f.remaining == 0]:
                self.flushes.remove(flush)
                self.part_done(flush.request)

    def erase_done(self, op: Op) -> None:
        block = op.block
        plane, region = block.plane, block.region
        job = plane.jobs[region]
        block.phase, block.region = "free", None
        block.holds = {}
        block.erases += 1
        plane.free[region.pool].append(block)
        plane.jobs[region] = None
        self.learn(job)
        self.end_grant(job)
        plane.gc_blocked = False
        plane.waited_for.clear()
        self.todo.append(lambda: self.wake(plane))
        for other in self.regions:
            self.collect_if_short(other, plane)

    # --- collection --------------------------------------------------------------------------

    def collect_if_short(self, region: Region, plane: Plane) -> None:
        job = plane.jobs[region]
        if (job is None or job.idle) and self.is_short(region, plane):
            self.collect(region, plane)

    def collect_for(self, region: Region, plane: Plane) -> None:
        # With blocks left in the pool, a region that has all it may own is helped by its own alone.
        has_blocks = len(plane.free[region.pool]) > region.pool.reserve
        is_full = has_blocks and self.owned(region, plane) >= region.quota
        for other in [region] if is_full else self.regions:
            if other.pool is region.pool:
                self.collect(other, plane)

    def collect_for_waiting(self, region: Region, plane: Plane) -> None:
        for waited in self.regions:
            if waited in plane.waited_for and waited.pool is region.pool:
                self.collect_for(waited, plane)
        self.collect_if_short(region, plane)

    def collect(self, region: Region, plane: Plane) -> None:
        job = plane.jobs[region]
        if job is not None:
            if job.idle:  # it cannot wait for the drive to rest again
                self.end_grant(job)
                job.idle, job.granted = False, True
                self.step_job(job)
            return
        block = self.best_victim(region, plane)
        # Collected pages of a cache go to another region; others come back to the same pool.
        passes_on = region is not self.home
        if block is None or not (passes_on or self.gains(region, block)):
            return
        block.phase = "victim"
        job = plane.jobs[region] = Job(region, plane, block)
        if self.config.pace_below is not None and region is self.home:
            job.began = self.now
            job.frees = region.slots_per_block - len(self.live_slots(block))
        self.step_job(job)

    def job_service(self, job: Job) -> int:
        if self.is_desperate(job.region, job.plane):
            return URGENT
        if job.idle:
            return BACKGROUND
        return {"background": BACKGROUND, "host": WRITE, "urgent": URGENT}[self.config.gc_class]

    def step_job(self, job: Job) -> None:
        if job.erasing or job.rests:
            return
        service = self.job_service(job)
        block, u = job.block, self.units_per_page
        depth = 1 if job.idle else 2 * self.config.planes
        while job.window < depth and not job.exhausted:
            live = [s for s in self.live_slots(block) if s >= job.next_slot]
            if not live:
                job.exhausted = True
                break
            slot = live[0]
            job.next_slot = slot // u * u + u
            job.inflight += 1
            job.window += 1
            read = Op("read", job.plane, service, block=block, slot=slot, why="job", owner=job)
            for s in live:
                if s < job.next_slot:
                    read.sectors |= self.all_sectors << (s - slot) * self.sectors_per_unit
            block.readers += 1
            self.emit(read)
            if job.idle:
                self.pace(job.plane.die)
        if job.exhausted and job.inflight == 0 and block.readers == 0:
            assert not self.live_slots(block)
            job.erasing = True
            block.phase = "erasing"
            self.emit(Op("erase", job.plane, service, block=block, owner=job))

    def relocate(self, read: Op) -> None:
        job, block = read.owner, read.block
        service = self.job_service(job)
        page_end = read.slot // self.units_per_page * self.units_per_page + self.units_per_page
        live = [s for s in self.live_slots(block) if read.slot <= s < page_end]
        programs = []
        for slot in live:
            part = Part(block.holds[slot], self.all_sectors, source=(block, slot), job=job)
            part.whom = latency.whom(job, self.home)
            program = Op("program", job.plane, service, parts=[part], route=[self.home])
            program.privileged = self.home.pool is job.region.pool
            part.program = program
            programs.append(program)
        job.inflight += len(programs) - 1
        job.window += len(programs) - 1
        if not programs:
            self.go_on(job)
        for program in programs:
            self.launch(program)
        if job.plane.jobs.get(job.region) is job and job.window == 0 and not job.exhausted:
            self.step_job(job)

    def job_page_over(self, job: Job, in_window: bool) -> None:
        job.inflight -= 1
        job.window -= in_window
        self.go_on(job)

    def go_on(self, job: Job) -> None:
        """With one page fewer in flight a job continues; one that idle time began asks again."""
        if job.idle and job.inflight == 0:
            self.end_grant(job)
            job.granted = False
        else:
            self.step_job(job)

    # --- a drive at rest ---------------------------------------------------------------------

    def set_idle_alarm(self, at: int) -> None:
        self.idle_alarm = True
        self.set_event(at, self.maybe_idle)

    def maybe_idle(self) -> None:
        self.idle_alarm = False
        if self.outstanding > 0:
            return
        due = self.rests_since + self.config.idle_after
        if due > self.now:
            self.set_idle_alarm(due)
            return
        self.is_idle = True
        self.next_idle_page = max(self.next_idle_page, self.now)
        self.ask_all_idle()

    def ask_all_idle(self) -> None:
        dies = len({p.die for p in self.planes})
        first = self.idle_die
        for turn in range(first, first + dies):
            self.ask_idle(turn % dies)
        self.settle()

    def ask_idle(self, die: int) -> None:
        """A die without idle work begins a page of a full cache block, or its erase."""
        if self.idle_work.get(die, 0) > 0:
            return
        if self.now < self.next_idle_page:
            if not self.pace_alarm:
                self.pace_alarm = True
                at = self.next_idle_page
                self.todo.append(lambda: self.set_event(at, self.pace_over))
            return
        cache = self.regions[0]
        planes = [p for p in self.planes if p.die == die]
        turn = self.idle_turns.get(die, 0)
        for i in range(len(planes)):
            plane = planes[(turn + i) % len(planes)]
            job = plane.jobs[cache]
            if job is not None and not job.rests:
                continue
            block = self.best_victim(cache, plane) if job is None else job.block
            if block is None:
                continue
            self.idle_turns[die] = turn + i + 1
            self.idle_work[die] = self.idle_work.get(die, 0) + 1
            if job is None:
                block.phase = "victim"
                job = plane.jobs[cache] = Job(cache, plane, block, idle=True)
            job.granted = True
            self.step_job(job)
            return

    def pace(self, die: int) -> None:
        if self.config.idle_rate != (0, 0):
            time = transfer(self.config.idle_rate, self.units_per_page * self.config.unit)
            self.next_idle_page += time
            self.idle_die = die + 1

    def pace_over(self) -> None:
        self.pace_alarm = False
        if self.is_idle:
            self.ask_all_idle()

    def end_grant(self, job: Job) -> None:
        if job.idle and job.granted:
            self.idle_work[job.plane.die] -= 1
