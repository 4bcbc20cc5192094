"""Crash states: the recipes of docs/crash, each run to what it is expected to come to."""

import ctypes
import json
import os
import subprocess
import sys

import pytest

from helpers import ROOT

RECIPES = ROOT / "docs" / "crash"
#: The most states of what must not fail; `make soak` tries 10,000.
STATES = os.environ.get("WORDLINE_CRASH_STATES", "40")
FAULTS = ("missing-barrier", "torn-header", "reused-block", "unawaited-flush", "unchecked-checksum")


@pytest.fixture
def crash(binary, tmp_path):
    """Run `wordline crash` with a recipe as client and check."""

    def run(recipe: str, client: str, check: str, *more: str) -> dict:
        python = f"{sys.executable} -S -E {RECIPES / recipe}"
        command = [binary, "crash", "--run", f"{python} run {{uri}} {client}"]
        command += ["--check", f"{python} verify {{image}} {{acked}} {check}", "--json", "-", *more]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout) if done.stdout else {"error": done.stderr}
        return {**found, "code": done.returncode}

    return run


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_found_and_told(crash, fault):
    found = crash("store.py", fault, fault, "--states", "200")
    assert found["code"] == 1, found
    failing = found["failing"]
    assert failing["fails_again"]
    lost = failing["story"].count(": LOST")
    assert lost == (0 if fault == "reused-block" else 1), failing["story"]
    assert f"--state {failing['state']}" in failing["replay"]


def test_store_without_a_fault_passes_and_its_check_notices_dropped_flushes(crash):
    states = str(max(60, int(STATES)))
    found = crash("store.py", "", "", "--states", states, "--drop-flushes")
    assert (found["code"], found["failing"]) == (0, None), found
    assert found["one_lost_complete"] + found["two_lost_complete"] == found["intervals"]
    assert sum(one["fails"] is not None for one in found["dropped"]) >= len(found["dropped"]) - 1


def is_shared() -> bool:
    """Whether Python's SQLite is the system's library."""
    try:
        library = ctypes.CDLL("libsqlite3.so.0")
    except OSError:
        return False
    library.sqlite3_libversion.restype = ctypes.c_char_p
    import _sqlite3

    return (
        _sqlite3.sqlite_version == library.sqlite3_libversion().decode() and "libsqlite3" in maps()
    )


def maps() -> str:
    """The libraries of this process."""
    with open("/proc/self/maps") as file:
        return file.read()


SQLITE = [
    ("OFF", "DELETE", "durable", 1),
    ("NORMAL", "WAL", "", 0),
    ("NORMAL", "WAL", "durable", 1),
    ("FULL", "WAL", "durable", 0),
]


@pytest.mark.skipif(not is_shared(), reason="Python's sqlite3 does not use the shared library")
@pytest.mark.parametrize(("synchronous", "journal", "verdict", "code"), SQLITE)
def test_sqlite_keeps_what_its_manual_promises(crash, synchronous, journal, verdict, code):
    found = crash("sqlite.py", f"{synchronous} {journal}", verdict, "--states", STATES)
    assert found["code"] == code, found


def test_log_of_dm_log_writes_finds_the_same_bug(crash, binary, tmp_path):
    own, other = tmp_path / "own.log", tmp_path / "dm.log"
    found = crash("store.py", "missing-barrier", "", "--save", str(own), "--states", "40")
    assert found["code"] == 1, found
    for source, to in ((own, other), (other, tmp_path / "back.log")):
        subprocess.run([binary, "crash", "convert", source, to], check=True, capture_output=True)
    python = f"{sys.executable} -S -E {RECIPES / 'store.py'}"
    check = f"{python} verify {{image}} {{acked}}"
    command = [binary, "crash", "--log", other, "--check", check, "--states", "40", "--json", "-"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["failing"]["story"].count(": LOST") == 1


def test_wrong_usage_ends_with_2(binary, tmp_path):
    def said(*args: str) -> str:
        done = subprocess.run(
            [binary, "crash", *args], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 2, done.stderr
        return done.stderr

    assert "--check" in said("--run", "true {uri}")
    assert "unknown placeholder {disk}" in said("--run", "true {uri}", "--check", "cat {disk}")
    assert "the client wrote nothing" in said("--run", "true {uri}", "--check", "cat {image}")
    assert "not a log of writes" in said("--log", "/dev/null", "--check", "cat {image}")
