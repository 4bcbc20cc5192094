"""The figures and tables of In-place Switch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter

from wordline import plotting
from wordline_lab import drawing
from wordline_lab.experiments.ips import measures as m
from wordline_lab.reproduce.paper import Figure, Study

Rows = list[dict[str, Any]]

COLOURS = plotting.colours([m.BASELINE, "IPS", "IPS/agc", m.COOPERATIVE], m.BASELINE)
SLC, TLC, MOVED = "#0072B2", "#E69F00", "#8d6cc4"
DRAWN = plotting.SCHEMES[0]

# --- bandwidth over what is written: Figures 3 and 4 --------------------------------------------


def _bandwidth(study: Study, workload: str) -> Rows:
    """Return the bandwidth of each bin of time that is busy throughout: between two busy ones."""
    volume, speed = m.speed_over_volume(study.report(workload, m.BASELINE, workload))
    rows: Rows = []
    stream = 1
    for before, now, after, written in zip(speed, speed[1:], speed[2:], volume[1:], strict=False):
        if before > 0 and now > 0 and after > 0:
            rows.append({"stream": stream, "written_gib": float(written), "mb_per_s": float(now)})
        elif now == 0 and after > 0:
            stream += 1
    return rows


def _draw_bandwidth(study: Study, workload: str, title: str) -> Any:
    rows = _bandwidth(study, workload)
    figure, at = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    for stream in sorted({row["stream"] for row in rows}):
        here = [row for row in rows if row["stream"] == stream]
        x, y = [row["written_gib"] for row in here], [row["mb_per_s"] for row in here]
        at.plot(x, y, color=DRAWN, lw=1.6)
    at.set_ylim(0, 1.1 * max(row["mb_per_s"] for row in rows))
    at.set_xlabel("written, GiB")
    at.set_ylabel("bandwidth, MB/s")
    at.set_title(title)
    return figure


# --- what went where: Figure 5 ------------------------------------------------------------------


def _parts(study: Study, group: str) -> Rows:
    rows = []
    for workload in m.VOLUMES:
        report = study.report(workload, m.BASELINE, group)
        tlc = m.written_to_tlc(report)
        gib = m.written_gib(report)
        rows.append(
            {
                "volume": workload,
                "slc_gib": (1 - tlc) * gib,
                "tlc_gib": tlc * gib,
                "moved_gib": (m.wa(report) - 1) * gib,
                "wa": m.wa(report),
            }
        )
    return rows


def _draw_parts(study: Study, group: str, title: str) -> Any:
    rows = _parts(study, group)
    figure, (at, low) = plt.subplots(
        2, 1, figsize=(7.6, 4.6), sharex=True, layout="constrained", height_ratios=[2, 1]
    )
    x = np.arange(len(rows))
    below = np.zeros(len(rows))
    shares = {"SLC": "slc_gib", "TLC, directly": "tlc_gib", "moved to TLC": "moved_gib"}
    for (name, key), colour in zip(shares.items(), (SLC, TLC, MOVED), strict=True):
        total = [max(r["wa"] * (r["slc_gib"] + r["tlc_gib"]), 1e-9) for r in rows]
        values = np.array([r[key] for r in rows]) / total
        at.bar(x, values, 0.62, below, color=colour, label=name)
        below += values
    at.yaxis.set_major_formatter(PercentFormatter(1))
    at.set_ylabel("programmed")
    at.set_title(title)
    low.bar(x, [r["wa"] for r in rows], 0.62, color=DRAWN)
    low.axhline(1, color="#555555", lw=0.8)
    low.set_ylabel("WA_full")
    low.set_ylim(0, 2.2)
    low.set_xticks(x, [r["volume"] for r in rows], rotation=30, ha="right")
    for each in (at, low):
        each.grid(axis="x", visible=False)
    drawing.legend_above(figure)
    return figure


# --- over time: Figure 9 ------------------------------------------------------------------------


def _over_time(study: Study, group: str) -> Rows:
    rows = []
    for scheme in (m.BASELINE, "IPS"):
        report = study.report("HM_0", scheme, group)
        volume, _ = m.speed_over_volume(report)
        line = report.timeline
        for i, latency in enumerate(line.write_latency_us_mean):
            if not np.isnan(latency):
                rows.append(
                    {
                        "scheme": scheme,
                        "until_s": (i + 1) * line.bin_s,
                        "written_gib": float(volume[i]),
                        "write_ms": float(latency) / 1e3,
                    }
                )
    return rows


def _draw_over_time(study: Study, group: str, x: str, label: str, title: str) -> Any:
    rows = _over_time(study, group)
    figure, at = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
    for scheme in (m.BASELINE, "IPS"):
        here = [row for row in rows if row["scheme"] == scheme]
        per = 3_600 if x == "until_s" else 1
        at.plot(
            [row[x] / per for row in here],
            [row["write_ms"] for row in here],
            color=COLOURS[scheme],
            lw=1.2,
            label=scheme,
        )
    at.set_ylim(0)
    at.set_xlabel(label)
    at.set_ylabel("mean write latency, ms")
    at.set_title(title)
    drawing.legend_above(figure, at)
    return figure


# --- over the baseline: Figures 10, 11, 12b ------------------------------------------------------


def _ratios(study: Study, group: str, schemes: Sequence[str]) -> Rows:
    rows = []
    for workload in m.VOLUMES:
        row: dict[str, Any] = {"volume": workload}
        for scheme in schemes:
            for figure in m.FIGURES:
                row[f"{scheme} {figure}"] = m.ratio(study, workload, group, scheme, figure)
        rows.append(row)
    keys = [key for key in rows[0] if key != "volume"]
    mean = {key: float(np.mean([row[key] for row in rows])) for key in keys}
    return [*rows, {"volume": "mean", **mean}]


def _draw_ratios(
    study: Study, group: str, schemes: Sequence[str], printed: tuple[float, float], title: str
) -> Any:
    rows = _ratios(study, group, schemes)
    figure, axes = plt.subplots(2, 1, figsize=(7.6, 4.8), sharex=True, layout="constrained")
    places = np.arange(len(rows)) + np.array([0.0] * len(m.VOLUMES) + [0.3])
    width = 0.7 / len(schemes)
    names = {"latency": "write latency", "wa": "WA_full"}
    for at, figure_name, paper in zip(axes, names, printed, strict=True):
        for number, scheme in enumerate(schemes):
            x = places + (number - (len(schemes) - 1) / 2) * width
            values = [row[f"{scheme} {figure_name}"] for row in rows]
            at.bar(x, values, width * 0.92, color=COLOURS[scheme], label=scheme)
            counted = [row[f"{scheme} wa_paper"] for row in rows]
            if figure_name == "wa" and counted != values:
                at.plot(x, counted, "D", ms=4, mfc="white", mec=COLOURS[scheme], label="WA_paper")
        at.plot(
            [places[-1] - 0.4, places[-1] + 0.4],
            [paper] * 2,
            color=drawing.PRINTED,
            lw=2,
            label="printed, mean",
        )
        at.axhline(1, color=plotting.BASELINE, lw=1)
        at.set_ylim(0)
        at.grid(axis="x", visible=False)
        at.set_ylabel(f"{names[figure_name]}\n/ baseline's")
    axes[0].set_title(title)
    axes[1].set_xticks(places, [row["volume"] for row in rows], rotation=30, ha="right")
    drawing.legend_above(figure, axes[1])
    return figure


# --- the cooperative design in bursts: Figure 12a -------------------------------------------------


def _bursts(study: Study) -> Rows:
    group = "cooperative-burst"
    return [
        {
            "written_gib": float(w),
            "latency": m.ratio(study, w, group, m.COOPERATIVE, "latency"),
            "latency_form": m.latency_form(study, w, group),
            "wa": m.ratio(study, w, group, m.COOPERATIVE, "wa"),
            "wa_form": m.wa_form(study, w, group),
        }
        for w in m.BURSTS
    ]


def _draw_bursts(study: Study) -> Any:
    rows = _bursts(study)
    figure, at = plt.subplots(figsize=(5.8, 3.4), layout="constrained")
    x = [row["written_gib"] for row in rows]
    for key, name, colour in (
        ("latency", "write latency", COLOURS[m.COOPERATIVE]),
        ("wa", "WA_full", plotting.SCHEMES[4]),
    ):
        at.plot(x, [row[f"{key}_form"] for row in rows], color=colour, lw=1, ls=(0, (4, 3)))
        at.plot(x, [row[key] for row in rows], "o", color=colour, label=name)
    at.axhline(1, color=plotting.BASELINE, lw=1)
    at.set_ylim(0, max(1.15, 1.05 * max(row["latency"] for row in rows)))
    at.set_xlabel("written in one burst, GiB")
    at.set_ylabel("over the baseline's")
    at.set_title("Simulated as points, closed forms dashed")
    drawing.legend_above(figure, at)
    return figure


def _causes(study: Study) -> Rows:
    """Return what the runs came to that show why a claim does not hold."""
    rows = []
    for name, report in study.reports.items():
        group, workload, scheme = name.split("/", 2)
        if group not in CAUSES or workload not in NAMED:
            continue
        idle = report.get("idle") or {}
        base = study.report(workload, m.BASELINE, group)
        rows.append(
            {
                "runs": group,
                "workload": workload,
                "scheme": scheme,
                "write_ms": m.latency(report),
                "over_baseline": m.latency(report) / m.latency(base),
                "wa_full": m.wa(report),
                "wa_paper": m.wa_paper(report),
                "delayed_%": 100 * idle.get("delayed_requests", 0) / report.host.requests,
                "delay_ms": (idle.get("delay_us_mean") or 0) / 1e3,
            }
        )
    return rows


#: Groups of runs that show why a claim does not hold, and those that they stand beside.
CAUSES = ("daily", "aged", "cooperative-daily", "once-cooperative")
NAMED = ("HM_0", "PROJ_4", "RSRCH_0", "STG_0")


def _table_1(study: Study) -> Rows:
    return [{"parameter": k, "value": v} for k, v in m.configuration(study).items()]


FIGURES = [
    Figure(
        "table-1",
        "the simulated drive",
        ["volumes/4/*"],
        _table_1,
        beside="the same.",
    ),
    Figure(
        "3",
        "bandwidth under sustained writes, on a drive with 65 GB of cache",
        ["sustained/*"],
        lambda s: _bandwidth(s, "sustained"),
        lambda s: _draw_bandwidth(s, "sustained", "One stream of 100 GiB"),
        "a drive of 500 GB falls after 65 GB.",
    ),
    Figure(
        "4",
        "bandwidth with pauses, on the same drive",
        ["periodic/*"],
        lambda s: _bandwidth(s, "periodic"),
        lambda s: _draw_bandwidth(
            s, "periodic", "Five streams of 20 GiB, ten minutes of rest between them"
        ),
        "the bandwidth stays.",
    ),
    Figure(
        "5a",
        "what Turbo Write programs in bursts, 500 GB",
        ["large-burst/*"],
        lambda s: _parts(s, "large-burst"),
        lambda s: _draw_parts(s, "large-burst", "Bursts"),
        "more goes to TLC directly than to SLC in 9 of 11 volumes; where a burst has the volume of "
        "its trace, 8 of ours can, since WDEV_0 writes less than twice the cache.",
    ),
    Figure(
        "5b",
        "what Turbo Write programs in daily use, 500 GB",
        ["large-daily/*"],
        lambda s: _parts(s, "large-daily"),
        lambda s: _draw_parts(s, "large-daily", "Daily use"),
        "nothing goes to TLC directly, everything is written twice.",
    ),
    Figure(
        "9a",
        "HM_0 as a burst",
        ["burst/HM_0/*", "volumes/*", "first-burst/*"],
        lambda s: _over_time(s, "burst"),
        lambda s: _draw_over_time(s, "burst", "written_gib", "written, GiB", "HM_0 as a burst"),
        "equal until the cache is full; then IPS is the faster. The paper shows 100,000 writes, in "
        "which it fills its cache: 32 KB each they are 3.05 GiB, and cannot fill 4 GB, so all of "
        "HM_0 is shown, here and in Figure 9b.",
    ),
    Figure(
        "9b",
        "HM_0 in daily use",
        ["day/HM_0/*", "first/HM_0/*"],
        lambda s: _over_time(s, "day"),
        lambda s: _draw_over_time(s, "day", "until_s", "hours", "HM_0 as it is"),
        "the latency gradually increases, and that of IPS is larger.",
    ),
    Figure(
        "10a",
        "IPS in bursts, over Turbo Write",
        ["burst/*"],
        lambda s: _ratios(s, "burst", ["IPS"]),
        lambda s: _draw_ratios(s, "burst", ["IPS"], (0.77, 0.83), "Bursts"),
        "latency .77 and WA .83 on average, of eleven volumes of which five are named.",
    ),
    Figure(
        "10b",
        "IPS in daily use, over Turbo Write",
        ["daily/*"],
        lambda s: _ratios(s, "daily", ["IPS"]),
        lambda s: _draw_ratios(s, "daily", ["IPS"], (1.3, 0.53), "Daily use"),
        "latency 1.3 and WA .53 on average.",
    ),
    Figure(
        "11",
        "IPS/agc in daily use on an aged drive, over Turbo Write",
        ["aged/*"],
        lambda s: _ratios(s, "aged", ["IPS", "IPS/agc"]),
        lambda s: _draw_ratios(s, "aged", ["IPS", "IPS/agc"], (0.75, 0.59), "Daily use, aged"),
        "latency .75 and WA .59 on average; which copies that WA counts is open.",
    ),
    Figure(
        "12a",
        "the cooperative design in bursts, over a Turbo Write of the same 64 GB",
        ["cooperative-burst/*"],
        _bursts,
        _draw_bursts,
        "latency .79 and WA .98 at 136 GB.",
    ),
    Figure(
        "12b",
        "the cooperative design in daily use, over a Turbo Write of the same 64 GB",
        ["cooperative-daily/*", "cooperative-larger/*"],
        lambda s: _ratios(s, "cooperative-daily", [m.COOPERATIVE]),
        lambda s: _draw_ratios(
            s, "cooperative-daily", [m.COOPERATIVE], (0.78, 0.67), "Daily use, 64 GB"
        ),
        "latency .78 and WA .67 on average.",
    ),
    Figure(
        "table-causes",
        "runs that show why a claim does not hold: daily use, fresh, aged and cooperative",
        [f"{group}/{w}/*" for group in CAUSES for w in NAMED],
        _causes,
        beside="nothing of the kind; what each run shows is said under the claims that deviate.",
    ),
]
