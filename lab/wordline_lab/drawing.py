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


#: What of a picture a telephone shows without scrolling, in inches.
_FIRST_IN = 3.3


def legend_above(figure: Any, at: Any = None, **how: Any) -> None:
    """Put the legend of one of a figure's axes, or of all, above them where no curve runs.

    It begins at the left and is no wider than a telephone, which shows that part first.
    """
    axes = figure.axes if at is None else [at]
    of: dict[str, Any] = {}
    for each in axes:
        handles, labels = each.get_legend_handles_labels()
        of |= {
            label: handle for handle, label in zip(handles, labels, strict=True) if label not in of
        }
    # A character of this size is about a fifteenth of an inch wide.
    longest = max(map(len, of), default=1)
    columns = max(1, min(len(of), int(_FIRST_IN / (0.5 + 0.067 * longest))))
    figure.legend(of.values(), of.keys(), loc="outside upper left", ncols=columns, **how)
