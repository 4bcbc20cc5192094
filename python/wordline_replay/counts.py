"""Counts of a log, against those of a report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from wordline_replay.drive import Drive, Region
from wordline_replay.log import Findings
from wordline_replay.planes import Operation

#: The report calls the moves between regions by another word.
_REPORT_WORD = {"migrate": "migration"}


@dataclass
class Counts:
    """What operations that have ended come to, by the words of the report."""

    drive: Drive
    findings: Findings
    operations: Counter[str] = field(default_factory=Counter)
    _reads: Counter[str] = field(default_factory=Counter)
    _erases: Counter[str] = field(default_factory=Counter)
    _programs: Counter[str] = field(default_factory=Counter)
    _reprograms: Counter[str] = field(default_factory=Counter)
    _program_bytes: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, operation: Operation, region: Region) -> None:
        """Count an operation that has ended."""
        u = operation.latest
        self.operations[u.kind] += 1
        if operation.from_register:
            return  # nothing was sensed
        if u.kind == "read":
            self._reads[_REPORT_WORD.get(u.cause, u.cause)] += 1
        elif u.kind == "erase":
            self._erases[u.mode] += 1
        else:
            self._add_program(operation, region)

    def _add_program(self, operation: Operation, region: Region) -> None:
        u = operation.latest
        rest = u.slots * self.drive.unit
        if u.cause == "parity":  # of no logical page
            self._program_bytes["parity", region.name] += rest
            self._programs["parity"] += u.slots // region.slots_per_page
            return
        pages: dict[int, str] = {}
        for slot, _, sectors, cause in u.parts():
            cause = _REPORT_WORD.get(cause, cause)
            self._program_bytes[cause, region.name] += sectors * self.drive.sector
            rest -= sectors * self.drive.sector
            pages.setdefault((slot - u.slot) // region.slots_per_page, cause)
        self._program_bytes["pad", region.name] += rest
        self._programs.update(pages.values())
        if operation.reprograms:
            self._reprograms.update(pages.values())
        self._programs["pad"] += u.slots // region.slots_per_page - len(pages)

    def compare(self, report: dict[str, Any], together: Counter[str]) -> None:
        """Hold the counts, and those of multi-plane commands, against a report."""
        # A log goes on until the drive has nothing left to do; the other figures do not.
        after = report.get("after_last_request") or {}
        flash = after.get("flash_total") or report["flash"]
        for cause in sorted({*self._reads, *flash["reads"]}):
            self._same(f"reads of cause {cause}", self._reads[cause], flash["reads"].get(cause, 0))
        for cause in sorted({*self._programs, *flash["programs"]}):
            theirs, ours = flash["programs"].get(cause, {}), self._programs[cause]
            self._same(f"pages programmed of cause {cause}", ours, sum(theirs.values()))
            ours = self._reprograms[cause]
            self._same(f"pages reprogrammed of cause {cause}", ours, theirs.get("reprogram", 0))
        counted = {cause for cause, _ in self._program_bytes}
        for cause in sorted({*counted, *flash["program_bytes"]}):
            kinds = flash["program_bytes"].get(cause, {})
            for region in self.drive.regions:
                theirs = sum(regions.get(region, 0) for regions in kinds.values())
                ours = self._program_bytes[cause, region]
                self._same(f"bytes programmed of cause {cause} in region {region}", ours, theirs)
        told = flash.get("multiplane", {}).get("operations", {})
        for kind in sorted({*together, *told}):
            self._same(f"{kind}s together with others", together[kind], told.get(kind, 0))
        for mode in sorted({*self._erases, *flash["erases"]}):
            self._same(f"erases in {mode} mode", self._erases[mode], flash["erases"].get(mode, 0))

    def _same(self, what: str, ours: int, theirs: int) -> None:
        if ours != theirs:
            self.findings.wrong("report", f"{theirs} {what}", f"{ours} as in the log")
