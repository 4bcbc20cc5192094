"""A drive and a scheme, as the second simulator takes them."""

from __future__ import annotations

from dataclasses import dataclass, field


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
    suspend: dict | None = None  # program, erase (a time or None), resume, limit, ..._min_left
    order: str = "CWDP"
    trigger: tuple[str, int] = ("free_blocks", 200_000_000)
    victim: str = "greedy"
    copies_apart: bool = False  # copied pages fill blocks of their own
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

    @property
    def goes_anywhere(self) -> bool:
        """Whether a page may go to any plane, whatever its number."""
        return self.order in ("dynamic", "round-robin")


def transfer(rate: tuple[int, int], size: int) -> int:
    """Time for so many bytes, rounded up."""
    amount, ns = rate
    return -(-size * ns // amount) if amount else 0


def share_down(share: int, of: int) -> int:
    return share * of // 1_000_000_000


def share_up(share: int, of: int) -> int:
    return -(-share * of // 1_000_000_000)
