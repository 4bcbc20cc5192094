"""Draw what an operation costs as drive, dies and run grow, from the last figures of each case.

Only cases that did the same kind of work are joined: writes that did not collect are left out.

``make bench-picture`` reads ``history.csv`` beside this file and writes ``docs/scaling.svg``.
"""

import csv
import re
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[2] / "docs" / "scaling.svg"
PANELS = [
    ("size", "drive, GiB", 2.0, ("reads", "writes")),
    ("dies", "dies", 1.3, ("reads", "writes")),
    ("length", "requests, millions", 1.0, ("reads",)),
]
COLOURS = {"reads": "#0072B2", "writes": "#D55E00"}


def last_rows() -> dict[str, dict[str, str]]:
    """Read the last row of each case."""
    with (HERE / "history.csv").open(newline="") as file:
        return {row["case"]: row for row in csv.DictReader(file)}


def main() -> None:
    """Draw the panels."""
    rows = last_rows()
    matplotlib.rcParams.update(
        {"svg.hashsalt": "wordline", "svg.fonttype": "path", "font.size": 10}
    )
    panels = [panel for panel in PANELS if any(name.startswith(panel[0]) for name in rows)]
    figure, axes = plt.subplots(1, len(panels), figsize=(3.6 * len(panels), 3.2), sharey=True)
    for axis, (panel, label, bound, loads) in zip(axes, panels, strict=True):
        for load in loads:
            names = [n for n in rows if n.startswith(panel) and load in n]
            names = [n for n in names if load == "reads" or float(rows[n]["waf"]) > 1]
            cost_of = {n: 1e9 / float(rows[n]["flash_ops_per_s"]) for n in names}
            points = sorted((float(re.search(r"\d+", n)[0]), cost_of[n]) for n in names)
            if not points:
                continue
            x, cost = zip(*points, strict=True)
            relative = [c / cost[0] for c in cost]
            says = f"{load}: {cost[0]:.0f} → {cost[-1]:.0f} ns"
            axis.plot(x, relative, "o-", color=COLOURS[load], mfc="white", linewidth=1, label=says)
        axis.axhline(bound, color="0.6", linewidth=0.8)
        axis.set_xscale("log", base=2 if panel != "length" else 10)
        axis.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        axis.set_xlabel(label)
        axis.set_ylim(0, 3.4)
        axis.legend(loc="upper left", frameon=False, handlelength=1.2)
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_title(f"grey: the goal, at most {bound:g}", loc="left", fontsize=10, color="0.4")
    axes[0].set_ylabel("cost of a flash operation,\nrelative to the first")
    figure.tight_layout()
    figure.savefig(OUT, metadata={"Date": None})


if __name__ == "__main__":
    main()
