"""What a run comes to in the atlas, and all runs of an atlas together."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from wordline._measures import value
from wordline.atlas.design import FACTORS, names
from wordline.steady import ENOUGH, NO_RUNS, Steady, of_reports

Report = Mapping[str, Any]

#: Logarithms are kept in thousandths, which is 0.07 percent.
MILLI = 1000
#: The fewest requests of a kind that a 99.9th percentile stands on, over all seeds of a cell.
FEWEST_P999 = 100_000


@dataclass(frozen=True)
class Measure:
    """A figure of a run."""

    #: What it is called, and in what it is given.
    key: str
    label: str
    unit: str
    #: The figure of a report; none where there is nothing of it.
    of: Callable[[Report], float | None]
    more: bool = False  #: Whether more of it is better.


#: Less than this a host does not see: its own stack takes as long. A drive's RAM takes no time
#: here, so that a write which finds room in it would have no ratio to another.
LEAST_LATENCY_US = 10.0


def _at(path: str) -> Callable[[Report], float | None]:
    least = LEAST_LATENCY_US if path.startswith("latency_us.") else 0.0
    return lambda report: None if (of := value(report, path)) is None else max(of, least)


def usable(report: Report) -> float:
    """Return the bytes that a drive can hold at the end, in the modes that its blocks then have."""
    capacity = report["capacity"]
    if "changing" in capacity:
        return float(capacity["changing"]["usable_bytes"])
    # SLC on the same flash as denser cells is a cache; on a medium of its own data rest there.
    own = len(report["config"]["device"]["media"]) > 1
    return float(sum(r["bytes"] for r in capacity["regions"] if own or r["mode"] != "slc"))


def _cost(report: Report) -> float:
    wordlines = sum(
        m["blocks_per_plane"] * m["wordlines_per_block"] * prod(m["topology"].values())
        for m in report["config"]["device"]["media"]
    )
    return wordlines / usable(report) * 1e9


_POINTS = {"mean": "mean", "p50": "p50", "p99": "p99", "p999": "p99.9"}
MEASURES = (
    *(
        Measure(f"{way}_{at}", f"{way} latency, {name}", "us", _at(f"latency_us.{way}.{at}"))
        for way, (at, name) in product(("write", "read"), _POINTS.items())
    ),
    Measure("throughput", "throughput", "MB/s", _at("throughput.mb_per_s"), more=True),
    Measure("waf", "write amplification", "", _at("waf.total")),
    Measure("lifetime", "lifetime", "B", _at("lifetime.total_bytes_written"), more=True),
    Measure("usable", "usable capacity", "B", usable, more=True),
    Measure("cost", "cost of a usable gigabyte", "wordlines", _cost),
    Measure("energy", "energy of a host byte", "nJ", _at("flash.energy.nj_per_host_byte")),
    Measure("ram", "RAM", "B", _at("conditions.ram_bytes")),
)
KEYS = {measure.key: i for i, measure in enumerate(MEASURES)}
#: What is extrapolated from a run to the end of the drive's life, and said of steady runs alone.
EXTRAPOLATED = ("lifetime",)


@dataclass
class Cell:
    """A scheme under a condition."""

    #: Of each measure and seed the logarithm to base 2 of the figure over the baseline's; NaN where
    #: either has none.
    logs: Any = None
    #: Its runs, and how many of them are steady; of several seeds, stationary.
    steadiness: Steady = NO_RUNS
    failed: int = 0  #: Requests that came out with an error, over all seeds.
    #: Whether the scheme kept its static cache where the condition has a dynamic one.
    fixed: bool = False
    why: str = ""  #: Why there are no figures, where the drive or the scheme refuses; else empty.
    #: Parts of the mean latency of reads and of writes in microseconds, and programs by cause for
    #: each page that the host wrote, as means over the seeds.
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass
class Place:
    """All schemes of a drive under a condition."""

    at: tuple[str, ...]  #: The levels of the factors, by name.
    #: What leads there again; settings by device.
    workload: str
    initial: str
    settings: Mapping[str, Sequence[tuple[str, str]]]
    base: Any  #: The figures of the baseline, as means over the seeds; NaN where there is none.
    requests: tuple[int, int]  #: Reads and writes that were measured, over all seeds.
    cells: Mapping[str, Cell]  #: By scheme.
    #: Of the best two schemes in mean write latency, where they were not apart, the logarithms of
    #: further seeds, as in a cell; those have not chosen the two.
    again: Mapping[str, Any] = field(default_factory=dict)
    base_scheme: str = ""  #: The baseline.
    asked: int = 0  #: The requests that each run was to have.
    seconds: float = 0.0  #: Simulated time of the baseline's runs, as a mean over the seeds.

    @property
    def baseline(self) -> Cell | None:
        """The cell of the baseline, over which ratios are taken; none where it has none."""
        return self.cells.get(self.base_scheme)


def figures(report: Report) -> list[float]:
    """Return every measure of a report; NaN where there is nothing of it."""
    found = [measure.of(report) for measure in MEASURES]
    return [float("nan") if value is None or value <= 0 else float(value) for value in found]


def _by_measure(reports: Sequence[Report]) -> Any:
    return np.array([figures(r) for r in reports]).T


def logs(reports: Sequence[Report], baseline: Sequence[Report]) -> Any:
    """Return of each measure and seed the logarithm of a figure over the baseline's."""
    return np.round(np.log2(_by_measure(reports) / _by_measure(baseline)) * MILLI) / MILLI


