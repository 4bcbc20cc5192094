"""A page from Markdown: one HTML file, with its pictures embedded.

Sheet, script and heading block are those of every other page; the extension module has them
(``crates/report/assets``, ``crates/report/src/page/parts.rs``).
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from markdown_it import MarkdownIt

from wordline import _wordline

#: A cell longer than this is running text, and gets room for some words in a line.
_WORDS = 40
#: A name that is no longer than this stays whole.
_SHORT = 16
#: Behind these a long name may go on in the next line.
_BREAKS = re.compile(r"(?<=[-+:,=/_])(?=[^\s<&;])|(?<=\.)(?=[a-z])")
#: Inks of `wordline.plotting`, and what the sheet calls them, so that a picture has a dark side.
_INKS = {
    # The baseline of pictures that were drawn when it was grey.
    "#646c79": "--s0",
    "#6b7480": "--other",
    "#000000": "--ink",
    "#111111": "--ink",
    "#333333": "--ink",
    "#555555": "--soft",
    "#777777": "--soft",
    "#e4e4e4": "--grid",
}
#: White is the ground of a picture, but not of its text, which may stand on something dark.
_GROUNDS = {"#ffffff": "--card"}

#: As many sections stay unfolded.
_UNFOLDED = 3

#: The one piece of markup that a page may have, which GitHub folds, too: a title and what it folds.
FOLD = r"<p>&lt;details&gt;&lt;summary&gt;(.*?)&lt;/summary&gt;</p>"
_END_OF_FOLD = ("<p>&lt;/details&gt;</p>", "</details>")


class Part(NamedTuple):
    """A section of a page: its title, what it holds as HTML, and its finding in a few words."""

    title: str
    html: str
    finding: str = ""
    #: What an address ends in that leads there; from the title if it is empty.
    name: str = ""


def to_html(
    markdown: str,
    folder: Path,
    *,
    lead: str = "",
    facts: Sequence[tuple[str, str]] = (),
    command: str | None = None,
) -> str:
    """Return a page of Markdown as HTML, with the SVG pictures of a folder that it names in place.

    Its first line is its title. The heading has a lead of a sentence or two and words with their
    values. Many sections, below headings of the second level, are folded but for the first. The
    last one has the command that makes the page again.
    """
    first, _, rest = markdown.lstrip().partition("\n")
    text = body(rest, folder)
    head, *rest_of = re.split(r"<h2>(.*?)</h2>", text, flags=re.S)
    pairs = zip(rest_of[::2], rest_of[1::2], strict=True)
    found = [Part(_plain(title), inside) for title, inside in pairs]
    again = [Part("Reproduce", copied(command), "The command of this page.")] if command else []
    if len(found) > _UNFOLDED:
        text = head + _wordline.parts([*found, *again], "Summary")
    elif found:
        text += "".join(f"<h2>{part.title}</h2>\n{part.html}" for part in again)
    return _wordline.page(
        title=first.lstrip("# "),
        lead=lead,
        facts=list(facts),
        command=None if found else command,
        body=text,
    )


def write(markdown: str, folder: Path, **how: Any) -> Path:
    """Write the page of `to_html` as index.html into a folder; return its path."""
    path = folder / "index.html"
    path.write_text(to_html(markdown, folder, **how), encoding="utf-8")
    return path


def copied(command: str) -> str:
    """Return a command as HTML, with a button that copies it."""
    return (
        '<div class="code command"><button type="button">copy</button>'
        f"<pre><code>{html.escape(command)}</code></pre></div>\n"
    )


def body(markdown: str, folder: Path = Path()) -> str:
    """Return the body of a page below its heading; pictures come from a folder."""
    # What looks like HTML is text: a page has no markup but its own.
    text = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    text = re.sub(FOLD, r"<details>\n<summary>\1</summary>", text).replace(*_END_OF_FOLD)
    # Code is copied as it is: no break is bound in it.
    parts = re.split(r"(<pre>.*?</pre>|<code>.*?</code>)", text, flags=re.S)
    parts[::2] = [part.replace(" ± ", "&nbsp;±&nbsp;") for part in parts[::2]]
    text = "".join(parts)
    numbers = itertools.count(1)
    text = re.sub(r"<table>.*?</table>", lambda m: _table(m, next(numbers)), text, flags=re.S)
    text = re.sub(r"<pre>(.*?)</pre>", _code, text, flags=re.S)
    pictures = _Pictures(folder)
    text = re.sub(r"(?:<p>)?<img [^>]*>(?:</p>)?", pictures.inline, text)
    text = re.sub(r'<p>Data: <a href="([^"/:]+\.csv)">.*?</a></p>\n?', pictures.data_once, text)
    return re.sub(r'<a href="([^"/:]+\.csv)">', pictures.data_link, text)


def _code(match: re.Match[str]) -> str:
    # A command is copied without the end of its line: it waits for the key that runs it.
    code = match[1].replace("\n</code>", "</code>")
    return f'<div class="code command"><button type="button">copy</button><pre>{code}</pre></div>'


#: What stands in a column of figures: a number, perhaps with its interval, unit or sign.
_FIGURE = re.compile(r"[-+−±×%\d.,\s\u00a0–]*(?:of [\d,]+)?")  # noqa: RUF001
_CELL = re.compile(r"<(t[hd])((?:\s[^>]*)?)>(.*?)</\1>", re.S)


def _plain(content: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", content)).strip()


def _table(match: re.Match[str], number: int) -> str:
    """Put a table into its box, with whole names, figures to the right, room for words."""
    rows = re.findall(r"<tr>(.*?)</tr>", match[0], re.S)
    cells = [[_plain(content) for _, _, content in _CELL.findall(row)] for row in rows[1:]]
    columns = list(zip(*cells, strict=True))
    figures = [any(c) and all(map(_FIGURE.fullmatch, c)) for c in columns]

    def in_row(row: re.Match[str]) -> str:
        at = iter(figures or [False] * row[0].count("<th"))

        def cell(found: re.Match[str]) -> str:
            tag, attributes, content = found.groups()
            # A head without a word heads nothing.
            tag = tag if _plain(content) else "td"
            classes = ["number"] if next(at) or "right" in attributes else []
            if len(_plain(content)) > _WORDS:
                classes.append("words")
            elif len(_plain(content)) > _SHORT:
                classes.append("phrase")
            elif "-" in content or (tag == "td" and " " in _plain(content)):
                classes.append("whole")
            named = f' class="{" ".join(classes)}"' if classes else ""
            # Only text between tags may be broken.
            parts = re.split(r"(<[^>]*>)", content)
            if len(_plain(content)) > _SHORT:
                parts[::2] = [_BREAKS.sub("<wbr>", part) for part in parts[::2]]
            return f"<{tag}{named}>{''.join(parts)}</{tag}>"

        return _CELL.sub(cell, row[0])

    table = re.sub(r"<tr>.*?</tr>", in_row, match[0], flags=re.S)
    head = [_plain(content) for _, _, content in _CELL.findall(rows[0])] if rows else []
    name = html.escape(f"Table {number}: {', '.join(head)}"[:120])
    box = f'class="scroll" tabindex="0" role="region" aria-label="{name}"'
    return f"<div {box}>\n{table}\n</div>"


def _holding(path: Path) -> str:
    """Return the begin of a link that downloads a file of data from the page itself."""
    text = quote(path.read_text(encoding="utf-8"))
    return f'<a download="{html.escape(path.name)}" href="data:text/csv;charset=utf-8,{text}">'


class _Pictures:
    """Puts pictures in the place of their names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 0
        #: Data that a link below a picture holds.
        self.held: set[str] = set()
        baseline, schemes = _wordline.colours()
        self.inks = {**_INKS, **{c.lower(): f"--s{i}" for i, c in enumerate([baseline, *schemes])}}

    def inline(self, match: re.Match[str]) -> str:
        """Return the picture that a tag names, or the tag where there is none."""
        source = re.search(r'src="([^"]+\.svg)"', match[0])
        said = re.search(r'alt="([^"]*)"', match[0])
        if not source or not (self.folder / source[1]).is_file():
            return match[0]
        self.number += 1
        svg = (self.folder / source[1]).read_text(encoding="utf-8")
        svg = svg[svg.index("<svg") :]
        # Names within a picture are unique in the page only with a prefix of its own.
        for found in set(re.findall(r'\bid="([^"]+)"', svg)):
            own = f"f{self.number}-{found}"
            for place in ('id="{}"', "#{})", 'href="#{}"'):
                svg = svg.replace(place.format(found), place.format(own))
        # A sheet within a picture would hold for the whole page.
        svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.S)
        svg = re.sub(r"<(?!text)[^>]*>", lambda tag: self._dyed(tag[0], _GROUNDS), svg)
        svg = self._dyed(svg, self.inks)
        says = f' aria-label="{said[1]}"' if said else ""
        path = self.folder / source[1].replace(".svg", ".csv")
        data = ""
        if path.is_file():
            self.held.add(path.name)
            data = f'<p class="caption">{_holding(path)}data as CSV</a></p>'
        return (
            f'<figure class="own"><div class="plot" tabindex="0" role="group"{says}>'
            f"{svg}</div>{data}</figure>"
        )

    def data_once(self, match: re.Match[str]) -> str:
        """Return a line that links to data; nothing where a picture holds them."""
        return "" if match[1] in self.held else match[0]

    def data_link(self, match: re.Match[str]) -> str:
        """Return the begin of a link that holds a file of data, so that the page can be sent."""
        path = self.folder / match[1]
        return _holding(path) if path.is_file() else match[0]

    @staticmethod
    def _dyed(svg: str, inks: dict[str, str]) -> str:
        for colour, name in inks.items():
            svg = re.sub(rf"(fill|stroke): {colour}\b", rf"\1: var({name})", svg)
        return svg


def row(cells: list[str]) -> str:
    """Return a row of a Markdown table; bars within cells are kept."""
    return "| " + " | ".join(c.replace("|", "\\|").replace("\n", " ") for c in cells) + " |\n"


def table(head: list[str], rows: list[list[str]], right: int = 0) -> str:
    """Return a Markdown table, its last `right` columns to the right."""
    rule = ["---"] * (len(head) - right) + ["---:"] * right
    return row(head) + row(rule) + "".join(row(cells) for cells in rows)
