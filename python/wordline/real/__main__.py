"""Print the built-in drives, measured and modelled, as a Markdown table: docs/real-drives.md."""

from __future__ import annotations

import csv
import io

from wordline import _wordline, page, toml
from wordline.real import fit, measurements
from wordline.real.bench import Bench

HEADS = ["device", "SLC cache, GB", "in it, MB/s", "past it, MB/s", "whole fill, MB/s"]


def cell(found: float, stated: float | None) -> str:
    """Return a figure of the model, beside what was measured, and the error."""
    if stated is None:
        return f"{found:,.4g}"
    return f"{stated:,.4g} → {found:,.4g} ({100 * (found / stated - 1):+.1f} %)"


def rows(only: list[str] | None = None) -> list[list[str]]:
    """Simulate the fill of each drive with an SLC cache; return the rows of the table."""
    text = toml.builtin("devices/measured/cliffs.csv") or ""
    table = measurements.Table("cliffs.csv", text)
    known = measurements.drives([table])
    found = []
    for line in csv.DictReader(io.StringIO(text)):
        if only is not None and line["device"] not in only:
            continue
        drive = known[line["model"]]
        file = toml.builtin(f"devices/{line['device']}.toml")
        if file is None:
            continue
        values = drive.values
        figures = fit.cliff_of(file, drive, _wordline.DEFAULT_SEED)
        gb, seconds, _ = Bench.of(file, fit.SIZE, _wordline.DEFAULT_SEED).fill(1.0)
        whole = float(line["whole_fill_average_MBps"]) if line["whole_fill_average_MBps"] else None
        stated = [values[k].value for k in ("cache_gb", "cache_mbps", "after_mbps")]
        cells = [cell(f, s) for f, s in zip(figures, stated, strict=True)]
        found.append([line["device"], *cells, cell(float(gb[-1] * 1e3 / seconds[-1]), whole)])
    return found


if __name__ == "__main__":
    print(page.table(HEADS, rows(), right=len(HEADS) - 1), end="")
