"""Kill sweeps at random moments, here and on a cluster, and hold what comes out to the bit.

    python kills.py [--kills 1000] [--cluster 50] [--seed 1]

Each round starts a sweep, kills it after a random time (on a cluster the driver, or a worker of
it), and starts it again until it ends. Reports that were kept must not be touched again, and all
must be those of a sweep that nobody killed.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from test_cluster import Workers

SWEEP = ["--device", "fair-tlc", "--workload", "uniform", "--requests", "60k", "--replicas", "4"]
SWEEP += ["--scheme", "conventional", "--scheme", "slc-cache", "--scheme", "pa-ssd"]
SCRIPT = Path(sys.executable).parent / "wordline"


def start(folder: Path, on: str) -> subprocess.Popen:
    return subprocess.Popen(
        [SCRIPT, "sweep", *SWEEP, "--on", on, "--out", "out"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def hashes(folder: Path) -> dict[str, str]:
    kept = (folder / "out" / "runs").glob("*.json")
    return {path.name: json.loads(path.read_text())["result_hash"] for path in kept}


def written(folder: Path) -> dict[str, int]:
    return {p.name: p.stat().st_mtime_ns for p in (folder / "out" / "runs").glob("*.json")}


def round_of_kills(want: dict[str, str], random_: random.Random, workers: Workers | None) -> int:
    """Kill until a sweep ends by itself; return how often it was killed."""
    kills = 0
    with tempfile.TemporaryDirectory(prefix="wordline-kills-") as name:
        folder = Path(name)
        kept: dict[str, int] = {}
        while True:
            sweep = start(folder, workers.address if workers else "2")
            wait = random_.uniform(0.3, 2.2)
            try:
                sweep.wait(timeout=wait)
            except subprocess.TimeoutExpired:
                if workers is not None and random_.random() < 0.5:
                    at = random_.randrange(len(workers.workers))
                    workers.workers[at].kill()
                    workers.workers[at].wait()
                    workers.workers[at] = workers.another(time.monotonic_ns())
                    kills += 1
                    sweep.wait(timeout=120)
                else:
                    os.killpg(sweep.pid, signal.SIGKILL)
                    sweep.wait()
                    kills += 1
            found = written(folder)
            again = [n for n, at in kept.items() if found.get(n) != at]
            assert not again, f"recomputed, though they were kept: {again}"
            kept = found
            if sweep.returncode == 0:
                break
        assert hashes(folder) == want, "results differ from those of a sweep that nobody killed"
        left = [p.name for p in folder.rglob("*.part")]
        assert len(left) <= kills, left
    return kills


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--kills", type=int, default=1000)
    asked.add_argument("--cluster", type=int, default=50)
    asked.add_argument("--seed", type=int, default=1)
    args = asked.parse_args()
    random_ = random.Random(args.seed)
    with tempfile.TemporaryDirectory(prefix="wordline-kills-") as name:
        whole = start(Path(name), "2")
        assert whole.wait() == 0
        want = hashes(Path(name))
    assert len(want) == 12
    for count, cluster in ((args.kills, False), (args.cluster, True)):
        begin, kills, rounds = time.monotonic(), 0, 0
        with tempfile.TemporaryDirectory(prefix="wordline-dask-") as name:
            workers = Workers(Path(name), 2) if cluster else None
            try:
                while kills < count:
                    kills += round_of_kills(want, random_, workers)
                    rounds += 1
            finally:
                if workers is not None:
                    workers.stop()
        where = "on a cluster" if cluster else "here"
        print(
            f"{kills} kills {where} in {rounds} sweeps, {time.monotonic() - begin:.0f} s: the same "
            "to the bit, nothing that was kept was recomputed",
            flush=True,
        )


if __name__ == "__main__":
    main()
