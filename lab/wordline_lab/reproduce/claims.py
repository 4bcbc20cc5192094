"""Claims: the statement of a paper, the expected result, and the measured one.

A row of ``claims.toml``:

- ``id``, ``where`` (in the paper), ``says``, ``class``: what is claimed. T0 is exact, T1 a closed
  form, T2 an order or a sign, T3 a size.
- ``measure``, ``with``: the function of the paper's package that finds our figure, its arguments.
- ``between`` = [least, most], or ``printed`` with ``within``: what must come out. ``within`` is a
  share of the printed figure as text (``"2%"``), or a difference as a number.
- ``unit``: how the figure is shown: ``%``, or what stands behind it.
- ``kind``: ``result`` for what the paper measured, numbers and comparing sentences; ``model`` for
  configuration, arithmetic, closed forms and echoes of inputs; ``calibration`` for rows on which
  something was fitted. Each is counted apart, results first.
- ``no_effect``, of a result: what would come out if the effect that it tests were absent, 1 for a
  ratio of latencies, 0 for a difference or a share, or tables by value as in ``printed``. In its
  place ``equal``, the figure at which two things are the same, where the paper says that they are.
- ``over``: one row for each value; ``{value}`` stands in texts, and tables by value in ``printed``.
- ``full_scale`` = true where a scaled run cannot tell.

No result may be accepted with less than half of its effect. What must come out may be no farther
from ``printed`` than half of the way to ``no_effect``, and without ``printed`` it may not go beyond
``no_effect``; with ``equal`` it stays within 5 % of that figure (.05 if it is 0). `read` refuses
other rows.

A claim is judged only if its runs were made. The others are counted separately, and so are those
that only full scale can test. Causes in ``causes.toml`` were found at full scale, and are given for
nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from wordline import UserError, toml
from wordline.interval import mean_and_half_width
from wordline_lab.reproduce.paper import NotRun, Paper, Study

FILE = "claims.toml"
KEYS = {
    *("id", "where", "says", "class", "measure", "with", "between", "printed", "within"),
    *("unit", "kind", "no_effect", "equal", "over", "full_scale"),
}
NEEDED = ("id", "where", "says", "class", "kind", "measure")
#: What pages call a claim of each class, and several.
CLASSES = {
    "T0": ("exact value", "exact values"),
    "T1": ("closed form", "closed forms"),
    "T2": ("order or sign", "orders and signs"),
    "T3": ("size", "sizes"),
}
RESULT, MODEL = "result", "model"
#: The share of an effect that a result's tolerance may take up, and of what is said to be equal.
OF_EFFECT, OF_EQUAL = 0.5, 0.05
HOLDS, DEPENDS, DEVIATES = "holds", "depends", "deviates"
CALIBRATION, NOT_RUN = "calibration", "not-run"
#: The verdict on what only full scale can tell, where the scale is another.
FULL_SCALE = "full-scale"
KINDS = (RESULT, MODEL, CALIBRATION)
#: The verdicts on claims that were put to the test.
TESTED = (HOLDS, DEPENDS, DEVIATES)
#: What stands where a claim deviates and nobody has found out why.
NO_CAUSE = "Its cause is not known yet."
#: What stands in the place of causes where they were not looked for.
ELSEWHERE = (
    "Why claims deviate was found out at full scale, and may be otherwise here; "
    "the causes are on the page of the whole evaluation."
)


@dataclass(frozen=True)
class Claim:
    """One row: a statement of the paper, and the range for our figure."""

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
    kind: str
    full_scale: bool
    no_effect: float | None = None
    equal: float | None = None

    @property
    def allowed(self) -> str:
        """The expected result, in words."""
        low, high = self.shown(self.least), self.shown(self.most)
        if self.least == self.most:
            return f"= {low}"
        if self.least == -float("inf"):
            return f"≤ {high}"
        return f"≥ {low}" if self.most == float("inf") else f"{low} to {high}"

    @property
    def fault(self) -> str:
        """Why a result may come out too weak, and how to fix the row; nothing if it may not."""
        if self.kind != RESULT:
            return ""
        if (self.no_effect is None) == (self.equal is None):
            return (
                "a result needs either no_effect (what would come out without the effect: 1 for a "
                "ratio, 0 for a difference or a share) or equal (where the paper says so)"
            )
        no_effect = self.no_effect or 0.0  # not asked for beside equal
        bounds = [b for b in (self.least, self.most) if abs(b) != float("inf")]
        if self.equal is not None:
            centre, room = self.equal, OF_EQUAL * (abs(self.equal) or 1)
            mend = f"within 5 % of equal = {self.equal:g}"
        elif self.printed is not None:
            centre, room = self.printed, OF_EFFECT * abs(self.printed - no_effect)
            mend = f"no farther from {self.printed:g} than half of the way to {no_effect:g}"
            # What goes farther than the paper, without a bound, is still the effect.
            if not any((b - centre) * (no_effect - centre) >= 0 for b in bounds):
                bounds = [no_effect]
        else:
            return (
                f"must come out {self.allowed}, and {self.shown(no_effect)}, which is no "
                "effect, lies within; end the range at no_effect"
                if self.least < no_effect < self.most
                else ""
            )
        if all(abs(b - centre) <= room + 1e-9 * max(1.0, abs(centre)) for b in bounds):
            return ""
        return f"must come out {self.allowed}, which is too wide: bounds must be {mend}"

    def is_of(self, figure: str) -> bool:
        """Whether it concerns a figure or table, ``9a`` or ``table-2``, by its id or its place."""
        if self.id == figure or self.id.startswith(f"{figure}-"):
            return True
        named = re.match(r"(?:follows from )?Figs?\.((?:[ ,]|and|\d+[a-z]?\b)+)", self.where)
        there = re.findall(r"\d+[a-z]?", named[1]) if named else []
        # What is said of figure 6 as a whole is said of 6a and of 6b.
        return figure in there or re.sub(r"(?<=\d)[a-z]$", "", figure) in there

    def shown(self, figure: float) -> str:
        """Return a figure in the unit of the claim."""
        return number(figure, self.unit)


def number(figure: float, unit: str) -> str:
    """Return a figure as text for readers."""
    if unit == "%":
        return f"{100 * figure:.4g} %"
    text = f"{figure:,.0f}" if abs(figure) >= 1e4 else f"{figure:.4g}"
    return f"{text} {unit}".rstrip()


@dataclass(frozen=True)
class Outcome:
    """The result under a reading other than the main ones."""

    reading: str
    is_counted: bool
    figure: float | None
    is_met: bool


@dataclass(frozen=True)
class Judged:
    """A claim with its result.

    Attributes
    ----------
    claim
        The row.
    figure
        What came out under the main readings, the mean where several seeds were run; ``None`` if
        it was not run, or what it speaks of did not occur.
    verdict
        Of all that was run.
    cause
        Why it deviates, or was not run.
    half_width
        Half of the 95 % interval of the figure over the seeds; 0 with one seed.
    outcomes
        What comes out under other readings, of those that change the figure.
    """

    claim: Claim
    figure: float | None
    verdict: str
    cause: str
    half_width: float = 0.0
    outcomes: tuple[Outcome, ...] = ()

    @property
    def is_tested(self) -> bool:
        """Whether it holds, depends on a reading, or deviates."""
        return self.verdict in TESTED

    @property
    def came_out(self) -> str:
        """The figure as text, with half of its interval; empty without a figure."""
        if self.figure is None:
            return ""
        about = f" ± {self.claim.shown(self.half_width)}" if self.half_width else ""
        return self.claim.shown(self.figure) + about

    @property
    def is_met(self) -> bool:
        """Whether the figure, with its interval, is in range under the main readings."""
        return self.figure is not None and all(
            _within(self.claim, self.figure + side * self.half_width) for side in (-1, 1)
        )

    def share_of_effect(self) -> float | None:
        """Return the distance from the printed figure, in units of the printed effect."""
        printed, none = self.claim.printed, self.claim.no_effect
        if self.figure is None or printed is None or none is None or printed == none:
            return None
        return abs(self.figure - printed) / abs(printed - none)

    def to_dict(self) -> dict[str, Any]:
        """Return the row of ``claims.json``."""
        claim = self.claim

        def finite(bound: float) -> float | None:
            return bound if abs(bound) != float("inf") else None

        return {
            "id": claim.id,
            "where": claim.where,
            "says": claim.says,
            "kind": claim.kind,
            "class": claim.tolerance_class,
            "printed": claim.printed,
            "least": finite(claim.least),
            "most": finite(claim.most),
            "unit": claim.unit,
            "measure": claim.measure,
            "with": dict(claim.arguments),
            "came_out": self.figure,
            "half_width": self.half_width or None,
            "verdict": self.verdict,
            "cause": self.cause or None,
            "readings": {
                o.reading: {"came_out": o.figure, "met": o.is_met, "counted": o.is_counted}
                for o in self.outcomes
            },
        }


def read(path: Path) -> list[Claim]:
    """Read a claims file.

    Raises
    ------
    UserError
        A claim in it is not one.
    """
    rows: list[Claim] = []
    text = toml.read(path)
    for number, row in enumerate(text.get("claim", []), 1):
        rows += _rows(row, f"{path}: claim {row.get('id', number)}")
    for row in rows:
        if row.fault:
            raise UserError(f"{path}: claim {row.id}: {row.fault}")
    twice = [i for i, n in Counter(row.id for row in rows).items() if n > 1]
    if twice:
        raise UserError(f"{path}: duplicate id {', '.join(sorted(twice))}; ids must be unique")
    return rows


def _rows(row: Mapping[str, Any], where: str) -> list[Claim]:
    unknown, missing = set(row) - KEYS, [key for key in NEEDED if key not in row]
    if unknown:
        raise UserError(f"{where}: unknown key {min(unknown)!r}; allowed: {sorted(KEYS)}")
    if missing:
        raise UserError(f"{where}: {missing[0]!r} is missing")
    if row["class"] not in CLASSES:
        raise UserError(f"{where}: unknown class {row['class']!r}; allowed: {', '.join(CLASSES)}")
    if row["kind"] not in KINDS:
        raise UserError(f"{where}: unknown kind {row['kind']!r}; allowed: {', '.join(KINDS)}")
    over = row.get("over", {})
    if not over:
        return [_claim(row, where, "", {})]
    ((key, found),) = over.items()
    return [_claim(row, where, str(value), {key: value}) for value in found]


def _of(row: Mapping[str, Any], key: str, value: str, where: str) -> Any:
    """Return a figure of a row, or of its table that one for this value."""
    found = row.get(key)
    if not isinstance(found, Mapping):
        return found
    if value not in found:
        raise UserError(f"{where}: {key} has no figure for {value!r}")
    return found[value]


def _claim(row: Mapping[str, Any], where: str, value: str, varied: Mapping[str, Any]) -> Claim:
    printed, no_effect = (_of(row, key, value, where) for key in ("printed", "no_effect"))
    if "between" in row:
        least, most = row["between"]
    elif printed is not None and "within" in row:
        within = row["within"]
        share = isinstance(within, str)
        spread = abs(printed) * float(within.rstrip("%")) / 100 if share else within
        least, most = printed - spread, printed + spread
    else:
        raise UserError(f"{where}: set between = [least, most], or printed and within")
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
        kind=row["kind"],
        full_scale=row.get("full_scale", False),
        no_effect=no_effect,
        equal=row.get("equal"),
    )


def judge(paper: Paper, study: Study, rows: Sequence[Claim] | None = None) -> list[Judged]:
    """Judge every claim under the readings of a study.

    Parameters
    ----------
    paper
        With the readings that its runs were made under.
    study
        The reports of its runs.
    rows
        Claims in place of those of its folder.
    """
    if rows is None:
        path = paper.folder / FILE
        rows = read(path) if path.exists() else []
    causes = causes_of(paper) if study.is_as_explained else []
    taken = [alternative for _, alternative in paper.readings.alternatives(paper.choice)]
    found = []
    for claim in rows:
        more = {
            key: value
            for alternative in taken
            for pattern, arguments in alternative.claims.items()
            if fnmatchcase(claim.id, pattern)
            for key, value in arguments.items()
        }
        turned = replace(claim, arguments={**claim.arguments, **more})
        found.append(_judge(turned, paper, study, causes))
    return found


def _judge(claim: Claim, paper: Paper, study: Study, causes: Sequence[tuple[str, str]]) -> Judged:
    measure = getattr(paper.module, claim.measure, None)
    if measure is None:
        raise UserError(f"claim {claim.id}: {paper.module.__name__} has no {claim.measure}")
    try:
        figure, half_width = _figure(measure, claim, study)
    except NotRun as e:
        return Judged(claim, None, NOT_RUN, str(e))
    if claim.full_scale and study.scale > 1:
        return Judged(claim, figure, FULL_SCALE, "only full scale can tell")
    return of_figure(claim, figure, half_width, causes)


def of_figure(
    claim: Claim, figure: float | None, half_width: float, causes: Sequence[tuple[str, str]]
) -> Judged:
    """Judge a claim by its figure, ``None`` if what it speaks of did not occur."""
    if figure is None:
        return Judged(
            claim, None, DEVIATES, _cause(claim, causes) or "what it speaks of did not occur"
        )
    if claim.kind == CALIBRATION:
        return Judged(claim, figure, CALIBRATION, "")
    judged = Judged(claim, figure, HOLDS, "", half_width)
    if judged.is_met:
        return judged
    return replace(judged, verdict=DEVIATES, cause=_cause(claim, causes))


def _figure(
    measure: Callable[..., float | None], claim: Claim, study: Study
) -> tuple[float | None, float]:
    """Return a figure and half of its interval over the seeds of the runs that it reads."""
    first = study.of_seed(1)
    figures = [measure(first, **claim.arguments)]
    seeds = min(first.seeds_read, default=1) if study.all_seeds else 1
    figures += [measure(study.of_seed(s), **claim.arguments) for s in range(2, seeds + 1)]
    found = [figure for figure in figures if figure is not None]
    if len(found) < len(figures) or len(found) == 1:
        return figures[0] if len(found) == len(figures) else None, 0.0
    return mean_and_half_width(found)


def _within(claim: Claim, figure: float) -> bool:
    # A billionth for what is summed in floats.
    slack = 1e-9 * max(1.0, abs(figure))
    return claim.least - slack <= figure <= claim.most + slack


def causes_of(paper: Paper) -> list[tuple[str, str]]:
    """Return the causes that a paper's folder gives, each with a pattern of ids."""
    path = paper.folder / "causes.toml"
    if not path.exists():
        return []
    found = []
    for entry in toml.read(path).get("cause", []):
        named = entry["claims"]  # a pattern, or several
        patterns = [named] if isinstance(named, str) else named
        found += [(pattern, " ".join(entry["why"].split())) for pattern in patterns]
    return found


def _cause(claim: Claim, causes: Sequence[tuple[str, str]]) -> str:
    return next((why for pattern, why in causes if fnmatchcase(claim.id, pattern)), "")
