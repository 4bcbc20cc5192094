"""What the claims of Hierarchy are measured by.

Each function takes the study and the arguments that its claim gives, and returns one number, or
``None`` where what it looks for did not occur. Means over the traces are of figures over the
Baseline's, as the paper's are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordline import Report
from wordline.quantity import in_bytes, in_us
from wordline_lab.reproduce.paper import NotRun, Study

#: The group of runs that the claims speak of.
MAIN = "flushed"
TRACES = ("web_0", "hm_0", "lun1", "usr_0", "lun2", "lun3", "lun4", "web_1")
BASELINE = "Baseline"
SCHEMES = (BASELINE, "SA", "Sector", "Hierarchy")
#: Figures of migrations; the paper has none of web_1, which triggers no migration there.
OF_MIGRATIONS = ("gc reads", "migrated")
MIB = 2.0**20
#: Modes of the cache and of the flash behind it.
MODES = ("slc", "tlc")
#: Windows that the paper's Fig. 7 puts into one point of its axis.
POINT = 10

# --- one run -----------------------------------------------------------------------------------


def _regions(report: Report, mode: str) -> list[dict[str, Any]]:
    return [r for r in report.to_dict()["flash"]["regions"] if r["mode"] == mode]


def slc_reads(report: Report) -> float:
    """Pages read in the cache for the host."""
    return float(sum(r["reads_by_cause"]["host"] for r in _regions(report, "slc")))


def whole_page_reads(report: Report) -> float:
    """Pages read in the cache for whole pages that the host reads, as Fig. 2 counts them."""
    return float(sum(r.get("whole_page_reads", 0) for r in _regions(report, "slc")))


def programmed(report: Report) -> float:
    """Bytes programmed in the cache for any reason, with padding."""
    return float(sum(r["program_bytes"] for r in _regions(report, "slc")))


def found(report: Report) -> float:
    """Share of the updates of pages that replace something in the cache.

    An update that replaces sectors in several regions counts once in each.
    """
    updates = {
        mode: sum(sum(r.get("updates", ())) for r in _regions(report, mode)) for mode in MODES
    }
    return updates["slc"] / (sum(updates.values()) or 1)


def gc_reads(report: Report) -> float:
    """Pages read by collections of the cache: what is moved, and what is merged with it."""
    return float(report.flash.reads["migration"])


def migrated(report: Report) -> float:
    """Bytes programmed into TLC by collections of the cache."""
    return float(sum(sum(kind.values()) for kind in _migration(report).values()))


def _migration(report: Report) -> dict[str, dict[str, int]]:
    return report.to_dict()["flash"]["program_bytes"].get("migration", {})


FIGURES = {
    "write": lambda report: report.latency_us.write.mean,
    "read": lambda report: report.latency_us.read.mean,
    "slc reads": slc_reads,
    "whole reads": whole_page_reads,
    "programmed": programmed,
    "found": found,
    "gc reads": gc_reads,
    "migrated": migrated,
}

# --- over the Baseline -------------------------------------------------------------------------


def ratio(study: Study, workload: str, group: str, scheme: str, figure: str) -> float | None:
    """Return a figure of a scheme over the Baseline's; none where that has nothing of it."""
    base = FIGURES[figure](study.report(workload, BASELINE, group))
    own = FIGURES[figure](study.report(workload, scheme, group))
    return own / base if base else None


def traces_of(figure: str) -> tuple[str, ...]:
    """Return the traces that the paper has a figure of."""
    return TRACES[:-1] if figure in OF_MIGRATIONS else TRACES


def ratios(study: Study, group: str, scheme: str, figure: str) -> dict[str, float]:
    """Return `ratio` of each trace that has one."""
    found = {trace: ratio(study, trace, group, scheme, figure) for trace in traces_of(figure)}
    return {trace: value for trace, value in found.items() if value is not None}


def mean_ratio(study: Study, group: str, scheme: str, figure: str) -> float | None:
    """Mean of `ratio` over the traces."""
    found = ratios(study, group, scheme, figure)
    return fmean(found.values()) if found else None


