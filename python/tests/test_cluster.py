"""Runs on a real Dask scheduler and its workers, which see no folder of the driver."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="needs pip install '.[cluster]'")
pytest.importorskip("rich", reason="needs pip install '.[sweep]'")

import wordline as wl
from helpers import LIVED, call
from wordline import cluster
from wordline.runs import Runner
from wordline.runs import _do as do_run

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
        while self._is_closed():
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        self.all: dict[str, subprocess.Popen] = {}
        for _ in range(count):
            self.another()

    def _is_closed(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) != 0

    @property
    def address(self) -> str:
        return f"dask://127.0.0.1:{self.port}"

    def another(self, **environment: str) -> str:
        """Start a worker, and return its name."""
        name = f"worker-{len(self.all)}"
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
        at = f"tcp://127.0.0.1:{self.port}"
        self.all[name] = self._start("dask_worker", name, at, *options, **environment)
        while "Registered to" not in (self.folder / name / "log").read_text():
            assert self.all[name].poll() is None
            time.sleep(0.05)
        return name

    def end(self, name: str) -> None:
        """End a worker, whatever it does."""
        self.all[name].kill()
        self.all[name].wait()

    def _start(self, module: str, name: str, *options: str, **more: str) -> subprocess.Popen:
        own = self.folder / name
        own.mkdir()
        with open(own / "log", "w") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *options],
                cwd=own,
                stdout=log,
                stderr=log,
                env={**os.environ, "TMPDIR": str(own), **more},
            )

    def stop(self) -> None:
        for process in [*self.all.values(), self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """Two workers, one of which a test may end: another takes its place."""
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


def test_killed_worker_loses_current_run_only(workers, tmp_path):
    _, executor = cluster.at(workers.address)
    ended = []

    def count(run, found):
        ended.append(run)
        if len(ended) == 4:
            os.kill(workers.all["worker-0"].pid, signal.SIGKILL)

    (tmp_path / "mine.csv").write_text(TRACE)
    wanted = [*runs(6), *runs(4, workload=f"{tmp_path}/mine.csv")]
    done = Runner(tmp_path / "there", executor=executor, ended=count).run(wanted)
    assert hashes(done) == hashes(Runner(tmp_path / "here", jobs=2).run(wanted))
    assert len(ended) == len(wanted)
    executor.shutdown()
    workers.another()


def test_worker_with_other_build_is_refused(workers, monkeypatch):
    own = cluster.build()
    for what in own:
        monkeypatch.setattr(cluster, "build", lambda changed=what: {**own, changed: "0" * 64})
        differs = (
            rf"SHA-256 of its {re.escape(what)} begins with {own[what][:12]}, here with 0{{12}}"
        )
        with pytest.raises(wl.UserError, match=rf"worker tcp://127.*: {differs}; install"):
            cluster.at(workers.address)


def test_a_late_worker_with_other_sources_gets_no_runs(workers, tmp_path, capfd):
    other = tmp_path / "other"
    package = Path(wl.__file__).parent
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(package, other / "wordline", ignore=ignored)
    [native] = package.glob("_wordline*.so")
    (other / "wordline" / native.name).symlink_to(native)
    (other / "wordline" / "routes.py").open("a").write("# another\n")
    _, executor = cluster.at(workers.address)
    known = len(executor.client.nthreads())
    late = workers.another(PYTHONPATH=str(other))
    while len(executor.client.nthreads()) == known:
        time.sleep(0.05)
    there = Runner(tmp_path / "there", executor=executor).run(runs(8))
    assert hashes(there) == hashes(Runner(tmp_path / "here", jobs=2).run(runs(8)))
    executor.shutdown()
    workers.end(late)
    told = capfd.readouterr().err
    assert told.count("has another build of Wordline") == 1
    [there, here] = re.search(
        r"Python sources .* begins with (\w+), here with (\w+);", told
    ).groups()
    assert there != here
    assert "engine" not in told


MINE = """
import helper
import wordline as wl
from wordline.cluster import Cluster


class Mine(wl.Scheme):
    most = wl.Param(1000, "pages that it places before it raises")
    placed = wl.State(0)

    def layout(self, drive):
        return wl.Layout.one_region(drive)

    def place(self, p, view):
        self.placed += helper.ONE
        if self.placed > self.most:
            raise ZeroDivisionError("of my own")
        return wl.to("dense")

"""


def test_class_and_siblings_reach_worker(workers, tmp_path):
    _, executor = cluster.at(workers.address)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "helper.py").write_text("ONE = 1\n")
    mine = f"py:{tmp_path}/mine.py#Mine"
    how = {"device": "fair-tlc", "workload": "uniform", "requests": 400, "replicas": 2}
    swept = wl.sweep(schemes=[mine, f"{mine}:most=9"], executor=executor, **how)
    here = wl.sweep(schemes=[mine], **how)
    found = [[r.result_hash for r in c.reports] for c in (swept[0], here[0])]
    assert found[0] == found[1]
    assert swept[0].reports[0].command == here[0].reports[0].command
    failed = swept[1].failed
    assert isinstance(failed, ZeroDivisionError)
    assert 'raise ZeroDivisionError("of my own")' in failed.traceback_there
    assert f'File "{tmp_path}/mine.py"' in failed.traceback_there
    assert f"in the run of {mine}:most=9 on fair-tlc under uniform" in failed.__notes__[-1]
    assert failed.__notes__[-1].endswith("seed 1")
    assert "on the worker tcp://127" in failed.__notes__[-2]
    assert swept.columns()["failed_seed"] == [None, 1]
    executor.shutdown()


def test_script_needs_main_guard(workers, tmp_path):
    script = tmp_path / "script.py"
    (tmp_path / "helper.py").write_text("ONE = 1\n")
    begins = f"executor = Cluster.connect({workers.address!r})\n"
    begins += "print(wl.sweep(device='fair-tlc', workload='uniform', requests=400, "
    begins += "schemes=['conventional', Mine], executor=executor))\n"
    script.write_text(MINE + begins)
    done = call(sys.executable, script, timeout=60)
    assert done.code == 0, done.err
    assert "its top level starts runs on a cluster while its classes are loaded" in done.out
    assert 'below `if __name__ == "__main__":`' in done.out
    guarded = "".join(f"    {line}\n" for line in begins.splitlines())
    script.write_text(f'{MINE}if __name__ == "__main__":\n{guarded}')
    done = call(sys.executable, script, timeout=60)
    assert "failed" not in done.out, done.out


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_stopping_worker_aborts_its_run(tmp_path, sent):
    workers = Workers(tmp_path, 1)
    try:
        _, executor = cluster.at(workers.address)
        # Of a fresh drive: others are filled with what the workload will read, before it begins.
        long = wl.Run(
            device="fair-tlc",
            scheme="conventional",
            workload="uniform:requests=2G",
            initial="fresh",
        )
        executor.submit(do_run, long, (), None, None)
        while not executor.client.processing().popitem()[1]:
            time.sleep(0.05)
        time.sleep(1)  # until the run has begun
        workers.all["worker-0"].send_signal(sent)
        # Dask itself waits ten seconds for threads that do not end.
        assert workers.all["worker-0"].wait(timeout=90) is not None
        executor.shutdown()
    finally:
        workers.stop()


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("dask://127.0.0.1:9", "no dask scheduler replied within"),
        ("spark://x:1", "allowed: the number of runs in parallel on this machine, or"),
        ("0", "allowed: the number of runs in parallel on this machine, or"),
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
