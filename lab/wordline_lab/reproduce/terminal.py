"""The results of a paper in the terminal: the requested figures first, then its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wordline_lab.reproduce import pieces
from wordline_lab.reproduce.claims import (
    CALIBRATION,
    DEPENDS,
    DEVIATES,
    ELSEWHERE,
    FULL_SCALE,
    HOLDS,
    NO_CAUSE,
    NOT_RUN,
    Judged,
)
from wordline_lab.reproduce.page import Written
from wordline_lab.reproduce.paper import Figure, Study
from wordline_lab.reproduce.sections import all_findings, cell, results_first
from wordline_lab.reproduce.verdicts import model_verdict, read_as, sizes, verdict

Rows = Sequence[Mapping[str, Any]]
COLOURS = {
    HOLDS: "green",
    DEPENDS: "magenta",
    DEVIATES: "red",
    CALIBRATION: "cyan",
    FULL_SCALE: "yellow",
}
#: Rows of a figure's table that are printed; all are in the file beside it.
ROWS = 40
#: Characters that a column of it needs at least.
COLUMN = 11


def show(study: Study, written: Written, judged: Sequence[Judged], folder: Path, hint: str) -> None:
    """Print the requested figures, then claims, causes, and how many hold."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    if not study.scope.is_full:
        _say(console, f"{study.paper.title}, {study.scope.words}", "bold")
    shown = [d for d in written.drawn if study.scope.figures or d[0].number == pieces.TABLE]
    if shown or study.scope.figures:
        _figures(console, shown, written, folder)
    own = results_first(_own(study, judged))
    there = [j for j in own if j.verdict != NOT_RUN]
    if there and study.scope.figures:
        _say(console, f"Claims on {study.scope.named}", "bold")
    if there:
        console.print(_table(there), highlight=False)
    _causes(console, study, own)
    for finding in all_findings(study, judged):
        _say(console, f"- {finding}")
    if own:
        of = "" if study.scope.is_full else f"; {study.scope.words}"
        _say(console, verdict(own, read_as(study)) + of, "bold")
        for said in filter(None, (sizes(own), model_verdict(own))):
            _say(console, said)
    others = [j for j in judged if j not in own]
    if any(j.is_tested for j in others):
        elsewhere = verdict(others, read_as(study))
        _say(console, f"On other figures, by the same runs: {elsewhere}; see {written.page}")
    for note in filter(None, (study.workloads, hint)):
        _say(console, note)


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(escape(text), highlight=False, style=style, soft_wrap=True)


def _figures(
    console: Console, shown: Sequence[tuple[Figure, Rows]], written: Written, folder: Path
) -> None:
    for figure, rows in shown:
        _say(console, f"\n{figure.label}: {figure.title}", "bold")
        # A table of many columns is wider than the terminal rather than a letter wide.
        wide = max(console.width, COLUMN * max((len(row) for row in rows), default=0))
        console.print(_rows(rows), highlight=False, width=wide, crop=False, soft_wrap=True)
        if len(rows) > ROWS:
            _say(console, f"and {len(rows) - ROWS} rows more")
        if figure.beside:
            _say(console, f"the paper: {figure.beside}")
        if figure.draw:
            _say(console, f"picture: {folder / figure.name}.svg")
        _say(console, f"data: {folder / figure.name}.csv")
    for figure, why in written.not_drawn:
        _say(console, f"\n{figure.label} is not drawn: {why}", "yellow")
    console.print()


def _rows(rows: Rows) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    for column in columns:
        numbers = any(isinstance(row.get(column), (int, float)) for row in rows)
        table.add_column(escape(column), justify="right" if numbers else "left", overflow="fold")
    for row in rows[:ROWS]:
        table.add_row(*(escape(cell(row.get(column))) for column in columns))
    return table


def _own(study: Study, judged: Sequence[Judged]) -> list[Judged]:
    """Return the claims on the figures asked for; all if none is named."""
    asked = study.scope.figures
    if not asked:
        return list(judged)
    numbers = [f.number for f in study.paper.figures if f.is_asked(asked)]
    return [j for j in judged if any(j.claim.is_of(number) for number in numbers)]


def _table(judged: Sequence[Judged]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("verdict", "kind", "claim", "where", "allowed", "measured"):
        table.add_column(head, justify="right" if head == "measured" else "left", overflow="fold")
    marks = {FULL_SCALE: "only at full scale"}
    for j in judged:
        mark = marks.get(j.verdict, j.verdict)
        mark = mark if j.is_met or j.verdict != CALIBRATION else "calibration, not met"
        kind = j.claim.kind
        what = (escape(t) for t in (kind, j.claim.id, j.claim.where, j.claim.allowed, j.came_out))
        table.add_row(f"[{COLOURS[j.verdict]}]{mark}[/]", *what)
    return table


def _causes(console: Console, study: Study, judged: Sequence[Judged]) -> None:
    """Print what deviates, each with the cause of it where it was found for such runs."""
    by_cause: dict[str, list[Judged]] = {}
    for j in judged:
        if j.verdict == DEVIATES:
            none = NO_CAUSE if study.is_as_explained else ELSEWHERE
            by_cause.setdefault(j.cause or none, []).append(j)
    for cause, deviating in by_cause.items():
        for j in deviating:
            console.print(f"[red]{escape(j.claim.id)}[/]: {escape(j.claim.says)}", highlight=False)
        _say(console, f"  {cause}\n")
