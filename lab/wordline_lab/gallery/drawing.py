"""The common parts of a picture of the gallery: frame, titles, files."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordline import plotting
from wordline_lab.gallery.inks import DARK, LIGHT, Inks

#: What red, green and blue add to luminance, and the least contrast of text, by WCAG 2.
_LUMINANCE, _CONTRAST = (0.2126, 0.7152, 0.0722), 4.5
#: Of a slide: 16 to 9, in inches.
SIZE = (8.0, 4.5)


@dataclass(frozen=True)
class Picture:
    """One picture of the gallery.

    Attributes
    ----------
    name, heading
        Of its files, and on the page.
    data
        Returns what it shows, of small runs where that is asked for.
    title, below
        The finding in a sentence, computed from the data, and what was run.
    draw
        Draws the data on the axes of a figure.
    """

    name: str
    heading: str
    data: Callable[[bool], Any]
    title: Callable[[Any], str]
    below: Callable[[Any], str]
    draw: Callable[[Any, Any, Inks], None]


@contextmanager
def _style(inks: Inks) -> Iterator[None]:
    keys = {
        "font.size": 11,
        "figure.facecolor": inks.ground,
        "axes.facecolor": inks.ground,
        "savefig.facecolor": inks.ground,
        "text.color": inks.ink,
        "axes.labelcolor": inks.soft,
        "axes.edgecolor": inks.soft,
        "xtick.color": inks.soft,
        "ytick.color": inks.soft,
        "grid.color": inks.grid,
        "axes.titlecolor": inks.ink,
        "lines.linewidth": 2.0,
        "lines.solid_capstyle": "round",
        "svg.hashsalt": f"wordline-{inks.name}",
    }
    with plotting.style(**keys):
        yield


def files(picture: Picture, data: Any, folder: Path, png: bool) -> list[Path]:
    """Draw a picture in light and dark, as SVG, and as PNG if requested; return the files."""
    written = []
    for inks in (LIGHT, DARK):
        with _style(inks):
            figure = framed(picture, data, inks)
            stem = folder / f"{picture.name}-{inks.name}"
            if png:
                figure.savefig(stem.with_suffix(".png"), dpi=200)
                written.append(stem.with_suffix(".png"))
            plotting.save(figure, stem.with_suffix(".svg"))
            written.append(stem.with_suffix(".svg"))
    return written


def framed(picture: Picture, data: Any, inks: Inks) -> Any:
    """Return the figure: the finding above, the run below it, then the axes."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=SIZE, layout="constrained")
    wide, high = SIZE
    said = textwrap.wrap(picture.title(data), 62)
    # A number and its per cent stay together.
    run = textwrap.wrap(picture.below(data).replace(" %", "\u00a0%"), 106)
    at, line = 1 - 0.13 / high, 0.25 / high
    for text in said:
        figure.text(0.17 / wide, at, text, size=14.5, weight="bold", va="top", color=inks.ink)
        at -= line
    at -= 0.04 / high
    for text in run:
        figure.text(0.17 / wide, at, text, size=9.3, va="top", color=inks.soft)
        at -= 0.165 / high
    layout: Any = figure.get_layout_engine()
    layout.set(rect=(0.012, 0.015, 0.976, at - 0.035), w_pad=0.06, h_pad=0.03)
    picture.draw(data, figure, inks)
    return figure


def named(
    axes: Any, names: Sequence[tuple[float, str, str]], x: float, gap: float, **how: Any
) -> None:
    """Write labels next to the ends of their lines, separated until none covers another.

    Each is a position on the y axis, a text and a color; ``gap`` is the least distance, as a share
    of the axis.
    """
    ground = axes.get_facecolor()
    to_share = axes.transData + axes.transAxes.inverted()
    spots = sorted((to_share.transform((x, y))[1], text, ink) for y, text, ink in names)
    low = -1e9
    placed = []
    for share, text, ink in spots:
        low = max(share, low + gap)
        placed.append((low, text, ink))
    over = max(0.0, placed[-1][0] - 0.99) if placed else 0.0
    for share, text, ink in placed:
        axes.annotate(
            text,
            (x, share - over),
            xycoords=("data", "axes fraction"),
            xytext=(7, 0),
            textcoords="offset points",
            color=readable(ink, ground),
            va="center",
            weight="bold",
            size=10.5,
            annotation_clip=False,
            **how,
        )


def readable(ink: str, ground: Any) -> Any:
    """Return a hue as text of it can be read on a ground: as dark, or as light, as that takes."""
    from matplotlib.colors import to_rgb

    def luminance(colour: Any) -> float:
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
        return sum(part * weight for part, weight in zip(parts, _LUMINANCE, strict=True))

    below = luminance(to_rgb(ground))
    end = 0.0 if below > 0.18 else 1.0
    for step in range(20):
        mixed = [c + (end - c) * step / 20 for c in to_rgb(ink)]
        low, high = sorted((luminance(mixed), below))
        if (high + 0.05) / (low + 0.05) >= _CONTRAST:
            return mixed
    return (end,) * 3


def number(value: float, digits: int = 3) -> str:
    """Return a number with some significant digits, with commas and without an exponent."""
    if value == 0:
        return "0"
    # The exponent after rounding: 0.996 to two digits is 1.0, as 1.04 is.
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return f"{value:,.{max(0, digits - 1 - exponent)}f}"


def time(us: float) -> str:
    """Return a time in a suitable unit."""
    for size, unit in ((1e6, "s"), (1e3, "ms")):
        if us >= size:
            return f"{number(us / size)} {unit}"
    return f"{number(us)} µs"


def with_interval(mean: float, half: float) -> str:
    """Return a mean with half of its interval, in the digits that the interval supports.

    The half has one digit, or two if the first is 1, and the mean ends where it does.
    """
    from math import floor, log10

    if not half > 0:
        return number(mean)
    last = floor(log10(half))
    last -= f"{half:.0e}".startswith("1")
    return " ± ".join(f"{round(value, -last):,.{max(0, -last)}f}" for value in (mean, half))
