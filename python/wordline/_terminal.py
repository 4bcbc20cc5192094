"""Tables for the terminal, as tests and fits of drives print them."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: Sequence[int] = (0,),
    title: str | None = None,
) -> Table:
    """Return a table; the columns `left` are left-aligned, all others right."""
    found = Table(title=title, title_justify="left", title_style="", box=box.SIMPLE_HEAD)
    for at, head in enumerate(heads):
        found.add_column(head, justify="left" if at in left else "right")
    for row in rows:
        found.add_row(*row)
    return found


def printed(*shown: Table | str, width: int = 110) -> str:
    """Return tables and lines as rich prints them, without the blanks that fill each line."""
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    for each in shown:
        console.print(each, soft_wrap=isinstance(each, str))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def lines(heads: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Return a table as text, without blank lines around it."""
    return printed(table(heads, rows, left=left)).strip("\n")
