"""Drives made for one experiment: a description in numbers, and its device file."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import wordline
from wordline import Report

MODES = {1: "slc", 2: "mlc", 3: "tlc", 4: "qlc"}


@dataclass(frozen=True)
class Drive:
    """A drive of one medium and one cell mode; times in ns, sizes in bytes, 0 costs nothing.

    `read` and `program` have one time for each page type, from the LSB up, and so say how many bits
    a cell holds.
    """

    logical_pages: int
    channels: int = 1
    chips: int = 1
    dies: int = 1
    planes: int = 1
    blocks: int = 1024
    wordlines: int = 128
    page: int = 4096
    sector: int = 4096
    read: Sequence[int] = (1000,)
    program: Sequence[int] = (1000,)
    erase: int = 1000
    one_shot: bool = False
    command_read: int = 0
    command_program: int = 0
    bus_ns_per_byte: int = 0
    host_ns_per_byte: int = 0
    host_read: int = 0
    host_write: int = 0
    parallel: str = "die"
    order: str = "CWDP"
    trigger: float = 0.0
    victim: str = "greedy"
    hard_reserve: int = 1

    @property
    def bits(self) -> int:
        """Bits a cell holds."""
        return len(self.read)

    @property
    def pages_per_block(self) -> int:
        """Pages of a block."""
        return self.wordlines * self.bits

    @property
    def plane_count(self) -> int:
        """Planes of the drive."""
        return self.channels * self.chips * self.dies * self.planes

    def toml(self) -> str:
        """Return the device file."""

        def times(each: Sequence[int]) -> str:
            return "[" + ", ".join(f'"{t}ns"' for t in each) + "]"

        def rate(ns_per_byte: int) -> str:
            return f'"{ns_per_byte}ns/B"' if ns_per_byte else '"off"'

        program = f'"{self.program[0]}ns"' if self.one_shot else times(self.program)
        return f"""
[device]
name = "validate"
[medium.flash]
channels = {self.channels}
chips_per_channel = {self.chips}
dies_per_chip = {self.dies}
planes_per_die = {self.planes}
blocks_per_plane = {self.blocks}
wordlines_per_block = {self.wordlines}
page = "{self.page}B"
bus = {{ rate = {rate(self.bus_ns_per_byte)}, width = 1 }}
command = {{ read = "{self.command_read}ns", program = "{self.command_program}ns" }}
[medium.flash.{MODES[self.bits]}]
read = {times(self.read)}
program = {program}
erase = "{self.erase}ns"
one_shot = {str(self.one_shot).lower()}
[mapping]
sector = "{self.sector}B"
[capacity]
logical = "{self.logical_pages * self.page}B"
[host]
rate = {rate(self.host_ns_per_byte)}
read_overhead = "{self.host_read}ns"
write_overhead = "{self.host_write}ns"
queue_depth = 1048576
[parallel]
unit = "{self.parallel}"
[allocation]
order = "{self.order}"
[gc]
trigger = "free_blocks < {100 * self.trigger:g}%"
victim = "{self.victim}"
hard_reserve = {self.hard_reserve}
"""

    def run(
        self,
        workload: str,
        *,
        scheme: str = "conventional",
        initial: str = "preload",
        seed: int = 1,
    ) -> Report:
        """Run a workload on it, and recount the drive afterwards."""
        with tempfile.TemporaryDirectory(prefix="wordline-") as folder:
            path = Path(folder) / "validate.toml"
            path.write_text(self.toml(), encoding="utf-8")
            return wordline.run(
                device=path,
                scheme=scheme,
                workload=workload,
                initial=initial,
                seed=seed,
                check=True,
            )
