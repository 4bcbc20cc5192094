"""Draw what an operation costs as drive, dies and run grow, from the last figures of each case.

``python crates/sim/benches/scaling.py`` reads ``history.csv`` beside it and writes ``docs/scaling.svg``.
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
    """The last row of each case."""
    with (HERE / "history.csv").open(newline="") as file:
        return {row["case"]: row for row in csv.DictReader(file)}


def main() -> None:
    """Draw the panels."""
    rows = last_rows()
    matplotlib.rcParams.update({"svg.hashsalt": "wordline", "svg.fonttype": "path", "font.size": 10})
    figure, axes = plt.subplots(1, len(PANELS), figsize=(10, 3.2), sharey=True)
    for axis, (panel, label, bound, loads) in zip(axes, PANELS, strict=True):
        for load in loads:
            names = [n for n in rows if n.startswith(panel) and n.endswith(load) or n.startswith(f"{panel} {load}")]
            points = sorted((float(re.search(r"\d+", n)[0]), 1e9 / float(rows[n]["flash_ops_per_s"])) for n in names)
            if not points:
                continue
            x, cost = zip(*points, strict=True)
            relative = [c / cost[0] for c in cost]
            axis.plot(x, relative, "o-", color=COLOURS[load], markerfacecolor="white", linewidth=1)
            axis.annotate(
                f"{load}\n{cost[0]:.0f} → {cost[-1]:.0f} ns",
                (x[-1], relative[-1]),
                xytext=(-4, 8 if load == "reads" else -26),
                textcoords="offset points",
                ha="right",
                color=COLOURS[load],
            )
        axis.axhline(bound, color="0.6", linewidth=0.8)
        axis.set_xscale("log", base=2 if panel != "length" else 10)
        axis.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        axis.set_xlabel(label)
        axis.set_ylim(0, 2.6)
        axis.spines[["top", "right"]].set_visible(False)
        axis.annotate(f"goal: at most {bound:g}", (0.02, bound), xycoords=("axes fraction", "data"), va="bottom", color="0.4")
    axes[0].set_ylabel("cost of a flash operation,\nrelative to the first")
    figure.tight_layout()
    figure.savefig(OUT, metadata={"Date": None})


if __name__ == "__main__":
    main()
