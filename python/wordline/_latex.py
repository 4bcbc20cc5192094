"""Tables for papers: LaTeX with booktabs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from wordline._measures import Measure, rounded, scaled, shown

#: A mean, and half of its 95 % interval where there is one.
Figure = tuple[float, float | None]

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
    """Return a text as LaTeX prints it, whatever characters it has."""
    return "".join(_ESCAPED.get(char, char) for char in text)


def table(
    heads: Sequence[str],
    rows: Sequence[tuple[Sequence[str], Mapping[str, Figure | None]]],
    paths: Sequence[str],
    *,
    caption: str | None = None,
    label: str | None = None,
) -> str:
    """Return rows as a table: their names to the left, then a column a figure, units in the heads.

    With a caption or a label it is a ``table`` that floats, else a ``tabular`` alone.
    """
    columns = [[figures[path] for _, figures in rows] for path in paths]
    scales = [
        scaled(path, [figure[0] for figure in column if figure])
        for path, column in zip(paths, columns, strict=True)
    ]
    lines = [
        rf"\begin{{tabular}}{{{'l' * len(heads)}{'r' * len(paths)}}}",
        r"\toprule",
        *_heads(heads, [measure for measure, _ in scales]),
        r"\midrule",
    ]
    for names, figures in rows:
        cells = [escape(name) for name in names]
        for path, (_, by) in zip(paths, scales, strict=True):
            cells.append(_cell(figures[path], by))
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if caption is not None or label is not None:
        above = [r"\begin{table}", r"\centering"]
        above += [] if caption is None else [rf"\caption{{{escape(caption)}}}"]
        above += [] if label is None else [rf"\label{{{label}}}"]
        lines = [*above, *lines, r"\end{table}"]
    return "% needs \\usepackage{booktabs}\n" + "\n".join(lines)


def _heads(heads: Sequence[str], measures: Sequence[Measure]) -> list[str]:
    """Return the heads: figures of one name and unit side by side have it once, above them."""

    def key(measure: Measure) -> tuple[str, str]:
        return measure.name, measure.unit

    above, rules, below = [""] * len(heads), [], [escape(head) for head in heads]
    at = len(heads) + 1
    for (name, unit), group in itertools.groupby(measures, key):
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


def _cell(figure: Figure | None, by: float) -> str:
    if figure is None:
        return "--"
    mean, half = (None if part is None else part / by for part in figure)
    if mean is None or not half or not 1e-4 <= half < 1e7:
        return escape(shown((mean or 0.0, half)))
    return rf"{rounded(mean, half)} $\pm$ {rounded(half, half)}"
