"""What the claims of In-place Switch are measured by.

Each function takes the study and the arguments that its claim gives, and returns one number, or
``None`` where what it looks for did not occur. Latency of a burst: a closed loop keeps all planes
busy, so the mean latency of its requests is proportional to the mean time that a page takes, and a
ratio of the one is that of the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from wordline import Report
from wordline.quantity import in_us
from wordline_lab.reproduce.paper import Study

BASELINE = "Turbo Write"
VOLUMES = (
    *("HM_0", "HM_1", "PRN_0", "PROJ_0", "PROJ_4", "PRXY_0"),
    *("RSRCH_0", "STG_0", "TS_0", "USR_0", "WDEV_0"),
)
#: Volumes that the paper names: what fits into the cache, and what IPS/agc does not make faster.
SMALL, EXCEPTIONS = ("HM_1", "PROJ_4"), ("STG_0", "WDEV_0")
GIB = 2.0**30
#: Times of a page program in ms (Table I); to reprogram takes as long as TLC (section IV-B).
SLC_MS, TLC_MS = 0.5, 3.0

# --- one run -----------------------------------------------------------------------------------


def latency(report: Report) -> float:
    """Mean latency of writes, in ms."""
    return report.latency_us.write.mean / 1e3


def wa_run(report: Report) -> float:
    """Return all programs up to the last completion over what the host wrote."""
    return report.waf.total


def at_end(report: Report) -> float:
    """Return what the end of a workload programs over what the host wrote: it empties the cache."""
    after = report.get("after_last_request") or {}
    return sum((after.get("program_bytes") or {}).values()) / report.host.write_page_bytes


def wa(report: Report) -> float:
    """Return WA_full: all programs over what the host wrote, those of the end counted."""
    return wa_run(report) + at_end(report)


def wa_paper(report: Report) -> float:
    """Return WA_paper, which leaves out copies in idle time that turned out not to be premature."""
    return (report.waf.get("paper") or wa_run(report)) + at_end(report)


def written_gib(report: Report) -> float:
    """Volume of the host's writes, in GiB of whole pages."""
    return report.host.write_page_bytes / GIB


FIGURES = {"latency": latency, "wa": wa, "wa_paper": wa_paper}
#: Beside what is drawn: WA without the end of a workload.
MEASURED = {**FIGURES, "wa_run": wa_run}

# --- over the baseline -------------------------------------------------------------------------


def ratio(study: Study, workload: str, group: str, scheme: str, figure: str) -> float:
    """Return a figure of a scheme over the baseline's."""
    of = MEASURED[figure]
    return of(study.report(workload, scheme, group)) / of(study.report(workload, BASELINE, group))


def mean_ratio(study: Study, group: str, scheme: str, figure: str) -> float:
    """Mean of `ratio` over the eleven volumes."""
    return fmean(ratio(study, workload, group, scheme, figure) for workload in VOLUMES)


def ratio_over_mean(study: Study, workload: str, group: str, scheme: str, figure: str) -> float:
    """`ratio` of a volume over the mean of all."""
    own = ratio(study, workload, group, scheme, figure)
    return own / mean_ratio(study, group, scheme, figure)


def volumes_below(study: Study, group: str, scheme: str, below: float) -> float:
    """Of how many volumes the latency ratio is below a figure."""
    return float(sum(ratio(study, w, group, scheme, "latency") < below for w in VOLUMES))


def greatest_but(study: Study, group: str, scheme: str, figure: str) -> float:
    """Return the greatest `ratio` of the volumes that the paper does not name as exceptions."""
    others = (w for w in VOLUMES if w not in EXCEPTIONS)
    return max(ratio(study, w, group, scheme, figure) for w in others)


def modest_over_small(study: Study, group: str) -> float:
    """Least WA ratio of the volumes beyond the cache over the greatest of those within."""
    found = {w: ratio(study, w, group, "IPS", "wa") for w in VOLUMES}
    small = max(found.pop(w) for w in SMALL)
    return min(found.values()) / small


