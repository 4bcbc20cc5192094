"""A served drive without delays beside nbdkit's memory plugin: requests a second, and their CPU.

The last rows are of a drive in a folder: beside the same drive in RAM, and with a FLUSH after each
write beside fio on a file of the same file system with fsync.

Run by ``make bench-live`` with fio and nbdkit of Debian's packages; not by ``make test``. Both
sides of a row run at once and are asked in turns, so that what else the machine does meets both
alike; each row has the median of the pairs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from math import isnan, nan
from pathlib import Path
from typing import NamedTuple

#: Bytes of the drive that are written first, and then read and written.
SIZE = "256m"
TICKS = os.sysconf("SC_CLK_TCK")


class Case(NamedTuple):
    """What is asked."""

    rw: str
    block: str
    depth: int
    connections: int = 1
    #: A FLUSH after each write.
    flushes: bool = False

    def __str__(self) -> str:
        """Return the case as the table has it."""
        many = f", {self.connections} connections" if self.connections > 1 else ""
        flush = ", FLUSH after each" if self.flushes else ""
        return f"{self.rw} {self.block} QD{self.depth}{many}{flush}"


CASES = [
    Case("randwrite", "4k", 1),
    Case("randwrite", "4k", 32),
    Case("randwrite", "16k", 8),
    Case("randwrite", "64k", 8),
    Case("randwrite", "1m", 4),
    Case("randwrite", "4k", 32, 4),
    Case("randread", "4k", 1),
    Case("randread", "4k", 32),
]
#: In a folder: beside the drive in RAM, and beside a file.
IN_FOLDER = [Case("randwrite", "16k", 8), Case("randread", "16k", 8)]
SYNCED = Case("randwrite", "4k", 1, flushes=True)


class Measured(NamedTuple):
    """Requests of a second, and microseconds of the server's CPU for each."""

    rate: float
    cpu: float


def fio(case: Case, seconds: float | None, *target: str) -> tuple[int, float]:
    """Let fio ask for some seconds, or for all of the size once.

    Returns the requests, and those of a second.
    """
    for_long = [f"--runtime={seconds}", "--time_based"] if seconds else []
    done = subprocess.run(
        [
            "fio",
            "--name=x",
            *target,
            f"--rw={case.rw}",
            f"--bs={case.block}",
            f"--iodepth={case.depth}",
            f"--numjobs={case.connections}",
            f"--fsync={int(case.flushes)}",
            "--group_reporting",
            f"--size={SIZE}",
            "--output-format=json",
            *for_long,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    requests = sum(job[kind]["total_ios"] for kind in ("read", "write"))
    return requests, sum(job[kind]["iops"] for kind in ("read", "write"))


class PlainFile:
    """A file of a file system, which fio writes itself."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def ask(self, case: Case, seconds: float | None) -> Measured:
        """Let fio write; nobody serves it."""
        return Measured(fio(case, seconds, f"--filename={self.path}")[1], nan)


class Server:
    """A server, its socket, and how much CPU time it has had."""

    def __init__(self, command: list[str], socket: Path) -> None:
        self.socket = socket
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while not socket.exists():
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{' '.join(command)}: does not listen")
            time.sleep(0.02)

    def cpu(self) -> float:
        """Return its seconds of CPU."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def ask(self, case: Case, seconds: float | None) -> Measured:
        """Let fio ask for some seconds, or for all of the size once."""
        before = self.cpu()
        uri = f"--uri=nbd+unix:///?socket={self.socket}"
        requests, rate = fio(case, seconds, "--ioengine=nbd", uri)
        return Measured(rate, (self.cpu() - before) / requests * 1e6)

    def stop(self) -> None:
        """End it."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def ratio(pairs: list[tuple[Measured, Measured]], field: str) -> str:
    """Return the median of the ratios, and their range."""
    ratios = [getattr(drive, field) / getattr(other, field) for drive, other in pairs]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


def measure(case: Case, sides: Sequence[Server | PlainFile], pairs: int, seconds: float) -> None:
    """Measure a case in turns, and print its row."""
    found = []
    for number in range(pairs):
        turn = sides if number % 2 == 0 else sides[::-1]
        asked = [side.ask(case, seconds) for side in turn]
        found.append((asked[0], asked[1]) if number % 2 == 0 else (asked[1], asked[0]))
    rates, cpus = (
        [statistics.median(getattr(pair[side], field) for pair in found) for side in (0, 1)]
        for field in ("rate", "cpu")
    )
    row = f"| {case} | {rates[0]:,.0f} | {rates[1]:,.0f} | {ratio(found, 'rate')} "
    # fio's own CPU is not a server's.
    beside = "|" if isnan(cpus[1]) else f"{cpus[1]:.1f} us | {ratio(found, 'cpu')}"
    print(f"{row}| {cpus[0]:.1f} us | {beside} |", flush=True)


def main() -> int:
    """Measure all cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wordline", default="wordline")
    parser.add_argument("--device", default="demo-8gb")
    parser.add_argument("--scheme", default="slc-cache")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--only", default="", help="cases that contain this text")
    parser.add_argument("--on", type=Path, default=Path(), help="where the drive has its folder")
    args = parser.parse_args()
    missing = [tool for tool in ("fio", "nbdkit") if shutil.which(tool) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed (apt-get install fio nbdkit)")
        return 0
    folder, data = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp(dir=args.on))
    sockets = [folder / name for name in ("drive", "memory", "persistent")]
    drive = [args.wordline, "serve", "--device", args.device, "--scheme", args.scheme]
    drive += ["--time-scale", "0", "--nbd"]
    servers = [
        Server([*drive, f"unix:{sockets[0]}"], sockets[0]),
        Server(["nbdkit", "-f", "-U", str(sockets[1]), "memory", "8G"], sockets[1]),
        Server([*drive, f"unix:{sockets[2]}", "--data", str(data / "drive")], sockets[2]),
    ]
    in_ram, nbdkit, persistent = servers
    try:
        for server in servers:
            server.ask(Case("write", "64k", 4), None)
        for cases, sides, names in (
            (CASES, (in_ram, nbdkit), "requests | requests/s | nbdkit"),
            (IN_FOLDER, (persistent, in_ram), "in a folder | requests/s | in RAM"),
            ([SYNCED], (persistent, PlainFile(data / "file")), "in a folder | requests/s | a file"),
        ):
            if not any(args.only in str(case) for case in cases):
                continue
            print(f"| {names} | ratio | CPU of a request | beside it | ratio |")
            print("|---|---:|---:|---|---:|---:|---|", flush=True)
            for case in (case for case in cases if args.only in str(case)):
                measure(case, sides, args.pairs, args.seconds)
            print()
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(data, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
