"""What came of a paper: the page, its figures with their data, and ``claims.json``."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import wordline
from wordline import UserError, plotting
from wordline import page as pages
from wordline.runs import stand_ins
from wordline_lab.reproduce import changes, open_points, pieces, sentences
from wordline_lab.reproduce.claims import (
    CALIBRATION,
    DEPENDS,
    DEVIATES,
    ELSEWHERE,
    FULL_SCALE,
    HOLDS,
    NO_CAUSE,
    NOT_RUN,
    RESULT,
    Judged,
)
from wordline_lab.reproduce.paper import Figure, NotRun, Paper, Scope, Study, is_named
from wordline_lab.reproduce.registration import SHOWN, Registration
from wordline_lab.reproduce.verdicts import model_verdict, read_as, sizes, verdict

MARKS = {
    HOLDS: "✓",
    DEPENDS: "◐",
    DEVIATES: "✗",
    CALIBRATION: "○",
    NOT_RUN: "–",  # noqa: RUF001
    FULL_SCALE: "·",
}
#: The files of a paper's folder by which its page is known.
PAGE, CLAIMS = "README.md", "claims.json"
#: The file of its sentences, each with its rows.
SENTENCES = "sentences.csv"


def sources(study: Study, runs: Sequence[str] = ("*",)) -> str:
    """Say what a reader must know of the data of such runs: twins, originals, scale."""
    scaled = f"scaled down by {study.scale}" if study.scale > 1 else ""
    used = (
        report
        for name, report in study.reports.items()
        if is_named(name, runs) and not pieces.is_one(name)
    )
    return "; ".join(filter(None, [stand_ins(used), scaled]))


def hint(study: Study, command: str) -> str:
    """Say which runs were left out, and how to have them; nothing if none was."""
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
    """What was written.

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
    """Refuse to replace a page that says more than one of this scope would.

    Raises
    ------
    UserError
        There is such a page.
    """
    there = found_scope(folder)
    if there and not scope.may_replace(there):
        raise UserError(
            f"{folder} holds the page of {paper.name} {there.words}, and one {scope.words} says "
            "less; choose another folder with --out, or delete that one"
        )


def found_scope(folder: Path) -> Scope | None:
    """Return the scope of the page in a folder, if there is one; full if it does not say."""
    path = folder / CLAIMS
    if not path.exists():
        return Scope() if (folder / PAGE).exists() else None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return scope_of(found)
    except (ValueError, TypeError, KeyError) as e:
        raise UserError(f"{path}: this is not what wordline reproduce writes: {e}") from e