def mean_more_than_ips(study: Study, figure: str = "wa", of: str = "IPS") -> float:
    """Mean over the volumes by how much more IPS/agc writes than IPS on the aged drive.

    A share of what IPS writes; or, of the baseline's: the difference of their two ratios.
    """

    def written(workload: str, scheme: str) -> float:
        return MEASURED[figure](study.report(workload, scheme, "aged"))

    def more(workload: str) -> float:
        ours, ips = written(workload, "IPS/agc"), written(workload, "IPS")
        return (ours - ips) / written(workload, of)

    return fmean(more(workload) for workload in VOLUMES)


def _thirds(report: Report) -> tuple[float, float]:
    """Latency of writes in us in the first and in the last third of what is written.

    From the bins of the timeline.
    """
    volume, _ = speed_over_volume(report)
    each = np.diff(volume, prepend=0.0)
    late = np.nan_to_num(np.asarray(report.timeline.write_latency_us_mean, dtype=float))
    first, last = volume <= volume[-1] / 3, volume > volume[-1] * 2 / 3
    means = [float((late[part] * each[part]).sum() / each[part].sum()) for part in (first, last)]
    return means[0], means[1]


def rise(study: Study, scheme: str, group: str = "first") -> float:
    """Latency of the last third of what HM_0 writes over that of the first third.

    In the group ``first`` of its first 100,000 writes, in ``day`` of all.
    """
    first, last = _thirds(study.report("HM_0", scheme, group))
    return last / first


# --- idle work ---------------------------------------------------------------------------------


def wait_ms(report: Report) -> float | None:
    """Mean time that requests wait for idle work in ms, of those that do; none if none does."""
    waits = (report.get("idle") or {}).get("delay_us_mean")
    return None if waits is None else float(waits) / 1e3


def waits_over_baseline(
    study: Study, group: str, scheme: str, workloads: Sequence[str] = VOLUMES
) -> float | None:
    """Mean over volumes of `wait_ms` over the baseline's, where requests wait under either."""
    found = []
    for workload in workloads:
        ours = wait_ms(study.report(workload, scheme, group))
        base = wait_ms(study.report(workload, BASELINE, group))
        if base:
            found.append((ours or 0.0) / base)
    return fmean(found) if found else None


def updated_before(study: Study) -> float:
    """Share of what the baseline writes that is overwritten before it is moved: 2 less its WA.

    Mean of the volumes in daily use, where all that is written goes to the cache.
    """
    return fmean(2 - wa(study.report(workload, BASELINE, "daily")) for workload in VOLUMES)


def reprogrammed_by_host(study: Study, workload: str, group: str, scheme: str) -> float:
    """Share of the host's bytes that reprogram used SLC pages."""
    report = study.report(workload, scheme, group)
    return report.flash.windows.reprogram_bytes.get("host", 0) / report.host.write_page_bytes


def more_at_slc_speed(study: Study) -> float:
    """Mean over the volumes of what IPS/agc writes at SLC speed over what IPS does."""

    def fast(workload: str, scheme: str) -> float:
        return study.report(workload, scheme, "aged").flash.windows.host_at_slc_speed

    return fmean(fast(w, "IPS/agc") / fast(w, "IPS") for w in VOLUMES)


def greatest_wa_of_ips(study: Study) -> float:
    """Return the greatest WA of IPS in daily use, of all volumes."""
    return max(wa(study.report(workload, "IPS", "daily")) for workload in VOLUMES)


def larger_over_64(study: Study, workload: str, figure: str) -> float:
    """`ratio` of the cooperative design at 96 GB of daily use over that at 64 GB."""
    groups = ("cooperative-larger", "cooperative-daily")
    larger, usual = (ratio(study, workload, group, COOPERATIVE, figure) for group in groups)
    return larger / usual


# --- wear --------------------------------------------------------------------------------------


