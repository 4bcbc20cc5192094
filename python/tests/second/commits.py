"""Committed late: what a read, a program or an erase changes when it ends."""

from __future__ import annotations

from .records import Block, Op, Part
from .room import Room


class Commits(Room):
    """Committed late: what a read, a program or an erase changes when it ends."""

    def page_died(self, block: Block) -> None:
        if block.phase == "full" and block.writers == 0 and block.plane.waited_for:
            self.collect_for_waiting(block.region, block.plane)

    def read_done(self, op: Op) -> None:
        if op.why == "request":
            if op.failed:
                op.owner.outcome = "uncorrectable"
            self.part_done(op.owner)
        elif op.why == "fill":
            part = op.owner
            stage = self.stages[part.lpn]
            # After a trim, or with something newer on flash, what was read is old.
            if part.version >= stage.committed:
                stage.sectors |= op.sectors
                part.sectors |= op.sectors
            self.filled(stage, part)
        elif op.why == "job":
            self.relocate(op)
        block = op.block
        block.readers -= 1
        if block.readers == 0 and block.phase == "victim":
            self.step_job(block.plane.jobs[block.region])

    def program_done(self, op: Op) -> None:
        block = op.block
        region = block.region
        for part in op.parts:
            self.commit(part, block, op.slot + part.at)
        block.writers -= 1
        if block.phase == "full" and block.writers == 0:
            self.close(block)
            self.collect_for_waiting(region, block.plane)

    def commit(self, part: Part, block: Block, slot: int) -> None:
        block.holds[slot] = part.lpn
        if part.source is not None:
            newest = self.map.get(part.lpn) == part.source
        else:
            stage = self.stages[part.lpn]
            newest = part.sectors != 0 and part.version >= stage.committed
        if newest:
            old = self.map.get(part.lpn)
            self.map[part.lpn] = (block, slot)
            if old is not None:
                self.page_died(old[0])
            if part.source is None:
                stage.committed = max(stage.committed, part.version)
        if part.job is not None:
            self.job_page_over(part.job, part.in_window)
        else:
            self.settle_part(part)

    def settle_part(self, part: Part) -> None:
        if part.staged:
            stage = self.stages[part.lpn]
            stage.pending -= 1
            if stage.pending == 0:
                del self.stages[part.lpn]
        for request in part.requests:
            self.part_done(request)
        if part.is_host:
            self.unsettled -= 1
            if self.config.ack_buffer is not None:
                self.buffered -= 1
            for flush in self.flushes:
                flush.remaining -= part.version < flush.version
            for flush in [f for f in self.flushes if f.remaining == 0]:
                self.flushes.remove(flush)
                self.part_done(flush.request)

    def erase_done(self, op: Op) -> None:
        block = op.block
        plane, region = block.plane, block.region
        job = plane.jobs[region]
        block.phase, block.region = "free", None
        block.holds = {}
        block.erases += 1
        plane.free[region.pool].append(block)
        plane.jobs[region] = None
        self.learn(job)
        self.end_grant(job)
        plane.gc_blocked = False
        plane.waited_for.clear()
        self.todo.append(lambda: self.wake(plane))
        for other in self.regions:
            self.collect_if_short(other, plane)
