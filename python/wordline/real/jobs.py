"""fio jobs that identify a drive: the purpose of each, what it writes, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wordline.quantity import gigabytes

#: Interval of the lines in fio's bandwidth logs, in milliseconds; shorter around an idle time.
LOG_MS, REST_MS = 250, 100
#: Bytes of a sequential request, and queue depth.
BLOCK, DEPTH = 128 << 10, 32
#: Number of reads or writes in a job that measures latency, and in one that tells hits of an L2P
#: cache from misses.
SAMPLES, LOOKUPS = 2000, 20_000
#: Logical bytes of a page of an L2P table, as 4 KiB of entries of 4 B for 4 KiB have it, and the
#: reads for each such page that bring an L2P cache to its steady hit rate.
MAP_PAGE, WARM = 4 << 20, 3
#: Seconds of idle time after a full cache, numbers of outstanding reads, shares of the drive that
#: reads span in percent, requests per second of each direction, and zones of the drive, each of
#: which is overwritten in order.
RESTS = (1, 3, 10, 30, 100, 600)
DEPTHS = (4, 16, 64, 256)
SPANS = (1, 2, 3, 5, 10, 30, 45, 60)
RATES = (1_000, 3_000, 10_000, 30_000, 100_000)
ZONES = (8192, 2048, 512, 128)
#: Number of requests of a zone above which they have the usual size.
ROUND = 32
#: Where these spans begin, in per cent of the drive: an SLC cache that idle time does not empty
#: holds the first or the last data of a fill.
SPAN_AT = 35
#: Amounts written before an idle time and after it, and before the idle time of a half-full drive,
#: as shares of the capacity.
BURST, AFTER, HALF = 0.20, 0.05, 0.50
#: Seconds of the idle time of a half-full drive.
HALF_REST = 600
#: Share of the capacity that is written to fill the write buffer, and bytes of a request.
BUFFER, BUFFER_BLOCK = 0.01, 16 << 10


@dataclass(frozen=True)
class Writes:
    """Writes of one size with a log, both as a fio job and for a simulated drive."""

    #: ``write`` in order, or ``randwrite``.
    order: str
    block: int
    depth: int
    #: Shares of the drive: what is written before an idle time, and after it.
    share: float = 1.0
    rest_s: int = 0
    after: float = 0.0
    loops: int = 1
    #: Interval of the lines of the log, in milliseconds.
    log_ms: int = LOG_MS

    @property
    def drive_writes(self) -> float:
        """Number of drive writes."""
        return (self.share + self.after) * self.loops

    def lines(self, capacity: int) -> Sequence[str]:
        """Return the lines of a job file for a drive of this many bytes."""
        size = f"{self.block >> 20}m" if self.block >> 20 else f"{self.block >> 10}k"
        lines = [f"rw={self.order}", f"bs={size}", f"iodepth={self.depth}"]
        if self.order == "randwrite":
            lines.append("norandommap")
        lines.append(f"size={100 * (self.share + self.after):g}%")
        if self.loops > 1:
            lines.append(f"loops={self.loops}")
        if self.rest_s:
            blocks = max(1, int(self.share * capacity) // self.block)
            lines += [f"thinktime={self.rest_s}s", f"thinktime_blocks={blocks}"]
        return lines

    def workloads(self) -> list[tuple[str, int]]:
        """Return equivalent workloads, each with the seconds of idle time after it."""
        kind = "sequential" if self.order == "write" else "uniform"
        words = f"{kind}:read=0%,bs={self.block}B,qd={self.depth},bytes="
        found = [(f"{words}{self.share * self.loops:g}x", self.rest_s)]
        if self.after:
            found.append((f"{words}{self.after:g}x,offset={100 * self.share:g}%", 0))
        return found


@dataclass(frozen=True)
class Job:
    """A job file: its purpose, what it does, and how much it writes."""

    name: str
    #: What it identifies, for the comment at its head.
    purpose: str
    #: Lines of its sections for a drive of this many bytes, without those that all jobs share; a
    #: section has the name of its job if there is one.
    lines: Callable[[int], Sequence[str]]
    #: About how long it takes at the rates of a drive, and its drive writes.
    time: str
    drive_writes: float = 0.0
    #: Whether the drive is erased before it, and the writes with a log.
    erased: bool = False
    writes: Writes | None = None
    #: Bytes that it writes in addition, independent of the capacity.
    fixed: int = 0
    #: Lines of a section that brings the drive to the state to be measured, in the same way.
    before: Callable[[int], Sequence[str]] | None = None
    #: Seconds of idle time before it begins.
    rest_s: int = 0

    @property
    def reads_only(self) -> bool:
        """Whether it leaves the data on the drive unchanged."""
        return not self.written(1 << 40)

    def written(self, capacity: int) -> float:
        """Return the bytes that it writes to a drive of this many bytes."""
        return self.drive_writes * capacity + self.fixed

    @property
    def section(self) -> str:
        """The name of its section, and of the job in fio's output."""
        return self.name[3:]

    def text(self, capacity: int) -> str:
        """Return the job file for a drive of this many bytes."""
        written = self.written(capacity)
        share = f"{written / capacity:.3g} drive writes"
        lost = "# Reads only." if self.reads_only else "# Overwrites the drive. All data are lost."
        if self.erased:
            lost = "# Erase the drive before: nvme format -s1, or blkdiscard. All data are lost."
        lines = [
            f"# {self.purpose}.",
            f"# Writes {gigabytes(written)} ({share}); takes {self.time}.",
            lost,
            f"# {' '.join(self.command('/dev/nvme0n1'))}",
        ]
        for at, section in enumerate(self.sections(capacity)):
            lines += [*section[:1], *(["stonewall"] if at else []), *section[1:]]
        return "\n".join(lines) + "\n"

    def sections(self, capacity: int) -> list[list[str]]:
        """Return the lines of each section, the measured one last, for a drive of this size."""
        shared = ["ioengine=libaio", "direct=1", "refill_buffers=1"]
        found = [[f"[{self.section}]", *shared, *self.lines(capacity)]]
        if self.before is not None:
            found.insert(0, ["[before]", *shared, *self.before(capacity)])
        if self.rest_s:
            found[0].append(f"startdelay={self.rest_s}")
        return found

    def command(self, drive: str, ending: str = "json") -> list[str]:
        """Return the words of the command that runs it in the folder of the job files.

        The output is written to a file with the name of the job and this extension.
        """
        words = ["fio", f"{self.name}.fio", f"--filename={drive}"]
        words += [f"--output={self.name}.{ending}", "--output-format=json"]
        if self.writes is not None:
            words += [f"--write_bw_log={self.name}", f"--log_avg_msec={self.writes.log_ms}"]
        return words