def erase_spread(report: Report) -> float:
    """Return the standard deviation of the erases of all blocks over their mean; 0 without any."""
    groups = list(report.to_dict()["wear"].values())
    blocks = sum(g["blocks"] for g in groups)
    mean = sum(g["blocks"] * g["mean"] for g in groups) / blocks
    square = sum(g["blocks"] * (g["sigma"] ** 2 + g["mean"] ** 2) for g in groups) / blocks
    return math.sqrt(max(0.0, square - mean**2)) / mean if mean else 0.0


def spread_of_erases(study: Study) -> float | None:
    """Mean of `erase_spread` of the cooperative design over the baseline's, of the volumes.

    Those count under which the baseline erases.
    """
    group, found = "cooperative-daily", []
    for workload in VOLUMES:
        base = erase_spread(study.report(workload, BASELINE, group))
        if base:
            found.append(erase_spread(study.report(workload, COOPERATIVE, group)) / base)
    return fmean(found) if found else None


# --- closed forms (sections IV-A to IV-C, from the configured sizes) ----------------------------


def _planes(study: Study, workload: str, group: str) -> tuple[int, float]:
    """Return the number of planes, and the GiB that one SLC wordline of every plane holds."""
    medium = study.report(workload, BASELINE, group).config["device"]["media"][0]
    planes = int(np.prod([int(v) for v in medium["topology"].values()]))
    return planes, planes * float(medium["page"].removesuffix("KiB")) / 2**20


def sizes_gib(study: Study, workload: str, group: str) -> tuple[float, float, float]:
    """Return the baseline's cache, the design's cache, and the traditional part of that, in GiB.

    From the regions of the reports: SLC blocks, and one window of each block of windows.
    """
    _, wordline = _planes(study, workload, group)
    base = study.report(workload, BASELINE, group)
    config = base.config["device"]
    wordlines = config["media"][0]["wordlines_per_block"]
    own = COOPERATIVE if group.startswith("cooperative") else "IPS"

    def given(report: Report, key: str, otherwise: int) -> int:
        value = report.config["scheme"]["parameters"][key]
        return otherwise if value == "device" else int(value)

    static = given(base, "static_blocks", config["slc_cache"]["static_blocks"])
    design = study.report(workload, own, group)
    blocks = config["media"][0]["blocks_per_plane"]
    share = blocks * SPLIT[0] // SPLIT[1]
    traditional = given(design, "traditional", share) if own == COOPERATIVE else 0
    window = given(design, "window", WINDOW)
    return (
        static * wordlines * wordline,
        ((blocks - traditional) * window + traditional * wordlines) * wordline,
        traditional * wordlines * wordline,
    )


COOPERATIVE = "Cooperative"
#: Of how many blocks how many are traditional, and wordlines of a window, where nothing is asked.
SPLIT, WINDOW = (991, 2048), 4
BURSTS = ("64", "72", "96", "136")


def latency_form(study: Study, workload: str, group: str) -> float:
    """Mean service of the design over the baseline's, for the volume that was written."""
    base, own, _ = sizes_gib(study, workload, group)
    volume = written_gib(study.report(workload, BASELINE, group))
    beyond = (SLC_MS + 2 * TLC_MS) / 3
    design = min(volume, own) * SLC_MS + max(0.0, volume - own) * beyond
    return design / (min(volume, base) * SLC_MS + max(0.0, volume - base) * TLC_MS)


def wa_form(study: Study, workload: str, group: str) -> float:
    """WA of the design over the baseline's, for the volume that was written."""
    base, own, traditional = sizes_gib(study, workload, group)
    volume = written_gib(study.report(workload, BASELINE, group))
    moved = min(traditional, max(0.0, volume - own + traditional))
    return (volume + moved) / (volume + min(volume, base))


def latency_over_form(study: Study, workload: str, group: str, scheme: str) -> float:
    """Latency ratio relative to the closed form."""
    form = latency_form(study, workload, group)
    return ratio(study, workload, group, scheme, "latency") / form


def wa_over_form(study: Study, workload: str, group: str, scheme: str) -> float:
    """WA ratio relative to the closed form."""
    return ratio(study, workload, group, scheme, "wa") / wa_form(study, workload, group)


