"""Pictures of the gallery that are drawn from runs made for them."""

from __future__ import annotations

import itertools
import statistics
from typing import Any

import numpy as np

import wordline as wl
from wordline import toml
from wordline.quantity import in_bytes
from wordline_lab.gallery.drawing import Picture, named, number, time
from wordline_lab.gallery.inks import Inks

# --- The SLC cliff.

_STEPS = 100


def _cliff(small: bool) -> dict[str, np.ndarray]:
    # A quarter of the drive: as many dies, so that it is as fast, with fewer blocks; in a small
    # run a sixteenth.
    part = 16 if small else 4
    drive = toml.parse(toml.builtin("devices/consumer-qlc.toml") or "")
    cache, logical = drive["slc_cache"], in_bytes(drive["capacity"]["logical"])
    sized = {
        "medium.flash.blocks_per_plane": drive["medium"]["flash"]["blocks_per_plane"] // part,
        "capacity.logical": f"{int(logical) // part // 2**20}MiB",
        "slc_cache.static_blocks": max(1, cache["static_blocks"] // part),
        "slc_cache.dynamic_blocks": cache["dynamic_blocks"] // part,
    }
    requests = 190_000 // part
    found = {}
    for scheme in ("conventional", "slc-cache"):
        report = wl.run(
            device="consumer-qlc",
            initial="fresh",
            scheme=scheme,
            workload="sequential:bs=1MiB",
            requests=requests,
            set=sized,
        )
        bin_s = report.timeline.bin_s
        gb = np.cumsum(report.timeline["write_mb_per_s"]) * bin_s / 1e3
        seconds = bin_s * np.arange(1, len(gb) + 1)
        # By what is written, in even steps; the last bin is not full.
        steps = np.linspace(0, gb[-2], _STEPS + 1)
        took = np.diff(np.interp(steps, np.r_[0, gb[:-1]], np.r_[0, seconds[:-1]]))
        found[scheme] = np.column_stack([steps[1:], np.diff(steps) * 1e3 / took])
    return found


def _edge(points: np.ndarray) -> int:
    """Return the first bin that is below half of what came before."""
    rate = points[:, 1]
    before = np.maximum.accumulate(rate)
    return int(np.argmax(rate < before / 2)) or len(rate) - 1


def _cliff_title(found: dict[str, np.ndarray]) -> str:
    points = found["slc-cache"]
    edge = _edge(points)
    # Of even steps the time that all take is what counts.
    fast, slow = (statistics.harmonic_mean(part[:, 1]) for part in (points[:edge], points[edge:]))
    return (
        f"After {number(points[edge - 1, 0])} GB the SLC cache is full, and writes fall from "
        f"{number(fast)} to {number(slow)} MB/s"
    )


def _cliff_below(_: dict[str, np.ndarray]) -> str:
    return (
        "Sequential writes of 1 MiB to a fresh drive: a quarter of consumer-qlc, 250 GB of QLC "
        "with a dynamic SLC cache; dashed: the same drive without a cache"
    )


def _draw_cliff(found: dict[str, np.ndarray], figure: Any, inks: Inks) -> None:
    at = figure.subplots()
    points, base = found["slc-cache"], found["conventional"]
    edge = _edge(points)
    at.axvspan(0, points[edge - 1, 0], color=inks.modes["slc"], alpha=0.09, linewidth=0)
    dashes = (0, (4, 1.5))
    # A full cache is emptied and filled in turns: behind the edge a step is of several.
    for of, ink, style in (
        (base, inks.baseline, dashes),
        (np.vstack([points[:edge], _means(points[edge:], 8)]), inks.winner, "-"),
    ):
        gb, rate = of.T
        at.step(np.r_[0, gb], np.r_[rate[0], rate], where="pre", color=ink, linestyle=style)
    at.text(
        points[edge - 1, 0] / 2, points[:edge, 1].mean() * 0.93, "written to SLC", ha="center",
        va="top", weight="bold", color=inks.modes["slc"],
    )  # fmt: skip
    ends = [
        (float(_means(points[edge:], 8)[-1, 1]), "slc-cache", inks.winner),
        (float(base[-1, 1]), "conventional\n(baseline)", inks.baseline),
    ]
    at.yaxis.set_major_formatter("{x:,.0f}")
    at.set(xlabel="written, GB", ylabel="write throughput, MB/s")
    at.set(xlim=(0, points[-1, 0]), ylim=(0, None))
    named(at, ends, float(points[-1, 0]), 0.09)


def _means(points: np.ndarray, count: int) -> np.ndarray:
    """Return steps of so many, the last of what is left."""
    parts = [points[at : at + count] for at in range(0, len(points), count)]
    return np.array([(p[-1, 0], statistics.harmonic_mean(p[:, 1])) for p in parts])


# --- Read retries with age.

_DAYS = (1, 3, 7, 30, 90, 180, 365)
_LIVES = (0.1, 0.5, 0.9)


def _retries(small: bool) -> dict[tuple[str, float], list[float]]:
    found = {}
    days = _DAYS[::3] if small else _DAYS
    for device, mode, endurance in (("fair-tlc", "tlc", 3000), ("raro-16gb", "qlc", 1000)):
        for life in _LIVES:
            state = f"fill:50%,order=seq+pe:{mode}={round(endurance * life)}"
            found[mode, life] = [
                wl.run(
                    device=device,
                    scheme="conventional",
                    set={"errors.model": "raro"},
                    initial=f"{state}+retention:{day}d",
                    workload="uniform:read=100%,bs=16KiB,qd=1,span=50%",
                    requests=300 if small else 2_000,
                ).flash.errors.retries_per_host_page
                for day in days
            ]
    return found


def _retries_title(found: dict[tuple[str, float], list[float]]) -> str:
    ends = [found["qlc", life][-1] for life in _LIVES]
    tlc = max(found["tlc", life][-1] for life in _LIVES)
    return (
        f"After a year on the shelf QLC takes {number(min(ends))} to {number(max(ends))} read "
        f"retries per page, TLC at most {number(tlc, 2)}"
    )


def _retries_below(_: Any) -> str:
    return (
        "Random reads of 16 KiB at queue depth 1 under the error model of RARO, on fair-tlc and "
        "raro-16gb at 10, 50 and 90 % of their P/E cycles"
    )


def _draw_retries(found: dict[tuple[str, float], list[float]], figure: Any, inks: Inks) -> None:
    at = figure.subplots()
    dashes = {0.1: (0, (1, 1.2)), 0.5: (0, (5, 1.5)), 0.9: "-"}
    marks = {0.1: "^", 0.5: "s", 0.9: "o"}
    ends = []
    for (mode, life), retries in found.items():
        days = _DAYS if len(retries) == len(_DAYS) else _DAYS[::3]
        ink = inks.modes[mode]
        at.plot(
            days,
            retries,
            color=ink,
            linestyle=dashes[life],
            marker=marks[life],
            markersize=6,
            clip_on=False,
        )
        if mode == "qlc":
            ends.append((retries[-1], f"QLC, {life * 100:.0f} % worn", ink))
    tlc = max(found["tlc", life][-1] for life in _LIVES)
    ends.append((tlc, "TLC, 10 to 90 % worn", inks.modes["tlc"]))
    at.set(xscale="log", xlabel="age of the data, days (log scale)", ylabel="read retries per page")
    at.set(xlim=(0.9, 365), ylim=(-0.3, None))
    at.set_xticks(_DAYS, [str(day) for day in _DAYS])
    at.minorticks_off()
    named(at, ends, 365, 0.075)


# --- Where a page's bytes went.

_CAUSES = {
    "host": "host",
    "gc": "GC",
    "migration": "migration",
    "reprogram": "reprogram",
    "metadata": "mapping table",
    "pad": "padding",
}
_PROGRAMMED = ("conventional", "slc-cache", "turbo-write", "ips", "sector")


def _causes(small: bool) -> dict[str, dict[str, float]]:
    compared = wl.compare(
        device="fair-tlc",
        workload="twin:hm_0:closed=8",
        fit="wrap",
        initial="fill:80%,valid=80%",
        requests=2_000 if small else 40_000,
        schemes=list(_PROGRAMMED),
    )
    found = {}
    for report in compared:
        of = dict.fromkeys(_CAUSES, 0.0)
        for cause, kinds in report.to_dict()["waf"]["parts"].items():
            for kind, part in kinds.items():
                # What is programmed onto data that lie there already has a hue of its own.
                of["reprogram" if kind == "reprogram" else cause] += part
        found[report.scheme.name] = of
    return found


def _causes_title(found: dict[str, dict[str, float]]) -> str:
    totals = {scheme: sum(parts.values()) for scheme, parts in found.items()}
    best, worst = min(totals, key=totals.__getitem__), max(totals, key=totals.__getitem__)
    parts = found[worst]
    cause = max((c for c in parts if c != "host"), key=parts.__getitem__)
    return (
        f"{best} programs {number(totals[best])} bytes per host byte, {worst} "
        f"{number(totals[worst])}: {number(parts[cause], 2)} of them for {_CAUSES[cause]}"
    )


def _causes_below(_: Any) -> str:
    return (
        "Write amplification by cause on fair-tlc, 1 GiB of TLC filled to 80 %, under the twin of "
        "hm_0 with 8 requests outstanding"
    )


def _draw_causes(found: dict[str, dict[str, float]], figure: Any, inks: Inks) -> None:
    from matplotlib.colors import to_rgb

    at = figure.subplots()
    most = max(sum(parts.values()) for parts in found.values())
    hatches = {"gc": "////", "migration": "....", "reprogram": "\\\\\\\\", "pad": "xxxx"}
    seen: set[str] = set()
    for y, parts in enumerate(found.values()):
        left = 0.0
        for cause, width in parts.items():
            if width <= 0:
                continue
            ink = inks.causes[cause]
            at.barh(
                y, width, left=left, height=0.64, color=ink, edgecolor=inks.ground, linewidth=0.8,
                hatch=hatches.get(cause) if width > 0.02 else None,
            )  # fmt: skip
            if width > 0.13 * most:
                light = float(np.dot(to_rgb(ink), (0.299, 0.587, 0.114))) > 0.5
                text = (
                    f"{_CAUSES[cause]} {number(width, 2)}"
                    if width > 0.2 * most or cause not in seen
                    else number(width, 2)
                )
                box = {"boxstyle": "round,pad=0.18", "facecolor": ink, "linewidth": 0}
                at.text(
                    left + width / 2, y, text, ha="center", va="center", size=9.5, weight="bold",
                    color="#1b212a" if light else "#ffffff", bbox=box,
                )  # fmt: skip
            seen.add(cause)
            left += width
        at.text(left + most * 0.012, y, number(left), va="center", weight="bold", color=inks.ink)
    at.set_yticks(range(len(found)), list(found), color=inks.ink)
    at.invert_yaxis()
    at.set(xlabel="bytes programmed per host byte", xlim=(0, most * 1.09))
    at.grid(axis="y", visible=False)
    at.axvline(1, color=inks.soft, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    handles = [
        at.barh(0, 0, color=inks.causes[c], hatch=hatches.get(c), edgecolor=inks.ground)
        for c in _CAUSES
        if c in seen
    ]
    figure.legend(
        handles, [_CAUSES[c] for c in _CAUSES if c in seen], loc="outside lower center",
        ncols=len(seen), fontsize=9, labelcolor=inks.soft,
    )  # fmt: skip


# --- Latency by page type.

_TYPES = ("LSB", "CSB", "MSB", "TSB")


def _types(small: bool) -> np.ndarray:
    report = wl.run(
        device="pa-ssd-288gb",
        scheme="conventional-tlc",
        workload="uniform:bs=8KiB,qd=1",
        requests=4_000 if small else 6_000,
        initial="fresh",
    )
    table = report.requests_with("arrival_ns", "completion_ns")
    return np.sort((table["completion_ns"] - table["arrival_ns"]) / 1e3)


def _steps(us: np.ndarray) -> list[tuple[float, float]]:
    """Return the latencies at which many reads complete, each with the share of the reads."""
    values, counts = np.unique(us, return_counts=True)
    return [
        (float(v), float(c) / len(us))
        for v, c in zip(values, counts, strict=True)
        if c > len(us) / 10
    ]


def _types_title(us: np.ndarray) -> str:
    steps = _steps(us)
    said = [f"{time(value)} ({name})" for (value, _), name in zip(steps, _TYPES, strict=False)]
    either = ", ".join(said[:-1])
    return f"How long a write takes depends on the type of its page: {either} or {said[-1]}"


def _types_below(us: np.ndarray) -> str:
    return (
        f"{len(us):,} random writes of 8 KiB at queue depth 1 on pa-ssd-288gb, a TLC drive that "
        "programs page by page: share of writes completed within a time"
    )


def _draw_types(us: np.ndarray, figure: Any, inks: Inks) -> None:
    at = figure.subplots()
    share = np.arange(1, len(us) + 1) / len(us) * 100
    ms = us / 1e3
    at.plot(
        np.r_[0, ms[0], ms], np.r_[0, 0, share], drawstyle="steps-post", color=inks.winner,
        linewidth=2.6,
    )  # fmt: skip
    for (value, part), name in zip(_steps(us), _TYPES, strict=False):
        until = float(share[np.searchsorted(us, value, "right") - 1])
        at.annotate(
            f"{name}: {time(value)}\n{part * 100:.0f} % of writes",
            (value / 1e3, until - 50 * part),
            xytext=(11, 0), textcoords="offset points", va="center", color=inks.ink, weight="bold",
        )  # fmt: skip
    at.set(xlabel="write latency, ms", ylabel="share of writes, %", ylim=(0, 101))
    at.set(xlim=(0, ms[-1] * 1.32))


# --- Blocks changing mode over time.


def _modes(small: bool) -> dict[str, Any]:
    report = wl.run(
        device="fair-qlc",
        scheme="slc-cache",
        set={"slc_cache.static_blocks": 4, "slc_cache.dynamic_blocks": 60},
        workload="bursty",
        initial="fill:20%,order=seq",
        requests=5_000 if small else 60_000,
    )
    found = report.to_dict()["block_map"]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    modes = [kind["mode"] for kind in found["legend"]]
    known = ["", "slc", "mlc", "tlc", "qlc"]
    cells = [[known.index(modes[letters.index(c)]) for c in f["cells"]] for f in found["frames"]]
    return {"seconds": [f["at_ns"] / 1e9 for f in found["frames"]], "cells": np.array(cells).T}


def _modes_title(found: dict[str, Any]) -> str:
    share = (found["cells"] == 1).mean(axis=0) * 100
    most = int(share.argmax())
    return (
        f"The SLC cache takes up to {share[most]:.0f} % of the blocks, "
        f"{found['seconds'][most]:.0f} s into the run, and is at {share[-1]:.0f} % at the end"
    )


def _modes_below(found: dict[str, Any]) -> str:
    blocks, frames = found["cells"].shape
    return (
        f"Mode of each of {blocks} blocks at {frames} moments of bursts of writes on fair-qlc "
        "under slc-cache with a dynamic cache; ordered by when a block is first used"
    )


def _draw_modes(found: dict[str, Any], figure: Any, inks: Inks) -> None:
    from matplotlib.colors import ListedColormap

    at = figure.subplots()
    cells, seconds = found["cells"], np.array(found["seconds"])
    first = np.where((cells > 0).any(axis=1), (cells > 0).argmax(axis=1), cells.shape[1])
    kind = np.where(cells[:, 0] == 4, -1, 0)
    order = np.lexsort((-(cells == 1).sum(axis=1), first, kind))
    inks_of = [
        inks.grid,
        inks.modes["slc"],
        inks.modes["mlc"],
        inks.modes["tlc"],
        inks.modes["qlc"],
    ]
    edges = np.r_[seconds, seconds[-1] + np.diff(seconds).mean()]
    at.pcolormesh(
        edges, np.arange(len(cells) + 1), cells[order], cmap=ListedColormap(inks_of), vmin=-0.5,
        vmax=4.5, rasterized=True,
    )  # fmt: skip
    at.set(xlabel="simulated time, s", ylabel="blocks", ylim=(len(cells), 0), xlim=(0, edges[-1]))
    at.grid(visible=False)
    last = cells[order][:, -1]
    ends = []
    for mode, name in ((4, "QLC"), (1, "SLC"), (0, "erased")):
        rows = np.flatnonzero(last == mode)
        if len(rows):
            ink = inks.soft if mode == 0 else inks_of[mode]
            ends.append(
                (
                    float(np.median(rows)),
                    f"{name}\n{len(rows) / len(last) * 100:.0f} % at the end",
                    ink,
                )
            )
    named(at, ends, float(edges[-1]), 0.15)


# --- A sweep.

_BURST = 0.03
_SWEPT = ("conventional", "slc-cache", "turbo-write", "sector")


def _sweep(small: bool) -> dict[str, list[tuple[float, float, float]]]:
    sizes = (2, 8) if small else (2, 4, 8, 12, 16)
    swept = wl.sweep(
        device="fair-qlc",
        workload=f"bursty:bursts=200,burst={_BURST:.0%},long=0%,quiet=1s,write_rate=200MB/s",
        initial="fill:60%,valid=80%",
        requests=1_000 if small else 6_000,
        replicas=2 if small else 3,
        set={"slc_cache.static_blocks": list(sizes)},
        schemes=list(_SWEPT),
        figures=["latency_us.write.mean"],
    )
    columns = swept.columns()
    mib = {
        c.at["slc_cache.static_blocks"]: c.reports[0].conditions.flash_bytes["slc"] / 2**20
        for c in swept
        if c.at["scheme"] == "slc-cache"
    }
    found: dict[str, list[tuple[float, float, float]]] = {}
    for scheme, blocks, mean, half in zip(
        columns["scheme"],
        columns["slc_cache.static_blocks"],
        columns["latency_us.write.mean"],
        columns["latency_us.write.mean.half_width_95"],
        strict=True,
    ):
        found.setdefault(scheme, []).append((mib[blocks], mean / 1e6, (half or 0) / 1e6))
    return found


def _sweep_title(found: dict[str, list[tuple[float, float, float]]]) -> str:
    drops = {
        (scheme, a[0], b[0]): a[1] / b[1]
        for scheme, points in found.items()
        for a, b in itertools.pairwise(points)
    }
    scheme, before, after = max(drops, key=drops.__getitem__)
    best = min(found, key=lambda s: min(p[1] for p in found[s]))
    pairs = (zip(found[best], points, strict=True) for points in found.values())
    always = all(own[1] <= other[1] for pair in pairs for own, other in pair)
    end = f"; {best} has the lowest mean at every size" if always else ""
    return (
        f"From {before:.0f} to {after:.0f} MiB of SLC cache, {scheme} gets "
        f"{number(drops[scheme, before, after], 2)} times as fast{end}"
    )


def _sweep_below(_: Any) -> str:
    return (
        "Mean write latency with 95 % intervals over 3 seeds on fair-qlc, 1 GiB of QLC filled to "
        f"60 %, under bursts of {_BURST * 100:.0f} % of it, a second apart"
    )


def _draw_sweep(
    found: dict[str, list[tuple[float, float, float]]], figure: Any, inks: Inks
) -> None:
    at = figure.subplots()
    best = min(found, key=lambda s: min(p[1] for p in found[s]))
    others = iter([(0, (5, 1.5)), (0, (1, 1.2)), (0, (3, 1, 1, 1))])
    marks = iter("s^Dv")
    ends = []
    for scheme, points in found.items():
        mib, ms, half = np.array(points).T
        is_base, is_best = scheme == "conventional", scheme == best
        ink = inks.baseline if is_base else inks.winner if is_best else inks.other
        dashes = "-" if is_best or is_base else next(others)
        mark = "o" if is_best else next(marks)
        at.errorbar(
            mib, ms, yerr=half, color=ink, linestyle=dashes,
            marker=mark, markersize=6, capsize=3, elinewidth=1.2,
        )  # fmt: skip
        said = f"{scheme}\n(baseline)" if is_base else scheme
        ends.append((float(ms[-1]), said, ink))
    sizes = [p[0] for p in next(iter(found.values()))]
    at.set(xlabel="static SLC cache, MiB", ylabel="mean write latency, s", ylim=(0, None))
    at.set_xticks(sizes, [f"{size:.0f}" for size in sizes])
    named(at, ends, sizes[-1], 0.08)


PICTURES = [
    Picture("cliff", "The SLC cliff", _cliff, _cliff_title, _cliff_below, _draw_cliff),
    Picture(
        "retries", "Read retries with age", _retries, _retries_title, _retries_below, _draw_retries
    ),
    Picture(
        "causes", "Where a page's bytes went", _causes, _causes_title, _causes_below, _draw_causes
    ),
    Picture("page-types", "Latency by page type", _types, _types_title, _types_below, _draw_types),
    Picture(
        "modes", "Blocks changing mode over time", _modes, _modes_title, _modes_below, _draw_modes
    ),
    Picture("sweep", "A sweep", _sweep, _sweep_title, _sweep_below, _draw_sweep),
]
