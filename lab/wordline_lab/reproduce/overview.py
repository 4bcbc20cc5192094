"""The claims of all papers on one page: how many hold, and the main findings.

It uses only the ``claims.json`` of each paper's folder.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wordline import UserError, page, toml
from wordline_lab.reproduce.claims import (
    DEPENDS,
    DEVIATES,
    FULL_SCALE,
    HOLDS,
    MODEL,
    NOT_RUN,
    RESULT,
    TESTED,
)
from wordline_lab.reproduce.page import scope_of
from wordline_lab.reproduce.paper import papers
from wordline_lab.reproduce.verdicts import ALL, PART

#: The page, beside the folders of the papers.
PAGE = "README.md"
#: How many findings of each paper it has, those that the paper's page begins with.
FINDINGS = 2


def _found(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what was judged of each paper whose folder is there."""
    found = {}
    for name in papers():
        path = folder / name / "claims.json"
        if not path.exists():
            continue
        try:
            found[name] = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as e:
            raise UserError(f"{path}: invalid JSON: {e}") from e
        if not all("kind" in claim for claim in found[name]["claims"]):
            raise UserError(
                f"{path}: its claims have no kind, as in an old version; write it again with "
                f"`wordline reproduce {name}`"
            )
    if not found:
        raise UserError(
            f"{folder}: no PAPER/claims.json found, with PAPER one of {', '.join(papers())}; "
            f"`wordline reproduce PAPER --out {folder}/PAPER` makes one"
        )
    return found


def _counts(claims: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return how many claims hold of those that were put to the test, the paper's results first."""
    results = Counter(c["verdict"] for c in claims if c["kind"] == RESULT)
    model = Counter(c["verdict"] for c in claims if c["kind"] == MODEL)
    missing = sum(c["verdict"] in (NOT_RUN, FULL_SCALE) for c in claims)

    def tested(of: Counter[str]) -> int:
        return sum(of[verdict] for verdict in TESTED)

    return {
        "results": str(tested(results) or ""),
        "hold": str(results[HOLDS]) if tested(results) else "",
        "depend on a reading": str(results[DEPENDS] or ""),
        "deviate": str(results[DEVIATES] or ""),
        "the model is the paper's": f"{model[HOLDS]} of {tested(model)}" if tested(model) else "",
        "not tested": str(missing or ""),
    }


def _head(name: str, found: Mapping[str, Any]) -> list[str]:
    title = toml.read(papers()[name] / "experiment.toml")["title"]
    scope = scope_of(found)
    scale = "full" if scope.scale == 1 else f"1/{scope.scale}"
    scale += "" if scope.is_whole else ", a part"
    scale += {ALL: "", PART: ", part of the readings"}.get(
        found.get("read_as", ""), ", main readings"
    )
    # Pages of before claims and readings were frozen have no hash.
    scale += "" if found.get("registered") else ", not registered"
    return [f"[{title}]({name}/README.md)", scale, *_counts(found["claims"]).values()]


def write(folder: Path) -> Path:
    """Write the page, and return its path.

    Parameters
    ----------
    folder
        Holds a folder for each paper, as ``wordline reproduce all --out folder`` writes them.

    Raises
    ------
    UserError
        No paper is there.
    """
    found = _found(folder)
    text = "# The papers\n\n"
    text += (
        "What each paper claims, and what of it holds in the runs of its page. Written from the\n"
    )
    text += "`claims.json` of each folder by\n\n"
    text += f"```\nwordline reproduce overview --out {folder.name}\n```\n\n"
    text += (
        "Results are what a paper measured, numbers and comparing sentences. A result holds if it\n"
        "holds under every reading of what the paper leaves open, as far as its page ran them,\n"
        "and depends on a reading if it holds under some. Configuration, arithmetic, closed\n"
        "forms and echoes of inputs are the model, and are counted apart. Claims whose runs were\n"
        "not made, or that only full scale can tell, are not tested; those on which something was\n"
        "calibrated are not counted.\n\n"
    )
    head = ["paper", "scale", *_counts([])]
    everything = [claim for judged in found.values() for claim in judged["claims"]]
    rows = [
        *(_head(name, f) for name, f in found.items()),
        ["all", "", *_counts(everything).values()],
    ]
    text += page.table(head, rows, right=6)
    left = [name for name in papers() if name not in found]
    if left:
        text += f"\nNot there: {', '.join(left)}.\n"
    told = [(name, judged["findings"][:FINDINGS]) for name, judged in found.items()]
    if any(findings for _, findings in told):
        text += "\n## Findings worth knowing\n\n"
        text += "Why a result deviates stands on the page of its paper.\n\n"
        text += "".join(f"- [{name}]({name}/README.md): {f}\n" for name, fs in told for f in fs)
    path = folder / PAGE
    path.write_text(text, encoding="utf-8")
    return path


def terminal(folder: Path) -> str:
    """Return a line for each paper: how many of its claims hold."""
    return "\n".join(f"{name:<12}{_verdict(found)}" for name, found in _found(folder).items())


def _verdict(found: Mapping[str, Any]) -> str:
    """Say how many hold, and of what if that is not the whole at full scale."""
    scope = scope_of(found)
    model = f"; {found['model']}" if found["model"] else ""
    return found["verdict"] + model + ("" if scope.is_full else f" ({scope.words})")
