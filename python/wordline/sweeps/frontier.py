"""One figure over another, and the combinations that no other beats in both."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordline import UserError
from wordline._measures import Spread, divided, scaled
from wordline.sweeps.heat import called
from wordline.sweeps.table import Combination, Table

#: A column of a paper in inches, and the width of a telephone.
_SIZE = (3.45, 3.3)
#: If the frontier has more points than this, they are numbered instead of named.
_NAMED = 4
#: Where a label may stand: right or left of its place, above or below it, or well above.
_SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1), (1, 2.2))
#: Pixels around a point in which no other's label may stand.
_AROUND = 9


@dataclass(frozen=True)
class Axis:
    """A figure, and whether more of it is better."""

    path: str
    more_is_better: bool

    @property
    def way(self) -> str:
        """Which end is the better one, in words."""
        return f"{'higher' if self.more_is_better else 'lower'} is better"


def axes(paths: Sequence[str]) -> tuple[Axis, Axis]:
    """Parse two paths; a ``+`` before a path means that more is better.

    Raises `UserError`: there are not exactly two paths.
    """
    parts = [part.strip() for part in paths]
    if len(parts) != 2 or not all(part.lstrip("+") for part in parts) or parts[0] == parts[1]:
        raise UserError(
            f"frontier {', '.join(paths) or 'nothing'}: needs two figures, as in "
            "latency_us.write.mean,+throughput.iops; prefix + if larger is better"
        )
    x, y = (Axis(part.lstrip("+"), part.startswith("+")) for part in parts)
    return x, y


def _figure(row: Combination, axis: Axis) -> Spread:
    """Return mean and half-width of a row that has the figure of an axis."""
    found = row.figures[axis.path]
    if found is None:
        raise ValueError(f"the row has no {axis.path}")
    return found


def unbeaten(costs: Iterable[tuple[float, ...]]) -> set[tuple[float, ...]]:
    """Return the costs that no other equals or beats in all components."""
    known = set(costs)

    def beaten(own: tuple[float, ...]) -> bool:
        others = (other for other in known if other != own)
        return any(all(a <= b for a, b in zip(o, own, strict=True)) for o in others)

    return {own for own in known if not beaten(own)}


#: Maximum number of characters of a label in the legend.
_LONG = 36
#: A linear axis ends at this many times the largest mean, however wide its interval.
_BEYOND = 2.0


def frontier(rows: Sequence[Combination], x: Axis, y: Axis) -> list[Combination]:
    """Return the rows that no other row equals or beats in both, by increasing x.

    Rows that are equal in both are all kept. Rows without one of the figures are left out.
    """

    def cost(row: Combination) -> tuple[float, ...]:
        return tuple(_figure(row, a)[0] * (-1 if a.more_is_better else 1) for a in (x, y))

    there = [row for row in rows if row.figures[x.path] and row.figures[y.path]]
    best = unbeaten(map(cost, there))
    return sorted((r for r in there if cost(r) in best), key=lambda row: _figure(row, x)[0])


Place = tuple[float, float]


def _staircase(places: Sequence[Place], x: Axis, y: Axis) -> list[Place]:
    """Return the corners of the region that a frontier dominates."""
    worse_x, worse_y = (min if axis.more_is_better else max for axis in (x, y))
    corners = list(places[:1])
    for (x1, y1), (x2, y2) in itertools.pairwise(places):
        corners += [(worse_x(x1, x2), worse_y(y1, y2)), (x2, y2)]
    return corners


def _labels(best: Iterable[tuple[Place, str]]) -> tuple[dict[Place, str], dict[Place, str]]:
    """Return names and numbers of the places of a frontier; rows at the same place share them."""
    there: dict[Place, list[tuple[int, str]]] = {}
    for number, (place, name) in enumerate(best, 1):
        there.setdefault(place, []).append((number, name))
    names, numbers = {}, {}
    for place, rows in there.items():
        (first, name), more = rows[0], len(rows) - 1
        names[place] = f"{name} and {more} more" if more else name
        # Rows at the same place are consecutive.
        listed = ", ".join(str(number) for number, _ in rows)
        numbers[place] = f"{first} to {rows[-1][0]}" if more > 1 else listed
    return names, numbers


def _annotate(
    at: Any,
    names: Mapping[tuple[float, float], str],
    numbers: Mapping[tuple[float, float], str],
    points: Sequence[tuple[float, float]],
) -> None:
    """Write names beside places where they have room, and numbers everywhere else."""
    from matplotlib.transforms import Bbox

    figure = at.get_figure()
    figure.draw_without_rendering()
    around = {
        point: Bbox.from_extents(x - _AROUND, y - _AROUND, x + _AROUND, y + _AROUND)
        for point, (x, y) in zip(points, at.transData.transform(points), strict=True)
    }
    taken: list[Any] = []
    for where, number in numbers.items():
        for text, (right, up) in itertools.product((names.get(where), number), _SIDES):
            if text is None:
                continue
            label = at.annotate(
                text, where, xytext=(6 * right, 6 * up), textcoords="offset points", fontsize=8.5,
                ha="left" if right > 0 else "right", va="bottom" if up > 0 else "top",
            )  # fmt: skip
            box = label.get_window_extent()
            is_last = text == number and (right, up) == _SIDES[-1]
            inside = at.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 - 2 and at.bbox.y0 <= box.y0
            others = [box for point, box in around.items() if point != where]
            if is_last or (inside and not any(box.overlaps(other) for other in [*taken, *others])):
                label.set_in_layout(False)
                taken.append(box)
                break
            label.remove()


def _short(label: str) -> str:
    """Return the end of a long label, which would leave the picture no room."""
    return label if len(label) <= _LONG else f"…{label[1 - _LONG :]}"


def _bars(halves: Sequence[float | None]) -> list[float] | None:
    """Return error bars; without an interval there is none, in the legend neither."""
    return [half or 0.0 for half in halves] if any(halves) else None


def draw(
    table: Table, axes: tuple[Axis, Axis], path: Path, note: str, winner: Combination | None
) -> None:
    """Draw all rows, and the frontier as a line; baseline and winner have the pages' colors.

    The baseline is every row with the first scheme, or the first value of the first axis.
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    from wordline import plotting

    x, y = axes
    rows = [r for r in table.rows if r.figures[x.path] and r.figures[y.path]]
    if not rows:
        raise UserError(f"no Pareto front: no run has both {x.path} and {y.path}")
    hue = "scheme" if "scheme" in table.axes else table.axes[0]
    first = table.rows[0].at[hue]
    scales = [scaled(a.path, [_figure(row, a)[0] for row in rows]) for a in axes]

    def spreads(row: Combination) -> tuple[Spread, Spread]:
        of_x, of_y = (divided(_figure(row, a), by) for a, (_, by) in zip(axes, scales, strict=True))
        return of_x, of_y

    def place(row: Combination) -> Place:
        (at_x, _), (at_y, _) = spreads(row)
        return at_x, at_y

    points = [place(row) for row in rows]
    best = [(place(row), called(row, table.axes)) for row in frontier(rows, x, y)]
    own = [row for row in rows if row is winner]
    baseline = [row for row in rows if row is not winner and row.at[hue] == first]
    others = [row for row in rows if row is not winner and row.at[hue] != first]
    roles = (
        ("others", others, plotting.OTHER, "o"),
        (f"{_short(called(table.rows[0], [hue]))} (baseline)", baseline, plotting.BASELINE, "s"),
        (_short(called(winner, table.axes)) if winner else "", own, plotting.SCHEMES[0], "D"),
    )
    with plotting.style():
        figure, at = plt.subplots(figsize=_SIZE, layout="constrained")
        for label, here, ink, mark in roles:
            if not here:
                continue
            each = zip(*map(spreads, here), strict=True)
            (of_x, in_x), (of_y, in_y) = (zip(*of, strict=True) for of in each)
            at.errorbar(
                of_x,
                of_y,
                xerr=_bars(in_x),
                yerr=_bars(in_y),
                fmt=mark,
                color=ink,
                markersize=7 if mark == "D" else 5,
                elinewidth=0.8,
                label=label,
                zorder=4 if mark == "D" else 3,
            )
        steps = zip(*_staircase([where for where, _ in best], x, y), strict=True)
        at.plot(*map(list, steps), color="#555555", lw=0.9, ls=(0, (4, 3)), zorder=1)
        short = FuncFormatter(lambda value, _: f"{value:,.10g}")
        found = list(zip(*points, strict=True))
        for line, values in zip((at.xaxis, at.yaxis), found, strict=True):
            if min(values) > 0 and max(values) / min(values) > 20:
                (at.set_xscale if line is at.xaxis else at.set_yscale)("log")
            else:
                line.set_major_locator(MaxNLocator(5))
            line.set_major_formatter(short)
            line.set_minor_formatter(NullFormatter())
        at.plot(
            *map(list, zip(*(where for where, _ in best), strict=True)),
            "o",
            color="#555555",
            markersize=11,
            markerfacecolor="none",
            markeredgewidth=1.0,
            zorder=5,
        )
        at.margins(0.16)
        # An interval may go on beyond the frame of a linear axis.
        fits: tuple[Any, ...] = (at.set_xlim, at.set_ylim)
        for line, values, fit in zip((at.xaxis, at.yaxis), found, fits, strict=True):
            if min(values) >= 0 and line.get_scale() == "linear":
                low, high = line.get_view_interval()
                fit(max(low, 0), min(high, _BEYOND * max(values)) if max(values) > 0 else high)
        at.set_xlabel(f"{scales[0][0].said()} ({x.way})")
        at.set_ylabel(f"{scales[1][0].said()} ({y.way})")
        at.legend(loc="lower left", bbox_to_anchor=(0, 1.0), borderpad=0.2, labelspacing=0.3)
        plotting.footnote(figure, note)
        names, numbers = _labels(best)
        _annotate(at, names if len(names) <= _NAMED else {}, numbers, points)
        plotting.save(figure, path)
