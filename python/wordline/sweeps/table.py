"""The table of a sweep: one row per combination, mean and interval of each figure."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordline import Fault, Refused, Report, Run, UserError, _frame, _wordline
from wordline._measures import FIGURES, Spread, shown, unknown, value
from wordline.subprocess_runner import traceback_of
from wordline.sweeps.grid import Grid

#: How a figure is written, or that there is none.
Form = Callable[[Spread | None], str]


def cells(
    axes: Sequence[str],
    at: Mapping[str, str],
    paths: Sequence[str],
    figures: Mapping[str, Spread | None],
    form: Form,
) -> list[str]:
    """Return a row as people read it: its place on the axes, then the figures."""
    return [*(at[axis] for axis in axes), *(form(figures[path]) for path in paths)]


@dataclass(frozen=True)
class Row:
    """One combination."""

    at: Mapping[str, str]  #: The value of each axis.
    figures: Mapping[str, Spread | None]  #: By path.
    result_hashes: tuple[str, ...]
    #: Why scheme and device cannot be combined; None if they can.
    refused: Exception | None = None
    #: Any other exception of a run, and the seed of that run.
    failed: Exception | None = None
    failed_seed: int | None = None

    def name(self, axes: Sequence[str]) -> str:
        """Return the label of the combination on some axes."""
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
        return [cells(self.axes, row.at, self.paths, row.figures, form) for row in self.rows]

    def lacks(self, figure: str, hint: str = "") -> UserError:
        """Return the error for a figure that the table does not have."""
        return UserError(
            f"{figure} is not in the table of this sweep{hint}; it has {', '.join(self.paths)}; "
            "choose other figures with figures="
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by column; missing values are ``None``."""
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
    """Return the message of a failed run, with its class unless it is one of Wordline's own."""
    own = isinstance(why, (UserError, Refused, Fault))
    return str(why) if own else f"{type(why).__name__}: {why}"


def traceback_there(why: Exception) -> str | None:
    """Return the traceback of an exception raised by a Python class, in this or another process."""
    if (there := getattr(why, "traceback_there", None)) is not None:
        return str(there)
    return None if isinstance(why, (UserError, Refused, Fault)) else traceback_of(why)


def table(
    grid: Grid,
    reports: Mapping[Run, Report],
    refused: Mapping[Run, Exception],
    paths: Sequence[str] = FIGURES,
) -> Table:
    """Collect the figures of all combinations.

    Raises `UserError`: no report has a figure with this path.
    """
    data = {run: report.to_dict() for run, report in reports.items()}
    for path in paths:
        # A run without reads has no read latency, which is not an error.
        if data and path not in FIGURES and all(value(d, path) is None for d in data.values()):
            raise unknown(path, {p for d in data.values() for p, _ in _frame.numbers(d)})
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


def estimate(found: Sequence[float | None]) -> Spread | None:
    """Return the mean and its half-width, None for one value; None if a value is missing."""
    there = [v for v in found if v is not None]
    if not there or len(there) < len(found):
        return None
    if len(there) == 1:
        return there[0], None
    mean, _, half_width = _wordline.estimate(there)
    return mean, half_width


def write(found: Table, folder: Path) -> list[Path]:
    """Write the table as CSV and as Parquet; return the files."""
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
