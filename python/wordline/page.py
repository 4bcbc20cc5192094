"""A page for a browser from Markdown: one file, with the pictures in it."""

from __future__ import annotations

import html
import re
from pathlib import Path

from markdown_it import MarkdownIt

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --soft: #5c6773; --line: #dfe3e8; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #9aa5b1; --line: #3a424c; --paper: #14181d; }
  figure { background: #fff; }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 72rem; margin: 2rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; } h2 { margin-top: 2.4rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; font-size: .82rem; display: block; overflow-x: auto; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; font-variant-numeric: tabular-nums; }
td:first-child { white-space: nowrap; }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
figure { margin: 1.2rem 0; padding: .6rem; border: 1px solid var(--line); border-radius: 6px; }
figure svg { max-width: 100%; height: auto; display: block; margin: auto; }
code { font-size: .9em; } pre { overflow-x: auto; padding: .8rem; border: 1px solid var(--line); }
a { color: #2f8fc4; }
"""


def to_html(markdown: str, folder: Path) -> str:
    """Return a page of Markdown as HTML, with the SVG pictures that it names in place.

    Parameters
    ----------
    markdown
        The text; its first line is its title.
    folder
        Where the pictures are.
    """
    title = markdown.lstrip().splitlines()[0].lstrip("# ")
    body = MarkdownIt("commonmark").enable("table").render(markdown)
    body = body.replace(" ± ", "&nbsp;±&nbsp;")
    number = 0

    def inline(match: re.Match[str]) -> str:
        nonlocal number
        source = re.search(r'src="([^"]+\.svg)"', match[0])
        if not source or not (folder / source[1]).is_file():
            return match[0]
        number += 1
        svg = (folder / source[1]).read_text(encoding="utf-8")
        svg = svg[svg.index("<svg") :]
        # Names within a picture are unique in the page only with a prefix of its own.
        for found in set(re.findall(r'\bid="([^"]+)"', svg)):
            own = f"f{number}-{found}"
            svg = svg.replace(f'id="{found}"', f'id="{own}"').replace(f"#{found})", f"#{own})")
            svg = svg.replace(f'href="#{found}"', f'href="#{own}"')
        return f"<figure>{svg}</figure>"

    body = re.sub(r"<img [^>]*>", inline, body)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def row(cells: list[str]) -> str:
    """Return a row of a Markdown table; bars within cells are kept."""
    return "| " + " | ".join(c.replace("|", "\\|").replace("\n", " ") for c in cells) + " |\n"


def table(head: list[str], rows: list[list[str]], right: int = 0) -> str:
    """Return a Markdown table, its last `right` columns to the right."""
    rule = ["---"] * (len(head) - right) + ["---:"] * right
    return row(head) + row(rule) + "".join(row(cells) for cells in rows)


def tables_by_reason(head: list[str], rows: list[tuple[str, list[str]]]) -> str:
    """Return Markdown tables, each below the reason that its rows share, in the order they come.

    Parameters
    ----------
    head
        Of every table.
    rows
        A reason and the cells of a row.
    """
    by_reason: dict[str, list[list[str]]] = {}
    for reason, cells in rows:
        by_reason.setdefault(reason, []).append(cells)
    return "\n".join(f"{reason}\n\n{table(head, cells)}" for reason, cells in by_reason.items())
