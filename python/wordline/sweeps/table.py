"""The tables of a sweep: mean and interval of each figure, and differences paired by seed."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wordline import Fault, Refused, Report, Run, UserError, _frame
from wordline._measures import FIGURES, Spread, shown, unknown, value
from wordline.commands import naming
from wordline.interval import mean_and_half_width
from wordline.subprocess_runner import traceback_of
from wordline.sweeps.grid import Grid, Point

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
class Combination:
    """One combination of a sweep.

    Attributes
    ----------
    at
        The value of each axis, including those that do not vary: ``device``, ``workload``,
        ``initial``, each key of ``set``, ``scheme``.
    figures
        By path of a figure of the table, its mean over the seeds and half of its 95 % interval,
        ``None`` with one seed; ``None`` if a run lacks the figure.
    result_hashes, reports
        One for each seed; none if the device refuses the scheme, or a run failed.
    refused
        Why scheme and device cannot be combined; ``None`` if they can.
    failed, failed_seed
        Any other exception of a run of one of its seeds, with the run in its notes, and the seed.
        ``None`` if all have reports.
    """

    at: Mapping[str, str]
    figures: Mapping[str, Spread | None]
    result_hashes: tuple[str, ...]
    reports: Sequence[Report] = ()
    refused: Exception | None = None
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
    rows: list[Combination]

    @property
    def measured(self) -> list[Combination]:
        """The rows with figures: those that were neither refused nor failed."""
        return [row for row in self.rows if any(row.figures.values())]

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
        wrong, why = next(((r, refused[r]) for r in point.runs if r in refused), (None, None))
        ran = () if why else point.runs
        figures = {path: estimate([value(data[run], path) for run in ran]) for path in paths}
        hashes = tuple(data[run]["result_hash"] for run in ran)
        row = Combination(point.at, figures, hashes, [reports[run] for run in ran])
        if isinstance(why, Refused):
            row = replace(row, refused=why)
        elif wrong is not None:
            row = replace(row, failed=why, failed_seed=wrong.seed)
        rows.append(row)
    return Table(grid.axes, list(paths), rows)


def estimate(found: Sequence[float | None]) -> Spread | None:
    """Return the mean and its half-width, None for one value; None if a value is missing."""
    there = [v for v in found if v is not None]
    if not there or len(there) < len(found):
        return None
    return (there[0], None) if len(there) == 1 else mean_and_half_width(there)


def write(found: Table, folder: Path) -> list[Path]:
    """Write the table as CSV and as Parquet; return the files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = found.columns()
    paths = [folder / "sweep.csv", folder / "sweep.parquet"]
    with naming(paths[0]), paths[0].open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        out.writerows(zip(*columns.values(), strict=True))
    with naming(paths[1]):
        pq.write_table(pa.table(columns), paths[1])
    return paths


@dataclass(frozen=True)
class Difference:
    """A combination compared with its baseline.

    Attributes
    ----------
    at
        The value of each axis.
    percent
        By path of a figure, the difference from the baseline in percent: the mean over the seeds,
        and the half-width of its 95 % interval by Student's t, ``None`` with one seed. ``None`` if
        a figure is missing, or the baseline's is 0.
    seeds
        Number of pairs.
    """

    at: Mapping[str, str]
    percent: Mapping[str, Spread | None]
    seeds: int


@dataclass(frozen=True)
class Differences:
    """The differences along one axis of a sweep."""

    over: str
    baseline: str
    axes: Sequence[str]
    paths: Sequence[str]
    rows: Sequence[Difference]

    def printed(self, form: Form = shown) -> list[list[str]]:
        """Return the rows as people read them: the axes, then the changes in percent."""
        return [cells(self.axes, row.at, self.paths, row.percent, form) for row in self.rows]

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by column; missing values are ``None``."""
        found: dict[str, list[Any]] = {a: [r.at[a] for r in self.rows] for a in self.axes}
        for path in self.paths:
            each = [r.percent[path] for r in self.rows]
            found[f"{path}.percent"] = [e[0] if e else None for e in each]
            found[f"{path}.percent.half_width_95"] = [e[1] if e else None for e in each]
        found["seeds"] = [r.seeds for r in self.rows]
        return found


def differences(
    grid: Grid,
    reports: Mapping[Run, Report],
    paths: Sequence[str],
    over: str | None = None,
    baseline: str | None = None,
) -> Differences:
    """Compare each combination with the one that has the baseline's value of an axis.

    Raises `UserError`: the axis does not vary, or does not have this value.
    """
    axis = over if over is not None else ("scheme" if "scheme" in grid.axes else grid.axes[0])
    if axis not in grid.axes or len({p.at[axis] for p in grid.points}) < 2:
        raise UserError(f"over={axis!r} does not vary\n  allowed: {', '.join(grid.axes)}")
    values = list(dict.fromkeys(p.at[axis] for p in grid.points))
    first = values[0] if baseline is None else baseline
    if first not in values:
        raise UserError(
            f"baseline={first!r} is not a value of {axis}\n  allowed: {', '.join(values)}"
        )
    by_place = {_rest(p, axis): p for p in grid.points if p.at[axis] == first}
    data = {run: report.to_dict() for run, report in reports.items()}
    rows = []
    for point in grid.points:
        if point.at[axis] == first:
            continue
        pairs = zip(point.runs, by_place[_rest(point, axis)].runs, strict=True)
        there = [(data[a], data[b]) for a, b in pairs if a in data and b in data]
        whole = there if len(there) == len(point.runs) else []
        percent = {}
        for path in paths:
            found = [(value(ours, path), value(theirs, path)) for ours, theirs in whole]
            each = [(a / b - 1) * 100 if a is not None and b else None for a, b in found]
            percent[path] = estimate(each)
        rows.append(Difference(point.at, percent, len(whole)))
    return Differences(axis, first, list(grid.axes), list(paths), rows)


def _rest(point: Point, axis: str) -> tuple[tuple[str, str], ...]:
    """Return the values of a point on all other axes."""
    return tuple((key, at) for key, at in point.at.items() if key != axis)
