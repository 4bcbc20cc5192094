"""Runs of classes of Python on the command line, of which several go at once in processes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCHEME = """
import os
import wordline as wl


class Mine(wl.Scheme):
    wrong = wl.Param("nothing", "what it does wrong")

    def layout(self, drive):
        open(f"{os.getpid()}.pid", "w").close()
        if self.wrong == "refuses":
            raise wl.Refused("it does not like this drive")
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        if self.wrong == "region":
            return wl.to("nowhere")
        if self.wrong == "raises":
            raise LookupError("of my own")
        return wl.to("slc", "dense") if p.is_host else wl.to("dense")
"""
SMALL = ["--device", "fair-tlc", "--workload", "uniform", "--requests", "2k"]
MINE = ["--scheme", "py:mine.py#Mine"]
CHANGES = ["--set=scheme.wrong=nothing", "--set=gc.victim=fifo", "--set=ack.mode=program"]


@pytest.fixture(autouse=True)
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(SCHEME)


def processes(folder):
    """Where the class has been since it was asked last."""
    found = [int(file.stem) for file in folder.glob("*.pid")]
    for pid in found:
        (folder / f"{pid}.pid").unlink()
    return found


def without_speed(value):
    """A value of a report without what the machine adds, at any depth."""
    if isinstance(value, dict):
        return {k: without_speed(v) for k, v in value.items() if k != "speed"}
    return [without_speed(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("command", "several"),
    [
        (["run", *MINE, "--replicas", "2"], 2),
        (["compare", *MINE, *MINE[:1], "slc-cache"], 1),
        (
            # Changes in an order of their own, and one that is the scheme's.
            ["compare", "--scheme", "slc-cache", *MINE, "--replicas", "2", *CHANGES],
            2,
        ),
    ],
)
def test_runs_in_processes_give_same_results(command, several, wordline, tmp_path):
    found = {}
    for threads in (1, 2):
        out = tmp_path / f"out{threads}"
        done = wordline(*command, *SMALL, "--threads", threads, "--out", out)
        assert done.code == 0, done.err
        assert len(processes(tmp_path)) == (several if threads == 2 else 1)
        report = json.loads(next(out.glob("*.json")).read_text())
        figures = {file.name: file.read_text() for file in out.glob("figures/*")}
        found[threads] = without_speed(report), figures
    assert found[1] == found[2]


def test_what_is_read_once_stays_in_the_process(wordline, tmp_path):
    trace = "128166372000000000,host,0,Write,0,4096,9\n"
    args = ["--device", "fair-tlc", "--workload", "-", "--replicas", "2", "--threads", "2"]
    done = wordline("run", *MINE, *args, stdin=trace)
    assert done.code == 0, done.err
    assert len(processes(tmp_path)) == 1


@pytest.mark.parametrize("wrong", ["refuses", "region", "raises"])
def test_process_errors_look_local(wrong, wordline):
    scheme = f"{MINE[1]}:wrong={wrong}"
    told = {}
    for threads in (1, 2):
        args = ["--scheme", scheme, *SMALL, "--replicas", "2", "--threads", threads]
        done = wordline("run", *args)
        told[threads] = done.code, re.sub(r" at \d+ ns|--seed \d ", "", done.err)
    assert told[1] == told[2]
    code, said = told[1]
    assert code == (2 if wrong == "refuses" else 1)
    assert ("Traceback" in said) == (wrong == "raises")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_processes(name, tmp_path):
    script = Path(sys.executable).parent / "wordline"
    endless = [*SMALL[:-1], "2G", "--initial", "fresh"]
    process = subprocess.Popen(
        [script, "run", *MINE, *endless, "--replicas", "2", "--threads", "2"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts what runs in the background with interrupts ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    begun, deadline = set(), time.monotonic() + 60
    while len(begun) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
        # The process that was started tries a few requests itself, to say how long it takes.
        begun |= set(processes(tmp_path)) - {process.pid}
    process.send_signal(getattr(signal, name))
    _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + getattr(signal, name)
    assert "\nstopped: no results were kept" in told
    assert len(begun) == 2
    for pid in begun:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
