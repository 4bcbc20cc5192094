"""The folder of a paper: its runs, and their names.

A folder in `wordline_lab.experiments` holds only the specifics of its paper:

- ``experiment.toml``: the device, workloads and schemes by the names that the paper gives them, and
  groups of runs; what was calibrated, on what, and when.
- ``claims.toml``: what the paper says, and what must come out; `wordline_lab.reproduce.claims`.
- ``causes.toml``: of claims that do not hold, why.
- ``before.json``, ``changes.toml``: the page before, what changed;
  `wordline_lab.reproduce.changes`.
- its package: ``FIGURES``, the functions that claims name, and ``findings``: what came out, in
  three sentences that open the page; ``of_readings``, if it has that: what turns on which reading.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import wordline
from wordline import Report, Run, UserError, toml
from wordline.runs import stand_ins
from wordline_lab.reproduce import groups, pieces, readings, sentences
from wordline_lab.reproduce.readings import Choice, Readings
from wordline_lab.reproduce.sentences import Sentence

EXPERIMENTS = Path(__file__).parent.parent / "experiments"


def papers() -> dict[str, Path]:
    """Return the folders of all papers by name."""
    folders = (p.parent for p in EXPERIMENTS.glob("*/experiment.toml"))
    return {p.name.replace("_", "-"): p for p in sorted(folders)}


def is_named(run: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern matches a run; round and seed may be omitted."""
    return any(fnmatchcase(run, p) or fnmatchcase(run, f"{p}/[0-9]*") for p in patterns)


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
        """Whether any of its runs exists, or it needs none."""
        names = list(reports)
        return not self.runs or any(is_named(n, self.runs) for n in names)

    @property
    def shows_causes(self) -> bool:
        """Whether it is the table of runs that explain deviations."""
        return self.number == "table-causes"

    @property
    def label(self) -> str:
        """Its title: ``Figure 9a``, or ``Table 2``."""
        if self.number.startswith("table"):
            return self.number.replace("-", " ").capitalize()
        return f"Figure {self.number}"

    def is_asked(self, asked: Sequence[str]) -> bool:
        """Whether it is among the requested figures; ``9`` asks for 9a and 9b."""
        return not asked or any(re.fullmatch(rf"{re.escape(a)}[a-z]?", self.number) for a in asked)


@dataclass(frozen=True)
class Paper:
    """The contents of a paper's folder; `causes` are runs that only explain deviations."""

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
    printed_of_pieces: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    readings: Readings = field(default_factory=Readings)
    choice: Choice = field(default_factory=lambda: Choice({}))
    seeds: Mapping[str, int] = field(default_factory=dict)
    sentences: Sequence[Sentence] = ()

    def lacks(self, figure: Figure) -> bool:
        """Whether a figure needs runs that cannot be executed yet."""
        return any(pattern.split("/")[0] in self.missing for pattern in figure.runs)

    def turned(self) -> list[str]:
        """Return the names of the runs that a choice of readings changes."""
        found = []
        for reading, alternative in self.readings.alternatives(self.choice):
            drawn = [f for f in self.module.FIGURES if f.is_asked(reading.figures)]
            patterns = [pattern for figure in drawn for pattern in figure.runs]
            found += [
                name
                for name in self.runs
                if (group := name.split("/")[0]) not in self.causes
                and alternative.changes_group(group)
                and is_named(name, patterns)
            ]
        return list(dict.fromkeys(found))

    def is_further_seed(self, run: str) -> bool:
        """Whether a run repeats another with a further seed."""
        group, *_, last = run.split("/")
        return group in self.seeds and last != "1"

    @property
    def figures(self) -> Sequence[Figure]:
        """Figures and tables in the order of the paper."""
        return [*self.module.FIGURES, *([_pieces_table(self)] if self.pieces else [])]


