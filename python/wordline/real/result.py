"""Result of a fit: a device file, measurements compared with the model, and both as a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wordline.quantity import significant
from wordline.real.measurements import Drive, Value
from wordline.real.sheet import Sheet

Tell = Callable[[str], None]
#: First line of a fitted file, after the name of its drive; with public figures, the second.
FITTED = ": fitted to "
PUBLIC = "fitted to public measurements"
#: Heads of the table of figures.
HEADS = ["figure", "unit", "measured", "interval", "modelled", "error"]


#: Figures that a drive with an SLC cache is fitted to, and the error above which a file is not one
#: of that drive.
CLIFF, MISSED = ("SLC cache", "in the cache", "past the cache"), 0.05


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

    def cells(self) -> list[str]:
        """Return the cells of the table of figures."""
        m = self.measured
        value, low, high, here = map(significant, (m.value, m.low, m.high, self.modelled))
        return [self.what, self.unit, value, f"{low} to {high}", here, _percent(self.error)]


@dataclass
class FitResult:
    """A device file, its comparison with the measurements, and what could not be identified."""

    drive: Drive
    sheet: Sheet
    rows: list[Row] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    #: Three sizes of the simulated drive in GB, each with its figures, and the names of these.
    sizes: list[tuple[float, list[float]]] = field(default_factory=list)
    size_names: list[str] = field(default_factory=list)
    #: A fill of the model: gigabytes and seconds.
    fill: tuple[Any, Any] | None = None

    @property
    def missed(self) -> str:
        """The figures of an SLC cache that the search has not come to, with their errors."""
        cliff = (row for row in self.rows if row.what in CLIFF and abs(row.error) > MISSED)
        return ", ".join(f"{row.what} {_percent(row.error)}" for row in cliff)

    def toml(self) -> str:
        """Return the device file, which says what it misses."""
        if not self.missed:
            return self.sheet.toml()
        says = f"MISSED: {self.missed}. The search has found no drive with the figures measured."
        return replace(self.sheet, head=(*self.sheet.head, "", says)).toml()

    def terminal(self) -> str:
        """Return the table of figures, and what is not known."""
        from wordline._terminal import lines

        text = lines(HEADS, [row.cells() for row in self.rows])
        if self.missed:
            text += f"\n\nmissed: {self.missed}; so the file is of another drive. Do the figures "
            text += "belong together?"
        text += "\n\nnot identifiable from these measurements:\n"
        text += "".join(f"  {line}\n" for line in self.unknown)
        for size, figures in self.sizes:
            shown = (f"{n} {significant(f)}" for n, f in zip(self.size_names, figures, strict=True))
            text += f"simulated at {significant(size, 3)} GB: {', '.join(shown)}\n"
        return text.rstrip()

    def write(self, folder: Path, command: str) -> Path:
        """Write index.html and fill.svg into a folder; return the page."""
        from wordline import page, plotting

        folder.mkdir(parents=True, exist_ok=True)
        drive = self.drive
        text = f"# {drive.name}: measured and modelled\n\n"
        text += page.table(HEADS, [row.cells() for row in self.rows], right=4)
        if self.rows:
            plotting.save(self._picture(), folder / "fill.svg")
            text += "\n## Writes and residuals\n\n![measurement and model](fill.svg)\n"
        text += "\n## Not identifiable from these measurements\n\n"
        text += "".join(f"- {line}\n" for line in self.unknown)
        if self.sizes:
            text += "\n## Size of the simulated drive\n\n"
            rows = [[significant(s, 3), *map(significant, found)] for s, found in self.sizes]
            heads = ["simulated GB", *self.size_names]
            text += page.table(heads, rows, right=len(heads))
        text += f"\n## Device file\n\n```\n{self.toml()}```\n"
        lead = self._verdict()
        facts = [("capacity", f"{drive.capacity / 1e9:,.10g} GB"), ("cells", drive.nand)]
        if drive.address:
            lead += " Fitted to public measurements, not a statement by its maker."
            facts.append(("measurements", drive.address))
        return page.write(text, folder, lead=lead, facts=facts, command=command)

    def _verdict(self) -> str:
        """Say how near the model comes, and how many figures it misses beyond their intervals."""
        rows = self.rows
        if not rows:
            return ""
        far = max(rows, key=lambda row: abs(row.error))
        near = sum(row.measured.low <= row.modelled <= row.measured.high for row in rows)
        figures = "figure" if len(rows) == 1 else "figures"
        count = f"all {len(rows)}" if near == len(rows) else f"{near} of {len(rows)}"
        text = f"The model reproduces {count} {figures} within the interval of the measurement"
        return f"{text}; largest error {_percent(far.error)} ({far.what})."

    def _picture(self) -> Any:
        """Return a plot of measurement and model, if there is a fill, and the residuals below."""
        from matplotlib import pyplot

        from wordline import plotting

        with plotting.style():
            if self.fill is None:
                high = 1.2 + 0.22 * len(self.rows)
                figure, at = pyplot.subplots(1, 1, figsize=(7.2, high))
            else:
                figure, (above, at) = pyplot.subplots(
                    2, 1, figsize=(7.2, 4.6), height_ratios=[2, 1]
                )
                _fill(self.drive, *self.fill, above)
            names = [f"{r.what}, {r.unit}".rstrip(", ") for r in self.rows]
            errors = [100 * r.error for r in self.rows]
            at.barh(names, errors, color=plotting.SCHEMES[0], height=0.5)
            at.axvline(0, color="#555555", linewidth=0.7)
            if max(map(abs, errors)) < 5:
                at.set_xlim(-5.5, 5.5)
            at.invert_yaxis()
            at.set_xlabel("residual: modelled above measured, %")
            figure.tight_layout()
        return figure


def _percent(error: float) -> str:
    return f"{100 * error:+.1f} %".replace("-", "\u2212")


def overhead_in(text: str) -> float | None:
    """Return the media bytes per host byte of a fill, from the head of a device file."""
    found = re.search(r"^# Overhead = ([\d.]+)", text, re.MULTILINE)
    return float(found[1]) if found else None


def head(drive: Drive, sources: dict[str, str]) -> list[str]:
    """Return the head of a device file: its title, and the sources of its values."""
    public = f": {PUBLIC}, not a statement by its maker."
    first = f"{FITTED}measurements." if drive.address is None else public
    return [drive.name + first, "", *(f"{word} = {text}" for word, text in sources.items())]


def _fill(drive: Drive, gb: Any, seconds: Any, at: Any) -> None:
    """Draw the fill of the model and that of the drive, logged or of constant rates."""
    import numpy as np
    from matplotlib.ticker import FuncFormatter, LogLocator

    from wordline import plotting

    def rates(gb: Any, seconds: Any) -> Any:
        return np.diff(gb) * 1e3 / seconds

    took = np.maximum(np.diff(seconds), 1e-12)
    at.plot(gb[1:], rates(gb, took), color=plotting.SCHEMES[0], linewidth=1.1, label="modelled")
    values = {key: value.value for key, value in drive.values.items()}
    look = {"color": plotting.BASELINE, "label": "measured"}
    if drive.fill is not None:
        gb, seconds = (x[:: max(1, len(drive.fill[0]) // 400)] for x in drive.fill)
        at.plot(gb[1:], rates(gb, np.diff(seconds)), linewidth=1, **look)
    elif "cache_gb" in values:
        cache, end = values["cache_gb"], drive.capacity / 1e9
        second = values.get("second_gb", end)
        x, y = [0, cache, cache, second], [values["cache_mbps"]] * 2 + [values["after_mbps"]] * 2
        if {"second_gb", "second_mbps"} <= values.keys():
            x, y = [*x, second, end], [*y, *[values["second_mbps"]] * 2]
        at.plot(x, y, linewidth=1.6, linestyle="--", **look)
    at.set_yscale("log")
    at.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    at.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,g}"))
    at.yaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    at.set_xlabel("written to the erased drive in order, GB")
    at.set_ylabel("MB/s")
    at.legend(loc="upper right")