def _of(*lines: str) -> Callable[[int], Sequence[str]]:
    return lambda _: lines


def _random(kind: str, depth: int, *more: str) -> Callable[[int], Sequence[str]]:
    return _of(f"rw={kind}", "bs=4k", f"iodepth={depth}", "norandommap", *more)


def _logged(name: str, purpose: str, writes: Writes, time: str, *, erased: bool = False) -> Job:
    return Job(name, purpose, writes.lines, time, writes.drive_writes, erased, writes)


def _lookups(span: int) -> Job:
    """Return a job of single reads over a share of the drive in per cent, its L2P cache warm.

    An idle time before the first of them lets the drive move what its SLC cache holds.
    """
    where = (f"offset={SPAN_AT}%", f"size={span}%")

    def before(capacity: int) -> Sequence[str]:
        count = max(SAMPLES, WARM * capacity * span // 100 // MAP_PAGE)
        return _random("randread", 1, *where, f"number_ios={count}")(capacity)

    rest_s = RESTS[-1] if span == SPANS[0] else 0
    return Job(
        f"05-span-{span}",
        f"4 KiB read latency over {span} % of the drive: L2P cache",
        _random("randread", 1, *where, f"number_ios={LOOKUPS}"),
        (f"{rest_s} s, and " if rest_s else "") + "seconds to minutes",
        before=before,
        rest_s=rest_s,
    )


def _zones(number: int) -> Job:
    """Return a job of writes to this many zones of a drive, in order within each."""

    def lines(capacity: int) -> Sequence[str]:
        block, blocks = zone(capacity, number)
        what = (f"rw=randwrite:{blocks}", f"bs={block}", f"blockalign={block * blocks}")
        return (*what, f"iodepth={DEPTH}", "norandommap", "size=100%")

    purpose = f"random writes of 1/{number} of the drive: unit of GC, above which WAF is 1"
    return Job(f"12-zones-{number}", purpose, lines, "a third of 09-uniform, and less", 1.0)


def zone(capacity: int, number: int) -> tuple[int, int]:
    """Return bytes and number of the requests of one of a number of equal zones of a drive."""
    size = max(4096, capacity // number)
    blocks = max(1, round(size / BLOCK))
    # Many requests of one size come as close to the zone as a few of another.
    block = BLOCK if blocks > ROUND else size // blocks // 4096 * 4096
    return block, blocks


#: Writes that fill the write buffer.
BUFFERED = Writes("write", BUFFER_BLOCK, 64, BUFFER, log_ms=1)
_ONE = f"number_ios={SAMPLES}"
#: In the order in which they run: each starts with the drive as the previous one left it.
JOBS: tuple[Job, ...] = (
    _logged(
        "01-fill",
        "size of the SLC cache, rate in it and past it; rate of the flash",
        Writes("write", BLOCK, DEPTH),
        "capacity over the rate past the cache: 10 min to 3 h for 1 TB",
        erased=True,
    ),
    Job(
        "02-read",
        "sequential read rate, which the link or the buses limit",
        _of("rw=read", "bs=128k", f"iodepth={DEPTH}", "size=10%"),
        "under a minute",
    ),
    Job(
        "03-latency",
        "4 KiB read latency at QD1: array, transfer and controller",
        _random("randread", 1, _ONE, "size=100%"),
        "seconds",
    ),
    *(
        Job(
            f"04-depth-{depth}",
            f"4 KiB read IOPS at QD{depth}: units that sense in parallel",
            _random("randread", depth, "size=100%", f"number_ios={min(SAMPLES * depth, 100_000)}"),
            "seconds",
        )
        for depth in DEPTHS
    ),
    *map(_lookups, SPANS),
    *(
        _logged(
            f"06-rest-{rest}",
            f"SLC cache after {rest} s of rest, drive full",
            Writes("write", BLOCK, DEPTH, BURST, rest, AFTER, log_ms=REST_MS),
            f"{rest} s, and a quarter of 01-fill",
        )
        for rest in RESTS
    ),
    Job(
        "07-read-burst",
        "4 KiB read latency at once after a burst",
        _random("randread", 1, _ONE, "size=1%"),
        "seconds",
        0.01,
        before=_of("rw=write", "bs=128k", f"iodepth={DEPTH}", "size=1%"),
    ),
    *(
        Job(
            f"08-{name}",
            f"4 KiB write latency {what}",
            _random("randwrite", 1, _ONE, "size=100%", *more),
            "seconds to a minute",
            fixed=SAMPLES * 4096,
        )
        for name, what, more in (
            ("ack", "at QD1", ()),
            ("sync", "at QD1 with a flush behind each", ("fdatasync=1",)),
        )
    ),
    _logged(
        "09-uniform",
        "uniform 4 KiB writes: usable flash, from where the rate falls",
        Writes("randwrite", 4096, 128, loops=3),
        "3 capacities over the rate of random writes: an hour to days",
    ),
    _logged(
        "10-steady",
        "uniform 4 KiB writes in steady state: rate and WAF",
        Writes("randwrite", 4096, 128),
        "a third of 09-uniform",
    ),
    *(
        Job(
            f"11-rate-{rate}",
            f"latency at {rate:,} reads and {rate:,} writes of 4 KiB per second",
            _random("randrw", 256, "size=100%", f"rate_iops={rate},{rate}", "number_ios=60000"),
            f"{30_000 / rate:.2g} s and more",
            fixed=30_000 * 4096,
        )
        for rate in RATES
    ),
    *map(_zones, ZONES),
    _logged(
        "13-half",
        f"SLC cache after {HALF_REST} s of rest, drive half full",
        Writes("write", BLOCK, DEPTH, HALF, HALF_REST, BURST, log_ms=REST_MS),
        "two thirds of 01-fill",
        erased=True,
    ),
    _logged(
        "14-buffer",
        "write buffer: what is written at the rate of the link before that of the flash",
        BUFFERED,
        "seconds",
        erased=True,
    ),
)
