"""The figures and tables of HySSD."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from wordline import model, plotting
from wordline.experiments.hyssd import measures as m
from wordline.reproduce.paper import Figure, NotRun, Study

Rows = list[dict[str, Any]]

COLOURS = plotting.colours(["Static", "Perf", "Life"], "Static")
UNITS = ("packed", "unpacked", "mixed")
#: The paper's example: 2 GB of SLC, 8 GB of TLC and 9 GB of data.
EXAMPLE = {"medium.tlc.blocks_per_plane": "342", "capacity.logical": "9GiB"}
#: Of mean response times: curves are cut here, as the paper must have done.
HIGHEST = 4.0

# --- Figure 2: the model -------------------------------------------------------------------------


def _example(study: Study) -> Rows:
    # All of it does not fit into 9 GiB.
    workload = study.paper.workloads["Exchange"] + ":scale=2"
    found = model.curves(device="hyssd-st", workload=workload, scheme="hyssd", set=EXAMPLE)
    return found["points"]


def _draw_hits(study: Study) -> Any:
    rows = _example(study)
    figure, at = plt.subplots(figsize=(4.6, 3.2), layout="constrained")
    model.draw_hits(at, rows)
    at.set_title("Half of Exchange on 2 GiB of SLC")
    return figure


def _draw_cost(study: Study) -> Any:
    rows = _example(study)
    figure, at = plt.subplots(figsize=(4.6, 3.2), layout="constrained")
    model.draw_costs(at, rows)
    at.set_title("9 GiB of data over 2 GiB of SLC and 8 GiB of TLC")
    return figure


# --- Figures 3 and 5: over fixed utilisations ----------------------------------------------------


def _curves(study: Study, drive: str, workload: str, figure: str) -> Rows:
    rows = []
    for units in UNITS:
        if units != "mixed":
            try:
                pairs = zip(*m.curve(study, drive, workload, units, figure), strict=True)
                rows += [
                    {"units": units, "scheme": "Static", "u": float(u), figure: float(value)}
                    for u, value in pairs
                ]
            except NotRun:
                continue
        for scheme in ("Perf", "Life"):
            try:
                value = m.dynamic(study, drive, workload, units, scheme, figure)
                last = m.chosen(study.report(workload, scheme, f"{drive}-{units}"))[-1, 1]
            except NotRun:
                continue
            rows.append({"units": units, "scheme": scheme, "u": float(last), figure: value})
    return rows


def _draw_curves(study: Study, drive: str, workload: str, figure: str, printed: float) -> Any:
    rows = _curves(study, drive, workload, figure)
    shown = [units for units in UNITS if any(row["units"] == units for row in rows)]
    picture, axes = plt.subplots(
        1,
        len(shown),
        figsize=(3.1 * len(shown) + 0.4, 3.2),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    least = min(row[figure] for row in rows)
    for at, units in zip(axes[0], shown, strict=True):
        fixed = "packed" if units == "mixed" else units
        static = [r for r in rows if r["units"] == fixed and r["scheme"] == "Static"]
        at.plot(
            [r["u"] for r in static],
            [r[figure] for r in static],
            "o-",
            ms=3.5,
            color=COLOURS["Static"],
            label="Static",
        )
        for scheme, dash in (("Perf", "-"), ("Life", (0, (5, 2)))):
            for row in rows:
                if (row["units"], row["scheme"]) == (units, scheme):
                    colour = COLOURS[scheme]
                    at.axhline(row[figure], color=colour, lw=1.4, ls=dash, label=scheme)
        at.axvline(printed, color=plotting.PRINTED, lw=0.8, ls=":", label="turn as printed")
        at.set_xlim(0, 1)
        at.set_title(units)
        at.set_xlabel("utilisation of the superior SSD")
    axes[0][0].set_ylabel(
        "mean response time, ms" if figure == "response" else "remaining lifetime L"
    )
    if figure == "response":
        axes[0][0].set_ylim(0, HIGHEST * least)
    else:
        axes[0][0].set_ylim(0)
    plotting.legend_above(picture, axes[0][0])
    return picture


# --- Figure 4: utilisation over time -------------------------------------------------------------


def _over_time(study: Study, workload: str) -> Rows:
    rows = []
    for units in UNITS:
        for scheme in ("Perf", "Life"):
            try:
                found = m.chosen(study.report(workload, scheme, f"ST-{units}"))
            except NotRun:
                continue
            rows += [
                {"units": units, "scheme": scheme, "page_writes": int(w), "u": float(u)}
                for w, u in found
            ]
    return rows


def _draw_over_time(study: Study, workload: str) -> Any:
    rows = _over_time(study, workload)
    shown = [units for units in UNITS if any(row["units"] == units for row in rows)]
    picture, axes = plt.subplots(
        1,
        len(shown),
        figsize=(3.1 * len(shown) + 0.4, 3.0),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for at, units in zip(axes[0], shown, strict=True):
        for scheme in ("Perf", "Life"):
            here = [r for r in rows if (r["units"], r["scheme"]) == (units, scheme)]
            x = np.array([r["page_writes"] for r in here]) / 1e6
            u = [r["u"] for r in here]
            at.step(x, u, where="post", color=COLOURS[scheme], lw=1.4, label=scheme)
        at.set_ylim(0, 1)
        at.set_title(units)
        at.set_xlabel("page writes, millions")
    axes[0][0].set_ylabel("utilisation of the superior SSD")
    plotting.legend_above(picture, axes[0][0])
    return picture


# --- tables --------------------------------------------------------------------------------------


def _table_1(study: Study) -> Rows:
    rows = []
    for workload in ("Financial", "Exchange"):
        try:
            rows.append({"workload": workload, **m.characteristics(study, workload)})
        except NotRun:
            continue
    return rows


def _table_2(study: Study) -> Rows:
    rows = []
    for mode in ("SLC", "MLC", "TLC"):
        try:
            rows.append({"medium": mode, **m.specifications(study, mode)})
        except NotRun:
            continue
    return rows


def _table_dynamic(study: Study) -> Rows:
    rows = []
    for drive in ("ST", "MT"):
        for workload in ("Financial", "Exchange"):
            for units in UNITS:
                try:
                    rows.append(
                        {
                            "drive": drive,
                            "workload": workload,
                            "units": units,
                            "response time, Life over Perf": m.life_over_perf(
                                study, drive, workload, units
                            ),
                            "lifetime, Life over Perf": m.life_gain(study, drive, workload, units),
                        }
                    )
                except NotRun:
                    continue
    return rows


def _table_lifetime(study: Study) -> Rows:
    rows = []
    for name, report in study.reports.items():
        life = report.lifetime
        modes = {f"L of {mode.upper()}": row.left for mode, row in life.by_mode.items()}
        rows.append(
            {
                "run": name,
                "mean response, ms": m.response_ms(report),
                "WAF": report.waf.total,
                "L": life.left,
                **modes,
                "TBW": None
                if life.total_bytes_written is None
                else life.total_bytes_written / 1e12,
                "years": life.years,
                "DWPD": life.drive_writes_per_day,
            }
        )
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return [{column: row.get(column) for column in columns} for row in rows]


def _table_causes(study: Study) -> Rows:
    """Return where the turns lie, by response time and by the time that the flash works."""
    rows = []
    for kind in ("ST-packed", "ST-aged", "ST-waited", "MT-packed", "MT-aged"):
        drive, _, state = kind.partition("-")
        for workload in ("Financial", "Exchange"):
            try:
                u, response = m.curve(study, drive, workload, state, "response")
                flash = m.curve(study, drive, workload, state, "flash")[1]
                lifetime = m.curve(study, drive, workload, state, "lifetime")[1]
                perf = {
                    figure: m.dynamic(study, drive, workload, state, "Perf", figure)
                    for figure in ("response", "flash")
                }
            except (NotRun, KeyError):
                continue
            rows.append(
                {
                    "runs": f"{kind}/{workload}",
                    "least response at u": float(u[np.argmin(response)]),
                    "Perf over it": float(perf["response"] / response.min()),
                    "least time of flash at u": float(u[np.argmin(flash)]),
                    "Perf over that": float(perf["flash"] / flash.min()),
                    "longest life at u": float(u[np.nanargmax(lifetime)]),
                }
            )
    return rows


def _both(number: str, figure: str, title: str, printed: float, beside: str) -> Figure:
    drive, workload = {
        "a": ("ST", "Financial"),
        "b": ("ST", "Exchange"),
        "c": ("MT", "Financial"),
        "d": ("MT", "Exchange"),
    }[number[-1]]
    return Figure(
        number,
        f"{title} of {drive}-SSD under {workload}",
        [f"{drive}-*/{workload}/*"],
        lambda s: _curves(s, drive, workload, figure),
        lambda s: _draw_curves(s, drive, workload, figure, printed),
        beside,
    )


FIGURES = [
    Figure(
        "table-1",
        "the workloads",
        ["ST-packed/*/50%"],
        _table_1,
        beside="Financial 5.73, 7.2, 6.76, 28.16; Exchange 9.81, 12.56, 37.43, 41.34.",
    ),
    Figure(
        "table-2",
        "the flash",
        ["?T-packed/Financial/50%"],
        _table_2,
        beside="the same; 16 GB of TLC do not divide into eight dies, and a few blocks are more.",
    ),
    Figure(
        "2a",
        "hit rates of the model, for the sizes of the paper's example",
        [],
        _example,
        _draw_hits,
        "an example curve that rises to .8; no workload is named.",
    ),
    Figure(
        "2b",
        "costs of the model, for the sizes of the paper's example",
        [],
        _example,
        _draw_cost,
        "the least cost at u = .63, which is 1.26 GB of 9.",
    ),
    _both("3a", "response", "mean response time", 0.60, "the optimum at 60 %."),
    _both("3b", "response", "mean response time", 0.80, "the optimum at 80 %."),
    _both("3c", "response", "mean response time", 0.30, "the optimum at 30 %."),
    _both("3d", "response", "mean response time", 0.70, "the optimum at 70 %."),
    Figure(
        "4a",
        "utilisation over time, ST-SSD under Financial",
        ["ST-*/Financial/Perf", "ST-*/Financial/Life"],
        lambda s: _over_time(s, "Financial"),
        lambda s: _draw_over_time(s, "Financial"),
        "both vary; Life ends above Perf.",
    ),
    Figure(
        "4b",
        "utilisation over time, ST-SSD under Exchange",
        ["ST-*/Exchange/Perf", "ST-*/Exchange/Life"],
        lambda s: _over_time(s, "Exchange"),
        lambda s: _draw_over_time(s, "Exchange"),
        "both vary; Life ends above Perf.",
    ),
    _both("5a", "lifetime", "remaining lifetime", 0.80, "the longest at 80 %; Life reaches it."),
    _both("5b", "lifetime", "remaining lifetime", 0.97, "the longest at 97 %; Life reaches it."),
    _both("5c", "lifetime", "remaining lifetime", 0.10, "the longest at 10 %; Life reaches it."),
    _both("5d", "lifetime", "remaining lifetime", 0.60, "the longest at 60 %; Life reaches it."),
    Figure(
        "table-dynamic",
        "what Life costs and gains",
        ["*/*/Perf", "*/*/Life"],
        _table_dynamic,
        beside="response times are slightly higher, lifetimes notably longer; no figures.",
    ),
    Figure(
        "table-causes",
        "where the turns lie on drives in use for long (aged), and with each destage waited for "
        "besides (waited)",
        ["?T-packed/*", "*-aged/*", "*-waited/*"],
        _table_causes,
    ),
    Figure("table-lifetime", "lifetimes of all runs", ["*"], _table_lifetime),
]
