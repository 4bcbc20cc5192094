"""A drive under test, its measurements, and the steady-state rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import linear_regression
from typing import Any

from wordline import Drive, UserError
from wordline.drive import Feed, programmed_bytes
from wordline.quantity import significant

#: Number of rounds over which steady state is determined (PTS 2.0.2, definition of steady state).
WINDOW = 5
#: Maximum range, and maximum rise or fall of the least-squares line, as shares of the mean.
RANGE, SLOPE = 0.20, 0.10
#: Requests without end: a measurement stops by time.
_ENDLESS = 10**15
#: The latencies of a measurement: in `Cell`, and in a report.
_POINTS = ("mean", "p99", "p999", "p9999", "max")


def size_name(size: int) -> str:
    """Return a size with its unit: ``4 KiB``, ``512 B``."""
    return f"{size // 1024} KiB" if size % 1024 == 0 else f"{size} B"


@dataclass(frozen=True)
class Load:
    """Requests of one kind, in a closed loop."""

    read: float  #: Share of reads, 0 to 1.
    size: int  #: Bytes per request.
    depth: int = 32  #: Outstanding requests.
    sequential: bool = False  #: Consecutive addresses, otherwise uniform.

    @property
    def mix(self) -> str:
        """Percentages of reads and of writes: ``65/35``."""
        return f"{self.read:.0%}".rstrip("%") + f"/{1 - self.read:.0%}".rstrip("%")

    @property
    def name(self) -> str:
        """As ``random 4 KiB 0/100 QD32``."""
        order = "sequential" if self.sequential else "random"
        return f"{order} {size_name(self.size)} {self.mix} QD{self.depth}"

    def spelling(self, bound: str) -> str:
        """Return the workload with a limit such as ``bytes=2x``."""
        name = "sequential" if self.sequential else "uniform"
        return f"{name}:read={self.read:.0%},bs={self.size}B,qd={self.depth},{bound}"


@dataclass(frozen=True)
class Cell:
    """A measurement."""

    #: The part of the test, and the round or position in it, from 1.
    stage: str
    round: int
    load: str  #: `Load.name`.
    #: As in `Load`; the size in bytes.
    mix: str
    size: int
    depth: int
    #: Start in simulated time, and duration.
    start_s: float
    seconds: float
    requests: int  #: Completed requests.
    #: Of reads and writes together; a MB has 10^6 bytes.
    iops: float
    mb_per_s: float
    #: Latencies of all requests, reads and writes together.
    mean_us: float | None
    p99_us: float | None
    p999_us: float | None
    p9999_us: float | None
    max_us: float | None
    #: Drive writes of the host until its end, without preconditioning.
    drive_writes: float
    #: Bytes programmed over bytes written by the host, rounded up to whole mapping pages as in all
    #: reports; None without writes.
    waf: float | None


@dataclass(frozen=True)
class Steady:
    """Result of the steady-state rule for the last rounds."""

    figure: str  #: Name of the figure.
    #: The rounds of the window, from 1.
    first: int
    last: int
    #: Over these rounds: mean, range, and rise or fall of the least-squares line; the last two as
    #: shares of the mean.
    mean: float
    range: float
    slope: float

    @property
    def holds(self) -> bool:
        """Whether the drive is in steady state."""
        return self.range <= RANGE and self.slope <= SLOPE

    @property
    def says(self) -> str:
        """Return the verdict with its figures: ``steady in rounds 2 to 6 (IOPS: ...)``."""
        which = "steady" if self.holds else "not steady"
        figures = f"range {100 * self.range:.1f} %, slope {100 * self.slope:.1f} %"
        if math.isinf(self.range):
            figures = "no request completed; a measurement is too short"
        return f"{which} in rounds {self.first} to {self.last} ({self.figure}: {figures})"


def judge(figure: str, values: Sequence[float]) -> Steady | None:
    """Apply the steady-state rule to the last five values of a figure; None if there are fewer.

    PTS 2.0.2, definition of steady state: over five rounds the range is at most 20 % of the mean,
    and the least-squares line changes by at most 10 % of it from the first to the last.
    """
    if len(values) < WINDOW:
        return None
    last = values[-WINDOW:]
    mean = sum(last) / WINDOW
    window = (figure, len(values) - WINDOW + 1, len(values), mean)
    if mean <= 0:
        return Steady(*window, math.inf, 0.0)
    slope, _ = linear_regression(range(WINDOW), last)
    return Steady(*window, (max(last) - min(last)) / mean, abs(slope) * (WINDOW - 1) / mean)


@dataclass(frozen=True)
class Result:
    """The result of a test."""

    #: The configuration; ``cell_s`` in seconds of simulated time.
    test: str
    device: str
    scheme: str
    seed: int
    cell_s: float
    cells: Sequence[Cell]  #: Every measurement, in order.
    #: The steady state of each part of the test for which it is determined, by name.
    steady: Mapping[str, Steady]

    @property
    def is_steady(self) -> bool:
        """Whether every part that must be steady is steady."""
        return all(s.holds for s in self.steady.values())

    def last(self, load: Load, stage: str) -> list[Cell]:
        """Return the cells of a load in the rounds over which steady state was determined."""
        own = [c for c in self.cells if c.stage == stage and c.load == load.name]
        judged = self.steady.get(stage)
        return [c for c in own if judged is None or judged.first <= c.round <= judged.last]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row for each measurement, with the configuration."""
        about = {"test": self.test, "device": self.device, "scheme": self.scheme, "seed": self.seed}
        return [about | asdict(cell) for cell in self.cells]