def scope_of(found: Mapping[str, Any]) -> Scope:
    """Return the scope that a ``claims.json`` is of."""
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
    """Write page, pictures, data and claims; return what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = Written(folder / "index.html")
    for figure in figures:
        try:
            rows = figure.rows(study)
            written.paths += _figure(figure, study, rows, folder)
            written.drawn.append((figure, rows))
        except NotRun as e:
            written.not_drawn.append((figure, str(e)))
    written.paths.append(_claims(study, judged, folder / CLAIMS, registered))
    if study.paper.sentences:
        verdicts = {j.claim.id: j.verdict for j in judged}
        rows = sentences.table(study.paper.sentences, verdicts)
        written.paths.append(_data(rows, folder / SENTENCES))
    text = markdown(study, written, judged, command, registered)
    (folder / PAGE).write_text(text, encoding="utf-8")
    written.page.write_text(_html(study, judged, text, folder, command), encoding="utf-8")
    written.paths += [folder / PAGE, written.page]
    return written


def _figure(
    figure: Figure, study: Study, rows: Sequence[Mapping[str, Any]], folder: Path
) -> list[Path]:
    """Write the picture of a figure, if it has one, and its data."""
    written = []
    if figure.draw:
        with plotting.style():
            picture = figure.draw(study)
            plotting.footnote(picture, sources(study, figure.runs))
            written.append(folder / f"{figure.name}.svg")
            plotting.save(picture, written[-1])
    return [*written, _data(rows, folder / f"{figure.name}.csv")]


def _html(study: Study, judged: Sequence[Judged], text: str, folder: Path, command: str) -> str:
    """Return the page for a browser: what stands before the first part is its heading."""
    _, part, rest = text.partition("\n## ")
    facts = [
        ("source", study.paper.source),
        ("workloads", sources(study)),
        ("left out", hint(study, command) if study.left_out else ""),
    ]
    return pages.to_html(
        f"# {study.paper.title}\n{part}{rest}",
        folder,
        lead=" ".join(headline(study, judged)),
        facts=[(what, said) for what, said in facts if said],
        command=command,
    )


def _claims(
    study: Study, judged: Sequence[Judged], path: Path, registered: Registration | None
) -> Path:
    found = {
        "paper": study.paper.name,
        "version": wordline.__version__,
        "scale": study.scale,
        "figures": list(study.scope.figures),
        "only": list(study.scope.only),
        "explained": study.is_as_explained,
        "workloads": sources(study),
        "findings": study.findings,
        "reading": list(study.scope.reading),
        "read_as": read_as(study),
        "registered": registered.hash if registered else "",
        "verdict": verdict(judged, read_as(study)) if judged else "",
        "sizes": sizes(judged),
        "model": model_verdict(judged),
        "claims": [j.to_dict() for j in judged],
    }
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _data(rows: Sequence[Mapping[str, Any]], path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        columns = list(dict.fromkeys(key for row in rows for key in row))
        out = csv.DictWriter(file, columns, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    return path


def markdown(
    study: Study,
    written: Written,
    judged: Sequence[Judged],
    command: str,
    registered: Registration | None = None,
) -> str:
    """Return the page as Markdown: counts, results, what deviates or depends on what, figures."""
    paper = study.paper
    text = f"# {paper.title}\n\n{paper.source}\n\n"
    if not study.scope.is_full:
        text += f"**{study.scope.words[0].upper() + study.scope.words[1:]}.**\n\n"
    text += "".join(f"{said}\n\n" for said in headline(study, judged, "**"))
    note = sources(study)
    text += f"Workloads are {note}.\n\n" if note else ""
    text += f"Written by\n\n```\n{command}\n```\n\nwith Wordline {wordline.__version__}.\n\n"
    if registered:
        text += f"Claims, readings and runs were registered on {registered.date} as "
        text += f"`{registered.hash[:SHOWN]}`: {registered.why}\n\n"
    if study.left_out:
        text += hint(study, command) + "\n\n"
    results, others = _tables(judged)
    findings = "".join(f"- {finding}\n" for finding in study.findings)
    changed = changes.markdown(study, judged) if judged else ""
    parts = [
        f"## Findings\n\n{findings}\n" if findings else "",
        _by_figure(judged),
        open_points.depending(judged),
        _deviating(study, judged),
        open_points.table(study, judged),
        open_points.before(study, judged),
        _calibrated(study),
        changed,
    ]
    figures = _figures(written, bool(judged))
    parts = [figures, *parts] if study.scope.figures else [*parts, figures]
    parts += [results, others, sentences.markdown(paper.sentences, SENTENCES)]
    end = "All of it: [claims.json](claims.json)\n" if judged else ""
    return text + "".join(parts) + end


def headline(study: Study, judged: Sequence[Judged], mark: str = "") -> list[str]:
    """Say how many results hold, between marks, then the sizes, and how far the model is theirs."""
    if not judged:
        return []
    below = [
        f"{said[0].upper()}{said[1:]}." for said in (sizes(judged), model_verdict(judged)) if said
    ]
    return [f"{mark}{verdict(judged, read_as(study))}.{mark}", *below]


def _calibrated(study: Study) -> str:
    calibrated = study.paper.calibrated
    if not calibrated:
        return ""
    where = "" if study.is_as_explained else " (at full scale)"
    return (
        f"## Calibrated\n\nOn {calibrated['date']}{where}: "
        + " ".join(calibrated["what"].split())
        + "\n\n"
    )


def _deviating(study: Study, judged: Sequence[Judged]) -> str:
    none = NO_CAUSE if study.is_as_explained else ELSEWHERE
    rows = [
        (
            j.cause or none,
            [j.claim.id, j.claim.says, j.claim.allowed, j.came_out or "–"],  # noqa: RUF001
        )
        for j in results_first(judged)
        if j.verdict == DEVIATES
    ]
    if not rows:
        return ""
    head = "What deviates, and why" if study.is_as_explained else "What deviates"
    tables = _tables_by_reason(["claim", "says", "must be", "came out"], rows)
    return f"## {head}\n\n{tables}\n"


def results_first(judged: Sequence[Judged]) -> list[Judged]:
    """Put the paper's results before what its model is."""
    return sorted(judged, key=lambda j: j.claim.kind != RESULT)


