"""Real traces beside the twins of a paper: ``wordline reproduce PAPER --traces DIR``.

``experiment.toml`` may have a table ``[pieces]``:

- ``beside``: the group of runs whose drive, schemes and initial state real traces get, or several.
- ``over``: the scheme over which figures are shown, the first of the group if not given.
- ``[pieces.of]``: by workload, patterns of the names of files that are pieces of the paper's own
  trace, such as slices and heads, each with options of a trace behind a colon.
- ``[pieces.kin]``: the same for traces of the workload's class that are not the paper's own.
- ``[pieces.others]``: the same for traces of other classes.
- ``[pieces.same]``: patterns of the names of files that are not run, and why: a second copy.
- ``[pieces.options]``: by group and pattern of ``WORKLOAD (FILE)``, further options of the trace.
- ``[pieces.shrink]``: the least ``blocks`` of the cache in a plane and the least ``channels`` of a
  drive that is shrunk to what each piece writes; `wordline_lab.reproduce.shrunk` has the rule.
- ``[pieces.printed]``: by column of the table and scheme what the paper prints.

The paper's package may have ``PIECES``, further figures of a report by column, and ``OF_PIECES``,
sentences below the table.

Files are looked for in the folder and those in it. A whole original that lies in the folder itself
under a name that its twin lists is a piece, too. Each is run under every scheme, as
``pieces/WORKLOAD (FILE)/SCHEME``, with ``, GROUP`` behind the file where there are several groups,
and never takes the place of the twin. One that the rule of ``[pieces.shrink]`` keeps out is not
run, and its row in the table says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import wordline
from wordline import Report, UserError
from wordline_lab import traces as traces_of
from wordline_lab.reproduce import shrunk
from wordline_lab.reproduce.groups import with_options
from wordline_lab.reproduce.shrunk import Shrunk

#: Options of a twin that its original takes, too; others make the twin.
OF_TRACES = {"speedup", "closed", "think", "burst", "rest", "requests", "duration", "bytes", "fit"}
#: Tables of patterns, and what a row says of their files.
NOTES = {
    "of": "",
    "kin": "kin, not the paper's trace",
    "others": "of another class than the paper's traces",
}
#: The group of the runs of pieces.
GROUP = "pieces"
#: Their table on the page.
TABLE = "table-pieces"


@dataclass(frozen=True)
class Piece:
    """A real trace: the workload beside whose twin it stands, and how it is spelled for a run."""

    workload: str
    file: str
    spelling: str
    beside: str
    over: str | None = None
    note: str = ""
    drive: Shrunk | None = None
    is_one_of_groups: bool = False

    @property
    def label(self) -> str:
        """The name of its workload in runs."""
        group = f", {self.beside}" if self.is_one_of_groups else ""
        return f"{self.workload} ({self.file}{group})"

    @property
    def is_run(self) -> bool:
        """Whether a drive was found for it."""
        return self.drive is None or not self.drive.why_not


@dataclass(frozen=True)
class Group:
    """The environment of real traces: a group's drive, and spellings of its workloads by name."""

    name: str
    device: str
    changes: Mapping[str, str]
    twins: Mapping[str, str]


def groups_of(table: Mapping[str, Any]) -> list[str]:
    """Return the names of the groups under which real traces run."""
    beside = table["beside"]
    return [beside] if isinstance(beside, str) else list(beside)


def find(table: Mapping[str, Any], group: Group, traces: str) -> list[Piece]:
    """Find the real traces in a folder that belong to a paper, for a group of its runs.

    Parameters
    ----------
    table
        ``[pieces]``.
    group
        One that it names.
    traces
        The folder.

    Raises
    ------
    UserError
        There is no such folder, or a workload is none of the group.
    """
    there = traces_of.files(traces)
    found = [
        piece
        for kind, note in NOTES.items()
        for workload, patterns in table.get(kind, {}).items()
        for piece in _named(table, group, there, kind, workload, patterns, note)
    ]
    taken = {piece.file for piece in found}
    for workload, (path, spelling) in _whole(group.twins, traces).items():
        if path.name not in taken:
            found.append(_piece(table, group, workload, path.name, spelling, "the whole trace"))
    return found


def _named(
    table: Mapping[str, Any],
    group: Group,
    there: Sequence[Path],
    kind: str,
    workload: str,
    patterns: Sequence[str],
    note: str,
) -> Iterator[Piece]:
    """Yield the files that stand beside a workload."""
    if workload not in group.twins:
        raise UserError(
            f"pieces.{kind}: {workload!r} is not a workload of group {group.name}; "
            f"allowed: {', '.join(group.twins)}"
        )
    for name, _, options in (pattern.partition(":") for pattern in patterns):
        for path in there:
            if fnmatchcase(path.name, name):
                spelling = f"{path}:{options}".rstrip(":")
                yield _piece(table, group, workload, path.name, spelling, note)


