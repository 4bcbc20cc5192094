"""What the fair table is made of: figures of each scheme over the plain drive's, over all twins."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, log
from statistics import fmean
from typing import Any

import numpy as np

from wordline import Report
from wordline.interval import mean_and_half_width
from wordline.reproduce.paper import NotRun, Study

BASELINE = "conventional"
DRIVES = ("TLC", "QLC")
SEEDS = (1, 2, 3)


def _p999(kind: str) -> Callable[[Report], float | None]:
    return lambda report: (report.to_dict()["latency_us"].get(kind) or {}).get("p999")


def _mean(kind: str) -> Callable[[Report], float | None]:
    return lambda report: (report.to_dict()["latency_us"].get(kind) or {}).get("mean")


def lifetime(report: Report) -> float | None:
    """Bytes that the host can write until the first mode of the drive is worn out."""
    found = report.to_dict().get("lifetime")
    return found and found.get("total_bytes_written")


def usable(report: Report) -> float:
    """Bytes that the drive can hold at the end, in the modes that its blocks then have."""
    capacity = report.to_dict()["capacity"]
    if "changing" in capacity:
        return float(capacity["changing"]["usable_bytes"])
    return float(sum(r["bytes"] for r in capacity["regions"] if r["mode"] != "slc"))


FIGURES: dict[str, Callable[[Report], float | None]] = {
    "write_mean": _mean("write"),
    "read_mean": _mean("read"),
    "write_p999": _p999("write"),
    "read_p999": _p999("read"),
    "waf": lambda report: report.waf.total if report.waf else None,
    "lifetime": lifetime,
    "usable": usable,
}


@cache
def _figures(report: Report) -> dict[str, float | None]:
    """Return every figure of a run; reading them takes longer than all that is made of them."""
    return {name: of(report) for name, of in FIGURES.items()}


def schemes(study: Study, drive: str) -> list[str]:
    """Schemes that ran on a drive, in the order of the folder, the baseline first."""
    ran = {name.split("/")[2] for name in study.reports if name.startswith(f"{drive}/")}
    return [s for s in study.paper.schemes if s in ran]


def over(study: Study, drive: str, twin: str, scheme: str, figure: str, seed: int) -> float | None:
    """Return a figure over the baseline's, of one seed; none where either has nothing of it."""
    try:
        own = _figures(study.report(twin, scheme, drive, seed))[figure]
        base = _figures(study.report(twin, BASELINE, drive, seed))[figure]
    except (NotRun, KeyError):
        return None
    return own / base if own and base else None


def geometric_mean(values: list[float]) -> float | None:
    """Return the geometric mean; none of nothing."""
    return exp(fmean(log(v) for v in values)) if values else None


def on_twin(study: Study, drive: str, twin: str, scheme: str, figure: str) -> float | None:
    """Geometric mean over the seeds of a figure over the baseline's on one twin."""
    found = (over(study, drive, twin, scheme, figure, seed) for seed in SEEDS)
    return geometric_mean([v for v in found if v is not None])


def in_all(study: Study, drive: str, scheme: str, figure: str) -> tuple[float, float] | None:
    """Geometric mean over all twins, with half of its 95 % interval over the seeds.

    Only twins on which the scheme has the figure with every seed are counted.
    """
    found = {
        twin: [over(study, drive, twin, scheme, figure, seed) for seed in SEEDS]
        for twin in study.paper.workloads
    }
    whole = [[v for v in of if v is not None] for of in found.values() if None not in of]
    means = [geometric_mean([of[i] for of in whole]) for i in range(len(SEEDS))]
    known = [m for m in means if m is not None]
    return mean_and_half_width(known) if len(known) > 1 else None


def shown(row: dict[str, Any], figure: str, digits: str) -> str:
    """Write a figure with half of its interval to one digit; below a millionth that is rounding."""
    if row[figure] is None:
        return ""
    half = float(f"{round(row[f'{figure}_interval'], 6):.1g}")
    return f"{row[figure]:{digits}} ± {np.format_float_positional(half, trim='-')}"


def failures(study: Study, drive: str, scheme: str) -> int:
    """Count requests that came out with an error, over all twins and seeds."""
    prefix, end = f"{drive}/", f"/{scheme}/"
    return sum(
        sum(report.to_dict()["host"].get("failed", {}).values())
        for name, report in study.reports.items()
        if name.startswith(prefix) and end in name
    )


def rows(study: Study, drive: str) -> list[dict[str, Any]]:
    """Return the table of a drive."""
    found = []
    for scheme in schemes(study, drive):
        row: dict[str, Any] = {"scheme": scheme}
        for figure in FIGURES:
            value = in_all(study, drive, scheme, figure)
            row[figure] = value and value[0]
            row[f"{figure}_interval"] = value and value[1]
        row["failed_requests"] = failures(study, drive, scheme)
        found.append(row)
    return found
