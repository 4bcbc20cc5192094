"""Result of a fit: a device file, measurements compared with the model, and open questions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from wordline.real.measurements import Drive, Value
from wordline.real.sheet import Sheet

Tell = Callable[[str], None]
#: First line of a fitted file, after the name of its drive; with public figures, the second.
FITTED = ": fitted to "
PUBLIC = "fitted to public measurements"


@dataclass(frozen=True)
class Row:
    """A figure, measured and modelled."""

    what: str
    unit: str
    measured: Value
    modelled: float

    @property
    def error(self) -> float:
        """Relative deviation of the model."""
        return self.modelled / self.measured.value - 1


@dataclass
class FitResult:
    """A device file, its comparison with the measurements, and what could not be identified."""

    drive: Drive
    sheet: Sheet
    rows: list[Row] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    #: Three sizes of the simulated drive in GB, each with the figures of `rows`, or those named.
    sizes: list[tuple[float, list[float]]] = field(default_factory=list)
    size_names: list[str] = field(default_factory=list)
    #: A fill of the model: gigabytes and seconds.
    fill: tuple[Any, Any] | None = None


def overhead_in(text: str) -> float | None:
    """Return the media bytes per host byte of a fill, from the head of a device file."""
    found = re.search(r"^# Overhead = ([\d.]+)", text, re.MULTILINE)
    return float(found[1]) if found else None


def head(drive: Drive, sources: dict[str, str]) -> list[str]:
    """Return the head of a device file: its title, and the sources of its values."""
    whose = drive.address is not None
    first = (
        f"{drive.name}: {PUBLIC}, not a statement by its maker."
        if whose
        else f"{drive.name}{FITTED}measurements."
    )
    lines = [first, ""]
    lines += [f"{word} = {text}" for word, text in sources.items()]
    return lines
