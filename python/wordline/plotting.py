"""How pictures look: one style and one set of colours for all that is drawn in Python."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt

#: What others are compared with is grey.
BASELINE = "#6b7280"
#: Colours of schemes in the order in which they are compared, as in the pages of the command line.
SCHEMES = (
    *("#4c3fbf", "#c8506a", "#1f8a80", "#a2459c", "#7f7f14", "#2f8fc4", "#7a1f4d"),
    *("#e08a3c", "#46536b", "#3fa79f", "#8d6cc4"),
)
#: Fast, medium and slow pages: light to dark, so that they are told apart in grey, too.
PAGES = {"lsb": "#9ecae1", "csb": "#4292c6", "msb": "#08306b"}
#: What a paper prints.
PRINTED = "#111111"

_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "wordline",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.titlecolor": "#333333",
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
}


@contextmanager
def style(**changes: Any) -> Iterator[None]:
    """Draw in this style within the block."""
    with plt.rc_context({**_STYLE, **changes}):
        yield


def colours(names: list[str], baseline: str | None = None) -> dict[str, str]:
    """Give each name a colour, grey to the baseline; colours come again where names are many."""
    others = [n for n in names if n != baseline]
    found = {n: SCHEMES[i % len(SCHEMES)] for i, n in enumerate(others)}
    return found if baseline is None else {baseline: BASELINE, **found}


def footnote(figure: Any, text: str) -> None:
    """Write what a reader must know of the data below a picture with a constrained layout."""
    if text:
        # A character of this size is about half as wide as it is high.
        text = textwrap.fill(text, int(figure.get_figwidth() * 72 / 3.5))
        figure.supxlabel(text, fontsize=7, color="#777777", x=0.01, ha="left")


def save(figure: Any, path: Path) -> None:
    """Write a picture as SVG that is the same bytes for the same data, and close it."""
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def legend_above(figure: Any, at: Any) -> None:
    """Put the legend of one of a figure's axes above them all, where no curve runs."""
    handles, labels = at.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels))
