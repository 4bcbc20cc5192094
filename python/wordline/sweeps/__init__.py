"""All combinations of devices, workloads, schemes and settings: ``wordline sweep``.

`grid` creates the runs, `wordline.runs` executes and stores them, `table` collects their figures,
`frontier` draws two of them, and `result` is what `wordline.sweep` returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wordline import Run, UserError, spelling
from wordline.commands import SWEEP, command, tell


@command("sweep", SWEEP)
def main(
    *,
    set: Sequence[str],
    figures: Sequence[str],
    replicas: int,
    out: str,
    frontier: str | None = None,
    jobs: int | None = None,
    on: str | None = None,
    dry_run: bool = False,
    **of_runs: Any,
) -> int:
    """Do ``wordline sweep``; return 1 if a run failed."""
    from wordline._measures import FIGURES, check_paths
    from wordline.cluster import at
    from wordline.progress import Bars
    from wordline.runs import Runner
    from wordline.sweeps import frontier as pareto
    from wordline.sweeps import grid, result, show, table

    settings: dict[str, list[str]] = {}
    for text in set:
        key, found = grid.values(text)
        if key in settings:
            raise UserError(f"--set {text}: {key} is already set; list all its values there")
        settings[key] = found
    axes = tuple(frontier.split(",")) if frontier else ()
    wanted = [axis.path for axis in pareto.axes(axes)] if axes else []
    asked = grid.grid(set=settings, replicas=replicas, **of_runs)
    for line in spelling.lines_of_lacking(asked.lacking):
        tell(line)
    paths = list(figures) or list(FIGURES)
    paths += [path for path in wanted if path not in paths]
    check_paths(paths)
    labels = {
        run: " · ".join(point.at[axis] for axis in asked.axes)
        for point in asked.points
        for run in point.runs
    }

    def name(run: Run) -> str:
        return labels[run] + (f" · seed {run.seed}" if replicas > 1 else "")

    at_once, executor = at(on, jobs)
    kept = Path(out) / "runs"
    if dry_run:
        runner = Runner(kept, jobs=at_once, executor=executor)
        wrong = result.check_values(asked, runner)
        wrong |= runner.begun_wrong(asked.runs)
        print(runner.forecast(run for run in asked.runs if run not in wrong))
        for why in dict.fromkeys(table.reason(e) for e in wrong.values()):
            here = [name(run) for run, e in wrong.items() if table.reason(e) == why]
            print(f"{len(here):,} failed: {', '.join(here)}: {why}")
        return 0
    results: list[result.Sweep] = []
    try:
        with Bars(len(asked.runs), name) as bars:
            runner = Runner(
                kept, jobs=at_once, executor=executor, watch=bars.watch, ended=bars.ended
            )
            result.perform(asked, runner, paths, results.append)
    finally:
        # Whatever cannot be written, the table is known.
        unread: BrokenPipeError | None = None
        for done in results:
            try:
                show.terminal(done.table, done._rests(), done.changes())
                print(bars.summary())
            except BrokenPipeError as e:
                unread = e  # the files have readers of their own
    (done,) = results
    for path in done.save(out, axes or None):
        tell(f"wrote {path}")
    if unread:
        raise unread
    return int(any(combination.failed for combination in done))
