"""What the claims of PA-SSD are measured by.

Each function takes the study and the arguments that its claim gives, and returns one number, or
``None`` where what it looks for did not occur. Latencies are in milliseconds.
"""

from __future__ import annotations

import itertools
import re
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordline import Report
from wordline.quantity import in_us
from wordline.reproduce.paper import Study

BASELINE = "Baseline"
LIGHT = ("Fin", "RA", "DAP", "RBESS", "DTR", "Exch")
HEAVY = ("MSFS", "BS")
ALL = (*LIGHT, *HEAVY)
SCHEMES = ("US", "LFS", "SBS+US", "SBS+UBS", "QDS+US", "QDS+UBS")
PAGES = ("lsb", "csb", "msb")
#: Program times of the three types of pages without a wordline buffer, in ms (section 5.1).
PROGRAM_MS = {"lsb": 0.5, "csb": 2.1, "msb": 5.7}

# --- latencies -----------------------------------------------------------------------------------


def mean_ms(report: Report, kind: str = "write") -> float:
    """Mean latency of writes or reads, in ms."""
    return report.latency_us[kind].mean / 1e3


def latency_ms(study: Study, workload: str, scheme: str, kind: str = "write") -> float:
    """Mean latency of a scheme under a workload."""
    return mean_ms(study.report(workload, scheme), kind)


def relative(study: Study, workload: str, scheme: str, kind: str = "write") -> float:
    """Mean latency over that of the baseline."""
    return latency_ms(study, workload, scheme, kind) / latency_ms(study, workload, BASELINE, kind)


def normalized(
    study: Study,
    scheme: str,
    kind: str = "write",
    workloads: tuple[str, ...] = ALL,
    inverse: bool = False,
) -> float:
    """Mean over workloads of `relative`; one over it with `inverse`, as in "2.4 times"."""
    mean = fmean(relative(study, workload, scheme, kind) for workload in workloads)
    return 1 / mean if inverse else mean


def versus(study: Study, scheme: str, other: str, workloads: tuple[str, ...]) -> float:
    """Mean over workloads of a scheme's mean write latency over another's, less one."""
    return fmean(latency_ms(study, w, scheme) / latency_ms(study, w, other) - 1 for w in workloads)


def best_rank(study: Study, workload: str, scheme: str) -> float:
    """Return the place of a scheme among all by mean write latency; 1 is the fastest."""
    own = latency_ms(study, workload, scheme)
    return 1.0 + sum(latency_ms(study, workload, s) < own for s in (BASELINE, *SCHEMES))


def share_lowest(study: Study, scheme: str, workloads: tuple[str, ...]) -> float:
    """Share of workloads under which a scheme has the lowest mean write latency."""
    return fmean(best_rank(study, workload, scheme) == 1 for workload in workloads)


def share_worse(study: Study, scheme: str, other: str) -> float:
    """Share of workloads under which a scheme's mean write latency is above another's."""
    return fmean(latency_ms(study, w, scheme) > latency_ms(study, w, other) for w in ALL)


def over_other(study: Study, workload: str, scheme: str, other: str) -> float:
    """Mean write latency of a scheme over that of another."""
    return latency_ms(study, workload, scheme) / latency_ms(study, workload, other)


def beyond_mean(study: Study, workload: str, scheme: str, kind: str = "write") -> float:
    """Mean latency over the baseline's under a workload, less the mean of that over all."""
    return relative(study, workload, scheme, kind) - normalized(study, scheme, kind)


def unbuffered(study: Study, scheme: str) -> float:
    """Mean write latency over that with a buffer of unfinished wordlines, mean over Fin and DAP."""

    def cost(workload: str) -> float:
        buffered = study.report(workload, scheme, "buffered")
        return latency_ms(study, workload, scheme) / mean_ms(buffered)

    return fmean(map(cost, ("Fin", "DAP")))


