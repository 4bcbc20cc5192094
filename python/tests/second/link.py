"""The host link and the controller: when a request completes."""

from __future__ import annotations

from . import latency
from .config import Config, transfer
from .records import Request
from .room import Room


class Link(Room):
    """The host link and the controller: when a request completes."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.link_queue: list = []
        self.link_busy = False
        # When each request ends that the link is through with and the controller is not.
        self.in_controller: list[int] = []

    def put_on_link(self, request: Request) -> None:
        c = self.config
        times = (c.read_overhead, c.write_overhead, c.read_latency, c.write_latency)
        free = c.host_rate == (0, 0) and not any(times)
        waits = request.op == "flush" and (self.link_queue or self.in_controller)
        if free or request.op == "trim" or (request.op == "flush" and not waits):
            self.complete(request)
            return
        self.link_queue.append(request)
        if not self.link_busy:
            self.serve_link()

    def serve_link(self) -> None:
        c = self.config
        request = self.link_queue[0]
        if request.op == "flush":
            # It moves nothing, and does not overtake.
            self.link_busy = True
            self.set_event(self.now, self.link_done)
            return
        time = c.read_overhead if request.op == "read" else c.write_overhead
        time += transfer(c.host_rate, request.blocks * 512)
        self.link_busy = True
        self.set_event(self.now + time, self.link_done)

    def link_done(self) -> None:
        self.link_busy = False
        request = self.link_queue.pop(0)
        c = self.config
        until = self.now
        if request.op == "flush":
            until = max([until, *self.in_controller])
        else:
            until += c.read_latency if request.op == "read" else c.write_latency
        if until == self.now:
            self.complete(request)
        else:
            self.in_controller.append(until)
            self.set_event(until, lambda: self.controller_done(request))
        if self.link_queue:
            self.serve_link()

    def controller_done(self, request: Request) -> None:
        self.in_controller.remove(self.now)
        self.complete(request)

    def complete(self, request: Request) -> None:
        request.completion = self.now
        request.latency["link"] = self.now - request.ended
        self.outstanding -= 1
        self.done.append(request)
        if self.config.idle_after is not None and self.outstanding == 0:
            self.rests_since = self.now
            if not self.idle_alarm:
                self.set_idle_alarm(self.now + self.config.idle_after)

    def part_done(self, request: Request) -> None:
        request.parts -= 1
        if request.parts == 0:
            request.ended = self.now
            request.latency = latency.ended(request, self.ending, self.now)
            self.ended.append(request)