@dataclass
class Bench:
    """A drive under test: purged, then measured under one load after another."""

    #: As for `wordline.run`.
    device: str
    scheme: str
    set: Mapping[str, object]
    seed: int
    cell_s: float  #: Length of a measurement, in seconds of simulated time.
    rounds: int  #: Maximum rounds until steady state.
    #: Called with a line of text after each round, and with what is done after each measurement.
    told: Callable[[str], object] | None = None
    seen: Callable[[str, float | None], object] | None = None
    cells: list[Cell] = field(default_factory=list)
    steady: dict[str, Steady] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Purge the drive."""
        self.purge()

    def purge(self) -> None:
        """Start again with an empty drive."""
        self.drive = Drive(
            device=self.device, scheme=self.scheme, set=self.set, seed=self.seed, initial="fresh"
        )
        self.logical = self.drive.look().logical_bytes
        self.written = 0
        self._feeds: dict[Load, Feed] = {}
        self._last: Load | None = None

    @property
    def now_s(self) -> float:
        """The drive's time, in seconds."""
        return self.drive.now_ns / 1e9

    def precondition(self, load: Load, drive_writes: int) -> None:
        """Write a multiple of the capacity, without measurement."""
        feed = self.drive.feed(load.spelling(f"bytes={drive_writes}x"), seed=self.seed)
        wrote = 0
        while not feed.is_over:
            self.see("preconditioning", wrote / (drive_writes * self.logical))
            found = feed.measure(until_ns=self.drive.now_ns + 10**9)
            self._checked(found.failed)
            wrote += found.write_bytes
        self._complete()

    def tell(self, text: str) -> None:
        """Say what a round came to."""
        if self.told is not None:
            self.told(text)

    def see(self, what: str, share: float | None = None) -> None:
        """Say what goes on, and which share of it is done."""
        if self.seen is not None:
            self.seen(what, share)

    def measure(self, stage: str, round: int, load: Load, seconds: float | None = None) -> Cell:
        """Apply a load for some seconds, by default those of a cell, and store the result.

        A load continues where its last measurement ended; outstanding requests of another complete
        first. Raises `UserError`: requests fail, since the drive is out of space or worn out.
        """
        if load != self._last:
            self.written += self._complete()
        self._last = load
        length = self.cell_s if seconds is None else seconds
        feed = self._feeds.get(load)
        if feed is None:
            seed = self.seed + 1 + len(self._feeds)
            feed = self.drive.feed(load.spelling(f"requests={_ENDLESS}"), seed=seed)
            self._feeds[load] = feed
        start, programmed, pages = self.now_s, programmed_bytes(self.drive), self._page_bytes()
        found = feed.measure(until_ns=self.drive.now_ns + round_ns(length))
        self._checked(found.failed)
        wrote, requests, took = found.write_bytes, found.requests, found.seconds
        together = found.to_dict()["all_us"] or {}
        self.written += wrote
        pages = self._page_bytes() - pages
        cell = Cell(
            stage=stage,
            round=round,
            load=load.name,
            mix=load.mix,
            size=load.size,
            depth=load.depth,
            start_s=start,
            seconds=took,
            requests=requests,
            iops=requests / took,
            mb_per_s=(found.read_bytes + wrote) / took / 1e6,
            **{f"{point}_us": together.get(point) for point in _POINTS},
            drive_writes=self.written / self.logical,
            waf=(programmed_bytes(self.drive) - programmed) / pages if pages else None,
        )
        self.cells.append(cell)
        return cell

    def _page_bytes(self) -> int:
        """Return the bytes that the host has written so far, in whole mapping pages."""
        return int(self.drive.look().host_page_bytes)

    def rest(self, seconds: float) -> None:
        """Leave the drive idle after its outstanding requests have completed."""
        self.written += self._complete()
        self.drive.run(until_ns=self.drive.now_ns + round_ns(seconds))

    def _complete(self) -> int:
        """Complete the outstanding requests; return the bytes that they wrote."""
        wrote = 0
        while self.drive.look().outstanding:
            wrote += sum(c.bytes for c in self.drive.run(most=1) if c.op == "write")
        return wrote

    def until_steady(self, stage: str, figure: str, of: Callable[[int], float]) -> Steady:
        """Repeat rounds until a figure is in steady state or the maximum is reached.

        ``of`` runs the round of a number, and returns the figure.
        """
        values: list[float] = []
        while True:
            self.see(f"{stage}, round {len(values) + 1}")
            values.append(of(len(values) + 1))
            self.tell(f"{stage}, round {len(values)}: {figure} {significant(values[-1])}")
            judged = judge(figure, values)
            if judged and (judged.holds or len(values) >= self.rounds):
                self.steady[stage] = judged
                return judged

    def result(self, test: str) -> Result:
        """Return all measurements."""
        about = (test, self.device, self.scheme, self.seed, self.cell_s)
        return Result(*about, self.cells, self.steady)

    def _checked(self, failed: int) -> None:
        if failed:
            raise UserError(
                f"{failed} requests failed on {self.device} under {self.scheme}: the drive is out "
                "of space or worn out; increase over-provisioning with a smaller capacity.logical"
            )


def round_ns(seconds: float) -> int:
    """Return seconds as whole nanoseconds, at least one."""
    return max(1, round(seconds * 1e9))
