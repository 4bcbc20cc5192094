"""Changes since the previous page: claims, their results, and the readings of the paper.

In addition to ``claims.toml``, a paper's folder has

- ``before.json``: the ``claims.json`` of the page before, and in ``of`` what to call it.
- ``claims-before.toml``: the claims of that page, which are judged by the runs of today, too.
- ``changes.toml``: ``[[change]]`` with ``claims``, a pattern of ids, and ``why`` they were
  dropped, added or bound otherwise; ``into``, the row that now says what a dropped one said.

A deviating result may disappear only into another row, and no bound may become wider.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from wordline import UserError, page, toml
from wordline_lab.reproduce.claims import DEVIATES, RESULT, TESTED, Claim, Judged, number
from wordline_lab.reproduce.paper import Study

BEFORE, CHANGES, CLAIMS = "before.json", "changes.toml", "claims-before.toml"


@dataclass(frozen=True)
class Change:
    """Claims that match `claims`, the reason of the change, and the row `into` which they went."""

    claims: str
    why: str
    into: str = ""


def read(folder: Path) -> list[Change]:
    """Read ``changes.toml``, if it exists.

    Raises
    ------
    UserError
        An entry has not the keys that it needs.
    """
    path = folder / CHANGES
    text = toml.read(path) if path.exists() else {}
    unknown = set(text) - {"change"}
    if unknown:
        raise UserError(f"{path}: unknown table {min(unknown)!r}; allowed: change")
    found = []
    for at, entry in enumerate(text.get("change", []), 1):
        if not {"claims", "why"} <= set(entry) <= {"claims", "why", "into"}:
            raise UserError(
                f"{path}: change {at} has {sorted(entry)}; needed: claims, why; allowed: into"
            )
        found.append(Change(entry["claims"], " ".join(entry["why"].split()), entry.get("into", "")))
    return found


def _of(said: Sequence[Change], claim: str) -> Change | None:
    """Return what is said of a claim; nothing if nobody says."""
    return next((change for change in said if fnmatchcase(claim, change.claims)), None)


def before(folder: Path) -> dict[str, Any] | None:
    """Return the claims of the previous page by id, or ``None`` if there was none."""
    path = folder / BEFORE
    if not path.exists():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    return {**found, "claims": {row["id"]: row for row in found["claims"]}}


def is_bound_otherwise(row: Mapping[str, Any], claim: Claim) -> bool:
    """Whether the expected value or the kind of a claim differs from before."""
    was = (_bound(row["least"], -1), _bound(row["most"], 1))
    return row["kind"] != claim.kind or was != (claim.least, claim.most)


def faults(folder: Path, claims: Sequence[Claim]) -> list[str]:
    """Return the faults: changes without a reason, vanished deviations, wider bounds."""
    was = (before(folder) or {"claims": {}})["claims"]
    now = {claim.id: claim for claim in claims}
    said = read(folder)
    found = []
    for i, row in was.items():
        here = now.get(i)
        change = _of(said, i)
        if (here is None or is_bound_otherwise(row, here)) and not change:
            found.append(f"{i} {'has other bounds' if here else 'is gone'}, without a reason")
        if row["kind"] != RESULT:
            continue
        if here and here.kind == RESULT:
            if here.least < _bound(row["least"], -1) or here.most > _bound(row["most"], 1):
                found.append(f"{i} has wider bounds than before: {here.allowed}")
        elif row["verdict"] == DEVIATES:
            into = change.into if change else ""
            if not into:
                found.append(f"{i} deviated and is no result any more; name the row in its place")
            elif into not in now or now[into].kind != RESULT:
                found.append(f"{i} was replaced by {into}, which is not a result")
            elif into in was and was[into]["verdict"] != DEVIATES:
                found.append(f"{i} deviated and was replaced by {into}, which did not deviate")
    return found


def _bound(value: float | None, side: int) -> float:
    return side * math.inf if value is None else value


def markdown(study: Study, judged: Sequence[Judged]) -> str:
    """Return the section on changes; earlier results are compared only with a whole evaluation."""
    was = before(study.paper.folder) if study.scope.is_full else None
    return _since(was, judged, read(study.paper.folder)) if was else ""


def _since(was: Mapping[str, Any], judged: Sequence[Judged], said: Sequence[Change]) -> str:
    rows = was["claims"]
    now = {j.claim.id: j for j in judged}
    turned = [
        [i, j.claim.says, _outcome(rows[i]), _outcome(j.to_dict())]
        for i, j in now.items()
        if i in rows
        and {j.verdict, rows[i]["verdict"]} <= {*TESTED}
        and j.verdict != rows[i]["verdict"]
    ]
    new = [
        [i, j.claim.says, "new", _outcome(j.to_dict())]
        for i, j in now.items()
        if i not in rows and j.claim.kind == RESULT
    ]
    text = f"## What changed since {was['of']}\n\nThen {was['verdict']}.\n\n"
    if turned or new:
        text += page.table(["claim", "says", "before", "now"], turned + new) + "\n"
    else:
        text += "No conclusion changed.\n\n"
    if not said:
        return text
    reasons = []
    for change in said:
        old = {i for i in rows if _of(said, i) == change}
        there = {i for i in now if _of(said, i) == change}
        bound = sum(is_bound_otherwise(rows[i], now[i].claim) for i in old & there)
        counts = [len(old - there), len(there - old), bound]
        into = f" Into {change.into}." if change.into else ""
        cells = [str(n or "") for n in counts]
        reasons.append([change.claims, *cells, change.why + into])
    head = ["claims", "dropped", "added", "bound otherwise", "why"]
    return text + f"What changed among the claims:\n\n{page.table(head, reasons)}\n"


def _outcome(row: Mapping[str, Any]) -> str:
    came = "" if row["came_out"] is None else f", {number(row['came_out'], row['unit'])}"
    return row["verdict"] + came
