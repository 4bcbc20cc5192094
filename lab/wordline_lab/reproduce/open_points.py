"""The section on readings: the effect of each, and earlier claims next to those of today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wordline import page
from wordline_lab.reproduce import claims
from wordline_lab.reproduce.changes import CLAIMS
from wordline_lab.reproduce.claims import DEPENDS, RESULT, Judged, Outcome
from wordline_lab.reproduce.paper import Study
from wordline_lab.reproduce.readings import Readings


def depending(judged: Sequence[Judged]) -> str:
    """Return the section on results that hold under some readings and not under others."""
    rows = [
        [
            j.claim.id,
            j.claim.says,
            j.claim.allowed,
            _main(j),
            "; ".join(_other(j, outcome) for outcome in j.outcomes),
        ]
        for j in judged
        if j.verdict == DEPENDS
    ]
    if not rows:
        return ""
    head = ["claim", "says", "allowed", "main readings", "other readings"]
    return f"## What depends on a reading\n\n{page.table(head, rows)}\n"


def _main(judged: Judged) -> str:
    came = "" if judged.figure is None else judged.claim.shown(judged.figure)
    return f"{came} {_mark(judged.is_met)}".strip()


def _other(judged: Judged, outcome: Outcome) -> str:
    came = "did not occur" if outcome.figure is None else judged.claim.shown(outcome.figure)
    seen = "" if outcome.is_counted else ", not counted"
    return f"`{outcome.reading}` {came} {_mark(outcome.is_met)}{seen}"


def _mark(is_met: bool) -> str:
    return "✓" if is_met else "✗"


def table(readings: Readings, was_run: Mapping[str, bool], judged: Sequence[Judged]) -> str:
    """Return the section on all readings: alternatives, sources, and the effect of each.

    Parameters
    ----------
    readings
        Those of a paper.
    was_run
        The choices that were run, each with whether all its runs have ended.
    judged
        What came out.
    """
    if not readings.all:
        return ""
    rows = []
    for reading in readings.all.values():
        main_first = sorted(reading.alternatives.values(), key=lambda a: a.name != reading.main)
        for alternative in main_first:
            is_main = alternative.name == reading.main
            label = f"{reading.name}={alternative.name}"
            if is_main:
                turns = "main"
            elif alternative.missing:
                turns = f"cannot be run: {alternative.missing}"
            elif label not in was_run:
                turns = f"not run; `--reading {label}` does"
            else:
                turns = _turns(label, judged)
                if not was_run[label]:
                    turns += f"; so far, `--reading {label}` runs the rest"
            rows.append(
                [
                    reading.asks if is_main else "",
                    f"`{label}`: {alternative.says}",
                    alternative.kind,
                    alternative.source,
                    turns,
                ]
            )
            if is_main and reading.calibrated:
                rows[-1][1] += f" Calibrated: {reading.calibrated}"
    head = ["open point", "read as", "kind", "source", "what turns on it"]
    return (
        "## Readings\n\nWhat the paper leaves open. A result holds if it holds under every "
        "alternative that a sentence of the paper or the original simulator decides; those of "
        "results seen are shown and not counted, unless the main one is of results seen, too: then "
        f"all of that point count.\n\n{page.table(head, rows)}\n"
    )


def _turns(label: str, judged: Sequence[Judged]) -> str:
    """Say which results are met under an alternative or under the main readings alone."""
    turned: dict[bool, list[str]] = {True: [], False: []}
    moved = 0
    for j in judged:
        outcome = next((o for o in j.outcomes if o.reading == label), None)
        if outcome is None or j.claim.kind != RESULT:
            continue
        moved += 1
        if outcome.is_met != j.is_met:
            turned[outcome.is_met].append(j.claim.id)
    said = []
    if turned[True]:
        said.append(f"met only here: {', '.join(turned[True])}")
    if turned[False]:
        said.append(f"not met here: {', '.join(turned[False])}")
    return "; ".join(said) or (f"no verdict; {moved} figures move" if moved else "no figure")


def before(study: Study, judged: Sequence[Judged]) -> str:
    """Return the counts of earlier claims and of today's, on earlier readings and on today's.

    Empty if the evaluation is partial, or there was no previous page.
    """
    path = study.paper.folder / CLAIMS
    if not study.scope.is_full or not study.others or not path.exists():
        return ""
    was = study.paper.readings.before
    label = was.label if was else ""
    there = next((o for o in study.others if label and o.paper.choice.label == label), None)
    old = claims.read(path)
    old_now, now = claims.judge(study.paper, study, old), judged
    if there is None:
        old_then, then = old_now, now
    else:
        old_then, then = claims.judge(there.paper, there, old), claims.judge(there.paper, there)
    rows = [
        ["claims of the page before", _met(old_then), _met(old_now)],
        ["claims of today", _met(then), _met(now)],
    ]
    head = ["results that hold, of those tested", "readings of the page before", "main readings"]
    return f"## Before and now\n\n{page.table(head, rows, right=2)}\n"


def _met(judged: Sequence[Judged]) -> str:
    """Say how many results are met by the readings of one study alone."""
    tested = [j for j in judged if j.claim.kind == RESULT and j.is_tested]
    return f"{sum(j.is_met for j in tested)} of {len(tested)}"
