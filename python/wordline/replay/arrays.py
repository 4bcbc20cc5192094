"""Buses and arrays: none is used by two at once, and planes join one command only if alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from wordline.replay.drive import Drive, Region
from wordline.replay.findings import Findings
from wordline.replay.log import Use
from wordline.replay.planes import Operation


@dataclass(slots=True)
class _Command:
    """What an array does at once: in one plane, or in several that are alike."""

    alike: tuple[Any, ...]  # kind, mode, the time of one without retries, and the page
    span: tuple[int, int]
    planes: set[int]
    longest: int  # time of the operation that takes the longest


class Arrays:
    """When each bus and each array is taken, and by what."""

    def __init__(self, drive: Drive, findings: Findings) -> None:
        """Take the drive, and where to note what is wrong."""
        self._drive = drive
        self._wrong = findings.wrong
        self._last_start = 0
        self._busy: dict[tuple[str, int], tuple[int, int]] = {}  # until when, with which operation
        self._commands: dict[int, _Command] = {}  # by array
        self.latest = 0
        self.together: Counter[str] = Counter()  # operations of multi-plane commands

    def take(self, u: Use, region: Region, begun: Operation | None) -> None:
        """Check when a use begins and ends, and that its bus or array is free for it."""
        expected = self._times(u, region, begun)
        if u.use == "bus" or not self._joins(u, region, begun, expected):
            self._resource(u)

    def _times(self, u: Use, region: Region, begun: Operation | None) -> int:
        """Check order and length of a use; return how long it takes by itself."""
        if u.start < self._last_start:
            what = f"operation {u.op} begins at {u.start} ns, after a row that begins at"
            self._wrong("row order", f"{what} {self._last_start} ns; expected rows as they begin")
        self._last_start = max(self._last_start, u.start)
        self.latest = max(self.latest, u.end)
        expected = self._alone(u, region, begun)
        if u.end - u.start != expected and (u.use == "bus" or not self._drive.pairs_planes):
            what = f"the {u.use} use of {u.kind} {u.op} takes {u.end - u.start} ns"
            self._wrong("time", f"{what}; expected {expected} ns")
        return expected

    def _alone(self, u: Use, region: Region, begun: Operation | None) -> int:
        goes_on = begun is not None
        reprograms = begun is not None and begun.reprograms
        return self._drive.duration(u, region, goes_on=goes_on, reprograms=reprograms)

    def _joins(self, u: Use, region: Region, begun: Operation | None, expected: int) -> bool:
        """Whether a use goes with the command that its array is at; if not, it begins one.

        What goes together is of one kind, mode and time, in different planes of a die (where the
        drive asks for that, on pages with one number), and the array is taken until the longest is
        done.
        """
        if not self._drive.pairs_planes:
            return False
        once = self._alone(replace(u, retries=0), region, begun if u.kind == "program" else None)
        page = None
        if self._drive.pairs_same_pages and u.kind != "erase":
            page = u.slot // region.slots_per_page
        alike, span = (u.kind, u.mode, once, page), (u.start, u.end)
        command = self._commands.get(u.die)
        if (
            command is not None
            and (command.alike, command.span) == (alike, span)
            and u.plane not in command.planes
        ):
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
        took = command.span[1] - command.span[0]
        kind = command.alike[0]
        if took != command.longest:
            what = (
                f"the array of die {die} works on a {kind} from {command.span[0]} ns for {took} ns"
            )
            self._wrong("time", f"{what}; expected {command.longest} ns")
        if len(command.planes) > 1:
            self.together[kind] += len(command.planes)

    def _resource(self, u: Use) -> None:
        """No bus and no array is used by two at once."""
        if u.use == "bus":
            key, name = ("bus", u.channel), f"bus of channel {u.channel}"
        elif self._drive.arrays_by_die:
            key, name = ("array", u.die), f"array of die {u.die}"
        else:
            key, name = ("array", u.plane), f"array of plane {u.plane}"
        until, holder = self._busy.get(key, (0, 0))
        if u.start < until:
            what = f"operation {u.op} uses the {name} from {u.start} ns"
            self._wrong(u.use, f"{what}, but operation {holder} has it until {until} ns")
        if u.end >= until:
            self._busy[key] = (u.end, u.op)

    def finish(self) -> None:
        """Check the commands that were under way at the end."""
        for die in list(self._commands):
            self._command_ends(die)