def latency_less_form(study: Study, workload: str, group: str, scheme: str) -> float:
    """Latency ratio less the closed form."""
    form = latency_form(study, workload, group)
    return ratio(study, workload, group, scheme, "latency") - form


def wa_less_form(study: Study, workload: str, group: str, scheme: str) -> float:
    """WA ratio less the closed form."""
    return ratio(study, workload, group, scheme, "wa") - wa_form(study, workload, group)


def falling(study: Study) -> float:
    """Share of neighbouring bursts of which the longer has the lower latency ratio."""
    found = [ratio(study, w, "cooperative-burst", COOPERATIVE, "latency") for w in BURSTS]
    return fmean(b < a for a, b in itertools.pairwise(found))


def rising(study: Study) -> float:
    """Share of neighbouring bursts of which the longer has the higher WA ratio."""
    found = [ratio(study, w, "cooperative-burst", COOPERATIVE, "wa") for w in BURSTS]
    return fmean(b > a for a, b in itertools.pairwise(found))


def beyond_cache(study: Study, scheme: str) -> float:
    """Mean latency from 20 to 40 GB of a burst in ms: the caches of 4 GB are full."""
    spent, requests = {}, {}
    for volume in ("20", "40"):
        report = study.report(volume, scheme, "volumes")
        requests[volume] = report.host.write_requests
        spent[volume] = latency(report) * requests[volume]
    return (spent["40"] - spent["20"]) / (requests["40"] - requests["20"])


def sustained_ratio(study: Study, group: str = "volumes") -> float:
    """Latency of IPS over the baseline's from 20 to 40 GB of a burst.

    In the group ``first-burst`` in the last third of HM_0's first 100,000 writes.
    """
    if group != "volumes":
        late = [_thirds(study.report("HM_0", scheme, group))[1] for scheme in ("IPS", BASELINE)]
        return late[0] / late[1]
    return beyond_cache(study, "IPS") / beyond_cache(study, BASELINE)


def latency_beyond(study: Study, scheme: str, group: str = "volumes") -> float:
    """Latency of a scheme from 20 to 40 GB of a burst over that of a burst that its cache takes.

    In the group ``first-burst`` of the last third of HM_0's first 100,000 writes over the first.
    """
    if group != "volumes":
        return rise(study, scheme, group)
    return beyond_cache(study, scheme) / latency(study.report("4", scheme, "volumes"))


# --- cliffs ------------------------------------------------------------------------------------


def speed_over_volume(report: Report) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return GiB written until the end of each bin of time, and the bandwidth in it in MB/s."""
    line = report.timeline
    speed = np.asarray(line.write_mb_per_s)
    return np.cumsum(speed) * line.bin_s * 1e6 / GIB, speed


def cliff_gib(study: Study, workload: str) -> float | None:
    """Return how much is written when the bandwidth falls below half of what it began with."""
    report = study.report(workload, BASELINE, "sustained")
    volume, speed = speed_over_volume(report)
    below = np.flatnonzero(speed[1:-1] < 0.5 * np.median(speed[1:6])) + 1
    return float(volume[below[0] - 1]) if below.size else None


def slowest_stream(study: Study) -> float:
    """Return the bandwidth of the slowest of the five streams over that of the first."""
    report = study.report("periodic", BASELINE, "periodic")
    speeds = [job["write_bytes"] / job["busy_s"] for job in streams(report)]
    return min(speeds) / speeds[0]


def streams(report: Report) -> list[dict[str, float]]:
    """Return bytes written by each job, and the seconds that it took."""
    return [
        {"write_bytes": job["write"]["bytes"], "busy_s": job["until_s"] - job["from_s"]}
        for job in report.to_dict()["jobs"]
    ]


# --- what went where ---------------------------------------------------------------------------


def written_to_tlc(report: Report) -> float:
    """Share of the host's bytes that the host's own writes put into TLC."""
    regions = report.flash.program_bytes["host"]["program"].to_dict()
    slc = {r["name"] for r in report.to_dict()["flash"]["regions"] if r["mode"] == "slc"}
    total = sum(regions.values())
    return sum(n for name, n in regions.items() if name not in slc) / total if total else 0.0


def most_written_to_tlc(study: Study, group: str) -> float:
    """Return the greatest share of the host's bytes that went to TLC directly, of all volumes."""
    return max(written_to_tlc(study.report(w, BASELINE, group)) for w in VOLUMES)


