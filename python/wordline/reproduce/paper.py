"""A paper as its folder has it: what is run, and under which names.

A folder in `wordline.experiments` holds only what is particular to its paper:

- ``experiment.toml``: the device, workloads and schemes by the names that the paper gives them, and
  groups of runs; what was calibrated, on what, and when.
- ``claims.toml``: what the paper says, and what must come out; `wordline.reproduce.claims`.
- ``causes.toml``: of claims that do not hold, why.
- ``before.json``, ``changes.toml``: the page before, what changed; `wordline.reproduce.changes`.
- its package: ``FIGURES``, the functions that claims name, and ``findings``: what came out, in
  three sentences that open the page.
"""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import wordline
from wordline import Report, Run, UserError, _wordline, toml
from wordline.quantity import in_bytes
from wordline.reproduce import pieces

#: Logical capacities are cut to whole units of this many bytes, which is no smaller than any page.
UNIT = 1 << 14

EXPERIMENTS = Path(__file__).parent.parent / "experiments"


def papers() -> dict[str, Path]:
    """Return the folders of all papers by name."""
    folders = (p.parent for p in EXPERIMENTS.glob("*/experiment.toml"))
    return {p.name.replace("_", "-"): p for p in sorted(folders)}


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper.

    Attributes
    ----------
    number
        As the paper has it: ``9a``, or ``table-2``.
    title
        What is seen.
    runs
        Patterns of the names of the runs that it is made from.
    draw
        Makes the picture from a study: a `matplotlib` figure, or ``None`` for a table.
    rows
        Makes the data beside it: a list of rows, each a value by column.
    beside
        What the paper prints, in words.
    """

    number: str
    title: str
    runs: Sequence[str]
    rows: Callable[[Study], list[dict[str, Any]]]
    draw: Callable[[Study], Any] | None = None
    beside: str = ""

    @property
    def name(self) -> str:
        """The name of its files."""
        return self.number if self.number.startswith("table") else f"figure-{self.number}"

    def has_any(self, reports: Iterable[str]) -> bool:
        """Whether any run that it is made from is there, or it needs none."""
        names = list(reports)
        return not self.runs or any(fnmatchcase(n, p) for n in names for p in self.runs)

    @property
    def shows_causes(self) -> bool:
        """Whether it is the table of what shows why claims deviate."""
        return self.number == "table-causes"

    @property
    def label(self) -> str:
        """What it is called: ``Figure 9a``, or ``Table 2``."""
        if self.number.startswith("table"):
            return self.number.replace("-", " ").capitalize()
        return f"Figure {self.number}"

    def is_asked(self, asked: Sequence[str]) -> bool:
        """Whether it is among the figures asked for; ``9`` asks for 9a and 9b."""
        return not asked or any(re.fullmatch(rf"{re.escape(a)}[a-z]?", self.number) for a in asked)


@dataclass(frozen=True)
class Paper:
    """A paper's folder, read; `causes` are groups of runs that only show why claims deviate."""

    name: str
    folder: Path
    title: str
    source: str
    calibrated: Mapping[str, Any]
    workloads: Mapping[str, str]
    schemes: Mapping[str, str]
    runs: Mapping[str, Run]
    missing: Mapping[str, str]
    causes: Sequence[str]
    pieces: Sequence[pieces.Piece]
    module: ModuleType

    def lacks(self, figure: Figure) -> bool:
        """Whether runs that a figure needs cannot be done yet."""
        return any(pattern.split("/")[0] in self.missing for pattern in figure.runs)

    @property
    def figures(self) -> Sequence[Figure]:
        """Figures and tables in the order of the paper."""
        return [*self.module.FIGURES, *([_pieces_table(self)] if self.pieces else [])]


