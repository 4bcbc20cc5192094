"""Findings on HySSD, in three sentences."""

from __future__ import annotations

from itertools import product

from wordline_lab.experiments.hyssd import measures as m
from wordline_lab.reproduce.paper import NotRun, Study

#: Where the paper has the least response time and the longest life of fixed utilisations.
PRINTED = {
    ("ST", "Financial"): (0.60, 0.80),
    ("ST", "Exchange"): (0.80, 0.97),
    ("MT", "Financial"): (0.30, 0.10),
    ("MT", "Exchange"): (0.70, 0.60),
}


def findings(study: Study) -> list[str]:
    """Return Markdown sentences on Perf, on the optima, and on Life."""
    cases = list(product(("ST", "MT"), ("Financial", "Exchange")))
    try:
        perf = [m.perf_over_best(study, *case) for case in cases]
        optima = {case: m.optimum(study, *case) for case in cases}
        slower = [m.life_over_perf(study, *case) for case in cases]
        longer = [m.life_gain(study, *case) for case in cases]
        best = [m.over_longest(study, *case, "Life") for case in cases]
    except NotRun:
        return []
    near = sum(abs(optima[case] - PRINTED[case][0]) <= 0.1 + 1e-9 for case in cases)
    named = ", ".join(
        f"{drive}/{workload} {optima[drive, workload]:.0%} ({PRINTED[drive, workload][0]:.0%})"
        for drive, workload in cases
    )
    worst = max(range(len(cases)), key=lambda i: perf[i])
    hasty = sum(ratio < 1 for ratio in slower)
    faster = f"here it is faster than Perf in {hasty} of 4 cases" if hasty else "so it is here"
    return [
        "The model replaces a trial of every utilization: the response time of Perf is "
        f"**{min(perf):.2f} to {max(perf):.2f} times** that of the best fixed utilization "
        f"(paper: close to it), with the maximum on {'-SSD under '.join(cases[worst])}.",
        f"The best fixed utilization is within one step of the printed one in **{near} of 4** "
        f"cases (the paper's in brackets): {named}.",
        f"Under Life the drive lasts **{min(longer):.2f} to {max(longer):.2f} times** as long as "
        f"under Perf, and a request takes {min(slower):.2f} to {max(slower):.2f} times as long. "
        f"Life reaches {min(best):.2f} to {max(best):.2f} of the longest lifetime of a fixed "
        "utilization. "
        f"In the paper it reaches that in most cases and is slightly slower; {faster}.",
    ]