def read(
    name: str, *, scale: int = 1, traces: str | None = None, otherwise: Sequence[str] = ()
) -> Paper:
    """Read a paper's folder.

    Parameters
    ----------
    name
        Such as ``pa-ssd``.
    scale
        Divides the drive's blocks, its capacity, and footprint and length of the workloads.
    traces
        A folder with real traces, which are run beside the twins.
    otherwise
        Readings in place of the main ones: ``heat=period``.

    Raises
    ------
    UserError
        There is no such paper or reading, its folder is wrong, or real traces were to be scaled.
    """
    known = papers()
    if name not in known:
        raise UserError(f"{name}: unknown paper; allowed: {', '.join(known)}")
    if scale > 1 and traces:
        raise UserError("--scale scales twins, not traces; omit --scale or --traces")
    folder = known[name]
    text = toml.read(folder / "experiment.toml")
    groups.share_workloads(text["runs"], folder / "experiment.toml")
    known_readings = readings.read(folder)
    choice = known_readings.chosen(otherwise)
    turned = [alternative for _, alternative in known_readings.alternatives(choice)]
    runs: dict[str, Run] = {}
    missing = {g["name"]: g["missing"] for g in text["runs"] if "missing" in g}
    if scale > 1:
        unscaled = (g["name"] for g in text["runs"] if groups.has_jobs(g))
        missing |= dict.fromkeys(unscaled, "a job file is not scaled")
    for group in text["runs"]:
        if group["name"] not in missing:
            runs.update(groups.expand(group, text, folder, scale, turned))
    found: list[pieces.Piece] = []
    for group in _beside(text, folder) if traces and "pieces" in text else ():
        own, its = _pieces(group, text, folder, str(traces), turned)
        found += own
        runs.update(its)
    return Paper(
        name=name,
        folder=folder,
        title=text["title"],
        source=text["source"],
        calibrated=text.get("calibrated", {}),
        workloads=text["workloads"],
        schemes=text["schemes"],
        runs=runs,
        missing=missing,
        causes=[g["name"] for g in text["runs"] if g.get("cause", False)],
        pieces=found,
        printed_of_pieces=text.get("pieces", {}).get("printed", {}),
        readings=known_readings,
        choice=choice,
        seeds={
            g["name"]: n for g in text["runs"] if (n := g.get("seeds", text.get("seeds", 1))) > 1
        },
        sentences=sentences.read(folder),
        module=importlib.import_module(f"wordline_lab.experiments.{folder.name}"),
    )


def _beside(text: Mapping[str, Any], folder: Path) -> list[Mapping[str, Any]]:
    """Return the groups beside which real traces are run."""
    by_name = {g["name"]: g for g in reversed(text["runs"])}
    names = pieces.groups_of(text["pieces"])
    for name in names:
        if name not in by_name:
            raise UserError(
                f"{folder / 'experiment.toml'}: pieces.beside: unknown group {name!r}; "
                f"allowed: {', '.join(by_name)}"
            )
    return [by_name[name] for name in names]


def _pieces(
    group: Mapping[str, Any],
    text: Mapping[str, Any],
    folder: Path,
    traces: str,
    turned: Sequence[readings.Alternative],
) -> tuple[list[pieces.Piece], dict[str, Run]]:
    """Return the real traces beside a group, and the runs of those that are run."""
    device = group.get("device", text["device"])
    changes = {**text.get("set", {}), **group.get("set", {})}
    its = pieces.Group(group["name"], device, changes, groups.workloads(group, text))
    found = pieces.find(text["pieces"], its, traces)
    runs: dict[str, Run] = {}
    for piece in found:
        if piece.is_run:
            own = {
                **{"name": pieces.GROUP, "workloads": [piece.label]},
                "own_workloads": {piece.label: piece.spelling},
                # A trace is the same with every seed.
                "seeds": 1,
                "set": {**group.get("set", {}), **(piece.drive.settings if piece.drive else {})},
            }
            runs.update(groups.expand({**group, **own}, text, folder, 1, turned))
    return found, runs


def _pieces_table(read: Paper) -> Figure:
    return Figure(
        pieces.TABLE,
        "real traces beside their twins, over the baseline",
        [f"{pieces.GROUP}/*"],
        lambda study: pieces.rows(
            read.pieces,
            read.schemes,
            study.found,
            getattr(read.module, "PIECES", {}),
            read.printed_of_pieces,
        ),
        beside=" ".join(
            [
                f"`--traces DIR` adds this table, where DIR has {pieces.files(read.pieces)}.",
                *getattr(read.module, "OF_PIECES", ()),
            ]
        ),
    )


@dataclass(frozen=True)
class Scope:
    """The scope of an evaluation.

    Attributes
    ----------
    scale
        By what drive, footprint and length of the workloads are divided.
    figures
        The figures and tables asked for; all if none is named.
    only
        Patterns of the names of the runs that may be done; all if there is none.
    reading
        Alternatives in place of main readings: ``heat=period``.
    """

    scale: int = 1
    figures: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()

    @property
    def is_full(self) -> bool:
        """Whether the evaluation is complete, at full scale and under the main readings."""
        return self.scale == 1 and self.is_whole

    @property
    def is_whole(self) -> bool:
        """Whether no figures, runs or readings were selected."""
        return not self.figures and not self.only and not self.reading

    @property
    def words(self) -> str:
        """Say it: ``at 1/48 of the scale, figures 9 and 10 only``."""
        said = ["at full scale" if self.scale == 1 else f"at 1/{self.scale} of the scale"]
        if self.figures:
            said.append(f"{self.named} only")
        if self.only:
            said.append(f"{_listed('run', self.only)} only")
        if self.reading:
            said.append(f"with {_listed('reading', self.reading)}")
        return ", ".join(said)

    @property
    def named(self) -> str:
        """The requested figures: ``figures 9 and 10``."""
        return _listed("figure", self.figures)

    @property
    def folder(self) -> Path:
        """The folder of its page within that of the whole; the same if it is whole."""
        picked = [f"figure-{'-'.join(self.figures)}"] if self.figures else []
        if self.only:
            picked.append("only-" + _as_name(self.only))
        if self.reading:
            picked.append("reading-" + _as_name(self.reading))
        return Path("-".join(picked))

    def may_replace(self, page: Scope) -> bool:
        """Whether a page of this scope contains at least what that page of the same paper does."""
        return self.scale <= page.scale and (self.is_whole or not page.is_whole)


