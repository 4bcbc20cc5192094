"""A served drive without delays beside nbdkit's memory plugin: requests a second, and their CPU.

Run by ``make bench-live`` with fio and nbdkit of Debian's packages; not by ``make test``. Both
servers run at once and are asked in turns, so that what else the machine does meets both alike;
each row has the median of the pairs.
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

    def __str__(self) -> str:
        """Return the case as the table has it."""
        many = f", {self.connections} connections" if self.connections > 1 else ""
        return f"{self.rw} {self.block} QD{self.depth}{many}"


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


class Measured(NamedTuple):
    """Requests of a second, and microseconds of the server's CPU for each."""

    rate: float
    cpu: float


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
        for_long = [f"--runtime={seconds}", "--time_based"] if seconds else []
        before = self.cpu()
        done = subprocess.run(
            [
                "fio",
                "--name=x",
                "--ioengine=nbd",
                f"--uri=nbd+unix:///?socket={self.socket}",
                f"--rw={case.rw}",
                f"--bs={case.block}",
                f"--iodepth={case.depth}",
                f"--numjobs={case.connections}",
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
        rate = sum(job[kind]["iops"] for kind in ("read", "write"))
        return Measured(rate, (self.cpu() - before) / requests * 1e6)

    def stop(self) -> None:
        """End it."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def ratio(pairs: list[tuple[Measured, Measured]], field: str) -> str:
    """Return the median of the ratios, and their range."""
    ratios = [getattr(drive, field) / getattr(other, field) for drive, other in pairs]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


def main() -> int:
    """Measure all cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wordline", default="wordline")
    parser.add_argument("--device", default="demo-8gb")
    parser.add_argument("--scheme", default="slc-cache")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--only", default="", help="cases that contain this text")
    args = parser.parse_args()
    missing = [tool for tool in ("fio", "nbdkit") if shutil.which(tool) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed (apt-get install fio nbdkit)")
        return 0
    folder = Path(tempfile.mkdtemp())
    sockets = [folder / "drive", folder / "memory"]
    drive = [args.wordline, "serve", "--device", args.device, "--scheme", args.scheme]
    drive += ["--time-scale", "0", "--nbd", f"unix:{sockets[0]}"]
    servers = [
        Server(drive, sockets[0]),
        Server(["nbdkit", "-f", "-U", str(sockets[1]), "memory", "8G"], sockets[1]),
    ]
    try:
        for server in servers:
            server.ask(Case("write", "64k", 4), None)
        print("| case | requests/s | nbdkit | ratio | CPU of a request | nbdkit | ratio |")
        print("|---|---:|---:|---|---:|---:|---|", flush=True)
        for case in (case for case in CASES if args.only in str(case)):
            pairs = []
            for number in range(args.pairs):
                turn = servers if number % 2 == 0 else servers[::-1]
                asked = [server.ask(case, args.seconds) for server in turn]
                pairs.append((asked[0], asked[1]) if number % 2 == 0 else (asked[1], asked[0]))
            rates, cpus = (
                [statistics.median(getattr(pair[side], field) for pair in pairs) for side in (0, 1)]
                for field in ("rate", "cpu")
            )
            print(
                f"| {case} | {rates[0]:,.0f} | {rates[1]:,.0f} | {ratio(pairs, 'rate')} "
                f"| {cpus[0]:.1f} us | {cpus[1]:.1f} us | {ratio(pairs, 'cpu')} |",
                flush=True,
            )
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
