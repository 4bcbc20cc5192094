"""Tables for papers: LaTeX with booktabs."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from operator import attrgetter

from wordline._measures import Measure, Spread, divided, measure, rounded, scaled, shown

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "µ": r"\textmu{}",
    "·": r"\textperiodcentered{}",
    "±": r"$\pm$",
    "–": "--",  # noqa: RUF001
    **{char: f"\\{char}" for char in "&%$#_"},
}


def escape(text: str) -> str:
    """Return a text escaped for LaTeX."""
    return "".join(_ESCAPED.get(char, char) for char in text)


def table(
    heads: Sequence[str],
    rows: Sequence[tuple[Sequence[str], Mapping[str, Spread | None]]],
    paths: Sequence[str],
    *,
    caption: str | None = None,
    label: str | None = None,
) -> str:
    """Return rows as a table: names on the left, one column per figure, units in the heads.

    With a caption or a label it is a floating ``table``, else a ``tabular``.
    """
    scales = _scales(rows, paths)
    lines = [
        rf"\begin{{tabular}}{{{'l' * len(heads)}{'r' * len(paths)}}}",
        r"\toprule",
        *_heads(heads, [measure for measure, _ in scales]),
        r"\midrule",
    ]
    columns = [
        _cells([figures[path] for _, figures in rows], by)
        for path, (_, by) in zip(paths, scales, strict=True)
    ]
    for (names, _), *cells in zip(rows, *columns, strict=True):
        lines.append(" & ".join([*map(escape, names), *cells]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if caption is not None or label is not None:
        above = [r"\begin{table}", r"\centering"]
        above += [] if caption is None else [rf"\caption{{{escape(caption)}}}"]
        above += [] if label is None else [rf"\label{{{label}}}"]
        lines = [*above, *lines, r"\end{table}"]
    return "% needs \\usepackage{booktabs}\n" + "\n".join(lines)


def _scales(
    rows: Sequence[tuple[Sequence[str], Mapping[str, Spread | None]]], paths: Sequence[str]
) -> list[tuple[Measure, float]]:
    """Return the unit of each column: neighbors with the same name share it."""
    scales = []
    for _, of_a_name in itertools.groupby(paths, lambda path: measure(path).name):
        group = list(of_a_name)
        found = [figures[path] for _, figures in rows for path in group]
        values = [figure[0] for figure in found if figure]
        scales += [scaled(path, values) for path in group]
    return scales


def _heads(heads: Sequence[str], measures: Sequence[Measure]) -> list[str]:
    """Return the heads: neighbors with the same name and unit share one head."""
    above, rules, below = [""] * len(heads), [], [escape(head) for head in heads]
    at = len(heads) + 1
    for (name, unit), group in itertools.groupby(measures, attrgetter("name", "unit")):
        points = [measure.point for measure in group]
        text = escape(f"{name} ({unit})" if unit else name)
        if any(points):
            above.append(rf"\multicolumn{{{len(points)}}}{{c}}{{{text}}}")
            rules.append(rf"\cmidrule(lr){{{at}-{at + len(points) - 1}}}")
            below += [escape(point) for point in points]
        else:
            above.append("")
            below += [text] * len(points)
        at += len(points)
    line = re.sub(" +", " ", " & ".join(above)).strip()
    first = [line + r" \\", *rules] if any(above) else []
    return [*first, " & ".join(below) + r" \\"]


def _cells(column: Sequence[Spread | None], by: float) -> list[str]:
    """Return the cells of a column, with equal decimals if no figure has an interval."""
    scaled_by = [figure and divided(figure, by) for figure in column]
    means = [abs(figure[0]) for figure in scaled_by if figure]
    decimals = None
    if any(means) and not any(figure[1] for figure in scaled_by if figure):
        # Four digits of the largest, as far as any has them.
        needed = max(len(f"{mean:.4g}".partition(".")[2]) for mean in means)
        decimals = min(max(3 - math.floor(math.log10(max(means))), 0), needed)
        # Two digits of the smallest, and none in powers of ten.
        if max(means) >= 1e7 or any(0 < mean < 10 ** (1 - decimals) for mean in means):
            decimals = None
    return [_cell(figure, decimals) for figure in scaled_by]


def _cell(figure: Spread | None, decimals: int | None) -> str:
    if figure is None:
        return "--"
    mean, half = figure
    if decimals is not None:
        return f"{mean:,.{decimals}f}"
    if not half or not 1e-4 <= half < 1e7:
        return escape(shown((mean, half)))
    return rf"{rounded(mean, half)} $\pm$ {rounded(half, half)}"