def _as_name(words: Sequence[str]) -> str:
    return re.sub(r"[^0-9A-Za-z.]+", "-", "-".join(words)).strip("-")


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
    others
        The same under each other choice of readings that was run, as far as it was.
    unfinished
        The labels of choices of which a run is missing.
    seed
        Of groups that are run with several seeds, the one whose reports are returned.
    seeds_read
        The numbers of seeds of the groups whose reports were returned.
    all_seeds
        Whether their further seeds were asked for; else there are reports of the first alone.
    """

    paper: Paper
    reports: Mapping[str, Report]
    scope: Scope = field(default_factory=Scope)
    left_out: Sequence[str] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    others: Sequence[Study] = ()
    unfinished: Sequence[str] = ()
    seed: int = 1
    seeds_read: set[int] = field(default_factory=set)
    all_seeds: bool = True

    def of_seed(self, seed: int) -> Study:
        """Return it with the reports of a seed, and its own record of what was read."""
        return replace(self, seed=seed, seeds_read=set())

    @property
    def scale(self) -> int:
        """The divisor of the scale."""
        return self.scope.scale

    @cached_property
    def findings(self) -> list[str]:
        """The findings, in Markdown sentences, as far as their runs were made."""
        found = getattr(self.paper.module, "findings", None)
        return found(self) if found else []

    def sentences(self, *makers: Callable[[Study], str]) -> list[str]:
        """Make sentences from the reports, without those whose runs are missing."""
        said = []
        for make in makers:
            with suppress(NotRun):
                said.append(make(self))
        return said

    @property
    def version(self) -> str:
        """The version of Wordline that made its runs."""
        return wordline.__version__

    @property
    def workloads(self) -> str:
        """What the data of its runs are, in words: twins, originals, scale."""
        return self.workloads_of(["*"])

    def workloads_of(self, runs: Sequence[str]) -> str:
        """Say the same of the runs whose names match."""
        used = (
            report
            for name, report in self.reports.items()
            if is_named(name, runs) and not pieces.is_one(name)
        )
        scaled = f"scaled down by {self.scale}" if self.scale > 1 else ""
        return "; ".join(filter(None, [stand_ins(used), scaled]))

    @property
    def readings_run(self) -> dict[str, bool]:
        """The choices of readings that were run, each with whether all its runs have ended."""
        labels = [other.paper.choice.label for other in self.others]
        labels += [self.paper.choice.label] if self.paper.choice.taken else []
        return {label: label not in self.unfinished for label in labels}

    @property
    def is_as_explained(self) -> bool:
        """Whether the scale is full, as it was when causes were found."""
        return self.scale == 1

    def report(self, workload: str, scheme: str, group: str = "main", round: int = 0) -> Report:
        """Return a report.

        Raises
        ------
        NotRun
            There is none.
        """
        name = self._name(workload, scheme, group, round)
        if group in self.paper.missing:
            raise NotRun(f"{name}: {self.paper.missing[group]}")
        if name not in self.reports:
            if name not in self.paper.runs:
                raise KeyError(f"{name} is not a run of {self.paper.name}")
            if name in self.refused:
                raise NotAdmitted(f"{name} is not supported: {self.refused[name]}")
            raise NotRun(f"{name} was not requested")
        return self.reports[name]

    def found(self, workload: str, scheme: str, group: str) -> Report | None:
        """Return a report of the first round or of the seed in turn; ``None`` if there is none."""
        return self.reports.get(self._name(workload, scheme, group))

    def _name(self, workload: str, scheme: str, group: str, round: int = 0) -> str:
        if group in self.paper.seeds and not round:
            self.seeds_read.add(self.paper.seeds[group])
            round = self.seed
        return f"{group}/{workload}/{scheme}" + (f"/{round}" if round else "")


class NotRun(Exception):
    """A required run was not made."""


class NotAdmitted(NotRun):
    """A required run is not supported: the drive does not admit its scheme."""
