"""The decision of a sweep: measures with their best combinations, and benefit against cost."""

from __future__ import annotations

import html
from collections.abc import Sequence

from wordline._measures import brief, divided, measure, scaled
from wordline.steady import Steady
from wordline.sweeps import heat
from wordline.sweeps.frontier import Axis
from wordline.sweeps.table import Combination, Table

#: Candidates for benefit and cost; the first of each that differs is used.
_GAINS = (
    *("latency_us.write.p99", "latency_us.write.p999", "latency_us.write.mean"),
    *("latency_us.read.p99", "latency_us.read.p999", "latency_us.read.mean", "throughput.iops"),
)
_COSTS = ("lifetime.total_bytes_written", "waf.total", *_GAINS[3:])
#: Maximum number of measures.
_MEASURES = 6


def tradeoff(table: Table) -> tuple[Axis, Axis] | None:
    """Return cost and benefit of a sweep; None if no two figures of the table differ.

    None too if workloads or initial states vary: no combination is better for an easier workload.
    """
    if heat.given(table):
        return None

    def first(paths: Sequence[str], but: str = "") -> str | None:
        differ = (path for path in paths if path != but and path in table.paths)
        return next((path for path in differ if not heat.is_alike(_values(table, path))), None)

    gain = first(_GAINS)
    cost = first(_COSTS, gain or "")
    if gain is None or cost is None:
        return None
    x, y = (Axis(path, measure(path).better == "higher") for path in (cost, gain))
    return x, y


def _values(table: Table, path: str) -> list[float]:
    return [figure[0] for row in table.rows if (figure := row.figures[path])]


def winner(table: Table) -> Combination | None:
    """Return the combination that the verdict names; None without one for all workloads."""
    if heat.given(table):
        return None
    found = (heat.best(table, path) for path in table.paths)
    return next((best[0] for best in found if best), None)


def block(table: Table, scatter: str, rests: Steady) -> str:
    """Return the head of the page as HTML: one row per measure, and the scatter plot.

    ``rests`` says what is known about the steadiness of all runs.
    """
    table = heat.effective(table)
    first = table.rows[0]
    paths = [path for path in table.paths if not heat.is_alike(_values(table, path))][:_MEASURES]
    if not paths:
        return scatter
    # A long name has one line per axis.
    name = "<br>".join(html.escape(heat.called(first, [axis])) for axis in table.axes)
    rows = "".join(_row(table, path, first, rests.is_enough) for path in paths)
    box = 'class="scroll" tabindex="0" role="region" aria-label="Measures that decide"'
    says = html.escape(certainty(table, rests))
    return (
        '<div id="decision">\n<h2 class="away">Decision</h2>\n'
        f'<div><div {box}><table class="deciding"><thead><tr><th scope="col">measure</th>'
        f'<th scope="col" class="number"><b class="run s0">{name}</b><small>first</small></th>'
        f'<th scope="col">best of {_choices(table)}</th></tr></thead>\n'
        f"<tbody>\n{rows}</tbody></table></div>"
        f'<p class="caption" id="certainty">{says}</p></div>\n{scatter}</div>\n'
    )


def _choices(table: Table) -> str:
    """Return how many combinations there are to choose from, under how many conditions."""
    parts = heat.by_condition(table)
    most = max(len(part.measured) for part in parts)
    return f"{most} under each of {len(parts)} conditions" if len(parts) > 1 else str(most)


def certainty(table: Table, rests: Steady) -> str:
    """Return how certain the decision is."""
    text = f"{rests}."
    if nothing := heat.without_effect(table):
        axes, change = " and ".join(nothing), "change" if len(nothing) > 1 else "changes"
        text += f" {axes} {change} no figure of the table."
    if without := len(table.rows) - len(table.measured):
        text += f" {without} of {len(table.rows)} combinations have no figures."
    if not rests.is_enough and rests.longer:
        text += f" Run longer: {rests.longer}."
    if any(figure and figure[1] is not None for r in table.rows for figure in r.figures.values()):
        return text + " ± is half of the 95 % confidence interval over the seeds (Student's t)."
    return text + " One seed, so no confidence intervals; --replicas 5 gives them."


def _row(table: Table, path: str, first: Combination, is_known: bool) -> str:
    what, by = scaled(path, _values(table, path))
    best = heat.best(table, path)

    def cell(row: Combination) -> str:
        figure = row.figures[path]
        return brief(figure and divided(figure, by)).replace(" ± ", "&nbsp;±&nbsp;")

    names = [heat.called(row, table.axes) for row in best]
    unit = f' <span class="unit">{what.unit}</span>' if what.unit else ""
    label = html.escape(what.brief())
    said = ""
    if best:
        who = f'<b class="run {"s1" if is_known else "other"}">{html.escape(names[0])}</b>'
        more = f' <span class="soft">and {len(names) - 1} more</span>' if names[1:] else ""
        said = f'<b class="best">▸&nbsp;{cell(best[0])}</b> {who}{more}'
        if heat.given(table):
            said = "<br>".join(
                f'<b class="best">▸&nbsp;{cell(row)}</b> '
                f'<b class="run other">{html.escape(name)}</b>'
                for row, name in zip(best, names, strict=True)
            )
    return (
        f'<tr data-measure="{html.escape(path)}" data-best="{html.escape(", ".join(names))}">'
        f'<th scope="row">{label}{unit}</th><td class="number">{cell(first)}</td>'
        f'<td class="who" style="white-space: normal">{said}</td></tr>\n'
    )
