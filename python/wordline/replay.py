"""Check an operation log by the rules of flash: ``wordline check-log FILE``.

A program of its own: it shares no code with the engine and needs nothing but Python's standard
library, with the backport of its ``compression.zstd`` before Python 3.14. It takes the header of
the log for the drive and believes nothing else. Each violation is a line with the place in the log
and what was expected. It exits with 0 if there is none, 1 if there are some, and 2 if the log or
the report cannot be read.

Checked are: pages programmed in the order of their block's rule, none twice without an erase;
nothing read before it was programmed, nor where something else lies by now; no bus, array or plane
register used twice at once, and a cache register only as it may be; each duration against the
header; operations whole; and counts, among themselves and against a report.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import sys
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SCHEMA = "wordline.log/1"
COLUMNS = [
    *("op", "use", "kind", "cause", "start_ns", "end_ns", "channel", "die", "plane", "block"),
    *("slot", "slots", "mode", "page", "region", "bytes", "data", "retries"),
]
WORDS = {"use", "kind", "cause", "mode", "page", "region", "data"}
READ: list[Callable[[str], Any]] = [str if c in WORDS else int for c in COLUMNS]
BITS = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}
PAGES = ("lsb", "csb", "msb", "tsb")
# Rules that program the bits of a wordline at different times.
BY_BIT = ("strict-diagonal", "relaxed", "reprogram-window")
# What flash bears of reprogramming (In-place Switch, sections II-B and IV-D1): layers within which
# it is safe, reprograms of a wordline, programs of its neighbours between two of its own.
MOST_LAYERS = 2
MOST_REPROGRAMS = 4
MOST_INTERFERENCE = 12
# The uses that make up an operation, in their order.
USES = {"read": ("array", "bus"), "program": ("bus", "array"), "erase": ("array",)}
# The report calls the moves between regions by another word.
REPORT_WORD = {"migrate": "migration"}


class Unreadable(Exception):
    """What was given is not a log, or not a report."""


@dataclass
class Region:
    """The header's word on a region."""

    name: str
    medium: int
    mode: str
    rule: str
    slots_per_page: int
    slots_per_program: int
    slots_per_block: int
    rereads_earlier_bits: bool
    window: int = 0  # wordlines that serve as SLC together, under the rule reprogram-window
    reread_ns: int | None = None  # time to read the earlier bits, where it is fixed

    @property
    def bits(self) -> int:
        """Pages of a wordline."""
        return BITS[self.mode]

    @property
    def wordlines(self) -> int:
        """Wordlines of a block."""
        return self.slots_per_block // self.slots_per_page // self.bits

    def diagonals(self) -> Iterator[tuple[int, int]]:
        """Give wordline and bit of each page in the strict order of PA-SSD's Fig. 4."""
        for step in range(self.wordlines + self.bits - 1):
            for bit in range(self.bits):
                if 0 <= step - bit < self.wordlines:
                    yield step - bit, bit


@dataclass
class Block:
    """What is known of a block since its last erase."""

    region: Region
    programmed: int = 0
    pages: set[tuple[int, int]] = field(default_factory=set)  # wordline and bit, under BY_BIT rules
    direct: int | None = None  # the wordline that is being written with all its bits
    disturbed: dict[int, int] = field(default_factory=dict)  # wordline -> programs beside it since
    holds: dict[int, list[int]] = field(default_factory=dict)  # slot -> logical pages, where known


@dataclass
class Use:
    """One row of the log, with its columns in their order."""

    op: int
    use: str
    kind: str
    cause: str
    start: int
    end: int
    channel: int
    die: int
    plane: int
    block: int
    slot: int
    slots: int
    mode: str
    page: str
    region: str
    bytes: int
    data: str
    retries: int

    def identity(self) -> tuple[Any, ...]:
        """All that the uses of one operation have in common."""
        where = (self.channel, self.die, self.plane, self.block, self.slot, self.slots)
        what = (self.mode, self.page, self.region, self.bytes, self.data, self.retries)
        return (self.op, self.kind, self.cause, *where, *what)

    def parts(self) -> tuple[tuple[int, int, int, str], ...]:
        """Slot, logical page, sectors and cause of each logical page."""
        return _parts(self.data)


# Asked for several times of each use, and each use of an operation has the same.
@lru_cache(maxsize=1024)
def _parts(data: str) -> tuple[tuple[int, int, int, str], ...]:
    found = []
    for part in data.split():
        slot, lpn, sectors, cause = part.split(":")
        found.append((int(slot), int(lpn), int(sectors), cause))
    return tuple(found)


@dataclass
class Command:
    """What an array does at once: in one plane, or in several that are alike."""

    alike: tuple[Any, ...]  # kind, mode, the time of one without retries, and the page
    span: tuple[int, int]
    planes: set[int]
    longest: int  # time of the operation that takes the longest


