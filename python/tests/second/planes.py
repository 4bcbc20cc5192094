"""Queues of planes: which operation is next, from when it is asked for to its end."""

from __future__ import annotations

from . import latency
from .config import Config
from .records import IN_ORDER, READ, Op, Plane
from .room import Room


class Planes(Room):
    """Queues of planes: which operation is next, from when it is asked for to its end."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.order = 0
        self.ending: Op | None = None  # a host operation, while its end takes effect

    def emit(self, op: Op) -> None:
        """An operation gets its place in the order of service now, and is queued in this round."""
        self.order += 1
        op.order = self.order
        op.wants = "bus" if op.kind == "program" else "array"
        op.plane.backlog.append(op)
        self.todo.append(lambda: self.enqueue(op))

    def enqueue(self, op: Op) -> None:
        op.queued, op.queued_at, op.blocked = self.now, op.plane, None
        op.first_queued = self.now
        self.enter(op)

    def enter(self, op: Op) -> None:
        op.plane.queue.append(op)
        if self.config.multiplane:
            self.newly_queued.append(op.plane)
        elif op.plane.current is None:
            self.offer(op.plane)
        if self.config.suspend is not None:
            self.interrupt(op)

    def first(self, plane: Plane) -> Op | None:
        """While something is aside in its array, a plane begins nothing but reads of the host."""
        suspended = self.arrays[self.array_of(plane)].aside
        may_begin = [op for op in plane.queue if op.service == READ or not suspended]
        return min(may_begin, key=IN_ORDER, default=None)

    def wanted(self, plane: Plane) -> Op | None:
        """The operation of a plane that wants a resource: the one under way, or the first."""
        return plane.current if plane.current is not None else self.first(plane)

    def offer(self, plane: Plane) -> None:
        op = self.first(plane)
        if op is None:
            return
        if op.kind == "program":
            self.serve_bus(plane.channel)
        else:
            self.serve_array(self.array_of(plane))

    def most_urgent(self, resource: str, planes: list[Plane]) -> Op | None:
        waiting = [self.wanted(p) for p in planes]
        waiting = [op for op in waiting if op is not None and op.wants == resource]
        return min(waiting, key=IN_ORDER, default=None)

    def begin(self, op: Op) -> None:
        if op.plane.current is None:
            op.plane.queue.remove(op)
            op.plane.current, op.began = op, self.now

    def end(self, op: Op) -> None:
        """The plane is free, what the operation did takes effect, and the plane takes its next."""
        op.plane.current = None
        op.plane.backlog.remove(op)
        self.ending = op if latency.serves_host(op) else None
        {"read": self.read_done, "program": self.program_done, "erase": self.erase_done}[op.kind](
            op
        )
        self.ending = None
        if self.is_idle:
            self.ask_idle(op.plane.die)
        op.plane.past.append((op.began, self.now, latency.of_op(op, self.home)))
        self.offer(op.plane)
        self.go_on_with_rest(self.array_of(op.plane))

    def wake(self, plane: Plane) -> None:
        plane.queue += plane.parked
        plane.parked = []
        if self.config.multiplane:
            self.newly_queued.append(plane)
        elif plane.current is None:
            self.offer(plane)
