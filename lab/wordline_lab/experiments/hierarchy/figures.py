"""The figures and tables of Hierarchy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter

from wordline import plotting
from wordline_lab import drawing
from wordline_lab.experiments.hierarchy import measures as m
from wordline_lab.reproduce.paper import Figure, Study

Rows = list[dict[str, Any]]

COLOURS = plotting.colours(list(m.SCHEMES), m.BASELINE)
MODES = {
    "flushed": "answered from flash, compressed",
    "flushed-fresh": "the same, pages have only what their first read asks for",
    "merge": "answered from the merge buffer",
    "program": "answered from flash",
    "buffer": "answered from a write buffer, compressed",
}
#: Bars lower than this share of the axis cannot be seen, and have their value over them.
SEEN = 0.03
#: Means that the text of section IV-B prints, over the Baseline's.
PRINTED = {
    "write": {"SA": 0.749 / 0.874, "Sector": 0.749 / 0.811, "Hierarchy": 0.749},
    "read": {"SA": 0.896 / 0.932, "Sector": 0.896 / 0.507, "Hierarchy": 0.896},
    "gc reads": {"SA": 0.832, "Sector": 0.832 / 0.741, "Hierarchy": 0.832},
    "migrated": {"SA": 0.715 / 0.797, "Sector": 0.715 / 0.953, "Hierarchy": 0.715},
}
QUARTERS = ("4 KiB", "8 KiB", "12 KiB", "16 KiB")

# --- Figure 1 ----------------------------------------------------------------------------------


def _updates(study: Study) -> Rows:
    return [
        {"trace": trace, **dict(zip(QUARTERS, m.update_sizes(study, trace), strict=True))}
        for trace in m.TRACES
    ]


def _draw_updates(study: Study) -> Any:
    rows = _updates(study)
    figure, at = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    x, bottom = np.arange(len(rows)), np.zeros(len(rows))
    for quarter, colour in zip(QUARTERS, ("#08306b", "#4292c6", "#9ecae1", "#dbe7f3"), strict=True):
        height = np.array([r[quarter] for r in rows])
        at.bar(x, height, 0.6, bottom=bottom, color=colour, label=f"up to {quarter}")
        bottom += height
    for bound in (0.531, 0.792):
        at.axhline(bound, color=drawing.PRINTED, lw=0.8, ls=":")
    at.yaxis.set_major_formatter(PercentFormatter(1))
    at.set_ylabel("updates in the cache")
    at.set_xticks(x, [r["trace"] for r in rows])
    at.grid(axis="x", visible=False)
    drawing.legend_above(figure, at)
    return figure


# --- bars over the Baseline --------------------------------------------------------------------


def _ran(study: Study, groups: Iterable[str]) -> tuple[str, ...]:
    """Return the groups of which runs are there."""
    there = {name.split("/")[0] for name in study.reports}
    return tuple(group for group in groups if group in there)


def _bars(study: Study, figure: str, groups: tuple[str, ...], schemes: tuple[str, ...]) -> Rows:
    """Each scheme over the Baseline, by trace, with the mean last."""
    rows: Rows = []
    for group in _ran(study, groups):
        for trace in (*m.TRACES, "mean"):
            for scheme in schemes:
                if trace == "mean":
                    over = m.mean_ratio(study, group, scheme, figure)
                    own, printed = None, PRINTED.get(figure, {}).get(scheme)
                else:
                    over = m.ratio(study, trace, group, scheme, figure)
                    own = m.FIGURES[figure](study.report(trace, scheme, group))
                    printed = None
                rows.append(
                    {
                        "acknowledgement": group,
                        "trace": trace,
                        "scheme": scheme,
                        "figure": own,
                        "over_baseline": over,
                        "printed": printed,
                    }
                )
    return rows


def _draw_bars(
    study: Study, figure: str, groups: tuple[str, ...], schemes: tuple[str, ...], label: str
) -> Any:
    groups = _ran(study, groups)
    rows = _bars(study, figure, groups, schemes)
    picture, axes = plt.subplots(
        len(groups), 1, figsize=(7.6, 2.3 * len(groups) + 0.6), squeeze=False, layout="constrained"
    )
    traces = [*m.TRACES, "mean"]
    width = 0.8 / len(schemes)
    for at, group in zip(axes[:, 0], groups, strict=True):
        x = np.arange(len(traces))
        for i, scheme in enumerate(schemes):
            here = [r for r in rows if r["acknowledgement"] == group and r["scheme"] == scheme]
            place = x + (i - (len(schemes) - 1) / 2) * width
            over = [r["over_baseline"] or 0.0 for r in here]
            at.bar(place, over, width, color=COLOURS[scheme], label=scheme)
            highest = max(r["over_baseline"] or 0.0 for r in rows if r["acknowledgement"] == group)
            for where, row in zip(place, here, strict=True):
                value = row["over_baseline"]
                if value is not None and value < SEEN * highest:
                    at.annotate(
                        f"{value:.2g}",
                        (where, value),
                        (0, 2),
                        textcoords="offset points",
                        rotation=90,
                        ha="center",
                        va="bottom",
                        fontsize=6,
                        color=COLOURS[scheme],
                    )
            printed = here[-1]["printed"]
            if printed is not None:
                at.plot(place[-1], printed, "D", ms=4, mfc="none", mec=drawing.PRINTED)
        at.set_ylim(0)
        at.axhline(1, color="#555555", lw=0.6)
        at.set_xticks(x, traces)
        at.set_ylabel(label)
        at.set_title(MODES[group])
        at.grid(axis="x", visible=False)
    drawing.legend_above(picture, axes[0, 0])
    return picture


# --- Figure 7 ----------------------------------------------------------------------------------


def _division(study: Study) -> Rows:
    rows: Rows = []
    for trace in m.TRACES:
        share = m.points(m.l1_share(study, trace))
        quota = m.points(1 - m.followed(study, trace, "cur_ratio"))
        rows += [
            {
                "trace": trace,
                "write_requests": (i + 1) * 1024 * m.POINT,
                "l1_share": float(own),
                "l2_share": float(1 - own),
                "l1_quota": float(asked),
            }
            for i, (own, asked) in enumerate(zip(share, quota, strict=True))
        ]
    return rows


def _draw_division(study: Study) -> Any:
    rows = _division(study)
    figure, axes = plt.subplots(2, 4, figsize=(9.2, 4.0), sharey=True, layout="constrained")
    for at, trace in zip(axes.flat, m.TRACES, strict=True):
        here = [r for r in rows if r["trace"] == trace]
        x = [r["write_requests"] / 10240 for r in here]
        own = [r["l1_share"] for r in here]
        at.fill_between(x, own, step="mid", color="#4c3fbf", alpha=0.75, lw=0)
        at.fill_between(x, own, 1, step="mid", color="#1f8a80", alpha=0.35, lw=0)
        at.plot(x, [r["l1_quota"] for r in here], color=drawing.PRINTED, lw=0.8)
        at.set_ylim(0, 1)
        at.set_title(trace)
        at.yaxis.set_major_formatter(PercentFormatter(1))
    axes[0, 0].text(0.04, 0.05, "L1", transform=axes[0, 0].transAxes, color="white")
    axes[0, 0].text(0.04, 0.9, "L2", transform=axes[0, 0].transAxes)
    for at in axes[1]:
        at.set_xlabel("write requests, 1024 x 10")
    for at in axes[:, 0]:
        at.set_ylabel("blocks of the cache")
    return figure


# --- Tables ------------------------------------------------------------------------------------


def _configuration(study: Study) -> Rows:
    return [{"item": k, "value": v} for k, v in m.configuration(study).items()]


def _traces(study: Study) -> Rows:
    return [
        {
            "trace": trace,
            "requests": int(m.table_2(study, trace, "requests")),
            "write_ratio": m.table_2(study, trace, "write ratio"),
            "write_kib": m.table_2(study, trace, "write KiB"),
            "read_kib": m.table_2(study, trace, "read KiB"),
        }
        for trace in m.TRACES
    ]


def _space(study: Study) -> Rows:
    rows: Rows = []
    for scheme in m.SCHEMES[1:]:
        table = study.report("hm_0", scheme, "merge").to_dict()["memory"]
        rows.append(
            {
                "scheme": scheme,
                "entries": int(m.sector_table(study, scheme, "entries")),
                "bytes_an_entry": m.sector_table(study, scheme, "bytes an entry"),
                "mib_beside_the_page_map": m.sector_table(study, scheme, "MiB"),
                "mib_held_by_the_engine": table["map_bytes"] / m.MIB,
            }
        )
    return rows


def _averages(study: Study) -> Rows:
    """Mean reductions against each competitor, and their mean, as section IV-B prints them."""
    printed = {
        "write": {"Baseline": 0.251, "SA": 0.126, "Sector": 0.189, "mean": 0.187},
        "read": {"Baseline": 0.104, "SA": 0.068, "Sector": 0.493, "mean": 0.221},
    }
    rows: Rows = []
    for group in _ran(study, MODES):
        for kind, of in printed.items():
            found = {
                other: m.mean_over(study, kind, "Hierarchy", other, group)
                for other in ("Baseline", "SA", "Sector")
            }
            less = {other: 1 - value for other, value in found.items() if value is not None}
            less["mean"] = sum(less.values()) / len(less) if less else float("nan")
            rows += [
                {
                    "acknowledgement": group,
                    "latency": kind,
                    "against": other,
                    "less_by": value,
                    "printed": of[other],
                }
                for other, value in less.items()
            ]
    return rows


def _shares(study: Study) -> Rows:
    return [
        {
            "trace": trace,
            "windows_below_the_cap": m.below_cap(study, trace),
            "ends_within_a_tenth_of_it": "yes" if m.ends_near_cap(study, trace) else "no",
            "quota_at_least": 1 - m.followed(study, trace, "cur_ratio").max(),
        }
        for trace in m.TRACES
    ]


def _speedup(workload: str) -> float:
    """How much closer a spelled workload has its arrivals."""
    return float(workload.rpartition("speedup=")[2])


def _closer(study: Study) -> Rows:
    """Latencies of lun2 answered from flash, by how much closer its arrivals come."""
    spelled = {
        (workload, group): _speedup(run.workload)
        for name, run in study.paper.runs.items()
        for group, workload, scheme in [name.split("/")[:3]]
        if scheme == m.BASELINE and (group == "closer" or (group, workload) == (m.MAIN, "lun2"))
    }
    rows: Rows = []
    for at, step in sorted(spelled.items(), key=lambda item: item[1]):
        row: dict[str, Any] = {"arrivals": f"x {step:g}{' (chosen)' * (at[1] == m.MAIN)}"}
        for kind in ("write", "read"):
            for scheme in m.SCHEMES:
                report = study.report(at[0], scheme, at[1])
                row[f"{kind}_us {scheme}"] = getattr(report.latency_us, kind).mean
        rows.append(row)
    return rows


def _causes(study: Study) -> Rows:
    def row(claims: str, what: str, value: float | None) -> dict[str, Any]:
        return {"claims": claims, "what": what, "value": value}

    rows = [
        row(
            "1-reads",
            "reads an update, if the cache is collected meanwhile",
            m.reads_an_update(study, "updates-collected"),
        )
    ]
    for trace in ("hm_0", "web_0"):
        for group, hot in ((m.MAIN, "the same sectors"), ("loose", "other sectors each time")):
            value = m.whole_page_reads_over_baseline(study, trace, "Sector", group)
            what = (
                f"pages read in the cache for whole pages over the Baseline, Sector, {trace}, "
                f"hot writes to {hot}"
            )
            rows.append(row("2", what, value))
    laws = (("hm_0", m.MAIN, "itself"), ("slice", "rewritten", "its slice"))
    for workload, group, law in (*laws, ("rsrch", "rewritten", "rsrch_1")):
        for claims, figure, what in (
            ("2", "whole reads", "pages read in the cache for whole pages"),
            ("6a", "gc reads", "pages read by collections"),
        ):
            for scheme in m.SCHEMES[1:]:
                value = m.ratio(study, workload, group, scheme, figure)
                said = f"{what} over the Baseline, {scheme}, hm_0, written again as in {law}"
                rows.append(row(claims, said, value))
    for step in ("down", "up"):
        what = f"windows over the bound, every window with the mix itself, {step}"
        rows.append(row("7-follows", what, m.windows_over_bound(study, step, "steps-even")))
    for claims, figure, what in (
        ("4a", "write", "write latency"),
        ("4b", "read", "read latency"),
        ("5", "slc reads", "pages read in the cache"),
        ("6a", "gc reads", "pages read by collections"),
        ("6b", "migrated", "volume migrated"),
    ):
        for group, runs in ((m.MAIN, "one"), ("any", "any")):
            value = m.mean_of(study, group, "Hierarchy", figure)
            rows.append(row(claims, f"{what} over the Baseline, runs={runs}, mean", value))
    for trace in ("lun1", "lun2", "lun3", "lun4", "web_1"):
        whole = m.read_a_block(study, trace)
        rows.append(row("6a", f"pages of L1 read a block of 128, {trace}", whole))
        of_base = m.moved_a_block(study, trace)
        rows.append(row("6a, 6-web_1", f"pages moved a block of 128, Baseline, {trace}", of_base))
    for scheme in m.SCHEMES:
        share = m.migrated_share(study, "web_1", scheme, "all-hot")
        rows.append(row("6-web_1", f"share migrated, every write hot, {scheme}", share))
    for scheme in m.SCHEMES:
        latency = study.report("lun2", scheme, "unbounded").latency_us.write.mean
        rows.append(row("4a", f"write latency with no timeout, {scheme}, lun2, us", latency))
    for scheme in m.SCHEMES:
        suspended = study.report("lun2", scheme, "suspended").latency_us
        for what, latency in (("write", suspended.write.mean), ("read", suspended.read.mean)):
            said = f"{what} latency where reads set programs and erases aside, {scheme}, lun2, us"
            rows.append(row("4a, 4b", said, latency))
    states = (("whole", "whole pages"), (m.MAIN, "sectors"), ("flushed-fresh", "first reads"))
    for group, state in states:
        for scheme in ("SA", "Hierarchy"):
            what = f"reads before writes of {scheme} over the Baseline's, lun2, {state} at first"
            rows.append(row("4a, 6", what, m.fills_over_baseline(study, "lun2", scheme, group)))
            what = (
                f"programmed in the cache by {scheme} over the Baseline's, lun2, {state} at first"
            )
            rows.append(row("4a, 6", what, m.programs_over_baseline(study, "lun2", scheme, group)))
    for group in (m.MAIN, "flushed-fresh"):
        for scheme in m.SCHEMES:
            flash, waiting = m.read_parts(study, "lun2", scheme, group)
            rows.append(row("4b", f"reads at die and bus, {scheme}, lun2, {group}, us", flash))
            rows.append(row("4b", f"reads behind others, {scheme}, lun2, {group}, us", waiting))
    return rows


ALL = tuple(MODES)
COUNTS = ("flushed", "flushed-fresh", "merge", "buffer")
TWO = (m.BASELINE, "Sector")


def _bar_figure(
    number: str,
    title: str,
    figure: str,
    groups: tuple[str, ...],
    schemes: tuple[str, ...],
    label: str,
    beside: str,
) -> Figure:
    return Figure(
        number,
        title,
        [f"{group}/*/*" for group in groups],
        lambda study: _bars(study, figure, groups, schemes),
        lambda study: _draw_bars(study, figure, groups, schemes, label),
        beside,
    )


FIGURES = (
    Figure("table-1", "The drive", ["merge/hm_0/Baseline"], _configuration),
    Figure("table-2", "The traces", ["merge/*/Baseline"], _traces),
    Figure(
        "1",
        "Sizes of the updates of pages in the cache",
        ["merge/*/Baseline", "updates/*/*"],
        _updates,
        _draw_updates,
        "53.1 to 79.2 % have 4 KiB or less (dotted).",
    ),
    _bar_figure(
        "2",
        "Pages read in the cache for whole pages, by pages and by sectors",
        "whole reads",
        COUNTS,
        TWO,
        "over the Baseline",
        "Between 1.39 and 2.24 times as many.",
    ),
    _bar_figure(
        "4a",
        "Write latency",
        "write",
        ALL,
        m.SCHEMES,
        "over the Baseline",
        "Hierarchy is 25.1 %, 12.6 % and 18.9 % below Baseline, SA and Sector (diamonds).",
    ),
    _bar_figure(
        "4b",
        "Read latency",
        "read",
        ALL,
        m.SCHEMES,
        "over the Baseline",
        "Hierarchy is 10.4 %, 6.8 % and 49.3 % below Baseline, SA and Sector (diamonds).",
    ),
    _bar_figure(
        "5",
        "Pages read in the cache",
        "slc reads",
        COUNTS,
        m.SCHEMES,
        "over the Baseline",
        "Sector reads the most.",
    ),
    _bar_figure(
        "6a",
        "Pages read by collections of the cache",
        "gc reads",
        COUNTS,
        m.SCHEMES,
        "over the Baseline",
        "Hierarchy reads 16.8 % and 25.9 % less than Baseline and Sector, and as much as SA.",
    ),
    _bar_figure(
        "6b",
        "Volume migrated to TLC",
        "migrated",
        COUNTS,
        m.SCHEMES,
        "over the Baseline",
        "Hierarchy migrates 28.5 %, 20.3 % and 4.7 % less than Baseline, SA and Sector.",
    ),
    Figure(
        "7",
        "The cache divided",
        ["merge/*/Hierarchy", "division/*/*", "steps/*/*"],
        _division,
        _draw_division,
        "The line is the quota that Algorithm 1 asks for.",
    ),
    Figure("table-division", "How often L1 is below its cap", ["merge/*/Hierarchy"], _shares),
    Figure("table-space", "Space (section IV-C)", ["merge/hm_0/*"], _space),
    Figure(
        "table-averages",
        "Reductions of latency (section IV-B)",
        [f"{group}/*/*" for group in ALL],
        _averages,
    ),
    Figure(
        "table-closer",
        "lun2 answered from flash, by how much closer its arrivals come",
        ["closer/*/*", "flushed/lun2/*"],
        _closer,
    ),
    Figure(
        "table-causes",
        "What deviates, and why",
        [
            "updates-collected/*/*",
            "steps-even/*/*",
            "any/*/*",
            "rewritten/*/*",
            "unbounded/*/*",
            "suspended/*/*",
            "all-hot/*/*",
            "whole/*/*",
            "flushed/*/*",
            "flushed-fresh/lun2/*",
        ],
        _causes,
    ),
)
