"""The claims file: each comparison, read and checked before anything runs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordline import UserError, toml

BUILT_IN = Path(__file__).with_name("claims.toml")
KEYS = {
    *("id", "group", "quantity", "source", "experiment", "formula", "with", "over", "theirs"),
    *("tolerance", "why", "quick", "reason"),
}
NEEDED = ("id", "group", "quantity", "source", "experiment", "tolerance", "why")


@dataclass(frozen=True)
class Claim:
    """One row: the measured quantity, its arguments, and the expected value.

    `tolerance` is relative, 0 for exact, and ``None`` if the figure must lie between the bounds
    that the experiment returns.
    """

    id: str
    group: str
    quantity: str
    source: str
    experiment: str
    arguments: dict[str, Any]
    theirs: float | None
    tolerance: float | None
    why: str
    reason: str


@dataclass(frozen=True)
class Claims:
    """All rows, and the omitted comparisons with their reasons."""

    rows: list[Claim]
    left_out: list[tuple[str, str]]


def read(path: Path, *, quick: bool) -> Claims:
    """Read a claims file.

    Raises
    ------
    UserError
        It cannot be read, or a claim in it is not one.
    """
    tables = toml.read(path)
    rows: list[Claim] = []
    for number, table in enumerate(tables.get("claim", []), 1):
        rows += _rows(table, f"{path}: claim {table.get('id', number)}", quick)
    ids = [row.id for row in rows]
    twice = {i for i in ids if ids.count(i) > 1}
    if twice:
        raise UserError(f"{path}: duplicate id {', '.join(sorted(twice))}; ids must be unique")
    return Claims(rows, [(e["what"], e["why"]) for e in tables.get("left_out", [])])


def _rows(table: Mapping[str, Any], where: str, quick: bool) -> list[Claim]:
    unknown, missing = set(table) - KEYS, [key for key in NEEDED if key not in table]
    if unknown:
        raise UserError(
            f"{where}: unknown key {min(unknown)!r}; allowed: {', '.join(sorted(KEYS))}"
        )
    if missing:
        raise UserError(f"{where}: {missing[0]!r} is missing")
    if (
        "theirs" not in table
        and "formula" not in table
        and table["experiment"] in ("waf", "latency")
    ):
        raise UserError(f"{where}: set a recorded figure (theirs) or a formula")
    less = table.get("quick")
    if quick and less is None:
        return []
    less = less if quick and less else {}
    over = {**table.get("over", {}), **less.get("over", {})}
    fixed = {**table.get("with", {}), **less.get("with", {})}
    if "formula" in table:
        fixed["formula"] = table["formula"]
    tolerance = _tolerance(table["tolerance"], where)
    rows = []
    for values in itertools.product(*over.values()):
        # A key such as `spare_f_r` stands for several arguments that vary together.
        varied: dict[str, Any] = {}
        for key, value in zip(over, values, strict=True):
            together = isinstance(value, list)
            varied.update(zip(key.split("_"), value, strict=True) if together else [(key, value)])
        name = "-".join(v if isinstance(v, str) else f"{v:g}" for v in varied.values())
        recorded = table.get("theirs")
        if isinstance(recorded, Mapping):
            if name not in recorded:
                raise UserError(f"{where}: theirs has no figure for {name!r}")
            recorded = recorded[name]
        slug = name.replace(" ", "-").replace(",", "")
        rows.append(
            Claim(
                id=f"{table['id']}-{slug}" if slug else table["id"],
                group=table["group"],
                quantity=table["quantity"].format(**{**fixed, **varied}),
                source=table["source"],
                experiment=table["experiment"],
                arguments={**fixed, **varied},
                theirs=recorded,
                tolerance=tolerance,
                why=table["why"],
                reason=table.get("reason", {}).get(name, ""),
            )
        )
    return rows


def _tolerance(value: object, where: str) -> float | None:
    if value == "exact":
        return 0.0
    if value == "within":
        return None
    if isinstance(value, float) and 0 < value < 1:
        return value
    raise UserError(
        f'{where}: tolerance {value!r} is not a share such as 0.03, "exact" or "within"'
    )