def read(name: str, *, scale: int = 1, traces: str | None = None) -> Paper:
    """Read a paper's folder.

    Parameters
    ----------
    name
        Such as ``pa-ssd``.
    scale
        Divides the drive's blocks, its capacity, and footprint and length of the workloads.
    traces
        A folder with real traces, which are run beside the twins.

    Raises
    ------
    UserError
        There is no such paper, its folder is wrong, or real traces were to be scaled.
    """
    known = papers()
    if name not in known:
        raise UserError(f"{name}: there is no such paper; there are {', '.join(known)}")
    if scale > 1 and traces:
        raise UserError("--scale divides twins, not traces; leave --scale or --traces out")
    folder = known[name]
    text = toml.read(folder / "experiment.toml")
    _share_workloads(text["runs"], folder / "experiment.toml")
    common = dict(text.get("set", {}))
    workloads, schemes = text["workloads"], text["schemes"]
    runs: dict[str, Run] = {}
    missing = {g["name"]: g["missing"] for g in text["runs"] if "missing" in g}
    if scale > 1:
        missing |= {g["name"]: "a job file is not scaled" for g in text["runs"] if _has_jobs(g)}
    for group in text["runs"]:
        if group["name"] in missing:
            continue
        device = group.get("device", text["device"])
        changed = {**common, **(_scaled(device, common, scale) if scale > 1 else {})}
        runs.update(_group(group, text, folder, device, changed, scale))
    found: list[pieces.Piece] = []
    if traces and "pieces" in text:
        table = text["pieces"]
        groups = {g["name"]: g for g in text["runs"]}
        if table["beside"] not in groups:
            raise UserError(
                f"{folder / 'experiment.toml'}: pieces.beside: there is no group "
                f"{table['beside']!r}; there are {', '.join(groups)}"
            )
        group = groups[table["beside"]]
        found = pieces.find(table, _workloads(group, text), traces)
        own = {piece.label: piece.spelling for piece in found}
        group = {**group, "name": pieces.GROUP, "workloads": list(own), "own_workloads": own}
        device = group.get("device", text["device"])
        if found:
            runs.update(_group(group, text, folder, device, common, scale))
    return Paper(
        name=name,
        folder=folder,
        title=text["title"],
        source=text["source"],
        calibrated=text.get("calibrated", {}),
        workloads=workloads,
        schemes=schemes,
        runs=runs,
        missing=missing,
        causes=[g["name"] for g in text["runs"] if g.get("cause", False)],
        pieces=found,
        module=importlib.import_module(f"wordline.experiments.{folder.name}"),
    )


def _pieces_table(read: Paper) -> Figure:
    return Figure(
        pieces.TABLE,
        "real traces beside their twins, over the baseline",
        [f"{pieces.GROUP}/*"],
        pieces.rows,
        beside=f"`--traces DIR` adds this table, where DIR has {pieces.files(read.pieces)}.",
    )


def _share_workloads(groups: Sequence[dict[str, Any]], file: Path) -> None:
    """Give groups whose ``own_workloads`` is the name of another group those of that group."""
    tables = {g["name"]: own for g in groups if isinstance(own := g.get("own_workloads"), dict)}
    for group in groups:
        named = group.get("own_workloads")
        if isinstance(named, str):
            if named not in tables:
                raise UserError(
                    f"{file}: {group['name']}.own_workloads: there is no group {named!r} with "
                    f"workloads of its own; there are {', '.join(tables)}"
                )
            group["own_workloads"] = tables[named]


def _workloads(group: Mapping[str, Any], text: Mapping[str, Any]) -> dict[str, str]:
    """Return the spellings of a group's workloads by name."""
    own = _spread(group, "own_workloads")
    names = group.get("workloads") or list(own) or list(text["workloads"])
    return {name: {**text["workloads"], **own}[name] for name in names}


def _group(
    group: Mapping[str, Any],
    text: Mapping[str, Any],
    folder: Path,
    device: str,
    common: Mapping[str, str],
    scale: int,
) -> dict[str, Run]:
    """Make the runs of a group: ``GROUP/WORKLOAD/SCHEME``, with ``/ROUND`` or ``/SEED`` behind."""
    name = group["name"]
    own_schemes = _spread(group, "own_schemes")
    changed = {**common, **_divided_all(group.get("set", {}), scale)}
    schemes = {**text["schemes"], **own_schemes}
    found = {}
    for workload, spelling in _workloads(group, text).items():
        spelling = spelling.replace("{folder}", str(folder))
        if "workload_options" in group:
            spelling += (":" if ":" not in spelling.removeprefix("twin:") else ",") + group[
                "workload_options"
            ]
        spelling = _divided_in(spelling, scale)
        more = dict(changed)
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
                    initial=group.get("initial", text["initial"]),
                    after=before,
                    seed=number if seeds > 1 else _wordline.DEFAULT_SEED,
                )
                end = f"/{number}" if max(rounds, seeds) > 1 else ""
                found[f"{name}/{workload}/{scheme}{end}"] = run
                before = run if rounds > 1 else None
    return found


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


