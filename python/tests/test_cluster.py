"""Runs on a real Dask scheduler and its workers, which see no folder of the driver."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="needs pip install 'wordline[cluster]'")
pytest.importorskip("rich", reason="needs pip install 'wordline[sweep]'")

import wordline as wl
from conftest import LIVED
from wordline import cluster
from wordline.runs import Runner

TRACE = "".join(
    f"{128166372000000000 + 100_000 * i},host,0,{'Read' if i % 3 else 'Write'},"
    f"{i * 37 % 50 * 4096},{4096 * (1 + i % 4)},9\n"
    for i in range(400)
)


class Workers:
    """A scheduler and workers that each run in an empty folder of their own."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        options = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        self.scheduler = self._start("dask_scheduler", "scheduler", *options)
        self.workers = [self.another(i) for i in range(count)]

    @property
    def address(self) -> str:
        return f"dask://127.0.0.1:{self.port}"

    def another(self, number: int) -> subprocess.Popen:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
        at = f"tcp://127.0.0.1:{self.port}"
        return self._start("dask_worker", f"worker-{number}", at, *options)

    def _start(self, module: str, name: str, *options: str) -> subprocess.Popen:
        own = self.folder / name
        own.mkdir()
        with open(own / "log", "w") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *options],
                cwd=own,
                stdout=log,
                stderr=log,
                env={**os.environ, "TMPDIR": str(own)},
            )

    def stop(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    workers = Workers(tmp_path_factory.mktemp("dask"), 2)
    yield workers
    workers.stop()


def runs(count: int, **changed) -> list[wl.Run]:
    wanted = {"device": "fair-tlc", "workload": "uniform:requests=2000", **changed}
    return [
        wl.Run(scheme=scheme, seed=seed, **wanted)
        for scheme in ("conventional", "slc-cache")
        for seed in range(1, count + 1)
    ]


def hashes(found) -> dict:
    reports, refused = found
    assert not refused
    return {run: report.result_hash for run, report in reports.items()}


def test_results_are_those_of_this_machine_to_the_bit(workers, tmp_path):
    _, executor = cluster.at(workers.address)
    (tmp_path / "mine.csv").write_text(TRACE)
    device = (Path(__file__).parents[2] / "devices" / "fair-tlc.toml").read_text()
    (tmp_path / "mine.toml").write_text(device.replace('logical = "1GiB"', 'logical = "512MiB"'))
    files = {"device": str(tmp_path / "mine.toml"), "workload": f"{tmp_path}/mine.csv:requests=300"}
    wanted = [*runs(3), *runs(2, **files)]
    there = Runner(tmp_path / "there", executor=executor)
    assert hashes(there.run(wanted)) == hashes(Runner(tmp_path / "here", jobs=2).run(wanted))
    # A report names the files of this machine, and can be run again here.
    kept = wl.load(there.path(wanted[-1]))
    assert kept.workload.text == files["workload"]
    assert wl.rerun(kept).result_hash == kept.result_hash
    inputs = list(workers.folder.glob("worker-*/wordline-inputs-*/*/mine.csv"))
    assert inputs, "the trace has travelled"
    assert not list(workers.folder.rglob("*.part"))
    executor.shutdown()


def test_a_run_after_another_begins_with_its_drive(workers, tmp_path):
    _, executor = cluster.at(workers.address)
    same = {"device": "fair-tlc", "scheme": "slc-cache"}
    aging = wl.Run(workload="uniform:requests=3000", **same)
    wanted = [wl.Run(workload="uniform:requests=500", seed=s, after=aging, **same) for s in (1, 2)]
    there = hashes(Runner(tmp_path / "there", executor=executor).run(wanted))
    assert there == hashes(Runner(tmp_path / "here", jobs=2).run(wanted))
    executor.shutdown()


def test_lives_are_those_of_this_machine_to_the_bit(workers, tmp_path):
    _, executor = cluster.at(workers.address)
    how = {"schemes": ["conventional", "raro"], "acceleration": 100, **LIVED}
    lived = wl.lifetime(out=tmp_path, executor=executor, **how)
    assert lived.to_dict() == wl.lifetime(**how).to_dict()
    executor.shutdown()


def test_a_refusal_is_that_of_this_machine(workers, tmp_path):
    _, executor = cluster.at(workers.address)
    wanted = wl.Run(device="fair-tlc", scheme="raro", workload="uniform:requests=10")
    _, there = Runner(tmp_path / "there", executor=executor).run([wanted])
    _, here = Runner(tmp_path / "here", jobs=1).run([wanted])
    assert str(there[wanted]) == str(here[wanted])
    executor.shutdown()


def test_a_worker_that_is_killed_loses_only_what_it_was_at(tmp_path):
    workers = Workers(tmp_path, 2)
    try:
        _, executor = cluster.at(workers.address)
        ended = []

        def count(run, found):
            ended.append(run)
            if len(ended) == 4:
                os.kill(workers.workers[0].pid, signal.SIGKILL)

        (tmp_path / "mine.csv").write_text(TRACE)
        wanted = [*runs(6), *runs(4, workload=f"{tmp_path}/mine.csv")]
        done = Runner(tmp_path / "there", executor=executor, ended=count).run(wanted)
        assert hashes(done) == hashes(Runner(tmp_path / "here", jobs=2).run(wanted))
        assert len(ended) == len(wanted)
        executor.shutdown()
    finally:
        workers.stop()


def test_a_worker_with_another_build_is_refused_by_its_name(workers, monkeypatch):
    monkeypatch.setattr(cluster, "engine", lambda: "0" * 64)
    with pytest.raises(wl.UserError, match=r"worker tcp://127.* has another build of Wordline"):
        cluster.at(workers.address)


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("dask://127.0.0.1:9", "no dask scheduler answers there"),
        ("spark://x:1", "give the number of runs"),
        ("0", "give the number of runs"),
    ],
)
def test_where_nobody_is(on, message, monkeypatch):
    monkeypatch.setattr(cluster, "_TIMEOUT", 1)
    with pytest.raises(wl.UserError, match=message):
        cluster.at(on)


def test_the_command_sweeps_on_a_cluster(workers, wordline):
    asked = ["sweep", "--device", "fair-tlc", "--workload", "uniform", "--requests", "500"]
    asked += ["--scheme", "conventional", "--scheme", "slc-cache", "--replicas", "2"]
    begin = time.monotonic()
    there = wordline(*asked, "--on", workers.address, "--out", "there")
    assert there.code == 0, there.err
    assert time.monotonic() - begin < 60
    here = wordline(*asked, "--on", "2", "--out", "here")
    cells = [line for line in here.out.splitlines() if "conventional" in line or "slc-" in line]
    assert cells
    for line in cells:
        assert line in there.out
    both = wordline(*asked, "--on", "2", "--jobs", "2")
    assert both.code == 2
