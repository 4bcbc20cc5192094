"""Write amplification over the spare factor: theory as thin lines, simulation as points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wordline import plotting
from wordline_lab import theory
from wordline_lab.validate.runner import Row


class Family(NamedTuple):
    """A curve, and the points that should lie on it."""

    victim: str
    b: int
    d: int | None
    colour: str
    marker: str
    label: str
    # Where on the curve the label's line ends, and where the label begins.
    at: float
    text: tuple[float, float]


# Okabe and Ito's colors, which are told apart with any color vision; markers for print in grey.
FAMILIES = [
    Family("d-choices", 64, 2, "#D55E00", "^", "2 choices, 64 pages per block", 0.19, (0.235, 5.6)),
    Family("fifo", 128, None, "#009E73", "s", "FIFO", 0.092, (0.135, 9.2)),
    Family("greedy", 1024, None, "#E69F00", "v", "greedy, 1024", 0.102, (0.16, 7.2)),
    Family("d-choices", 64, 10, "#CC79A7", "D", "10 choices, 64", 0.292, (0.325, 2.75)),
    Family("greedy", 128, None, "#0072B2", "o", "greedy, 128 pages per block", 0.145, (0.05, 1.95)),
    Family("greedy", 32, None, "#56B4E9", "o", "greedy, 32", 0.198, (0.115, 1.5)),
]


def points(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows of uniform random writes as points of the picture."""
    found = []
    for row in rows:
        data, a = row.outcome.data, row.claim.arguments
        if row.claim.experiment != "waf" or "f" in a or a.get("planes", 1) > 1:
            continue
        found.append(
            {
                "victim": data["victim"],
                "pages_per_block": data["b"],
                "choices": data["d"],
                "spare_factor": data["spare"],
                "spare_factor_effective": 1 - data["rho_effective"],
                "waf_theory": row.theirs,
                "waf": row.outcome.ours,
                "waf_half_width_95": row.outcome.half_width,
            }
        )
    return found


def _theory(family: Family, spare: float) -> float:
    if family.victim == "fifo":
        return theory.fifo(1 - spare)
    if family.d is not None:
        return theory.d_choices(1 - spare, family.b, family.d)
    return theory.greedy(1 - spare, family.b)


def _of(family: Family, points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        p
        for p in points
        if (p["victim"], p["choices"]) == (family.victim, family.d)
        and (p["pages_per_block"] == family.b or family.victim == "fifo")
    ]


def draw(points: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the points on the curves above, and their deviations from them below."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    with plotting.style(**{"font.size": 9.5, "axes.grid": False}):
        figure, (top, low) = plt.subplots(
            2,
            1,
            figsize=(7.2, 6.0),
            sharex=True,
            layout="constrained",
            gridspec_kw={"height_ratios": [3, 1]},
        )
        spares = np.geomspace(0.046, 0.5, 70)
        for place, family in enumerate(FAMILIES):
            here = _of(family, points)
            if not here:
                continue
            colour = family.colour
            top.plot(spares, [_theory(family, s) for s in spares], color=colour, lw=0.8, zorder=1)
            x = np.array([p["spare_factor_effective"] for p in here])
            ours = np.array([p["waf"] for p in here])
            half = np.array([p["waf_half_width_95"] for p in here])
            theirs = np.array([p["waf_theory"] for p in here])
            marks = {
                "fmt": family.marker,
                "color": colour,
                "markersize": 4.2,
                "markerfacecolor": "white",
                "markeredgewidth": 1.1,
                "elinewidth": 0.9,
                "capsize": 1.8,
                "zorder": 2,
            }
            top.errorbar(x, ours, yerr=half, **marks)
            # Side by side, since most points would lie on one another.
            beside = x + 0.0032 * (place - (len(FAMILIES) - 1) / 2)
            low.errorbar(beside, 100 * (ours / theirs - 1), yerr=100 * half / theirs, **marks)
            top.annotate(
                family.label,
                xy=(family.at, _theory(family, family.at)),
                xytext=family.text,
                color=colour,
                fontweight="bold",
                va="center",
                arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.6, "shrinkB": 1.5},
            )
        top.set_yscale("log")
        top.set_ylim(1.15, 13)
        top.yaxis.set_major_locator(FixedLocator([1.2, 1.5, 2, 3, 4, 5, 6, 8, 10]))
        top.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        top.yaxis.set_minor_locator(NullLocator())
        top.set_xlim(0.035, 0.52)
        top.set_ylabel("write amplification")
        top.set_title(
            "Uniform random writes: theory as lines, simulation as points with 95 % intervals",
            loc="left",
            fontsize=9.5,
            color="#333333",
        )
        low.axhspan(-3, 3, color="#000000", alpha=0.05, lw=0)
        low.axhline(0, color="#555555", lw=0.7)
        low.text(0.518, 2.75, "allowed: ± 3 %", ha="right", va="top", color="#777777", fontsize=8.5)
        low.set_ylim(-3.6, 3.6)
        low.set_ylabel("deviation, %")
        low.set_xlabel("effective spare factor, 1 − ρ")  # noqa: RUF001
        figure.align_ylabels()
        plotting.save(figure, path)
