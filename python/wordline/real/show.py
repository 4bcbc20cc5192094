"""Result of a fit, in the terminal and as a page: model and measurements in one plot."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wordline.real.result import FitResult, Row

#: Heads of the table of figures.
HEADS = ["figure", "unit", "measured", "interval", "modelled", "error"]


def cells(row: Row) -> list[str]:
    """Return the cells of a row of the table."""
    m = row.measured
    interval = f"{m.low:,.4g} to {m.high:,.4g}"
    return [
        row.what,
        row.unit,
        f"{m.value:,.4g}",
        interval,
        f"{row.modelled:,.4g}",
        _percent(row.error),
    ]


def _percent(error: float) -> str:
    return f"{100 * error:+.1f} %".replace("-", "\u2212")


def lines(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int] = (0,)
) -> str:
    """Return a table for the terminal; the columns `left` are left-aligned, all others right."""
    from rich.console import Console

    from wordline import _terminal

    out = io.StringIO()
    Console(file=out, width=110, highlight=False).print(_terminal.table(heads, rows, left=left))
    return _terminal.stripped(out.getvalue()).strip("\n")


def terminal(fitted: FitResult) -> str:
    """Return the table of figures, and what is not known."""
    text = lines(HEADS, [cells(row) for row in fitted.rows])
    text += "\n\nnot identifiable from these measurements:\n"
    text += "".join(f"  {line}\n" for line in fitted.unknown)
    for size, figures in fitted.sizes:
        names = fitted.size_names or [""] * len(figures)
        shown = (f"{n} {f:,.4g}".strip() for n, f in zip(names, figures, strict=True))
        text += f"simulated at {size:,.3g} GB: {', '.join(shown)}\n"
    return text.rstrip()


def write(fitted: FitResult, folder: Path, command: str) -> Path:
    """Write index.html and fill.svg into a folder; return the page."""
    from wordline import page, plotting

    folder.mkdir(parents=True, exist_ok=True)
    drive = fitted.drive
    text = f"# {drive.name}: measured and modelled\n\n"
    text += page.table(HEADS, [cells(row) for row in fitted.rows], right=4)
    figure = picture(fitted)
    if figure is not None:
        plotting.save(figure, folder / "fill.svg")
        text += "\n## Writes and residuals\n\n![measurement and model](fill.svg)\n"
    text += "\n## Not identifiable from these measurements\n\n"
    text += "".join(f"- {line}\n" for line in fitted.unknown)
    if fitted.sizes:
        text += "\n## Size of the simulated drive\n\n"
        names = fitted.size_names or [f"{r.what}, {r.unit}" for r in fitted.rows]
        heads = ["simulated GB", *names]
        rows = [[f"{s:,.3g}", *(f"{f:,.4g}" for f in found)] for s, found in fitted.sizes]
        text += page.table(heads, rows, right=len(heads))
    text += f"\n## Device file\n\n```\n{fitted.sheet.toml()}```\n"
    lead = _verdict(fitted.rows)
    if drive.address:
        lead += " Fitted to public measurements, not a statement by its maker."
    facts = [("capacity", f"{drive.capacity / 1e9:,.10g} GB"), ("cells", drive.nand)]
    if drive.address:
        facts.append(("measurements", drive.address))
    return page.write(text, folder, lead=lead, facts=facts, command=command)


def _verdict(rows: Sequence[Row]) -> str:
    """Say how near the model comes, and how many figures it misses by more than their intervals."""
    if not rows:
        return ""
    far = max(rows, key=lambda row: abs(row.error))
    outside = [row for row in rows if not row.measured.low <= row.modelled <= row.measured.high]
    figures = "figure" if len(rows) == 1 else "figures"
    text = f"The model reproduces all {len(rows)} {figures}"
    if outside:
        text = f"The model reproduces {len(rows) - len(outside)} of {len(rows)} {figures}"
    largest = f"largest error {_percent(far.error)} ({far.what})"
    return f"{text} within the interval of the measurement; {largest}."


def picture(fitted: FitResult) -> Any:
    """Return a plot of measurement and model with the residuals below; only these if no more."""
    from matplotlib import pyplot

    from wordline import plotting

    if not fitted.rows:
        return None
    with plotting.style():
        if fitted.fill is None:
            high = 1.2 + 0.22 * len(fitted.rows)
            figure, at = pyplot.subplots(1, 1, figsize=(7.2, high))
        else:
            figure, panels = pyplot.subplots(2, 1, figsize=(7.2, 4.6), height_ratios=[2, 1])
            _fill(fitted, panels[0])
            at = panels[1]
        names = [f"{r.what}, {r.unit}".rstrip(", ") for r in fitted.rows]
        errors = [100 * r.error for r in fitted.rows]
        at.barh(names, errors, color=plotting.SCHEMES[0], height=0.5)
        at.axvline(0, color="#555555", linewidth=0.7)
        if max(map(abs, errors)) < 5:
            at.set_xlim(-5.5, 5.5)
        at.invert_yaxis()
        at.set_xlabel("residual: modelled above measured, %")
        figure.tight_layout()
    return figure


def _fill(fitted: FitResult, at: Any) -> None:
    import numpy as np

    from wordline import plotting

    assert fitted.fill is not None
    gb, seconds = fitted.fill
    rate = np.diff(gb) * 1e3 / np.maximum(np.diff(seconds), 1e-12)
    at.plot(gb[1:], rate, color=plotting.SCHEMES[0], linewidth=1.1, label="modelled")
    drive, values = fitted.drive, fitted.drive.values
    if drive.fill is not None:
        mgb, ms = drive.fill
        step = max(1, len(mgb) // 400)
        mgb, ms = mgb[::step], ms[::step]
        at.plot(
            mgb[1:],
            np.diff(mgb) * 1e3 / np.diff(ms),
            color=plotting.BASELINE,
            linewidth=1,
            label="measured",
        )
    elif "cache_gb" in values:
        cache, end = values["cache_gb"].value, drive.capacity / 1e9
        second = values["second_gb"].value if "second_gb" in values else end
        x = [0, cache, cache, second]
        after = values["after_mbps"].value
        y = [values["cache_mbps"].value] * 2 + [after] * 2
        if "second_gb" in values and "second_mbps" in values:
            x += [second, end]
            y += [values["second_mbps"].value] * 2
        at.plot(x, y, color=plotting.BASELINE, linewidth=1.6, linestyle="--", label="measured")
    at.set_yscale("log")
    from matplotlib.ticker import FuncFormatter, LogLocator

    at.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    at.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,g}"))
    at.yaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    at.set_xlabel("written to the erased drive in order, GB")
    at.set_ylabel("MB/s")
    at.legend(loc="upper right")
