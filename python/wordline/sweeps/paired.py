"""Combinations of a sweep compared with one that differs in a single axis, paired by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wordline import Report, Run, UserError
from wordline._measures import Spread, shown, value
from wordline.sweeps.grid import Grid, Point
from wordline.sweeps.table import Form, cells, estimate


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
