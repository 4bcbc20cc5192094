"""A log read row by row, each row taken to who knows what it must hold to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from wordline_replay import log
from wordline_replay.arrays import Arrays
from wordline_replay.blocks import Blocks
from wordline_replay.counts import Counts
from wordline_replay.drive import BITS, PAGES, Drive, Region
from wordline_replay.log import COLUMNS, SCHEMA, USES, Findings, Unreadable, Use
from wordline_replay.planes import Planes


class Checker:
    """Reads a log row by row and collects what is wrong with it."""

    def __init__(self, header: dict[str, Any]) -> None:
        """Read the header of a log: the drive, and the blocks that were programmed before the run.

        Raises as for `Drive`.
        """
        self._header = header
        self._findings = findings = Findings()
        self._wrong = findings.wrong
        self._drive = drive = Drive(header)
        self._arrays, self._planes = Arrays(drive, findings), Planes(drive, findings)
        self._blocks = Blocks(drive, header, findings)
        self._counts = Counts(drive, findings)
        self._rows = 0

    @property
    def violations(self) -> list[tuple[int, str]]:
        """Lines of the log with what is wrong there."""
        return self._findings.violations

    @property
    def slots_before(self) -> int:
        """Slots that were programmed before the log begins."""
        return self._blocks.slots_before

    def row(self, line: int, text: str) -> None:
        """Check one row."""
        self._findings.line = line
        fields = text.rstrip("\n").split(",")
        if len(fields) != len(COLUMNS):
            self._wrong("row", f"{len(fields)} columns", len(COLUMNS))
            return
        try:
            u = log.row(fields)
        except ValueError:
            self._wrong("row", "a number is missing or is none", ",".join(COLUMNS))
            return
        self._rows += 1
        region = self._place(u)
        if region is None:
            return
        begun = self._planes.begun(u)
        self._arrays.take(u, region, begun)
        if begun is None:
            self._blocks.apply(operation := self._planes.begin(u), region)
        else:
            self._planes.go_on(u, operation := begun)
        if operation.left == 0:
            self._counts.add(operation, region)
        self._planes.bring(u)

    def _place(self, u: Use) -> Region | None:
        """Return the region of a row, if the drive has what it names, and that belongs together."""
        if (wrong := self._misplaced(u)) is not None:
            self._findings.wrong(*wrong)
            return None
        region = self._drive.regions[u.region]
        bit = u.slot // region.slots_per_page % BITS[region.mode]
        page = "" if u.kind == "erase" else PAGES[bit]
        if bit >= BITS[u.mode]:
            self._wrong("place", f"slot {u.slot} is the {page} of a wordline in {u.mode} mode")
            return None
        if u.page != page:
            self._wrong("place", f"slot {u.slot} is said to be {u.page!r}", repr(page))
        return region

    def _misplaced(self, u: Use) -> tuple[str, str, object] | None:
        """Return rule, what breaks it, and what is expected, where a row is of no such drive."""
        d = self._drive
        if u.kind not in USES or u.use not in USES[u.kind]:
            return "row", f"a {u.kind} has no use {u.use!r}", f"one of {USES}"
        if (region := d.regions.get(u.region)) is None:
            return "place", f"unknown region {u.region!r}", f"one of {[*d.regions]}"
        if not 0 <= u.block < d.blocks:
            return "place", f"there is no block {u.block}", f"0 to {d.blocks - 1}"
        plane = d.plane_of(u.block)
        found, expected = (u.channel, u.die, u.plane), (d.channel_of[plane], d.die_of[plane], plane)
        if found != expected:
            what = f"block {u.block} is said to lie in (channel, die, plane) {found}"
            return "place", what, expected
        if d.medium_of[plane] != region.medium:
            name = d.media[region.medium]["name"]
            what = f"region {region.name} is of medium {name}, block {u.block} is not"
            return "place", what, None
        if u.mode != region.mode and not (region.window and u.mode == "slc"):
            return "place", f"mode {u.mode} in region {region.name}", region.mode
        if not (u.slot >= 0 and u.slots >= 1 and u.slot + u.slots <= region.slots_per_block):
            what = f"slots {u.slot} to {u.slot + u.slots - 1} of block {u.block}"
            return "place", what, f"some of 0 to {region.slots_per_block - 1}"
        return None

    def finish(self, report: dict[str, Any] | None) -> None:
        """Check what shows at the end only."""
        self._findings.line += 1
        self._arrays.finish()
        self._planes.finish()
        self._blocks.finish()
        if report is not None:
            self.compare(report)

    def compare(self, report: dict[str, Any]) -> None:
        """Hold a report against the log: whose it is, and its counts."""
        for key, theirs in (("scheme", report["scheme"]["name"]), ("seed", report["seed"])):
            if self._header[key] != theirs:
                expected = f"{self._header[key]}, that of the log"
                self._wrong("report", f"it is of {key} {theirs}", expected)
        self._counts.compare(report, self._arrays.together)

    def summary(self) -> str:
        """Say what was seen."""
        operations = self._counts.operations
        each = ", ".join(f"{operations[k]:,} {k}s" for k in ("read", "program", "erase"))
        return f"{self._rows:,} uses of arrays and buses, {each}, 0 to {self._arrays.latest:,} ns"


def check(lines: Iterator[str], report: dict[str, Any] | None = None) -> Checker:
    """Check a log, line by line.

    Raises `Unreadable`: it does not begin as a log does.
    """
    first, columns = next(lines, ""), next(lines, "")
    try:
        header = json.loads(first.removeprefix("#"))
        if header["log"] != SCHEMA:
            raise Unreadable(f"line 1: this is {header['log']!r}; expected {SCHEMA!r}")
        checker = Checker(header)
    except (ValueError, KeyError, TypeError, IndexError) as e:
        # Any other file is no JSON; of a log the cause says which part of the header is wrong.
        cause = "" if isinstance(e, json.JSONDecodeError) else f" ({type(e).__name__}: {e})"
        what = f"line 1 is not the header of an operation log{cause}"
        raise Unreadable(f"{what}; expected a file of `wordline run --log FILE`") from None
    if columns.strip().split(",") != COLUMNS:
        raise Unreadable(f"line 2: unexpected columns; expected {','.join(COLUMNS)}")
    for number, text in enumerate(lines, 3):
        checker.row(number, text)
    try:
        checker.finish(report)
    except (KeyError, TypeError, AttributeError) as e:
        what = f"the report lacks {e}; expected a report of `wordline run --json`"
        raise Unreadable(what) from None
    return checker
