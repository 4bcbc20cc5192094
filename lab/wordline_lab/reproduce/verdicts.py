"""Verdicts: how many results hold under every reading, depend on one, or deviate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from wordline_lab.reproduce.claims import (
    CALIBRATION,
    CLASSES,
    DEPENDS,
    DEVIATES,
    FULL_SCALE,
    HOLDS,
    MODEL,
    NOT_RUN,
    RESULT,
    Judged,
    Outcome,
)
from wordline_lab.reproduce.paper import Study
from wordline_lab.reproduce.readings import Choice

#: The shares of a printed effect within which sizes are counted.
SHARES = (0.5, 0.25, 0.1)
#: Of which readings a verdict is: of all, of those that were run, or of the main ones.
ALL, PART, MAIN = "all", "part", "main"


def under_readings(
    main: Sequence[Judged], others: Sequence[tuple[Choice, Sequence[Judged]]]
) -> list[Judged]:
    """Return the verdicts over all readings: `wordline_lab.reproduce.readings` has the rule.

    Parameters
    ----------
    main
        What came out under the main readings.
    others
        The same rows under each other choice of readings; a row whose figure is the same is not
        touched by it.
    """
    found = []
    for at, judged in enumerate(main):
        outcomes = [
            Outcome(choice.label, choice.is_counted, there[at].figure, there[at].is_met)
            for choice, there in others
            if there[at].verdict != NOT_RUN and there[at].figure != judged.figure
        ]
        found.append(over(judged, outcomes))
    return found


def over(judged: Judged, outcomes: Sequence[Outcome]) -> Judged:
    """Return the verdict on a row under the main readings and these others."""
    outcomes = tuple(outcomes)
    if not judged.is_tested:
        return replace(judged, outcomes=outcomes)
    met = {judged.is_met, *(o.is_met for o in outcomes if o.is_counted)}
    verdict = DEPENDS if len(met) == 2 else HOLDS if met == {True} else DEVIATES
    cause = judged.cause if verdict == DEVIATES else ""
    return replace(judged, verdict=verdict, cause=cause, outcomes=outcomes)


def read_as(study: Study) -> str:
    """Return the readings under which a study's results were tested, as `verdict` takes them."""
    readings = study.paper.readings
    if study.paper.choice.taken:
        return study.paper.choice.label
    if study.readings_run:
        whole = {label for label, ended in study.readings_run.items() if ended}
        return ALL if whole >= {choice.label for choice in readings.choices()} else PART
    return MAIN if readings.all else ""


def counts(judged: Sequence[Judged]) -> dict[str, int]:
    """Return how many of the paper's results hold, depend on a reading, and deviate."""
    found = Counter(j.verdict for j in judged if j.claim.kind == RESULT)
    return {name: found[name] for name in (HOLDS, DEPENDS, DEVIATES)}


def verdict(judged: Sequence[Judged], readings: str = "") -> str:
    """Say how many of the paper's results hold of those that were put to the test.

    Parameters
    ----------
    judged
        Every row.
    readings
        Under which readings they were put to the test: ``all``, ``part`` (the main ones and those
        others that were run), ``main``, or a choice of them; none where the paper has none.
    """
    results = [j for j in judged if j.claim.kind == RESULT]
    tested = [j for j in results if j.is_tested]
    others = Counter(j.verdict for j in results)
    whole = len(tested) == len(results)
    text = f"{_holding(tested)} results {'' if whole else 'put to the test '}hold"
    if not tested:
        under = {ALL: " under any reading", PART: " under the readings that were run"}
        text = f"no result was put to the test{under.get(readings, '')}"
    elif readings in (ALL, PART):
        there = counts(tested)
        text += " under every reading" + (" that was run" if readings == PART else "")
        text += f", {_some(there[DEPENDS], 'depend')} on a reading"
        text += f", {_some(there[DEVIATES], 'deviate')}"
    elif readings:
        text += f" under {'the main readings' if readings == MAIN else readings}"
    said = []
    for name, (_, several) in CLASSES.items():
        here = [j for j in tested if j.claim.tolerance_class == name]
        if here:
            said.append(f"{several} {_holding(here)}")
    text += f" ({', '.join(said)})" if said else ""
    text += f"; {others[NOT_RUN]} not run" if others[NOT_RUN] else ""
    return text + (
        f"; {others[FULL_SCALE]} that only full scale tells" if others[FULL_SCALE] else ""
    )


def _some(count: int, verb: str) -> str:
    return f"{count} {verb}{'s' if count == 1 else ''}"


def sizes(judged: Sequence[Judged]) -> str:
    """Say how many printed sizes are met within shares of their effects; empty without any."""
    results = [j for j in judged if j.claim.kind == RESULT and j.is_tested]
    off = [share for j in results if (share := j.share_of_effect()) is not None]
    if not off:
        return ""
    slack = 1e-9
    within = (f"{sum(s <= share + slack for s in off)} within {share:.0%}" for share in SHARES)
    what = "size" if len(off) == 1 else "sizes"
    text = f"of {len(off)} printed {what} {', '.join(within)} of the printed effect"
    return text.replace("%", " %")


def model_verdict(judged: Sequence[Judged]) -> str:
    """Say how well the model matches the paper's, and what was calibrated; empty without rows."""
    model = [j for j in judged if j.claim.kind == MODEL and j.is_tested]
    checks = [j for j in judged if j.verdict == CALIBRATION]
    said = [f"the model is the paper's: {_holding(model)}"] if model else []
    if checks:
        said.append(f"calibration: {sum(j.is_met for j in checks)} of {len(checks)} met")
    return "; ".join(said)


def _holding(judged: Sequence[Judged]) -> str:
    return f"{sum(j.verdict == HOLDS for j in judged)} of {len(judged)}"
