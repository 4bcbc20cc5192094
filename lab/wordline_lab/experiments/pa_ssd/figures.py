"""The figures and tables of PA-SSD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter, PercentFormatter, StrMethodFormatter

from wordline import plotting
from wordline_lab import drawing
from wordline_lab.experiments.pa_ssd import measures as m
from wordline_lab.experiments.pa_ssd import tables, times
from wordline_lab.reproduce.paper import Figure, Study

Rows = list[dict[str, Any]]

BEST = "QDS+UBS"
NAMES = {"lsb": "LSB", "csb": "CSB", "msb": "MSB"}
COLOURS = plotting.colours([m.BASELINE, *m.SCHEMES], m.BASELINE)
SLC = "#0072B2"
#: Averages over the eight workloads that the text of section 6.1 prints.
PRINTED_WRITE = {"US": 0.90, "LFS": 0.15, "SBS+US": 0.46, "QDS+US": 0.40, "QDS+UBS": 1 / 2.4}
PRINTED_READ = {"US": 0.82, "LFS": 0.58, "SBS+US": 0.64, "QDS+US": 0.55, "QDS+UBS": 1 / 1.5}

# --- Figures 1 and 10 ----------------------------------------------------------------------------


def _shares(study: Study, schemes: Sequence[str]) -> Rows:
    return [
        {"scheme": scheme, **{page: m.dominated(study, "DAP", scheme, page) for page in m.PAGES}}
        for scheme in schemes
    ]


def _stacks(rows: Rows, title: str) -> Any:
    """Draw stacked bars of the shares of the three types, one a scheme."""
    width = 1.6 + 0.8 * len(rows)
    figure, at = plt.subplots(figsize=(max(width, 3.6), 3.4), layout="constrained")
    below = np.zeros(len(rows))
    for page in m.PAGES:
        values = np.array([row[page] for row in rows])
        at.bar(range(len(rows)), values, 0.62, below, color=drawing.PAGES[page], label=NAMES[page])
        for x, value, low in zip(range(len(rows)), values, below, strict=True):
            dark = page != "lsb"
            if value > 0.05:
                at.text(
                    x,
                    low + value / 2,
                    f"{100 * value:.0f}",
                    ha="center",
                    va="center",
                    fontsize=8.5,
                    color="white" if dark else "#222222",
                )
        below += values
    at.set_xticks(range(len(rows)), [row["scheme"] for row in rows])
    at.set_ylim(0, 1)
    at.yaxis.set_major_formatter(PercentFormatter(1))
    at.set_ylabel("writes")
    at.grid(axis="x", visible=False)
    at.set_title(title)
    drawing.legend_above(figure, title="slowest page")
    return figure


def _cdf_rows(study: Study) -> Rows:
    found = []
    for name, report in _cdf_reports(study).items():
        points = report.latency_cdf.write
        found += [{"scheme": name, "write_ms": x / 1e3, "share": y} for x, y in points]
    return found


def _cdf_reports(study: Study) -> dict[str, Any]:
    return {
        m.BASELINE: study.report("DAP", m.BASELINE),
        BEST: study.report("DAP", BEST),
        "SLC mode": study.report("DAP", "SLC mode", "slc-mode"),
    }


def _cdf(study: Study, most_ms: float, title: str) -> Any:
    figure, at = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
    for name, report in _cdf_reports(study).items():
        points = report.latency_cdf.write
        colour = SLC if name == "SLC mode" else COLOURS[name]
        at.step(points[:, 0] / 1e3, points[:, 1], where="post", color=colour, lw=1.6, label=name)
    at.set_xlim(0, most_ms)
    at.set_ylim(0, 1)
    at.yaxis.set_major_formatter(PercentFormatter(1))
    at.set_xlabel("write latency, ms")
    at.set_ylabel("writes that are over")
    at.set_title(title)
    drawing.legend_above(figure, at)
    return figure


# --- Figure 5 ------------------------------------------------------------------------------------

PAGES_OF_A_WRITE = (1, 2, 3, 4, 6, 8, 16)


def _chances(study: Study) -> Rows:
    formulas = {
        "lsb": lambda n: (1 / 3) ** n,
        "csb": lambda n: (2 / 3) ** n - (1 / 3) ** n,
        "msb": lambda n: 1 - (2 / 3) ** n,
    }
    return [
        {
            "pages": n,
            **{f"{page}_formula": formulas[page](n) for page in m.PAGES},
            **{f"{page}_simulated": m.at_zero_load(study, n, page) for page in m.PAGES},
            "baseline_ms": m.zero_load_ms(study, n, m.BASELINE),
            "us_ms": m.zero_load_ms(study, n, "US"),
        }
        for n in PAGES_OF_A_WRITE
    ]


def _draw_chances(study: Study) -> Any:
    rows = _chances(study)
    n = np.linspace(1, 16, 100)
    figure, at = plt.subplots(figsize=(5.8, 3.6), layout="constrained")
    curves = {"lsb": (1 / 3) ** n, "csb": (2 / 3) ** n - (1 / 3) ** n, "msb": 1 - (2 / 3) ** n}
    names = {"lsb": "P_fast: LSB only", "csb": "P_medium: a CSB page", "msb": "P_slow: an MSB page"}
    for page in m.PAGES:
        at.plot(n, curves[page], color=drawing.PAGES[page], lw=1.6, label=names[page])
        found = [row[f"{page}_simulated"] for row in rows]
        at.plot([row["pages"] for row in rows], found, "o", color=drawing.PAGES[page], ms=5)
    at.set_ylim(-0.02, 1.02)
    at.yaxis.set_major_formatter(PercentFormatter(1))
    at.set_xlabel("pages of a write")
    at.set_ylabel("chance")
    at.set_title("Formulas as lines, the baseline at zero load as points")
    drawing.legend_above(figure, at)
    return figure


# --- Figure 9 ------------------------------------------------------------------------------------


def _normalized(study: Study, kind: str) -> Rows:
    rows = []
    for workload in m.ALL:
        row: dict[str, Any] = {
            "workload": workload,
            "baseline_ms": m.latency_ms(study, workload, m.BASELINE, kind),
        }
        row.update({s: m.relative(study, workload, s, kind) for s in m.SCHEMES})
        rows.append(row)
    mean = {s: m.normalized(study, s, kind) for s in m.SCHEMES}
    return [*rows, {"workload": "mean", "baseline_ms": None, **mean}]


def _draw_normalized(study: Study, kind: str, printed: dict[str, float]) -> Any:
    rows = _normalized(study, kind)
    figure, at = plt.subplots(figsize=(9.6, 3.8), layout="constrained")
    width = 0.8 / len(m.SCHEMES)
    places = np.arange(len(rows)) + np.array([0.0] * len(m.ALL) + [0.3])
    top = 1.5
    for number, scheme in enumerate(m.SCHEMES):
        values = np.array([row[scheme] for row in rows])
        x = places + (number - (len(m.SCHEMES) - 1) / 2) * width
        at.bar(x, np.minimum(values, top), width * 0.92, color=COLOURS[scheme], label=scheme)
        for place, value in zip(x, values, strict=True):
            if value > top:
                at.text(
                    place, top, f"{value:.2f}", ha="center", va="bottom", fontsize=8.3, rotation=90
                )
        if scheme in printed:
            at.plot(
                [x[-1] - width / 2, x[-1] + width / 2],
                [printed[scheme]] * 2,
                color=drawing.PRINTED,
                lw=2,
                label="printed, mean" if scheme == "US" else None,
            )
    at.axhline(1, color=plotting.BASELINE, lw=1)
    at.set_xticks(places, [row["workload"] for row in rows])
    at.set_ylim(0, top)
    at.grid(axis="x", visible=False)
    at.set_ylabel(f"mean {kind} latency / baseline's")
    at.set_title("Workloads from light to heavy, as in the paper")
    drawing.legend_above(figure)
    return figure


# --- Figure 11 -----------------------------------------------------------------------------------


def _success(study: Study) -> Rows:
    return [{"workload": w, **{s: m.as_asked(study, w, s) for s in m.SCHEMES}} for w in m.ALL]


def _draw_success(study: Study) -> Any:
    rows = _success(study)
    figure, at = plt.subplots(figsize=(8.4, 3.4), layout="constrained")
    width = 0.8 / len(m.SCHEMES)
    for number, scheme in enumerate(m.SCHEMES):
        x = np.arange(len(rows)) + (number - (len(m.SCHEMES) - 1) / 2) * width
        at.bar(x, [row[scheme] for row in rows], width * 0.92, color=COLOURS[scheme], label=scheme)
    at.axhline(0.98, color=drawing.PRINTED, lw=1, ls=(0, (4, 3)))
    at.text(len(rows) - 0.5, 0.985, "98 %", ha="right", fontsize=8.5)
    low = min(row[s] for row in rows for s in m.SCHEMES)
    at.set_ylim(max(0.0, np.floor(10 * low) / 10 - 0.1), 1.02)
    at.set_xticks(range(len(rows)), [row["workload"] for row in rows])
    at.yaxis.set_major_formatter(PercentFormatter(1))
    at.grid(axis="x", visible=False)
    at.set_ylabel("parts with the type asked for")
    at.set_title("How often pa-BLAlloc finds a page of the type asked for")
    drawing.legend_above(figure)
    return figure


# --- Figure 12 -----------------------------------------------------------------------------------

OVER_TIME = {
    "Fin": (m.BASELINE, "US", "LFS", "QDS+US", BEST),
    "MSFS": (m.BASELINE, "LFS", "QDS+US", BEST),
}


def _over_time(study: Study, workload: str) -> Rows:
    width = times.bin_width_s(study, workload)
    rows = []
    for scheme in OVER_TIME[workload]:
        line = times.over_time(study.report(workload, scheme), width)
        for number in range(len(line["writes"])):
            free = line.get("free_lsb")
            rows.append(
                {
                    "scheme": scheme,
                    "until_h": (number + 1) * width / 3600,
                    "write_ms": _known(line["write_ms"][number]),
                    "free_lsb_pages": None if free is None else _known(free[number]),
                }
            )
    return rows


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _draw_over_time(study: Study, workload: str) -> Any:
    rows = _over_time(study, workload)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.6), layout="constrained")
    unit = "hours" if workload == "Fin" else "quarters of an hour"
    each = 1 if workload == "Fin" else 4
    for scheme in OVER_TIME[workload]:
        here = [row for row in rows if row["scheme"] == scheme]
        x = [row["until_h"] * each * study.scale for row in here]
        colour = COLOURS[scheme]
        drawn = {"color": colour, "lw": 1.6, "marker": "o", "ms": 3}
        write = [np.nan if row["write_ms"] is None else row["write_ms"] for row in here]
        left.plot(x, write, label=scheme, **drawn)
        free = [np.nan if r["free_lsb_pages"] is None else r["free_lsb_pages"] / 1e6 for r in here]
        right.plot(x, free, **drawn)
    if workload == "MSFS":
        left.set_yscale("log")
        left.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        left.yaxis.set_minor_formatter(NullFormatter())
    else:
        left.set_ylim(0)
    right.set_ylim(0)
    left.set_ylabel("mean write latency, ms")
    right.set_ylabel("free LSB pages, millions")
    for at in (left, right):
        at.set_xlabel(unit)
    left.set_title(f"{workload}: writes over time")
    right.set_title("LSB pages left")
    drawing.legend_above(figure)
    return figure


# --- Figure 13 -----------------------------------------------------------------------------------

LONG_TERM = ("LFS", "QDS+US", BEST)
PRINTED_LONG_TERM = {"LFS": 0.34, "QDS+US": 0.21, BEST: 0.07}


def _long_term(study: Study) -> Rows:
    rows = []
    for number in (1, 2, 3):
        base = study.report("MSFS", m.BASELINE, "rounds", number)
        row: dict[str, Any] = {"round": number, "baseline_ms": m.mean_ms(base)}
        for scheme in LONG_TERM:
            own = study.report("MSFS", scheme, "rounds", number)
            row[scheme] = m.mean_ms(own) / m.mean_ms(base)
        rows.append(row)
    return rows


def _draw_long_term(study: Study) -> Any:
    rows = _long_term(study)
    figure, at = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    width = 0.8 / len(LONG_TERM)
    for number, scheme in enumerate(LONG_TERM):
        x = np.arange(len(rows)) + (number - (len(LONG_TERM) - 1) / 2) * width
        at.bar(x, [row[scheme] for row in rows], width * 0.92, color=COLOURS[scheme], label=scheme)
        at.plot(
            [x[-1] - width / 2, x[-1] + width / 2],
            [PRINTED_LONG_TERM[scheme]] * 2,
            color=drawing.PRINTED,
            lw=2,
            label="printed" if scheme == BEST else None,
        )
    at.axhline(1, color=plotting.BASELINE, lw=1)
    at.set_xticks(range(len(rows)), [f"round {row['round']}" for row in rows])
    at.grid(axis="x", visible=False)
    at.set_ylabel("mean write latency / baseline's")
    at.set_title("MSFS again and again")
    drawing.legend_above(figure)
    return figure


# --- Tables --------------------------------------------------------------------------------------

PRINTED_TABLE_2 = {
    "Fin": (5334987, 0.77, 2.7, 14.6, 0.5, 0.06),
    "RA": (2214073, 0.90, 2.3, 15.6, 1.0, 0.12),
    "DAP": (1086729, 0.44, 36.2, 44.1, 12.1, 0.32),
    "RBESS": (5250996, 0.82, 97.0, 47.9, 1.5, 0.30),
    "DTR": (18195701, 0.32, 252.1, 176.1, 3.9, 0.53),
    "Exch": (7450837, 0.46, 37.4, 41.3, 1.6, 0.17),
    "MSFS": (29345085, 0.33, 200.9, 102.3, 1.4, 0.10),
    "BS": (11873555, 0.49, 149.8, 166.2, 3.7, 0.67),
}


def _table_1(study: Study) -> Rows:
    return [{"parameter": k, "value": v} for k, v in tables.configuration(study).items()]


def _table_2(study: Study) -> Rows:
    rows = []
    for workload in m.ALL:
        found = tables.characteristics(study.report(workload, m.BASELINE))
        row: dict[str, Any] = {"workload": workload}
        for (name, value), printed in zip(found.items(), PRINTED_TABLE_2[workload], strict=True):
            row[name] = value
            row[f"{name}, printed"] = printed
        rows.append(row)
    return rows


def _collections(study: Study) -> Rows:
    """Return how often blocks are erased, and how full they are then."""
    rows = []
    for workload in m.ALL:
        base = study.report(workload, m.BASELINE).flash.erases["tlc"]
        for scheme in (m.BASELINE, *m.SCHEMES):
            report = study.report(workload, scheme)
            erases = report.flash.erases["tlc"]
            rows.append(
                {
                    "workload": workload,
                    "scheme": scheme,
                    "collections": erases,
                    "over_baseline": erases / base if base else None,
                    "pages_lost_each": m.pages_lost_each(report),
                    "moved_pages_each": report.flash.programs["gc"].program / erases
                    if erases
                    else None,
                    "waf": report.waf.total,
                }
            )
    return rows


#: Groups of runs that show why a claim does not hold.
CAUSES = ("overload", "idle-collection", "no-collection", "busier", "zero-load-long")


def _causes(study: Study) -> Rows:
    """Return what the runs came to that show why a claim does not hold."""
    rows = []
    for name, report in study.reports.items():
        group, workload, scheme, *round_ = name.split("/")
        if group not in CAUSES:
            continue
        base = study.report(workload, m.BASELINE, group, int(round_[0]) if round_ else 0)
        free = report.timeline.free_pages["lsb"]
        rows.append(
            {
                "runs": group,
                "workload": workload,
                "round": int(round_[0]) if round_ else None,
                "scheme": scheme,
                "write_ms": m.mean_ms(report),
                "over_baseline": m.mean_ms(report) / m.mean_ms(base),
                "read_over_baseline": m.mean_ms(report, "read") / m.mean_ms(base, "read")
                if base.host.read_requests
                else None,
                "as_asked": report.flash.page_types.get("as_asked"),
                "least_free_lsb": min(f for f in free if f is not None) / free[0],
                "waf": report.waf.total,
            }
        )
    return rows


FIGURES = [
    Figure(
        "table-1",
        "the simulated drive",
        ["main/Fin/Baseline*"],
        _table_1,
        beside="the same, with 15 % of over-provisioning; the number of dies is not printed.",
    ),
    Figure(
        "table-2",
        "the workloads",
        ["main/*/Baseline*"],
        _table_2,
        beside="the columns called printed.",
    ),
    Figure(
        "1a",
        "which page is the slowest of a write: the baseline under DAP",
        ["main/DAP/Baseline*"],
        lambda s: _shares(s, [m.BASELINE]),
        lambda s: _stacks(_shares(s, [m.BASELINE]), "DAP"),
        "more than half of the writes wait for an MSB page.",
    ),
    Figure(
        "1b",
        "the same under PA-SSD",
        [f"main/DAP/{BEST}*"],
        lambda s: _shares(s, [BEST]),
        lambda s: _stacks(_shares(s, [BEST]), "DAP"),
        "a third at most.",
    ),
    Figure(
        "1c",
        "distribution of write latencies under DAP",
        ["main/DAP/Baseline*", f"main/DAP/{BEST}*", "slc-mode/*"],
        _cdf_rows,
        lambda s: _cdf(s, 50, "DAP, to 50 ms"),
        "SLC mode before PA-SSD before the baseline.",
    ),
    Figure(
        "1d",
        "the same, up to 7 ms",
        ["main/DAP/Baseline*", f"main/DAP/{BEST}*", "slc-mode/*"],
        _cdf_rows,
        lambda s: _cdf(s, 7, "DAP, to 7 ms"),
        "steps at the program times of the three types.",
    ),
    Figure(
        "5",
        "the chance that a write of n pages is fast, medium or slow",
        ["zero-load/*"],
        _chances,
        _draw_chances,
        "P_fast = (1/3)^n, P_medium = (2/3)^n - (1/3)^n, P_slow = 1 - (2/3)^n.",
    ),
    Figure(
        "9a",
        "mean write latency over the baseline's",
        ["main/*"],
        lambda s: _normalized(s, "write"),
        lambda s: _draw_normalized(s, "write", PRINTED_WRITE),
        "means of -10 % (US), -85 % (LFS), -54 % (SBS+US), -60 % (QDS+US); 2.4 times as fast with "
        "QDS+UBS; -99 % with it under MSFS.",
    ),
    Figure(
        "9b",
        "mean read latency over the baseline's",
        ["main/*"],
        lambda s: _normalized(s, "read"),
        lambda s: _draw_normalized(s, "read", PRINTED_READ),
        "means of -18 % (US), -42 % (LFS), -36 % (SBS+US), -45 % (QDS+US); 1.5 times as fast with "
        "QDS+UBS.",
    ),
    Figure(
        "10",
        "which page is the slowest of a write, under DAP",
        ["main/DAP/*"],
        lambda s: _shares(s, [m.BASELINE, *m.SCHEMES]),
        lambda s: _stacks(_shares(s, [m.BASELINE, *m.SCHEMES]), "DAP"),
        "MSB pages most of all in the baseline, least of all in PA-SSD; US 34, 33, 33 %.",
    ),
    Figure(
        "11",
        "success of the allocator",
        ["main/*"],
        _success,
        _draw_success,
        "more than 98 % but for LFS.",
    ),
    Figure(
        "12a",
        "Fin over time",
        [f"main/Fin/{s}*" for s in OVER_TIME["Fin"]],
        lambda s: _over_time(s, "Fin"),
        lambda s: _draw_over_time(s, "Fin"),
        "LFS has no LSB pages left in the last hour.",
    ),
    Figure(
        "12b",
        "MSFS over time",
        [f"main/MSFS/{s}*" for s in OVER_TIME["MSFS"]],
        lambda s: _over_time(s, "MSFS"),
        lambda s: _draw_over_time(s, "MSFS"),
        "LFS rises after 7 quarters, QDS+UBS after 22.",
    ),
    Figure(
        "13",
        "the third round of MSFS",
        ["rounds/*"],
        _long_term,
        _draw_long_term,
        "in the third round -66 % (LFS), -79 % (QDS+US), -93 % (QDS+UBS).",
    ),
    Figure(
        "table-collections",
        "how often blocks are collected",
        ["main/*"],
        _collections,
        beside="less than 1 % between the schemes (section 6.1).",
    ),
    Figure(
        "table-causes",
        "runs that show why a claim does not hold",
        [f"{group}/*" for group in CAUSES],
        _causes,
        beside="nothing of the kind; what each run shows is said under the claims that deviate.",
    ),
]
