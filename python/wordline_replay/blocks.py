"""Blocks: what is programmed, read and erased, against what each holds."""

from __future__ import annotations

from typing import Any

from wordline_replay import order
from wordline_replay.drive import Drive, Region
from wordline_replay.log import Findings, Use
from wordline_replay.order import Block
from wordline_replay.planes import Operation


class Blocks:
    """The blocks that are programmed, and those that were erased."""

    def __init__(self, drive: Drive, header: dict[str, Any], findings: Findings) -> None:
        """Take the drive, the header with its blocks at time 0, and where to note what is wrong."""
        self._drive, self._findings, self._wrong = drive, findings, findings.wrong
        self._used: dict[int, Block] = {}
        self._erased_at: dict[int, int] = {}  # line
        self._programmed = self._erased = 0
        for first, count, region, slots, *rest in header["programmed"]:
            by_bit = rest[0] if rest else []
            pages = {(w, bit) for bit, lines in enumerate(by_bit) for w in range(lines)}
            direct = by_bit[-1] if len(rest) > 1 else None
            for block in range(first, first + count):
                in_turn = 0 if by_bit else slots
                self._used[block] = Block(drive.by_number[region], in_turn, set(pages), direct)
        #: Slots that were programmed before the log begins.
        self.slots_before = self._left()

    def _left(self) -> int:
        return sum(block.slots for block in self._used.values())

    def apply(self, operation: Operation, region: Region) -> None:
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
        block = self._used.get(u.block)
        if block is None:
            block = self._used[u.block] = Block(region)
        if block.region is not region:
            what = f"block {u.block} is programmed for region {region.name}"
            self._wrong("program order", what, f"{block.region.name} until it is erased")
        if u.slots != region.slots_per_program:
            what = f"program {u.op} covers {u.slots} slots"
            self._wrong("program order", what, f"{region.slots_per_program} at once")
        if u.bytes != u.slots * self._drive.unit and not self._drive.copies(u):
            what = f"program {u.op} of {u.slots} slots moves {u.bytes} bytes"
            self._wrong("time", what, f"{u.slots * self._drive.unit}: the register is filled")
        reprograms = order.program(u, region, block, self._wrong)
        self._programmed += u.slots
        self._hold(u, block)
        return reprograms

    def _hold(self, u: Use, block: Block) -> None:
        """Note which logical pages a program brings to its slots."""
        for slot in range(u.slot, u.slot + u.slots):
            block.holds[slot] = []
        for slot, lpn, sectors, _ in u.parts():
            fits = sectors * self._drive.sector <= self._drive.unit
            if u.slot <= slot < u.slot + u.slots and fits:
                block.holds[slot].append(lpn)
            else:
                what = f"logical page {lpn} with {sectors} sectors goes to slot {slot}"
                last = u.slot + u.slots - 1
                self._wrong("row", what, f"at most a slot, within {u.slot} to {last}")

    def _read(self, operation: Operation, region: Region) -> None:
        u = operation.latest
        block = self._used.get(u.block)
        expected = _mode(u, region, block)
        if u.mode != expected:
            what = f"slot {u.slot} of block {u.block} is read as {u.mode} by operation {u.op}"
            self._wrong("place", what, expected)
        most = region.slots_per_page * self._drive.unit
        if not 0 < u.bytes + operation.from_register <= most:
            self._wrong("time", f"read {u.op} moves {u.bytes} bytes", f"1 to {most}, a page")
        for slot in (u.slot, u.slot + u.slots - 1):
            if block is None or not block.holds_slot(slot):
                what = f"slot {slot} of block {u.block} is read by operation {u.op}"
                erased = self._erased_at.get(u.block)
                since = "" if erased is None else f" since its erase in line {erased}"
                self._wrong("read before program", what, f"a program of it{since}")
                return
        if block is None:
            return
        if block.region is not region:
            what = f"block {u.block} is read as one of region {region.name}"
            self._wrong("place", what, block.region.name)
        for slot, lpn, _, _ in u.parts():
            held = block.holds.get(slot)
            if held is not None and lpn not in held:
                what = f"logical page {lpn} is read from slot {slot} of block {u.block}"
                self._wrong("content", what, f"{held or 'padding'} there")

    def _erase(self, u: Use, region: Region) -> None:
        block = self._used.pop(u.block, None)
        if block is None:
            what = f"block {u.block} is erased by operation {u.op}"
            self._wrong("erase", what, "a used one")
            return
        if block.region is not region or u.slots != region.slots_per_block:
            what = f"block {u.block} is erased as {u.slots} slots of region {region.name}"
            whole = f"{block.region.slots_per_block} of {block.region.name}"
            self._wrong("erase", what, whole)
        self._erased_at[u.block] = self._findings.line
        self._erased += block.slots

    def finish(self) -> None:
        """Check that what was programmed is what was erased and what is left."""
        left, came = self._left(), self.slots_before + self._programmed
        if came - self._erased != left:
            what = f"{came} slots were programmed, {self._erased} of them erased"
            self._wrong("count", what, f"{came - self._erased} to be left, not {left}")


def _mode(u: Use, region: Region, block: Block | None) -> str:
    """Return the mode in which a read finds its wordline."""
    if not region.window or block is None:
        return region.mode
    wordline = u.slot // region.slots_per_page // region.bits
    holds = sum((wordline, bit) in block.pages for bit in range(region.bits))
    return "slc" if holds == 1 and block.direct != wordline else region.mode
