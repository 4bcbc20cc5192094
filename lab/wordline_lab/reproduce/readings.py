"""Readings: what a paper leaves open, with its alternatives, their sources, and the main one.

A row of ``readings.toml``:

- ``name``, ``asks``: the open point. ``main``: the alternative that ``experiment.toml`` and
  ``claims.toml`` have. ``figures``: those whose runs it changes.
- ``calibrated``: a number that was chosen to meet a printed figure, and which.
- ``[[reading.alternative]]`` with ``name``, ``is``, ``source``, and ``kind``: ``text`` (a sentence
  of the paper decides it), ``simulator`` (the code of the original simulator does), or ``results
  seen`` (it was chosen, or proposed, when results were known).
- What differs under an alternative: ``device``, ``initial``, ``set``, ``schemes``, ``workloads``
  (spellings by name), ``scheme_options`` (put behind, by patterns of names), ``workload_options``,
  ``runs`` (the groups of runs that it is limited to), and ``claims`` (further arguments of
  measures, by patterns of ids). ``missing`` says why it cannot be run.
- ``[[pair]]`` with ``alternatives`` and ``why``: several readings turned at once.
- ``[before]`` with ``alternatives``: the readings of the page before.

A row *holds* if it is met under every alternative of the kinds text and simulator, one at a time
from the main ones, and under the pairs; it *depends on a reading* if only under some; it *deviates*
if under none. Alternatives of results seen are shown and not counted; where the main one is itself
of results seen, all alternatives of that reading are counted, so that it moves no row to *holds*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from wordline import UserError, toml

FILE = "readings.toml"
TEXT, SIMULATOR, SEEN = "text", "simulator", "results seen"
KINDS = (TEXT, SIMULATOR, SEEN)
#: Keys of an alternative that change what is run, and of those every one.
CHANGES = ("device", "initial", "set", "schemes", "scheme_options", "workloads", "workload_options")
ALTERNATIVE = {"name", "is", "kind", "source", "runs", "claims", "missing", *CHANGES}
READING = {"name", "asks", "figures", "main", "calibrated", "alternative"}


@dataclass(frozen=True)
class Alternative:
    """One way to read an open point, and what differs under it from the main ways."""

    name: str
    says: str
    kind: str
    source: str
    runs: Sequence[str] = ()
    changes: Mapping[str, Any] = field(default_factory=dict)
    claims: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    missing: str = ""

    def changes_group(self, group: str) -> bool:
        """Whether it changes the runs of a group."""
        return bool(self.changes) and (
            not self.runs or any(fnmatchcase(group, pattern) for pattern in self.runs)
        )


@dataclass(frozen=True)
class Reading:
    """An open point of a paper."""

    name: str
    asks: str
    figures: Sequence[str]
    main: str
    alternatives: Mapping[str, Alternative]
    calibrated: str = ""

    @property
    def others(self) -> list[Alternative]:
        """The alternatives to the main one."""
        return [a for name, a in self.alternatives.items() if name != self.main]

    def counts(self, name: str) -> bool:
        """Whether a row must be met under this alternative to hold."""
        return self.alternatives[name].kind != SEEN or self.alternatives[self.main].kind == SEEN


@dataclass(frozen=True)
class Choice:
    """Alternatives chosen in place of the main ones, by reading."""

    taken: Mapping[str, str]
    is_counted: bool = True

    @property
    def label(self) -> str:
        """The argument of ``--reading``: ``heat=period``, several separated by commas."""
        return ",".join(f"{reading}={name}" for reading, name in self.taken.items())


@dataclass(frozen=True)
class Readings:
    """The readings of a paper."""

    all: Mapping[str, Reading] = field(default_factory=dict)
    pairs: Sequence[Choice] = ()
    before: Choice | None = None

    def chosen(self, spelled: Sequence[str]) -> Choice:
        """Return the choice in ``--reading``.

        Raises
        ------
        UserError
            There is no such reading or alternative, or it cannot be run.
        """
        taken: dict[str, str] = {}
        for text in spelled:
            reading, equals, name = text.partition("=")
            if not equals or reading not in self.all:
                known = ", ".join(f"{r}={'|'.join(self.all[r].alternatives)}" for r in self.all)
                raise UserError(f"--reading {text}: unknown reading; allowed: {known or 'none'}")
            if reading in taken:
                raise UserError(f"--reading {text}: {reading} appears twice")
            if name not in self.all[reading].alternatives:
                known = ", ".join(self.all[reading].alternatives)
                raise UserError(f"--reading {text}: unknown alternative; allowed: {known}")
            if why := self.all[reading].alternatives[name].missing:
                raise UserError(f"--reading {text}: cannot be run: {why}")
            taken[reading] = name
        turned = {r: name for r, name in taken.items() if name != self.all[r].main}
        return self.choice(turned)

    def choice(self, taken: Mapping[str, str]) -> Choice:
        """Return the choice of these alternatives; it counts if all of them do."""
        return Choice(taken, all(self.all[r].counts(name) for r, name in taken.items()))

    def choices(self) -> list[Choice]:
        """Return every alternative that can be run, one at a time, and then the pairs."""
        single = [
            self.choice({reading.name: other.name})
            for reading in self.all.values()
            for other in reading.others
            if not other.missing
        ]
        return single + [pair for pair in self.pairs if not self.missing(pair)]

    def alternatives(self, choice: Choice) -> list[tuple[Reading, Alternative]]:
        """Return the alternatives of a choice."""
        return [(self.all[r], self.all[r].alternatives[a]) for r, a in choice.taken.items()]

    def missing(self, choice: Choice) -> str:
        """Return why a choice cannot be run; empty if it can."""
        return next((a.missing for _, a in self.alternatives(choice) if a.missing), "")


def read(folder: Path) -> Readings:
    """Read ``readings.toml``; no readings if the folder has none.

    Raises
    ------
    UserError
        It is not as `wordline_lab.reproduce.readings` describes it.
    """
    path = folder / FILE
    if not path.exists():
        return Readings()
    text = toml.read(path)
    _known(text, {"reading", "pair", "before"}, str(path))
    found: dict[str, Reading] = {}
    for at, row in enumerate(text.get("reading", []), 1):
        reading = _reading(row, f"{path}: reading {row.get('name', at)}")
        if reading.name in found:
            raise UserError(f"{path}: duplicate reading {reading.name}")
        found[reading.name] = reading
    readings = Readings(found)
    pairs = []
    for at, row in enumerate(text.get("pair", []), 1):
        where = f"{path}: pair {at}"
        _known(row, {"alternatives", "why"}, where)
        _needed(row, ("alternatives", "why"), where)
        pairs.append(_choice(readings, row["alternatives"], where))
    before = text.get("before")
    if before is not None:
        _known(before, {"alternatives"}, f"{path}: before")
    return Readings(
        found,
        pairs,
        None if before is None else _choice(readings, before["alternatives"], f"{path}: before"),
    )


def _choice(readings: Readings, taken: Mapping[str, str], where: str) -> Choice:
    for reading, name in taken.items():
        if reading not in readings.all:
            raise UserError(f"{where}: no reading {reading!r}; allowed: {list(readings.all)}")
        known = readings.all[reading].alternatives
        if name not in known:
            raise UserError(f"{where}: {reading} has no {name!r}; allowed: {list(known)}")
    return readings.choice(taken)


def _reading(row: Mapping[str, Any], where: str) -> Reading:
    _known(row, READING, where)
    _needed(row, ("name", "asks", "figures", "main", "alternative"), where)
    names = [one.get("name") for one in row["alternative"]]
    if row["main"] not in names:
        raise UserError(f"{where}: main is {row['main']!r}; allowed: {names}")
    found = {}
    for at, one in enumerate(row["alternative"], 1):
        there = f"{where}, alternative {one.get('name', at)}"
        found[one.get("name", at)] = _alternative(one, one.get("name") == row["main"], there)
    if len(found) < 2:
        raise UserError(f"{where}: has a single alternative; an open point needs at least two")
    return Reading(
        name=row["name"],
        asks=_text(row["asks"]),
        figures=tuple(row["figures"]),
        main=row["main"],
        alternatives=found,
        calibrated=_text(row.get("calibrated", "")),
    )


def _alternative(row: Mapping[str, Any], is_main: bool, where: str) -> Alternative:
    _known(row, ALTERNATIVE, where)
    _needed(row, ("name", "is", "kind", "source"), where)
    if row["kind"] not in KINDS:
        raise UserError(f"{where}: kind is {row['kind']!r}; allowed: {', '.join(KINDS)}")
    changes = {key: row[key] for key in CHANGES if key in row}
    differs = bool(changes or row.get("claims"))
    if is_main and (differs or row.get("missing")):
        raise UserError(
            f"{where}: the main alternative is experiment.toml itself; remove its changes"
        )
    if not is_main and differs == bool(row.get("missing")):
        raise UserError(f"{where}: set either a change ({', '.join(CHANGES)}, claims) or missing")
    return Alternative(
        name=row["name"],
        says=_text(row["is"]),
        kind=row["kind"],
        source=_text(row["source"]),
        runs=tuple(row.get("runs", ())),
        changes=changes,
        claims=row.get("claims", {}),
        missing=_text(row.get("missing", "")),
    )


def _known(row: Mapping[str, Any], allowed: set[str], where: str) -> None:
    unknown = set(row) - allowed
    if unknown:
        raise UserError(f"{where}: unknown key {min(unknown)!r}; allowed: {sorted(allowed)}")


def _needed(row: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    missing = [key for key in keys if not row.get(key) and row.get(key) != []]
    if missing:
        raise UserError(f"{where}: {missing[0]!r} is missing")


def _text(words: str) -> str:
    return " ".join(words.split())
