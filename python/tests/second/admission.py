"""When a request may go in: the buffer has room, and writes keep their pace."""

from __future__ import annotations

from math import ceil

from .config import Config
from .records import Job, Request
from .room import Room


class Admission(Room):
    """When a request may go in: the buffer has room, and writes keep their pace."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.buffered = 0
        self.next_write = 0  # not before this time while a collection is under way
        self.write_alarm = False
        self.freeing = (0, 0)  # time that collections took, and slots that they freed

    def admits(self, request: Request) -> bool:
        if self.config.ack_buffer is None or request.op != "write" or self.buffered == 0:
            return True
        per_unit = self.config.unit // 512
        pages = ceil((request.lba + request.blocks) / per_unit) - request.lba // per_unit
        return self.buffered + pages <= self.config.ack_buffer

    def may_go_in(self, request: Request) -> bool:
        return self.admits(request) and not self.is_paced(request)

    def is_paced(self, request: Request) -> bool:
        """A write waits for its time, but only for a collection that is at work."""
        works = any(job and job.began is not None for p in self.planes for job in p.jobs.values())
        return request.op == "write" and self.now < self.next_write and works

    def pages_of(self, request: Request) -> range:
        per_unit = self.config.unit // 512
        last = (request.lba + request.blocks - 1) // per_unit
        return range(request.lba // per_unit, last + 1)

    def overtakes(self, request: Request) -> bool:
        """Where writes are paced, a read does not wait behind those that it does not read."""
        if self.config.pace_below is None or request.op != "read":
            return False
        changed = [r for r in self.held_up if r.op in ("write", "trim")]
        return not any(page in self.pages_of(r) for r in changed for page in self.pages_of(request))

    def keep_waiting(self, request: Request) -> None:
        if not (self.is_paced(request) and self.admits(request)):
            self.make_way_in_groups()
        elif not self.write_alarm:
            self.write_alarm = True
            self.set_event(self.next_write, self.write_alarm_over)

    def write_alarm_over(self) -> None:
        self.write_alarm = False

    def pace_writes(self, request: Request) -> None:
        """A write goes in: half-way through the zone, the next waits for as much to be freed."""
        below = self.config.pace_below
        home, planes = self.home, self.planes
        jobs = [job for p in planes for job in p.jobs.values() if job is not None]
        if below is None or all(job.began is None for job in jobs):
            return
        slots = home.slots_per_block * len(planes)
        half = self.total_blocks(home) // 2
        reserve = max(min(self.config.hard_reserve, half), home.pool.reserve)
        zone = max(below - reserve, 1) * slots
        free = sum(self.free_slots(home, p) for p in planes)
        lacking = min(max(below * slots - free, 0), zone)
        time, freed = self.freeing
        gap = 0
        if freed > 0:
            pages = len(self.pages_of(request))
            gap = 2 * pages * lacking * time // (zone * freed * len(planes))
        self.next_write = max(self.next_write, self.now) + gap

    def learn(self, job: Job) -> None:
        if job.began is None:
            return
        time, freed = self.freeing
        time, freed = time + self.now - job.began, freed + job.frees
        if freed > 2 * len(self.planes) * self.home.slots_per_block:
            time, freed = time // 2, freed // 2
        self.freeing = (time, freed)
