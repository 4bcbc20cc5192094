"""What the published atlas runs: ``atlas.toml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wordline import toml
from wordline.atlas import design as d
from wordline_lab.atlas import tuned


def table() -> Mapping[str, Any]:
    """Return what the file has."""
    return toml.read(Path(__file__).parent / "atlas.toml")


def built_in(*, seeds: int | None = None, requests: int | None = None) -> d.Design:
    """Return the design of the published atlas.

    Parameters
    ----------
    seeds, requests
        In place of those of its file, for a smaller one.
    """
    text = table()
    workloads = {w["name"]: w["spelling"] for w in text["workloads"]}
    levels = {
        "load": list(d.LOADS),
        "workload": list(workloads),
        "fill": list(d.FILLS),
        "age": list(d.AGES),
        "cache": list(d.CACHES),
    }
    return d.Design(
        title=text["title"],
        drives=[_with_tuned(d.drive_of(name, found)) for name, found in text["drives"].items()],
        conditions=conditions(text["conditions"], levels),
        workloads=workloads,
        kinds={w["name"]: w["kind"] for w in text["workloads"]},
        seeds=seeds or text["seeds"],
        requests={
            w["name"]: requests or w.get("requests", text["requests"]) for w in text["workloads"]
        },
        levels=levels,
    )


def conditions(
    rows: Sequence[Sequence[int]], levels: Mapping[str, Sequence[str]]
) -> list[d.Condition]:
    """Return the conditions of a table of positions in the lists of levels."""
    named = [[levels[f][i] for f, i in zip(d.FACTORS, row, strict=True)] for row in rows]
    return [d.Condition(*row) for row in named]


def _with_tuned(drive: d.Drive) -> d.Drive:
    return replace(drive, tuned=tuned.of_drive(drive.schemes))