def place(
    at: tuple[str, ...],
    baseline: str,
    reports: Mapping[str, Sequence[Report]],
    refused: Mapping[str, str],
    leads: tuple[str, str, Mapping[str, Sequence[tuple[str, str]]]],
    fixed: Container[str] = (),
    *,
    over_seeds: bool = True,
    is_finite: bool = False,
) -> Place:
    """Return a condition from the reports of its runs, by scheme and seed, over the baseline's.

    What is refused has the reason, ``leads`` are workload, initial state and settings, and
    ``fixed`` the schemes that kept a static cache where the condition has a dynamic one. With
    ``over_seeds`` stationary runs count as steady (`wordline.steady.of_reports`).
    """
    if baseline not in reports:
        nothing = np.full(len(MEASURES), np.nan)
        cells = {s: Cell(why=why) for s, why in refused.items()}
        return Place(at, *leads, nothing, (0, 0), cells, base_scheme=baseline)
    base = _by_measure(reports[baseline])
    cells = {}
    for scheme, found in reports.items():
        state = of_reports(found, over_seeds=over_seeds)
        cells[scheme] = Cell(
            logs=logs(found, reports[baseline]),
            steadiness=replace(state, is_finite=is_finite),
            failed=sum(sum(r["host"].get("failed", {}).values()) for r in found),
            fixed=scheme in fixed,
            parts=_parts(found),
        )
    cells |= {s: Cell(why=why) for s, why in refused.items()}
    host = [r["host"] for r in reports[baseline]]
    count = sum(h["read_requests"] for h in host), sum(h["write_requests"] for h in host)
    known = (~np.isnan(base)).sum(axis=1)
    mean = np.where(known > 0, np.nansum(base, axis=1) / np.maximum(known, 1), np.nan)
    seconds = float(np.mean([r["simulated_s"] for r in reports[baseline]]))
    return Place(at, *leads, mean, count, cells, base_scheme=baseline, seconds=seconds)


def _parts(reports: Sequence[Report]) -> dict[str, dict[str, float]]:
    """Return the means over seeds of parts of latencies and of causes of programs."""
    found: dict[str, dict[str, float]] = {}
    for report in reports:
        causes = {
            c: sum(by.values()) for c, by in ((report.get("waf") or {}).get("parts") or {}).items()
        }
        parts = report.get("latency_parts_us") or {}
        of = {way: parts.get(way) or {} for way in ("read", "write")}
        for kind, values in {**of, "programs": causes}.items():
            into = found.setdefault(kind, {})
            for name, part in values.items():
                into[name] = into.get(name, 0.0) + part / len(reports)
    # As the data of a page have them, so that a text says the same of a page that is read again.
    return {kind: _largest(of) for kind, of in found.items()}


