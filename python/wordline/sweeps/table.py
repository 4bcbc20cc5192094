"""The table of a sweep: a row a combination, a mean and its interval a figure."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordline import Fault, Refused, Report, Run, UserError, _frame, _wordline
from wordline._measures import FIGURES, shown, unknown, value
from wordline.subprocess_runner import traceback_of
from wordline.sweeps.grid import Grid

#: How a mean with half of its interval is written.
Form = Callable[[tuple[float, float | None] | None], str]


@dataclass(frozen=True)
class Row:
    """One combination."""

    at: Mapping[str, str]  #: The value of each axis.
    #: By path, mean and half of the 95 % interval; no interval with one replica, and nothing where
    #: no report has the figure.
    figures: Mapping[str, tuple[float, float | None] | None]
    result_hashes: tuple[str, ...]
    #: Why scheme and device do not go together; nothing where they do.
    refused: Exception | None = None
    #: What else a run came to in place of a report, and the seed of that run.
    failed: Exception | None = None
    failed_seed: int | None = None

    def name(self, axes: Sequence[str]) -> str:
        """Return the combination as people read it, of some axes."""
        return " · ".join(self.at[axis] for axis in axes)

    @property
    def why(self) -> str | None:
        """Why there are no figures, in words."""
        if self.failed is None:
            return None if self.refused is None else str(self.refused)
        return reason(self.failed)


@dataclass(frozen=True)
class Table:
    """The rows of a sweep, in the order of the grid."""

    axes: Sequence[str]
    paths: Sequence[str]
    rows: Sequence[Row]

    def printed(self, form: Form = shown) -> list[list[str]]:
        """Return the rows as people read them: the axes, then the figures."""
        return [
            [*(row.at[axis] for axis in self.axes), *(form(row.figures[p]) for p in self.paths)]
            for row in self.rows
        ]

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by column; ``None`` where there is nothing."""
        found: dict[str, list[Any]] = {axis: [r.at[axis] for r in self.rows] for axis in self.axes}
        spread = any(f and f[1] is not None for r in self.rows for f in r.figures.values())
        for path in self.paths:
            figures = [r.figures[path] for r in self.rows]
            found[path] = [f[0] if f else None for f in figures]
            if spread:
                found[f"{path}.half_width_95"] = [f[1] if f else None for f in figures]
        found["replicas"] = [len(r.result_hashes) for r in self.rows]
        found["result_hash"] = [" ".join(r.result_hashes) for r in self.rows]
        if any(r.refused for r in self.rows):
            found["refused"] = [str(r.refused) if r.refused else None for r in self.rows]
        if any(r.failed for r in self.rows):
            found["failed"] = [r.why if r.failed else None for r in self.rows]
            found["failed_seed"] = [r.failed_seed for r in self.rows]
        return found


def reason(why: Exception) -> str:
    """Say what a run came to in place of a report; of an exception of another's also its kind."""
    own = isinstance(why, (UserError, Refused, Fault))
    return str(why) if own else f"{type(why).__name__}: {why}"


def traceback_there(why: Exception) -> str | None:
    """Return the traceback of what a class of Python has raised, here or elsewhere."""
    if (there := getattr(why, "traceback_there", None)) is not None:
        return str(there)
    return None if isinstance(why, (UserError, Refused, Fault)) else traceback_of(why)


def table(
    grid: Grid,
    reports: Mapping[Run, Report],
    refused: Mapping[Run, Exception],
    paths: Sequence[str] = FIGURES,
) -> Table:
    """Gather the figures of all combinations.

    Raises `UserError`: a path is that of no figure of any report.
    """
    data = {run: report.to_dict() for run, report in reports.items()}
    for path in paths:
        check(path, list(data.values()))
    rows = []
    for point in grid.points:
        wrong = next((run for run in point.runs if run in refused), None)
        why = None if wrong is None else refused[wrong]
        here = [] if why else [data[run] for run in point.runs]
        figures = {path: estimate([value(d, path) for d in here]) for path in paths}
        hashes = tuple(d["result_hash"] for d in here)
        if why is None or isinstance(why, Refused):
            rows.append(Row(point.at, figures, hashes, why))
        else:
            assert wrong is not None
            rows.append(Row(point.at, figures, hashes, None, why, wrong.seed))
    return Table(grid.axes, list(paths), rows)


def estimate(found: Sequence[float | None]) -> tuple[float, float | None] | None:
    """Return the mean and half of its interval, which one figure has not; nothing if one lacks."""
    there = [v for v in found if v is not None]
    if not there or len(there) < len(found):
        return None
    if len(there) == 1:
        return there[0], None
    mean, _, half_width = _wordline.estimate(there)
    return mean, half_width


def check(path: str, reports: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a path that is that of no figure of any report."""
    # A run without reads has no read latency: that is no mistake.
    if path in FIGURES or not reports or any(value(r, path) is not None for r in reports):
        return
    known = {p for report in reports for p, _ in _frame.numbers(report)}
    raise unknown(path, known)


def write(found: Table, folder: Path) -> list[Path]:
    """Write the table as CSV and as Parquet; return what was written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = found.columns()
    paths = [folder / "sweep.csv", folder / "sweep.parquet"]
    with paths[0].open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        out.writerows(zip(*columns.values(), strict=True))
    pq.write_table(pa.table(columns), paths[1])
    return paths
