"""A drive at rest: pages of the cache are migrated, as fast as it may."""

from __future__ import annotations

from .config import Config, transfer
from .records import Job
from .room import Room


class Idle(Room):
    """A drive at rest: pages of the cache are migrated, as fast as it may."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.is_idle = False
        self.rests_since = 0
        self.idle_alarm = False
        self.idle_work: dict[int, int] = {}  # by die, grants that are not over
        self.idle_turns: dict[int, int] = {}  # by die, the plane that is asked first
        self.idle_die = 0  # the die that is asked first
        self.next_idle_page = 0  # not before this time
        self.pace_alarm = False

    def set_idle_alarm(self, at: int) -> None:
        self.idle_alarm = True
        self.set_event(at, self.maybe_idle)

    def maybe_idle(self) -> None:
        self.idle_alarm = False
        if self.outstanding > 0:
            return
        due = self.rests_since + self.config.idle_after
        if due > self.now:
            self.set_idle_alarm(due)
            return
        self.is_idle = True
        self.next_idle_page = max(self.next_idle_page, self.now)
        self.ask_all_idle()

    def ask_all_idle(self) -> None:
        dies = len({p.die for p in self.planes})
        first = self.idle_die
        for turn in range(first, first + dies):
            self.ask_idle(turn % dies)
        self.settle()

    def ask_idle(self, die: int) -> None:
        """A die without idle work begins a page of a full cache block, or its erase."""
        if self.idle_work.get(die, 0) > 0:
            return
        if self.now < self.next_idle_page:
            if not self.pace_alarm:
                self.pace_alarm = True
                at = self.next_idle_page
                self.todo.append(lambda: self.set_event(at, self.pace_over))
            return
        cache = self.regions[0]
        planes = [p for p in self.planes if p.die == die]
        turn = self.idle_turns.get(die, 0)
        for i in range(len(planes)):
            plane = planes[(turn + i) % len(planes)]
            job = plane.jobs[cache]
            if job is not None and not job.rests:
                continue
            block = self.best_victim(cache, plane) if job is None else job.block
            if block is None:
                continue
            self.idle_turns[die] = turn + i + 1
            self.idle_work[die] = self.idle_work.get(die, 0) + 1
            if job is None:
                block.phase = "victim"
                job = plane.jobs[cache] = Job(cache, plane, block, idle=True)
            job.granted = True
            self.step_job(job)
            return

    def pace(self, die: int) -> None:
        if self.config.idle_rate != (0, 0):
            time = transfer(self.config.idle_rate, self.units_per_page * self.config.unit)
            self.next_idle_page += time
            self.idle_die = die + 1

    def pace_over(self) -> None:
        self.pace_alarm = False
        if self.is_idle:
            self.ask_all_idle()

    def end_grant(self, job: Job) -> None:
        if job.idle and job.granted:
            self.idle_work[job.plane.die] -= 1
