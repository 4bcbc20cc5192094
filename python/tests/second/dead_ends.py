"""Nothing is pending: programs go elsewhere, or requests end without space."""

from __future__ import annotations

from .records import HOST, IN_ORDER, Op, Plane, Region
from .room import Room


class DeadEnds(Room):
    """Nothing is pending: programs go elsewhere, or requests end without space."""

    def send_elsewhere(self) -> bool:
        """Nothing is pending: programs that may go anywhere go to the roomiest plane.

        Where none has room they go to the first where a collection begins, or else to another
        region.
        """
        went = False
        for op in sorted((op for p in self.planes for op in p.parked), key=IN_ORDER):
            there = self.other_plane(op)
            if there is None and (region := self.other_region(op)) is not None:
                there, op.route = op.plane, [region]
            if there is None:
                continue
            op.plane.parked.remove(op)
            op.plane.backlog.remove(op)
            there.backlog.append(op)
            op.plane = there
            self.todo.append(lambda op=op: self.enter(op))
            went = True
        self.settle()
        return went

    def other_plane(self, op: Op) -> Plane | None:
        part = op.parts[0]
        if not self.config.goes_anywhere if part.is_host else not part.staged:
            return None
        for region in op.route:
            others = [p for p in self.planes if p is not op.plane]
            others = [p for p in others if self.has_room(region, p, False)]
            if others:
                return max(others, key=lambda p: (self.room(region, p), p.number))
        for region in op.route:
            for plane in (p for p in self.planes if p is not op.plane):
                before = list(plane.jobs.values())
                self.collect_for(region, plane)
                if list(plane.jobs.values()) != before:
                    return plane
        return None

    def other_region(self, op: Op) -> Region | None:
        """The other region of the pool, where copies are apart, if it takes what lies nowhere."""
        part = op.parts[0]
        if not self.config.copies_apart or not (part.is_host or part.staged):
            return None
        others = (r for r in self.regions if r not in op.route)
        return next((r for r in others if self.has_room(r, op.plane, False)), None)

    def room(self, region: Region, plane: Plane) -> int:
        """Slots that hold nothing live, or will when what waits there is done."""
        live = sum(len(self.live_slots(b)) for b in self.blocks_in(region, plane))
        taken = live + len(plane.backlog) * self.units_per_page
        return max(self.total_blocks(region) * region.slots_per_block - taken, 0)

    def give_up(self) -> bool:
        """Nothing is pending: host programs that wait for a slot never will have one.

        What a buffer has acknowledged stays in it; flushes fail, else the first that it holds up.
        Before that nothing waits for company any longer.
        """
        incomplete = self.incomplete_groups()
        for region, plane in incomplete:
            self.pad(region, plane, HOST)
        if incomplete:
            self.settle()
            return True
        gave_up = False
        if self.config.ack_buffer is not None:
            if self.flushes:
                failed = [flush.request for flush in self.flushes]
                self.flushes.clear()
                for request in failed:
                    request.outcome = "out_of_space"
                    self.part_done(request)
                gave_up = True
            elif self.held_up:
                request = self.held_up.pop(0)
                request.outcome, request.admitted = "out_of_space", self.now
                self.part_done(request)
                gave_up = True
            self.settle()
            return gave_up
        for plane in self.planes:
            parked, plane.parked = plane.parked, []
            for op in parked:
                if not op.parts[0].is_host:
                    plane.parked.append(op)
                    continue
                gave_up = True
                plane.backlog.remove(op)
                for part in op.parts:
                    for request in part.requests:
                        request.outcome = "out_of_space"
                    self.settle_part(part)
        self.settle()
        return gave_up
