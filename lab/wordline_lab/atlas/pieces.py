"""Real traces next to their twins: the runs of ``wordline atlas --traces DIR``.

The table ``[pieces]`` of ``atlas.toml`` names traces, and for each the twin to run under the same
conditions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from wordline import UserError
from wordline.atlas import design as d
from wordline_lab import traces
from wordline_lab.atlas import kept as pages
from wordline_lab.atlas import published, trace_vs_twin


def design(
    folder: str, *, seeds: int | None = None, requests: int | None = None
) -> tuple[published.Published, list[str]]:
    """Return the design for the real traces in a folder, and the missing ones.

    Parameters
    ----------
    folder
        Where they are, or in folders in it.
    seeds, requests
        In place of those of the file, for a smaller one; of requests the fewer.

    Returns
    -------
    design, lacks
        Each condition with a trace and then with its twin; patterns of files that are not there.

    Raises
    ------
    UserError
        There is no such folder, it has none of them, or several files for one.
    """
    asked = {w["name"]: w for w in _table()["workloads"]}
    found = _found(asked, folder)
    twins = published.built_in(seeds=seeds).with_tuned({})
    rows = published.conditions(_table()["conditions"], {**twins.levels, "workload": list(asked)})
    workloads: dict[str, str] = {}
    kinds: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name, path in found.items():
        own, twin = asked[name], asked[name]["beside"]
        # Absolute, so that the folder can be told from what lies in it.
        workloads[name] = d.with_options(str(path.absolute()), own["options"])
        workloads[twin] = twins.workloads[twin]
        kinds |= {name: f"real, {own['kind']}", twin: twins.kinds[twin]}
        counts[name] = counts[twin] = min(requests or own["requests"], own["requests"])
    made = replace(
        twins,
        title=_table()["title"],
        conditions=[
            replace(row, workload=workload)
            for row in rows
            if row.workload in found
            for workload in (row.workload, asked[row.workload]["beside"])
        ],
        workloads=workloads,
        kinds=kinds,
        requests=counts,
        levels={**twins.levels, "workload": list(workloads)},
        beside={name: (asked[name]["beside"], asked[name]["akin"]) for name in found},
        traces=str(Path(folder).absolute()),
        is_finite=True,
    )
    return made, [w["file"] for name, w in asked.items() if name not in found]


def files() -> str:
    """List the patterns of the file names to look for."""
    return ", ".join(w["file"] for w in _table()["workloads"])


def section(folder: Path) -> str:
    """Return the text on real traces in the atlas of the twins, if their folder exists."""
    how = (
        "`wordline atlas --traces DIR` runs real traces and their twins under the same conditions. "
        f"DIR has {files()}."
    )
    kept = pages.data_of(folder / "index.html")
    if kept is None:
        return how
    name = folder.name
    where = f"[their text]({name}/README.md) and on [their page]({name}/index.html)"
    return f"{how} All results are in {where}.\n\n{trace_vs_twin.table(kept)}"


def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = published.table()["pieces"]
    return table


def _found(asked: Mapping[str, Mapping[str, Any]], folder: str) -> dict[str, Path]:
    """Return the file of each real trace that a folder has."""
    there = traces.files(folder)
    found = {}
    for name, own in asked.items():
        fit = [path for path in there if fnmatchcase(path.name, own["file"])]
        if len(fit) > 1:
            raise UserError(
                f"--traces {folder}: {len(fit)} files are {own['file']}: "
                f"{', '.join(str(path.relative_to(folder)) for path in fit)}; leave one of them"
            )
        if fit:
            found[name] = fit[0]
    if not found:
        raise UserError(
            f"--traces {folder}: it has none of the real traces of the atlas, in it or in folders "
            f"in it: {files()}; name a folder that has one, or leave them out with --only twins"
        )
    return found
