"""How long writes take over time, and when the trace is replayed again: what claims measure.

Latencies are in milliseconds.
"""

from __future__ import annotations

import itertools
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordline import Report
from wordline_lab.experiments.pa_ssd.measures import BASELINE, mean_ms, planes_of
from wordline_lab.reproduce.paper import Study

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
    return 2 * planes_of(report) * report.config["device"]["media"][0]["wordlines_per_block"]


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


def after_exhaustion_over(study: Study, workload: str, scheme: str, other: str) -> float | None:
    """Mean write latency once a scheme has no LSB pages left, over another's in the same bins."""
    end = _exhausted(study, workload, scheme)
    width = bin_width_s(study, workload)
    own, theirs = (over_time(study.report(workload, s), width) for s in (scheme, other))
    if end is None or end + 1 >= len(own["writes"]):
        return None
    return _mean(own, end + 1, len(own["writes"])) / _mean(theirs, end + 1, len(theirs["writes"]))


def low_for(study: Study, workload: str, scheme: str, share: float = 0.5) -> float:
    """Return for how many bins from the first a scheme writes in less than `share` of the baseline.

    Each bin is compared with the same bin of the baseline; one without writes does not end it.
    """
    width = bin_width_s(study, workload)
    own, base = (over_time(study.report(workload, s), width) for s in (scheme, BASELINE))
    bins = min(len(own["writes"]), len(base["writes"]))
    high = own["write_ms"][:bins] >= share * base["write_ms"][:bins]
    above = np.flatnonzero(high)
    return float(above[0]) if above.size else float(bins)


def low_over(study: Study, workload: str, scheme: str, than: str) -> float | None:
    """`low_for` in multiples of the time that another scheme takes to use up its LSB pages."""
    end = _exhausted(study, workload, than)
    return None if end is None else low_for(study, workload, scheme) / (end + 1)


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
