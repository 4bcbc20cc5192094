"""A served drive for a long time: databases over a file system, power cuts, kills, many clients.

Run by ``make soak`` as root, with fio, libnbd-bin and postgresql of Debian's packages; not by
``make test``. Each part prints what it tried, and fails where anything that was acknowledged is
lost.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

#: A drive that PostgreSQL fills, with the cache of each paper's first scheme.
DRIVE = ["--device", "fair-qlc", "--scheme", "slc-cache", "--initial", "fill:60%,valid=80%"]
CLIENTS = 4
#: Seconds after which eight clients have filled the flash with pages, valid or not: memory does not
#: grow any more.
FULL_AFTER = 1200
POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def run(*words: object, **options: object) -> str:
    """Run a command to its end; return what it printed."""
    done = subprocess.run(  # type: ignore[call-overload]
        [str(word) for word in words], capture_output=True, text=True, **options
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return str(done.stdout)


def until(what: str, holds: Callable[[], bool]) -> None:
    """Wait until something holds, for at most a minute."""
    begun = time.monotonic()
    while not holds():
        if time.monotonic() - begun > 60:
            raise RuntimeError(f"{what}: not within a minute")
        time.sleep(0.02)


class Server:
    """A served drive, in a folder of its own."""

    #: All that have been begun, and may have to be ended.
    begun: ClassVar[list[Server]] = []

    def __init__(self, wordline: str, folder: Path, *more: object) -> None:
        """Begin, and wait until it answers."""
        self.wordline, self.socket, self.control = wordline, folder / "d.sock", folder / "d.ctl"
        command = [wordline, "serve", *DRIVE, "--nbd", f"unix:{self.socket}"]
        command += ["--control", str(self.control), *map(str, more)]
        self.log = (folder / "server.log").open("a")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        Server.begun.append(self)
        until("the server answers", self._answers)

    def _answers(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError(f"the server has ended: {Path(self.log.name).read_text()}")
        # A server that was killed has left its sockets.
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(str(self.control)) == 0

    def ctl(self, *order: str) -> dict[str, object]:
        """Ask on the control socket."""
        return dict(json.loads(run(self.wordline, "ctl", self.control, *order)))

    def resident(self) -> int:
        """Bytes of memory that it has."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) * 1024 if found else 0

    def end(self, by: int = signal.SIGINT) -> None:
        """End it, and wait."""
        if self.process.poll() is None:
            self.process.send_signal(by)
            self.process.wait(60)
        self.log.close()


@contextlib.contextmanager
def mounted(server: Server, folder: Path, *, new: bool) -> Iterator[Path]:
    """Mount a file system of the drive; let go of it whatever has become of the drive."""
    fuse, at = folder / "fuse", folder / "mnt"
    for path in (fuse, at):
        path.mkdir(exist_ok=True)
    nbdfuse = subprocess.Popen(["nbdfuse", fuse / "disk", "--unix", server.socket])
    loop = ""
    try:
        until("nbdfuse has mounted", (fuse / "disk").exists)
        loop = run("losetup", "--find", "--show", "--direct-io=on", fuse / "disk").strip()
        if new:
            run("mkfs.ext4", "-q", "-F", "-E", "nodiscard", loop)
        run("mount", loop, at)
        yield at
    finally:
        for words in (["umount", at], ["losetup", "-d", loop], ["umount", "-l", fuse]):
            subprocess.run([str(w) for w in words], capture_output=True)
        subprocess.run(["umount", "-l", str(at)], capture_output=True)
        nbdfuse.kill()
        nbdfuse.wait()


def as_postgres(command: str) -> str:
    """Run a command of PostgreSQL as its user."""
    return run("su", "postgres", "-c", f"PATH={POSTGRES[-1]}:$PATH {command}", cwd="/")


def query(folder: Path, sql: str) -> list[int]:
    """Return the numbers of one row."""
    row = as_postgres(f'psql -h {folder} -At -F " " -c "{sql}" postgres')
    return [int(word) for word in row.split()]


BALANCES = """SELECT (SELECT count(*) FROM pgbench_history),
    (SELECT sum(delta) FROM pgbench_history), (SELECT sum(abalance) FROM pgbench_accounts),
    (SELECT sum(tbalance) FROM pgbench_tellers), (SELECT sum(bbalance) FROM pgbench_branches)"""