def mean_over(
    study: Study, figure: str, scheme: str, other: str, group: str = MAIN
) -> float | None:
    """Mean of a scheme over the mean of another, both of figures over the Baseline's."""
    own = mean_ratio(study, group, scheme, figure)
    others = mean_ratio(study, group, other, figure)
    return own / others if own is not None and others else None


def over_others(study: Study, figure: str, scheme: str, of: str, group: str = MAIN) -> float | None:
    """Mean of a scheme over the ``least``, ``greatest`` or ``mean`` of the other schemes' means."""
    means = {s: mean_ratio(study, group, s, figure) for s in SCHEMES}
    own = means.pop(scheme)
    others = [value for value in means.values() if value is not None]
    if own is None or not others:
        return None
    ways: dict[str, Callable[[list[float]], float]] = {"least": min, "greatest": max, "mean": fmean}
    other = ways[of](others)
    return own / other if other else None


def mean_reduction(study: Study, figure: str, group: str = MAIN) -> float | None:
    """Mean of Hierarchy's reductions against each of the others, as the abstract has them."""
    found = [mean_over(study, figure, "Hierarchy", s, group) for s in SCHEMES[:-1]]
    less = [1 - value for value in found if value is not None]
    return fmean(less) if less else None


def share_below(
    study: Study, figure: str, scheme: str, other: str, group: str = MAIN
) -> float | None:
    """Share of the traces on which a scheme has no more of a figure than another."""
    own, others = (ratios(study, group, s, figure) for s in (scheme, other))
    return fmean(own[trace] <= others[trace] for trace in own) if own else None


def _share_extreme(study: Study, figure: str, scheme: str, group: str, sign: int) -> float | None:
    found = {s: ratios(study, group, s, figure) for s in SCHEMES}
    own = found[scheme]
    if not own:
        return None
    return fmean(all(sign * own[t] >= sign * found[s][t] for s in SCHEMES) for t in own)


def share_greatest(study: Study, figure: str, scheme: str, group: str = MAIN) -> float | None:
    """Share of the traces on which no scheme has more of a figure."""
    return _share_extreme(study, figure, scheme, group, 1)


def share_least(study: Study, figure: str, scheme: str, group: str = MAIN) -> float | None:
    """Share of the traces on which no scheme has less of a figure."""
    return _share_extreme(study, figure, scheme, group, -1)


def reads_over_baseline(
    study: Study, workload: str, scheme: str, group: str = MAIN
) -> float | None:
    """Pages read in the cache for the same requests, over the Baseline's."""
    return ratio(study, workload, group, scheme, "slc reads")


def whole_page_reads_over_baseline(
    study: Study, workload: str, scheme: str, group: str = MAIN
) -> float | None:
    """Pages read in the cache for the same reads of whole pages, over the Baseline's (Fig. 2)."""
    _places(study.report(workload, scheme, group), "host")
    return ratio(study, workload, group, scheme, "whole reads")


def space_over(study: Study, scheme: str, other: str, group: str = MAIN) -> float | None:
    """Mean of the bytes programmed in the cache, with padding, over that of another scheme."""
    return mean_over(study, "programmed", scheme, other, group)


def found_over(study: Study, scheme: str, other: str, group: str = MAIN) -> float | None:
    """Mean of the share of updates found in the cache, over that of another scheme."""
    return mean_over(study, "found", scheme, other, group)


def reads_a_migration(study: Study, workload: str, scheme: str, group: str = MAIN) -> float | None:
    """Pages that collections of the cache read, for each page that they migrate."""
    report = study.report(workload, scheme, group)
    moved = migrated(report) / in_bytes(report.config["device"].to_dict()["unit"])
    return gc_reads(report) / moved if moved else None


def most_places(study: Study, of: str, scheme: str = "Sector") -> float | None:
    """Return in how many flash pages the sectors of a page lie, at most.

    ``host``: those of a page that the host reads whole, in the runs `spread`; ``gathered``: those
    of a page that a collection migrates, over all traces.
    """
    runs = [("spread", "spread")] if of == "host" else [(trace, MAIN) for trace in TRACES]
    counts = [_places(study.report(workload, scheme, group), of) for workload, group in runs]
    return float(max(n for places in counts for n, times in enumerate(places, 1) if times))


