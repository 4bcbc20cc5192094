"""Rows as text: aligned for a terminal, piped for a page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby

from wordline_lab.validate.runner import Row

WIDTH = 112
COLUMNS = ("quantity", "theirs", "ours", "", "deviation", "allowed")


def number(value: float) -> str:
    """Return four significant digits, or a whole number as it is."""
    value = round(value, 6)  # a mean in us, held as a float, was whole in ns
    if float(value).is_integer() and abs(value) >= 1:
        return f"{int(value):,}"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.1f}"


def _cells(row: Row) -> list[str]:
    outcome, tolerance = row.outcome, row.claim.tolerance
    if outcome.ends is not None and tolerance is None:
        ours = f"{number(outcome.ends[0])} to {number(outcome.ends[1])}"
        return [row.claim.quantity, number(row.theirs), ours, "", "", "within"]
    half = "" if outcome.half_width is None else f"± {float(f'{outcome.half_width:.1g}'):g}"
    deviation = "0" if row.deviation == 0 else f"{100 * row.deviation:+.2f} %"
    if abs(row.deviation) < 5e-5:
        deviation = "0" if tolerance == 0 else deviation.replace("-", "").replace("+", "")
    allowed = f"± {100 * tolerance:g} %" if tolerance else "exact"
    return [row.claim.quantity, number(row.theirs), number(outcome.ours), half, deviation, allowed]


def _verdict(row: Row) -> str:
    return "" if row.holds else ("reason" if row.claim.reason else "FAILS")


def _remarks(row: Row) -> list[str]:
    """Return what stands beneath a row that does not hold."""
    if row.holds:
        return []
    return [text for text in (row.outcome.wrong, row.claim.reason) if text]


def terminal(rows: Sequence[Row], *, colour: bool) -> str:
    """Return the table for a terminal of `WIDTH` columns."""

    def painted(text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if colour else text

    cells = [[*_cells(row), _verdict(row)] for row in rows]
    width = [max(map(len, column)) for column in zip(*cells, [*COLUMNS, ""], strict=True)]
    # Rows are set in by two, beneath the name of their group.
    width[0] = max([2 + width[0], *(len(row.claim.group) for row in rows)])
    width[0] = min(width[0], WIDTH - sum(width[1:]) - 12)
    out = []
    for group, members in groupby(zip(rows, cells, strict=True), lambda pair: pair[0].claim.group):
        each = list(members)
        out.append("")
        heading = [group, *COLUMNS[1:]]
        line = "  ".join(
            text.ljust(w) if i in (0, 3) else text.rjust(w)
            for i, (text, w) in enumerate(zip(heading, width, strict=False))
        )
        out.append(painted(line.rstrip(), "1"))
        for row, texts in each:
            first, *rest = textwrap.wrap(texts[0], width[0] - 2)
            line = "  " + "  ".join(
                [first.ljust(width[0] - 2)]
                + [
                    text.ljust(w) if i == 2 else text.rjust(w)
                    for i, (text, w) in enumerate(zip(texts[1:6], width[1:6], strict=True))
                ]
            )
            if texts[6]:
                line += "  " + painted(texts[6], "33" if row.claim.reason else "1;31")
            out.append(line.rstrip())
            out += [" " * 4 + more for more in rest]
            for remark in _remarks(row):
                out += textwrap.wrap(
                    remark, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4
                )
    return "\n".join(out[1:])


def verdict(rows: Sequence[Row]) -> str:
    """Return the last line: how many rows hold, and which do not."""
    held = sum(row.holds for row in rows)
    explained = [row for row in rows if not row.holds and row.claim.reason]
    failed = [row for row in rows if not row.passes]
    text = f"{held} of {len(rows)} rows are within their tolerance"
    if explained:
        text += f", {len(explained)} outside with the reason beside it"
    if failed:
        text += f"; outside without one: {', '.join(row.claim.id for row in failed)}"
    return text


def _shared(row: Row) -> tuple[str, str, str]:
    """Return what rows of one table have in common."""
    return row.claim.group, row.claim.source, row.claim.why


def markdown(rows: Sequence[Row]) -> str:
    """Return the tables of the page, one for the rows that share source and tolerance."""
    out: list[str] = []
    group = ""
    for _, members in groupby(rows, _shared):
        each = list(members)
        claim = each[0].claim
        if claim.group != group:
            group = claim.group
            out += [f"### {group}", ""]
        allowed = _cells(each[0])[-1]
        out += [
            f"Theirs: {claim.source}. Allowed: {allowed} ({claim.why}).",
            "",
            "| quantity | theirs | ours | deviation |",
            "|---|---:|---:|---:|",
        ]
        for row in each:
            quantity, theirs, ours, half, deviation, _ = _cells(row)
            mark = "" if row.holds else " **outside**"
            ours = f"{ours} {half}".strip()
            out.append(f"| {quantity} | {theirs} | {ours} | {deviation}{mark} |")
        for row in each:
            if not row.holds:
                out += ["", f"*{row.claim.quantity}*: {' '.join(_remarks(row))}"]
        out.append("")
    return "\n".join(out)
