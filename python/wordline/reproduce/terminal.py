"""The claims of a paper in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from wordline.reproduce.claims import (
    CALIBRATION,
    DEVIATES,
    HOLDS,
    NO_CAUSE,
    NOT_RUN,
    Judged,
    verdict,
)

COLOURS = {HOLDS: "green", DEVIATES: "red", CALIBRATION: "cyan", NOT_RUN: "yellow"}


def show(judged: Sequence[Judged], note: str) -> None:
    """Print every claim, then what deviates with the cause of it, then how many hold."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("verdict", "claim", "where", "must be", "came out"):
        table.add_column(head, justify="right" if head == "came out" else "left", overflow="fold")
    for j in judged:
        colour = COLOURS[j.verdict]
        came = "" if j.figure is None else j.claim.shown(j.figure)
        mark = j.verdict if j.is_met or j.verdict != CALIBRATION else "calibration, not met"
        table.add_row(f"[{colour}]{mark}[/]", j.claim.id, j.claim.where, j.claim.allowed, came)
    console.print(table, highlight=False)
    by_cause: dict[str, list[Judged]] = {}
    for j in judged:
        if j.verdict == DEVIATES:
            by_cause.setdefault(j.cause or NO_CAUSE, []).append(j)
    for cause, deviating in by_cause.items():
        for j in deviating:
            console.print(f"[red]{j.claim.id}[/]: {j.claim.says}", highlight=False)
        console.print(f"  {cause}\n", highlight=False, markup=False)
    console.print(verdict(judged), highlight=False)
    if note:
        console.print(note, highlight=False, markup=False)