def _places(report: Report, of: str) -> list[int]:
    """Return pages wanted whole, by the flash pages in which they lay: one, two, three, more."""
    found: dict[str, list[int]] = report.to_dict()["flash"].get("places", {})
    if of not in found:
        raise NotRun(f"{report.scheme} read no page whole, or its reads were not counted by place")
    return found[of]


def longest_read_over_one_page(study: Study) -> float:
    """Longest read of a page that Sector has in several flash pages, over one read of one page."""
    sector, base = (
        study.report("spread", s, "spread").latency_us.read for s in ("Sector", BASELINE)
    )
    return sector.max / base.mean


def _mean_request(report: Report) -> float:
    host, latency = report.host, report.latency_us
    total = host.read_requests * latency.read.mean + host.write_requests * latency.write.mean
    return float(total / (host.read_requests + host.write_requests))


def over_fixed_division(study: Study, group: str = MAIN) -> float:
    """Mean latency of all requests over that with both levels at one half, mean of the traces."""
    return fmean(
        _mean_request(study.report(trace, "Hierarchy", group))
        / _mean_request(study.report(trace, "Hierarchy", "fixed"))
        for trace in TRACES
    )


def migrated_share(study: Study, workload: str, scheme: str, group: str = MAIN) -> float:
    """Pages migrated over pages that the host wrote."""
    report = study.report(workload, scheme, group)
    return migrated(report) / report.host.write_page_bytes


# --- Figure 1 ----------------------------------------------------------------------------------


def update_sizes(study: Study, workload: str) -> list[float]:
    """Share of the updates of pages in the Baseline's cache by quarters of a page, rounded up."""
    report = study.report(workload, BASELINE, "merge")
    counts = np.sum([r["updates"] for r in _regions(report, "slc")], axis=0)
    return [float(n) for n in counts / counts.sum()]


def small_updates(study: Study, workload: str) -> float:
    """Share of the updates of pages in the Baseline's cache that have 4 KiB or less."""
    return update_sizes(study, workload)[0]


def reads_an_update(study: Study, group: str = "updates") -> float:
    """Return reads of old data for each update of a part of a page, one at a time."""
    report = study.report("4 KiB", BASELINE, group)
    return report.flash.reads["rmw"] / report.host.write_requests


def programmed_an_update(study: Study) -> float:
    """Return KiB programmed in the cache for each update of a part of a page, one at a time."""
    report = study.report("4 KiB", BASELINE, "updates")
    return programmed(report) / 1024 / report.host.write_requests


# --- Figure 7 ----------------------------------------------------------------------------------


def followed(study: Study, workload: str, name: str, group: str = "merge") -> NDArray[np.float64]:
    """Return what the scheme followed, a value a window, shape ``(windows,)``."""
    found = study.report(workload, "Hierarchy", group).to_dict()["metrics"][name]
    return np.array([value for _, value in found])


def l1_share(study: Study, workload: str, group: str = "merge") -> NDArray[np.float64]:
    """Return L1's share of what both levels own, a value a window."""
    return followed(study, workload, "l1_share", group)


def owned_share(
    study: Study, workload: str, level: str, group: str = "merge"
) -> NDArray[np.float64]:
    """Return a level's share of the blocks that both own, a value a window."""
    of = {at: followed(study, workload, f"{at}_owned", group) for at in ("l1", "l2")}
    return of[level] / np.maximum(of["l1"] + of["l2"], 1)


def greatest_quota(study: Study, workload: str) -> float:
    """L1's greatest quota, a share of the cache."""
    return float(1 - followed(study, workload, "cur_ratio").min())


def usable_blocks(study: Study, workload: str) -> float:
    """Blocks of the cache that the trigger leaves in use."""
    device = study.report(workload, "Hierarchy", "merge").config["device"].to_dict()
    cache, parts = device["slc_cache"], device["media"][0]["topology"]
    planes = int(np.prod([int(n) for n in parts.values()]))
    return planes * cache["static_blocks"] * (1 - _trigger(cache["trigger"]))


def greatest_owned(study: Study, workload: str) -> float:
    """Return the most blocks that L1 owns, over those in use."""
    owned = followed(study, workload, "l1_owned").max()
    return float(owned / usable_blocks(study, workload))


