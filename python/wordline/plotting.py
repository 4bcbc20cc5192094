"""One style and one set of colors for all plots in Python."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.colors import LinearSegmentedColormap

from wordline import _wordline

# A notebook has chosen a backend of its own, on which its pictures appear. `pyplot` itself, which
# takes longer to import than all else here, is imported where a picture is drawn.
if "MPLBACKEND" not in os.environ:
    mpl.use("svg")

_baseline, _schemes = _wordline.colours()
#: What others are compared with is grey.
BASELINE = _baseline
#: What is neither the baseline nor the winner.
OTHER = "#6b7480"
#: Colors of schemes in the order in which they are compared, as on the pages of the command line,
#: and some more.
SCHEMES = (*_schemes, "#b0621a", "#46536b", "#2f8a82", "#8059c0")
#: Markers go with the colors, so that neither must be told apart alone.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*", "d")
#: Text on a light ground that stays light on a dark page.
ON_LIGHT = "#1b212a"

#: One hue for each cell mode, and for each cause of programs, as on the pages.
MODES = {"slc": "#0072B2", "mlc": "#009E73", "tlc": "#E69F00", "qlc": "#D55E00"}
CAUSES = {
    cause: _wordline.cause_colour(cause)
    for cause in ("host", "gc", "migration", "reprogram", "pad", "metadata", "parity")
}

_STYLE = mpl.rc_params_from_file(
    Path(__file__).with_name("pictures.mplstyle"), use_default_template=False
)
#: Better and worse than what figures are over, as on the page of the atlas.
GAIN, LOSS = "#2a9d8f", "#d9822b"


def gain_and_loss() -> Any:
    """Return the colors from better, by white, to worse."""
    return LinearSegmentedColormap.from_list("gain-and-loss", [GAIN, "#ffffff", LOSS])


@contextmanager
def style(**changes: Any) -> Iterator[None]:
    """Draw in this style within the block."""
    keys: dict[Any, Any] = {**_STYLE, **changes}
    with mpl.rc_context(keys):
        yield


def colours(names: list[str], baseline: str | None = None) -> dict[str, str]:
    """Give each name a color, gray for the baseline; colors repeat for many names."""
    others = [n for n in names if n != baseline]
    found = {n: SCHEMES[i % len(SCHEMES)] for i, n in enumerate(others)}
    return found if baseline is None else {baseline: BASELINE, **found}


def markers(names: list[str]) -> dict[str, str]:
    """Give each name a marker; with its color it is the only one of its kind for 143 names."""
    return {n: MARKERS[i % len(MARKERS)] for i, n in enumerate(names)}


def footnote(figure: Any, text: str) -> None:
    """Write a footnote below a plot with a constrained layout."""
    if text:
        # A character of this size is about half as wide as it is high.
        text = textwrap.fill(text, int(figure.get_figwidth() * 72 / 4.15))
        figure.supxlabel(text, fontsize=8.3, color="#777777", x=0.01, ha="left")


def save(figure: Any, path: Path) -> None:
    """Write a picture as SVG that is the same bytes for the same data, and close it.

    Its text is text, whatever the style around the call: a page gives it the ink of day or night.
    """
    import matplotlib.pyplot as plt

    with mpl.rc_context({key: _STYLE[key] for key in ("svg.fonttype", "svg.hashsalt")}):
        figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)