@dataclass
class DriveCells:
    """A drive of the atlas with all that ran on it."""

    #: As in the design. The best are chosen among `schemes` alone; `places` have both.
    name: str
    title: str
    baseline: str
    schemes: Mapping[str, tuple[str, str]]
    places: list[Place]  #: The conditions, in its order.
    further: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def spelled(self) -> dict[str, tuple[str, str]]:
        """Device and spelling of all that ran, by label."""
        return {**self.schemes, **self.further}


@dataclass
class Atlas:
    """Everything that was run."""

    #: As in the design.
    title: str
    seeds: int
    requests: Mapping[str, int]
    levels: Mapping[str, Sequence[str]]
    kinds: Mapping[str, str]
    drives: list[DriveCells]  #: In its order.
    #: What became of requests beyond the drive, where the workload does not say it.
    fit: str | None = None
    by: str = "load"  #: The factor of which each level has the most conditions to itself.
    is_finite: bool = False  #: As in the design.

    def to_json(self) -> str:
        """Return it as JSON."""
        return json.dumps(self.data(), separators=(",", ":"))

    def data(self) -> dict[str, Any]:
        """Return what its JSON has; figures over the baseline's are thousandths of log2."""
        return {
            "title": self.title,
            "seeds": self.seeds,
            "requests": self.requests,
            "fewest_p999": FEWEST_P999,
            "enough_steady": ENOUGH,
            "finite": self.is_finite,
            "extrapolated": EXTRAPOLATED,
            "factors": FACTORS,
            "levels": self.levels,
            "kinds": self.kinds,
            "names": names(self.kinds),
            "by": self.by,
            "fit": self.fit,
            "measures": [
                {"key": m.key, "label": m.label, "unit": m.unit, "more": m.more} for m in MEASURES
            ],
            "drives": [_drive_json(drive) for drive in self.drives],
        }


def _drive_json(drive: DriveCells) -> dict[str, Any]:
    reasons: list[str] = []

    def reason(why: str) -> int:
        if why not in reasons:
            reasons.append(why)
        return reasons.index(why)

    def cell(c: Cell) -> Any:
        if c.why:
            return reason(c.why)
        of = c.steadiness
        return [_rows(c.logs), of.steady, c.failed, int(c.fixed), c.parts, of.needed, of.changing]

    return {
        "name": drive.name,
        "title": drive.title,
        "baseline": drive.baseline,
        "schemes": [[label, *at] for label, at in drive.schemes.items()],
        "places": [
            {
                "at": p.at,
                "workload": p.workload,
                "initial": p.initial,
                "set": {device: list(map(list, s)) for device, s in p.settings.items()},
                "base": [None if np.isnan(v) else _digits(v) for v in p.base],
                "requests": p.requests,
                "asked": p.asked,
                "seconds": _digits(p.seconds),
                "cells": [cell(p.cells[s]) for s in drive.spelled],
                "again": {list(drive.schemes).index(s): _rows(of) for s, of in p.again.items()},
            }
            for p in drive.places
        ],
        "reasons": reasons,
    }


def _rows(logs: Any) -> list[list[int] | None]:
    return [None if np.isnan(row).any() else [round(v * MILLI) for v in row] for row in logs]


def _largest(parts: Mapping[str, float]) -> dict[str, float]:
    """Return the parts that are more than a two-hundredth of all, with three digits."""
    least = sum(parts.values()) / 200
    return {name: float(f"{value:.3g}") for name, value in parts.items() if value > least}


def _digits(value: float) -> float:
    """Return a figure with five digits."""
    return float(f"{value:.5g}")
