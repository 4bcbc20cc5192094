"""The settings of the search for parameters: the table ``[search]`` of ``atlas.toml``.

Its workloads and seeds differ from those of the atlas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wordline import Run
from wordline.atlas import design as d
from wordline.atlas.execute import Performer
from wordline.search import Tuned as Search
from wordline.search import settings
from wordline_lab.atlas import published
from wordline_lab.atlas.tuned import Tuned


def table() -> Mapping[str, Any]:
    """Return the table: ``trials``, ``seeds``, ``requests``, workloads and conditions."""
    found: Mapping[str, Any] = published.table()["search"]
    return found


def design() -> d.Design:
    """Return the drives of the atlas under the conditions of a search."""
    found, shown = table(), published.built_in()
    names = [w["name"] for w in found["workloads"]]
    levels = {**shown.levels, "workload": names}
    return replace(
        shown,
        conditions=published.conditions(found["conditions"], levels),
        workloads={w["name"]: w["spelling"] for w in found["workloads"]},
        kinds={w["name"]: w["kind"] for w in found["workloads"]},
        seeds=len(found["seeds"]),
        requests=dict.fromkeys(names, found["requests"]),
        levels=levels,
    )


def runs(performer: Performer, drive: d.Drive, label: str) -> list[Run]:
    """Return a run of a scheme under each condition, of a drive that has been calibrated.

    A scheme that admits no dynamic cache keeps the static one, as in the atlas.

    Raises
    ------
    UserError, Fault
        As `Runner.run`.
    """
    found = []
    for condition in performer.design.conditions:
        run = performer.described(drive, condition, label)
        _, refused = performer.runner.run([run])
        found.append(performer.described(drive, condition, label, fixed=True) if refused else run)
    return found


def of_search(of: str, device: str, found: Search) -> Tuned:
    """Return the result of a search for one objective; raises as `wordline.search.Tuned.best`."""
    best = found.best
    [cost], [objective] = best.costs or (1.0,), found.objectives
    measure = "_".join(objective.split(".")[1:])
    if cost >= 1:
        return Tuned(of, device, found.scheme, "", measure, 1.0)
    return Tuned(of, device, best.scheme, settings(best.parameters), measure, cost)