def _piece(
    table: Mapping[str, Any], group: Group, workload: str, file: str, spelling: str, note: str
) -> Piece:
    """Return a piece with the drive that it is run on, where drives are shrunk."""
    several = len(groups_of(table)) > 1
    piece = Piece(workload, file, spelling, group.name, table.get("over"), note, None, several)
    same = (why for name, why in table.get("same", {}).items() if fnmatchcase(file, name))
    shrink = table.get("shrink")
    if why := next(same, None):
        return replace(piece, drive=Shrunk.of_copy(why))
    if shrink:
        written = shrunk.written_by(workload, group.twins[workload], shrink.get("written", {}))
        drive = shrunk.shrink(group.device, group.changes, written, spelling, shrink)
        piece = replace(piece, drive=drive)
    options = table.get("options", {}).get(group.name, {})
    for pattern, more in options.items():
        if fnmatchcase(f"{workload} ({file})", pattern):
            piece = replace(piece, spelling=with_options(piece.spelling, more))
    return piece


def _whole(twins: Mapping[str, str], traces: str) -> dict[str, tuple[Path, str]]:
    """Return the originals that lie in the folder under names that twins list, and spellings."""
    found = {}
    for workload, spelling in twins.items():
        if not spelling.startswith("twin:"):
            continue
        twin, _, options = spelling.removeprefix("twin:").partition(":")
        trace = wordline.identity(
            device="demo-8gb",
            scheme="conventional",
            workload=f"twin:{twin}",
            initial="fresh",
            traces=traces,
        )["workload"]
        if trace.get("source") == "original":
            file = Path(traces) / trace["name"]
            given = [o for o in options.split(",") if o.partition("=")[0] in OF_TRACES]
            found[workload] = (file, f"twin:{twin}:" + ",".join([*given, f'original="{file}"']))
    return found


def rows(
    pieces: Sequence[Piece],
    schemes: Iterable[str],
    found: Callable[[str, str, str], Report | None],
    figures: Mapping[str, Callable[[Report], float]] | None = None,
    printed: Mapping[str, Mapping[str, float]] | None = None,
) -> list[dict[str, Any]]:
    """Return the table: of each scheme its figures over the baseline's, of twin and piece.

    Parameters
    ----------
    pieces, schemes
        Those of the paper.
    found
        Returns the report of a workload under a scheme in a group, if there is one.
    figures
        Figures of a report that the paper has besides latencies and WAF.
    printed
        What the paper prints, by column and scheme.
    """
    table: list[dict[str, Any]] = []
    left_out: dict[str, dict[str, Any]] = {}
    for piece in pieces:
        if not piece.is_run:
            why = piece.drive.why_not if piece.drive else ""
            # Once, whatever it stands beside.
            left_out.setdefault(
                f"{piece.workload} {piece.file}", {**_row(piece, why=why), "runs": None}
            )
            continue
        done = {s: own for s in schemes if (own := found(piece.label, s, GROUP))}
        baseline = piece.over or next(iter(done), "")
        base = done.get(baseline)
        twin = found(piece.workload, baseline, piece.beside)
        if base is None:
            continue
        share = base.host.write_bytes / base.capacity["logical_bytes"]
        # Whoever reads the row sees how far the drive was aged by it.
        written = f"writes {share:.2%} of the drive".replace("%", " %")
        for scheme, own in done.items():
            of_twin = _over(found(piece.workload, scheme, piece.beside), twin, figures)
            of_piece = _over(own, base, figures)
            row = _row(piece, own, twin, scheme, why=written)
            note = row.pop("note")
            for what in ("write", "read", "waf", *(figures or {})):
                row |= {f"{what}_twin": of_twin.get(what), what: of_piece.get(what)}
                if printed and what in printed:
                    row[f"{what}_paper"] = printed[what].get(scheme)
            table.append({**row, "note": note})
    columns = max(table, key=len, default={})
    return [{column: row.get(column) for column in columns} for row in [*table, *left_out.values()]]


def _row(
    piece: Piece,
    own: Report | None = None,
    twin: Report | None = None,
    scheme: str = "",
    *,
    why: str,
) -> dict[str, Any]:
    """Return what a row begins with, and its note."""
    row: dict[str, Any] = {"workload": piece.workload, "trace": piece.file}
    if piece.is_one_of_groups:
        row["runs"] = piece.beside
    if piece.drive:
        row |= piece.drive.columns()
    return row | {
        "requests": own.host.requests if own else None,
        "twin_requests": twin.host.requests if twin else None,
        "scheme": scheme,
        "note": "; ".join(filter(None, [piece.note, why])),
    }


def _over(
    own: Report | None,
    base: Report | None,
    figures: Mapping[str, Callable[[Report], float]] | None,
) -> Mapping[str, float]:
    """Return mean latencies, the WAF and further figures over the baseline's; none over 0."""
    if own is None or base is None:
        return {}
    found = {}
    for kind, count in (("write", own.host.write_requests), ("read", own.host.read_requests)):
        if count and base.latency_us[kind].mean:
            found[kind] = own.latency_us[kind].mean / base.latency_us[kind].mean
    if base.waf.total:
        found["waf"] = own.waf.total / base.waf.total
    for name, figure in (figures or {}).items():
        if of_base := figure(base):
            found[name] = figure(own) / of_base
    return found


def is_one(run: str) -> bool:
    """Whether a run, by its name, is of a real trace."""
    return run.startswith(f"{GROUP}/")


def files(pieces: Sequence[Piece]) -> str:
    """List the files."""
    return ", ".join(dict.fromkeys(piece.file for piece in pieces))
