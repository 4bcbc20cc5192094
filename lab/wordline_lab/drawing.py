"""Helpers for the plots of papers, besides the style of `wordline.plotting`."""

from __future__ import annotations

from typing import Any

#: Fast, medium and slow pages: light to dark, so that they are told apart in grey, too.
PAGES = {"lsb": "#9ecae1", "csb": "#4292c6", "msb": "#08306b"}
#: What a paper prints.
PRINTED = "#111111"


def plain_log(at: Any) -> None:
    """Make the y axis of a plot logarithmic, with whole numbers at 1, 2 and 5: no exponents."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    at.set_yscale("log")
    at.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    at.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    at.yaxis.set_minor_formatter(NullFormatter())


def legend_above(figure: Any, at: Any) -> None:
    """Put the legend of one of a figure's axes above them all, where no curve runs."""
    handles, labels = at.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels))
