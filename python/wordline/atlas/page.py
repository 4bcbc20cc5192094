"""The page of an atlas: one file, offline, in which a reader asks for his own conditions."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from string import Template

from wordline import UserError, _wordline
from wordline import page as pages
from wordline.atlas.cells import Atlas
from wordline.atlas.design import FACTORS

_HERE = Path(__file__).parent
SCRIPT = _HERE / "atlas.js"

#: What stands before the data.
_DATA = '<script type="application/json" id="atlas-data">'

#: What is said of tuned schemes below the map.
_TUNED = """
A row <i>tuned</i> is the scheme above it with parameters that a search found on other workloads and
seeds. The best choice is always among published parameters."""

#: What is chosen, in the order of the page: its key and its label.
_CONTROLS = (("drive", "drive"), ("measure", "what counts"), *FACTORS.items())


def to_html(
    atlas: Atlas,
    command: str,
    findings: Sequence[str],
    of_papers: Sequence[str],
    sections: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the page of an atlas, with the command that makes it again.

    The first of its findings opens it; behind them come sections, each a title and Markdown, and a
    sentence for each paper.
    """
    cells = [c for drive in atlas.drives for place in drive.places for c in place.cells.values()]
    runs, steady = (
        atlas.seeds * sum(not c.why for c in cells),
        sum(c.steadiness.steady for c in cells),
    )
    parts = [pages.Part("Every scheme", _map(atlas), "Choose a cell to see all of its measures.")]
    if further := findings[1:]:
        text = f'<ol class="findings">{_listed(further)}</ol>'
        parts.append(pages.Part("Findings", text, f"{len(further)} more."))
    parts += [pages.Part(title, pages.body(text)) for title, text in sections]
    if of_papers:
        text = f'<ul class="findings">{_listed(of_papers)}</ul>'
        parts.append(pages.Part("Where each paper's scheme is the best choice", text, "", "papers"))
    said = "The command that makes this page again."
    parts.append(pages.Part("Reproduce", pages.copied(command), said))
    conditions = max(len(drive.places) for drive in atlas.drives)
    facts = [
        ("drives", ", ".join(drive.title for drive in atlas.drives)),
        ("conditions of each", str(conditions)),
        ("seeds of each run", str(atlas.seeds)),
        ("runs", f"{runs:,}"),
    ]
    if not atlas.is_finite:
        facts.append(("steady", f"{steady:,} of {runs:,} runs"))
    return _wordline.page(
        title=atlas.title,
        lead=findings[0].replace("`", "") if findings else "",
        facts=facts,
        command=None,
        body=_decision(atlas, command) + _wordline.parts(parts, "Decision") + _data(atlas),
    )


def longer(command: str, atlas: Atlas) -> str:
    """Return the command with as many requests as the answers that are not known yet take.

    It is empty where none of their runs says how many those are.
    """
    words = shlex.split(command)
    if "--traces" in words:
        # Real traces are as long as they are.
        words = ["wordline", "atlas"]
    places = (place for drive in atlas.drives for place in drive.places)
    requests = max((c.steadiness.needed for p in places for c in p.cells.values()), default=0)
    if not requests:
        return ""
    before = ""
    if "--workload" in words:
        at = words.index("--workload") + 1
        before, words[at] = _repeated(words[at], requests)
    if "--requests" in words:
        words[words.index("--requests") + 1] = str(requests)
    else:
        words += ["--requests", str(requests)]
    return before + shlex.join(words)


#: Options of a trace that say how it is run, not how its file is read.
_OF_RUNS = ("fit", "closed", "speedup", "requests", "duration", "bytes", "think", "burst", "rest")


def _repeated(workload: str, requests: int) -> tuple[str, str]:
    """Return the command that repeats a trace of fewer requests, and the workload that results."""
    try:
        recorded = json.loads(_wordline.inspect(workload))["requests"]
    except (UserError, OSError, ValueError):
        # No trace, so that it has as many requests as it is asked for.
        return "", workload
    if recorded >= requests:
        return "", workload
    name, _, options = workload.partition(":")
    given = [option for option in options.split(",") if option]
    of_runs = [option for option in given if option.partition("=")[0] in _OF_RUNS]
    read = [option for option in given if option not in of_runs]
    times = str(-(-requests // recorded))
    file = ":".join([name, *([",".join(read)] if read else [])])
    longer = _longer_name(name)
    loop = ["wordline", "trace", "loop", file, longer, "--times", times]
    return shlex.join(loop) + "\n", ":".join([longer, *([",".join(of_runs)] if of_runs else [])])


def _longer_name(file: str) -> str:
    """Return the name of a repeated trace, which is not that of the trace itself.

    >>> [_longer_name(name) for name in ("mine.csv", "out/longer.wl", "longer-2.wl")]
    ['longer.wl', 'longer-2.wl', 'longer-3.wl']
    """
    found = re.fullmatch(r"(?:.*/)?longer(?:-(\d+))?\.wl", file)
    return f"longer-{int(found[1] or 1) + 1}.wl" if found else "longer.wl"


def _select(key: str, label: str) -> str:
    return f'<label>{html.escape(label)}<select id="atlas-{key}"></select></label>'


def _offered(of: str, name: str) -> str:
    """Return the link to what a picture shows; the script fills it."""
    link = f'<a id="atlas-{of}-csv" download="{name}.csv" href="#top">data as CSV</a>'
    return f'<p class="caption" hidden>{link}</p>'


def _filled(name: str, **parts: str) -> str:
    """Return a piece of HTML of this folder with its places filled."""
    return Template((_HERE / name).read_text(encoding="utf-8")).substitute(parts)


def _decision(atlas: Atlas, command: str) -> str:
    """Return the head of the page: conditions to choose, what to take, and gain against cost."""
    return _filled(
        "decision.html",
        controls="".join(_select(key, label) for key, label in _CONTROLS),
        cost=_select("cost", "cost"),
        data=_offered("frontier", "gain-and-cost"),
        longer=html.escape(longer(command, atlas).replace("\n", " && ")),
    )


def _listed(sentences: Sequence[str]) -> str:
    return "".join(f"<li>{_marked(sentence)}</li>" for sentence in sentences)


def _map(atlas: Atlas) -> str:
    is_tuned = any(drive.further for drive in atlas.drives)
    controls = [("columns", "columns"), ("pairs", "schemes")]
    controls += [("tuned", "parameters")] if is_tuned else []
    return _filled(
        "map.html",
        controls="".join(_select(key, label) for key, label in controls),
        tuned=_TUNED if is_tuned else "",
        data=_offered("map", "every-scheme"),
    )


def _data(atlas: Atlas) -> str:
    # `</` would end the element; JSON may write the solidus as it likes.
    data = atlas.to_json().replace("</", "<\\/")
    script = SCRIPT.read_text(encoding="utf-8")
    return f"{_DATA}{data}</script>\n<script>{script}</script>\n"


def _marked(sentence: str) -> str:
    """Return a sentence of Markdown, which has no more than code and bold, as HTML."""
    text = re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(sentence))
    return re.sub(r"\*\*(.*?)\*\*", r"<b>\1</b>", text)