def volumes_mostly_to_tlc(study: Study, group: str) -> float:
    """Of how many volumes more of the host's bytes went to TLC directly than to the cache."""
    return float(sum(written_to_tlc(study.report(w, BASELINE, group)) > 0.5 for w in VOLUMES))


def extreme_wa(study: Study, group: str, which: str) -> float:
    """Return the ``least``, the ``median`` or the ``most`` WA of the baseline over the volumes."""
    found = [wa(study.report(w, BASELINE, group)) for w in VOLUMES]
    return {"least": min(found), "median": median(found), "most": max(found)}[which]


def written_to_slc(study: Study, workload: str, group: str, scheme: str) -> float:
    """Share of the host's bytes that were written at SLC speed."""
    report = study.report(workload, scheme, group)
    if scheme == COOPERATIVE:
        return report.flash.windows.host_at_slc_speed
    return 1 - written_to_tlc(report)


def reprogrammed_bytes(study: Study, workload: str, group: str, scheme: str) -> float:
    """Bytes that reprogramming added."""
    return float(sum(study.report(workload, scheme, group).flash.windows.reprogram_bytes.values()))


def wa_full_off_by(study: Study) -> float | None:
    """Return the greatest relative deviation of WA_full from 3f under IPS/agc.

    Of the volumes of which a share f of 1/3 and more was written at SLC speed, and nothing was
    collected on demand.
    """
    found = []
    for workload in VOLUMES:
        report = study.report(workload, "IPS/agc", "aged")
        f = report.flash.windows.host_at_slc_speed
        on_demand = report.flash.erases["tlc"] - report.idle.erases
        if f is not None and f >= 1 / 3 and not on_demand:
            found.append(abs(wa(report) / (3 * f) - 1))
    return max(found) if found else None


def reprograms_per_wordline(study: Study) -> float:
    """Reprograms that turn a used SLC wordline into the densest mode."""
    return float(study.report("4", "IPS", "volumes").flash.windows.reprograms_per_wordline)


def interference(study: Study) -> float:
    """Interference of a cell that is reprogrammed over that of one that is programmed once."""
    return float(study.report("4", "IPS", "volumes").flash.windows.interference)


# --- Table I -----------------------------------------------------------------------------------


def configuration(study: Study) -> dict[str, float]:
    """Return Table I as the drive has it: times in us and ms, the cache in GiB."""
    config = study.report("4", BASELINE, "volumes").config["device"].to_dict()
    medium = config["media"][0]
    parts, slc, tlc = medium["topology"], medium["modes"][0], medium["modes"][2]
    return {
        "channels": parts["channels"],
        "chips a channel": parts["chips_per_channel"],
        "dies a chip": parts["dies_per_chip"],
        "planes a die": parts["planes_per_die"],
        "blocks a plane": medium["blocks_per_plane"],
        "pages a block": 3 * medium["wordlines_per_block"],
        "page KiB": float(medium["page"].removesuffix("KiB")),
        "read SLC us": in_us(slc["read"][0]),
        "read TLC us": in_us(tlc["read"][0]),
        "write SLC us": in_us(slc["program"][0]),
        "write TLC us": in_us(tlc["program"][0]),
        "erase ms": in_us(tlc["erase"]) / 1e3,
        "cache GiB": sizes_gib(study, "4", "volumes")[0],
    }


def configured(study: Study, item: str) -> float:
    """Return one value of Table I as the drive has it."""
    return float(configuration(study)[item])
