"""Reads, writes, trims and flushes, cut into logical pages; and fills of partial writes."""

from __future__ import annotations

from .config import Config
from .records import HOST, READ, WRITE, Block, Flush, Op, Part, Request, Stage
from .room import Room


class Requests(Room):
    """Reads, writes, trims and flushes, cut into logical pages; and fills of partial writes."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.version = 0
        self.stages: dict[int, Stage] = {}
        self.flushes: list[Flush] = []
        self.unsettled = 0
        self.writes = 0

    def take_in(self, request: Request) -> None:
        request.admitted = self.now
        if request.op == "write":
            self.pace_writes(request)
        if request.op == "read":
            self.take_read(request)
        elif request.op == "write":
            self.take_write(request)
        elif request.op == "trim":
            self.take_trim(request)
        else:
            self.take_flush(request)
        self.part_done(request)

    def units(self, request: Request) -> list[tuple[int, int]]:
        """The logical pages that a request covers, each with its sectors, rounded outward."""
        per_sector = self.config.sector // 512
        first = request.lba // per_sector
        last = (request.lba + request.blocks - 1) // per_sector
        found: dict[int, int] = {}
        for sector in range(first, last + 1):
            lpn, at = divmod(sector, self.sectors_per_unit)
            found[lpn] = found.get(lpn, 0) | 1 << at
        return list(found.items())

    def take_read(self, request: Request) -> None:
        last: Op | None = None
        for lpn, sectors in self.units(request):
            if lpn in self.stages:
                sectors &= ~self.stages[lpn].sectors
            if not sectors or lpn not in self.map:
                continue
            block, slot = self.map[lpn]
            if last is not None and self.in_same_page(last, block, slot):
                # Units that share a page are sensed once.
                last.sectors |= sectors << (slot - last.slot) * self.sectors_per_unit
                continue
            last = Op("read", block.plane, READ, block=block, slot=slot, sectors=sectors)
            last.why, last.owner = "request", request
            request.parts += 1
            block.readers += 1
            self.emit(last)

    def in_same_page(self, op: Op, block: Block, slot: int) -> bool:
        u = self.units_per_page
        return op.block is block and op.slot < slot and op.slot // u == slot // u

    def take_write(self, request: Request) -> None:
        self.version += 1
        parcels: dict[int, list] = {}
        for lpn, sectors in self.units(request):
            parcels.setdefault(lpn // self.units_per_page, []).append((lpn, sectors))
        for parcel in parcels.values():
            rest = []
            for lpn, sectors in parcel:
                self.stages.setdefault(lpn, Stage())
                if not self.joins_fill(request, lpn, sectors):
                    rest.append((lpn, sectors))
            if rest:
                self.write_parcel(request, rest)
        if self.config.scheme == "slc-cache" and self.config.cache[1] > 0:
            self.writes += 1
            if self.writes % (1024 if self.config.cache_reserve is None else 64) == 0:
                self.look_at_quota()

    def joins_fill(self, request: Request, lpn: int, sectors: int) -> bool:
        """A write to a page whose program still waits for missing sectors joins that program."""
        stage = self.stages[lpn]
        part = stage.filling
        if part is None or any(f.version > part.version for f in self.flushes):
            return False
        stage.sectors |= sectors
        part.sectors |= sectors
        part.version = self.version
        if self.config.ack_buffer is None:
            request.parts += 1
            part.requests.append(request)
        if part.sectors == self.all_sectors:
            self.cancel_fill(stage)
        return True

    def write_parcel(self, request: Request, spans: list) -> None:
        plane = self.pick_plane(self.home_plane(spans[0][0]), len(spans))
        program = Op("program", plane, WRITE, route=list(self.host_route))
        for at, (lpn, sectors) in enumerate(spans):
            part = Part(lpn, sectors, self.version, is_host=True, staged=True, at=at)
            part.program = program
            program.parts.append(part)
            if self.config.ack_buffer is None:
                request.parts += 1
                part.requests.append(request)
            else:
                self.buffered += 1
            self.unsettled += 1
            stage = self.stages[lpn]
            stage.pending += 1
            part.sectors |= stage.sectors
            stage.sectors |= sectors
            missing = self.all_sectors & ~part.sectors
            if missing and lpn in self.map:
                block, slot = self.map[lpn]
                read = Op("read", block.plane, WRITE, block=block, slot=slot, sectors=missing)
                read.why, read.owner = "fill", part
                block.readers += 1
                stage.filling, stage.fill_read = part, read
                program.fills += 1
                self.emit(read)
        if program.fills == 0:
            self.launch(program)

    def take_trim(self, request: Request) -> None:
        """Rounded inward; a page map forgets whole pages only."""
        self.version += 1
        per_unit = self.config.unit // 512
        first = -(-request.lba // per_unit)
        for lpn in range(first, (request.lba + request.blocks) // per_unit):
            if lpn in self.stages:
                stage = self.stages[lpn]
                stage.committed = max(stage.committed, self.version)
                stage.sectors = 0
                if stage.filling is not None:
                    self.cancel_fill(stage)
            if lpn in self.map:
                block, _ = self.map.pop(lpn)
                self.page_died(block)
                self.todo.append(lambda plane=block.plane: self.wake(plane))

    def take_flush(self, request: Request) -> None:
        self.version += 1
        for region in self.regions:
            for plane in self.planes:
                self.pad(region, plane, HOST)
        if self.unsettled:
            request.parts += 1
            self.flushes.append(Flush(self.version, request, self.unsettled))

    def cancel_fill(self, stage: Stage) -> None:
        stage.fill_read.why = "nobody"
        self.filled(stage, stage.filling)

    def filled(self, stage: Stage, part: Part) -> None:
        if stage.filling is part:
            stage.filling = None
        part.program.fills -= 1
        if part.program.fills == 0:
            self.launch(part.program)