def pgbench(wordline: str, rounds: int, seed: int, how: str) -> None:
    """PostgreSQL on the drive, whose power is cut or whose server is killed in each round."""
    rng = random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    folder.chmod(0o777)
    # A drive in a folder outlives its server; one in RAM, its power.
    data = ["--data", folder / "data"] if how == "kill" else []
    server = Server(wordline, folder, *data)
    least = most = 0
    options = f'-h "" -k {folder} -c max_wal_size=96MB'
    for number in range(rounds + 1):
        begun = time.monotonic()
        with mounted(server, folder, new=number == 0) as at:
            if number == 0:
                at.chmod(0o777)
                as_postgres(f"initdb -D {at}/pg")
            as_postgres(f"pg_ctl -D {at}/pg -l {folder}/pg.log -o '{options}' -w start")
            if number == 0:
                as_postgres(f"pgbench -q -h {folder} -i -s 2 postgres")
            history, *sums = (n or 0 for n in query(folder, BALANCES.replace("\n", " ")))
            if not least <= history <= most or len(set(sums)) > 1:
                raise AssertionError(
                    f"round {number} of seed {seed}: {history} transfers, from {least} to {most} "
                    f"can be; sums {sums}; see {folder}"
                )
            recovered = time.monotonic() - begun
            if number == rounds:
                as_postgres(f"pg_ctl -D {at}/pg -m fast stop")
                break
            command = f"pgbench -n -h {folder} -c {CLIENTS} -T 60 postgres"
            words = ["su", "postgres", "-c", f"PATH={POSTGRES[-1]}:$PATH {command}"]
            client = subprocess.Popen(
                words, stdout=-1, stderr=subprocess.STDOUT, cwd="/", text=True
            )
            postmaster = Path("/proc", (at / "pg/postmaster.pid").read_text().split()[0])
            time.sleep(rng.uniform(0.2, 2.5))
            if how == "kill":
                server.end(signal.SIGKILL)
            else:
                within = rng.choice(["1us", "100us", "5ms"])
                server.ctl("cut", f"seed={rng.randrange(1 << 30)}", f"within={within}")
            # PostgreSQL ends as its disk is gone; what it has not ended is ended here.
            subprocess.run(
                ["su", "postgres", "-c", f"{POSTGRES[-1]}/pg_ctl -D {at}/pg -m immediate stop"],
                capture_output=True, cwd="/", timeout=60,
            )  # fmt: skip
            while postmaster.exists():
                time.sleep(0.02)
            printed = client.communicate(timeout=60)[0]
            found = re.search(r"actually processed: (\d+)", printed)
            done = int(found[1]) if found else 0
            # What was on its way when the power failed may have been committed.
            least, most = history + done, history + done + CLIENTS
            print(
                f"{how} {number + 1}: recovered in {recovered:.1f} s, {done} transfers", flush=True
            )
        if how == "kill":
            server = Server(wordline, folder, *data)
    server.end()
    shutil.rmtree(folder)
    print(f"{rounds} times ({how}) under pgbench: nothing that was committed is lost, sums agree")


#: Where memory groups are: of the first version, or of the second.
GROUPS = [
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
    (Path("/sys/fs/cgroup"), "memory.max"),
]


def memory_group(mebibytes: int) -> Path | None:
    """Make a group whose members have so much memory; nothing where none can be made."""
    for parent, limit in GROUPS:
        group = parent / "wordline-soak"
        with contextlib.suppress(OSError):
            group.mkdir(exist_ok=True)
            (group / limit).write_text(str(mebibytes << 20))
            return group
    return None


