"""The sections of a paper's pages, each as Markdown; nothing where there is nothing to show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from wordline import page as pages
from wordline_lab.reproduce.claims import (
    CALIBRATION,
    CLASSES,
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
from wordline_lab.reproduce.paper import Figure, Study

MARKS = {
    HOLDS: "✓",
    DEPENDS: "◐",
    DEVIATES: "✗",
    CALIBRATION: "○",
    NOT_RUN: "–",  # noqa: RUF001
    FULL_SCALE: "·",
}


def all_findings(study: Study, judged: Sequence[Judged]) -> list[str]:
    """Return the findings: of the runs, and of the rows under all readings."""
    of_readings = getattr(study.paper.module, "of_readings", None)
    rows = {j.claim.id: j for j in judged}
    of_rows = of_readings(study.paper.readings, rows) if of_readings and rows else []
    return study.findings + of_rows


def findings(study: Study, judged: Sequence[Judged]) -> str:
    """Return the findings, one or two sentences each."""
    said = "".join(f"- {finding}\n" for finding in all_findings(study, judged))
    return f"## Findings\n\n{said}\n" if said else ""


def calibrated(study: Study) -> str:
    """Return what was calibrated on the paper's results, and when."""
    found = study.paper.calibrated
    if not found:
        return ""
    where = "" if study.is_as_explained else " (at full scale)"
    return (
        f"## Calibrated\n\nOn {found['date']}{where}: " + " ".join(found["what"].split()) + "\n\n"
    )


def deviating(study: Study, judged: Sequence[Judged], is_brief: bool = False) -> str:
    """Return the results that deviate, by cause; the first sentence of each cause if brief."""
    none = NO_CAUSE if study.is_as_explained else ELSEWHERE
    rows = [
        (
            _first_sentence(j.cause or none) if is_brief else j.cause or none,
            [j.claim.id, j.claim.says, j.claim.allowed, j.came_out or "–"],  # noqa: RUF001
        )
        for j in results_first(judged)
        if j.verdict == DEVIATES
    ]
    if not rows:
        return ""
    head = "What deviates, and why" if study.is_as_explained else "What deviates"
    found = _tables_by_reason(["claim", "says", "allowed", "measured"], rows)
    return f"## {head}\n\n{found}\n"


def _first_sentence(text: str) -> str:
    """Return a text up to the first full stop that a new sentence follows."""
    return re.split(r"(?<=[^\s.]\.) (?=[A-Z])", text, maxsplit=1)[0]


def results_first(judged: Sequence[Judged]) -> list[Judged]:
    """Return the results of the paper, then the rows on its model."""
    return sorted(judged, key=lambda j: j.claim.kind != RESULT)


def figures(
    drawn: Sequence[tuple[Figure, Sequence[Mapping[str, Any]]]],
    not_drawn: Sequence[tuple[Figure, str]],
    has_claims: bool,
) -> str:
    """Return figures and tables, each with its rows, those of the paper first."""
    text = "## Figures and tables\n\n"
    for figure, rows in drawn:
        text += f"### {figure.label}: {figure.title}\n\n"
        if figure.draw:
            text += f"![{figure.title}]({figure.name}.svg)\n\n"
        else:
            head = list(rows[0]) if rows else []
            text += pages.table(head, [[cell(row.get(c)) for c in head] for row in rows]) + "\n"
        if figure.beside:
            text += f"{'The paper: ' if has_claims else ''}{figure.beside}\n\n"
        text += f"Data: [{figure.name}.csv]({figure.name}.csv)\n\n"
    for figure, why in not_drawn:
        text += f"{figure.label} is not drawn: {why}.\n\n"
    return text


def tables(judged: Sequence[Judged]) -> tuple[str, str]:
    """Return the table of the paper's results, and that of its model."""
    results = [j for j in judged if j.claim.kind == RESULT]
    others = [j for j in judged if j.claim.kind != RESULT]

    def part(title: str, claims: Sequence[Judged]) -> str:
        if not claims:
            return ""
        return f"## {title}\n\n{_folded(f'{len(claims)} claims', _claims_table(claims))}"

    return part("Every result", results), part("The model is the paper's", others)


def by_figure(judged: Sequence[Judged]) -> str:
    """Return how many results of each figure hold, depend, deviate or, if any, were not tested."""
    columns = {HOLDS: "hold", DEPENDS: "depend on a reading", DEVIATES: "deviate"}
    untested = "not tested"
    counts: dict[str, Counter[str]] = {}
    for j in judged:
        if j.claim.kind == RESULT:
            where = j.claim.where.split(",")[0]
            counts.setdefault(where, Counter())[columns.get(j.verdict, untested)] += 1
    if not counts:
        return ""
    counts["all"] = sum(counts.values(), Counter())
    heads = [*columns.values(), *([untested] if counts["all"][untested] else [])]
    rows = [
        [where, f"{of.total():,}", *(str(of[head] or "") for head in heads)]
        for where, of in counts.items()
    ]
    table = pages.table(["results of", "all", *heads], rows)
    return f"## Results by figure\n\n{table}\n"


def _claims_table(judged: Sequence[Judged]) -> str:
    rows = [
        [
            f"{MARKS[j.verdict]} {j.verdict}",
            j.claim.id,
            j.claim.where,
            j.claim.says,
            CLASSES[j.claim.tolerance_class][0],
            j.claim.allowed,
            j.came_out or "–",  # noqa: RUF001
        ]
        for j in judged
    ]
    head = ["", "claim", "where", "says", "class", "allowed", "measured"]
    return pages.table(head, rows)


def cell(value: Any) -> str:
    """Return a value of a figure's table as text for readers."""
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
