"""What arrays work on, alone or in several planes together, and for how long."""

from __future__ import annotations

from . import errors
from .records import IN_ORDER, READ, Op
from .room import Room


class Arrays(Room):
    """What arrays work on, alone or in several planes together, and for how long."""

    def serve_array(self, array: int) -> None:
        if self.array_busy[array]:
            return
        op = self.most_urgent("array", [p for p in self.planes if self.array_of(p) == array])
        suspended = self.arrays[array].aside
        if op is None or (suspended and op.service != READ):
            return
        together = [op]
        if self.config.multiplane:
            coming = self.on_bus[op.plane.channel]
            if (
                op.kind == "program"
                and coming is not None
                and self.array_of(coming.plane) == array
                and self.are_alike(op, coming)
            ):
                return
            others = [self.wanted(p) for p in self.planes if self.array_of(p) == array]
            others = [o for o in others if o is not None and o is not op and o.wants == "array"]
            others = [o for o in others if o.service == READ or not suspended]
            others.sort(key=IN_ORDER)
            together += [o for o in others if self.are_alike(op, o)]
        for one in together:
            self.begin(one)
            one.wants = ""
        self.array_busy[array] = True
        if not suspended:
            self.arrays[array].times = 0
        time = max(self.time_of(one) for one in together)
        if self.config.further is not None and op.kind != "program":
            time += (len(together) - 1) * self.config.further[op.kind]
        self.works_on(array, together, time)

    def works_on(self, array: int, together: list[Op], time: int) -> None:
        self.arrays[array].at, self.arrays[array].until = together, self.now + time
        self.set_event(self.now + time, lambda: self.array_event(array))

    def array_event(self, array: int) -> None:
        """The array is through, or has stopped; at another time the event is void."""
        a = self.arrays[array]
        if a.until != self.now or not a.at:
            return
        together, a.at = a.at, []
        if a.stops:
            a.stops = False
            self.set_aside(array, together)
        else:
            self.array_done(array, together)
            self.go_on_with_rest(array)

    def array_done(self, array: int, together: list[Op]) -> None:
        """The array is taken until the last has had its effect; reads all want the bus at once."""
        for op in together:
            self.array_busy[array] = op is not together[-1]
            if op.kind == "read":
                op.wants, op.sensed = "bus", self.now
                if op.repeated == 0:
                    op.turned = self.now
            else:
                self.end(op)
        if together[0].kind == "read":
            self.serve_bus(together[0].plane.channel)
        self.serve_array(array)

    def are_alike(self, one: Op, other: Op) -> bool:
        """Whether two operations may be one multi-plane command."""
        return (
            one.kind == other.kind
            and one.block.region.bits == other.block.region.bits
            and self.array_time(one) == self.array_time(other)
            and (
                not self.config.same_pages
                or one.kind == "erase"
                or one.slot // self.units_per_page == other.slot // self.units_per_page
            )
        )

    def time_of(self, op: Op) -> int:
        """Time on the array from now on; a read with errors finds how often it is repeated."""
        time = self.array_time(op)
        if op.kind == "read" and self.config.errors is not None:
            return self.time_of_read(op, time)
        return time

    def array_time(self, op: Op) -> int:
        region = op.block.region
        extra = self.config.command
        if op.kind == "erase":
            return region.times["erase"] + extra["erase"]
        bit = op.slot // self.units_per_page % region.bits
        if op.kind == "read":
            return region.times["read"][bit] + extra["read"]
        return region.times["program"][bit]

    def time_of_read(self, op: Op, once: int) -> int:
        """With the retries that follow at once, where data need not go over the bus for them."""
        decode, by_bus = self.config.errors["decode"], self.config.errors["retransfer"]
        if op.retries is not None:
            return decode + once
        block, region = op.block, op.block.region
        page = op.slot // self.units_per_page
        whole = block.reads // (region.slots_per_block // self.units_per_page)
        op.retries, op.failed = errors.retries(
            self.config.errors,
            "slc" if region.bits == 1 else "tlc",
            (block.number, page // region.bits, page % region.bits),
            block.erases,
            self.now - block.written,
            whole,
        )
        block.reads += 1
        op.again = 0 if by_bus else op.retries * (once + decode)
        return once + op.again
