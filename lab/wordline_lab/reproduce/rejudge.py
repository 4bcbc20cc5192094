"""Judge a page again by the figures in its ``claims.json``, without a run.

    python -m wordline_lab.reproduce.rejudge PAPER --page DIR [--add DIR]...

For two purposes:

- Readings that were run by themselves, at another time or on another machine, join the page: each
  ``--add`` is a folder that ``wordline reproduce PAPER --reading NAME=ALTERNATIVE`` has written.
- Rows, sentences and causes that were worded or bound otherwise get their verdicts.

It rewrites verdicts, counts and tables of readings; figures, findings and runs stay. The page must
be of the whole evaluation at full scale, and everything but claims, sentences and causes must be
registered as it was for that page. A row that measures something else now needs its runs.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wordline import UserError
from wordline.commands import SWEEP, perform
from wordline_lab.reproduce import changes, claims, page, paper, registration, verdicts
from wordline_lab.reproduce.claims import NOT_RUN, Claim, Judged, Outcome
from wordline_lab.reproduce.paper import Paper, Study
from wordline_lab.reproduce.registration import Registration

#: Files that decide verdicts and no figure.
JUDGING = {claims.FILE, "sentences.toml"}
#: How far apart figures of the same runs may be: sums in another order.
SAME = 1e-9


@dataclass
class Kept(Study):
    """A study whose reports are gone, with what its ``claims.json`` has of them."""

    kept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def findings(self) -> list[str]:
        """The findings of the page."""
        return list(self.kept["findings"])

    @property
    def version(self) -> str:
        """The version that made its runs."""
        return str(self.kept["version"])

    @property
    def workloads(self) -> str:
        """What the data of its runs are."""
        return str(self.kept["workloads"])

    @property
    def readings_run(self) -> dict[str, bool]:
        """The choices of readings that were run, each with whether all its runs have ended."""
        return dict(self.kept["readings_run"])


def rejudge(name: str, folder: Path, add: Sequence[Path] = ()) -> list[Judged]:
    """Rewrite the verdicts of a page; return its rows.

    Parameters
    ----------
    name
        The paper.
    folder
        That of its page.
    add
        Folders of readings that were run by themselves.

    Raises
    ------
    UserError
        The page is not one that can be judged again, or an added one is not of the same.
    """
    read = paper.read(name)
    registered = registration.check(read)
    found = _page(folder, read, registered)
    for other in add:
        found = _added(found, read, other)
    study = Kept(read, {}, kept=found)
    if verdicts.read_as(study) == verdicts.ALL:
        # One command makes all that is there now.
        first = found["command"].splitlines()[0].replace(" --finished", "")
        study.kept = {**found, "command": first}
    judged = _judged(study)
    _write(study, judged, folder, registered)
    return judged


def _page(folder: Path, read: Paper, registered: Registration) -> dict[str, Any]:
    """Return the ``claims.json`` of a page that can be judged again."""
    path = folder / page.CLAIMS
    found = _read(path)
    again = "make the page anew from its runs"
    if found.get("paper") != read.name:
        raise UserError(f"{path}: a page of {found.get('paper')}, not of {read.name}")
    if not {"command", "readings_run"} <= set(found):
        raise UserError(f"{path}: has no command and readings_run, as old pages; {again}")
    if not page.scope_of(found).is_full or found["reading"]:
        raise UserError(f"{path}: not of a whole evaluation at full scale; {again}")
    then = [r for r in registration.registered(read.folder) if r.hash == found["registered"]]
    if not then:
        raise UserError(f"{path}: {found['registered']!r} was never registered; {again}")
    wrong = [said for said in then[-1].differs(registered) if said.split()[0] not in JUDGING]
    if wrong:
        raise UserError(f"{path}: since its registration {', '.join(wrong)}; {again}")
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise UserError(f"{path}: {e.strerror}; give the folder of a page") from e
    except ValueError as e:
        raise UserError(f"{path}: not a file of wordline reproduce: {e}") from e
    return found


def _added(found: Mapping[str, Any], read: Paper, folder: Path) -> dict[str, Any]:
    """Return what is known of a page with the figures of a reading that was run by itself."""
    path = folder / page.CLAIMS
    there = _read(path)
    if there.get("paper") != read.name or there.get("scale") != 1 or not there.get("reading"):
        raise UserError(
            f"{path}: not of a reading of {read.name} at full scale; give the folder of one"
        )
    if there["version"] != found["version"]:
        raise UserError(
            f"{path}: made by Wordline {there['version']}, the page by {found['version']}; "
            "run the reading with that version, or make the page anew"
        )
    label = read.readings.chosen(there["reading"]).label
    if label not in {choice.label for choice in read.readings.choices()}:
        raise UserError(f"{path}: {label} is no reading of the page; readings.toml lists them")
    by_id = {row["id"]: row for row in there["claims"]}
    rows = []
    for row in found["claims"]:
        other = by_id.get(row["id"])
        others = dict(row["readings"])
        # A row that was not run there keeps what the page has of it.
        if other and other["verdict"] != NOT_RUN:
            others.pop(label, None)
            if not _same(row["came_out"], other["came_out"]):
                others[label] = {"came_out": other["came_out"]}
        rows.append({**row, "readings": others})
    ran = {**found["readings_run"], label: bool(there["readings_run"].get(label))}
    command = found["command"]
    if there["command"] not in command.splitlines():
        command += f"\n{there['command']}"
    return {**found, "claims": rows, "readings_run": ran, "command": command}


def _same(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=SAME, abs_tol=1e-12)


def _judged(study: Kept) -> list[Judged]:
    """Judge the rows of today by the figures of the page."""
    rows = {row["id"]: row for row in study.kept["claims"]}
    causes = claims.causes_of(study.paper)
    return [
        _row(claim, rows.get(claim.id), causes, study.paper)
        for claim in claims.read(study.paper.folder / claims.FILE)
    ]


def _row(
    claim: Claim, row: Mapping[str, Any] | None, causes: Sequence[tuple[str, str]], read: Paper
) -> Judged:
    if row is None:
        return Judged(claim, None, NOT_RUN, "it is newer than the runs of the page")
    if (row["measure"], row["with"]) != (claim.measure, dict(claim.arguments)):
        raise UserError(
            f"claim {claim.id}: measures {claim.measure} {dict(claim.arguments)}, on the page "
            f"{row['measure']} {row['with']}; its runs must be made again"
        )
    if row["verdict"] == NOT_RUN:
        return Judged(claim, None, NOT_RUN, row["cause"] or "")
    judged = claims.of_figure(claim, row["came_out"], row["half_width"] or 0.0, causes)
    outcomes = []
    for label, other in row["readings"].items():
        is_met = Judged(claim, other["came_out"], "", "").is_met
        choice = read.readings.chosen(label.split(","))
        outcomes.append(Outcome(label, choice.is_counted, other["came_out"], is_met))
    return verdicts.over(judged, outcomes)


def _write(study: Kept, judged: Sequence[Judged], folder: Path, registered: Registration) -> None:
    """Write what follows from verdicts; the page for a browser is left out, as it has figures."""
    command = study.kept["command"]
    there = {name: folder / name for name in page.HEADS if (folder / name).exists()}
    text = page.first(study, judged, command, dict.fromkeys(there, ""), registered)
    (folder / page.PAGE).write_text(text, encoding="utf-8")
    for name, body in page.of_verdicts(study, judged).items():
        there[name].write_text(page.below_heading(study.paper, name, body), encoding="utf-8")
    if page.HISTORY in there:
        mark = "## What changed since"
        was = there[page.HISTORY].read_text(encoding="utf-8").partition(mark)[0]
        changed = changes.markdown(study, judged)
        there[page.HISTORY].write_text(f"{was}{changed}".rstrip() + "\n", encoding="utf-8")
    page.data(study, judged, folder, command, registered)
    (folder / "index.html").unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge a page again; return the exit code."""
    parser = argparse.ArgumentParser(
        "python -m wordline_lab.reproduce.rejudge",
        description="Judge a paper's page again by the figures in its claims.json, without a run.",
    )
    parser.add_argument("paper", choices=list(paper.papers()))
    parser.add_argument("--page", type=Path, required=True, help="the folder of the page")
    parser.add_argument(
        "--add",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="a folder of `wordline reproduce PAPER --reading NAME=ALTERNATIVE`; repeatable",
    )
    asked = parser.parse_args(arguments)

    def run() -> None:
        judged = rejudge(asked.paper, asked.page, asked.add)
        found = _read(asked.page / page.CLAIMS)
        print(f"{asked.paper}: {verdicts.verdict(judged, found['read_as'])}")

    return perform("reproduce", SWEEP, run, extra="sweep")


if __name__ == "__main__":
    sys.exit(main())
