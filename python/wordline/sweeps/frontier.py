"""One figure over another, and the combinations that no other beats in both."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordline import UserError
from wordline._measures import Spread, scaled
from wordline.sweeps.heat import called
from wordline.sweeps.table import Row, Table

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


def _figure(row: Row, axis: Axis) -> Spread:
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


#: A linear axis ends at this many times the largest mean, however wide its interval.
_BEYOND = 2.0


def frontier(rows: Sequence[Row], x: Axis, y: Axis) -> list[Row]:
    """Return the rows that no other row equals or beats in both, by increasing x.

    Rows that are equal in both are all kept. Rows without one of the figures are left out.
    """

    def cost(row: Row) -> tuple[float, ...]:
        return tuple(_figure(row, a)[0] * (-1 if a.more_is_better else 1) for a in (x, y))

    there = [row for row in rows if row.figures[x.path] and row.figures[y.path]]
    best = unbeaten(map(cost, there))
    return sorted((r for r in there if cost(r) in best), key=lambda row: _figure(row, x)[0])


def _staircase(best: Sequence[Row], x: Axis, y: Axis) -> tuple[list[float], list[float]]:
    """Return the corners of the region that the frontier dominates."""
    points = [(_figure(row, x)[0], _figure(row, y)[0]) for row in best]
    worse_x, worse_y = (min if axis.more_is_better else max for axis in (x, y))
    corners = points[:1]
    for (x1, y1), (x2, y2) in itertools.pairwise(points):
        corners += [(worse_x(x1, x2), worse_y(y1, y2)), (x2, y2)]
    return [c[0] for c in corners], [c[1] for c in corners]


def _numbers(best: Sequence[Row], x: Axis, y: Axis) -> dict[tuple[float, float], str]:
    """Return the numbers of the frontier, in list order; rows at the same point share one."""
    numbers: dict[tuple[float, float], list[str]] = {}
    for number, row in enumerate(best, 1):
        where = (_figure(row, x)[0], _figure(row, y)[0])
        numbers.setdefault(where, []).append(str(number))
    # Rows at the same point are consecutive.
    return {
        where: f"{found[0]} to {found[-1]}" if len(found) > 2 else ", ".join(found)
        for where, found in numbers.items()
    }


def _names(
    best: Sequence[Row], x: Axis, y: Axis, axes: Sequence[str]
) -> dict[tuple[float, float], str]:
    """Label each point of the frontier with the names of its rows."""
    names: dict[tuple[float, float], list[str]] = {}
    for row in best:
        names.setdefault((_figure(row, x)[0], _figure(row, y)[0]), []).append(called(row, axes))
    return {
        where: f"{found[0]} and {len(found) - 1} more" if len(found) > 1 else found[0]
        for where, found in names.items()
    }


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


def _fit(at: Any, rows: Sequence[Row], axes: tuple[Axis, Axis], by: tuple[float, float]) -> None:
    """Keep a linear axis to what its figures reach: an interval may go on beyond the frame."""
    for axis, size, limits, fit in zip(
        axes, by, (at.get_xlim, at.get_ylim), (at.set_xlim, at.set_ylim), strict=True
    ):
        found = [_figure(row, axis)[0] / size for row in rows]
        scale = at.get_xscale() if axis is axes[0] else at.get_yscale()
        low, high = limits()
        if min(found) >= 0 and scale == "linear":
            fit(max(low, 0), min(high, _BEYOND * max(found)) if max(found) > 0 else high)


def draw(table: Table, axes: tuple[Axis, Axis], path: Path, note: str, winner: Row | None) -> None:
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
    best = frontier(rows, x, y)
    first = table.rows[0].at[hue]
    scales = [scaled(a.path, [_figure(row, a)[0] for row in rows]) for a in axes]
    (_, x_by), (_, y_by) = scales
    roles = [
        ("others", [r for r in rows if r is not winner and r.at[hue] != first],
         plotting.OTHER, "o"),
        (f"{first} (baseline)", [r for r in rows if r.at[hue] == first and r is not winner],
         plotting.BASELINE, "s"),
        (called(winner, table.axes) if winner else "", [r for r in rows if r is winner],
         plotting.SCHEMES[0], "D"),
    ]  # fmt: skip
    with plotting.style():
        figure, at = plt.subplots(figsize=_SIZE, layout="constrained")
        for name, here, ink, mark in roles:
            if not here:
                continue
            at.errorbar(
                [_figure(r, x)[0] / x_by for r in here],
                [_figure(r, y)[0] / y_by for r in here],
                xerr=[(_figure(r, x)[1] or 0) / x_by for r in here],
                yerr=[(_figure(r, y)[1] or 0) / y_by for r in here],
                fmt=mark,
                color=ink,
                markersize=7 if mark == "D" else 5,
                elinewidth=0.8,
                label=name,
                zorder=4 if mark == "D" else 3,
            )
        steps_x, steps_y = _staircase(best, x, y)
        at.plot(
            [v / x_by for v in steps_x],
            [v / y_by for v in steps_y],
            color="#555555",
            lw=0.9,
            ls=(0, (4, 3)),
            zorder=1,
        )
        for scale, axis in ((at.set_xscale, x), (at.set_yscale, y)):
            found = [_figure(r, axis)[0] for r in rows]
            if min(found) > 0 and max(found) / min(found) > 20:
                scale("log")
            else:
                (at.xaxis if axis is x else at.yaxis).set_major_locator(MaxNLocator(5))
        short = FuncFormatter(lambda value, _: f"{value:,.10g}")
        for of in (at.xaxis, at.yaxis):
            of.set_major_formatter(short)
            of.set_minor_formatter(NullFormatter())
        at.plot(
            [_figure(r, x)[0] / x_by for r in best],
            [_figure(r, y)[0] / y_by for r in best],
            "o",
            color="#555555",
            markersize=11,
            markerfacecolor="none",
            markeredgewidth=1.0,
            zorder=5,
        )
        at.margins(0.16)
        _fit(at, rows, (x, y), (x_by, y_by))
        at.set_xlabel(f"{scales[0][0].said()} ({x.way})")
        at.set_ylabel(f"{scales[1][0].said()} ({y.way})")
        at.legend(loc="lower left", bbox_to_anchor=(0, 1.0), borderpad=0.2, labelspacing=0.3)
        plotting.footnote(figure, note)
        places = {(left / x_by, up / y_by): at for (left, up), at in _numbers(best, x, y).items()}
        names = {
            (left / x_by, up / y_by): at
            for (left, up), at in _names(best, x, y, table.axes).items()
        }
        points = [(_figure(r, x)[0] / x_by, _figure(r, y)[0] / y_by) for r in rows]
        _annotate(at, names if len(names) <= _NAMED else {}, places, points)
        plotting.save(figure, path)
