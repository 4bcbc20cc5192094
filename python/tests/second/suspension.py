"""Arrays that stop for reads of the host, and go on."""

from __future__ import annotations

from . import latency
from .records import READ, Op
from .room import Room


class Suspension(Room):
    """Arrays that stop for reads of the host, and go on."""

    def interrupt(self, read: Op) -> None:
        """A read of the host comes: what its array is at may have to stop for it."""
        array = self.array_of(read.plane)
        a, rule = self.arrays[array], self.config.suspend
        if read.service != READ or not a.at or a.stops or a.times >= rule["limit"]:
            return
        kind = a.at[0].kind
        stop = rule.get(kind)
        if stop is None or a.until - self.now <= max(stop, rule.get(f"{kind}_min_left", 0)):
            return
        a.stops, a.left, a.times = True, a.until - self.now, a.times + 1
        a.until = self.now + stop
        self.set_event(a.until, lambda: self.array_event(array))

    def set_aside(self, array: int, together: list[Op]) -> None:
        """The array has stopped: to those who wait, what it was at ends, and waits once more."""
        self.array_busy[array] = False
        for op in together:
            op.plane.current = None
            op.plane.past.append((op.began, self.now, latency.of_op(op, self.home)))
            op.earlier = latency.until_now(op, self.now)
            op.queued, op.queued_at, op.blocked = self.now, op.plane, None
        self.arrays[array].aside = together
        self.offer_all(array)
        self.serve_array(array)
        self.go_on_with_rest(array)

    def offer_all(self, array: int) -> None:
        for plane in self.planes:
            if self.array_of(plane) == array and plane.current is None:
                self.offer(plane)

    def go_on_with_rest(self, array: int) -> None:
        """If no read of the host is next and all of its planes are free, what is aside goes on."""
        a = self.arrays[array]
        planes = [p for p in self.planes if self.array_of(p) == array]
        if not a.aside or self.array_busy[array]:
            return
        following = self.most_urgent("array", planes)
        if following is not None and following.service == READ:
            return
        if any(op.plane.current is not None for op in a.aside):
            return
        for op in a.aside:
            op.plane.current, op.began = op, self.now
        self.array_busy[array] = True
        together, a.aside = a.aside, []
        self.works_on(array, together, self.config.suspend["resume"] + a.left)
        self.offer_all(array)
