"""Tables and pictures of the fair table."""

from __future__ import annotations

from math import log2
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter

from wordline import plotting
from wordline.experiments.fair import measures as m
from wordline.reproduce.paper import Figure, Study

Rows = list[dict[str, Any]]

LABELS = {
    "write_mean": "write latency",
    "read_mean": "read latency",
    "write_p999": "write latency, 99.9 %",
    "read_p999": "read latency, 99.9 %",
    "waf": "write amplification",
    "lifetime": "lifetime",
    "usable": "usable capacity",
}
NOTE = (
    "Over conventional; geometric means over the twins, ± half of the 95 % interval over three "
    "seeds. More is better of lifetime and capacity, less of all else."
)


def _table(study: Study, drive: str) -> Rows:
    rows = []
    for found in m.rows(study, drive):
        row: dict[str, Any] = {"scheme": found["scheme"]}
        for figure, label in LABELS.items():
            row[label] = m.shown(found, figure, ".3g")
        row["failed requests"] = found["failed_requests"]
        rows.append(row)
    return rows


def _heat(study: Study, drive: str, figure: str) -> Rows:
    return [
        {"scheme": s, "twin": twin, "over_conventional": m.on_twin(study, drive, twin, s, figure)}
        for s in m.schemes(study, drive)
        for twin in study.paper.workloads
    ]


def _draw_heat(study: Study, drive: str, figure: str) -> Any:
    schemes, twins = m.schemes(study, drive), list(study.paper.workloads)
    rows = _heat(study, drive, figure)
    of = {(r["scheme"], r["twin"]): r["over_conventional"] for r in rows}
    values = np.array([[log2(of[s, t]) if of[s, t] else np.nan for t in twins] for s in schemes])
    picture, at = plt.subplots(
        figsize=(0.4 * len(twins) + 3.2, 0.36 * len(schemes) + 1.9), layout="constrained"
    )
    shown = at.imshow(values, cmap="PuOr_r", vmin=-2, vmax=2, aspect="auto")
    at.set_xticks(range(len(twins)), twins, rotation=60, ha="right")
    at.set_yticks(range(len(schemes)), schemes)
    at.grid(visible=False)
    for (i, j), value in np.ndenumerate(values):
        if not np.isnan(value):
            dark = abs(value) > 1.4
            text = f"{2**value:.2g}"
            colour = "white" if dark else plotting.ON_LIGHT
            at.text(j, i, text, ha="center", va="center", fontsize=8.3, color=colour)
    bar = picture.colorbar(shown, ax=at, ticks=[-2, -1, 0, 1, 2], pad=0.01)
    bar.ax.set_yticklabels(["1/4", "1/2", "1", "2", "4"])
    at.set_title(f"{drive} drive: {LABELS[figure]} over conventional")
    return picture


def _pareto(study: Study, drive: str) -> Rows:
    """Mean write latency and lifetime of each scheme, and whether no other has less and more."""
    rows: Rows = []
    for scheme in m.schemes(study, drive):
        latency = m.in_all(study, drive, scheme, "write_mean")
        life = m.in_all(study, drive, scheme, "lifetime")
        if latency and life:
            rows.append(
                {
                    "scheme": scheme,
                    "write_latency": latency[0],
                    "write_latency_interval": latency[1],
                    "lifetime": life[0],
                    "lifetime_interval": life[1],
                }
            )
    for row in rows:
        row["is_best"] = not any(
            o["write_latency"] <= row["write_latency"]
            and o["lifetime"] >= row["lifetime"]
            and (o["write_latency"], o["lifetime"]) != (row["write_latency"], row["lifetime"])
            for o in rows
        )
    return rows


#: How a combination is drawn, by what stands behind: in the colour of its front.
SHAPES = {
    "pa-ssd": "s",
    "ips": "^",
    "ips-agc": "v",
    "ips-cooperative": "D",
    "hotness": "P",
    "raro": "X",
}


def _draw_pareto(study: Study, drive: str) -> Any:
    rows = _pareto(study, drive)
    single = [r for r in rows if "+" not in r["scheme"]]
    colours = plotting.colours([r["scheme"] for r in single], m.BASELINE)
    picture, at = plt.subplots(figsize=(8.2, 4.6), layout="constrained")
    best = sorted((r for r in rows if r["is_best"]), key=lambda r: r["write_latency"])
    line = [r["write_latency"] for r in best], [r["lifetime"] for r in best]
    at.plot(*line, color="#bbbbbb", lw=1, zorder=1)
    for r in rows:
        front, _, dense = r["scheme"].partition("+")
        at.errorbar(
            r["write_latency"],
            r["lifetime"],
            xerr=r["write_latency_interval"],
            yerr=r["lifetime_interval"],
            fmt=SHAPES.get(dense, "o"),
            ms=4.5 if dense else 6,
            mfc="white" if dense else colours[front],
            color=colours[front],
            elinewidth=0.6,
        )
    at.set_xscale("log")
    at.set_yscale("log")
    for axis in (at.xaxis, at.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(FuncFormatter(lambda value, _: _few(value)))
    at.set_xlabel("write latency over conventional (less is better)")
    at.set_ylabel("lifetime over conventional (more is better)")
    at.set_title(f"{drive} drive")
    _name(at, single, colours)
    there = {r["scheme"].partition("+")[2] for r in rows}
    handles = [
        at.plot([], [], SHAPES[d], ms=4.5, mfc="white", color="#555555", label=f"over {d}")[0]
        for d in SHAPES
        if d in there
    ]
    at.legend(handles=handles, loc="lower left")
    return picture


def _few(value: float) -> str:
    """Label a minor tick, if it is a 2 or a 5."""
    return f"{value:g}" if f"{value:e}"[0] in "25" else ""


def _name(at: Any, rows: Rows, colours: dict[str, str]) -> None:
    """Name points in a column beside the picture, in the order of their heights."""
    ordered = sorted(rows, key=lambda r: (-r["lifetime"], r["write_latency"]))
    for i, row in enumerate(ordered):
        at.annotate(
            row["scheme"],
            (row["write_latency"], row["lifetime"]),
            xytext=(1.03, 0.97 - i * 0.94 / max(len(ordered) - 1, 1)),
            textcoords="axes fraction",
            fontsize=8.5,
            va="center",
            color=colours[row["scheme"]],
            arrowprops={"arrowstyle": "-", "lw": 0.4, "color": colours[row["scheme"]]},
        )


def _of(drive: str) -> list[Figure]:
    small, runs = drive.lower(), [f"{drive}/*/*"]

    def heat(number: str, figure: str) -> Figure:
        return Figure(
            number,
            f"{LABELS[figure].capitalize()} by twin, {drive} drive",
            runs,
            lambda study: _heat(study, drive, figure),
            lambda study: _draw_heat(study, drive, figure),
        )

    return [
        Figure(
            f"table-{small}",
            f"All schemes on the {drive} drive",
            runs,
            lambda study: _table(study, drive),
            beside=NOTE,
        ),
        heat(f"{small}-write", "write_mean"),
        heat(f"{small}-read", "read_mean"),
        heat(f"{small}-waf", "waf"),
        Figure(
            f"{small}-pareto",
            f"Write latency and lifetime, {drive} drive",
            runs,
            lambda study: _pareto(study, drive),
            lambda study: _draw_pareto(study, drive),
        ),
    ]


FIGURES = tuple(figure for drive in m.DRIVES for figure in _of(drive))