def greatest_step(study: Study, workload: str) -> float:
    """Return the greatest change of cur_ratio from one window to the next."""
    return float(np.abs(np.diff(followed(study, workload, "cur_ratio"))).max())


def below_cap(study: Study, workload: str) -> float:
    """Share of the windows in which L1's quota is below half, by a hundredth or more."""
    quota = 1 - followed(study, workload, "cur_ratio")
    return float(np.mean(quota <= 0.49))


def ends_near_cap(study: Study, workload: str) -> bool:
    """Whether a trace ends with L1 within a tenth of its cap."""
    return bool(l1_share(study, workload)[-1] >= 0.4)


def traces_that_move(study: Study, least: float) -> float:
    """Share of the traces on which L1's share of the cache varies by so much, over ten windows."""
    curves = [points(l1_share(study, trace)) for trace in TRACES]
    # A run begins at one half, which is no window's doing.
    return fmean(float(np.ptp(curve[1:] if len(curve) > 1 else curve)) >= least for curve in curves)


def points(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over ten windows each; what is left over is left out, unless it is all."""
    whole = len(values) // POINT * POINT
    return values[:whole].reshape(-1, POINT).mean(axis=1) if whole else values


def division_differs(study: Study, workload: str) -> float:
    """Return the greatest difference of L1's share between quotas in blocks and in pages."""
    groups = ("merge", "division")
    block, page = (points(owned_share(study, workload, "l1", g)) for g in groups)
    return float(np.abs(block - page).max())


#: Shares of small writes in the jobs of `steps.fio` and `steps-even.fio`.
SMALL = {"steps": {"down": 0.57, "up": 0.73}, "steps-even": {"down": 4 / 7, "up": 8 / 11}}


def windows_over_bound(study: Study, step: str, group: str = "steps") -> float | None:
    """Return windows until L1's quota is where the mix of a job puts it, over the bound.

    It is there once it is within the boundary's move of a window.
    """
    quota = 1 - followed(study, "steps", "cur_ratio", group)
    half = len(quota) // 2
    here = quota[:half] if step == "down" else quota[half:]
    begin = 0.5 if step == "down" else float(quota[half - 1])
    small = SMALL[group][step]
    merged, whole = small / 4, 1 - small
    target = merged / (merged + whole)
    there = np.flatnonzero(np.abs(here - target) <= 1 / 128)
    bound = ceil(abs(target - begin) * 128) + 1
    return float((there[0] + 1) / bound) if there.size else None


# --- Causes ------------------------------------------------------------------------------------


def _region(report: Report, name: str) -> dict[str, Any]:
    return next(r for r in report.to_dict()["flash"]["regions"] if r["name"] == name)


def read_a_block(study: Study, workload: str, group: str = MAIN) -> float:
    """Return pages of L1 that Hierarchy's collections read for each block of L1 that they erase."""
    level = _region(study.report(workload, "Hierarchy", group), "L1")
    return level["reads_by_cause"]["migration"] / max(level["erases"], 1)


def moved_a_block(study: Study, workload: str) -> float:
    """Return pages that the Baseline moves out of each block of the cache that it collects."""
    cache = _region(study.report(workload, BASELINE, MAIN), "S")
    return cache["reads_by_cause"]["migration"] / max(cache["erases"], 1)


def fills_over_baseline(study: Study, workload: str, scheme: str, group: str) -> float:
    """Return reads before writes of parts of pages, over the Baseline's."""
    own, base = (study.report(workload, s, group).flash.reads["rmw"] for s in (scheme, BASELINE))
    return own / base


def programs_over_baseline(study: Study, workload: str, scheme: str, group: str) -> float:
    """Return bytes programmed in the cache, with padding, over the Baseline's."""
    own, base = (programmed(study.report(workload, name, group)) for name in (scheme, BASELINE))
    return own / base


def mean_of(study: Study, group: str, scheme: str, figure: str) -> float | None:
    """Return the mean of a group's figure of a scheme over the Baseline's of the main group."""
    base = {
        trace: FIGURES[figure](study.report(trace, BASELINE, MAIN)) for trace in traces_of(figure)
    }
    own = {trace: FIGURES[figure](study.report(trace, scheme, group)) for trace in base}
    found = [own[trace] / value for trace, value in base.items() if value]
    return fmean(found) if found else None


def read_parts(study: Study, workload: str, scheme: str, group: str) -> tuple[float, float]:
    """Split the mean read latency into die and bus, with waiting for them, and the rest; in us."""
    report = study.report(workload, scheme, group)
    parts = report.to_dict()["latency_parts_us"]["read"]
    flash = parts.get("die", 0.0) + parts.get("bus", 0.0)
    return flash, report.latency_us.read.mean - flash


# --- Tables ------------------------------------------------------------------------------------


def _trigger(trigger: dict[str, str]) -> float:
    return float(trigger["free_blocks"].removesuffix("%")) / 100


def configuration(study: Study) -> dict[str, float]:
    """Return Table I as the drive has it: times in us and ms."""
    report = study.report("hm_0", BASELINE, "merge")
    device = report.config["device"].to_dict()
    medium, cache = device["media"][0], device["slc_cache"]
    parts, slc, tlc = medium["topology"], medium["modes"][0], medium["modes"][2]
    regions = report.to_dict()["capacity"]["regions"]
    kib = {key: float(device[key].removesuffix("KiB")) for key in ("unit", "sector")}
    return {
        "channels": parts["channels"],
        "chips a channel": parts["chips_per_channel"],
        "dies a chip": parts["dies_per_chip"],
        "planes a die": parts["planes_per_die"],
        "planes with SLC and TLC blocks": _planes_with_both(report),
        "SLC blocks a plane": cache["static_blocks"],
        "TLC blocks a plane": medium["blocks_per_plane"] - cache["static_blocks"],
        "pages an SLC block": medium["wordlines_per_block"],
        "pages a TLC block": 3 * medium["wordlines_per_block"],
        "page KiB": kib["unit"],
        "sector KiB": kib["sector"],
        "capacity GiB": sum(r["bytes"] for r in regions) / 2**30,
        "SLC trigger": _trigger(cache["trigger"]),
        "TLC trigger": _trigger(device["gc"]["trigger"]),
        "program SLC us": in_us(slc["program"][0]),
        "program TLC us": in_us(tlc["program"][0]),
        "erase ms": in_us(tlc["erase"]) / 1e3,
    }


def _planes_with_both(report: Report) -> float:
    """Count the planes of which every one has blocks of the cache and others, from the layout."""
    device = report.config["device"].to_dict()
    planes = int(np.prod([int(n) for n in device["media"][0]["topology"].values()]))
    static, all_blocks = (
        device["slc_cache"]["static_blocks"],
        device["media"][0]["blocks_per_plane"],
    )
    return float(planes if 0 < static < all_blocks else 0)


def configured(study: Study, item: str) -> float:
    """Return one value of Table I as the drive has it."""
    return float(configuration(study)[item])


def window(study: Study) -> float:
    """Write requests of a window, as the scheme was asked."""
    report = study.report("hm_0", "Hierarchy", "merge")
    return float(report.config["scheme"].to_dict()["parameters"]["window"])


def table_2(study: Study, workload: str, statistic: str) -> float:
    """Return one value of Table II as the drive was asked."""
    host = study.report(workload, BASELINE, "merge").host
    return {
        "requests": float(host.requests),
        "write ratio": host.write_requests / host.requests,
        "write KiB": host.write_bytes / host.write_requests / 1024,
        "read KiB": host.read_bytes / host.read_requests / 1024,
    }[statistic]


def sector_table(study: Study, scheme: str, item: str) -> float:
    """Return one figure of the table of sectors, counted as the paper counts it."""
    (table,) = study.report("hm_0", scheme, "merge").to_dict()["memory"]["tables"]
    return {
        "entries": float(table["entries"]),
        "bytes an entry": table["entry_bits"] / 8,
        "MiB": table["bytes"] / MIB,
    }[item]


def further_tables(study: Study, scheme: str) -> float:
    """Return MiB of what a scheme's map needs beside the place of each page."""
    tables = study.report("hm_0", scheme, "merge").to_dict()["memory"].get("tables", [])
    return float(sum(table["bytes"] for table in tables)) / MIB
