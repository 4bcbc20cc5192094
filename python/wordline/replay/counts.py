"""Counts of a log, against those of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from wordline.replay.drive import Drive, Region
from wordline.replay.log import Findings
from wordline.replay.planes import Operation

#: The report calls the moves between regions by another word.
_REPORT_WORD = {"migrate": "migration"}
_LOG_WORD = {word: cause for cause, word in _REPORT_WORD.items()}


@dataclass
class Counts:
    """What operations that have ended come to."""

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
            self._reads[u.cause] += 1
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
        for word in _words(self._reads, flash["reads"]):
            ours = self._reads[_LOG_WORD.get(word, word)]
            self._same(f"reads of cause {word}", ours, flash["reads"].get(word, 0))
        for word in _words(self._programs, flash["programs"]):
            theirs = flash["programs"].get(word, {})
            ours = self._programs[_LOG_WORD.get(word, word)]
            self._same(f"pages programmed of cause {word}", ours, sum(theirs.values()))
            ours = self._reprograms[_LOG_WORD.get(word, word)]
            self._same(f"pages reprogrammed of cause {word}", ours, theirs.get("reprogram", 0))
        for word in _words((c for c, _ in self._program_bytes), flash["program_bytes"]):
            kinds = flash["program_bytes"].get(word, {})
            for region in self.drive.regions:
                theirs = sum(regions.get(region, 0) for regions in kinds.values())
                ours = self._program_bytes[_LOG_WORD.get(word, word), region]
                self._same(f"bytes programmed of cause {word} in region {region}", ours, theirs)
        told = flash.get("multiplane", {}).get("operations", {})
        for kind in sorted(set(together) | set(told)):
            self._same(f"{kind}s together with others", together[kind], told.get(kind, 0))
        for mode in sorted(set(self._erases) | set(flash["erases"])):
            self._same(f"erases in {mode} mode", self._erases[mode], flash["erases"].get(mode, 0))

    def _same(self, what: str, ours: int, theirs: int) -> None:
        if ours != theirs:
            self.findings.wrong("report", f"{theirs} {what}", f"{ours} as in the log")


def _words(ours: Iterable[str], theirs: Iterable[str]) -> list[str]:
    """Return the causes of a log and of a report, by the words of the report."""
    return sorted({_REPORT_WORD.get(k, k) for k in ours} | set(theirs))
