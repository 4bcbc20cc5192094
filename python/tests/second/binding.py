"""Bound late: the page that a program gets when its transfer begins."""

from __future__ import annotations

from .records import Op, Plane, Region
from .room import Room


class Binding(Room):
    """Bound late: the page that a program gets when its transfer begins."""

    def bind(self, op: Op) -> bool | None:
        """True with a slot, None without, False where it has left for a group."""
        plane = op.plane
        for region in op.route:
            whole = self.units_per_page * region.pages_per_program
            if op.slots < whole and region.pages_per_program > 1:
                if self.has_room(region, plane, op.privileged):
                    plane.backlog.remove(op)
                    op.route = [region]
                    self.add_page(region, op)
                    return False
            elif self.take_slot(op, region, plane):
                return True
        return None

    def may_take(self, region: Region, plane: Plane, privileged: bool) -> bool:
        return privileged or len(plane.free[region.pool]) >= region.pool.reserve

    def may_open(self, region: Region, plane: Plane, privileged: bool) -> bool:
        free = len(plane.free[region.pool])
        if privileged:
            return free > 0
        return free > region.pool.reserve and self.owned(region, plane) < region.quota

    def has_room(self, region: Region, plane: Plane, privileged: bool) -> bool:
        if not self.may_take(region, plane, privileged):
            return False
        return bool(plane.open[region]) or self.may_open(region, plane, privileged)

    def take_slot(self, op: Op, region: Region, plane: Plane) -> bool:
        if not self.has_room(region, plane, op.privileged):
            return False
        opened = not plane.open[region]
        if opened:
            block = plane.free[region.pool].pop(0)
            block.phase, block.region = "open", region
            block.programmed, block.holds = 0, {}
            block.written, block.reads = self.now, 0
            plane.open[region].append(block)
        block = plane.open[region][0]
        op.block, op.slot = block, block.programmed
        block.programmed += self.units_per_page * region.pages_per_program
        block.writers += 1
        if block.programmed == region.slots_per_block:
            plane.open[region].pop(0)
            block.phase = "full"
        if opened or region.trigger[0] == "free_slots":
            for other in self.regions:
                if other.pool is region.pool:
                    self.collect_if_short(other, plane)
        return True

    def blocked(self, op: Op) -> None:
        plane = op.plane
        op.blocked = self.now if op.blocked is None else op.blocked
        plane.waited_for |= set(op.route)
        lead = op.parts[0]
        plane.gc_blocked = plane.gc_blocked or (lead.job is not None and lead.in_window)
        for region in op.route:
            self.collect_for(region, plane)
        plane.parked.append(op)
