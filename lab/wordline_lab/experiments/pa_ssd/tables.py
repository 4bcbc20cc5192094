"""Tables 1 and 2, and what follows from them: what claims measure."""

from __future__ import annotations

import numpy as np

from wordline import Report
from wordline.quantity import in_us
from wordline_lab.experiments.pa_ssd.measures import BASELINE, planes_of
from wordline_lab.reproduce.paper import Study


def configuration(study: Study) -> dict[str, float]:
    """Return Table 1 as the drive has it: times in us, the page in KiB, shares."""
    config = study.report("Fin", BASELINE).config["device"].to_dict()
    medium = config["media"][0]
    parts, tlc = medium["topology"], medium["modes"][2]
    raw, logical = (
        study.report("Fin", BASELINE).capacity[key] for key in ("physical_bytes", "logical_bytes")
    )
    program = [in_us(t) for t in tlc["program"][:3]]
    return {
        "channels": parts["channels"],
        "chips a channel": parts["chips_per_channel"],
        "planes a chip": parts["dies_per_chip"] * parts["planes_per_die"],
        "blocks a plane": medium["blocks_per_plane"],
        "pages a block": 3 * medium["wordlines_per_block"],
        "page KiB": float(medium["page"].removesuffix("KiB")),
        "transfer ns a byte": float(medium["bus"].removesuffix("ns/B")),
        "read us": in_us(tlc["read"][0]),
        "program LSB us": program[0],
        "program CSB us": program[1],
        "program MSB us": program[2],
        "erase ms": in_us(tlc["erase"]) / 1e3,
        "over-provisioning": 1 - logical / raw,
        "collection below": float(config["gc"]["trigger"]["free_slots"].removesuffix("%")) / 100,
    }


def configured(study: Study, item: str) -> float:
    """Return one value of Table 1 as the drive has it."""
    return float(configuration(study)[item])


def tracking_bytes(study: Study) -> float:
    """Bytes that track the free pages of a plane: three a block, one for each type (4.3.1)."""
    return 3.0 * configuration(study)["blocks a plane"]


def free_at_start(study: Study, workload: str) -> float:
    """Share of the drive's LSB pages that are free at the end of the first bin of the baseline."""
    report = study.report(workload, BASELINE)
    medium = report.config["device"]["media"][0]
    lsb = planes_of(report) * medium["blocks_per_plane"] * medium["wordlines_per_block"]
    return float(report.timeline.free_pages["lsb"][0]) / lsb


def several_candidates(study: Study, blocks: int = 200) -> float:
    """Share of programs before which a block under the relaxed constraints offers several types.

    Blocks of Table 1 are filled alone, each time with a page of one of the types that are
    candidates, each as likely (section 4.3.1: pages of a type in order; a CSB page once the LSB
    pages of its neighbours are programmed, an MSB page once their CSB pages are).
    """
    lines = int(configuration(study)["pages a block"]) // 3
    random = np.random.default_rng(1)
    several = programs = 0
    for _ in range(blocks):
        done = [0, 0, 0]
        while sum(done) < 3 * lines:
            there = [
                t
                for t in range(3)
                if done[t] < lines and (t == 0 or done[t - 1] >= min(done[t] + 2, lines))
            ]
            several += len(there) > 1
            programs += 1
            done[int(random.choice(there))] += 1
    return several / programs


def slowest_over_fastest(study: Study) -> float:
    """Latency of a write of one page that gets an MSB page over that of an LSB page, at zero load.

    The 95th percentile over the 10th, since each type serves a third.
    """
    points = study.report("1", BASELINE, "zero-load").latency_cdf.write
    tenth, last = (float(points[np.searchsorted(points[:, 1], q), 0]) for q in (0.1, 0.95))
    return last / tenth


def characteristics(report: Report) -> dict[str, float]:
    """Return a row of Table 2 as the run had it: volumes in GiB, pages of 8 KiB."""
    host = report.host
    gib = 2.0**30
    return {
        "requests": host.requests,
        "write ratio": host.write_requests / (host.read_requests + host.write_requests),
        "read GiB": host.read_bytes / gib,
        "write GiB": host.write_bytes / gib,
        "mean write pages": host.write_bytes / host.write_requests / 8192,
        "large write ratio": host.multi_page_writes / host.write_requests,
    }


def table_2(study: Study, workload: str, statistic: str) -> float:
    """Return one value of Table 2 as the run had it."""
    return characteristics(study.report(workload, BASELINE))[statistic]
