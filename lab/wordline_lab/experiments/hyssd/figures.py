"""The figures and tables of HySSD."""

from __future__ import annotations

from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from wordline import model, plotting
from wordline_lab import drawing
from wordline_lab.experiments.hyssd import measures as m
from wordline_lab.reproduce.paper import Figure, NotRun, Study

Rows = list[dict[str, Any]]

COLOURS = plotting.colours(["Static", "Perf", "Life"], "Static")
#: Readings that a picture shows beside that of the claims, where they were run.
READINGS = {
    "": "read-modify-write",
    "packed": "units share pages",
    "unpacked": "a page each",
    "aged": "no block erased",
}
#: Of mean response times: curves are cut here, as the paper must have done.
HIGHEST = 4.0

# --- Figure 2: the model -------------------------------------------------------------------------


def _example(study: Study) -> Rows:
    return m.example(study)["points"]


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
    for as_, reading in READINGS.items():
        if f"{m.group(drive, as_)}/{workload}/Perf" not in study.paper.runs:
            continue
        try:
            pairs = zip(*m.curve(study, drive, workload, figure, as_), strict=True)
            rows += [
                {"reading": reading, "scheme": "Static", "u": float(u), figure: float(value)}
                for u, value in pairs
            ]
        except NotRun:
            continue
        for scheme in ("Perf", "Life"):
            try:
                value = m.dynamic(study, drive, workload, scheme, figure, as_)
                last = m.chosen(study.report(workload, scheme, m.group(drive, as_)))[-1, 1]
            except NotRun:
                continue
            rows.append({"reading": reading, "scheme": scheme, "u": float(last), figure: value})
    return rows