def over_zero_load(study: Study, workload: str, scheme: str, zero_load_ms: float) -> float:
    """Mean write latency over what it would be without any queue."""
    return latency_ms(study, workload, scheme) / zero_load_ms


# --- types of pages ------------------------------------------------------------------------------


def shares(report: Report) -> dict[str, float]:
    """Share of the writes that each type of page dominates."""
    counts = report.flash.page_types.writes_dominated_by
    total = sum(counts[page] for page in PAGES)
    return {page: counts[page] / total for page in PAGES}


def dominated(study: Study, workload: str, scheme: str, page: str) -> float:
    """Share of the writes that one type dominates."""
    return shares(study.report(workload, scheme))[page]


def share_gap(study: Study, workload: str, scheme: str, other: str, page: str) -> float:
    """Share of the writes that one type dominates under a scheme, less that under another."""
    return dominated(study, workload, scheme, page) - dominated(study, workload, other, page)


def highest_share(study: Study, workload: str, page: str) -> float:
    """Return the largest share of writes that one type dominates under any scheme of PA-SSD."""
    return max(dominated(study, workload, scheme, page) for scheme in SCHEMES)


def lowest_of_all(study: Study, workload: str, page: str) -> float:
    """Share of the schemes of PA-SSD under which this type dominates the fewest writes."""

    def is_lowest(scheme: str) -> bool:
        found = shares(study.report(workload, scheme))
        return found[page] == min(found.values())

    return fmean(is_lowest(scheme) for scheme in SCHEMES)


def unevenness(study: Study, workload: str, scheme: str, other: str) -> float:
    """Spread of the three shares under a scheme, less that under another."""

    def spread(name: str) -> float:
        found = shares(study.report(workload, name)).values()
        return max(found) - min(found)

    return spread(scheme) - spread(other)


def success(study: Study, scheme: str) -> float:
    """Share of the parts that got the type asked for, under the workload with the least."""
    return min(as_asked(study, workload, scheme) for workload in ALL)


def as_asked(study: Study, workload: str, scheme: str) -> float:
    """Share of the parts of requests that got the type asked for."""
    return study.report(workload, scheme).flash.page_types.as_asked


def success_gap(study: Study, scheme: str) -> float:
    """Mean share as asked of all other schemes, less that of this one."""
    others = [s for s in SCHEMES if s != scheme]
    mean = fmean(as_asked(study, w, s) for w in ALL for s in others)
    return mean - fmean(as_asked(study, w, scheme) for w in ALL)


def collections_off_by(study: Study, scheme: str, group: str = "main") -> float:
    """Greatest relative difference of the number of erases from the baseline's, over workloads."""
    workloads = ALL if group == "main" else ("Fin",)

    def erases(workload: str, name: str) -> int:
        return study.report(workload, name, group).flash.erases["tlc"]

    return max(
        abs(erases(w, scheme) / erases(w, BASELINE) - 1) for w in workloads if erases(w, BASELINE)
    )


