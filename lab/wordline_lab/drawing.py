"""What pictures of papers have beyond the style of `wordline.plotting`."""

from __future__ import annotations

from typing import Any

#: Fast, medium and slow pages: light to dark, so that they are told apart in grey, too.
PAGES = {"lsb": "#9ecae1", "csb": "#4292c6", "msb": "#08306b"}
#: What a paper prints.
PRINTED = "#111111"


def legend_above(figure: Any, at: Any) -> None:
    """Put the legend of one of a figure's axes above them all, where no curve runs."""
    handles, labels = at.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels))
