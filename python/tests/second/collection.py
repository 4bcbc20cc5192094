"""Collections: when one begins, its reads and programs, and its erase."""

from __future__ import annotations

from . import latency
from .records import BACKGROUND, URGENT, WRITE, Job, Op, Part, Plane, Region
from .room import Room


class Collection(Room):
    """Collections: when one begins, its reads and programs, and its erase."""

    def collect_if_short(self, region: Region, plane: Plane) -> None:
        job = plane.jobs[region]
        if (job is None or job.idle) and self.is_short(region, plane):
            self.collect(region, plane)

    def collect_for(self, region: Region, plane: Plane) -> None:
        # With blocks left in the pool, a region that has all it may own is helped by its own alone.
        has_blocks = len(plane.free[region.pool]) > region.pool.reserve
        is_full = has_blocks and self.owned(region, plane) >= region.quota
        for other in [region] if is_full else self.regions:
            if other.pool is region.pool:
                self.collect(other, plane)

    def collect_for_waiting(self, region: Region, plane: Plane) -> None:
        for waited in self.regions:
            if waited in plane.waited_for and waited.pool is region.pool:
                self.collect_for(waited, plane)
        self.collect_if_short(region, plane)

    def collect(self, region: Region, plane: Plane) -> None:
        job = plane.jobs[region]
        if job is not None:
            if job.idle:  # it cannot wait for the drive to rest again
                self.end_grant(job)
                job.idle, job.granted = False, True
                self.step_job(job)
            return
        block = self.best_victim(region, plane)
        if self.config.copies_apart:
            found = [(self.best_victim(r, plane), r) for r in self.regions]
            each = [(len(self.live_slots(b)), b.number, b, r) for b, r in found if b is not None]
            if each:
                *_, block, region = min(each, key=lambda of: of[:2])
            if plane.jobs[region] is not None:
                return
        # Collected pages of a cache go to another region; others come back to the same pool.
        passes_on = region.pool is not self.home.pool or region.bits != self.home.bits
        if block is None or not (passes_on or self.gains(region, block)):
            return
        block.phase = "victim"
        job = plane.jobs[region] = Job(region, plane, block)
        if self.config.pace_below is not None and not passes_on:
            job.began = self.now
            job.frees = region.slots_per_block - len(self.live_slots(block))
        self.step_job(job)

    def job_service(self, job: Job) -> int:
        if self.is_desperate(job.region, job.plane):
            return URGENT
        if job.idle:
            return BACKGROUND
        return {"background": BACKGROUND, "host": WRITE, "urgent": URGENT}[self.config.gc_class]

    def step_job(self, job: Job) -> None:
        if job.erasing or job.rests:
            return
        service = self.job_service(job)
        block, u = job.block, self.units_per_page
        depth = 1 if job.idle else 2 * self.config.planes
        while job.window < depth and not job.exhausted:
            live = [s for s in self.live_slots(block) if s >= job.next_slot]
            if not live:
                job.exhausted = True
                break
            slot = live[0]
            job.next_slot = slot // u * u + u
            job.inflight += 1
            job.window += 1
            read = Op("read", job.plane, service, block=block, slot=slot, why="job", owner=job)
            for s in live:
                if s < job.next_slot:
                    read.sectors |= self.all_sectors << (s - slot) * self.sectors_per_unit
            block.readers += 1
            self.emit(read)
            if job.idle:
                self.pace(job.plane.die)
        if job.exhausted and job.inflight == 0 and block.readers == 0:
            assert not self.live_slots(block)
            job.erasing = True
            block.phase = "erasing"
            self.emit(Op("erase", job.plane, service, block=block, owner=job))

    def relocate(self, read: Op) -> None:
        job, block = read.owner, read.block
        service = self.job_service(job)
        page_end = read.slot // self.units_per_page * self.units_per_page + self.units_per_page
        live = [s for s in self.live_slots(block) if read.slot <= s < page_end]
        programs = []
        for slot in live:
            part = Part(block.holds[slot], self.all_sectors, source=(block, slot), job=job)
            part.whom = latency.whom(job, self.home)
            program = Op("program", job.plane, service, parts=[part], route=[self.home])
            program.privileged = self.home.pool is job.region.pool
            part.program = program
            programs.append(program)
        job.inflight += len(programs) - 1
        job.window += len(programs) - 1
        if not programs:
            self.go_on(job)
        for program in programs:
            self.launch(program)
        if job.plane.jobs.get(job.region) is job and job.window == 0 and not job.exhausted:
            self.step_job(job)

    def job_page_over(self, job: Job, in_window: bool) -> None:
        job.inflight -= 1
        job.window -= in_window
        self.go_on(job)

    def go_on(self, job: Job) -> None:
        """With one page fewer in flight a job continues; one that idle time began asks again."""
        if job.idle and job.inflight == 0:
            self.end_grant(job)
            job.granted = False
        else:
            self.step_job(job)