def _draw_curves(study: Study, drive: str, workload: str, figure: str, printed: float) -> Any:
    rows = _curves(study, drive, workload, figure)
    shown = list(dict.fromkeys(row["reading"] for row in rows))
    picture, axes = plt.subplots(
        1,
        len(shown),
        figsize=(max(3.1 * len(shown) + 0.4, 4.6), 3.2),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    least = min(row[figure] for row in rows)
    for at, reading in zip(axes[0], shown, strict=True):
        static = [r for r in rows if r["reading"] == reading and r["scheme"] == "Static"]
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
                if (row["reading"], row["scheme"]) == (reading, scheme):
                    colour = COLOURS[scheme]
                    at.axhline(row[figure], color=colour, lw=1.4, ls=dash, label=scheme)
        at.axvline(printed, color=drawing.PRINTED, lw=0.8, ls=":", label="turn as printed")
        at.set_xlim(0, 1)
        at.set_title(reading)
        at.set_xlabel("utilisation of the superior SSD")
    axes[0][0].set_ylabel(
        "mean response time, ms" if figure == "response" else "remaining lifetime L"
    )
    if figure == "response":
        axes[0][0].set_ylim(0, HIGHEST * least)
    else:
        axes[0][0].set_ylim(0)
    drawing.legend_above(picture, axes[0][0])
    return picture


# --- Figure 4: utilisation over time -------------------------------------------------------------


def _over_time(study: Study, workload: str) -> Rows:
    rows = []
    for scheme in ("Perf", "Life"):
        found = m.chosen(study.report(workload, scheme, "day"))
        rows += [{"scheme": scheme, "page_writes": int(w), "u": float(u)} for w, u in found]
    return rows


def _draw_over_time(study: Study, workload: str) -> Any:
    rows = _over_time(study, workload)
    picture, at = plt.subplots(figsize=(4.6, 3.0), layout="constrained")
    for scheme in ("Perf", "Life"):
        here = [r for r in rows if r["scheme"] == scheme]
        x = np.array([r["page_writes"] for r in here]) / 1e6
        at.step(
            x, [r["u"] for r in here], where="post", color=COLOURS[scheme], lw=1.4, label=scheme
        )
    at.set_ylim(0, 1)
    at.set_xlabel("page writes, millions")
    at.set_ylabel("utilisation of the superior SSD")
    drawing.legend_above(picture, at)
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
    for drive, workload in product(("ST", "MT"), ("Financial", "Exchange")):
        try:
            rows.append(
                {
                    "drive": drive,
                    "workload": workload,
                    "response time, Perf over the best": m.perf_over_best(study, drive, workload),
                    "response time, Life over Perf": m.life_over_perf(study, drive, workload),
                    "lifetime, Life over Perf": m.life_gain(study, drive, workload),
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


#: Groups whose runs have a row each in the table of causes.
SINGLY = ("MT-half-roomiest", "MT-half", "SM", "ST-low")


def _runs_singly(study: Study) -> Rows:
    """Return single runs: about u = 50 %, of SLC beside MLC, of low utilisations."""
    rows = []
    for name in study.paper.runs:
        here, workload, scheme = name.split("/")
        if here not in SINGLY:
            continue
        try:
            report = study.report(workload, scheme, here)
        except NotRun:
            continue
        write = report.latency_us.write
        rows.append(
            {
                "runs": name,
                "mean response, ms": m.response_ms(report),
                "99 % of writes within, ms": None if write is None else write.p99 / 1e3,
                "a write waits for collection, ms": m.behind_collection_ms(report),
                "lifetime": m.remaining(report),
            }
        )
    return rows


#: Groups of a drive that differ from the reading of the claims, by what differs.
OTHERWISE = ("", "aged", "packed", "mixed", "unpacked", "turns", "dies-4", "dies-16")


def _table_causes(study: Study) -> Rows:
    """Return where the turns lie, by response time and by the time that the flash works."""
    rows = []
    for as_, drive, workload in product(OTHERWISE, ("ST", "MT"), ("Financial", "Exchange")):
        # Fixed utilisations do not know what the Analyser charges.
        fixed = "packed" if as_ == "mixed" else as_
        if not any(n.startswith(f"{m.group(drive, as_)}/{workload}/") for n in study.paper.runs):
            continue
        try:
            u, response = m.curve(study, drive, workload, "response", fixed)
            flash = m.curve(study, drive, workload, "flash", fixed)[1]
            lifetime = m.curve(study, drive, workload, "lifetime", fixed)[1]
        except (NotRun, KeyError):
            continue
        row = {
            "runs": f"{m.group(drive, as_)}/{workload}",
            "least response at u": float(u[np.argmin(response)]),
            "least time of flash at u": float(u[np.argmin(flash)]),
            "longest lifetime at u": float(u[np.nanargmax(lifetime)]),
        }
        try:
            perf = {
                figure: m.dynamic(study, drive, workload, "Perf", figure, as_)
                for figure in ("response", "flash")
            }
            row["response, Perf over the least"] = float(perf["response"] / response.min())
            row["flash, Perf over the least"] = float(perf["flash"] / flash.min())
            row["response, Life over Perf"] = m.life_over_perf(study, drive, workload, as_)
            row["lifetime, Life over Perf"] = m.life_gain(study, drive, workload, as_)
        except (NotRun, KeyError):
            pass  # fixed utilisations alone
        rows.append(row)
    rows += _runs_singly(study)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return [{column: row.get(column) for column in columns} for row in rows]


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
        [f"{drive}/{workload}/*"],
        lambda s: _curves(s, drive, workload, figure),
        lambda s: _draw_curves(s, drive, workload, figure, printed),
        beside,
    )


def _day(number: str, workload: str) -> Figure:
    return Figure(
        number,
        f"utilisation over time, ST-SSD under {workload}",
        [f"day/{workload}/*"],
        lambda s: _over_time(s, workload),
        lambda s: _draw_over_time(s, workload),
        "both vary; Life ends above Perf.",
    )


FIGURES = [
    Figure(
        "table-1",
        "the workloads",
        ["ST/*/50%"],
        _table_1,
        beside="Financial 5.73, 7.2, 6.76, 28.16; Exchange 9.81, 12.56, 37.43, 41.34.",
    ),
    Figure(
        "table-2",
        "the flash",
        ["?T/Financial/50%"],
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
    _day("4a", "Financial"),
    _day("4b", "Exchange"),
    _both("5a", "lifetime", "remaining lifetime", 0.80, "the longest at 80 %; Life reaches it."),
    _both("5b", "lifetime", "remaining lifetime", 0.97, "the longest at 97 %; Life reaches it."),
    _both("5c", "lifetime", "remaining lifetime", 0.10, "the longest at 10 %; Life reaches it."),
    _both("5d", "lifetime", "remaining lifetime", 0.60, "the longest at 60 %; Life reaches it."),
    Figure(
        "table-dynamic",
        "what Life costs and gains",
        ["?T/*/*"],
        _table_dynamic,
        beside="response times are slightly higher, lifetimes notably longer; no figures.",
    ),
    Figure(
        "table-causes",
        "where the turns lie as the paper is read, and where it is read otherwise",
        ["?T/*", "?T-*/*", "SM/*"],
        _table_causes,
    ),
    Figure("table-lifetime", "lifetimes of all runs", ["*"], _table_lifetime),
]
