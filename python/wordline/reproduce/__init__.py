"""The evaluation of a paper, run again: ``wordline reproduce``.

`paper` reads the folder of a paper, `wordline.runs` does and keeps its runs, `claims` judges what
came out, `page` shows it, `overview` the claims of all papers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from wordline import UserError
from wordline.commands import SWEEP, perform


def main(**arguments: Any) -> int:
    """Do ``wordline reproduce``; return its exit code: 0, or 2 where the input is wrong, or 1."""
    return perform("reproduce", SWEEP, lambda: _main(**arguments))


#: In place of a paper: every paper and then their overview, or only that.
ALL, OVERVIEW = "all", "overview"


def _main(
    *,
    paper: str,
    figures: Sequence[str],
    only: Sequence[str],
    scale: int,
    causes: bool = False,
    out: str | None = None,
    jobs: int | None = None,
    traces: str | None = None,
) -> None:
    from wordline.reproduce import overview
    from wordline.reproduce import paper as papers

    if paper not in (ALL, OVERVIEW):
        folder = Path(out or f"out/{paper}")
        _one(paper, folder, figures, only, scale, causes, jobs, traces)
        return
    if figures or only:
        raise UserError(
            f"{paper} has no figures or runs of its own; name a paper, or leave them out"
        )
    folder = Path(out or "out")
    spent = {}
    for name in papers.papers() if paper == ALL else ():
        print(f"== {name}", flush=True)
        begin = time.perf_counter()
        _one(name, folder / name, figures, only, scale, causes, jobs, traces)
        spent[name] = time.perf_counter() - begin
        print(f"{name} took {_minutes(spent[name])}", flush=True)
    written = overview.write(folder)
    print(overview.terminal(folder))
    if spent:
        took = ", ".join(f"{name} {_minutes(seconds)}" for name, seconds in spent.items())
        print(f"all took {_minutes(sum(spent.values()))}: {took}")
    print(f"the overview is {written}", file=sys.stderr)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def _one(
    paper: str,
    folder: Path,
    figures: Sequence[str],
    only: Sequence[str],
    scale: int,
    causes: bool,
    jobs: int | None,
    traces: str | None,
) -> None:
    from wordline.progress import Bars
    from wordline.reproduce import claims, page
    from wordline.reproduce import paper as papers
    from wordline.reproduce.terminal import show
    from wordline.runs import Run, Runner

    read = papers.read(paper, scale=scale, traces=traces)
    shown = [f for f in read.figures if f.is_asked(figures) and not read.lacks(f)]
    if not shown:
        known = ", ".join(figure.number for figure in read.figures)
        raise UserError(f"--figure {' '.join(figures)}: {paper} has the figures {known}")
    patterns = [pattern for figure in shown for pattern in figure.runs] if figures else ["*"]
    # Whoever names figures or runs has named causes, too.
    left_out = [] if causes or figures or only else read.causes
    asked = {n: r for n, r in read.runs.items() if _is_asked(n, patterns, only, left_out)}
    if not asked:
        known = ", ".join(sorted({n.split("/")[0] for n in read.runs}))
        raise UserError(
            f"--only {' '.join(only)}: {paper} has runs GROUP/WORKLOAD/SCHEME of {known}"
        )
    names = {run: name for name, run in reversed(asked.items())}

    def name(run: Run) -> str:
        return names.get(run, f"{run.workload} {run.scheme}")

    with Bars(len(names), name) as bars:
        runner = Runner(folder / "runs", jobs=jobs, watch=bars.watch, ended=bars.ended)
        reports, refused = runner.run(names)
    for run, why in refused.items():
        print(f"{name(run)} was refused: {why}", file=sys.stderr)
    found = {n: reports[run] for n, run in asked.items() if run in reports}
    study = papers.Study(read, found, scale, left_out)
    shown = [f for f in shown if f.has_any(found) and not (left_out and f.shows_causes)]
    judged = claims.judge(read, study)
    command = f"wordline reproduce {paper}"
    command += "".join(f" --figure {f}" for f in figures)
    command += "".join(f" --only '{p}'" for p in only)
    command += f" --scale {scale}" if scale > 1 else ""
    command += " --causes" if causes else ""
    written = page.write(study, shown, judged, folder, command)
    if judged:
        show(judged, page.sources(study))
        if left_out:
            print(page.hint(study, command))
    print(bars.summary() + "; " + _cost(list(found.values())))
    print(f"wrote {len(written)} files; the page is {folder / 'index.html'}", file=sys.stderr)


def _is_asked(
    run: str, patterns: Sequence[str], only: Sequence[str], left_out: Sequence[str]
) -> bool:
    """Whether a run is needed, was not excluded by name, and is of no group that is left out."""
    return (
        any(fnmatchcase(run, p) for p in patterns)
        and (not only or any(fnmatchcase(run, p) for p in only))
        and run.split("/")[0] not in left_out
    )


def _cost(reports: Sequence[Any]) -> str:
    """Say what the runs took, whenever they were done."""
    if not reports:
        return "no run"
    wall = sum(report.speed.wall_s for report in reports)
    memory = max(report.memory.engine_bytes for report in reports)
    requests = sum(report.host.completed for report in reports)
    return (
        f"{requests / 1e6:.0f} M requests, run in {wall / 60:.0f} minutes if one after the other, "
        f"at most {memory / 2**20:.0f} MiB of state a run"
    )
