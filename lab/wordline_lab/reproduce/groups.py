"""Groups of runs, expanded over every workload, scheme, round and seed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import wordline
from wordline import Run, UserError
from wordline.quantity import in_bytes
from wordline_lab.reproduce.readings import Alternative

#: Logical capacities are cut to whole units of this many bytes, which is no smaller than any page.
UNIT = 1 << 14


def share_workloads(groups: Sequence[dict[str, Any]], file: Path) -> None:
    """Resolve ``own_workloads`` that name another group."""
    tables = {g["name"]: own for g in groups if isinstance(own := g.get("own_workloads"), dict)}
    for group in groups:
        named = group.get("own_workloads")
        if isinstance(named, str):
            if named not in tables:
                raise UserError(
                    f"{file}: {group['name']}.own_workloads: {named!r} is not a group with "
                    f"workloads of its own; allowed: {', '.join(tables)}"
                )
            group["own_workloads"] = tables[named]


def workloads(group: Mapping[str, Any], text: Mapping[str, Any]) -> dict[str, str]:
    """Return the spellings of a group's workloads by name."""
    own = _spread(group, "own_workloads")
    names = group.get("workloads") or list(own) or list(text["workloads"])
    return {name: {**text["workloads"], **own}[name] for name in names}


def expand(
    group: Mapping[str, Any],
    text: Mapping[str, Any],
    folder: Path,
    scale: int,
    turned: Sequence[Alternative] = (),
) -> dict[str, Run]:
    """Make the runs of a group: ``GROUP/WORKLOAD/SCHEME``, with ``/ROUND`` or ``/SEED`` behind.

    Parameters
    ----------
    group
        A table ``[[runs]]`` of ``experiment.toml``, `text`.
    folder
        That of the paper.
    scale
        What sizes are divided by.
    turned
        Readings in place of the main ones.
    """
    name = group["name"]
    changes = [alternative.changes for alternative in turned if alternative.changes_group(name)]
    device = _last(changes, "device", group.get("device", text["device"]))
    initial = _last(changes, "initial", group.get("initial", text["initial"]))
    common = dict(text.get("set", {}))
    settings = {**common, **(_scaled(device, common, scale) if scale > 1 else {})}
    for own in (group, *changes):
        settings.update(_divided_all(own.get("set", {}), scale))
    own_schemes = _spread(group, "own_schemes")
    schemes = {**text["schemes"], **own_schemes}
    for change in changes:
        schemes = _otherwise(schemes, change.get("schemes", {}), change.get("scheme_options", {}))
    options = [own["workload_options"] for own in (group, *changes) if "workload_options" in own]
    spelled = workloads(group, text)
    for change in changes:
        spelled = _otherwise(spelled, change.get("workloads", {}), {})
    found = {}
    for workload, spelling in spelled.items():
        spelling = with_options(spelling.replace("{folder}", str(folder)), *options)
        spelling = _divided_in(spelling, scale)
        more = dict(settings)
        if scale > 1 and (spelling.startswith("twin:") or spelling.endswith(".toml")):
            more["workload.scale"] = str(scale)
        if scale > 1:
            divided = text.get("divided", {}).items()
            more.update({key: str(max(1, count // scale)) for key, count in divided})
        for scheme in group.get("schemes", text["schemes"]) or own_schemes:
            before: Run | None = None
            rounds, seeds = group.get("rounds", 1), group.get("seeds", text.get("seeds", 1))
            for number in range(1, max(rounds, seeds) + 1):
                run = Run(
                    device=device,
                    scheme=_divided_in(schemes[scheme], scale),
                    workload=spelling,
                    set=tuple(sorted(more.items())),
                    initial=initial,
                    after=before,
                    seed=number if seeds > 1 else Run.seed,
                )
                end = f"/{number}" if max(rounds, seeds) > 1 else ""
                found[f"{name}/{workload}/{scheme}{end}"] = run
                before = run if rounds > 1 else None
    return found


def _last(changes: Sequence[Mapping[str, Any]], key: str, otherwise: str) -> str:
    """Return the value of the last change that has one."""
    return next((change[key] for change in reversed(changes) if key in change), otherwise)


def _otherwise(
    spellings: Mapping[str, str], others: Mapping[str, str], options: Mapping[str, str]
) -> dict[str, str]:
    """Return spellings by name, some in place of others, and some with options behind."""
    found = {}
    for name, spelling in spellings.items():
        behind = [o for pattern, o in options.items() if fnmatchcase(name, pattern)]
        found[name] = with_options(others.get(name, spelling), *behind)
    return found


def with_options(spelling: str, *options: str) -> str:
    """Return a spelling with options behind it: ``twin:fin`` becomes ``twin:fin:speedup=2``."""
    for option in options:
        has_some = ":" in spelling.removeprefix("twin:")
        spelling += ("," if has_some else ":") + option
    return spelling


def _spread(group: Mapping[str, Any], key: str) -> dict[str, str]:
    """Spell what a group has of its own out for every value of what it has in braces."""
    over, left_out = group.get("over", {}), group.get("except", [])
    found = {}
    for name, spelling in group.get(key, {}).items():
        braced = [k for k in over if f"{{{k}}}" in name + spelling]
        for values in itertools.product(*(over[k] for k in braced)):
            chosen = dict(zip(braced, values, strict=True))
            if any(e.items() <= chosen.items() for e in left_out):
                continue
            filled = [name, spelling]
            for k, value in chosen.items():
                filled = [text.replace(f"{{{k}}}", str(value)) for text in filled]
            found[filled[0]] = filled[1]
    return found


def has_jobs(group: Mapping[str, Any]) -> bool:
    """Whether a group runs job files, which are not scaled."""
    return any(w.endswith(".fio") for w in group.get("own_workloads", {}).values())


def _scaled(device: str, changes: Mapping[str, str], scale: int) -> dict[str, str]:
    """Divide the blocks of a plane, those of its cache, and a logical capacity that is given."""
    drive = wordline.identity(
        device=device, scheme="conventional", workload="uniform", set=changes, initial="fresh"
    )["device"]
    found = {}
    for medium in drive["media"]:
        blocks = medium["blocks_per_plane"]
        if blocks // scale < 8:
            raise UserError(
                f"--scale {scale}: {blocks} blocks per plane would become {blocks // scale}, and a "
                f"plane needs 8; allowed: at most {blocks // 8}"
            )
        found[f"medium.{medium['name']}.blocks_per_plane"] = str(blocks)
    if cache := drive.get("slc_cache"):
        found["slc_cache.static_blocks"] = str(cache["static_blocks"])
    if logical := drive["capacity"].get("logical"):
        found["capacity.logical"] = logical
    return _divided_all(found, scale)


def _divided(key: str, value: str, scale: int) -> str:
    """Divide a value that says how large a drive is or how much is written; leave any other."""
    name = key.rsplit(".", 1)[-1]
    if scale > 1 and name in ("blocks_per_plane", "static_blocks"):
        return str(int(value) // scale)
    if scale > 1 and name in ("logical", "bytes"):
        return f"{in_bytes(value) // scale // UNIT * UNIT}B"
    return value


def _divided_all(settings: Mapping[str, str], scale: int) -> dict[str, str]:
    """Divide what settings say of sizes."""
    return {key: _divided(key, value, scale) for key, value in settings.items()}


def _divided_in(spelling: str, scale: int) -> str:
    """Divide what the options of a workload or scheme say of sizes."""
    options = r"\b(\w+)=([^,]+)"
    return re.sub(options, lambda m: f"{m[1]}={_divided(m[1], m[2], scale)}", spelling)
