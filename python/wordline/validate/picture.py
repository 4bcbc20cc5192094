"""Write amplification over the spare factor: theory as thin lines, simulation as points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wordline import theory
from wordline.validate.runner import Row

# Okabe and Ito's colours, which are told apart with any colour vision.
FAMILIES: dict[tuple[str, int, int | None], tuple[str, str]] = {
    ("fifo", 128, None): ("#009E73", "FIFO"),
    ("d-choices", 64, 2): ("#D55E00", "2 choices, 64 pages"),
    ("d-choices", 64, 10): ("#CC79A7", "10 choices, 64 pages"),
    ("greedy", 128, None): ("#0072B2", "greedy, 128 pages a block"),
    ("greedy", 32, None): ("#56B4E9", "greedy, 32 pages a block"),
}


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


def _theory(victim: str, b: int, d: int | None, spare: float) -> float:
    if victim == "fifo":
        return theory.fifo(1 - spare)
    return theory.greedy(1 - spare, b) if d is None else theory.d_choices(1 - spare, b, d)


def draw(points: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the points and the curves that they should lie on."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    style = {
        "svg.fonttype": "none",
        "svg.hashsalt": "wordline",
        "font.family": "sans-serif",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with plt.rc_context(style):
        figure, axes = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
        spares = np.linspace(0.045, 0.5, 80)
        for (victim, b, d), (colour, label) in FAMILIES.items():
            here = [
                p
                for p in points
                if (p["victim"], p["choices"]) == (victim, d)
                and (p["pages_per_block"] == b or victim == "fifo")
            ]
            if not here:
                continue
            curve = [_theory(victim, b, d, float(s)) for s in spares]
            axes.plot(spares, curve, color=colour, linewidth=0.9, zorder=1)
            axes.errorbar(
                [p["spare_factor_effective"] for p in here],
                [p["waf"] for p in here],
                yerr=[p["waf_half_width_95"] for p in here],
                fmt="o",
                color=colour,
                markersize=4,
                capsize=2,
                label=label,
                zorder=2,
            )
        axes.set_yscale("log")
        axes.set_ylim(1, 12)
        axes.set_xlim(0.04, 0.51)
        axes.set_xlabel("effective spare factor, 1 - \N{GREEK SMALL LETTER RHO}")
        axes.set_ylabel("write amplification")
        axes.legend(frameon=False)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
