"""What changed since the page before: claims, what came out of them, and how the paper is read.

Beside ``claims.toml`` a paper's folder has

- ``before.json``: the ``claims.json`` of the page before, and in ``of`` what to call it.
- ``changes.toml``: ``[[change]]`` with ``claims``, a pattern of ids, and ``why`` they were
  dropped, added or bound otherwise; ``[[reading]]`` with ``what`` is read otherwise and what it
  ``rests_on``, a sentence of the paper or what the original simulator does.
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
from wordline.reproduce.claims import RESULT, TESTED, Claim, Judged, number
from wordline.reproduce.paper import Study

BEFORE, CHANGES = "before.json", "changes.toml"


@dataclass(frozen=True)
class Changes:
    """What a folder says of changes: pattern and reason, what is read otherwise and why."""

    changes: Sequence[tuple[str, str]] = ()
    readings: Sequence[tuple[str, str]] = ()

    def why(self, claim: str) -> str:
        """Return why a claim was changed; nothing if nobody says."""
        return next((why for pattern, why in self.changes if fnmatchcase(claim, pattern)), "")


def read(folder: Path) -> Changes:
    """Read ``changes.toml``, if it is there.

    Raises
    ------
    UserError
        An entry has not the keys that it needs.
    """
    path = folder / CHANGES
    text = toml.read(path) if path.exists() else {}

    def entries(kind: str, *keys: str) -> list[tuple[str, str]]:
        for at, entry in enumerate(text.get(kind, []), 1):
            if set(entry) != set(keys):
                raise UserError(f"{path}: {kind} {at} has {sorted(entry)}; it needs {sorted(keys)}")
        return [
            (" ".join(e[keys[0]].split()), " ".join(e[keys[1]].split())) for e in text.get(kind, [])
        ]

    unknown = set(text) - {"change", "reading"}
    if unknown:
        raise UserError(f"{path}: unknown table {min(unknown)!r}; there are change and reading")
    return Changes(entries("change", "claims", "why"), entries("reading", "what", "rests_on"))


def before(folder: Path) -> dict[str, Any] | None:
    """Return what the page before said, claims by id, or ``None`` if there was none."""
    path = folder / BEFORE
    if not path.exists():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    return {**found, "claims": {row["id"]: row for row in found["claims"]}}


def is_bound_otherwise(row: Mapping[str, Any], claim: Claim) -> bool:
    """Whether what must come out, or what a claim counts as, is another than before."""
    low, high = row["least"], row["most"]
    was = (-math.inf if low is None else low, math.inf if high is None else high)
    return row["kind"] != claim.kind or was != (claim.least, claim.most)


def unexplained(folder: Path, claims: Sequence[Claim]) -> list[str]:
    """Return what was claimed before and is gone or bound otherwise, and nobody says why."""
    was = (before(folder) or {"claims": {}})["claims"]
    now = {claim.id: claim for claim in claims}
    said = read(folder)
    changed = [i for i, row in was.items() if i not in now or is_bound_otherwise(row, now[i])]
    return [i for i in changed if not said.why(i)]


def markdown(study: Study, judged: Sequence[Judged]) -> str:
    """Return the page's parts on it; what came out before is compared only with the whole."""
    said = read(study.paper.folder)
    was = before(study.paper.folder) if study.scope.is_full else None
    text = _since(was, judged, said) if was else ""
    if said.readings:
        table = page.table(["read as", "rests on"], [list(r) for r in said.readings])
        text += f"## How the paper is read\n\n{table}\n"
    return text


def _since(was: Mapping[str, Any], judged: Sequence[Judged], said: Changes) -> str:
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
    if not said.changes:
        return text
    reasons = []
    for pattern, why in said.changes:
        old = {i for i in rows if said.why(i) == why and fnmatchcase(i, pattern)}
        there = {i for i in now if said.why(i) == why and fnmatchcase(i, pattern)}
        bound = sum(is_bound_otherwise(rows[i], now[i].claim) for i in old & there)
        counts = [len(old - there), len(there - old), bound]
        reasons.append([pattern, *(str(n or "") for n in counts), why])
    head = ["claims", "dropped", "added", "bound otherwise", "why"]
    return text + f"What changed among the claims:\n\n{page.table(head, reasons)}\n"


def _outcome(row: Mapping[str, Any]) -> str:
    came = "" if row["came_out"] is None else f", {number(row['came_out'], row['unit'])}"
    return row["verdict"] + came
