"""The steps of each test of PTS 2.0.2; times that are in minutes there are in cells here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from wordline.pts.measured import Bench, Cell, Load, Result, judge
from wordline.quantity import significant

KIB = 1024
#: Workload-independent preconditioning: sequential writes of 128 KiB, two drive writes.
_FILL = Load(0.0, 128 * KIB, sequential=True)
_FILLS = 2

#: Read shares and sizes of the IOPS test.
IOPS_MIXES = (1.0, 0.95, 0.65, 0.5, 0.35, 0.05, 0.0)
IOPS_SIZES = (1024 * KIB, 128 * KIB, 64 * KIB, 32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB, 512)
#: Sizes of the throughput test.
THROUGHPUT_SIZES = (1024 * KIB, 128 * KIB)
#: Read shares and sizes of the latency test.
LATENCY_MIXES = (1.0, 0.65, 0.0)
LATENCY_SIZES = (8 * KIB, 4 * KIB, 512)
#: The load of write saturation and of host idle recovery.
SATURATING = Load(0.0, 4 * KIB)
#: Write saturation ends after this many drive writes or a day.
SATURATED = 4.0
DAY = 24 * 60
#: Drive writes between two lines of progress.
TELL = 0.5
#: Host idle recovery: seconds of writes, and of idle time after them; minutes of each idle time,
#: and of writes without idle time afterwards.
ACTIVE_S = 5.0
IDLE_S = (5.0, 10.0, 15.0, 25.0, 50.0)
HALF_HOUR = 30
#: Minimum repetitions of an idle time, if short cells leave room for fewer.
LEAST = 3
#: Loads of cross stimulus recovery, with their duration in minutes.
STIMULI = (
    ("sequential writes", Load(0.0, 1024 * KIB, sequential=True), 8 * 60),
    ("random writes", Load(0.0, 8 * KIB), 6 * 60),
    ("sequential writes again", Load(0.0, 1024 * KIB, sequential=True), 8 * 60),
)
#: With shorter cells, a stimulus also ends after this many drive writes.
STIMULUS_DRIVE_WRITES = 4.0


@dataclass(frozen=True)
class Test:
    """A test: its title, and what it does."""

    title: str
    run: Callable[[Bench], Result]


def iops(bench: Bench) -> Result:
    """Random requests of each size and mix, until 4 KiB writes are steady."""
    loads = [Load(read, size) for read in IOPS_MIXES for size in IOPS_SIZES]
    return _until_steady(bench, "iops", loads, "IOPS of 4 KiB writes")


def throughput(bench: Bench) -> Result:
    """Sequential reads and writes of each size, each on a purged drive."""
    for size in THROUGHPUT_SIZES:
        if bench.cells:
            bench.purge()
        read, write = (Load(share, size, sequential=True) for share in (1.0, 0.0))
        stage = f"{size // KIB} KiB"
        bench.precondition(write, _FILLS)

        def once(number: int, stage: str = stage, read: Load = read, write: Load = write) -> float:
            bench.measure(stage, number, read)
            return bench.measure(stage, number, write).mb_per_s

        bench.until_steady(stage, "MB/s of writes", once)
    return bench.result("throughput")


def latency(bench: Bench) -> Result:
    """Each size and mix at queue depth 1, until the mean latency of 4 KiB writes is steady."""
    loads = [Load(read, size, depth=1) for read in LATENCY_MIXES for size in LATENCY_SIZES]
    return _until_steady(bench, "latency", loads, "mean latency of 4 KiB writes")


def _until_steady(bench: Bench, test: str, loads: list[Load], figure: str) -> Result:
    """Repeat all loads until a figure of 4 KiB writes is steady."""
    bench.precondition(_FILL, _FILLS)
    judged = loads.index(Load(0.0, 4 * KIB, loads[0].depth))

    def once(number: int) -> float:
        cells: list[Cell] = []
        for load in loads:
            bench.see(f"{test}, round {number}: {load.name}", len(cells) / len(loads))
            cells.append(bench.measure(test, number, load))
        cell = cells[judged]
        return cell.iops if test == "iops" else cell.mean_us or 0.0

    bench.until_steady(test, figure, once)
    return bench.result(test)


def wsat(bench: Bench) -> Result:
    """Random 4 KiB writes to an empty drive: four drive writes, or a day."""
    due = TELL
    for number in range(1, DAY + 1):
        bench.see("wsat", max(bench.written / bench.logical / SATURATED, (number - 1) / DAY))
        cell = bench.measure("wsat", number, SATURATING)
        if cell.drive_writes >= due:
            bench.tell(f"{cell.drive_writes:.2f} drive writes, {cell.iops:,.0f} IOPS")
            due += TELL
        if cell.drive_writes >= SATURATED:
            break
    _judge(bench, "wsat", bench.cells)
    return bench.result("wsat")


def hir(bench: Bench) -> Result:
    """Random 4 KiB writes of 5 s alternate with idle time, half an hour for each idle time.

    Two drive writes come first: with short cells, the plateau of an empty drive would count as
    steady.
    """
    bench.precondition(SATURATING, _FILLS)
    bench.until_steady(
        "saturation",
        "IOPS of 4 KiB writes",
        lambda number: bench.measure("saturation", number, SATURATING).iops,
    )
    for idle in IDLE_S:
        stage = f"{idle:g} s idle"
        begin = bench.now_s
        iops: list[float] = []
        while len(iops) < LEAST or bench.now_s < begin + HALF_HOUR * bench.cell_s:
            bench.see(stage, (bench.now_s - begin) / (HALF_HOUR * bench.cell_s))
            bench.rest(idle)
            iops.append(bench.measure(stage, len(iops) + 1, SATURATING, ACTIVE_S).iops)
        bench.tell(f"{stage}: {iops[-1]:,.0f} IOPS")
        for number in range(1, HALF_HOUR + 1):
            bench.see(f"after {stage}", (number - 1) / HALF_HOUR)
            bench.measure(f"after {stage}", number, SATURATING)
    return bench.result("hir")


def xsr(bench: Bench) -> Result:
    """Sequential writes, random writes, and sequential writes again."""
    for stage, load, minutes in STIMULI:
        begin = bench.written
        own: list[Cell] = []
        goal = STIMULUS_DRIVE_WRITES * bench.logical if bench.cell_s < 60 else math.inf
        for number in range(1, minutes + 1):
            wrote = bench.written - begin
            bench.see(stage, max(wrote / goal, (number - 1) / minutes))
            own.append(bench.measure(stage, number, load))
            if bench.written - begin >= goal:
                break
        bench.tell(f"{stage}: {significant(own[-1].mb_per_s)} MB/s at the end")
        _judge(bench, stage, own, lambda cell: cell.mb_per_s, "MB/s")
    return bench.result("xsr")


def _judge(
    bench: Bench,
    stage: str,
    cells: list[Cell],
    of: Callable[[Cell], float] = lambda cell: cell.iops,
    figure: str = "IOPS of 4 KiB writes",
) -> None:
    found = judge(figure, [of(cell) for cell in cells])
    if found is not None:
        bench.steady[stage] = found


TESTS = {
    "iops": Test("IOPS", iops),
    "throughput": Test("Throughput", throughput),
    "latency": Test("Latency", latency),
    "wsat": Test("Write saturation", wsat),
    "hir": Test("Host idle recovery", hir),
    "xsr": Test("Cross stimulus recovery", xsr),
}
