"""Programs of several pages: who waits for company, for how long, and what is padded."""

from __future__ import annotations

from .records import COLLECTED, HOST, MOVED, Op, Part, Plane, Region, Stage
from .room import Room

# How long host data wait for company in a region that never pads.
PAD_FOR_HOST = 500_000


class Groups(Room):
    """Programs of several pages: who waits for company, for how long, and what is padded."""

    def launch(self, program: Op) -> None:
        region = program.route[0]
        if self.units_per_page == 1 and region.pages_per_program == 1:
            self.emit(program)
        elif self.units_per_page == 1 or self.is_page(program):
            self.add_page(region, program)
        else:
            first, *rest = program.parts
            program.parts = [first]
            self.add_unit(region, program)
            for part in rest:
                part.at = 0
                unit = Op("program", program.plane, program.service, [part], program.route)
                part.program = unit
                self.add_unit(region, unit)

    def is_page(self, program: Op) -> bool:
        """Whether host data have a page to themselves: unless they leave room and are packed."""
        shares = self.config.packing and len(program.parts) < self.units_per_page
        return program.parts[0].is_host and not shares

    def add_unit(self, region: Region, unit: Op) -> None:
        """Moved units share pages, and those of the host where these are packed."""
        plane, which = unit.plane, self.stream(unit)
        self.enter_program_buffer(unit)
        buffer = plane.program_buffers[region, which]
        buffer.page.append(unit)
        if len(buffer.page) == self.units_per_page:
            self.close_page(region, plane, which)
        else:
            self.arm(region, plane, which)

    def stream(self, op: Op) -> str:
        if op.parts[0].is_host:
            return HOST
        return COLLECTED if op.privileged else MOVED

    def close_page(self, region: Region, plane: Plane, which: str) -> None:
        buffer = plane.program_buffers[region, which]
        units, buffer.page = buffer.page, []
        if region.pages_per_program == 1:
            buffer.since = None  # the next page waits for itself
        if units:
            page = units[0]
            for at, unit in enumerate(units[1:], 1):
                unit.parts[0].at = at
                self.join(page, unit)
            self.add_page(region, page)

    def join(self, program: Op, more: Op) -> None:
        program.parts += more.parts
        program.service = min(program.service, more.service)
        program.privileged = program.privileged or more.privileged

    def add_page(self, region: Region, page: Op) -> None:
        plane = page.plane
        if region.pages_per_program == 1:
            page.slots = self.units_per_page
            self.emit(page)
            return
        which = self.stream(page)
        if self.units_per_page == 1:
            self.enter_program_buffer(page)
        buffer = plane.program_buffers[region, which]
        for part in page.parts:
            part.at += buffer.pages * self.units_per_page
        buffer.pages += 1
        if buffer.group is None:
            buffer.group = page
        else:
            self.join(buffer.group, page)
        if buffer.pages == region.pages_per_program:
            self.close_group(region, plane, which)
        else:
            self.arm(region, plane, which)

    def close_group(self, region: Region, plane: Plane, which: str) -> None:
        buffer = plane.program_buffers[region, which]
        group, buffer.group = buffer.group, None
        buffer.pages = 0
        buffer.since = None
        if group is not None:
            group.slots = self.units_per_page * region.pages_per_program
            self.emit(group)
        if buffer.page:
            self.arm(region, plane, which)  # it waits on, for its own time

    def enter_program_buffer(self, op: Op) -> None:
        """A relocation that waits for company no longer holds back its job.

        If the buffer never pads it is protected, and the data leave their old place at once.
        """
        part = op.parts[0]
        job = part.job
        if job is None:
            return
        if self.config.pad_after is not None:
            job.window -= 1
            part.in_window = False
            return
        stays = self.map.get(part.lpn) == part.source
        stage = self.stages.setdefault(part.lpn, Stage())
        stage.pending += 1
        part.version = stage.committed
        part.staged = True
        block = part.source[0]
        part.source = part.job = None
        part.sectors = 0
        if stays:
            part.sectors = self.all_sectors
            stage.sectors |= self.all_sectors
            del self.map[part.lpn]
            self.page_died(block)
        self.job_page_over(job, in_window=True)

    def incomplete_groups(self) -> list[tuple[Region, Plane]]:
        """Where the host's pages wait for company for as long as it takes."""
        if self.config.pad_after is not None:
            return []
        places = [(region, plane) for region in self.regions for plane in self.planes]
        return [(r, p) for r, p in places if p.program_buffers[r, HOST].parts]

    def make_way_in_groups(self) -> None:
        """Groups that wait take half of a full buffer; beyond that the fullest are padded."""
        if self.config.ack_buffer is None:
            return
        incomplete = self.incomplete_groups()
        units = {at: len(at[1].program_buffers[at[0], HOST].parts) for at in incomplete}
        while sum(units.values()) > self.config.ack_buffer // 2:
            fullest = max(units, key=lambda at: units[at])
            del units[fullest]
            self.pad(*fullest, HOST)

    def is_waited_for(self, parts: list[Part]) -> bool:
        """Whether a request waits for host data to be on flash: not if a buffer has answered it."""
        return self.config.ack_buffer is None or any(
            flush.version > part.version for flush in self.flushes for part in parts
        )

    def arm(self, region: Region, plane: Plane, which: str) -> None:
        wait = self.config.pad_after
        buffer = plane.program_buffers[region, which]
        if wait is None:
            if which != HOST or not self.is_waited_for(buffer.parts):
                return
            wait = PAD_FOR_HOST
        if buffer.since is not None:
            return
        token = buffer.since = object()
        at = self.now + wait
        self.todo.append(lambda: self.set_event(at, lambda: self.ring(region, plane, which, token)))

    def ring(self, region: Region, plane: Plane, which: str, token: object) -> None:
        buffer = plane.program_buffers[region, which]
        if buffer.since is not token:
            return
        buffer.since = None
        # While a job still reads, its pages are the company to wait for.
        if self.feeds(region, plane, which) and not plane.gc_blocked:
            self.arm(region, plane, which)
        else:
            self.pad(region, plane, which)

    def feeds(self, region: Region, plane: Plane, which: str) -> bool:
        """Whether a job may still bring company: from the pool itself, or from another."""
        jobs = [job for job in plane.jobs.values() if job is not None]
        return which != HOST and any(
            (job.region.pool is region.pool) == (which == COLLECTED)
            and not job.rests
            and (not job.exhausted or job.window > 0)
            for job in jobs
        )

    def pad(self, region: Region, plane: Plane, which: str) -> None:
        if which != HOST or self.config.packing:
            self.close_page(region, plane, which)
        self.close_group(region, plane, which)
