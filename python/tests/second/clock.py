"""One event after the other, the rounds that follow from each, and requests as they arrive."""

from __future__ import annotations

import heapq

from .config import Config
from .records import Plane, Request
from .room import Room


class Clock(Room):
    """One event after the other, the rounds that follow from each, and requests as they arrive."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.now = 0
        self.events: list = []  # (time, order in which it was set, what to do)
        self.set_count = 0
        self.outstanding = 0
        self.held_up: list[Request] = []
        self.todo: list = []
        self.newly_queued: list[Plane] = []  # planes that have not looked at what they got
        self.ended: list[Request] = []
        self.done: list[Request] = []

    def set_event(self, at: int, what) -> None:
        self.set_count += 1
        heapq.heappush(self.events, (at, self.set_count, what))

    def step(self) -> None:
        """One event, and all that follows from it at once."""
        self.now, _, what = heapq.heappop(self.events)
        what()
        self.settle()

    def settle(self) -> None:
        """Rounds: what was asked for is queued, then ended requests leave, then others come in."""
        while self.todo or self.ended or self.held_up:
            todo, self.todo = self.todo, []
            for act in todo:
                act()
            # What goes together has all been queued before any of it begins.
            queued, self.newly_queued = self.newly_queued, []
            queued = [plane for plane in queued if plane.current is None]
            for plane in queued:
                self.serve_bus(plane.channel)
                self.serve_array(self.array_of(plane))
            ended, self.ended = self.ended, []
            for request in ended:
                self.put_on_link(request)
            while self.held_up and self.may_go_in(self.held_up[0]):
                self.take_in(self.held_up.pop(0))
            if self.held_up:
                self.keep_waiting(self.held_up[0])
            if not self.todo and not self.ended:
                return

    def run(self, requests: list[Request]) -> list[Request]:
        c = self.config
        for request in requests:
            while self.outstanding >= c.queue_depth:
                self.step_or_give_up()
            if c.closed:
                request.arrival = self.now
            else:
                while self.now <= request.arrival:
                    if self.events and self.events[0][0] <= request.arrival:
                        self.step()
                    elif self.events or self.now == request.arrival:
                        break
                    elif self.send_elsewhere():
                        continue
                    elif not self.outstanding:
                        break
                    elif not self.give_up():
                        raise AssertionError("stuck")
            at = max(self.now, request.arrival)
            while self.events and self.events[0][0] <= at:
                self.step()
            self.now = at
            self.outstanding += 1
            first = not self.held_up and self.may_go_in(request)
            if first or self.overtakes(request):
                self.take_in(request)
            else:
                self.keep_waiting(request)
                self.held_up.append(request)
            self.is_idle = False
            self.settle()
        while self.outstanding:
            self.step_or_give_up()
        return self.done

    def step_or_give_up(self) -> None:
        if self.events:
            self.step()
        elif not (self.send_elsewhere() or self.give_up()):
            raise AssertionError(f"{self.outstanding} requests can never complete")
