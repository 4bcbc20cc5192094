"""The results of a paper: the page, its figures with their data, and ``claims.json``."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wordline import UserError, plotting
from wordline import page as pages
from wordline_lab.reproduce import changes, open_points, sections, sentences
from wordline_lab.reproduce.claims import Judged
from wordline_lab.reproduce.paper import Figure, NotRun, Paper, Scope, Study
from wordline_lab.reproduce.registration import SHOWN, Registration
from wordline_lab.reproduce.verdicts import model_verdict, read_as, sizes, verdict

#: The files of a paper's folder by which its page is known.
PAGE, CLAIMS = "README.md", "claims.json"
#: The pages that the first one leads to, each with its heading.
FIGURES, CAUSES, EVERY, HISTORY = "figures.md", "causes.md", "claims.md", "changelog.md"
#: The file of its sentences, each with its rows.
SENTENCES = "sentences.csv"


def hint(study: Study, command: str) -> str:
    """List the omitted runs, and how to execute them; empty if there are none."""
    said = []
    if study.left_out:
        said.append(
            "Runs that only show why a claim deviates were left out "
            f"({', '.join(study.left_out)}); `{command} --causes` does them, too."
        )
    if study.paper.seeds and not study.all_seeds:
        groups = ", ".join(f"{name} {seeds}" for name, seeds in study.paper.seeds.items())
        said.append(
            f"Runs were made with one seed of several ({groups}); "
            f"`{command} --seeds` does the others, too, and gives intervals."
        )
    return " ".join(said)


@dataclass
class Written:
    """The written files.

    Attributes
    ----------
    page
        The page for a browser.
    drawn
        Figures and tables, each with its rows.
    not_drawn
        Those that need runs which were not made, each with the reason.
    paths
        Every file.
    """

    page: Path
    drawn: list[tuple[Figure, list[dict[str, Any]]]] = field(default_factory=list)
    not_drawn: list[tuple[Figure, str]] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)


def check_free(folder: Path, paper: Paper, scope: Scope) -> None:
    """Refuse to replace a page by one with a smaller scope.

    Raises
    ------
    UserError
        There is such a page.
    """
    there = found_scope(folder)
    if there and not scope.may_replace(there):
        raise UserError(
            f"{folder} has a page of {paper.name} {there.words}, which contains more than one "
            f"{scope.words}; choose another folder with --out, or delete that page"
        )


def found_scope(folder: Path) -> Scope | None:
    """Return the scope of the page in a folder, if there is one; full if it does not state one."""
    path = folder / CLAIMS
    if not path.exists():
        return Scope() if (folder / PAGE).exists() else None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return scope_of(found)
    except (ValueError, TypeError, KeyError) as e:
        raise UserError(f"{path}: not a file of wordline reproduce: {e}") from e


def scope_of(found: Mapping[str, Any]) -> Scope:
    """Return the scope of a ``claims.json``."""
    named = (tuple(found.get(key, ())) for key in ("figures", "only"))
    return Scope(int(found["scale"]), *named)


def write(
    study: Study,
    figures: Sequence[Figure],
    judged: Sequence[Judged],
    folder: Path,
    command: str,
    registered: Registration | None = None,
) -> Written:
    """Write page, pictures, data and claims; return the written files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = Written(folder / "index.html")
    for figure in figures:
        try:
            rows = figure.rows(study)
            written.paths += _figure(figure, study, rows, folder)
            written.drawn.append((figure, rows))
        except NotRun as e:
            written.not_drawn.append((figure, str(e)))
    written.paths += data(study, judged, folder, command, registered)
    further = _further(study, written, judged)
    texts = {PAGE: first(study, judged, command, further, registered)}
    texts |= {name: below_heading(study.paper, name, text) for name, text in further.items()}
    for name in (FIGURES, CAUSES, EVERY, HISTORY):
        (folder / name).unlink(missing_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    whole = "".join(_whole(study, judged, further))
    written.page.write_text(_html(study, judged, whole, folder, command), encoding="utf-8")
    written.paths += [*(folder / name for name in texts), written.page]
    return written


def _figure(
    figure: Figure, study: Study, rows: Sequence[Mapping[str, Any]], folder: Path
) -> list[Path]:
    """Write the picture of a figure, if it has one, and its data."""
    written = []
    if figure.draw:
        with plotting.style():
            picture = figure.draw(study)
            plotting.footnote(picture, study.workloads_of(figure.runs))
            written.append(folder / f"{figure.name}.svg")
            plotting.save(picture, written[-1])
    return [*written, _data(rows, folder / f"{figure.name}.csv")]


def _html(study: Study, judged: Sequence[Judged], text: str, folder: Path, command: str) -> str:
    """Return the page for a browser from its sections."""
    facts = [
        ("source", study.paper.source),
        ("workloads", study.workloads),
        ("left out", hint(study, command) if study.left_out else ""),
    ]
    return pages.to_html(
        f"# {study.paper.title}\n\n{text}",
        folder,
        lead=" ".join(headline(study, judged)),
        facts=[(what, said) for what, said in facts if said],
        command=command,
    )


def data(
    study: Study,
    judged: Sequence[Judged],
    folder: Path,
    command: str,
    registered: Registration | None,
) -> list[Path]:
    """Write ``claims.json`` and the table of sentences; return their paths."""
    found = {
        "paper": study.paper.name,
        "version": study.version,
        "scale": study.scale,
        "figures": list(study.scope.figures),
        "only": list(study.scope.only),
        "command": command,
        "explained": study.is_as_explained,
        "workloads": study.workloads,
        "findings": study.findings,
        "reading": list(study.scope.reading),
        "read_as": read_as(study),
        "readings_run": study.readings_run,
        "registered": registered.hash if registered else "",
        "verdict": verdict(judged, read_as(study)) if judged else "",
        "sizes": sizes(judged),
        "model": model_verdict(judged),
        "claims": [j.to_dict() for j in judged],
    }
    path = folder / CLAIMS
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if not study.paper.sentences:
        return [path]
    verdicts = {j.claim.id: j.verdict for j in judged}
    rows = sentences.table(study.paper.sentences, verdicts)
    return [path, _data(rows, folder / SENTENCES)]


def _data(rows: Sequence[Mapping[str, Any]], path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        columns = list(dict.fromkeys(key for row in rows for key in row))
        out = csv.DictWriter(file, columns, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    return path


def first(
    study: Study,
    judged: Sequence[Judged],
    command: str,
    further: Mapping[str, str],
    registered: Registration | None = None,
) -> str:
    """Return the first page as Markdown: results, findings, what deviates, readings, the runs."""
    paper = study.paper
    text = f"# {paper.title}\n\n{paper.source}\n\n"
    if not study.scope.is_full:
        text += f"**{study.scope.words[0].upper() + study.scope.words[1:]}.**\n\n"
    text += " ".join(headline(study, judged, "**")) + "\n\n" if judged else ""
    links = " · ".join(f"[{HEADS[name].lower()}]({name})" for name in further)
    text += sections.by_figure(judged)
    text += f"More: {links} · [claims.json]({CLAIMS}).\n\n"
    text += sections.findings(study, judged) + open_points.depending(judged)
    text += sections.deviating(study, judged, is_brief=True)
    text += open_points.table(
        study.paper.readings, study.readings_run, judged
    ) + sections.calibrated(study)
    text += _runs(study, command, registered)
    return text.rstrip() + "\n"


def _runs(study: Study, command: str, registered: Registration | None) -> str:
    """Return how the runs were made, of what, and when they were registered."""
    text = f"## Runs\n\nMade by Wordline {study.version}:\n\n```\n{command}\n```\n\n"
    note = study.workloads
    text += f"Workloads are {note}.\n\n" if note else ""
    if registered:
        text += f"Claims, readings and runs were registered on {registered.date} as "
        text += f"`{registered.hash[:SHOWN]}`: {registered.why}\n\n"
    return text + (hint(study, command) + "\n\n" if study.left_out else "")


#: The headings of further pages, in their order.
HEADS = {
    FIGURES: "Figures and tables",
    CAUSES: "What deviates, and why",
    EVERY: "Every claim",
    HISTORY: "What changed",
}


def _further(study: Study, written: Written, judged: Sequence[Judged]) -> dict[str, str]:
    """Return the sections of each further page; those that have none are left out."""
    changed = changes.markdown(study, judged) if judged else ""
    found = {
        FIGURES: sections.figures(written.drawn, written.not_drawn, bool(judged)),
        **of_verdicts(study, judged),
        HISTORY: open_points.before(study, judged) + changed,
    }
    return {name: text for name, text in found.items() if text}


def of_verdicts(study: Study, judged: Sequence[Judged]) -> dict[str, str]:
    """Return the sections of the pages that verdicts alone decide."""
    results, model = sections.tables(judged)
    said = sentences.markdown(study.paper.sentences, SENTENCES)
    return {
        CAUSES: sections.deviating(study, judged) if study.is_as_explained else "",
        EVERY: results + model + said,
    }


def below_heading(paper: Paper, name: str, text: str) -> str:
    """Return a further page: its sections below a heading that says of which paper they are."""
    head = f"# {HEADS[name]}: {paper.name}\n\nOf [{paper.title}]({PAGE}).\n\n"
    body = text.removeprefix(f"## {HEADS[name]}\n\n")
    if body != text:
        # What was below the heading of the section is now below that of the page.
        body = body.replace("### ", "## ")
    return head + body.rstrip() + "\n"


def _whole(study: Study, judged: Sequence[Judged], further: Mapping[str, str]) -> list[str]:
    """Return all sections in the order of one page; figures that were asked for come first."""
    figures, others = further[FIGURES], [further.get(name, "") for name in (EVERY, HISTORY)]
    parts = [
        sections.by_figure(judged),
        sections.findings(study, judged),
        open_points.depending(judged),
        sections.deviating(study, judged),
        open_points.table(study.paper.readings, study.readings_run, judged),
        sections.calibrated(study),
    ]
    return [*([figures, *parts] if study.scope.figures else [*parts, figures]), *others]


def headline(study: Study, judged: Sequence[Judged], mark: str = "") -> list[str]:
    """Say how many results hold, between marks, then the sizes, and how far the model is theirs."""
    if not judged:
        return []
    below = [
        f"{said[0].upper()}{said[1:]}." for said in (sizes(judged), model_verdict(judged)) if said
    ]
    holding = verdict(judged, read_as(study))
    return [f"{mark}{holding[0].upper()}{holding[1:]}.{mark}", *below]
