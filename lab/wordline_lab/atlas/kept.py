"""The data of an atlas page, read back: a finished atlas is shown again without new runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wordline import UserError
from wordline.atlas.cells import KEYS, MILLI, Cell, DriveCells, Place
from wordline.steady import Steady
from wordline_lab.atlas.published import PublishedAtlas
from wordline_lab.atlas.tuned import Tuned, run_of

#: What stands before the data of a page.
_DATA = '<script type="application/json" id="atlas-data">'


def data_of(page: Path) -> PublishedAtlas | None:
    """Return the atlas on a page; ``None`` if there is no such page.

    Raises
    ------
    UserError
        It is of a version with other measures.
    """
    if not page.exists():
        return None
    _, _, behind = page.read_text(encoding="utf-8").partition(_DATA)
    data, end, _ = behind.partition("</script>")
    try:
        return from_json(data) if end else None
    except ValueError as e:
        raise UserError(f"{page}: {e}") from e


def from_json(text: str) -> PublishedAtlas:
    """Read what `PublishedAtlas.to_json` wrote.

    Raises
    ------
    ValueError
        It is of a version with other measures.
    """
    found = json.loads(text)
    keys = [m["key"] for m in found["measures"]]
    if keys != list(KEYS):
        raise ValueError(
            f"this atlas has the measures {', '.join(keys)}; run `wordline atlas` again"
        )
    tuned = {drive["name"]: _tuned(drive) for drive in found["drives"]}
    named = ("title", "seeds", "requests", "levels", "kinds")
    is_finite = found.get("finite", False)
    return PublishedAtlas(
        **{name: found[name] for name in named},
        drives=[_drive_of(d, tuned[d["name"]], is_finite=is_finite) for d in found["drives"]],
        fit=found.get("fit"),
        by=found.get("by", "load"),
        is_finite=is_finite,
        tuned=tuned,
        beside={piece: (twin, akin) for piece, (twin, akin) in found.get("beside", {}).items()},
    )


def _tuned(drive: Mapping[str, Any]) -> dict[str, Tuned]:
    return {t.label: t for t in (Tuned(**of) for of in drive.get("tuned", []))}


def _drive_of(
    found: Mapping[str, Any], tuned: Mapping[str, Tuned], *, is_finite: bool
) -> DriveCells:
    schemes = {label: (device, scheme) for label, device, scheme in found["schemes"]}
    further = run_of(tuned)
    labels = [*schemes, *further]

    def cell(c: Any) -> Cell:
        if isinstance(c, int):
            return Cell(why=found["reasons"][c])
        rows, steady, failed, fixed, parts, *more = c
        logs, (needed, changing) = _logs_of(rows), [*more, 0, 0][:2]
        steadiness = Steady(steady, logs.shape[1], needed, changing, is_finite)
        return Cell(logs, steadiness, failed, bool(fixed), "", parts)

    places = [
        Place(
            tuple(p["at"]),
            p["workload"],
            p["initial"],
            {device: [(k, v) for k, v in s] for device, s in p["set"].items()},
            np.array([float("nan") if v is None else v for v in p["base"]]),
            (p["requests"][0], p["requests"][1]),
            {s: cell(c) for s, c in zip(labels, p["cells"], strict=True)},
            {labels[int(s)]: _logs_of(rows) for s, rows in p.get("again", {}).items()},
            found["baseline"],
            p.get("asked", 0),
            p.get("seconds", 0.0),
        )
        for p in found["places"]
    ]
    return DriveCells(found["name"], found["title"], found["baseline"], schemes, places, further)


def _logs_of(rows: Sequence[Sequence[int] | None]) -> Any:
    seeds = max((len(r) for r in rows if r), default=1)
    return np.array([r if r else [float("nan")] * seeds for r in rows], dtype=float) / MILLI
