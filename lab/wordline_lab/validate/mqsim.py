"""MQSim 2022-10 on its own drives, against the figures that were recorded of it."""

from __future__ import annotations

from dataclasses import replace

import wordline
from wordline_lab import theory
from wordline_lab.validate.drives import Drive
from wordline_lab.validate.outcome import Outcome
from wordline_lab.validate.waf import MEASURED, WARM_UP, held_back, steady

# Device keys and workload of each recorded latency, on the device file `mqsim-qd1`.
CASES = {
    "random read 8 KiB": ({}, "uniform:read=100%,bs=8KiB,qd=1,requests=2000"),
    "random read 4 KiB": ({}, "uniform:read=100%,bs=4KiB,align=8KiB,qd=1,requests=2000"),
    "random read 16 KiB page": (
        {"medium.flash.page": "16KiB"},
        "uniform:read=100%,bs=16KiB,qd=1,requests=2000",
    ),
    "write 8 KiB": ({}, "uniform:bs=8KiB,qd=1,requests=2000"),
    "read 64 KiB in one plane": ({}, "uniform:read=100%,bs=64KiB,qd=1,requests=2000"),
}


def mqsim_unloaded(*, case: str) -> Outcome:
    """Mean latency at queue depth 1, in ns."""
    changes, workload = CASES[case]
    writes = "read=100%" not in workload
    report = wordline.run(
        device="mqsim-qd1",
        scheme="conventional",
        workload=workload,
        set=changes,
        initial="fresh" if writes else "preload",
    )
    latencies = report.latency_us
    one = latencies.write if writes else latencies.read
    wrong = "" if abs(one.max - one.mean) < 1e-6 else "the requests do not all take the same time"
    return Outcome(one.mean * 1000, wrong=wrong)


def mqsim_tlc() -> Outcome:
    """Mean latency of random reads of TLC pages, in ns; each time has 20 ns of MQSim's own."""
    drive = Drive(
        logical_pages=1024 * 768 * 9 // 10,
        wordlines=256,
        page=8192,
        sector=512,
        read=[40_020, 60_020, 80_020],
        program=[750_000] * 3,
        command_read=290,
        bus_ns_per_byte=3,
    )
    report = drive.run("uniform:read=100%,bs=8KiB,qd=1,requests=200K")
    # PCIe at 39 ns for 128 bytes, and 60 ns of the host: finer than a whole ns per byte.
    return Outcome(report.latency_us.read.mean * 1000 + 8192 * 39 / 128 + 60)


def _drive() -> Drive:
    # 7 % of the raw capacity are kept from the host, as MQSim counts over-provisioning; three
    # quarters of the rest hold data, and only they are written.
    raw = 8 * 512 * 256
    return Drive(
        logical_pages=raw * 93 // 100,
        channels=8,
        blocks=512,
        wordlines=256,
        page=16384,
        read=[75_000],
        program=[750_000],
        erase=3_800_000,
        bus_ns_per_byte=3,
        trigger=0.10,
        hard_reserve=2,
    )


OCCUPIED = 0.75


def mqsim_waf_steady(*, formula: str) -> Outcome:
    """WAF in steady state on MQSim's drive, against the mean field."""
    drive = _drive()
    user = int(drive.logical_pages * OCCUPIED)
    written = WARM_UP + MEASURED
    report = drive.run(
        f"uniform:bs=16KiB,qd=8,span=75%,bytes={written * user * drive.page}B",
        initial="fill:75%,order=random",
    )
    ours, half, least_free = steady(report, user * drive.page)
    free, open_ = held_back(drive)
    planes = drive.plane_count
    rho = theory.rho_effective(
        user, drive.blocks * planes, drive.pages_per_block, free * planes, open_ * planes
    )
    data = {"rho_effective": rho, "free_blocks_seen": least_free * drive.blocks}
    return Outcome(ours, half, getattr(theory, formula)(rho, drive.pages_per_block), data=data)


def mqsim_waf() -> Outcome:
    """WAF of the first million writes after two fills: full blocks, and blocks all alike."""
    drive = replace(_drive())
    ends = []
    # Aged: data fill nine tenths of the blocks, evenly, so that collection begins at once.
    aged = 0.93 * OCCUPIED / 0.90
    for valid in (1.0, aged):
        report = drive.run(
            "uniform:bs=16KiB,qd=8,span=75%,requests=1M",
            initial=f"fill:75%,order=random,valid={valid:.4g}",
        )
        ends.append(report.waf.total)
    ends.sort()
    return Outcome(sum(ends) / 2, ends=(ends[0], ends[1]), data={"ends": ends})