@dataclass
class Operation:
    """An operation that has a register of its plane."""

    latest: Use
    left: int  # uses still to come
    reprograms: bool = False  # whether it adds a bit to those that wordlines hold
    from_register: bool = False  # goes on with what its plane has read

    def has_ended(self, by: int) -> bool:
        """Whether it is over by a time."""
        return self.left == 0 and self.latest.end <= by

    def has_moved(self, by: int) -> bool:
        """Whether its data have left the register in which they stood first."""
        return self.left == 0 or (self.left == 1 and self.latest.end <= by)


class Drive:
    """Geometry and times, from the header alone."""

    def __init__(self, header: dict[str, Any]) -> None:
        """Read the header of a log, schema ``wordline.log/1``.

        Raises `Unreadable`: a log of this drive cannot be checked: its reads suspend what is under
        way, or a region has a program rule or windows that are unknown here.
        """
        self.unit = header["unit_bytes"]
        self.sector = header["sector_bytes"]
        self.media = header["media"]
        self.arrays_by_die = header["parallel_unit"] == "die"
        self.pairs_planes = header["multiplane"] == "opportunistic"
        self.pairs_same_pages = header.get("multiplane_pages") == "same"
        if header.get("suspends"):
            raise Unreadable(
                "the log comes from a drive with service.suspend, where operations are split; "
                "check a run without service.suspend"
            )
        errors = header.get("errors") or {}
        self.decode_ns = errors.get("decode_ns", 0)
        self.retransfers = errors.get("retransfer", False)
        self.most_retries = errors.get("most_retries", 0)
        self.medium_of: list[int] = []
        self.die_of: list[int] = []
        self.channel_of: list[int] = []
        self.first_block: list[int] = []
        blocks = dies = channels = 0
        for number, m in enumerate(self.media):
            dies_per_channel = m["chips_per_channel"] * m["dies_per_chip"]
            for die in range(m["channels"] * dies_per_channel):
                for _ in range(m["planes_per_die"]):
                    self.medium_of.append(number)
                    self.die_of.append(dies + die)
                    self.channel_of.append(channels + die // dies_per_channel)
                    self.first_block.append(blocks)
                    blocks += m["blocks_per_plane"]
            dies += m["channels"] * dies_per_channel
            channels += m["channels"]
        self.blocks = blocks
        self.regions = {}
        self.by_number = []
        for r in header["regions"]:
            m = self.media[r["medium"]]
            per_page = m["page_bytes"] // self.unit
            region = Region(
                name=r["name"],
                medium=r["medium"],
                mode=r["mode"],
                rule=r["rule"],
                slots_per_page=per_page,
                slots_per_program=per_page * r["pages_per_program"],
                slots_per_block=m["wordlines_per_block"] * BITS[r["mode"]] * per_page,
                rereads_earlier_bits=r.get("rereads_earlier_bits", False),
                window=(r.get("window") or {}).get("wordlines", 0),
                reread_ns=r.get("reread_ns"),
            )
            if region.rule not in ("sequential", "one-shot", *BY_BIT):
                raise Unreadable(
                    f"region {region.name} has the unknown program rule {region.rule!r}"
                )
            layers = (r.get("window") or {}).get("layers", 1)
            if region.rule == "reprogram-window" and not (
                0 < region.window <= region.wordlines
                and 1 <= layers <= MOST_LAYERS
                and region.window % layers == 0
                and 1 <= region.bits - 1 <= MOST_REPROGRAMS
            ):
                what = f"{region.window} wordlines over {layers} layers of {region.mode}"
                raise Unreadable(
                    f"region {region.name} has windows that flash does not support: {what}"
                )
            self.regions[region.name] = region
            self.by_number.append(region)

    def copies(self, u: Use) -> bool:
        """Whether a program is a copy within its plane, which moves nothing over the bus.

        Only what is collected or moved is copied, where the flash offers that.
        """
        times = self.media[self.medium_of[u.plane]]["modes"][u.mode]
        moved = all(cause in ("gc", "migrate") for _, _, _, cause in u.parts())
        return u.kind == "program" and u.bytes == 0 and "copy_back_ns" in times and moved

    def may_overlap(self, first: Use, then: Use) -> bool:
        """Whether the second may begin in a plane while it still has the first.

        With a cache register reads go out over the bus while the array works, and programs come in.
        Where windows are reprogrammed, and for a copy, the page register is needed for that.
        """
        cache = self.media[self.medium_of[then.plane]].get("cache_register", "off")
        if first.kind == "read":
            return then.kind != "program" and cache in ("read", "on")
        windows = any(self.regions[u.region].window for u in (first, then))
        copied = self.copies(first) or self.copies(then)
        both = first.kind == then.kind == "program"
        return both and cache in ("program", "on") and not windows and not copied

    def plane_of(self, block: int) -> int:
        """Return the plane in which a block lies."""
        return bisect_right(self.first_block, block) - 1

    def duration(self, u: Use, region: Region, begun: Operation | None) -> int:
        """How long the use must take, of an operation that may have begun before."""
        medium = self.media[self.medium_of[u.plane]]
        command = medium["command_ns"]
        if u.use == "bus":
            bus = medium["bus"]
            moved = -(-u.bytes * bus["ns"] // bus["bytes"]) if bus["bytes"] else 0
            return moved + (command["program"] if u.kind == "program" else 0)
        times = medium["modes"][u.mode]
        if u.kind == "erase":
            return times["erase_ns"] + command["erase"]
        if self.copies(u):
            return times["copy_back_ns"]
        bit = u.slot // region.slots_per_page % BITS[region.mode]
        if u.kind == "read":
            sense = times["read_ns"][bit] + command["read"]
            if self.retransfers:
                return sense + (self.decode_ns if begun else 0)
            return sense + u.retries * (sense + self.decode_ns)
        if region.window:
            reread = region.reread_ns or 0
            return times["program_ns"][bit] + (reread if begun and begun.reprograms else 0)
        earlier = sum(times["read_ns"][:bit]) if region.rereads_earlier_bits else 0
        return times["program_ns"][bit] + earlier


class Checker:
    """Reads a log row by row and collects what is wrong with it."""

    def __init__(self, header: dict[str, Any]) -> None:
        """Read the header of a log: the drive, and the blocks that were programmed before the run.

        Raises as for `Drive`.
        """
        self.header = header
        self.drive = d = Drive(header)
        self.violations: list[tuple[int, str]] = []
        self.line = 0
        self.latest = 0
        self.last_start = 0
        self.rows = 0
        self.busy: dict[tuple[str, int], tuple[int, int]] = {}  # until when, with which operation
        self.commands: dict[int, Command] = {}  # by array
        self.together: Counter[str] = Counter()  # operations of multi-plane commands
        # The operations under way in each plane, in the order of their ends, or the last that was.
        self.planes: list[list[Operation]] = [[] for _ in d.die_of]
        self.brought: list[Use | None] = [None] * len(d.die_of)  # a plane's last read over the bus
        self.blocks: dict[int, Block] = {}
        self.erased_at: dict[int, int] = {}
        self.reads: Counter[str] = Counter()
        self.erases: Counter[str] = Counter()
        self.programs: Counter[str] = Counter()
        self.reprograms: Counter[str] = Counter()
        self.program_bytes: Counter[tuple[str, str]] = Counter()
        self.slots_programmed = 0
        self.slots_erased = 0
        self.operations: Counter[str] = Counter()
        for first, count, region, slots, *rest in header["programmed"]:
            by_bit = rest[0] if rest else []
            pages = {(w, bit) for bit, lines in enumerate(by_bit) for w in range(lines)}
            direct = by_bit[-1] if len(rest) > 1 else None
            for block in range(first, first + count):
                used = Block(d.by_number[region], 0 if by_bit else slots, set(pages), direct)
                self.blocks[block] = used
        self.slots_before = sum(self._programmed(b) for b in self.blocks.values())

    @staticmethod
    def _programmed(block: Block) -> int:
        return block.programmed + len(block.pages) * block.region.slots_per_page

    @staticmethod
    def _holds_slot(block: Block, slot: int) -> bool:
        page = slot // block.region.slots_per_page
        return slot < block.programmed or divmod(page, block.region.bits) in block.pages

    def _wrong(self, rule: str, what: str) -> None:
        self.violations.append((self.line, f"{rule}: {what}"))

    def row(self, line: int, text: str) -> None:
        """Check one row."""
        self.line = line
        fields = text.rstrip("\n").split(",")
        if len(fields) != len(COLUMNS):
            self._wrong("row", f"{len(fields)} columns; expected {len(COLUMNS)}")
            return
        try:
            u = Use(*[read(text) for read, text in zip(READ, fields, strict=True)])
            u.parts()
        except ValueError:
            self._wrong("row", "a number is missing or is none; expected " + ",".join(COLUMNS))
            return
        self.rows += 1
        region = self._place(u)
        if region is None:
            return
        begun = self._begun(u)
        expected = self._times(u, region, begun)
        if u.use == "bus" or not self._joins(u, region, begun, expected):
            self._resource(u)
        operation = begun or self._begins(u)
        if begun:
            self._goes_on(u, begun)
        else:
            self._flash(operation, region)
        if operation.left == 0:
            self._count(operation, region)
        if u.use == "bus" and u.kind == "read":
            self.brought[u.plane] = u

    def _place(self, u: Use) -> Region | None:
        """Whether the row names things that the drive has and that belong together."""
        d = self.drive
        region = d.regions.get(u.region)
        if u.kind not in USES or u.use not in USES[u.kind]:
            self._wrong("row", f"a {u.kind} has no use {u.use!r}; expected one of {USES}")
        elif region is None:
            self._wrong("place", f"unknown region {u.region!r}; expected one of {[*d.regions]}")
        elif not 0 <= u.block < d.blocks:
            self._wrong("place", f"there is no block {u.block}; expected 0 to {d.blocks - 1}")
        else:
            plane = d.plane_of(u.block)
            found = (u.channel, u.die, u.plane)
            expected = (d.channel_of[plane], d.die_of[plane], plane)
            if found != expected:
                what = f"block {u.block} is said to lie in (channel, die, plane) {found}"
                self._wrong("place", f"{what}; expected {expected}")
            elif d.medium_of[plane] != region.medium:
                name = d.media[region.medium]["name"]
                self._wrong(
                    "place", f"region {region.name} is of medium {name}, block {u.block} is not"
                )
            elif u.mode != region.mode and not (region.window and u.mode == "slc"):
                self._wrong(
                    "place", f"mode {u.mode} in region {region.name}; expected {region.mode}"
                )
            elif not (u.slot >= 0 and u.slots >= 1 and u.slot + u.slots <= region.slots_per_block):
                what = f"slots {u.slot} to {u.slot + u.slots - 1} of block {u.block}"
                self._wrong("place", f"{what}; expected some of 0 to {region.slots_per_block - 1}")
            else:
                bit = u.slot // region.slots_per_page % BITS[region.mode]
                page = "" if u.kind == "erase" else PAGES[bit]
                if bit >= BITS[u.mode]:
                    self._wrong(
                        "place", f"slot {u.slot} is the {page} of a wordline in {u.mode} mode"
                    )
                    return None
                if u.page != page:
                    self._wrong(
                        "place", f"slot {u.slot} is said to be {u.page!r}; expected {page!r}"
                    )
                return region
        return None

    def _begun(self, u: Use) -> Operation | None:
        """Return the operation of which this is a further use."""
        mine = (o for o in self.planes[u.plane] if o.left > 0 and o.latest.op == u.op)
        return next(mine, None)

    def _times(self, u: Use, region: Region, begun: Operation | None) -> int:
        """Check order and length of a use; return how long it takes by itself."""
        if u.start < self.last_start:
            what = f"operation {u.op} begins at {u.start} ns, after a row that begins at"
            self._wrong("row order", f"{what} {self.last_start} ns; expected rows as they begin")
        self.last_start = max(self.last_start, u.start)
        self.latest = max(self.latest, u.end)
        expected = self.drive.duration(u, region, begun)
        if u.end - u.start != expected and (u.use == "bus" or not self.drive.pairs_planes):
            what = f"the {u.use} use of {u.kind} {u.op} takes {u.end - u.start} ns"
            self._wrong("time", f"{what}; expected {expected} ns")
        return expected

    def _joins(self, u: Use, region: Region, begun: Operation | None, expected: int) -> bool:
        """Whether a use goes with the command that its array is at; if not, it begins one.

        What goes together is of one kind, mode and time, in different planes of a die (where the
        drive asks for that, on pages with one number), and the array is taken until the longest is
        done.
        """
        if not self.drive.pairs_planes:
            return False
        is_program = u.kind == "program"
        once = self.drive.duration(replace(u, retries=0), region, begun if is_program else None)
        page = None
        if self.drive.pairs_same_pages and u.kind != "erase":
            page = u.slot // region.slots_per_page
        alike, span = (u.kind, u.mode, once, page), (u.start, u.end)
        command = self.commands.get(u.die)
        if (
            command is not None
            and (command.alike, command.span) == (alike, span)
            and u.plane not in command.planes
        ):
            command.planes.add(u.plane)
            command.longest = max(command.longest, expected)
            return True
        self._command_ends(u.die)
        self.commands[u.die] = Command(alike, span, {u.plane}, expected)
        return False

    def _command_ends(self, die: int) -> None:
        """Check how long the last command of an array took, and count what it did."""
        command = self.commands.pop(die, None)
        if command is None:
            return
        took = command.span[1] - command.span[0]
        kind = command.alike[0]
        if took != command.longest:
            what = (
                f"the array of die {die} works on a {kind} from {command.span[0]} ns for {took} ns"
            )
            self._wrong("time", f"{what}; expected {command.longest} ns")
        if len(command.planes) > 1:
            self.together[kind] += len(command.planes)

    def _resource(self, u: Use) -> None:
        """No bus and no array is used by two at once."""
        if u.use == "bus":
            key, name = ("bus", u.channel), f"bus of channel {u.channel}"
        elif self.drive.arrays_by_die:
            key, name = ("array", u.die), f"array of die {u.die}"
        else:
            key, name = ("array", u.plane), f"array of plane {u.plane}"
        until, holder = self.busy.get(key, (0, 0))
        if u.start < until:
            what = f"operation {u.op} uses the {name} from {u.start} ns"
            self._wrong(u.use, f"{what}, but operation {holder} has it until {until} ns")
        if u.end >= until:
            self.busy[key] = (u.end, u.op)

    def _goes_on(self, u: Use, operation: Operation) -> None:
        """Check a further use of an operation."""
        before = operation.latest
        operation.left -= 1
        operation.latest = u
        if u.use != USES[u.kind][-1 - operation.left % 2] or u.identity() != before.identity():
            self._wrong("operation", f"operation {u.op} goes on as another than it began")
        if u.start < before.end:
            what = f"the {u.use} use of operation {u.op} begins at {u.start} ns"
            self._wrong("operation", f"{what}; expected not before {before.end} ns")
        for other in self.planes[u.plane]:
            if other is operation:
                break
            if not other.has_ended(u.start):
                what = f"the {u.use} use of operation {u.op} begins at {u.start} ns"
                has = f"but operation {other.latest.op} has the register that it needs"
                self._wrong("plane register", f"{what}, {has}")

    def _begins(self, u: Use) -> Operation:
        """Check that the plane has a register for an operation that begins."""
        uses = USES[u.kind]
        plane = self.planes[u.plane]
        under_way = [o for o in plane if not o.has_ended(u.start)]
        from_register = self._takes_over(u, under_way or plane[-1:])
        attempts = 1 + (u.retries if self.drive.retransfers else 0)
        left = attempts * len(uses) - 1 if u.use == uses[0] else 0
        operation = Operation(u, left, from_register=from_register)
        what = f"operation {u.op} begins in plane {u.plane} at {u.start} ns"
        for other in under_way:
            held = other.latest
            if from_register:
                beside = held.kind != "program" and self.drive.may_overlap(u, held)
            else:
                beside = self.drive.may_overlap(held, u) and other.has_moved(u.start)
            if beside and len(under_way) == 1:
                continue
            if other.left > 0:
                lacks = f"but operation {held.op} still lacks its {USES[held.kind][-1]} use"
            else:
                lacks = f"but operation {held.op} has it until {held.end} ns"
            self._wrong("plane register", f"{what}, {lacks}")
        # What goes on with a page that was read is brought out before the next that was sensed.
        self.planes[u.plane] = [operation, *under_way] if from_register else [*under_way, operation]
        if from_register:
            return operation
        if u.use != uses[0]:
            what = f"{u.kind} {u.op} begins with its {u.use} use"
            self._wrong("operation", f"{what}; expected {uses[0]} first")
        if not 0 <= u.retries <= (self.drive.most_retries if u.kind == "read" else 0):
            self._wrong("retries", f"{u.kind} {u.op} is repeated {u.retries} times")
        return operation

    def _takes_over(self, u: Use, beside: list[Operation]) -> bool:
        """Whether a move brings out the rest of the page that its plane has just read."""
        held = self.brought[u.plane]
        if held is None or (u.kind, u.use, u.cause) != ("read", "bus", "migrate"):
            return False
        is_next = all(o.latest is held or self.drive.may_overlap(u, o.latest) for o in beside)
        return (
            is_next
            and held.block == u.block
            and held.slot <= u.slot < held.slot + held.slots
            and u.start >= held.end
        )

    def _flash(self, operation: Operation, region: Region) -> None:
        """Check what an operation does to its block, or wants of it."""
        u = operation.latest
        if u.kind == "program":
            operation.reprograms = self._program(u, region)
        elif u.kind == "read":
            self._read(operation, region)
        else:
            self._erase(u, region)

    def _program(self, u: Use, region: Region) -> bool:
        """Check a program; returns whether it adds a bit to those that a wordline holds."""
        reprograms = False
        block = self.blocks.setdefault(u.block, Block(region))
        if block.region is not region:
            what = f"block {u.block} is programmed for region {region.name}"
            self._wrong("program order", f"{what}; expected {block.region.name} until it is erased")
        if u.slots != region.slots_per_program:
            what = f"program {u.op} covers {u.slots} slots"
            self._wrong("program order", f"{what}; expected {region.slots_per_program} at once")
        if not self.drive.copies(u) and u.bytes != u.slots * self.drive.unit:
            what = f"program {u.op} of {u.slots} slots moves {u.bytes} bytes"
            self._wrong(
                "time", f"{what}; expected {u.slots * self.drive.unit}: the register is filled"
            )
        if region.rule in ("sequential", "one-shot"):
            if u.slot < block.programmed:
                what = f"slot {u.slot} of block {u.block} is programmed again by operation {u.op}"
                self._wrong(
                    "programmed twice", f"{what}; expected slot {block.programmed}, or an erase"
                )
            elif u.slot > block.programmed:
                what = f"slot {u.slot} of block {u.block} is programmed by operation {u.op}"
                order = f"slot {block.programmed} next ({region.rule})"
                self._wrong("program order", f"{what}; expected {order}")
            block.programmed = max(block.programmed, u.slot + u.slots)
        elif region.window:
            reprograms = self._program_in_window(u, region, block)
        else:
            self._program_bit(u, region, block)
        self.slots_programmed += u.slots
        for slot in range(u.slot, u.slot + u.slots):
            block.holds[slot] = []
        for slot, lpn, sectors, _ in u.parts():
            if u.slot <= slot < u.slot + u.slots and sectors * self.drive.sector <= self.drive.unit:
                block.holds[slot].append(lpn)
            else:
                what = f"logical page {lpn} with {sectors} sectors goes to slot {slot}"
                last = u.slot + u.slots - 1
                self._wrong("row", f"{what}; expected at most a slot, within {u.slot} to {last}")
        return reprograms

    def _program_bit(self, u: Use, region: Region, block: Block) -> None:
        """Check a page by the constraints between wordlines, page by page."""
        wordline, bit = divmod(u.slot // region.slots_per_page, region.bits)
        name = f"{PAGES[bit].upper()} page of wordline {wordline} in block {u.block}"
        what = f"the {name} is programmed by operation {u.op}"
        if (wordline, bit) in block.pages:
            self._wrong("programmed twice", f"{what}; expected an erase before")
        elif region.rule == "strict-diagonal":
            following = next(page for page in region.diagonals() if page not in block.pages)
            if (wordline, bit) != following:
                first, of = PAGES[following[1]].upper(), following[0]
                self._wrong("program order", f"{what}; expected the {first} page of wordline {of}")
        else:
            beside = [(near, bit - 1) for near in (wordline - 1, wordline, wordline + 1) if bit > 0]
            for page in [(wordline - 1, bit), *beside]:
                if 0 <= page[0] < region.wordlines and page not in block.pages:
                    first = f"the {PAGES[page[1]].upper()} page of wordline {page[0]}"
                    self._wrong("program order", f"{what}; expected {first} before it")
        block.pages.add((wordline, bit))

    def _program_in_window(self, u: Use, region: Region, block: Block) -> bool:
        """Check a page by what a window may take, wordline by wordline.

        Returns whether it is a reprogram.
        """
        wordline, bit = divmod(u.slot // region.slots_per_page, region.bits)
        name = f"{PAGES[bit].upper()} page of wordline {wordline} in block {u.block}"
        what = f"the {name} is programmed by operation {u.op}"
        if (wordline, bit) in block.pages:
            self._wrong("programmed twice", f"{what}; expected an erase before")
            return False
        first = wordline // region.window * region.window
        last = min(first + region.window, region.wordlines) - 1
        bits = range(region.bits)
        held = {w: sum((w, b) in block.pages for b in bits) for w in range(first, last + 1)}
        above = sorted(w for w, _ in block.pages if w > last)
        below = [w for w in range(first) for b in bits if (w, b) not in block.pages]
        if above or below:
            why = f"wordline {above[0]} holds data" if above else f"wordline {below[0]} lacks bits"
            self._wrong("window", f"{what}, but {why}; expected the current window only")
        # With all bits at once: the wordlines before are whole, those behind are blank.
        reprograms = False
        begins = u.mode == region.mode and bit == 0
        if begins or block.direct is not None:
            fits = (
                held[wordline] == bit
                and all(held[w] == region.bits for w in range(first, wordline))
                and not any(held[w] for w in range(wordline + 1, last + 1))
                and u.mode == region.mode
            )
            done = wordline == last and bit == region.bits - 1
            block.direct = None if done else wordline + (bit == region.bits - 1)
        elif bit == 0:
            fits = (
                u.mode == "slc"
                and all(held[w] == 1 for w in range(first, wordline))
                and not any(held[w] for w in range(wordline, last + 1))
            )
        else:
            fits = (
                u.mode == region.mode
                and all(held[w] == bit + 1 for w in range(first, wordline))
                and all(held[w] == bit for w in range(wordline, last + 1))
            )
            reprograms = True
        if not fits:
            found = " ".join(f"{w}:{n}" for w, n in held.items())
            order = "SLC pages in turn, then a bit more in each, or all bits wordline by wordline"
            self._wrong("program order", f"{what} as {u.mode} over bits {found}; expected {order}")
        block.pages.add((wordline, bit))
        block.disturbed[wordline] = 0
        for near in (wordline - 1, wordline + 1):
            if near in block.disturbed:
                block.disturbed[near] += 1
                if block.disturbed[near] > MOST_INTERFERENCE:
                    beside = f"{block.disturbed[near]} programs beside wordline {near}"
                    self._wrong("interference", f"{what}; expected no more than {beside}")
        return reprograms

    @staticmethod
    def _mode_of(u: Use, region: Region, block: Block | None) -> str:
        """Return the mode in which a read finds its wordline."""
        if not region.window or block is None:
            return region.mode
        wordline = u.slot // region.slots_per_page // region.bits
        holds = sum((wordline, bit) in block.pages for bit in range(region.bits))
        return "slc" if holds == 1 and block.direct != wordline else region.mode

    def _read(self, operation: Operation, region: Region) -> None:
        u = operation.latest
        block = self.blocks.get(u.block)
        expected = self._mode_of(u, region, block)
        if u.mode != expected:
            what = f"slot {u.slot} of block {u.block} is read as {u.mode} by operation {u.op}"
            self._wrong("place", f"{what}; expected {expected}")
        most = region.slots_per_page * self.drive.unit
        if not 0 < u.bytes + operation.from_register <= most:
            self._wrong("time", f"read {u.op} moves {u.bytes} bytes; expected 1 to {most}, a page")
        for slot in (u.slot, u.slot + u.slots - 1):
            if block is None or not self._holds_slot(block, slot):
                what = f"slot {slot} of block {u.block} is read by operation {u.op}"
                erased = self.erased_at.get(u.block)
                since = "" if erased is None else f" since its erase in line {erased}"
                self._wrong("read before program", f"{what}; expected a program of it{since}")
                return
        if block is None:
            return
        if block.region is not region:
            what = f"block {u.block} is read as one of region {region.name}"
            self._wrong("place", f"{what}; expected {block.region.name}")
        for slot, lpn, _, _ in u.parts():
            held = block.holds.get(slot)
            if held is not None and lpn not in held:
                what = f"logical page {lpn} is read from slot {slot} of block {u.block}"
                self._wrong("content", f"{what}; expected {held or 'padding'} there")

    def _erase(self, u: Use, region: Region) -> None:
        block = self.blocks.pop(u.block, None)
        if block is None:
            self._wrong(
                "erase", f"block {u.block} is erased by operation {u.op}; expected a used one"
            )
            return
        if block.region is not region or u.slots != region.slots_per_block:
            what = f"block {u.block} is erased as {u.slots} slots of region {region.name}"
            whole = f"{block.region.slots_per_block} of {block.region.name}"
            self._wrong("erase", f"{what}; expected {whole}")
        self.erased_at[u.block] = self.line
        self.slots_erased += self._programmed(block)

    def _count(self, operation: Operation, region: Region) -> None:
        """Count an operation that has ended."""
        u = operation.latest
        self.operations[u.kind] += 1
        if operation.from_register:
            return  # nothing was sensed
        if u.kind == "read":
            self.reads[u.cause] += 1
        elif u.kind == "erase":
            self.erases[u.mode] += 1
        else:
            rest = u.slots * self.drive.unit
            pages: dict[int, str] = {}
            for slot, _, sectors, cause in u.parts():
                self.program_bytes[cause, region.name] += sectors * self.drive.sector
                rest -= sectors * self.drive.sector
                pages.setdefault((slot - u.slot) // region.slots_per_page, cause)
            self.program_bytes["pad", region.name] += rest
            self.programs.update(pages.values())
            if operation.reprograms:
                self.reprograms.update(pages.values())
            self.programs["pad"] += u.slots // region.slots_per_page - len(pages)

    def finish(self, report: dict[str, Any] | None) -> None:
        """Check what shows at the end only."""
        self.line += 1
        for die in list(self.commands):
            self._command_ends(die)
        for held in (o.latest for plane in self.planes for o in plane if o.left > 0):
            lacks = USES[held.kind][-1]
            self._wrong("operation", f"{held.kind} {held.op} never has its {lacks} use")
        left = sum(self._programmed(b) for b in self.blocks.values())
        came = self.slots_before + self.slots_programmed
        if came - self.slots_erased != left:
            what = f"{came} slots were programmed, {self.slots_erased} of them erased"
            self._wrong(
                "count", f"{what}; expected {came - self.slots_erased} to be left, not {left}"
            )
        if report is not None:
            self.compare(report)

    def compare(self, report: dict[str, Any]) -> None:
        """Hold the counts of the report against those of the log."""

        def same(what: str, ours: int, theirs: int) -> None:
            if ours != theirs:
                self._wrong("report", f"{theirs} {what}; expected {ours} as in the log")

        for key, theirs in (("scheme", report["scheme"]["name"]), ("seed", report["seed"])):
            if self.header[key] != theirs:
                what = f"it is of {key} {theirs}"
                self._wrong("report", f"{what}; expected {self.header[key]}, that of the log")
        # A log goes on until the drive has nothing left to do; the other figures do not.
        after = report.get("after_last_request") or {}
        flash = after.get("flash_total") or report["flash"]

        def words(ours: Iterable[str], theirs: Iterable[str]) -> list[str]:
            return sorted({REPORT_WORD.get(k, k) for k in ours} | set(theirs))

        back = {word: cause for cause, word in REPORT_WORD.items()}
        for word in words(self.reads, flash["reads"]):
            ours = self.reads[back.get(word, word)]
            same(f"reads of cause {word}", ours, flash["reads"].get(word, 0))
        for word in words(self.programs, flash["programs"]):
            theirs = flash["programs"].get(word, {})
            ours = self.programs[back.get(word, word)]
            same(f"pages programmed of cause {word}", ours, sum(theirs.values()))
            ours = self.reprograms[back.get(word, word)]
            same(f"pages reprogrammed of cause {word}", ours, theirs.get("reprogram", 0))
        for word in words((c for c, _ in self.program_bytes), flash["program_bytes"]):
            kinds = flash["program_bytes"].get(word, {})
            for region in self.drive.regions:
                theirs = sum(regions.get(region, 0) for regions in kinds.values())
                ours = self.program_bytes[back.get(word, word), region]
                same(f"bytes programmed of cause {word} in region {region}", ours, theirs)
        told = flash.get("multiplane", {}).get("operations", {})
        for kind in sorted(set(self.together) | set(told)):
            same(f"{kind}s together with others", self.together[kind], told.get(kind, 0))
        for mode in sorted(set(self.erases) | set(flash["erases"])):
            same(f"erases in {mode} mode", self.erases[mode], flash["erases"].get(mode, 0))

    def summary(self) -> str:
        """Say what was seen."""
        each = ", ".join(f"{self.operations[k]:,} {k}s" for k in ("read", "program", "erase"))
        return f"{self.rows:,} uses of arrays and buses, {each}, 0 to {self.latest:,} ns"


def _opened(path: str) -> io.TextIOBase:
    """Return the text of a log, plain, in gzip or in zstd, by its first bytes."""
    try:
        with open(path, "rb") as file:
            head = file.read(4)
        if head[:2] == b"\x1f\x8b":
            return gzip.open(path, "rt", encoding="utf-8")
        if head == b"\x28\xb5\x2f\xfd":
            return zstd.open(path, "rt", encoding="utf-8")
        return open(path, encoding="utf-8")
    except OSError as e:
        raise Unreadable(f"{path}: cannot be read: {e.strerror}") from None


def check(lines: Iterator[str], report: dict[str, Any] | None = None) -> Checker:
    """Check a log, line by line.

    Raises `Unreadable`: it does not begin as a log does.
    """
    first, columns = next(lines, ""), next(lines, "")
    try:
        header = json.loads(first.removeprefix("#"))
        if header["log"] != SCHEMA:
            raise Unreadable(f"line 1: this is {header['log']!r}; expected {SCHEMA!r}")
        checker = Checker(header)
    except (ValueError, KeyError, TypeError, IndexError) as e:
        # Any other file is no JSON; of a log the cause says which part of the header is wrong.
        cause = "" if isinstance(e, json.JSONDecodeError) else f" ({type(e).__name__}: {e})"
        what = f"line 1 is not the header of an operation log{cause}"
        raise Unreadable(f"{what}; expected what `wordline run --log FILE` writes") from None
    if columns.strip().split(",") != COLUMNS:
        raise Unreadable(f"line 2: other columns; expected {','.join(COLUMNS)}")
    for number, text in enumerate(lines, 3):
        checker.row(number, text)
    try:
        checker.finish(report)
    except (KeyError, TypeError, AttributeError) as e:
        raise Unreadable(
            f"the report lacks {e}; expected a report of `wordline run --json`"
        ) from None
    return checker


def main(args: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="wordline check-log",
        description="Check an operation log by the rules of flash, apart from the engine.",
    )
    parser.add_argument("file", metavar="FILE", help="a log of `wordline run --log`")
    parser.add_argument("--report", metavar="FILE", help="the report of the same run")
    parser.add_argument("--show", metavar="N", type=int, default=20, help="violations to show (20)")
    given = parser.parse_args(args)
    try:
        report = None
        if given.report is not None:
            try:
                with open(given.report, encoding="utf-8") as file:
                    report = json.load(file)
            except (OSError, ValueError) as e:
                raise Unreadable(f"{given.report}: cannot be read as JSON: {e}") from None
        with _opened(given.file) as lines:
            checker = check(lines, report)
    except (Unreadable, OSError, EOFError, UnicodeDecodeError, zlib.error, zstd.ZstdError) as e:
        print(f"error: {given.file}: {e}", file=sys.stderr)
        return 2
    for line, what in checker.violations[: given.show]:
        print(f"{given.file}:{line}: {what}")
    hidden = len(checker.violations) - given.show
    if hidden > 0:
        print(f"and {hidden:,} more; --show N shows more of them")
    print(checker.summary())
    if checker.violations:
        print(f"{len(checker.violations):,} violations")
        return 1
    print("no violation" + ("" if report is None else "; the report's counts agree"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
