"""Sentences: numbers and comparisons that a paper states, in order, each with its rows.

A row of ``sentences.toml``:

- ``where`` in the paper, and ``quote``: words of the sentence by which it is found.
- ``rows``: ids of claims, or patterns of them; or in their place ``not_testable``, or
  ``not_modelled``, each with the reason.
- ``rest``, beside ``rows``: which part of the sentence no row tests, and why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from wordline import UserError, page, toml

FILE = "sentences.toml"
NOT_TESTABLE, NOT_MODELLED = "not_testable", "not_modelled"
KEYS = {"where", "quote", "rows", NOT_TESTABLE, NOT_MODELLED, "rest"}


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper; `rows` are patterns of ids, `why` says why there are none."""

    where: str
    quote: str
    rows: Sequence[str] = ()
    without: str = ""
    why: str = ""
    rest: str = ""

    def names(self, claim: str) -> bool:
        """Whether a claim tests it."""
        return any(fnmatchcase(claim, pattern) for pattern in self.rows)


def read(folder: Path) -> list[Sentence]:
    """Read ``sentences.toml``; empty if the folder has none.

    Raises
    ------
    UserError
        A sentence lacks what it needs.
    """
    path = folder / FILE
    found = toml.read(path).get("sentence", []) if path.exists() else []
    return [_sentence(row, f"{path}: sentence {at}") for at, row in enumerate(found, 1)]


def _sentence(row: dict[str, object], where: str) -> Sentence:
    unknown = set(row) - KEYS
    if unknown:
        raise UserError(f"{where}: unknown key {min(unknown)!r}; allowed: {sorted(KEYS)}")
    for key in ("where", "quote"):
        if not row.get(key):
            raise UserError(f"{where}: {key!r} is missing")
    said = [key for key in ("rows", NOT_TESTABLE, NOT_MODELLED) if row.get(key)]
    if len(said) != 1:
        raise UserError(
            f"{where}: {said or 'none'} of rows, {NOT_TESTABLE} and {NOT_MODELLED} is set; "
            "set exactly one of them"
        )
    rows = row.get("rows", ())
    if not isinstance(rows, (list, tuple)):
        raise UserError(f"{where}: rows is {rows!r}; allowed: a list of ids")
    without = "" if rows else said[0]
    return Sentence(
        where=_text(row["where"]),
        quote=_text(row["quote"]),
        rows=tuple(rows),
        without=without,
        why=_text(row[without]) if without else "",
        rest=_text(row.get("rest", "")),
    )


def _text(words: object) -> str:
    return " ".join(str(words).split())


def faults(sentences: Sequence[Sentence], rows: Mapping[str, bool]) -> list[str]:
    """Return the mismatches: patterns without a row, and results that no sentence names.

    Parameters
    ----------
    sentences
        Those of a paper; without any nothing is asked of its rows.
    rows
        Whether each row, by its id, is a result of the paper.
    """
    if not sentences:
        return []
    unmatched = [
        f"{s.where}: no claim is like {pattern!r}"
        for s in sentences
        for pattern in s.rows
        if not any(fnmatchcase(i, pattern) for i in rows)
    ]
    results = [i for i, is_result in rows.items() if is_result]
    unnamed = [i for i in results if not any(s.names(i) for s in sentences)]
    return [*unmatched, *(f"claim {i}: no sentence names it" for i in unnamed)]


def table(sentences: Sequence[Sentence], verdicts: Mapping[str, str]) -> list[dict[str, str]]:
    """Return a row for each sentence: its place and words, and its claims with their results."""
    return [
        {
            "where": s.where,
            "sentence": s.quote,
            "rows": "; ".join(f"{i} {v}" for i, v in verdicts.items() if s.names(i)),
            "no row": s.without.replace("_", " "),
            "because": s.why or s.rest,
        }
        for s in sentences
    ]


def markdown(sentences: Sequence[Sentence], data: str) -> str:
    """Return the section on sentences: how many have a row, and why the others have none."""
    if not sentences:
        return ""
    without = [s for s in sentences if not s.rows]
    testable = sum(s.without == NOT_TESTABLE for s in without)
    text = (
        f"## Sentences without a row\n\nThe paper states a number or a comparison in "
        f"{len(sentences)} sentences: {len(sentences) - len(without)} have rows, {testable} "
        f"cannot be tested, and {len(without) - testable} speak of what is not modelled. "
        f"Each with its rows: [{data}]({data}).\n\n"
    )
    rows = [[s.where, f"“{s.quote}”", s.without.replace("_", " "), s.why] for s in without]
    return text + (page.table(["where", "says", "", "because"], rows) + "\n" if rows else "")
