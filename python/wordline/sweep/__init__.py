"""Every combination of devices, workloads, schemes and settings: ``wordline sweep``.

`grid` makes the runs, `wordline.runs` does and keeps them, `table` gathers their figures and
`frontier` draws two of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wordline import UserError
from wordline.commands import SWEEP, perform


def main(**arguments: Any) -> int:
    """Do ``wordline sweep``; return its exit code: 0, or 2 where the input is wrong, or 1."""
    return perform("sweep", SWEEP, lambda: _main(**arguments))


def _main(
    *,
    devices: Sequence[str],
    workloads: Sequence[str],
    schemes: Sequence[str],
    initials: Sequence[str],
    set: Sequence[str],
    figures: Sequence[str],
    seed: int,
    replicas: int,
    check: bool,
    out: str,
    frontier: str | None = None,
    jobs: int | None = None,
    requests: int | None = None,
    fit: str | None = None,
    traces: str | None = None,
) -> None:
    from wordline.progress import Bars
    from wordline.runs import Run, Runner, stand_ins
    from wordline.sweep import frontier as pareto
    from wordline.sweep import grid, show, table

    settings: dict[str, list[str]] = {}
    for text in set:
        key, found = grid.values(text)
        if key in settings:
            raise UserError(f"--set {text}: {key} is there already; give all its values at once")
        settings[key] = found
    axes = pareto.axes(frontier) if frontier else None
    asked = grid.grid(
        devices=devices,
        workloads=workloads,
        schemes=schemes,
        initials=initials,
        set=settings,
        seed=seed,
        replicas=replicas,
        requests=requests,
        fit=fit,
        traces=traces,
        check=check,
    )
    folder = Path(out)
    paths = list(figures) or list(table.FIGURES)
    paths += [axis.path for axis in axes or () if axis.path not in paths]

    labels = {
        run: " · ".join(point.at[axis] for axis in asked.axes)
        for point in asked.points
        for run in point.runs
    }

    def name(run: Run) -> str:
        return labels[run] + (f" · seed {run.seed}" if replicas > 1 else "")

    with Bars(len(asked.runs), name) as bars:
        runner = Runner(folder / "runs", jobs=jobs, watch=bars.watch, ended=bars.ended)
        reports, refused = runner.run(asked.runs)
    found = table.table(asked, reports, refused, paths)
    written = table.write(found, folder)
    show.terminal(found)
    print(bars.summary())
    if axes:
        written.append(folder / "frontier.svg")
        pareto.draw(found, *axes, written[-1], stand_ins(reports.values()))
    best = pareto.frontier(found.rows, *axes) if axes else []
    written += show.page(found, asked, reports, folder, best)
    for path in written:
        print(f"wrote {path}", file=sys.stderr)