def _has_jobs(group: Mapping[str, Any]) -> bool:
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
                f"--scale {scale}: {blocks} blocks a plane would become {blocks // scale}; "
                f"a plane needs 8, so {blocks // 8} is the most"
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


@dataclass(frozen=True)
class Scope:
    """How much of an evaluation is run.

    Attributes
    ----------
    scale
        By what drive, footprint and length of the workloads are divided.
    figures
        The figures and tables asked for; all if none is named.
    only
        Patterns of the names of the runs that may be done; all if there is none.
    """

    scale: int = 1
    figures: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    @property
    def is_full(self) -> bool:
        """Whether nothing is left out, and nothing divided."""
        return self.scale == 1 and self.is_whole

    @property
    def is_whole(self) -> bool:
        """Whether no figures or runs were picked out."""
        return not self.figures and not self.only

    @property
    def words(self) -> str:
        """Say it: ``at 1/48 of the scale, figures 9 and 10 only``."""
        said = ["at full scale" if self.scale == 1 else f"at 1/{self.scale} of the scale"]
        if self.figures:
            said.append(f"{self.named} only")
        if self.only:
            said.append(f"{_listed('run', self.only)} only")
        return ", ".join(said)

    @property
    def named(self) -> str:
        """The figures asked for: ``figures 9 and 10``."""
        return _listed("figure", self.figures)

    @property
    def folder(self) -> Path:
        """Where its page goes below that of the whole: nowhere else if it is whole."""
        picked = [f"figure-{'-'.join(self.figures)}"] if self.figures else []
        if self.only:
            picked.append("only-" + re.sub(r"[^0-9A-Za-z.]+", "-", "-".join(self.only)).strip("-"))
        return Path("-".join(picked))

    def may_replace(self, page: Scope) -> bool:
        """Whether a page of this scope says no less than that page of the same paper."""
        return self.scale <= page.scale and (self.is_whole or not page.is_whole)


def _listed(what: str, names: Sequence[str]) -> str:
    *others, last = names
    return f"{what}s {', '.join(others)} and {last}" if others else f"{what} {last}"


@dataclass
class Study:
    """The reports of a paper's runs, by name, for figures and claims.

    Attributes
    ----------
    paper
        What was asked.
    reports
        The reports that there are.
    scope
        How much of it was asked for.
    left_out
        Groups of runs that show causes, where those were not asked for.
    refused
        Runs that the drive does not admit, each with the reason.
    """

    paper: Paper
    reports: Mapping[str, Report]
    scope: Scope = field(default_factory=Scope)
    left_out: Sequence[str] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def scale(self) -> int:
        """By what it was divided."""
        return self.scope.scale

    @cached_property
    def findings(self) -> list[str]:
        """What came out, in sentences of Markdown, as far as their runs were made."""
        found = getattr(self.paper.module, "findings", None)
        return found(self) if found else []

    def sentences(self, *makers: Callable[[Study], str]) -> list[str]:
        """Make sentences from the reports, and leave those out whose runs are missing."""
        said = []
        for make in makers:
            with suppress(NotRun):
                said.append(make(self))
        return said

    @property
    def is_as_explained(self) -> bool:
        """Whether it is as it was when causes were looked for: at full scale."""
        return self.scale == 1

    def report(self, workload: str, scheme: str, group: str = "main", round: int = 0) -> Report:
        """Return a report.

        Raises
        ------
        NotRun
            There is none.
        """
        name = f"{group}/{workload}/{scheme}" + (f"/{round}" if round else "")
        if group in self.paper.missing:
            raise NotRun(f"{name}: {self.paper.missing[group]}")
        if name not in self.reports:
            if name not in self.paper.runs:
                raise KeyError(f"{name} is no run of {self.paper.name}")
            if name in self.refused:
                raise NotAdmitted(f"{name} was refused: {self.refused[name]}")
            raise NotRun(f"{name} was not asked for")
        return self.reports[name]


class NotRun(Exception):
    """A run that is needed was not made."""


class NotAdmitted(NotRun):
    """A run that is needed was refused: the drive does not admit its scheme."""
