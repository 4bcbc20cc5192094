"""What buses move, and the command of a program."""

from __future__ import annotations

from .config import transfer
from .records import Op
from .room import Room


class Buses(Room):
    """What buses move, and the command of a program."""

    def serve_bus(self, channel: int) -> None:
        while not self.bus_busy[channel]:
            op = self.most_urgent("bus", [p for p in self.planes if p.channel == channel])
            if op is None:
                return
            plane = op.plane
            time = 0
            if plane.current is None:
                plane.queue.remove(op)
                bound = self.bind(op)
                if not bound:
                    if bound is None:
                        self.blocked(op)
                    after = self.first(plane)
                    if after is not None and after.kind != "program":
                        self.serve_array(self.array_of(plane))
                    continue
                plane.current, op.began = op, self.now
                time += self.command_of_program(op)
            self.bus_busy[channel] = True
            self.on_bus[channel] = op
            op.wants = ""
            if op.kind == "read":
                size = op.sectors.bit_count() * self.config.sector
            else:
                size = op.slots * self.config.unit
            time += transfer(self.config.bus, size)
            self.set_event(self.now + time, lambda op=op: self.bus_done(channel, op))
            return

    def command_of_program(self, op: Op) -> int:
        """A program's command is that of a further plane where one like it waits for the array."""
        brought = [p.current for p in self.planes if self.array_of(p) == self.array_of(op.plane)]
        joins = any(
            o is not None
            and o is not op
            and o.kind == "program"
            and o.wants == "array"
            and self.are_alike(o, op)
            for o in brought
        )
        if self.config.multiplane and self.config.further is not None and joins:
            return self.config.further["program"]
        return self.config.command["program"]

    def bus_done(self, channel: int, op: Op) -> None:
        self.bus_busy[channel], self.on_bus[channel] = False, None
        by_bus = self.config.errors is not None and self.config.errors["retransfer"]
        again = op.kind == "read" and by_bus and op.repeated < op.retries
        if op.kind == "read" and not again:
            self.end(op)
        else:
            if again:
                op.repeated += 1
            else:
                op.turned = self.now
            op.wants = "array"
            if self.config.multiplane:
                self.serve_bus(channel)
            self.serve_array(self.array_of(op.plane))
        self.serve_bus(channel)