def pages_lost_each(report: Report) -> float | None:
    """Return how many pages of a block are not programmed when it is erased, on average.

    What was free at the beginning and what erases gave, less what was programmed and what is left.
    """
    erases = report.flash.erases["tlc"]
    aged = re.search(r"aged_blocks:(\d+)%", report.config["initial"]["spelling"])
    if not erases or not aged:
        return None
    medium = report.config["device"]["media"][0]
    planes = int(np.prod([int(n) for n in medium["topology"].values()]))
    blocks, pages = medium["blocks_per_plane"], 3 * medium["wordlines_per_block"]
    begun = planes * pages * (blocks - blocks * int(aged[1]) // 100)
    programs = sum(p.program for p in report.flash.programs.values())
    left = sum(report.flash.page_types.free_at_end.values())
    return (begun + erases * pages - programs - left) / erases


# --- distributions -------------------------------------------------------------------------------


def cdf(report: Report, at_ms: float) -> float:
    """Share of the writes that take at most so long."""
    points = report.latency_cdf.write
    index = np.searchsorted(points[:, 0], at_ms * 1e3, side="right")
    return float(points[index - 1, 1]) if index else 0.0


def cdf_steps(study: Study, workload: str, scheme: str) -> float:
    """Return the least rise of the distribution of writes behind a program time, over 0.6 ms."""
    report = study.report(workload, scheme)
    return min(cdf(report, t + 0.6) - cdf(report, t - 0.1) for t in PROGRAM_MS.values())


def cdf_in_order(study: Study, workload: str, scheme: str) -> float:
    """Share of latencies from 0.6 to 50 ms by which SLC mode, scheme and baseline are in order.

    In order they are where SLC mode has ended at least as many writes as the scheme, and the scheme
    as many as the baseline.
    """
    slc = study.report(workload, "SLC mode", "slc-mode")
    own, base = study.report(workload, scheme), study.report(workload, BASELINE)
    at = np.geomspace(0.6, 50, 60)
    return fmean(cdf(slc, t) >= cdf(own, t) >= cdf(base, t) for t in at)


# --- zero load -----------------------------------------------------------------------------------


def at_zero_load(study: Study, pages: int, page: str) -> float:
    """Share of writes of so many pages that a type dominates under the baseline, at zero load.

    Half of the requests are single pages, of which each type dominates a third.
    """
    found = shares(study.report(str(pages), BASELINE, "zero-load"))[page]
    return found if pages == 1 else 2 * found - 1 / 3


def zero_load_ms(study: Study, pages: int, scheme: str) -> float:
    """Mean latency of writes of so many pages at zero load."""
    mean = mean_ms(study.report(str(pages), scheme, "zero-load"))
    single = mean_ms(study.report("1", scheme, "zero-load"))
    return mean if pages == 1 else 2 * mean - single


# --- over time -----------------------------------------------------------------------------------


def over_time(report: Report, width_s: float) -> dict[str, NDArray[Any]]:
    """Mean write latency (ms) and free LSB pages in bins of so many seconds, by the end of the bin.

    The report's own bins are shorter; each goes where its middle is.
    """
    line = report.timeline
    bins = len(line.write_requests)
    where = ((np.arange(bins) + 0.5) * line.bin_s // width_s).astype(int)
    size = where[-1] + 1 if bins else 0
    writes = np.bincount(where, line.write_requests, size)
    spent = np.nan_to_num(line.write_latency_us_mean) * line.write_requests
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(where, spent, size) / writes / 1e3
    found = {"write_ms": mean, "writes": writes}
    free = line.free_pages.get("lsb") if "free_pages" in line else None
    if free is not None:
        pages = np.array(free, dtype=np.float64)
        last = np.full(size, np.nan)
        for i, there in zip(where, pages, strict=True):
            last[i] = last[i] if np.isnan(there) else there
        found["free_lsb"] = last
    return found


def bin_width_s(study: Study, workload: str) -> float:
    """Width of a bin in section 6.2: an hour for Fin, a quarter for MSFS, less in scaled runs."""
    return (3600 if workload == "Fin" else 900) / study.scale


def not_for_hosts(report: Report) -> int:
    """Return how many free LSB pages the drive has when a host finds none.

    In each plane collection keeps a block for itself, and the pages of one that is opened are still
    counted when the last LSB page of the one before it has been asked for.
    """
    medium = report.config["device"]["media"][0]
    planes = int(np.prod([int(n) for n in medium["topology"].values()]))
    return 2 * planes * medium["wordlines_per_block"]


def _exhausted(study: Study, workload: str, scheme: str) -> int | None:
    """Return the first bin at whose end a host finds no free LSB pages."""
    report = study.report(workload, scheme)
    free = over_time(report, bin_width_s(study, workload))["free_lsb"]
    below = np.flatnonzero(free <= not_for_hosts(report))
    return int(below[0]) if below.size else None


def least_free(
    study: Study, workload: str, scheme: str, rounds: tuple[int, ...] | None = None
) -> float:
    """Return the least share of the LSB pages at the start that is free for hosts, in any round."""
    if rounds:
        reports = [study.report(workload, scheme, "rounds", number) for number in rounds]
    else:
        reports = [study.report(workload, scheme)]
    start = reports[0].timeline.free_pages["lsb"][0]
    least = min(f for r in reports for f in r.timeline.free_pages["lsb"] if f is not None)
    return max(0.0, least - not_for_hosts(reports[0])) / start


def exhausted_at(study: Study, workload: str, scheme: str, as_share: bool = False) -> float | None:
    """Return how many bins pass until LSB pages are used up, or which share of the run."""
    bin_ = _exhausted(study, workload, scheme)
    if bin_ is None:
        return None
    bins = len(over_time(study.report(workload, scheme), bin_width_s(study, workload))["writes"])
    return (bin_ + 1) / bins if as_share else bin_ + 1.0


def mean_before_exhaustion(study: Study, workload: str, scheme: str) -> float:
    """Mean write latency of the bins before LSB pages are used up; of all if they never are."""
    end = _exhausted(study, workload, scheme)
    line = over_time(study.report(workload, scheme), bin_width_s(study, workload))
    return _mean(line, 0, len(line["writes"]) if end is None else max(end, 1))


def rise_after_exhaustion(study: Study, workload: str, scheme: str, bins: int = 4) -> float | None:
    """Mean write latency of the bins after LSB pages are used up over that of those before."""
    end = _exhausted(study, workload, scheme)
    if end is None or end == 0:
        return None
    line = over_time(study.report(workload, scheme), bin_width_s(study, workload))
    return _mean(line, end + 1, end + 1 + bins) / _mean(line, max(0, end - bins), end)


def longest_calm(
    study: Study, workload: str, scheme: str, than: str, factor: float = 2.0, first: int = 4
) -> float | None:
    """Return how long a scheme stays under `factor` times the mean of its own first bins.

    In multiples of the time that another scheme takes to use up its LSB pages.
    """
    end = _exhausted(study, workload, than)
    return None if end is None else calm_for(study, workload, scheme, factor, first) / (end + 1)


def calm_for(
    study: Study, workload: str, scheme: str, factor: float = 2.0, first: int = 4
) -> float:
    """Return for how many bins a scheme stays under `factor` times the mean of its first bins."""
    line = over_time(study.report(workload, scheme), bin_width_s(study, workload))
    above = np.flatnonzero(line["write_ms"] >= factor * _mean(line, 0, first))
    return float(above[0]) if above.size else float(len(line["writes"]))


def early_rank(study: Study, workload: str, scheme: str, bins: int) -> float:
    """Return the place of a scheme in the first bins among those of Fig. 12b; 1 is the fastest."""

    def early(name: str) -> float:
        report = study.report(workload, name)
        return _mean(over_time(report, bin_width_s(study, workload)), 0, bins)

    schemes = (BASELINE, "LFS", "QDS+US", "QDS+UBS")
    return 1.0 + sum(early(name) < early(scheme) for name in schemes)


def _mean(line: dict[str, NDArray[np.float64]], begin: int, end: int) -> float:
    writes, mean = line["writes"][begin:end], np.nan_to_num(line["write_ms"][begin:end])
    return float(np.dot(writes, mean) / max(writes.sum(), 1))


# --- the trace again and again -------------------------------------------------------------------


def third_round(study: Study, scheme: str) -> float:
    """Mean write latency of the third round under MSFS over the baseline's."""
    own, base = (study.report("MSFS", s, "rounds", 3) for s in (scheme, BASELINE))
    return mean_ms(own) / mean_ms(base)


def rounds_in_order(study: Study, schemes: tuple[str, ...]) -> float:
    """Share of neighbours that are in strictly falling order in the third round."""
    found = [mean_ms(study.report("MSFS", s, "rounds", 3)) for s in schemes]
    return fmean(a > b for a, b in itertools.pairwise(found))


# --- tables --------------------------------------------------------------------------------------


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
