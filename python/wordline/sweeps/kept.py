"""A sweep on disk: ``sweep.json`` next to the folder ``runs`` with its reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wordline import Fault, Report, Run, UserError, _result
from wordline.runs import KINDS, Runner, read_error, write_whole, written_error
from wordline.sweeps.grid import Grid, Point
from wordline.sweeps.table import reason, traceback_there

#: The file, and its schema.
NAME = "sweep.json"
SCHEMA = "wordline.sweep/1"


def write(
    grid: Grid, refused: Mapping[Run, Exception], figures: Sequence[str], runner: Runner
) -> Path:
    """Write which runs a sweep has and where their reports are; return the file."""

    def described(run: Run) -> dict[str, Any]:
        found: dict[str, Any] = {"run": asdict(run)}
        if run in refused:
            return {**found, "why": _written(refused[run])}
        return {**found, "report": f"{runner.folder.name}/{runner.path(run).name}"}

    points = [{"at": dict(p.at), "runs": [described(r) for r in p.runs]} for p in grid.points]
    found = {"schema": SCHEMA, "axes": grid.axes, "figures": list(figures), "combinations": points}
    path = runner.folder.parent / NAME
    write_whole(path, json.dumps(found, indent=1).encode())
    return path


def _written(why: Exception) -> dict[str, Any]:
    own = why if type(why).__name__ in KINDS else Fault(reason(why))
    return {**written_error(own), "traceback": traceback_there(why)}


def read(path: Path) -> tuple[Grid, dict[Run, Report], dict[Run, Exception], list[str]]:
    """Return a sweep's grid, its reports, its failures, and the figures of its table.

    Raises `UserError`: the file does not describe a sweep, or one of its reports is missing.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as e:
        raise UserError(f"{path}: invalid JSON: {e}") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise UserError(f"{path}: not a Wordline sweep\n  allowed: schema {SCHEMA}")
    reports: dict[Run, Report] = {}
    refused: dict[Run, Exception] = {}
    points = []
    for combination in found["combinations"]:
        runs = []
        for kept in combination["runs"]:
            run = Run(**{**kept["run"], "set": tuple(map(tuple, kept["run"]["set"]))})
            runs.append(run)
            if "why" in kept:
                refused[run] = _read(kept["why"])
                continue
            file = path.parent / kept["report"]
            if not file.is_file():
                raise UserError(
                    f"{file}: the report of a run is missing; repeat the sweep with the same --out "
                    "to run it again"
                )
            found_there = _result.read(file)
            assert isinstance(found_there, Report)
            reports[run] = found_there
        points.append(Point(combination["at"], tuple(runs)))
    return Grid(found["axes"], points, lacking={}), reports, refused, found["figures"]


def _read(kept: Mapping[str, Any]) -> Exception:
    why: Any = read_error(kept)
    if kept["traceback"]:
        why.traceback_there = kept["traceback"]
    return why