def writeback(wordline: str, mebibytes: int, limit: int = 400) -> None:
    """A client that writes more than its memory holds: what is written back gets through.

    The server is beside that group, and in it, too, where the system lets it have memory without
    writing back (``PR_SET_IO_FLUSHER``): without, it would wait for itself.
    """
    group = memory_group(limit)
    for place in ("beside", "inside"):
        folder = Path(tempfile.mkdtemp(prefix="soak-"))
        server = Server(wordline, folder, "--data", folder / "data", "--time-scale", "0.1")
        host: dict[str, bool] = server.ctl("stats")["host"]  # type: ignore[assignment]
        if group is None:
            print("writeback: not tried: no memory group can be made")
        elif place == "inside" and not host["io_flusher"]:
            print("writeback, server inside: not tried: PR_SET_IO_FLUSHER is not granted")
        else:
            if place == "inside":
                (group / "cgroup.procs").write_text(str(server.process.pid))
            begun = time.monotonic()
            with mounted(server, folder, new=True) as at:
                dd = f"dd if=/dev/urandom of={at}/x bs=1M count={mebibytes} conv=fsync"
                run("sh", "-c", f"echo $$ > {group}/cgroup.procs && exec {dd}", timeout=300)
            took = time.monotonic() - begun
            print(f"writeback of {mebibytes} MiB, server {place} {limit} MiB: {took:.0f} s")
        server.end()
        shutil.rmtree(folder)
    if group:
        group.rmdir()


def hour(wordline: str, seconds: int, clients: int) -> None:
    """Run many clients on a drive in a folder: none loses a request, and memory does not grow."""
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    server = Server(wordline, folder, "--data", folder / "data")
    uri = f"nbd+unix:///?socket={server.socket}"
    words = ["fio", "--ioengine=nbd", f"--uri={uri}", "--rw=randrw", "--bsrange=4k-32k"]
    words += ["--iodepth=4", "--rate_iops=150", "--time_based", f"--runtime={seconds}", "--thread"]
    words += ["--verify=crc32c", "--verify_backlog=64", "--group_reporting", "--output-format=json"]
    words += [f"--numjobs={clients}", "--size=64m", "--offset_increment=64m", "--name=w"]
    # Where it leaves the state of its verification.
    client = subprocess.Popen(words, stdout=-1, text=True, cwd=folder)
    resident: list[tuple[float, int]] = []
    begun = time.monotonic()
    while client.poll() is None:
        time.sleep(min(10.0, seconds / 20))
        resident.append((time.monotonic() - begun, server.resident()))
    printed = client.communicate()[0]
    job = json.loads(printed[printed.index("{") :])["jobs"][0]
    asked = sum(job[kind]["total_ios"] for kind in ("read", "write"))
    stats = server.ctl("stats")
    server.end()
    served: dict[str, dict[str, int]] = stats["served"]  # type: ignore[assignment]
    answered = sum(served[kind]["requests"] for kind in ("read", "write"))
    failed = sum(kind["failed"] for kind in served.values())
    early = max(bytes for at, bytes in resident if at < seconds / 2)
    late = resident[-1][1]
    print(
        f"{seconds} s under {clients} clients: {asked} requests asked and {answered} answered, "
        f"{failed} failed, verify errors {job['error']}; memory {early >> 20} MiB at half the "
        f"time, {late >> 20} MiB at its end"
    )
    grown = seconds >= FULL_AFTER and late > early * 1.05
    if job["error"] or failed or answered < asked or grown:
        raise AssertionError("requests were lost, or memory has grown")
    shutil.rmtree(folder)


def soak(asked: argparse.Namespace) -> None:
    """Do the parts that are asked for."""
    if asked.cuts:
        pgbench(asked.wordline, asked.cuts, asked.seed, "cut")
    if asked.kills:
        pgbench(asked.wordline, asked.kills, asked.seed, "kill")
    if asked.mebibytes:
        writeback(asked.wordline, asked.mebibytes)
    if asked.seconds:
        hour(asked.wordline, asked.seconds, 8)


def main() -> int:
    """Do the parts that are asked for; return 0 if all hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wordline", default="wordline")
    parser.add_argument("--cuts", type=int, default=50, help="power cuts under pgbench")
    parser.add_argument("--kills", type=int, default=50, help="kills of the server under pgbench")
    parser.add_argument(
        "--mebibytes", type=int, default=600, help="what is written through less memory than that"
    )
    parser.add_argument(
        "--seconds",
        type=int,
        default=3600,
        help=f"how long eight clients work; from {FULL_AFTER} on memory must not grow",
    )
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    missing = [p for p in ("nbdfuse", "losetup", "fio") if not shutil.which(p)]
    if missing or not POSTGRES:
        print(f"not installed: {', '.join(missing) or 'postgresql'}", file=sys.stderr)
        return 2
    try:
        soak(asked)
    finally:
        for server in Server.begun:
            server.end(signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
