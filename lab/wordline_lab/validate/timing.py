"""Unloaded latency and peak bandwidth of random geometries, from the numbers of the device file."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from wordline_lab.validate.drives import Drive
from wordline_lab.validate.outcome import Outcome

# Levels of the hierarchy that a page number steps through, and the case that begins with each.
FIRST_LEVEL = {
    "read over channels": "C",
    "read over dies of a channel": "D",
    "read over planes of a die": "P",
}


def random_drive(random_: random.Random) -> Drive:
    """Return a drive of any shape with any times, of at most 64 planes and small blocks."""
    bits = random_.randint(1, 4)
    sector = random_.choice([512, 1024, 4096])
    page = sector * random_.choice([1, 2, 4, 8])
    some = random_.randint
    shape = Drive(
        logical_pages=0,
        channels=some(1, 4),
        chips=some(1, 2),
        dies=some(1, 4),
        planes=some(1, 2),
        blocks=some(16, 40),
        wordlines=some(4, 24),
        page=page,
        sector=sector,
        read=sorted(some(20_000, 120_000) for _ in range(bits)),
        program=sorted(some(100_000, 3_000_000) for _ in range(bits)),
        erase=some(1_000_000, 9_000_000),
        command_read=some(0, 500),
        command_program=some(0, 500),
        bus_ns_per_byte=some(1, 6),
        host_ns_per_byte=some(0, 2),
        host_read=some(0, 3000),
        host_write=some(0, 3000),
        parallel=random_.choice(["die", "plane"]),
        order="".join(random_.sample("CWDP", 4)),
    )
    physical = shape.plane_count * shape.blocks * shape.pages_per_block
    return replace(shape, logical_pages=physical * 3 // 4)


def _expected(case: str, drive: Drive, random_: random.Random) -> tuple[Drive, str, str, int]:
    """Return drive, workload, initial state, and the latency in ns that the parts add up to."""
    count = {"C": drive.channels, "W": drive.chips, "D": drive.dies, "P": drive.planes}
    if case in FIRST_LEVEL:
        level = FIRST_LEVEL[case]
        order = level + "".join(c for c in drive.order if c != level)
        if count[level] == 1:
            wider: dict[str, Any] = {{"C": "channels", "D": "dies", "P": "planes"}[level]: 3}
            drive = replace(drive, **wider)
            physical = drive.plane_count * drive.blocks * drive.pages_per_block
            drive = replace(drive, logical_pages=physical * 3 // 4)
            count[level] = 3
        drive = replace(drive, order=order)
        pages = count[level]
    else:
        pages = 1
    # A drive filled in order: page n lies in plane n mod planes, as number n div planes there.
    group = random_.randrange(drive.logical_pages // 2 // drive.plane_count // pages)
    first = group * drive.plane_count
    kind = (first // drive.plane_count) % drive.bits
    sectors = drive.page // drive.sector
    wanted = random_.randint(1, sectors) if case == "read part of a page" else sectors
    size = wanted * drive.sector
    total = size * pages
    place = f"offset={first * drive.page}B,span={total}B"
    transfer = drive.bus_ns_per_byte * size
    if case == "program a page":
        # The first program of an erased plane is of an LSB page.
        flash = drive.command_program + transfer + drive.program[0]
        host = drive.host_write + drive.host_ns_per_byte * total
        workload, initial = "uniform:", "fresh"
    else:
        sense = drive.command_read + drive.read[kind]
        if case == "read over dies of a channel" or (
            case == "read over planes of a die" and drive.parallel == "plane"
        ):
            flash = sense + pages * transfer  # they sense together and share the bus
        elif case == "read over planes of a die":
            # One array, then one bus: a flow shop of equal jobs.
            flash = sense + transfer + (pages - 1) * max(sense, transfer)
        else:
            flash = sense + transfer
        host = drive.host_read + drive.host_ns_per_byte * total
        workload, initial = "uniform:read=100%,", "fill:100%,order=seq"
    workload += f"bs={total}B,qd=1,requests=1,{place}"
    return drive, workload, initial, flash + host


def unloaded(*, case: str, geometries: int) -> Outcome:
    """Count the random geometries on which one request takes exactly the expected time."""
    exact, wrong, data = 0, "", []
    for number in range(geometries):
        random_ = random.Random(f"{case} {number}")
        drive, workload, initial, expected = _expected(case, random_drive(random_), random_)
        latencies = drive.run(workload, initial=initial).latency_us
        ours = round((latencies.write or latencies.read).mean * 1000)
        data.append({"geometry": number, "expected_ns": expected, "ours_ns": ours})
        exact += ours == expected
        if ours != expected and not wrong:
            wrong = f"geometry {number} takes {ours} ns, not {expected} ns"
    return Outcome(exact, theirs=geometries, wrong=wrong, data={"geometries": data})


def _bounds(drive: Drive, op: str) -> dict[str, float]:
    """Return the ns that each kind of resource needs for a byte, if the others cost nothing."""
    planes_of_array = drive.planes if drive.parallel == "die" else 1
    arrays = drive.plane_count / planes_of_array
    if op == "read":
        array = drive.command_read + sum(drive.read) / drive.bits
        bus = drive.bus_ns_per_byte * drive.page
    else:
        array = sum(drive.program) / drive.bits
        bus = drive.command_program + drive.bus_ns_per_byte * drive.page
    return {
        "array": array / arrays / drive.page,
        "bus": bus / drive.channels / drive.page,
        # A plane's register holds a page from the first to the last of it.
        "plane": (array + bus) / drive.plane_count / drive.page,
        "host": drive.host_ns_per_byte,
    }


def bandwidth(*, case: str, geometries: int) -> Outcome:
    """Return the lowest share of its peak bandwidth that a random geometry reaches."""
    op = "read" if case.startswith("reads") else "write"
    bottleneck = case.split(", ")[1].removesuffix("-bound")
    found: list[dict[str, float]] = []
    number = 0
    while len(found) < geometries:
        random_ = random.Random(f"{case} {number}")
        number += 1
        drive = replace(random_drive(random_), host_read=0, host_write=0)
        if bottleneck == "bus":
            drive = replace(
                drive,
                page=16384,
                sector=4096,
                dies=4,
                bus_ns_per_byte=random_.randint(6, 20),
                read=[t // 8 for t in drive.read],
                program=[t // 40 for t in drive.program],
            )
        elif bottleneck == "host":
            drive = replace(drive, page=16384, host_ns_per_byte=random_.randint(20, 40))
        drive = replace(drive, blocks=64, wordlines=68)
        physical = drive.plane_count * drive.blocks * drive.pages_per_block
        # In whole rounds of the planes, so that all have the same work.
        drive = replace(drive, logical_pages=physical // 2 // drive.plane_count * drive.plane_count)
        bounds = _bounds(drive, "read" if op == "read" else "program")
        order = sorted(bounds, key=bounds.__getitem__, reverse=True)
        # Arrays and planes are one bottleneck where each plane has an array of its own.
        if bottleneck == "array":
            chief = bounds["plane"] if order[0] == "plane" else bounds["array"]
            rivals = [bounds["bus"], bounds["host"]]
            if order[0] == "array":
                rivals.append(bounds["plane"])
        else:
            chief = bounds[bottleneck]
            rivals = [v for k, v in bounds.items() if k != bottleneck]
        if max(rivals) > chief * 2 / 3:
            continue
        # In whole wordlines too: 408 is a multiple of 2, 3 and 4 bits per cell.
        requests = min(drive.logical_pages, drive.plane_count * 408)
        share = 100 if op == "read" else 0
        report = drive.run(
            f"sequential:read={share}%,bs={drive.page}B,qd={drive.plane_count * 4},"
            f"requests={requests}",
            initial="fill:100%,order=seq" if op == "read" else "fresh",
        )
        rate = report.throughput.mb_per_s
        peak = 1e3 / chief
        found.append({"geometry": number - 1, "peak_mb_per_s": peak, "ours_mb_per_s": rate})
    shares = [one["ours_mb_per_s"] / one["peak_mb_per_s"] for one in found]
    over = max(shares)
    wrong = f"one is {over:.6f} of what its busiest resource allows" if over > 1 + 1e-9 else ""
    return Outcome(min(shares), theirs=1.0, wrong=wrong, data={"geometries": found})
