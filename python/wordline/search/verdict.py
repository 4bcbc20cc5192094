"""A candidate is judged in a process of its own: nothing that it does can pass for a result."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from wordline import Fault, Refused, UserError, _wordline, spelling
from wordline._api import AnyScheme, described
from wordline.subprocess_runner import environment

#: Seeds that a search which begins with 1 does not come to.
FIRST_SEED = 1_000_003
#: States to explore for each random drive: with 50 of these as many as `wordline.check` explores.
_STATES = 400


def judge(
    scheme: AnyScheme,
    *,
    device: str | os.PathLike[str],
    workloads: Sequence[str | os.PathLike[str]],
    objectives: Sequence[str],
    against: AnyScheme = "conventional",
    seeds: int = 5,
    seed: int = FIRST_SEED,
    requests: int | None = None,
    set: Mapping[str, object] | None = None,
    initial: str = _wordline.DEFAULT_INITIAL,
    fit: str | None = None,
    traces: str | os.PathLike[str] | None = None,
    cases: int = 50,
    timeout_s: float = 600,
) -> dict[str, Any]:
    """Hold a candidate to rules, and then to workloads that the search has not seen.

    All of it is done by another interpreter, which guards against mistakes and against what a
    search comes upon, not against code that means harm. A class of Python runs first on random
    drives, as `wordline.check`; every run then recounts every invariant of the drive. What breaks
    a rule, crashes, or takes too long has no figures.

    Parameters
    ----------
    scheme
        As for `wordline.run`; a class must be in a file.
    device, requests, set, initial, fit, traces
        As for `wordline.run`.
    workloads, seed, seeds
        What it is judged on: each workload with so many seeds from ``seed`` on.
    objectives
        As for `tune`.
    against
        The spelling of what it is compared with, on the same seeds.
    cases
        Random drives for a class of Python, and 400 explored states of a small drive for each.
    timeout_s
        How long all of it may take, in seconds.

    Returns
    -------
    dict
        ``verdict`` is ``sound``, ``refused`` (the scheme does not support the device, or a name is
        unknown), ``broken`` (a rule was broken, or the process crashed) or ``too slow``; ``why``
        gives the reason unless it is sound. ``overall`` has, by objective,
        ``ratio``, ``low`` and ``high``: the cost over the reference's, a geometric mean over
        workloads, with its 95 % interval over the seeds; below 1 is better. ``workloads`` has the
        same of each. ``steady`` counts the ``runs`` of both and those that are ``steady``;
        ``answer`` is the result in a sentence, or "not known: run longer" where fewer than
        four in five runs of either are.

    Raises
    ------
    UserError
        What is asked for is wrong, whatever the candidate is.
    """
    from wordline.search import score

    files = (None, traces)
    like = described("", device, "", seed, requests, set, initial, files, fit, False)
    how = score.conditions(workloads, like)
    if seeds < 2:
        raise UserError(f"seeds={seeds}: an interval needs at least 2")
    score.objectives(objectives)
    seal = secrets.token_hex(16)
    asked = {
        "seal": seal,
        "scheme": spelling.text(scheme),
        "against": spelling.text(against),
        "workloads": [os.fspath(w) for w in workloads],
        "seeds": list(range(seed, seed + seeds)),
        "objectives": list(objectives),
        "cases": cases,
        "how": how,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "wordline.search"],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env=environment(),
        )
    except subprocess.TimeoutExpired:
        return _verdict(asked, "too slow", f"it took longer than {timeout_s:g} s")
    # What the candidate prints comes before the last line.
    last = done.stdout.rstrip().rpartition("\n")[2]
    try:
        found = json.loads(last)
    except ValueError:
        found = None
    # An answer without the seal is the candidate's own.
    if done.returncode != 0 or not isinstance(found, dict) or found.pop("seal", None) != seal:
        said = done.stderr.strip().rpartition("\n")[2] or "nothing"
        why = f"the process ended with {done.returncode} and said {said!r}"
        return _verdict(asked, "broken", why)
    return found


def _verdict(asked: Mapping[str, Any], verdict: str, why: str | None = None) -> dict[str, Any]:
    found = {"verdict": verdict, **{key: asked[key] for key in ("scheme", "against", "seeds")}}
    return found if why is None else {**found, "why": why}


def _judged(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Judge a candidate, in this process."""
    from wordline.random_drives import check

    try:
        _, classes = spelling.resolved(asked["scheme"])
        for own in classes:
            cases = asked["cases"]
            check(own, cases=cases, states=_STATES * cases, seed=asked["seeds"][0])
        return _compared(asked)
    except (Refused, UserError) as e:
        return _verdict(asked, "refused", str(e))
    except Fault as e:
        return _verdict(asked, "broken", str(e))
    except Exception as e:
        return _verdict(asked, "broken", f"{type(e).__name__}: {e}")


def _compared(asked: Mapping[str, Any]) -> dict[str, Any]:
    from wordline import Report
    from wordline.search import score
    from wordline.steady import NO_RUNS, answer, of_reports

    how = {**asked["how"], "set": tuple(map(tuple, asked["how"]["set"])), "check": True}

    def reports(scheme: str) -> list[list[Report]]:
        runs = score.runs(scheme, how, asked["workloads"], asked["seeds"])
        return [[run.do(threads=1) for run in of] for of in runs]

    ours, theirs = reports(asked["scheme"]), reports(asked["against"])

    def ratios(at: slice) -> dict[str, Any]:
        return {
            o.name: asdict(score.ratio(score.logs(o, ours[at], theirs[at])))
            for o in score.objectives(asked["objectives"])
        }

    by_workload = {w: ratios(slice(i, i + 1)) for i, w in enumerate(asked["workloads"])}
    overall = ratios(slice(None))
    rests = [of_reports(r.to_dict() for of in reports for r in of) for reports in (ours, theirs)]
    both = sum(rests, NO_RUNS)
    said = "{ratio:.3g} times ({low:.3g} to {high:.3g})"
    figures = {name: said.format(**r) for name, r in overall.items()}
    return {
        **_verdict(asked, "sound"),
        "answer": answer(figures, rests),
        "steady": {"steady": both.steady, "runs": both.runs},
        "overall": overall,
        "workloads": by_workload,
    }


def main() -> None:
    """Judge what standard input asks for, and answer on the last line of standard output."""
    asked = json.load(sys.stdin)
    seal = asked.pop("seal")
    # Hooks that print must not be taken for the answer.
    print("\n" + json.dumps({**_judged(asked), "seal": seal}))
