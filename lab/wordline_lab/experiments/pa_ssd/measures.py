"""What the claims of PA-SSD are measured by.

Each function takes the study and the arguments that its claim gives, and returns one number, or
``None`` where what it looks for did not occur. Latencies are in milliseconds.
"""

from __future__ import annotations

import re
from statistics import fmean

import numpy as np

from wordline import Report
from wordline.quantity import in_bytes
from wordline_lab.reproduce.paper import Study

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


def mean_rank(study: Study, scheme: str) -> float:
    """Return the place of a scheme of PA-SSD by `normalized`; 1 is the fastest."""
    own = normalized(study, scheme)
    return 1.0 + sum(normalized(study, other) < own for other in SCHEMES)


def heaviness(study: Study, workload: str, from_below: bool = False) -> float:
    """Return the place of a workload by the baseline's mean write latency; 1 is the heaviest."""
    sign = -1 if from_below else 1
    own = sign * latency_ms(study, workload, BASELINE)
    return 1.0 + sum(sign * latency_ms(study, other, BASELINE) > own for other in ALL)


def share_slower(study: Study, scheme: str, other: str, workloads: tuple[str, ...]) -> float:
    """Share of workloads under which a scheme's mean write latency is above another's."""
    return fmean(latency_ms(study, w, scheme) > latency_ms(study, w, other) for w in workloads)


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


def least_gap(
    study: Study, workload: str, other: str, page: str, schemes: tuple[str, ...]
) -> float:
    """Return the least `share_gap` of these schemes."""
    return min(share_gap(study, workload, scheme, other, page) for scheme in schemes)


def greatest_gap(
    study: Study, workload: str, other: str, page: str, schemes: tuple[str, ...]
) -> float:
    """Return the greatest `share_gap` of these schemes."""
    return max(share_gap(study, workload, scheme, other, page) for scheme in schemes)


def lowest_of_all(study: Study, workload: str, page: str, digits: int | None = None) -> float:
    """Share of the schemes of PA-SSD under which this type dominates the fewest writes.

    With `digits` shares are rounded to so many decimals before they are compared.
    """

    def is_lowest(scheme: str) -> bool:
        found = shares(study.report(workload, scheme))
        if digits is not None:
            found = {name: round(share, digits) for name, share in found.items()}
        return found[page] == min(found.values())

    return fmean(is_lowest(scheme) for scheme in SCHEMES)


def unevenness(study: Study, workload: str, scheme: str, other: str) -> float:
    """Spread of the three shares under a scheme, less that under another."""

    def spread(name: str) -> float:
        found = shares(study.report(workload, name)).values()
        return max(found) - min(found)

    return spread(scheme) - spread(other)


def large_in_lsb(study: Study, scheme: str) -> float:
    """Share of the large writes that LSB pages dominate, mean over workloads.

    Under SBS, which gives small writes LSB pages: what LSB pages dominate beyond the small writes,
    over the large ones.
    """

    def of(workload: str) -> float:
        report = study.report(workload, scheme)
        large = report.host.multi_page_writes / report.host.write_requests
        return max(0.0, shares(report)["lsb"] - (1 - large)) / large

    return fmean(map(of, ALL))


def success(study: Study, scheme: str, mean: bool = False) -> float:
    """Share of the parts that got the type asked for: of the workload with the least, or mean."""
    found = [as_asked(study, workload, scheme) for workload in ALL]
    return fmean(found) if mean else min(found)


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


def collections_off_by_most(study: Study) -> float:
    """Return the greatest `collections_off_by` of the schemes of PA-SSD."""
    return max(collections_off_by(study, scheme) for scheme in SCHEMES)


def erases_over(study: Study) -> float:
    """Erases over the baseline's, mean over the workloads with any, of the scheme with the most."""

    def erases(workload: str, scheme: str) -> int:
        return study.report(workload, scheme).flash.erases["tlc"]

    workloads = [w for w in ALL if erases(w, BASELINE)]
    return max(fmean(erases(w, s) / erases(w, BASELINE) for w in workloads) for s in SCHEMES)


def unprogrammed_more(
    study: Study, scheme: str, other: str, workloads: tuple[str, ...]
) -> float | None:
    """Mean over workloads of `pages_lost_each` under a scheme, less that under another."""
    lost = [
        [pages_lost_each(study.report(workload, name)) for name in (scheme, other)]
        for workload in workloads
    ]
    known = [(own, theirs) for own, theirs in lost if own is not None and theirs is not None]
    return fmean(own - theirs for own, theirs in known) if known else None


def planes_of(report: Report) -> int:
    """Return how many planes the drive has."""
    topology = report.config["device"]["media"][0]["topology"]
    return int(np.prod([int(n) for n in topology.values()]))


def pages_lost_each(report: Report) -> float | None:
    """Return how many pages of a block are not programmed when it is erased, on average.

    What was free at the beginning and what erases gave, less what was programmed and what is left.
    """
    erases = report.flash.erases["tlc"]
    if not erases:
        return None
    pages = 3 * report.config["device"]["media"][0]["wordlines_per_block"]
    programs = sum(p.program for p in report.flash.programs.values())
    left = sum(report.flash.page_types.free_at_end.values())
    return (_free_at_first(report) + erases * pages - programs - left) / erases


def _free_at_first(report: Report) -> float:
    """Return how many pages are free before the first request.

    Where whole blocks are aged, those of the others; else those at the end of the first bin of the
    timeline and those programmed in it, if nothing is erased so early.
    """
    medium = report.config["device"]["media"][0]
    aged = re.search(r"aged_blocks:(\d+)%", report.config["initial"]["spelling"])
    if aged:
        blocks, pages = medium["blocks_per_plane"], 3 * medium["wordlines_per_block"]
        return float(planes_of(report) * pages * (blocks - blocks * int(aged[1]) // 100))
    line = report.timeline
    programmed = line.programmed_mb_per_s[0] * line.bin_s * 2**20 / in_bytes(medium["page"])
    return float(sum(free[0] for free in line.free_pages.values()) + programmed)


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
