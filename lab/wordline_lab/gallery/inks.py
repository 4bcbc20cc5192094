"""The colors of the gallery, light and dark: those of the pages, with their meanings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wordline import plotting


@dataclass(frozen=True)
class Inks:
    """One set of colors.

    Attributes
    ----------
    ground, ink, soft, grid
        Of the card, of text, of what stands back, of lines behind the data.
    baseline, winner, other
        Of the three roles that a scheme may have.
    modes, causes
        One hue for each cell mode, and for each cause of writes.
    gain, loss
        Better and worse than the baseline.
    lost
        What is gone.
    """

    name: str
    ground: str
    ink: str
    soft: str
    grid: str
    baseline: str
    winner: str
    other: str
    modes: Mapping[str, str]
    causes: Mapping[str, str]
    gain: str
    loss: str
    lost: str


LIGHT = Inks(
    "light", "#ffffff", "#1b212a", "#59626d", "#e4e7eb",
    plotting.BASELINE, plotting.SCHEMES[0], "#6b7480",
    dict(plotting.MODES), dict(plotting.CAUSES), plotting.GAIN, plotting.LOSS, plotting.LOSS,
)  # fmt: skip
#: The pages' colors on a dark ground; hues of modes stay, blue and grey get lighter.
DARK = Inks(
    "dark", "#1a1e23", "#e8eaed", "#a3abb5", "#2d333b",
    "#e2e6eb", "#a69dff", "#98a2ae",
    {**plotting.MODES, "slc": "#3f9fdc"}, {**plotting.CAUSES, "host": "#7d8dab"},
    "#1d7a6e", "#96561f", "#e0ac73",
)  # fmt: skip
