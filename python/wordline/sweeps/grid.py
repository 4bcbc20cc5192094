"""A grid of runs: what varies, and the runs of all combinations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wordline import Run, UserError, _wordline, spelling


def values(text: str) -> tuple[str, list[str]]:
    """Split ``KEY=A,B,...`` into the key and its values.

    A comma within brackets or quotes is part of the value.

    Raises `UserError`: the key or the values are missing, or a bracket or quote is not closed.
    """
    key, equals, rest = text.partition("=")
    key = key.strip()
    if not key or not equals:
        raise UserError(f"--set {text}: expected KEY=A,B,..., as in gc.victim=greedy,fifo")
    found, depth, quote = [""], 0, ""
    for char in rest:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "[{(":
            depth += 1
        elif char in ")}]":
            depth -= 1
        if char == "," and not depth and not quote:
            found.append("")
        else:
            found[-1] += char
    if depth or quote:
        what = "quote" if quote else "bracket"
        raise UserError(f"--set {text}: a {what} of the value of {key} is not closed")
    found = [value.strip() for value in found]
    if not all(found):
        raise UserError(f"--set {text}: a value of {key} is empty; write KEY=A,B,... without gaps")
    return key, found


@dataclass(frozen=True)
class Point:
    """One combination: the value of each axis, and a run for each repeat."""

    at: Mapping[str, str]
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Grid:
    """All combinations of the axes."""

    axes: list[str]  #: The axes that vary, or ``["scheme"]`` if none does.
    points: list[Point]  #: The combinations; the last axis varies fastest.
    #: By key ``scheme.KEY`` the schemes that run without it, since they have no such parameter.
    lacking: Mapping[str, Sequence[str]]

    @property
    def runs(self) -> list[Run]:
        """Every run of every point, once."""
        return list(dict.fromkeys(run for point in self.points for run in point.runs))


def grid(
    *,
    devices: Sequence[str],
    workloads: Sequence[str],
    schemes: Sequence[str],
    initials: Sequence[str] = (_wordline.DEFAULT_INITIAL,),
    set: Mapping[str, Sequence[str]] | None = None,
    seed: int = _wordline.DEFAULT_SEED,
    replicas: int = 1,
    **of_runs: Any,
) -> Grid:
    """Create the grid of all combinations.

    The arguments are those of `wordline.sweep`, with all values as text in lists, and what all
    runs have in common.

    Raises `UserError`: a value occurs twice, or there are no repeats.
    """
    sets = {key: list(found) for key, found in (set or {}).items()}
    axes = {
        "device": list(devices),
        "workload": list(workloads),
        "initial": list(initials),
        **sets,
        "scheme": list(schemes),
    }
    if _wordline.ALL_COMPATIBLE in axes["scheme"]:
        # Every scheme that is not named.
        named, at_all = axes["scheme"], axes["scheme"].index(_wordline.ALL_COMPATIBLE)
        others = [name for name, _ in _wordline.schemes() if name not in named]
        axes["scheme"] = [*named[:at_all], *others, *named[at_all + 1 :]]
    for name, found in axes.items():
        twice = next((v for v in found if found.count(v) > 1), None)
        if twice is not None:
            raise UserError(f"{name}={twice} appears twice; values of an axis must be unique")
        if not found:
            raise UserError(f"{name} has no values; give at least one")
    if not 1 <= replicas <= _wordline.REPLICAS_MAX:
        raise UserError(f"replicas={replicas} is not between 1 and {_wordline.REPLICAS_MAX}")
    lacking = spelling.without_parameter(axes["scheme"], sets)
    points = []
    for combination in itertools.product(*axes.values()):
        at = dict(zip(axes, combination, strict=True))
        has = (key for key in sets if at["scheme"] not in lacking.get(key, ()))
        changed = tuple((key, at[key]) for key in has)
        own: dict[str, Any] = {key: at[key] for key in ("device", "workload", "scheme", "initial")}
        seeds = ((seed + number) % 2**64 for number in range(replicas))
        runs = tuple(Run(**own, set=changed, seed=number, **of_runs) for number in seeds)
        points.append(Point({**at, "scheme": spelling.shown(at["scheme"])}, runs))
    varied = [name for name, found in axes.items() if len(found) > 1]
    return Grid(varied or ["scheme"], points, lacking)