def _figures(written: Written, has_claims: bool) -> str:
    text = "## Figures and tables\n\n"
    for figure, rows in written.drawn:
        text += f"### {figure.label}: {figure.title}\n\n"
        if figure.draw:
            text += f"![{figure.title}]({figure.name}.svg)\n\n"
        else:
            head = list(rows[0]) if rows else []
            text += pages.table(head, [[cell(row.get(c)) for c in head] for row in rows]) + "\n"
        if figure.beside:
            text += f"{'The paper: ' if has_claims else ''}{figure.beside}\n\n"
        text += f"Data: [{figure.name}.csv]({figure.name}.csv)\n\n"
    for figure, why in written.not_drawn:
        text += f"{figure.label} is not drawn: {why}.\n\n"
    return text


def _tables(judged: Sequence[Judged]) -> tuple[str, str]:
    """Return the table of the paper's results, and that of what its model is."""
    results = [j for j in judged if j.claim.kind == RESULT]
    others = [j for j in judged if j.claim.kind != RESULT]

    def part(title: str, claims: Sequence[Judged]) -> str:
        if not claims:
            return ""
        return f"## {title}\n\n{_folded(f'{len(claims)} claims', _claims_table(claims))}"

    return part("Every result", results), part("The model is the paper's", others)


def _by_figure(judged: Sequence[Judged]) -> str:
    """Return how many results of each figure hold, depend, deviate or were not tested."""
    counts: dict[str, Counter[str]] = {}
    for j in judged:
        if j.claim.kind == RESULT:
            where = j.claim.where.split(",")[0]
            counts.setdefault(where, Counter())[j.verdict] += 1
    if not counts:
        return ""
    counts["all"] = sum(counts.values(), Counter())
    heads = {"hold": HOLDS, "depend on a reading": DEPENDS, "deviate": DEVIATES}
    rows = [
        [
            where,
            f"{of.total():,}",
            *(str(of[verdict] or "") for verdict in heads.values()),
            str(of.total() - sum(of[verdict] for verdict in heads.values()) or ""),
        ]
        for where, of in counts.items()
    ]
    table = pages.table(["results of", "all", *heads, "not tested"], rows)
    return f"## Results by figure\n\n{table}\n"


def _claims_table(judged: Sequence[Judged]) -> str:
    rows = [
        [
            f"{MARKS[j.verdict]} {j.verdict}",
            j.claim.id,
            j.claim.where,
            j.claim.says,
            j.claim.tolerance_class,
            j.claim.allowed,
            j.came_out or "–",  # noqa: RUF001
        ]
        for j in judged
    ]
    head = ["", "claim", "where", "says", "class", "must be", "came out"]
    return pages.table(head, rows)


def cell(value: Any) -> str:
    """Return a value of a figure's table as people read it."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _folded(title: str, markdown: str) -> str:
    """Return Markdown that a reader sees after opening its title."""
    return f"<details><summary>{title}</summary>\n\n{markdown.strip()}\n\n</details>\n\n"


def _tables_by_reason(head: list[str], rows: list[tuple[str, list[str]]]) -> str:
    """Return Markdown tables, each below the reason that its rows share, in the order they come."""
    by_reason: dict[str, list[list[str]]] = {}
    for reason, cells in rows:
        by_reason.setdefault(reason, []).append(cells)
    return "\n".join(
        f"{reason}\n\n{pages.table(head, cells)}" for reason, cells in by_reason.items()
    )
