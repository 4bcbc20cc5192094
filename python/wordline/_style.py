"""Style of the matplotlib plots of reports and sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wordline import _wordline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Widths of a new picture in inches: a column of a two-column paper, and both.
WIDTHS = {"column": 3.35, "page": 7.0}
#: Points of the text of a new picture, as that of captions.
_TEXT = 8.5
#: Lines and markers go with the colors, so that a copy in grey can be read.
_DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def axes(ax: Axes | None, width: str) -> Axes:
    """Return the axes to draw on, new ones if none are given.

    Raises `UserError`: there is no such width.
    """
    from wordline.commands import need

    if width not in WIDTHS:
        raise _wordline.UserError(f"width={width!r}: allowed are {', '.join(WIDTHS)}")
    if ax is not None:
        return ax
    need("sweep", ("matplotlib",))
    import matplotlib.pyplot as plt

    # Conferences take no Type 3 fonts.
    plt.rcParams.update({"pdf.fonttype": 42, "ps.fonttype": 42})
    size = (WIDTHS[width], 2.4 if width == "column" else 3.6)
    _, made = plt.subplots(figsize=size, layout="constrained")
    made.spines[["top", "right"]].set_visible(False)
    made.grid(color="#8884", linewidth=0.6)
    made.set_axisbelow(True)
    made.tick_params(labelsize=_TEXT)
    for axis in (made.xaxis, made.yaxis):
        axis.label.set_fontsize(_TEXT)
    return made


def looks(names: Sequence[str], marked: bool = True) -> dict[str, dict[str, Any]]:
    """Return color, line and marker of each name; the first is the baseline.

    Colors repeat for many names; with line and marker, 42 names are distinct.
    """
    baseline, schemes = _wordline.colours()
    found = {}
    for number, name in enumerate(dict.fromkeys(names)):
        alone = len(names) == 1
        ink = schemes[(number - 1) % len(schemes)] if number else schemes[0] if alone else baseline
        dashes = _DASHES[number % len(_DASHES)]
        found[name] = {"color": ink, "linestyle": dashes, "linewidth": 1.3}
        if marked and not alone:
            found[name] |= {"marker": _MARKERS[number % len(_MARKERS)], "markersize": 3.5}
    return found


def legend(at: Axes, count: int, longest: int = 0) -> Axes:
    """Put the legend above the axes, where it covers nothing."""
    if count > 1:
        wide = at.get_figure(root=True).get_figwidth()  # type: ignore[union-attr]
        most = 2 if wide < 5 else 4
        # A character of this size is about a fifteenth of an inch wide.
        room = max(1, int(wide / (0.45 + 0.07 * longest))) if longest else most
        at.legend(
            frameon=False,
            ncols=min(count, most, room),
            fontsize=8,
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
        )
    return at
