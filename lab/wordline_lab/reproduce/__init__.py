"""The evaluation of a paper, repeated: ``wordline reproduce``.

`paper` reads the folder of a paper, with its `sentences` and `readings`; `registration` compares it
with what was registered; `wordline.runs` executes and stores the runs; `claims` judges the results,
`verdicts` over all readings; `page` shows them, and `overview` the claims of all papers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordline import Run, UserError
from wordline.commands import SWEEP, message, perform
from wordline.quantity import duration

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from wordline import Report
    from wordline_lab.reproduce.paper import Figure, Paper, Scope, Study


def main(**arguments: Any) -> int:
    """Execute ``wordline reproduce``; return 0, 2 where the input is wrong, or 1."""
    return perform("reproduce", SWEEP, lambda: _main(**arguments), extra="sweep")


#: In place of a paper: every paper and then their overview, or only that.
ALL, OVERVIEW = "all", "overview"


def _main(
    *,
    paper: str,
    figures: Sequence[str],
    only: Sequence[str],
    scale: int,
    causes: bool = False,
    reading: Sequence[str] = (),
    readings: bool = False,
    seeds: bool = False,
    finished: bool = False,
    out: str | None = None,
    jobs: int | None = None,
    on: str | None = None,
    dry_run: bool = False,
    traces: str | None = None,
) -> None:
    from wordline import cluster
    from wordline_lab.reproduce import overview
    from wordline_lab.reproduce import paper as papers
    from wordline_lab.reproduce.paper import Scope

    at = cluster.at(on, jobs)
    scope = Scope(scale, tuple(figures), tuple(only), tuple(reading))
    more = More(causes, readings, seeds, finished, traces, dry_run)
    base = Path("out") if scale == 1 else Path(f"out/scale-{scale}")
    if paper not in (ALL, OVERVIEW):
        whole = Path(out) if out else base / paper
        folder = whole if out else whole / scope.folder
        _one(paper, folder, whole / "runs", scope, at, more)
        return
    if figures or only or reading:
        raise UserError(
            f"{paper}: figures, runs and readings are those of one paper; name it, or omit them"
        )
    folder = Path(out) if out else base
    spent = {}
    for name in papers.papers() if paper == ALL else ():
        print(f"== {name}", flush=True)
        begin = time.perf_counter()
        _one(name, folder / name, folder / name / "runs", scope, at, more)
        spent[name] = time.perf_counter() - begin
        print(f"{name} took {duration(spent[name])}", flush=True)
    if dry_run:
        return
    written = overview.write(folder)
    print(overview.terminal(folder))
    if spent:
        took = ", ".join(f"{name} {duration(seconds)}" for name, seconds in spent.items())
        print(f"all took {duration(sum(spent.values()))}: {took}")
    print(f"the overview is {written}", file=sys.stderr)


@dataclass(frozen=True)
class More:
    """Runs beyond a scope, and the folder of real traces."""

    causes: bool = False
    readings: bool = False
    seeds: bool = False
    finished: bool = False
    traces: str | None = None
    dry_run: bool = False


def _one(
    paper: str,
    folder: Path,
    kept: Path,
    scope: Scope,
    at: tuple[int | None, Executor | None],
    more: More,
) -> None:
    """Do a paper: its page goes to `folder`, its runs to `kept`."""
    from wordline.progress import Bars
    from wordline.runs import Runner
    from wordline_lab.reproduce import claims, page, registration, terminal, verdicts
    from wordline_lab.reproduce import paper as papers

    read = papers.read(paper, scale=scope.scale, traces=more.traces, otherwise=scope.reading)
    wanted = _wanted(read, scope.figures)
    page.check_free(folder, read, scope)
    registered = registration.check(read) if scope.is_full and not more.dry_run else None
    patterns = [pattern for figure in wanted for pattern in figure.runs] if scope.figures else ["*"]
    # Whoever names figures or runs has named causes, too.
    left_out = [] if more.causes or not scope.is_whole else read.causes
    known = {n: r for n, r in read.runs.items() if more.seeds or not read.is_further_seed(n)}
    asked = {n: r for n, r in known.items() if _is_asked(n, patterns, scope.only, left_out)}
    _check_only(read, scope, asked)
    others = _others(read, scope, patterns, more.traces) if more.readings else []
    names = {run: name for name, run in reversed(asked.items())}
    for other, turned in others:
        for n, run in turned.items():
            names.setdefault(run, f"{n} ({other.choice.label})")

    def name(run: Run) -> str:
        return names.get(run, f"{run.workload} {run.scheme}")

    jobs, executor = at
    if more.dry_run:
        print(Runner(kept, jobs=jobs, executor=executor).forecast(names))
        return
    with Bars(len(names), name) as bars:
        runner = Runner(kept, jobs=jobs, executor=executor, watch=bars.watch, ended=bars.ended)
        reports, refusals = runner.finished(names) if more.finished else runner.run(names)
    if more.finished and not reports:
        raise UserError(f"{kept}: no report of these runs found; omit --finished to execute them")
    refused = {n: message(refusals[run]) for n, run in asked.items() if run in refusals}
    for n, why in refused.items():
        print(f"{n} is not supported: {why}", file=sys.stderr)
    found = {n: reports[run] for n, run in asked.items() if run in reports}
    study = papers.Study(read, found, scope, left_out, refused, all_seeds=more.seeds)
    of_main = set(asked.values())
    ended = {
        other.choice.label: [
            run in reports or run in refusals for run in turned.values() if run not in of_main
        ]
        for other, turned in others
    }
    study.unfinished = [label for label, runs in ended.items() if not all(runs)]
    if not {n for n in read.turned() if n in known} <= {*found, *refused}:
        study.unfinished.append(read.choice.label)
    study.others = [
        _turned(study, other, turned, reports, refusals)
        for other, turned in others
        # A reading without runs of its own has all that it needs.
        if not (runs := ended[other.choice.label]) or any(runs)
    ]
    # What was asked for by name and cannot be drawn is told, too.
    named = bool(scope.figures)
    drawn = [f for f in wanted if named or (f.has_any(found) and not (left_out and f.shows_causes))]
    judged = claims.judge(read, study)
    counted = {choice.label for choice in read.readings.choices()}
    judged = verdicts.under_readings(
        judged,
        [
            (other.paper.choice, claims.judge(other.paper, other))
            for other in study.others
            if other.paper.choice.label in counted
        ],
    )
    command = _command(paper, scope, more)
    written = page.write(study, drawn, judged, folder, command, registered)
    terminal.show(study, written, judged, folder, page.hint(study, command))
    parts = _parts(read, asked, [turned for _, turned in others])
    print(bars.summary() + "; " + _cost(reports, parts))
    print(f"wrote {len(written.paths)} files; the page is {written.page}", file=sys.stderr)


def _others(
    read: Paper, scope: Scope, patterns: Sequence[str], traces: str | None
) -> list[tuple[Paper, dict[str, Run]]]:
    """Return the paper under every other choice of readings, with the runs that it changes."""
    from wordline_lab.reproduce import paper as papers

    choices = {choice.label: choice for choice in read.readings.choices()}
    before = read.readings.before
    if before and not read.readings.missing(before):
        choices.setdefault(before.label, before)
    found = []
    for label in choices:
        other = papers.read(read.name, scale=scope.scale, traces=traces, otherwise=label.split(","))
        # An alternative is run with the first seed alone.
        first = [n for n in other.turned() if not other.is_further_seed(n)]
        turned = [n for n in first if _is_asked(n, patterns, scope.only, [])]
        found.append((other, {n: other.runs[n] for n in turned}))
    return found


def _turned(
    study: Study,
    other: Paper,
    turned: Mapping[str, Run],
    reports: Mapping[Run, Report],
    refusals: Mapping[Run, Exception],
) -> Study:
    """Return the study under other readings; runs that these do not change are the main ones."""
    kept = {n: report for n, report in study.reports.items() if n not in turned}
    found = {n: reports[run] for n, run in turned.items() if run in reports}
    refused = {n: message(refusals[run]) for n, run in turned.items() if run in refusals}
    return replace(
        study,
        paper=other,
        reports=kept | found,
        refused={**study.refused, **refused},
        others=(),
        all_seeds=False,
    )


def _wanted(read: Paper, asked: Sequence[str]) -> list[Figure]:
    """Return the figures asked for; every name must be that of one that can be drawn."""

    def of(figures: Sequence[Figure]) -> str:
        return ", ".join(figure.number for figure in figures)

    can = [figure for figure in read.figures if not read.lacks(figure)]
    for name in asked:
        meant = [figure for figure in read.figures if figure.is_asked([name])]
        if not meant:
            raise UserError(f"--figure {name}: unknown figure; allowed: {of(read.figures)}")
        if not any(figure in can for figure in meant):
            groups = {pattern.split("/")[0] for figure in meant for pattern in figure.runs}
            why = next(read.missing[group] for group in groups if group in read.missing)
            raise UserError(
                f"--figure {name}: its runs cannot be executed: {why}; allowed: {of(can)}"
            )
    return [figure for figure in can if figure.is_asked(asked)]


def _check_only(read: Paper, scope: Scope, asked: Mapping[str, Run]) -> None:
    """Refuse a pattern of which no run is, and patterns that leave nothing to do."""
    from wordline_lab.reproduce.paper import is_named

    groups = ", ".join(sorted({n.split("/")[0] for n in read.runs}))
    for pattern in scope.only:
        if not any(is_named(n, [pattern]) for n in read.runs):
            raise UserError(
                f"--only {pattern}: matches no run; allowed: GROUP/WORKLOAD/SCHEME, groups {groups}"
            )
    if scope.only and not asked:
        raise UserError(
            f"--only {' '.join(scope.only)}: matches no run of "
            f"{', '.join(f'figure {name}' for name in scope.figures) or read.name}"
        )


def _command(paper: str, scope: Scope, more: More) -> str:
    """Return the command that does a paper to this extent."""
    words = [f"wordline reproduce {paper}"]
    words += [f"--figure {figure}" for figure in scope.figures]
    words += [f"--only '{pattern}'" for pattern in scope.only]
    words += [f"--scale {scope.scale}"] if scope.scale > 1 else []
    words += [f"--reading {reading}" for reading in scope.reading]
    words += ["--causes"] if more.causes else []
    words += ["--readings"] if more.readings else []
    words += ["--seeds"] if more.seeds else []
    words += ["--finished"] if more.finished else []
    words += ["--traces DIR"] if more.traces else []  # where they are is this machine's
    return " ".join(words)


def _is_asked(
    run: str, patterns: Sequence[str], only: Sequence[str], left_out: Sequence[str]
) -> bool:
    """Whether a run is needed, was not excluded by name, and is of no group that is left out."""
    from wordline_lab.reproduce.paper import is_named

    return (
        is_named(run, patterns)
        and (not only or is_named(run, only))
        and run.split("/")[0] not in left_out
    )


def _parts(
    read: Paper, asked: Mapping[str, Run], turned: Sequence[Mapping[str, Run]]
) -> dict[str, set[Run]]:
    """Return the runs of a paper by what they are run for; a run that serves two is the first's."""
    parts: dict[str, set[Run]] = {
        "the paper": set(),
        "causes": set(),
        "further seeds": set(),
        "readings": {run for runs in turned for run in runs.values()},
    }
    for name, run in asked.items():
        is_cause = name.split("/")[0] in read.causes
        seed = "further seeds" if read.is_further_seed(name) else "the paper"
        parts["causes" if is_cause else seed].add(run)
    seen: set[Run] = set()
    for runs in parts.values():
        runs -= seen
        seen |= runs
    return parts


def _cost(reports: Mapping[Run, Any], parts: Mapping[str, set[Run]]) -> str:
    """Say what the runs took, whenever they were done."""
    if not reports:
        return "no run"
    memory = max(report.memory.engine_bytes for report in reports.values())
    requests = sum(report.host.completed for report in reports.values())
    walls = {
        part: sum(reports[run].speed.wall_s for run in runs if run in reports)
        for part, runs in parts.items()
    }
    spent = ", ".join(f"{part} {wall:.0f} s" for part, wall in walls.items() if wall)
    return (
        f"{requests / 1e6:.0f} M requests, at most {memory / 2**20:.0f} MiB of state a run; "
        f"one after the other: {spent}"
    )
