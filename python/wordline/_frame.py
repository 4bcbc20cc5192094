"""Tables for the installed data-frame library; nothing else needs one."""

from __future__ import annotations

import importlib
import itertools
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from wordline._wordline import UserError

#: Libraries that a frame can be of, in the order in which they are looked for.
LIBRARIES = ("polars", "pandas")
#: Parts of a report that hold no figures of the run as a whole.
_NOT_FIGURES = ("config", "followed", "latency_cdf", "metrics", "timeline", "replicas", "seed")


def frame(rows: Sequence[Mapping[str, Any]], library: str | None) -> Any:
    """Return rows, each a dictionary of plain values, as a data frame; missing values are null.

    The library is ``"polars"`` or ``"pandas"``; if not given the first of them that is installed.
    Raises `UserError`: the library is not installed, or is another.
    """
    return of_columns(columns(rows), library)


def of_columns(found: Mapping[str, list[Any]], library: str | None) -> Any:
    """Return columns as a data frame, as `frame` does."""
    return importlib.import_module(library_of(library)).DataFrame(dict(found))


def library_of(asked: str | None) -> str:
    """Return the library that a frame is to be of, which is installed.

    Raises `UserError`: none is, or the one that is asked for is another.
    """
    if asked is not None and asked not in LIBRARIES:
        raise UserError(f"library={asked!r}: allowed are {', '.join(LIBRARIES)}")
    for name in [asked] if asked else LIBRARIES:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        return name
    wanted = asked or "polars or pandas"
    raise UserError(
        f"to_frame needs {wanted}, which is not installed; "
        + shlex.join([sys.executable, "-m", "pip", "install", asked or "polars"])
    )


def as_printed(text: str) -> str:
    """Return what a terminal shows, for a notebook, whatever fonts that has."""
    return f'<pre style="font-family:monospace;line-height:1.25">{escape(text)}</pre>'


def html(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """Return a small table for a notebook, in the notebook's own style."""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f'<table><caption style="white-space:nowrap">{escape(caption)}</caption>'
        f"<thead><tr>{names}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows by column, ``None`` where a row has no such value."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: _alike([row.get(name) for row in rows]) for name in names}


def _alike(values: list[Any]) -> list[Any]:
    """Convert a column of integers and floats to floats."""
    if any(isinstance(v, float) for v in values):
        return [float(v) if isinstance(v, int) and not isinstance(v, bool) else v for v in values]
    return values


def rows_of(report: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row for each run of a ``report.json``, one per seed.

    It has the columns of `before` first.
    """
    replicas = report.get("replicas") or {}
    for run in replicas.get("runs") or [report]:
        figures = {key: found for key, found in run.items() if key not in _NOT_FIGURES}
        yield {
            **experiment(report),
            **before,
            "seed": run["seed"],
            "result_hash": run["result_hash"],
            **dict(numbers(figures)),
        }


def experiment(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything except the seed that determines the runs of a report.

    Reports of one build with equal values here and equal seeds have equal results.
    """
    config, command = report.get("config", {}), report.get("command", [])
    options: dict[str, list[str]] = {}
    for option, value in itertools.pairwise(command):
        if option.startswith("--"):
            options.setdefault(option, []).append(value)
    state = options.get("--from-state")
    initial = config.get("initial", {}).get("spelling")
    parameters = config.get("scheme", {}).get("parameters", {})
    sources = [v for k, v in parameters.items() if k.rpartition(".")[2] == "source"]
    changes = options.get("--set", report["device"].get("changes", []))
    return {
        "device": report["device"].get("spelling", report["device"]["name"]),
        "workload": report["workload"].get("text", report["workload"]["name"]),
        "scheme": report["scheme"]["name"],
        "scheme_source": "+".join(sources) or None,
        "initial": f"from_state={state[0]}" if state else initial,
        "fit": config.get("fit"),
        "set": ",".join(sorted(changes)) or None,
        "requests": config.get("requests"),
    }


def numbers(tree: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, float | int]]:
    """Yield every number of a report with its path."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from numbers(value, f"{path}{key}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield path + key, value
