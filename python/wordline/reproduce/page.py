"""What came of a paper: the page, its figures with their data, and ``claims.json``."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import wordline
from wordline import page as pages
from wordline import plotting
from wordline.reproduce.claims import (
    CALIBRATION,
    DEVIATES,
    HOLDS,
    NO_CAUSE,
    NOT_RUN,
    Judged,
    verdict,
)
from wordline.reproduce.paper import Figure, Study
from wordline.runs import stand_ins

MARKS = {HOLDS: "✓", DEVIATES: "✗", CALIBRATION: "○", NOT_RUN: "–"}  # noqa: RUF001


def sources(study: Study, runs: Sequence[str] = ("*",)) -> str:
    """Say what a reader must know of the data of such runs: twins, originals, scale."""
    scaled = f"scaled down by {study.scale}" if study.scale > 1 else ""
    used = (r for name, r in study.reports.items() if any(fnmatchcase(name, p) for p in runs))
    return "; ".join(filter(None, [stand_ins(used), scaled]))


def hint(study: Study, command: str) -> str:
    """Say which runs were left out, and how to have them."""
    return (
        f"Runs that only show why a claim deviates were left out ({', '.join(study.left_out)}); "
        f"`{command} --causes` does them, too."
    )


def write(
    study: Study, figures: Sequence[Figure], judged: Sequence[Judged], folder: Path, command: str
) -> list[Path]:
    """Write page, pictures, data and claims; return what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in figures:
        rows = figure.rows(study)
        written.append(_data(rows, folder / f"{figure.name}.csv"))
        if figure.draw:
            with plotting.style():
                picture = figure.draw(study)
                plotting.footnote(picture, sources(study, figure.runs))
                path = folder / f"{figure.name}.svg"
                plotting.save(picture, path)
                written.append(path)
    if judged:
        written.append(_claims(study, judged, folder / "claims.json"))
    text = markdown(study, figures, judged, folder, command)
    (folder / "README.md").write_text(text, encoding="utf-8")
    (folder / "index.html").write_text(
        _html(study, judged, text, folder, command), encoding="utf-8"
    )
    return [*written, folder / "README.md", folder / "index.html"]


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
        lead=f"{verdict(judged)}." if judged else "",
        facts=[(what, said) for what, said in facts if said],
        command=command,
    )


def _claims(study: Study, judged: Sequence[Judged], path: Path) -> Path:
    found = {
        "paper": study.paper.name,
        "version": wordline.__version__,
        "scale": study.scale,
        "workloads": sources(study),
        "verdict": verdict(judged),
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
    study: Study, figures: Sequence[Figure], judged: Sequence[Judged], folder: Path, command: str
) -> str:
    """Return the page as Markdown."""
    paper = study.paper
    text = f"# {paper.title}\n\n{paper.source}\n\n"
    text += f"**{verdict(judged)}.**\n\n" if judged else ""
    note = sources(study)
    text += f"Workloads are {note}.\n\n" if note else ""
    text += f"Written by\n\n```\n{command}\n```\n\nwith Wordline {wordline.__version__}.\n\n"
    if study.left_out:
        text += hint(study, command) + "\n\n"
    if paper.calibrated:
        text += "## Calibrated\n\n"
        text += f"On {paper.calibrated['date']}: "
        text += " ".join(paper.calibrated["what"].split()) + "\n\n"
    if paper.summary:
        text += f"## What came out\n\n{paper.summary(study)}\n\n"
    deviating = [j for j in judged if j.verdict == DEVIATES]
    if deviating:
        text += "## What deviates, and why\n\n"
        rows = [
            (j.cause or NO_CAUSE, [j.claim.id, j.claim.says, j.claim.allowed, _figure(j)])
            for j in deviating
        ]
        text += pages.tables_by_reason(["claim", "says", "must be", "came out"], rows) + "\n"
    text += "## Figures and tables\n\n"
    for figure in figures:
        title = figure.number.replace("-", " ").capitalize()
        title = title if figure.number.startswith("table") else f"Figure {figure.number}"
        text += f"### {title}: {figure.title}\n\n"
        if figure.draw:
            text += f"![{figure.title}]({figure.name}.svg)\n\n"
        else:
            data = figure.rows(study)
            head = list(data[0]) if data else []
            text += pages.table(head, [[_cell(row.get(c)) for c in head] for row in data]) + "\n"
        if figure.beside:
            text += f"{'The paper: ' if judged else ''}{figure.beside}\n\n"
        text += f"Data: [{figure.name}.csv]({figure.name}.csv)\n\n"
    if not judged:
        return text
    text += "## All claims\n\n"
    rows = [
        [
            f"{MARKS[j.verdict]} {j.verdict}",
            j.claim.id,
            j.claim.where,
            j.claim.says,
            j.claim.tolerance_class,
            j.claim.allowed,
            _figure(j),
        ]
        for j in judged
    ]
    text += pages.table(["", "claim", "where", "says", "class", "must be", "came out"], rows)
    return text + "\nAll of it: [claims.json](claims.json)\n"


def _figure(judged: Judged) -> str:
    return "–" if judged.figure is None else judged.claim.shown(judged.figure)  # noqa: RUF001


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
