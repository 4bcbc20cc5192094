"""Runs that are done again, and lives, of classes of Python: in processes, and to the same."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import wordline as wl
from helpers import LIVED

CLASS = '''
import os
from pathlib import Path

import wordline as wl


class Noted(wl.Scheme):
    """Notes the process that it is in."""

    def layout(self, drive):
        (Path(__file__).parent / f"{os.getpid()}.pid").touch()
        return wl.Layout.one_region(drive)

    def place(self, p, view):
        return wl.to("dense")
'''
ASKED = {"device": "fair-tlc", "workload": "uniform", "requests": 2000}


@pytest.fixture
def scheme(tmp_path) -> str:
    (tmp_path / "noted.py").write_text(CLASS)
    return f"py:{tmp_path / 'noted.py'}#Noted"


def others(folder: Path) -> set[int]:
    """Return the processes in which it was laid out since this was asked last, but for this one."""
    files = list(folder.glob("*.pid"))
    found = {int(file.stem) for file in files} - {os.getpid()}
    for file in files:
        file.unlink()
    return found


def test_a_report_is_done_again_in_processes(scheme, tmp_path):
    report = wl.run(scheme=scheme, replicas=3, **ASKED)
    others(tmp_path)
    [cls] = wl.spelling.resolved(scheme)[1]
    alone = wl.rerun(report, classes=[cls], threads=1)
    assert others(tmp_path) == set()
    apart = wl.rerun(report, classes=[cls], threads=3)
    assert len(others(tmp_path)) == 3
    for again in (alone, apart):
        assert again.replicas.result_hashes == report.replicas.result_hashes
        assert again.replicas.seeds == report.replicas.seeds
        assert again.to_dict()["command"] == report.to_dict()["command"]


def test_on_the_command_line_too(scheme, tmp_path, wordline):
    wl.run(scheme=scheme, replicas=2, **ASKED).save(tmp_path / "report.json")
    others(tmp_path)
    done = wordline("rerun", "report.json", "--class", scheme)
    assert done.code == 0, done.err
    assert "identical in both replicas" in done.err
    assert len(others(tmp_path)) >= 2


@pytest.mark.parametrize("command", ["rerun", "why"])
def test_changed_class_is_named_on_the_command_line(scheme, tmp_path, wordline, command):
    asked = ["--device", "fair-tlc", "--workload", "uniform", "--requests", "500"]
    for name, how in (("r.json", ["run"]), ("c.json", ["compare", "--scheme", "conventional"])):
        done = wordline(*how, *asked, "--scheme", scheme, "--json", name)
        assert done.code == 0, done.err
    same = wordline(command, "r.json", "--class", scheme)
    assert same.code == 0, same.err
    file = tmp_path / "noted.py"
    file.write_text(file.read_text().replace('wl.to("dense")', 'wl.to("dense")  # as before'))
    for name in ("r.json", "c.json"):
        done = wordline(command, name, "--class", scheme)
        assert done.code == 2
        assert "the source of Noted has changed since the report: its hash was" in done.err


def test_drives_live_in_processes(scheme, tmp_path):
    asked = {"schemes": ["conventional", scheme], "acceleration": 100, "replicas": 2, **LIVED}
    alone = wl.lifetime(threads=1, **asked)
    assert others(tmp_path) == set()
    told = []
    apart = wl.lifetime(threads=2, progress=lambda *at: told.append(at), **asked)
    # Two seeds, and the first once more at half the acceleration.
    assert len(others(tmp_path)) == 3
    assert apart.to_dict()["schemes"] == alone.to_dict()["schemes"]
    assert {(position, seed) for position, seed, _ in told} == {(0, 1), (0, 2), (1, 1), (1, 2)}
    most = max(writes for position, seed, writes in told if (position, seed) == (1, 2))
    assert most == apart.schemes[1]["lives"][1]["drive_writes"]


def test_stopped_lifetime_returns_partial_result(scheme, tmp_path):
    script = Path(sys.executable).parent / "wordline"
    changes = [f"--set={key}={value}" for key, value in LIVED["set"].items()]
    asked = ["--device", LIVED["device"], "--workload", LIVED["workload"], "--requests", "500"]
    how = ["--replicas", "2", "--threads", "2", "--acceleration", "1", "--json", "lived.json"]
    process = subprocess.Popen(
        [script, "lifetime", *asked, *changes, *how, "--scheme", scheme],
        cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while len(list(tmp_path.glob("*.pid"))) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "the results so far are printed above" in said
    lived = wl.Lifetimes((tmp_path / "lived.json").read_text())
    assert lived.stopped
    lives = lived.schemes[0]["lives"]
    assert lives
    assert {life["ended_by"] for life in lives} == {"stopped"}
    assert all(life["phases"] for life in lives)
