"""One figure of a sweep over one axis, for a paper: `Sweep.plot`."""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wordline import UserError, _style, quantity
from wordline._measures import Measure, Spread, scaled
from wordline.sweeps.heat import axis_name
from wordline.sweeps.table import Combination, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Factors of units in the values of an axis, by quantity.
_UNITS: dict[str, Mapping[str, float]] = {
    "": {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "%": 0.01},
    "bytes": quantity.BYTES,
    "s": {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0},
}
#: From this ratio of its values on, a scale is logarithmic.
_FAR = 20.0
#: Ticks of values closer than this share of an axis would overlap.
_NEAR = 0.06


def draw(
    table: Table,
    figure: str | None,
    over: str | None,
    where: Mapping[str, str | Sequence[str]],
    axes: tuple[Axes | None, str],
) -> Axes:
    """Draw as described for `Sweep.plot`; `axes` are the axes to draw on, or the width of new ones.

    Raises `UserError`: figure, axis or value does not exist, or no combination has the figure.
    """
    rows = _kept(table, where)
    path = _figure(table, rows, figure)
    axis = _over(table, rows, over)
    others = [a for a in table.axes if a != axis and len({row.at[a] for row in rows}) > 1]
    values = list(dict.fromkeys(row.at[axis] for row in rows))
    lines: dict[str, dict[str, Spread]] = {}
    for row in rows:
        of = lines.setdefault(row.name(others), {})
        if (there := row.figures[path]) is not None:
            of[row.at[axis]] = there
    lines = {name: of for name, of in lines.items() if of}
    means = [mean for of in lines.values() for mean, _ in of.values()]
    measure, by = scaled(path, means)
    at = _style.axes(*axes)
    places, is_number = _places(at, values, axis)
    looks = _style.looks(list(lines))
    for number, (name, of) in enumerate(lines.items()):
        # Offset the intervals of names at the same point, so that they do not overlap.
        aside = 0.0 if is_number else 0.5 * ((number + 0.5) / len(lines) - 0.5)
        look = {**looks[name], "marker": looks[name].get("marker", "o"), "markersize": 4}
        halves = [of[v][1] if v in of else None for v in values]
        at.errorbar(
            [places[v] + aside for v in values],
            [of[v][0] / by if v in of else math.nan for v in values],
            yerr=[(half or 0) / by for half in halves] if any(halves) else None,
            capsize=2.5,
            elinewidth=0.9,
            label=name,
            **(look if is_number else {**look, "linestyle": "none"}),
        )
    _upright(at, measure, [mean / by for mean in means])
    return _style.legend(at, len(lines), max(map(len, lines)))


def _kept(table: Table, where: Mapping[str, str | Sequence[str]]) -> list[Combination]:
    """Return the rows with the requested values."""
    rows = list(table.rows)
    axes = ", ".join(table.axes)
    for axis, asked in where.items():
        if axis not in table.axes:
            raise UserError(f"where: {axis!r} does not vary here\n  allowed: {axes}")
        wanted = [asked] if isinstance(asked, str) else list(asked)
        known = list(dict.fromkeys(row.at[axis] for row in table.rows))
        if wrong := next((value for value in wanted if value not in known), None):
            raise UserError(f"where: {axis} has no {wrong!r}\n  allowed: {', '.join(known)}")
        rows = [row for row in rows if row.at[axis] in wanted]
    if not rows:
        raise UserError("where: no combination is left; give at least one value of each axis")
    return rows


def _figure(table: Table, rows: Sequence[Combination], asked: str | None) -> str:
    """Return the requested figure, or the first of the table that any row has."""
    if asked is not None and asked not in table.paths:
        near = difflib.get_close_matches(asked, table.paths, 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise table.lacks(f"figure={asked!r}", hint)
    paths = table.paths if asked is None else [asked]
    found = next((path for path in paths if any(row.figures[path] for row in rows)), None)
    if found is None:
        raise UserError(f"no combination here has {' or '.join(paths)}, so nothing can be plotted")
    return found


def _over(table: Table, rows: Sequence[Combination], asked: str | None) -> str:
    """Return the requested axis, or the first one with numbers, or the first that varies."""
    if asked is not None and asked not in table.axes:
        raise UserError(f"over={asked!r} does not vary\n  allowed: {', '.join(table.axes)}")
    if asked is not None:
        return asked
    varied = {a: list(dict.fromkeys(row.at[a] for row in rows)) for a in table.axes}
    varied = {a: values for a, values in varied.items() if len(values) > 1}
    of_numbers = (axis for axis, values in varied.items() if _numbers(values))
    return next(of_numbers, next(iter(varied), table.axes[0]))


def _numbers(values: Sequence[str]) -> list[float] | None:
    """Return values as numbers in one unit; None if a value is not a number or of another kind."""
    parts = [re.fullmatch(r"([-+]?[\d.]+(?:e[-+]?\d+)?)\s*([A-Za-z%]*)", v) for v in values]
    for factors in _UNITS.values():
        if all(part is not None and part[2] in factors for part in parts):
            try:
                return [float(part[1]) * factors[part[2]] for part in parts if part]
            except ValueError:
                return None
    return None


def _places(at: Axes, values: Sequence[str], axis: str) -> tuple[dict[str, float], bool]:
    """Return the positions of an axis's values, their ticks, and whether they are numbers."""
    numbers = _numbers(values) if len(values) > 1 else None
    at.set_xlabel(axis_name(axis, [axis]))
    if numbers:
        is_far = min(numbers) > 0 and max(numbers) / min(numbers) >= _FAR
        steps = sorted(math.log(number) if is_far else number for number in numbers)
        room = steps[-1] - steps[0]
        if room > 0 and min(b - a for a, b in itertools.pairwise(steps)) / room >= _NEAR:
            at.set_xscale("log" if is_far else "linear")
            at.set_xticks(numbers, values)
            at.minorticks_off()
            return dict(zip(values, numbers, strict=True)), True
    wide = at.get_figure(root=True).get_figwidth()  # type: ignore[union-attr]
    # A character of a tick is about a twelfth of an inch wide.
    is_crowded = sum(len(value) + 2 for value in values) / 12 > wide
    turned: dict[str, Any] = {"rotation": 25, "ha": "right", "rotation_mode": "anchor"}
    at.set_xticks(range(len(values)), values, **(turned if is_crowded else {}))
    at.set_xlim(-0.5, len(values) - 0.5)
    even = {value: float(number) for number, value in enumerate(values)}
    # Numbers too close for a scale keep their order, and are joined.
    return even, numbers is not None and numbers == sorted(numbers)


def _upright(at: Axes, measure: Measure, means: Sequence[float]) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    at.set_ylabel(measure.said())
    if min(means) > 0 and max(means) / min(means) >= _FAR:
        at.set_yscale("log")
        at.yaxis.set_minor_formatter(NullFormatter())
    elif min(means) >= 0:
        at.set_ylim(bottom=0)
    at.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
