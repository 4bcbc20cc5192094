"""The figures and tables of RARO."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator, PercentFormatter

from wordline import Report, plotting
from wordline_lab import drawing
from wordline_lab.experiments.raro import fit
from wordline_lab.experiments.raro import measures as m
from wordline_lab.reproduce.paper import Figure, NotRun, Study

Rows = list[dict[str, Any]]

SCHEMES = ("Base", "Hotness", "RARO")
COLOURS = plotting.colours(list(SCHEMES), "Base")
MODES = {"SLC": "#0072B2", "TLC": "#E69F00", "QLC": "#D55E00"}
STAGES = dict(zip(m.STAGES, drawing.PAGES.values(), strict=True))

# --- Figures 2 to 4 ----------------------------------------------------------------------------


def _modes(study: Study) -> Rows:
    return [
        {
            "workload": workload,
            "mode": mode,
            "mb_per_s": m.bandwidth(study.report(workload, mode, "modes")),
        }
        for workload in ("random", "sequential")
        for mode in m.MODES
    ]


def _draw_modes(study: Study) -> Any:
    rows = _modes(study)
    figure, both = plt.subplots(1, 2, figsize=(6.4, 3.0), layout="constrained")
    titles = {"random": "4 KiB at random", "sequential": "128 KiB in a row"}
    for at, (workload, title) in zip(both, titles.items(), strict=True):
        here = [r for r in rows if r["workload"] == workload]
        at.bar(
            [r["mode"] for r in here],
            [r["mb_per_s"] for r in here],
            0.6,
            color=[MODES[r["mode"]] for r in here],
        )
        at.set_title(title)
        at.set_ylabel("bandwidth, MB/s")
        at.grid(axis="x", visible=False)
    return figure


def _retries(study: Study, mode: str) -> Rows:
    return [
        {
            "workload": workload,
            "retries": n,
            "bandwidth": m.relative_bandwidth(study, mode, workload, n),
            "form": m.form(study, mode, n),
        }
        for workload in ("random", "sequential")
        for n in m.RETRIES
    ]


def _draw_retries(study: Study, mode: str) -> Any:
    rows = _retries(study, mode)
    figure, at = plt.subplots(figsize=(5.4, 3.2), layout="constrained")
    for workload, colour in zip(("random", "sequential"), plotting.SCHEMES, strict=False):
        here = [r for r in rows if r["workload"] == workload]
        x = [r["retries"] for r in here]
        at.plot(x, [r["bandwidth"] for r in here], "o-", color=colour, lw=1.2, ms=4, label=workload)
    x = [r["retries"] for r in rows if r["workload"] == "random"]
    forms = [r["form"] for r in rows if r["workload"] == "random"]
    at.plot(x, forms, color="#555555", lw=0.8, label="T0 / (T0 + n tR)")
    if mode == "QLC":
        at.plot(
            [1, 10], [1 - 0.465, 1 - 0.905], "D", mfc="none", mec=drawing.PRINTED, label="printed"
        )
    at.set_ylim(0)
    at.yaxis.set_major_formatter(PercentFormatter(1))
    at.set_xlabel("retries of every read")
    at.set_ylabel("bandwidth to that without")
    at.set_title(f"{mode}, 16 KiB")
    drawing.legend_above(figure, at)
    return figure


# --- Figures 5 and 6 ---------------------------------------------------------------------------


def _pages(study: Study, mode: str) -> Rows:
    return [
        {"stage": stage, "retries": n, "share": share}
        for stage in m.STAGES
        for n, share in enumerate(m.histogram(study, mode, stage))
    ]


def _draw_pages(study: Study, mode: str) -> Any:
    rows = _pages(study, mode)
    figure, at = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    for i, (stage, colour) in enumerate(STAGES.items()):
        here = [r for r in rows if r["stage"] == stage]
        x = [r["retries"] + (i - 1) * 0.28 for r in here]
        at.bar(x, [r["share"] for r in here], 0.28, color=colour, label=stage)
    at.xaxis.set_major_locator(MaxNLocator(integer=True))
    at.yaxis.set_major_formatter(PercentFormatter(1))
    at.set_xlabel("retries")
    at.set_ylabel("pages")
    at.set_title(f"{mode}: retries of all pages, cycles over the whole stage (calibrated)")
    at.grid(axis="x", visible=False)
    drawing.legend_above(figure, at)
    return figure


# --- Figures 13 to 16 --------------------------------------------------------------------------


def _schemes(study: Study, threads: int) -> Rows:
    rows = []
    for stage, skew, scheme in itertools.product(m.STAGES, m.SKEWS, SCHEMES):
        at = (skew, scheme, stage, threads)
        row: dict[str, Any] = {"stage": stage, "workload": skew, "scheme": scheme}
        row |= {"iops": m.iops(study, *at), "lost_mib": m.lost(study, *at) / m.MIB}
        iops, lost = (None, None) if scheme == "Base" else _ranges(study, at)
        row |= {"iops_least": iops and iops[0], "iops_most": iops and iops[1]}
        row |= {
            "lost_mib_least": lost and lost[0] / m.MIB,
            "lost_mib_most": lost and lost[1] / m.MIB,
        }
        rows.append(row)
    return rows


def _ranges(study: Study, at: tuple[str, str, str, int]) -> tuple[Any, Any]:
    """Return the ranges of a scheme over the grid, where its runs were asked for."""
    try:
        return m.iops_range(study, *at), m.lost_range(study, *at)
    except NotRun:
        return None, None


def _draw_schemes(study: Study, threads: int, key: str, label: str) -> Any:
    rows = _schemes(study, threads)
    figure, axes = plt.subplots(1, 3, figsize=(8.6, 3.0), sharey=True, layout="constrained")
    for at, stage in zip(axes, m.STAGES, strict=True):
        x = np.arange(len(m.SKEWS))
        for i, scheme in enumerate(SCHEMES):
            here = [r for r in rows if r["stage"] == stage and r["scheme"] == scheme]
            place = x + (i - 1) * 0.27
            at.bar(place, [r[key] for r in here], 0.27, color=COLOURS[scheme], label=scheme)
            known = [j for j, r in enumerate(here) if r[f"{key}_least"] is not None]
            least, most = ([here[j][f"{key}_{end}"] for j in known] for end in ("least", "most"))
            at.vlines(place[known], least, most, color="#222222", lw=1)
        at.set_xticks(x, [skew.removeprefix("zipf ") for skew in m.SKEWS])
        at.set_xlabel("skew of Zipf's law")
        at.set_title(stage)
        at.grid(axis="x", visible=False)
        if key == "iops":
            drawing.plain_log(at)
    axes[0].set_ylabel(label)
    drawing.legend_above(figure, axes[0])
    return figure


def _savings(study: Study) -> Rows:
    rows = []
    for threads, skew, (i, stage) in itertools.product((4, 1), m.GRID_SKEWS, enumerate(m.STAGES)):
        try:
            least, most = m.saving_range(study, skew, stage, threads) or (None, None)
        except NotRun:
            least, most = None, None
        row = {"threads": threads, "workload": skew, "stage": stage}
        row |= {"saving": m.saving(study, skew, stage, threads)}
        row |= {"least": least, "most": most, "printed": m.PRINTED_SAVING[threads][skew][i]}
        rows.append(row)
    return rows


def _tlc(study: Study) -> Rows:
    return [
        {
            "workload": skew,
            "tlc_pages_with_a_retry": share / 100,
            "tlc_reads_with_a_retry": m.tlc_retried(study, skew, share),
            "raro_over_hotness": m.in_group(study, skew, f"tlc-{share}", "Hotness"),
            "saving": m.saving_in(study, skew, f"tlc-{share}"),
        }
        for skew in ("zipf 1.2", "zipf 1.5")
        for share in m.TLC_SHARES
    ]


def _draw_tlc(study: Study) -> Any:
    rows = _tlc(study)
    figure, at = plt.subplots(figsize=(5.4, 3.0), layout="constrained")
    for skew, colour in zip(("zipf 1.2", "zipf 1.5"), plotting.SCHEMES, strict=False):
        here = [r for r in rows if r["workload"] == skew]
        x = [r["tlc_pages_with_a_retry"] for r in here]
        y = [r["raro_over_hotness"] for r in here]
        at.plot(x, y, "o-", color=colour, lw=1.2, ms=4, label=f"IOPS, {skew}")
        saved = [r["saving"] for r in here]
        at.plot(x, saved, "s:", color=colour, lw=1.2, ms=4, mfc="none", label=f"saving, {skew}")
    at.axhline(1, color="#555555", lw=0.8)
    at.xaxis.set_major_formatter(PercentFormatter(1))
    at.set_ylim(0)
    at.set_xlabel("TLC pages that take a retry")
    at.set_ylabel("RARO to Hotness")
    at.set_title("young, four threads")
    drawing.legend_above(figure, at)
    return figure


# --- Figures 17 and 18 -------------------------------------------------------------------------


def _sweep(study: Study) -> Rows:
    return [
        {
            "stage": stage,
            "workload": skew,
            "r2": r2,
            "iops": report.throughput.iops,
            "lost_mib": m.lost_bytes(report) / m.MIB,
            "lost_by_pages_mib": m.lost_by_pages(report) / m.MIB,
        }
        for stage in m.STAGES
        for skew in ("zipf 1.2", "zipf 1.5")
        for r2, report in m.swept(study, skew, stage)
    ]


def _draw_sweep(study: Study, key: str, label: str) -> Any:
    rows = _sweep(study)
    figure, axes = plt.subplots(1, 3, figsize=(8.6, 2.9), layout="constrained")
    for at, stage in zip(axes, m.STAGES, strict=True):
        for skew, colour in zip(("zipf 1.2", "zipf 1.5"), plotting.SCHEMES, strict=False):
            here = [r for r in rows if r["stage"] == stage and r["workload"] == skew]
            x = [r["r2"] for r in here]
            at.plot(x, [r[key] for r in here], "o-", color=colour, lw=1.2, ms=4, label=skew)
        at.set_ylim(0)
        at.set_xlabel("R2")
        at.set_title(stage)
    axes[0].set_ylabel(label)
    drawing.legend_above(figure, axes[0])
    return figure


# --- Figure 12, and thresholds at both ends ----------------------------------------------------


def _outcome(report: Report) -> dict[str, Any]:
    return {
        "iops": report.throughput.iops,
        "migrated_mib": m.migrated_bytes(report) / m.MIB,
        "lost_mib": m.lost_bytes(report) / m.MIB,
    }


def _reclaim(study: Study) -> Rows:
    return [
        {"scheme": scheme, **_outcome(study.report("moving", scheme, "reclaim"))}
        for scheme in ("RARO", "RARO with reclaim")
    ]


def _ends(study: Study) -> Rows:
    return [
        {"stage": stage, "workload": skew, "thresholds": name}
        | _outcome(study.report(skew, name, f"ends-{stage}"))
        for stage in m.STAGES
        for skew in m.GRID_SKEWS
        for name in ("chosen", "R1 low", "R2 low", "high")
    ]


# --- Tables ------------------------------------------------------------------------------------


def _stages(study: Study) -> Rows:
    begins = {stage: int(m.stage_begins(study, stage)) for stage in m.STAGES}
    return [{"stage": stage, "from_cycles": cycles} for stage, cycles in begins.items()]


def _principles(study: Study) -> Rows:
    r1, r2 = m.principle(study, "R1"), m.principle(study, "R2")
    return [
        {"nand": "QLC", "frequency": "hot", "retries": f">= {r1:.0f}", "conversion": "QLC-SLC"},
        {"nand": "QLC", "frequency": "warm", "retries": f">= {r2:.0f}", "conversion": "QLC-TLC"},
        {"nand": "TLC", "frequency": "hot", "retries": f">= {r1:.0f}", "conversion": "TLC-SLC"},
    ]


def _configuration(study: Study, *, times: bool) -> Rows:
    words = ("read", "write", "erase", "cycles")
    found = m.configuration(study).items()
    return [{"item": k, "value": v} for k, v in found if k.startswith(words) == times]


def _foretold(_: Study) -> Rows:
    return [
        {"left_out": stage, "foretold": found, "printed": fit.PRINTED[stage][3]}
        for stage, found in fit.foretold().items()
    ]


def _laws(_: Study) -> Rows:
    law = fit.linear()
    return [
        {
            "stage": stage,
            "most_retries": most,
            "printed": printed,
            "power_2.05": fit.share(stage, fit.MODEL),
            "linear": fit.share(stage, law, 1.0),
        }
        for stage, (_, _, most, printed) in fit.PRINTED.items()
    ]


#: Groups of runs by other readings than the main ones, young, with four threads.
READINGS = {
    "young": "as read",
    "period": "class of the last 10,000 reads",
    "distance": "class by the distance of two reads",
    "centre": "one centre for all threads",
    "logical": "counts of logical pages",
    "fixed-young": "every block at 167 cycles",
}


def _causes(study: Study) -> Rows:
    rows: Rows = []

    def row(claims: str, what: str, value: Callable[[], float]) -> None:
        with suppress(NotRun):
            rows.append({"claims": claims, "what": what, "value": value()})

    for n in (1, 10):
        what = f"bandwidth lost to {n} retries, one request per thread"
        row("4-sequential", what, partial(m.shallow_lost, study, n))
    for (group, what), skew in itertools.product(READINGS.items(), m.GRID_SKEWS):
        at = (study, skew, group)
        row("13-base", f"IOPS over Base, {skew}, {what}", partial(m.in_group, *at, "Base"))
        what = f"{skew}, {what}"
        row("13-same", f"IOPS over Hotness, {what}", partial(m.in_group, *at, "Hotness"))
        row("16-saving", f"saving with four threads, {what}", partial(m.saving_in, *at))
    for stage, skew in itertools.product(("middle", "old"), m.GRID_SKEWS):
        at = (study, skew, f"fixed-{stage}")
        what = f"{skew}, {stage}, every block alike"
        row("13-base", f"IOPS over Base, {what}", partial(m.in_group, *at, "Base"))
        row("13-same", f"IOPS over Hotness, {what}", partial(m.in_group, *at, "Hotness"))
    for stage, skew in itertools.product(m.STAGES, m.GRID_SKEWS):

        def down(stage: str = stage, skew: str = skew) -> float:
            found = [m.lost_by_pages(report) for _, report in m.swept(study, skew, stage)]
            return float(sum(b < a for a, b in itertools.pairwise(found)))

        row("18-rises", f"steps down of the loss by pages, {skew}, {stage}", down)
    return rows


FOUR = [f"{group}{stage}/*/*" for stage in m.STAGES for group in ("", "grid-")]
ONE = [f"{group}{stage}-1/*/*" for stage in m.STAGES for group in ("", "grid-")]
#: What the lines on the bars of Figures 13 to 16 are.
RANGE = (
    "Bars: 2 M reads, warm from 4 and hot from 16. Lines: from the least to the most with warm "
    "from 2, 4, 8, hot from 8, 16, 32, 64 and 1 and 4 M reads."
)
SWEPT = [f"r2-{stage}/*/*" for stage in m.STAGES]
PAGES = [f"pages-{stage}/pages" for stage in m.STAGES]
CONFIGURED = ["retries-0/random/QLC"]

FIGURES = (
    Figure("table-1", "Stages by cycles", CONFIGURED, _stages),
    Figure("table-2", "When a page moves", ["young/zipf 1.2/RARO"], _principles),
    Figure("table-3", "The drive", CONFIGURED, lambda s: _configuration(s, times=False)),
    Figure("table-4", "Its flash", CONFIGURED, lambda s: _configuration(s, times=True)),
    Figure(
        "2",
        "Bandwidth of the three modes",
        ["modes/*/*"],
        _modes,
        _draw_modes,
        "QLC 63.6 % below SLC in sequential reads of 128 KiB.",
    ),
    Figure(
        "3",
        "Bandwidth by retries, TLC (in sequence: cache register, two requests per thread)",
        ["retries-*/*/TLC", *CONFIGURED],
        lambda s: _retries(s, "TLC"),
        lambda s: _draw_retries(s, "TLC"),
    ),
    Figure(
        "4",
        "Bandwidth by retries, QLC (in sequence: cache register, two requests per thread)",
        ["retries-*/*/QLC"],
        lambda s: _retries(s, "QLC"),
        lambda s: _draw_retries(s, "QLC"),
        "One retry costs 46.5 % at random and 50.0 % in sequence, ten cost 90.5 % and 92.0 %.",
    ),
    Figure(
        "5",
        "Retries of TLC pages",
        [f"{p}/TLC" for p in PAGES],
        lambda s: _pages(s, "TLC"),
        lambda s: _draw_pages(s, "TLC"),
        "At most 1 (section V-C).",
    ),
    Figure(
        "6",
        "Retries of QLC pages",
        [f"{p}/QLC" for p in PAGES],
        lambda s: _pages(s, "QLC"),
        lambda s: _draw_pages(s, "QLC"),
        "Between 4 and 9, 7 and 12, 11 and 16 (section V-C).",
    ),
    Figure(
        "13",
        "IOPS, four threads",
        FOUR,
        lambda s: _schemes(s, 4),
        lambda s: _draw_schemes(s, 4, "iops", "reads per second"),
        f"RARO at most 13.5, 12.8 and 13.2 times Base. {RANGE}",
    ),
    Figure(
        "13-tlc",
        "What RARO's IOPS and savings owe to the retries of TLC mode",
        ["tlc-*/*/*"],
        _tlc,
        _draw_tlc,
        "RARO is level with Hotness or above; how many TLC pages take a retry is not printed.",
    ),
    Figure(
        "14",
        "Capacity lost, four threads",
        FOUR,
        lambda s: _schemes(s, 4),
        lambda s: _draw_schemes(s, 4, "lost_mib", "capacity lost, MiB"),
        f"RARO saves 74.1, 77.6 and 53.4 % at zipf 1.2, 66.7, 75 and 75 % at zipf 1.5. {RANGE}",
    ),
    Figure(
        "15",
        "IOPS, one thread",
        ONE,
        lambda s: _schemes(s, 1),
        lambda s: _draw_schemes(s, 1, "iops", "reads per second"),
        RANGE,
    ),
    Figure(
        "16",
        "Capacity lost, one thread",
        ONE,
        lambda s: _schemes(s, 1),
        lambda s: _draw_schemes(s, 1, "lost_mib", "capacity lost, MiB"),
        f"RARO saves 70.4, 68.2 and 38.6 % at zipf 1.2, 71.4, 71.4 and 57.1 % at zipf 1.5. {RANGE}",
    ),
    Figure(
        "table-saving",
        "Capacity that RARO saves against Hotness, the range over heat and length, and the print",
        [*FOUR, *ONE],
        _savings,
    ),
    Figure(
        "17",
        "IOPS by R2",
        SWEPT,
        _sweep,
        lambda s: _draw_sweep(s, "iops", "reads per second"),
    ),
    Figure(
        "18",
        "Capacity lost by R2",
        SWEPT,
        _sweep,
        lambda s: _draw_sweep(s, "lost_mib", "capacity lost, MiB"),
        "The larger R2, the more is lost.",
    ),
    Figure(
        "12",
        "Capacity lost where the hottest blocks have moved",
        ["reclaim/*/*"],
        _reclaim,
        beside="What has cooled goes back to QLC, and capacity with it; no size is printed.",
    ),
    Figure(
        "table-thresholds",
        "IOPS, bytes migrated and capacity lost with thresholds at both ends",
        ["ends-*/*/*"],
        _ends,
    ),
    Figure(
        "table-fit",
        "Shares of pages with the most retries, each predicted by a fit to the two others",
        [],
        _foretold,
    ),
    Figure(
        "table-linear",
        "Shares of pages with the most retries, by the model's law and one linear in the cycles",
        [],
        _laws,
    ),
    Figure(
        "table-causes",
        "What deviates, and why",
        ["shallow-*/*/*", *(f"{g}/*/*" for g in READINGS), "fixed-*/*/*", *SWEPT],
        _causes,
    ),
)
