"""The page of a sweep: a table for each figure by the axes that vary, and the command."""

from __future__ import annotations

import html
import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from wordline import _wordline
from wordline._measures import brief, divided, measure, scaled
from wordline.steady import Steady
from wordline.sweeps.grid import Grid
from wordline.sweeps.table import Combination, Table

#: With more columns than this, rows and columns are swapped if there are fewer rows.
_WIDE = 4
#: Means that differ by no more than this share are equal.
_TIE = 0.005
#: Axes whose values say what they are.
_SPEAK = ("device", "workload", "initial", "scheme")
#: Axes that are given and not chosen: combinations are compared under the same values of them.
_GIVEN = ("workload", "initial")
#: Maximum number of conditions that a sentence names.
_NAMED = 3

#: Reports of first runs, by the `place_of` their combinations.
Runs = Mapping[tuple[str, ...], str]


def place_of(at: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of all axes, which no other combination of a sweep has."""
    return tuple(at.values())


def axis_name(axis: str, axes: Sequence[str]) -> str:
    """Return the label of an axis: the last word of its key, if that is unambiguous.

    >>> axis_name("host.queue_depth", ["host.queue_depth", "scheme"])
    'queue depth'
    """
    last = axis.rsplit(".", 1)[-1]
    return last.replace("_", " ") if [a.rsplit(".", 1)[-1] for a in axes].count(last) < 2 else axis


def called(row: Combination, axes: Sequence[str]) -> str:
    """Return the label of a combination; a number is preceded by the label of its axis."""
    parts = []
    for axis in axes:
        value = row.at[axis]
        is_bare = axis not in _SPEAK and not re.search("[a-z]{3}", value, re.IGNORECASE)
        parts.append(f"{axis_name(axis, axes)} {value}" if is_bare else value)
    return " · ".join(parts)


def _axes(table: Table) -> tuple[list[str], list[str]]:
    """Return the axes of the rows (schemes if they vary) and those of the columns."""
    rows = "scheme" if "scheme" in table.axes else table.axes[-1]
    others = [axis for axis in table.axes if axis != rows]

    def count(axes: Sequence[str]) -> int:
        return len({tuple(row.at[axis] for axis in axes) for row in table.rows})

    return (others, [rows]) if count(others) > max(_WIDE, count([rows])) else ([rows], others)


def given(table: Table) -> list[str]:
    """Return the axes that vary and are not chosen: workloads with their keys, initial states."""
    axes = [axis for axis in table.axes if axis.split(".")[0] in _GIVEN]
    return [axis for axis in axes if len({row.at[axis] for row in table.rows}) > 1]


def by_condition(table: Table) -> list[Table]:
    """Return the rows of each workload and initial state, as tables."""
    axes = given(table)
    rows: dict[tuple[str, ...], list[Combination]] = {}
    for row in table.rows:
        rows.setdefault(tuple(row.at[axis] for axis in axes), []).append(row)
    return [Table(table.axes, table.paths, of) for of in rows.values()]


def best(table: Table, path: str) -> list[Combination]:
    """Return the combinations with the best mean of a figure under each workload and initial state.

    None of those where all are equal, and none at all if neither end is better.
    """
    return [row for part in by_condition(table) for row in _best(part, path)]


def _best(table: Table, path: str) -> list[Combination]:
    found, better = _means(table, path), measure(path).better
    if better is None or len(found) < 2:
        return []
    values = [value for _, value in found]
    best = min(values) if better == "lower" else max(values)
    there = [(abs(value - best), row) for row, value in found if _is_near(value, best)]
    there.sort(key=lambda pair: pair[0])
    return [] if len(there) == len(found) else [row for _, row in there]


def is_alike(values: Sequence[float]) -> bool:
    """Return whether all of some figures count as equal."""
    return not values or _is_near(min(values), max(values))


def _is_near(a: float, b: float) -> bool:
    """Return whether two figures count as equal: as in a comparison, within half a percent."""
    return abs(a - b) <= _TIE * max(abs(a), abs(b))


def _means(table: Table, path: str) -> list[tuple[Combination, float]]:
    pairs = ((row, row.figures[path]) for row in table.rows)
    return [(row, figure[0]) for row, figure in pairs if figure]


def verdict(table: Table, rests: Steady) -> str:
    """Return a sentence that names the best combination, by the first figure with a better end.

    It is unknown if too few of the runs are steady.
    """
    table = effective(table)
    if given(table):
        return _verdict_by_condition(table, rests)
    for path in table.paths:
        top = best(table, path)
        if top and (figure := top[0].figures[path]):
            named, by = scaled(path, [figure[0]])
            end = "lowest" if named.better == "lower" else "highest"
            said = named._replace(unit="").said()
            count = len(table.measured)
            if not rests.is_enough:
                of = f"of {count} different combinations"
                return f"The {end} {said} {of} is not known: {rests}."
            text = brief(divided(figure, by))
            further, has = (f" and {len(top) - 1} more", "have") if len(top) > 1 else ("", "has")
            of = f"Of {count} different combinations, {called(top[0], table.axes)}{further} {has}"
            unit = named.unit and chr(160) + named.unit
            return f"{of} the {end} {said}: {text}{unit} ({rests})."
    return ""


def _verdict_by_condition(table: Table, rests: Steady) -> str:
    """Return the best choice under each condition; empty if nothing is chosen or better."""
    axes = given(table)
    chosen = [axis for axis in table.axes if axis not in axes]
    for path in table.paths:
        if not (top := best(table, path)):
            continue
        named = measure(path)
        end = "lowest" if named.better == "lower" else "highest"
        said = named._replace(unit="").said()
        parts = by_condition(table)
        if not rests.is_enough:
            return f"The {end} {said} under each of {len(parts)} conditions is not known: {rests}."
        winners: dict[str, list[str]] = {}
        for row in top:
            winners.setdefault(called(row, axes), []).append(called(row, chosen))
        common = [
            name
            for name in winners[next(iter(winners))]
            if all(name in w for w in winners.values())
        ]
        if common and len(winners) == len(parts):
            who = " and ".join(common[:2])
            has = "has" if len(common) == 1 else "have"
            return f"{who} {has} the {end} {said} under each of {len(parts)} conditions ({rests})."
        listed = [f"{names[0]} under {where}" for where, names in winners.items()]
        more = f"; {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
        return f"The {end} {said}: {'; '.join(listed[:_NAMED])}{more} ({rests})."
    return ""


def effective(table: Table) -> Table:
    """Return a table without the axes that have no effect."""
    return _without(table, idle(table))


def idle(table: Table) -> list[str]:
    """Return the axes without effect on any figure, if another axis has one."""
    found = without_effect(table)
    return [] if len(found) == len(table.axes) else found


def without_effect(table: Table) -> list[str]:
    """Return the axes without effect on any figure; none if there are no figures."""

    def is_idle(axis: str) -> bool:
        of: dict[tuple[str, ...], set[tuple[object, ...]]] = {}
        for row in table.rows:
            rest = tuple(row.at[other] for other in table.axes if other != axis)
            of.setdefault(rest, set()).add(tuple(row.figures[path] for path in table.paths))
        return len(of) < len(table.rows) and all(len(figures) == 1 for figures in of.values())

    return [axis for axis in table.axes if table.measured and is_idle(axis)]


def _without(table: Table, axes: Sequence[str]) -> Table:
    """Return a table without some axes: the first row of those that differ in nothing else."""
    left = [axis for axis in table.axes if axis not in axes]
    first: dict[tuple[str, ...], Combination] = {}
    for row in table.rows:
        first.setdefault(tuple(row.at[axis] for axis in left), row)
    return Table(left, table.paths, list(first.values()))


def tables(table: Table, runs: Runs) -> str:
    """Return one table per figure as HTML: darker is worse; each cell links to its run."""
    nothing = idle(table)
    table = _without(table, nothing)
    drawn: list[str] = []
    alike = []
    for path in table.paths:
        values = [value for _, value in _means(table, path)]
        if not values:
            continue
        if len(table.rows) > 1 and len(values) == len(table.rows) and is_alike(values):
            alike.append(f"{measure(path).said()} {brief(table.rows[0].figures[path])}")
        else:
            drawn.append(path)
    said = ""
    if alike:
        listed = html.escape("; ".join(alike))
        said = f'<p class="caption">The same in all combinations: {listed}.</p>'
    if nothing:
        verb = "change" if len(nothing) > 1 else "changes"
        said += f'<p class="caption">{html.escape(" and ".join(nothing))} {verb} no figure.</p>\n'
    of = " under its workload and initial state" if given(table) else ""
    note = f"The stronger the shade, the worse; ▸ is the best{of}. "
    note += "A figure links to the report of its first run."
    if any(figure and figure[1] for row in table.rows for figure in row.figures.values()):
        note += " ± is half of the 95 % confidence interval over the seeds (Student's t)."
    below = f'<p class="caption">{note}</p>\n{said}' if drawn else said
    varied = [axis for axis in table.axes if len({row.at[axis] for row in table.rows}) > 1]
    if len(varied) == 1 and drawn:
        return _together(table, varied[0], drawn, runs) + below
    shown = "".join(_table(table, path, runs) for path in drawn)
    return f'<div class="heats">\n{shown}</div>\n{below}'


class _Cells:
    """The cells of a figure: the darker, the worse; the best marked, each a link to its run."""

    def __init__(self, table: Table, path: str, runs: Runs) -> None:
        values = [value for _, value in _means(table, path)]
        self.path, self.runs = path, runs
        self.top = best(table, path)
        self.worse = _shade(values, measure(path).better)
        self.what, self.by = scaled(path, values)

    def cell(self, row: Combination | None) -> str:
        """Return the cell of a row, or that of none."""
        figure = row.figures[self.path] if row else None
        if row is None or figure is None:
            return '<td class="none">–</td>'  # noqa: RUF001
        mark = "▸ " if row in self.top else ""
        mean, _, half = brief(divided(figure, self.by)).partition(" ± ")
        text = mark + mean + (f' <span class="half">± {half}</span>' if half else "")
        if run := self.runs.get(place_of(row.at)):
            text = f'<a href="{html.escape(run)}">{text}</a>'
        kind = ' class="best"' if row in self.top else ""
        shade = f'style="--worse:{self.worse(figure[0]):.2f}"'
        return f"<td{kind} {shade}>{text}</td>"


def _grid(
    label: str, over: str, heads: Sequence[str], rows: Iterable[tuple[str, Iterable[str]]]
) -> str:
    """Return a table of cells, with a name for each row, and what the names are of."""
    lines = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(cells)}</tr>\n'
        for name, cells in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">\n'
        f'<table class="heat"><thead><tr><th scope="col">{html.escape(over)}</th>'
        f"{''.join(heads)}</tr></thead>\n<tbody>\n{lines}</tbody></table></div>"
    )


def _together(table: Table, axis: str, paths: Sequence[str], runs: Runs) -> str:
    """Return one table of a sweep along one axis: a row a value, a column a figure."""
    columns = [_Cells(table, path, runs) for path in paths]
    heads = [
        f'<th scope="col" class="number" data-measure="{html.escape(column.path)}">'
        f"{html.escape(column.what.said())}</th>"
        for column in columns
    ]
    rows = ((row.at[axis], [column.cell(row) for column in columns]) for row in table.rows)
    return _grid("Measures", axis_name(axis, table.axes), heads, rows) + "\n"


def _table(table: Table, path: str, runs: Runs) -> str:
    """Return the table of a figure."""
    down, across = _axes(table)
    at = {
        (tuple(row.at[a] for a in down), tuple(row.at[a] for a in across)): row
        for row in table.rows
    }
    rows, columns = (list(dict.fromkeys(of)) for of in zip(*at, strict=True))
    cells = _Cells(table, path, runs)
    name = html.escape(cells.what.said())
    heads = [
        f'<th scope="col" class="number">{html.escape(" · ".join(column)) or "all"}</th>'
        for column in columns
    ]
    lines = (
        (" · ".join(key), [cells.cell(at.get((key, column))) for column in columns]) for key in rows
    )
    over = " · ".join(axis_name(axis, table.axes) for axis in [*down, *across])
    shown = _grid(name, over, heads, lines)
    return f'<div data-measure="{html.escape(path)}"><h3>{name}</h3>\n{shown}</div>\n'


def _shade(values: Sequence[float], better: str | None) -> Callable[[float], float]:
    """Return how bad a value is among others, from 0 to 1; logarithmic if they vary much."""
    least, most = min(values), max(values)
    is_far = least > 0 and most / least >= 4

    def place(value: float) -> float:
        return math.log(value) if is_far else value

    room = place(most) - place(least)

    def worse(value: float) -> float:
        if better is None or room <= 0:
            return 0.0
        share = (place(value) - place(least)) / room
        return share if better == "lower" else 1 - share

    return worse


def command(grid: Grid) -> str:
    """Return the command that repeats a sweep."""
    first = grid.points[0]
    run = first.runs[0]
    given = {key: list(dict.fromkeys(p.at[key] for p in grid.points)) for key in first.at}
    words = ["wordline", "sweep"]
    for key, values in given.items():
        if key not in _SPEAK:
            words += ["--set", f"{key}={','.join(values)}"]
        elif key != "initial" or values != [_wordline.DEFAULT_INITIAL]:
            words += [word for value in values for word in (f"--{key}", value)]
    for option, value, plain in (
        ("seed", run.seed, _wordline.DEFAULT_SEED),
        ("replicas", len(first.runs), 1),
        *((option, getattr(run, option), None) for option in ("requests", "fit", "traces")),
    ):
        words += [] if value == plain else [f"--{option}", str(value)]
    return shlex.join(words)
