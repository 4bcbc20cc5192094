"""Claims: what a paper says, what must come out, and what came out.

A row of ``claims.toml``:

- ``id``, ``where`` (in the paper), ``says``, ``class``: what is claimed. T0 is exact, T1 a closed
  form, T2 an order or a sign, T3 a size.
- ``measure``, ``with``: the function of the paper's package that finds our figure, its arguments.
- ``between`` = [least, most], or ``printed`` with ``within``: what must come out. ``within`` is a
  share of the printed figure as text (``"2%"``), or a difference as a number.
- ``unit``: how the figure is shown: ``%``, or what stands behind it.
- ``kind`` = ``calibration`` for rows on which something was fitted; they are never counted as
  reproduced.
- ``over``: one row for each value; ``{value}`` stands in texts, and tables by value in ``printed``.
- ``full_scale`` = true where a scaled run cannot tell.

A claim is judged only where the runs that it speaks of were made. The others are counted apart, and
so are those that only full scale can tell. Causes in ``causes.toml`` were found at full scale with
the twins, and are given for nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from wordline import UserError, toml
from wordline.reproduce.paper import NotRun, Paper, Study

KEYS = {
    *("id", "where", "says", "class", "measure", "with", "between", "printed", "within"),
    *("unit", "kind", "over", "full_scale"),
}
NEEDED = ("id", "where", "says", "class", "measure")
CLASSES = ("T0", "T1", "T2", "T3")
HOLDS, DEVIATES, CALIBRATION, NOT_RUN = "holds", "deviates", "calibration", "not-run"
#: The verdict on what only full scale can tell, where the scale is another.
FULL_SCALE = "full-scale"
#: The verdicts on claims that were put to the test.
TESTED = (HOLDS, DEVIATES)
#: What stands where a claim deviates and nobody has found out why.
NO_CAUSE = "Its cause is not known yet."
#: What stands in the place of causes where they were not looked for.
ELSEWHERE = (
    "Why claims deviate was found out at full scale with the twins, and may be otherwise here; "
    "the causes are on the page of the whole evaluation."
)


@dataclass(frozen=True)
class Claim:
    """One row: what the paper says, and between what our figure must be."""

    id: str
    where: str
    says: str
    tolerance_class: str
    measure: str
    arguments: Mapping[str, Any]
    least: float
    most: float
    printed: float | None
    unit: str
    is_calibration: bool
    full_scale: bool

    @property
    def allowed(self) -> str:
        """What must come out, in words."""
        low, high = self.shown(self.least), self.shown(self.most)
        if self.least == self.most:
            return f"= {low}"
        if self.least == -float("inf"):
            return f"≤ {high}"
        return f"≥ {low}" if self.most == float("inf") else f"{low} to {high}"

    def is_of(self, figure: str) -> bool:
        """Whether it speaks of a figure or table, ``9a`` or ``table-2``, by its id or its place."""
        if self.id == figure or self.id.startswith(f"{figure}-"):
            return True
        named = re.match(r"(?:follows from )?Figs?\.((?:[ ,]|and|\d+[a-z]?\b)+)", self.where)
        there = re.findall(r"\d+[a-z]?", named[1]) if named else []
        # What is said of figure 6 as a whole is said of 6a and of 6b.
        return figure in there or re.sub(r"(?<=\d)[a-z]$", "", figure) in there

    def shown(self, figure: float) -> str:
        """Return a figure in the unit of the claim."""
        if self.unit == "%":
            return f"{100 * figure:.4g} %"
        text = f"{figure:,.0f}" if abs(figure) >= 1e4 else f"{figure:.4g}"
        return f"{text} {self.unit}".rstrip()


@dataclass(frozen=True)
class Judged:
    """A claim with what came out."""

    claim: Claim
    figure: float | None
    verdict: str
    cause: str

    @property
    def is_tested(self) -> bool:
        """Whether it holds or deviates."""
        return self.verdict in TESTED

    @property
    def is_met(self) -> bool:
        """Whether the figure is where it must be."""
        return self.figure is not None and _within(self.claim, self.figure)

    def to_dict(self) -> dict[str, Any]:
        """Return the row of ``claims.json``."""
        claim = self.claim

        def finite(bound: float) -> float | None:
            return bound if abs(bound) != float("inf") else None

        return {
            "id": claim.id,
            "where": claim.where,
            "says": claim.says,
            "class": claim.tolerance_class,
            "printed": claim.printed,
            "least": finite(claim.least),
            "most": finite(claim.most),
            "unit": claim.unit,
            "came_out": self.figure,
            "verdict": self.verdict,
            "cause": self.cause or None,
        }


def read(path: Path) -> list[Claim]:
    """Read a claims file.

    Raises
    ------
    UserError
        A claim in it is not one.
    """
    rows: list[Claim] = []
    for number, row in enumerate(toml.read(path).get("claim", []), 1):
        rows += _rows(row, f"{path}: claim {row.get('id', number)}")
    twice = [i for i, n in Counter(row.id for row in rows).items() if n > 1]
    if twice:
        raise UserError(f"{path}: {', '.join(sorted(twice))} is there twice; ids are unique")
    return rows


def _rows(row: Mapping[str, Any], where: str) -> list[Claim]:
    unknown, missing = set(row) - KEYS, [key for key in NEEDED if key not in row]
    if unknown:
        raise UserError(f"{where}: unknown key {min(unknown)!r}; there are {sorted(KEYS)}")
    if missing:
        raise UserError(f"{where}: {missing[0]!r} is missing")
    if row["class"] not in CLASSES:
        raise UserError(f"{where}: class {row['class']!r} is none of {', '.join(CLASSES)}")
    over = row.get("over", {})
    if not over:
        return [_claim(row, where, "", {})]
    ((key, found),) = over.items()
    return [_claim(row, where, str(value), {key: value}) for value in found]


def _claim(row: Mapping[str, Any], where: str, value: str, varied: Mapping[str, Any]) -> Claim:
    printed = row.get("printed")
    if isinstance(printed, Mapping):
        if value not in printed:
            raise UserError(f"{where}: printed has no figure for {value!r}")
        printed = printed[value]
    if "between" in row:
        least, most = row["between"]
    elif printed is not None and "within" in row:
        within = row["within"]
        share = isinstance(within, str)
        spread = abs(printed) * float(within.rstrip("%")) / 100 if share else within
        least, most = printed - spread, printed + spread
    else:
        raise UserError(f"{where}: it needs between = [least, most], or printed and within")
    return Claim(
        id=row["id"] + (f"-{value.lower().replace(' ', '-')}" if value else ""),
        where=row["where"].format(value=value),
        says=row["says"].format(value=value),
        tolerance_class=row["class"],
        measure=row["measure"],
        arguments={**row.get("with", {}), **varied},
        least=float(least),
        most=float(most),
        printed=printed,
        unit=row.get("unit", ""),
        is_calibration=row.get("kind") == CALIBRATION,
        full_scale=row.get("full_scale", False),
    )


def judge(paper: Paper, study: Study) -> list[Judged]:
    """Find what came out of every claim."""
    if not (paper.folder / "claims.toml").exists():
        return []
    causes = _causes(paper) if study.is_as_explained else []
    return [_judge(claim, paper, study, causes) for claim in read(paper.folder / "claims.toml")]


def _judge(claim: Claim, paper: Paper, study: Study, causes: Sequence[tuple[str, str]]) -> Judged:
    measure = getattr(paper.module, claim.measure, None)
    if measure is None:
        raise UserError(f"claim {claim.id}: {paper.module.__name__} has no {claim.measure}")
    try:
        figure = measure(study, **claim.arguments)
    except NotRun as e:
        return Judged(claim, None, NOT_RUN, str(e))
    if claim.full_scale and study.scale > 1:
        return Judged(claim, figure, FULL_SCALE, "only full scale can tell")
    if figure is None:
        return Judged(
            claim, None, DEVIATES, _cause(claim, causes) or "what it speaks of did not occur"
        )
    if claim.is_calibration:
        return Judged(claim, figure, CALIBRATION, "")
    if _within(claim, figure):
        return Judged(claim, figure, HOLDS, "")
    return Judged(claim, figure, DEVIATES, _cause(claim, causes))


def _within(claim: Claim, figure: float) -> bool:
    # A billionth for what is summed in floats.
    slack = 1e-9 * max(1.0, abs(figure))
    return claim.least - slack <= figure <= claim.most + slack


def _causes(paper: Paper) -> list[tuple[str, str]]:
    path = paper.folder / "causes.toml"
    if not path.exists():
        return []
    return [(e["claims"], " ".join(e["why"].split())) for e in toml.read(path).get("cause", [])]


def _cause(claim: Claim, causes: Sequence[tuple[str, str]]) -> str:
    return next((why for pattern, why in causes if fnmatchcase(claim.id, pattern)), "")


def verdict(judged: Sequence[Judged]) -> str:
    """Say how many hold of those that were put to the test, by class, and count the others."""
    tested = [j for j in judged if j.is_tested]
    others = Counter(j.verdict for j in judged)
    whole = not others[NOT_RUN] and not others[FULL_SCALE]
    holding = sum(j.verdict == HOLDS for j in tested)
    text = f"{holding} of {len(tested)} claims {'' if whole else 'put to the test '}hold"
    said = []
    for name in CLASSES:
        here = [j for j in tested if j.claim.tolerance_class == name]
        if here:
            said.append(f"{name} {sum(j.verdict == HOLDS for j in here)} of {len(here)}")
    checks = [j for j in judged if j.verdict == CALIBRATION]
    if checks:
        said.append(f"calibration: {sum(j.is_met for j in checks)} of {len(checks)} met")
    text += f" ({', '.join(said)})" if said else ""
    text += f"; {others[NOT_RUN]} not run" if others[NOT_RUN] else ""
    return text + (
        f"; {others[FULL_SCALE]} that only full scale tells" if others[FULL_SCALE] else ""
    )
