"""Findings on PA-SSD, in three sentences."""

from __future__ import annotations

from wordline_lab.experiments.pa_ssd import measures as m
from wordline_lab.experiments.pa_ssd import times
from wordline_lab.reproduce.paper import Study

BEST = "QDS+UBS"


def findings(study: Study) -> list[str]:
    """Return the findings that open the page, as far as the runs were made."""
    return study.sentences(_overall, _greedy, _long_term)


def _than(ratio: float) -> str:
    """Say how a latency compares with another: ``91 % lower``."""
    return f"{abs(1 - ratio):.0%} {'lower' if ratio < 1 else 'higher'}".replace("%", " %")


def _overall(study: Study) -> str:
    write, read = (m.normalized(study, BEST, kind, inverse=True) for kind in ("write", "read"))
    best = min(m.ALL, key=lambda w: m.relative(study, w, BEST))
    return (
        f"**{BEST} makes writes {write:.2g} times and reads {read:.2g} times as fast as the "
        f"baseline** on average over eight workloads (paper: 2.4 and 1.5). It gains most under "
        f"{best}, where mean write latency is {_than(m.relative(study, best, BEST))}."
    )


def _greedy(study: Study) -> str:
    means = {scheme: m.normalized(study, scheme) for scheme in m.SCHEMES}
    best = min(means, key=means.__getitem__)
    agrees = "as in the paper" if best == "LFS" else "unlike LFS in the paper"
    below = {s: _than(mean) for s, mean in means.items()}
    return (
        f"On average {best} writes fastest, {agrees}: {below['LFS']} with LFS (paper: 85 % lower), "
        f"{below['SBS+US']} with SBS+US (54 %), {below['QDS+US']} with QDS+US (60 %), "
        f"{below['US']} with US (10 %)."
    )


def _long_term(study: Study) -> str:
    found = {s: times.third_round(study, s) for s in ("LFS", "QDS+US", BEST)}
    said = ", ".join(f"{_than(ratio)} with {scheme}" for scheme, ratio in found.items())
    slower = [scheme for scheme, ratio in found.items() if ratio >= 1]
    contradicts = f", so {' and '.join(slower)} contradict the paper" if slower else ""
    return (
        f"In the third replay of MSFS, mean write latency relative to the baseline is {said} "
        f"(paper: 66, 79 and 93 % lower){contradicts}."
    )
