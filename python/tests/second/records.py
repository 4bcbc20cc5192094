"""Requests, operations, blocks and planes, with all that is kept of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter

# Order of service.
READ, URGENT, WRITE, BACKGROUND = 1, 2, 3, 4
IN_ORDER = attrgetter("service", "order")  # of operations, whoever goes first

# Who may share a program: what comes from another pool takes what is free, what is collected within
# the pool may open its reserve, and a group may do what its most privileged page may.
HOST, MOVED, COLLECTED = "host", "moved", "collected"


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

    def joins(self, units: int, page: int, pages: int) -> bool:
        """Whether units begin no program, with so many in a page, so many pages in a program."""
        if units >= page:
            return self.group is not None
        waiting = self.pages * page + len(self.page)
        return waiting > 0 and waiting + units <= pages * page

    def draws(self, units: int, page: int, pages: int) -> bool:
        """Whether they join, and leave no part of a page behind."""
        leaves_some = units >= page and bool(self.page) and self.pages == pages - 1
        return self.joins(units, page, pages) and not leaves_some

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
