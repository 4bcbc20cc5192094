"""Buses and arrays: none is used by two at once, and planes join one command only if alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from wordline_replay.drive import Drive, Region
from wordline_replay.log import Findings, Use
from wordline_replay.planes import Operation


@dataclass(slots=True)
class _Command:
    """What an array does at once: in one plane, or in several that are alike."""

    alike: tuple[Any, ...]  # kind, mode, the time of one without retries, and the page
    span: tuple[int, int]
    planes: set[int]
    longest: int  # time of the operation that takes the longest


@dataclass
class Arrays:
    """When each bus and each array is taken, and by what."""

    drive: Drive
    findings: Findings
    latest: int = 0
    together: Counter[str] = field(default_factory=Counter)  # operations of multi-plane commands
    _last_start: int = 0
    #: Until when each is busy, and with which operation.
    _busy: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    _commands: dict[int, _Command] = field(default_factory=dict)  # by array

    def take(self, u: Use, region: Region, begun: Operation | None) -> None:
        """Check when a use begins and ends, and that its bus or array is free for it."""
        wrong = self.findings.wrong
        if u.start < self._last_start:
            what = f"operation {u.op} begins at {u.start} ns, after a row that begins at"
            wrong("row order", f"{what} {self._last_start} ns", "rows as they begin")
        self._last_start = max(self._last_start, u.start)
        self.latest = max(self.latest, u.end)
        expected = self._alone(u, region, begun)
        if u.end - u.start != expected and (u.use == "bus" or not self.drive.pairs_planes):
            what = f"the {u.use} use of {u.kind} {u.op} takes {u.end - u.start} ns"
            wrong("time", what, f"{expected} ns")
        if u.use == "bus" or not self._joins(u, region, begun, expected):
            self._resource(u)

    def _alone(self, u: Use, region: Region, begun: Operation | None) -> int:
        """Return how long a use takes by itself."""
        reprograms = begun is not None and begun.reprograms
        return self.drive.duration(u, region, goes_on=begun is not None, reprograms=reprograms)

    def _joins(self, u: Use, region: Region, begun: Operation | None, expected: int) -> bool:
        """Whether a use goes with the command that its array is at; if not, it begins one.

        What goes together is of one kind, mode and time, in different planes of a die (where the
        drive asks for that, on pages with one number), and the array is taken until the longest is
        done.
        """
        if not self.drive.pairs_planes:
            return False
        once = self._alone(replace(u, retries=0), region, begun if u.kind == "program" else None)
        page = None
        if self.drive.pairs_same_pages and u.kind != "erase":
            page = u.slot // region.slots_per_page
        alike, span = (u.kind, u.mode, once, page), (u.start, u.end)
        command = self._commands.get(u.die)
        goes_along = command is not None and (command.alike, command.span) == (alike, span)
        if command is not None and goes_along and u.plane not in command.planes:
            command.planes.add(u.plane)
            command.longest = max(command.longest, expected)
            return True
        self._command_ends(u.die)
        self._commands[u.die] = _Command(alike, span, {u.plane}, expected)
        return False

    def _command_ends(self, die: int) -> None:
        """Check how long the last command of an array took, and count what it did."""
        command = self._commands.pop(die, None)
        if command is None:
            return
        (begin, end), kind = command.span, command.alike[0]
        if end - begin != command.longest:
            what = f"the array of die {die} works on a {kind} from {begin} ns for {end - begin} ns"
            self.findings.wrong("time", what, f"{command.longest} ns")
        if len(command.planes) > 1:
            self.together[kind] += len(command.planes)

    def _resource(self, u: Use) -> None:
        """No bus and no array is used by two at once."""
        where = "channel" if u.use == "bus" else "die" if self.drive.arrays_by_die else "plane"
        key = (u.use, getattr(u, where))
        until, holder = self._busy.get(key, (0, 0))
        if u.start < until:
            what = f"operation {u.op} uses the {u.use} of {where} {key[1]} from {u.start} ns"
            has = f"but operation {holder} has it until {until} ns"
            self.findings.wrong(u.use, f"{what}, {has}")
        if u.end >= until:
            self._busy[key] = (u.end, u.op)

    def finish(self) -> None:
        """Check the commands that were under way at the end."""
        for die in list(self._commands):
            self._command_ends(die)
