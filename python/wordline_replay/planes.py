"""Planes: which operations are under way in each, and whose register holds what."""

from __future__ import annotations

from dataclasses import dataclass

from wordline_replay.drive import Drive
from wordline_replay.log import USES, Findings, Use


@dataclass(slots=True)
class Operation:
    """An operation that has a register of its plane."""

    latest: Use
    left: int  # uses still to come
    reprograms: bool = False  # whether it adds a bit to those that wordlines hold
    from_register: bool = False  # goes on with what its plane has read

    def has_ended(self, by: int) -> bool:
        """Whether it is over by a time."""
        return self.left == 0 and self.latest.end <= by

    def has_moved(self, by: int) -> bool:
        """Whether its data have left the register in which they stood first."""
        return self.left == 0 or (self.left == 1 and self.latest.end <= by)


class Planes:
    """The operations of each plane, and what it has read."""

    def __init__(self, drive: Drive, findings: Findings) -> None:
        """Take the drive, and where to note what is wrong."""
        self._drive, self._wrong = drive, findings.wrong
        # The operations under way in each plane, in the order of their ends, or the last that was.
        self._operations: list[list[Operation]] = [[] for _ in drive.die_of]
        self._brought: list[Use | None] = [None] * len(drive.die_of)  # last read over the bus

    def begun(self, u: Use) -> Operation | None:
        """Return the operation of which this is a further use."""
        begun = (o for o in self._operations[u.plane] if o.left > 0 and o.latest.op == u.op)
        return next(begun, None)

    def bring(self, u: Use) -> None:
        """Note what a read has brought out over the bus."""
        if u.use == "bus" and u.kind == "read":
            self._brought[u.plane] = u

    def go_on(self, u: Use, operation: Operation) -> None:
        """Check a further use of an operation."""
        before = operation.latest
        operation.left -= 1
        operation.latest = u
        if u.use != USES[u.kind][-1 - operation.left % 2] or u.identity() != before.identity():
            self._wrong("operation", f"operation {u.op} goes on as another than it began")
        if u.start < before.end:
            what = f"the {u.use} use of operation {u.op} begins at {u.start} ns"
            self._wrong("operation", what, f"not before {before.end} ns")
        for other in self._operations[u.plane]:
            if other is operation:
                break
            if not other.has_ended(u.start):
                what = f"the {u.use} use of operation {u.op} begins at {u.start} ns"
                has = f"but operation {other.latest.op} has the register that it needs"
                self._wrong("plane register", f"{what}, {has}")

    def begin(self, u: Use) -> Operation:
        """Check that the plane has a register for an operation that begins."""
        uses = USES[u.kind]
        plane = self._operations[u.plane]
        under_way = [o for o in plane if not o.has_ended(u.start)]
        from_register = self._takes_over(u, under_way or plane[-1:])
        attempts = 1 + (u.retries if self._drive.retransfers else 0)
        left = attempts * len(uses) - 1 if u.use == uses[0] else 0
        operation = Operation(u, left, from_register=from_register)
        self._has_register(u, under_way, from_register)
        # What goes on with a page that was read is brought out before the next that was sensed.
        if from_register:
            self._operations[u.plane] = [operation, *under_way]
            return operation
        self._operations[u.plane] = [*under_way, operation]
        if u.use != uses[0]:
            what = f"{u.kind} {u.op} begins with its {u.use} use"
            self._wrong("operation", what, f"{uses[0]} first")
        if not 0 <= u.retries <= (self._drive.most_retries if u.kind == "read" else 0):
            self._wrong("retries", f"{u.kind} {u.op} is repeated {u.retries} times")
        return operation

    def _has_register(self, u: Use, under_way: list[Operation], from_register: bool) -> None:
        """Check what is under way beside an operation that begins."""
        for other in under_way:
            held = other.latest
            if from_register:
                beside = held.kind != "program" and self._drive.may_overlap(u, held)
            else:
                beside = self._drive.may_overlap(held, u) and other.has_moved(u.start)
            if beside and len(under_way) == 1:
                continue
            lacks = f"still lacks its {USES[held.kind][-1]} use"
            lacks = lacks if other.left > 0 else f"has it until {held.end} ns"
            what = f"operation {u.op} begins in plane {u.plane} at {u.start} ns"
            self._wrong("plane register", f"{what}, but operation {held.op} {lacks}")

    def _takes_over(self, u: Use, beside: list[Operation]) -> bool:
        """Whether a move brings out the rest of the page that its plane has just read."""
        held = self._brought[u.plane]
        if held is None or (u.kind, u.use, u.cause) != ("read", "bus", "migrate"):
            return False
        is_next = all(o.latest is held or self._drive.may_overlap(u, o.latest) for o in beside)
        return (
            is_next
            and held.block == u.block
            and held.slot <= u.slot < held.slot + held.slots
            and u.start >= held.end
        )

    def finish(self) -> None:
        """Check that no operation lacks a use at the end."""
        for held in (o.latest for plane in self._operations for o in plane if o.left > 0):
            lacks = USES[held.kind][-1]
            self._wrong("operation", f"{held.kind} {held.op} never has its {lacks} use")
