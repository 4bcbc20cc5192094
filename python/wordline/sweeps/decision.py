"""What decides a sweep: measures with their best combinations, and gain against cost."""

from __future__ import annotations

import html
from collections.abc import Sequence

from wordline._measures import measure, scaled, shown
from wordline.sweeps import heat
from wordline.sweeps.frontier import Axis
from wordline.sweeps.table import Row, Table

#: What is gained and what it costs, the first that differs of each.
_GAINS = (
    *("latency_us.write.p99", "latency_us.write.p999", "latency_us.write.mean"),
    *("latency_us.read.p99", "latency_us.read.p999", "latency_us.read.mean", "throughput.iops"),
)
_COSTS = ("lifetime.total_bytes_written", "waf.total", *_GAINS[3:])
#: The most measures, and the most combinations that are named as the best of one.
_MEASURES, _NAMED = 6, 2


def tradeoff(table: Table) -> tuple[Axis, Axis] | None:
    """Return cost and gain of a sweep; none where no two figures of the table differ."""

    def first(paths: Sequence[str], but: str = "") -> str | None:
        differ = (path for path in paths if path != but and path in table.paths)
        return next((path for path in differ if len(_values(table, path)) > 1), None)

    gain = first(_GAINS)
    cost = first(_COSTS, gain or "")
    if gain is None or cost is None:
        return None
    x, y = (Axis(path, measure(path).better == "higher") for path in (cost, gain))
    return x, y


def _values(table: Table, path: str) -> set[float]:
    return {figure[0] for row in table.rows if (figure := row.figures[path])}


def winner(table: Table) -> Row | None:
    """Return the combination that the verdict names; none where none is the best of a figure."""
    for path in table.paths:
        if best := heat.best(table, path):
            return best[0]
    return None


def block(table: Table, scatter: str) -> str:
    """Return the head of the page as HTML: a row a measure, and beside it the scatter."""
    first = table.rows[0]
    paths = [path for path in table.paths if len(_values(table, path)) > 1][:_MEASURES]
    if not paths:
        return scatter
    name = html.escape(first.name(table.axes))
    rows = "".join(_row(table, path, first) for path in paths)
    box = 'class="scroll" tabindex="0" role="region" aria-label="Measures that decide"'
    return (
        '<div id="decision">\n<h2 class="away">Decision</h2>\n'
        f'<div><div {box}><table class="deciding"><thead><tr><th scope="col">measure</th>'
        f'<th scope="col" class="number"><b class="run s0">{name}</b><small>first</small></th>'
        '<th scope="col" class="number">best</th><th scope="col">of</th></tr></thead>\n'
        f"<tbody>\n{rows}</tbody></table></div></div>\n{scatter}</div>\n"
    )


def _row(table: Table, path: str, first: Row) -> str:
    values = [figure[0] for row in table.rows if (figure := row.figures[path])]
    what, by = scaled(path, values)
    best = heat.best(table, path)

    def cell(row: Row) -> str:
        figure = row.figures[path]
        if figure is None:
            return "–"  # noqa: RUF001
        mean, half = figure
        return shown((mean / by, None if half is None else half / by)).replace(
            " ± ", "&nbsp;±&nbsp;"
        )

    names = [row.name(table.axes) for row in best]
    said = ", ".join(names[:_NAMED]) + (
        f" and {len(names) - _NAMED} more" if names[_NAMED:] else ""
    )
    unit = f' <span class="unit">{what.unit}</span>' if what.unit else ""
    label = html.escape(what._replace(unit="").said())
    top = f'<b class="best">▸&nbsp;{cell(best[0])}</b>' if best else ""
    return (
        f'<tr data-measure="{html.escape(path)}" data-best="{html.escape(", ".join(names))}">'
        f'<th scope="row">{label}{unit}</th><td class="number">{cell(first)}</td>'
        f'<td class="number">{top}</td><td><b class="run s1">{html.escape(said)}</b></td></tr>\n'
    )
