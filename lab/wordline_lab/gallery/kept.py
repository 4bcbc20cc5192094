"""Pictures of the gallery that are drawn from results in ``lab/results``."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from wordline import UserError
from wordline.atlas import judge
from wordline.atlas.design import LOADS
from wordline_lab.atlas import kept as atlases
from wordline_lab.atlas.published import PublishedAtlas
from wordline_lab.gallery.drawing import Picture, named, number, with_interval
from wordline_lab.gallery.inks import Inks

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "lab" / "results"
HISTORY = ROOT / "crates" / "sim" / "benches" / "history.csv"

#: The sign of a ratio.
TIMES = "\u00d7"

Rows = list[dict[str, str]]


def rows(path: Path) -> Rows:
    """Read a table of an earlier evaluation.

    Raises
    ------
    UserError
        There is no such file: the laboratory is not that of a clone.
    """
    if not path.is_file():
        raise UserError(
            f"{path}: not found; this picture is drawn from the results of a clone\n"
            "  hint: pip install -e ./lab in a clone of the repository"
        )
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# --- In-place Switch in daily use.


def _week(_: bool) -> dict[str, np.ndarray]:
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in rows(RESULTS / "ips" / "figure-9b.csv"):
        found[row["scheme"]].append((float(row["until_s"]) / 86_400, float(row["write_ms"])))
    return {scheme: np.array(points) for scheme, points in found.items()}


def _of_day(points: np.ndarray, day: int) -> float:
    days, ms = points.T
    return float(ms[(days > day) & (days <= day + 1)].mean())


def _week_title(found: dict[str, np.ndarray]) -> str:
    ours, theirs = found["IPS"], found["Turbo Write"]
    last = int(ours[-1, 0]) - 1
    first, end = (_of_day(ours, day) / _of_day(theirs, day) for day in (0, last))
    return (
        f"In daily use In-place Switch has {number(first, 2)} times the write latency of Turbo "
        f"Write on the first day, and {number(end, 2)} times on day {last + 1}"
    )


def _week_below(found: dict[str, np.ndarray]) -> str:
    hours = float(np.diff(found["IPS"][:, 0]).mean() * 24)
    return (
        f"Mean write latency of HM_0 on 384 GB of TLC with 4 GB of SLC; thin: each {hours:.1f} h, "
        "bold: means of 12. Data: lab/results/ips/figure-9b.csv"
    )


def _draw_week(found: dict[str, np.ndarray], figure: Any, inks: Inks) -> None:
    at = figure.subplots()
    ends = []
    for scheme, ink, dashes in (
        ("Turbo Write", inks.baseline, (0, (4, 1.5))),
        ("IPS", inks.winner, "-"),
    ):
        days, ms = found[scheme].T
        at.plot(days, ms, color=ink, linewidth=0.6, alpha=0.45)
        smooth = np.convolve(ms, np.ones(12) / 12, "valid")
        at.plot(days[6 : 6 + len(smooth)], smooth, color=ink, linestyle=dashes, linewidth=2.4)
        name = "In-place Switch" if scheme == "IPS" else "Turbo Write\n(baseline)"
        ends.append((float(smooth[-1]), name, ink))
    at.set(xlabel="days", ylabel="mean write latency, ms", ylim=(0, None), xlim=(0, 7))
    named(at, ends, 7.0, 0.15)


# --- A lifetime.


#: A drive write of the drive that was worn out, in GB.
_DRIVE_GB = 512 * 2**20 / 1e9


def _life(_: bool) -> dict[str, Any]:
    curves: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for row in rows(RESULTS / "lifetime" / "lifetime-write-mean.csv"):
        half = float(row["half_width_95"] or 0)
        point = (
            float(row["drive_writes"]) * _DRIVE_GB,
            float(row["write_mean_us"]) / 1e3,
            half / 1e3,
        )
        curves[row["scheme"]].append(point)
    written = rows(RESULTS / "lifetime" / "lifetime-written.csv")
    ends = {
        row["scheme"]: (float(row["total_bytes_written"]) / 1e9, float(row["half_width_95"]) / 1e9)
        for row in written
    }
    slower = [float(row["at_half_the_acceleration"]) / 1e9 for row in written]
    return {"curves": {s: np.array(p) for s, p in curves.items()}, "ends": ends, "slower": slower}


def _life_title(found: dict[str, Any]) -> str:
    ends = found["ends"]
    low = max(mean - half for mean, half in ends.values())
    high = min(mean + half for mean, half in ends.values())
    means = [mean for mean, _ in ends.values()]
    # From then on by age alone: the drive was empty at first.
    rises = max(points[-1, 1] / points[len(points) // 4, 1] for points in found["curves"].values())
    if low <= high:
        widest = max(half for _, half in ends.values())
        about, _, _ = with_interval(sum(means) / len(means), widest).partition(" ± ")
        lasts = f"about {about} GB of host writes under any scheme"
    else:
        texts = [with_interval(*end).partition(" ± ")[0] for end in sorted(ends.values())]
        lasts = f"{texts[0]} to {texts[-1]} GB of host writes"
    slower = f"after a quarter gets up to {number(rises, 2)} times as slow"
    return f"The drive lasts for {lasts}, and {slower}"


def _life_below(found: dict[str, Any]) -> str:
    low, high = (number(of(found["slower"])) for of in (min, max))
    return (
        "Mean write latency until the first of 3 drives is worn out (X), and the mean host writes "
        "of all 3, with 95 % confidence intervals: a small RARO drive, half reads, 10 days on the "
        f"shelf after each pass. At half the acceleration one drive lasts for {low} to {high} GB. "
        "Data: lab/results/lifetime"
    )


def _draw_life(found: dict[str, Any], figure: Any, inks: Inks) -> None:
    at = figure.subplots()
    looks = {
        "conventional": (inks.baseline, "s", "-"),
        "raro": (inks.other, "o", (0, (1, 1.2))),
        "hotness": (inks.other, "^", (0, (4, 1.5))),
    }
    ends = []
    for scheme, points in found["curves"].items():
        ink, mark, dashes = looks[scheme]
        writes, ms, half = points.T
        every = slice(list(looks).index(scheme) + 2, -1, 6)
        at.plot(writes, ms, color=ink, linestyle=dashes)
        at.errorbar(
            writes[every], ms[every], yerr=half[every], color=ink, linestyle="none", marker=mark,
            markersize=6, capsize=3, elinewidth=1.2,
        )  # fmt: skip
        at.plot(writes[-1:], ms[-1:], marker="X", markersize=10, color=ink, clip_on=False)
        said = "baseline, " if scheme == "conventional" else ""
        total, half_of_total = found["ends"][scheme]
        text = f"{scheme}\n{said}{with_interval(total, half_of_total)} GB"
        ends.append((float(ms[-1]), text, ink))
    most = max(points[-1, 0] for points in found["curves"].values())
    at.set(xlabel="host writes, GB", ylabel="mean write latency, ms")
    at.set(ylim=(0, None), xlim=(0, most * 1.04))
    named(at, ends, most * 1.04, 0.17)


# --- The atlas.

_SHOWN = 8


def _atlas(_: bool) -> dict[str, Any]:
    page = RESULTS / "atlas" / "index.html"
    found = atlases.data_of(page)
    if found is None:
        rows(page)
    assert found is not None
    drive = found.drives[0]
    alone = [s for s in drive.schemes if "+" not in s and s != drive.baseline]
    ranked = judge.rank(drive, drive.places, "write_mean", alone)
    schemes = [scheme for scheme, _ in ranked[:_SHOWN]]
    loads = list(dict.fromkeys(place.at[0] for place in drive.places))
    order = [level for level in LOADS if level in loads]
    cells = {
        (s, load): judge.over(judge.where(drive, load=load), s, "write_mean")
        for s in schemes
        for load in order
    }
    return {
        "title": drive.title,
        "conditions": len(drive.places),
        "seeds": found.seeds,
        "schemes": schemes,
        "loads": order,
        "cells": cells,
    }


def _best_of(found: dict[str, Any], load: str) -> str | None:
    """Return the scheme that writes fastest under a load; none where none beats the plain drive."""
    of = {s: over for s in found["schemes"] if (over := found["cells"][s, load]) is not None}
    best = min(of, key=lambda s: of[s].log)
    return None if of[best].is_chance or of[best].log > 0 else best


def _atlas_title(found: dict[str, Any]) -> str:
    known = {key: over for key, over in found["cells"].items() if over is not None}
    first = found["schemes"][0]
    ratios = [known[first, load].ratio for load in found["loads"] if (first, load) in known]
    best = {_best_of(found, load) for load in found["loads"]}
    end = "another is best under some loads" if len(best) > 1 else "it is always the best"
    return (
        f"Load decides: {first} writes in {number(min(ratios), 2)} to {number(max(ratios), 2)} "
        f"times the plain drive's time, and {end}"
    )


def _atlas_below(found: dict[str, Any]) -> str:
    rests = [over.steady for over in found["cells"].values() if over is not None]
    steady, runs = sum(rest.steady for rest in rests), sum(rest.runs for rest in rests)
    return (
        f"Mean write latency over the plain drive's on {found['title']}, means over "
        f"{found['conditions']} conditions and {found['seeds']} seeds, for runs of this length: "
        f"{steady / runs * 100:.0f} % are steady. Framed: best; grey: not significant. "
        "Data: lab/results/atlas/index.html"
    )


#: What a load is called below a column.
_LOADS = {
    "closed": "closed\nloop",
    "open-10": "open\n10 %",
    "open-30": "open\n30 %",
    "open-60": "open\n60 %",
    "open-90": "open\n90 %",
    "burst-small-1s": "small\nbursts\nrest 1 s",
    "burst-small-10min": "small\nbursts\n10 min",
    "burst-large-1s": "large\nbursts\nrest 1 s",
    "burst-large-10min": "large\nbursts\n10 min",
    "think": "think\ntime",
}


def _draw_atlas(found: dict[str, Any], figure: Any, inks: Inks) -> None:
    from matplotlib.colors import LinearSegmentedColormap, to_rgb
    from matplotlib.patches import Rectangle

    at = figure.subplots()
    scale = LinearSegmentedColormap.from_list("", [inks.gain, inks.ground, inks.loss])
    schemes, loads = found["schemes"], found["loads"]
    for y, scheme in enumerate(schemes):
        for x, load in enumerate(loads):
            over = found["cells"][scheme, load]
            if over is None:
                continue
            open_ = over.is_chance
            ground = inks.grid if open_ else scale(0.5 + max(-1.0, min(1.0, over.log / 3)) / 2)
            at.add_patch(Rectangle((x - 0.47, y - 0.46), 0.94, 0.92, color=ground, linewidth=0))
            if scheme == _best_of(found, load):
                frame: dict[str, Any] = {"fill": False, "edgecolor": inks.ink, "linewidth": 1.8}
                at.add_patch(Rectangle((x - 0.45, y - 0.43), 0.9, 0.86, **frame))
            light = np.dot(to_rgb(ground), (0.299, 0.587, 0.114)) > 0.5
            ink = inks.soft if open_ else ("#1b212a" if light else "#f4f6f8")
            at.text(x, y, number(over.ratio, 2), ha="center", va="center", size=10, color=ink)
    at.set_xticks(range(len(loads)), [_LOADS.get(load, load) for load in loads], size=9)
    at.set_yticks(range(len(schemes)), schemes, color=inks.ink)
    at.set(xlim=(-0.5, len(loads) - 0.5), ylim=(len(schemes) - 0.5, -0.5))
    at.grid(visible=False)
    at.tick_params(length=0)
    at.spines[:].set_visible(False)


# --- Speed beside MQSim.


def _speed(_: bool) -> Rows:
    found = {row["case"]: row for row in rows(HISTORY) if row["ratio_to_mqsim"]}
    return list(found.values())


def _speed_title(found: Rows) -> str:
    times = [float(row["ratio_to_mqsim"]) for row in found]
    return (
        f"One core simulates {number(min(times), 2)} to {number(max(times), 3)} times as many "
        "requests per second as MQSim, on the same drives and requests"
    )


def _speed_below(found: Rows) -> str:
    return (
        f"Medians of five pairs in turns, of {found[-1]['date']} on {found[-1]['machine']}, "
        "measured by make bench MQSIM=DIR. Data: crates/sim/benches/history.csv"
    )


def _draw_speed(found: Rows, figure: Any, inks: Inks) -> None:
    at = figure.subplots()
    for y, row in enumerate(found):
        ours = float(row["requests_per_s"])
        theirs = ours / float(row["ratio_to_mqsim"])
        at.plot([theirs, ours], [y, y], color=inks.grid, linewidth=5, zorder=1)
        at.plot([theirs], [y], "s", color=inks.other, markersize=9)
        at.plot([ours], [y], "o", color=inks.winner, markersize=11)
        at.annotate(
            f"{float(row['ratio_to_mqsim']):.1f}{TIMES}",
            ((ours * theirs) ** 0.5, y),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            weight="bold",
            color=inks.ink,
        )
    at.annotate(
        "MQSim", (float(found[0]["requests_per_s"]) / float(found[0]["ratio_to_mqsim"]), 0),
        xytext=(0, 11), textcoords="offset points", ha="center", weight="bold", color=inks.other,
    )  # fmt: skip
    at.annotate(
        "Wordline", (float(found[0]["requests_per_s"]), 0),
        xytext=(0, 11), textcoords="offset points", ha="center", weight="bold", color=inks.winner,
    )  # fmt: skip
    names = [row["case"].removeprefix("peers ").replace("collection", "GC") for row in found]
    at.set_yticks(range(len(found)), names, color=inks.ink)
    at.set(xscale="log", xlabel="simulated requests per second on one core (log scale)")
    at.set(ylim=(len(found) - 0.5, -0.75), xlim=(2e4, 1.6e7))
    at.set_xticks([1e5, 1e6, 1e7], ["100 k", "1 M", "10 M"])
    at.grid(axis="y", visible=False)


# --- A trace and its twin.


def _twin(_: bool) -> dict[str, Any]:
    page = RESULTS / "atlas" / "pieces" / "index.html"
    found = atlases.data_of(page)
    if found is None:
        rows(page)
    assert found is not None
    trace, (twin, _akin) = list(found.beside.items())[-1]
    return _pair(found, trace, twin)


def _pair(found: PublishedAtlas, trace: str, twin: str) -> dict[str, Any]:
    drive = found.drives[0]
    on_trace = judge.where(drive, workload=trace)
    same = {(p.at[0], *p.at[2:]) for p in on_trace}
    on_twin = [p for p in judge.where(drive, workload=twin) if (p.at[0], *p.at[2:]) in same]
    points = {}
    for scheme in (s for s in drive.schemes if "+" not in s):
        one, other = (judge.over(places, scheme, "write_mean") for places in (on_trace, on_twin))
        if one is not None and other is not None:
            points[scheme] = (one.ratio, other.ratio)
    return {
        "trace": trace.removeprefix("real:"),
        "twin": twin,
        "drive": drive.title,
        "baseline": drive.baseline,
        "points": points,
    }


def _ranked(found: dict[str, Any], of: int) -> list[str]:
    points = found["points"]
    return sorted(points, key=lambda scheme: points[scheme][of])


def _twin_title(found: dict[str, Any]) -> str:
    from scipy.stats import spearmanr

    points = found["points"]
    order = float(spearmanr(*zip(*points.values(), strict=True)).statistic)
    best, chosen = (_ranked(found, of)[0] for of in (0, 1))
    lost = points[chosen][0] / points[best][0]
    end = (
        "both find the same one the fastest"
        if best == chosen
        else f"the one it picks writes in {number(lost, 2)} times the best's time"
    )
    return f"A twin ranks {len(points)} schemes as its trace does (correlation {order:.2f}); {end}"


def _twin_below(found: dict[str, Any]) -> str:
    return (
        f"Mean write latency over the plain drive's on {found['drive']} under a piece of the trace "
        f"{found['trace']} and under its twin. Data: lab/results/atlas/pieces/index.html"
    )


def _draw_twin(found: dict[str, Any], figure: Any, inks: Inks) -> None:
    at = figure.subplots()
    points, baseline = found["points"], found["baseline"]
    left, right = _ranked(found, 0), _ranked(found, 1)
    for scheme, ratios in points.items():
        ranks = left.index(scheme), right.index(scheme)
        is_key = scheme in (baseline, left[0], right[0])
        ink = inks.baseline if scheme == baseline else inks.winner if is_key else inks.other
        dashes = (0, (4, 1.5)) if scheme == baseline else "-"
        wide = 2.8 if is_key else 1.3
        at.plot(
            (0, 1), ranks, color=ink, linewidth=wide, linestyle=dashes, marker="o", markersize=6
        )
        name = f"{scheme} (plain drive)" if scheme == baseline else scheme
        how = {"va": "center", "color": ink, "size": 10, "weight": "bold" if is_key else "normal"}
        at.text(-0.04, ranks[0], f"{name}  {number(ratios[0], 2)}{TIMES}", ha="right", **how)
        at.text(1.04, ranks[1], f"{number(ratios[1], 2)}{TIMES}  {name}", ha="left", **how)
    at.text(0, -1.0, "under the trace", ha="center", color=inks.soft)
    at.text(1, -1.0, "under its twin", ha="center", color=inks.soft)
    at.set(xlim=(-0.9, 1.9), ylim=(len(points) - 0.4, -1.4))
    at.axis("off")


PICTURES = [
    Picture(
        "day", "In-place Switch against Turbo Write", _week, _week_title, _week_below, _draw_week
    ),
    Picture("lifetime", "A lifetime", _life, _life_title, _life_below, _draw_life),
    Picture("atlas", "The atlas", _atlas, _atlas_title, _atlas_below, _draw_atlas),
    Picture("mqsim", "Speed beside MQSim", _speed, _speed_title, _speed_below, _draw_speed),
    Picture("twin", "A trace and its twin", _twin, _twin_title, _twin_below, _draw_twin),
]
