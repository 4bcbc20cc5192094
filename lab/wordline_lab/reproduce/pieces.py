"""Real traces beside the twins of a paper: ``wordline reproduce PAPER --traces DIR``.

``experiment.toml`` may have a table ``[pieces]``:

- ``beside``: the group of runs whose drive, schemes and initial state real traces get.
- ``over``: the scheme over which figures are shown, the first of the group if not given.
- ``[pieces.of]``: by workload, patterns of the names of files that are pieces of the paper's own
  trace, such as slices and heads, each with options of a trace behind a colon.
- ``[pieces.kin]``: the same for traces of the workload's class that are not the paper's own.

Files are looked for in the folder and those in it. A whole original that lies in the folder itself
under a name that its twin lists is a piece, too. Each is run under every scheme, as
``pieces/WORKLOAD (FILE)/SCHEME``, and never takes the place of the twin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import wordline
from wordline import Report, UserError
from wordline_lab import traces as traces_of

#: Options of a twin that its original takes, too; others make the twin.
OF_TRACES = {"speedup", "closed", "think", "burst", "rest", "requests", "duration", "bytes", "fit"}
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

    @property
    def label(self) -> str:
        """The name of its workload among runs."""
        return f"{self.workload} ({self.file})"


def find(table: Mapping[str, Any], twins: Mapping[str, str], traces: str) -> list[Piece]:
    """Find the real traces of a folder that belong to a paper.

    Parameters
    ----------
    table
        ``[pieces]``.
    twins
        Spellings of the workloads of the group that it names, by the paper's names.
    traces
        The folder.

    Raises
    ------
    UserError
        There is no such folder, or a workload is none of the group.
    """
    there = traces_of.files(traces)
    place = (table["beside"], table.get("over"))
    found: list[Piece] = []
    for kind, note in (("of", ""), ("kin", "kin, not the paper's trace")):
        for workload, patterns in table.get(kind, {}).items():
            if workload not in twins:
                raise UserError(
                    f"pieces.{kind}: {workload!r} is no workload of group {table['beside']}; "
                    f"there are {', '.join(twins)}"
                )
            for name, _, options in (pattern.partition(":") for pattern in patterns):
                found += [
                    Piece(workload, f.name, f"{f}:{options}".rstrip(":"), *place, note)
                    for f in there
                    if fnmatchcase(f.name, name)
                ]
    taken = {piece.file for piece in found}
    for workload, (path, spelling) in _whole(twins, traces).items():
        if path.name not in taken:
            found.append(Piece(workload, path.name, spelling, *place, "the whole trace"))
    return found


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
    pieces: Sequence[Piece], schemes: Iterable[str], found: Callable[[str, str, str], Report | None]
) -> list[dict[str, Any]]:
    """Return the table: of each scheme its figures over the baseline's, of twin and piece.

    Parameters
    ----------
    pieces, schemes
        Those of the paper.
    found
        Returns the report of a workload under a scheme in a group, if there is one.
    """
    table = []
    for piece in pieces:
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
            of_twin = _over(found(piece.workload, scheme, piece.beside), twin)
            of_piece = _over(own, base)
            row: dict[str, Any] = {
                "workload": piece.workload,
                "trace": piece.file,
                "requests": own.host.requests,
                "twin_requests": twin.host.requests if twin else None,
                "scheme": scheme,
            }
            for what in ("write", "read", "waf"):
                row |= {f"{what}_twin": of_twin.get(what), what: of_piece.get(what)}
            table.append({**row, "note": "; ".join(filter(None, [piece.note, written]))})
    return table


def _over(own: Report | None, base: Report | None) -> Mapping[str, float]:
    """Return mean latencies of writes and reads, and the WAF, over the baseline's; none over 0."""
    if own is None or base is None:
        return {}
    found = {}
    for kind, count in (("write", own.host.write_requests), ("read", own.host.read_requests)):
        if count and base.latency_us[kind].mean:
            found[kind] = own.latency_us[kind].mean / base.latency_us[kind].mean
    if base.waf.total:
        found["waf"] = own.waf.total / base.waf.total
    return found


def is_one(run: str) -> bool:
    """Whether a run, by its name, is of a real trace beside the twins."""
    return run.startswith(f"{GROUP}/")


def files(pieces: Sequence[Piece]) -> str:
    """List the files."""
    return ", ".join(dict.fromkeys(piece.file for piece in pieces))
