"""What all tests share: ways to call the command, and where things are."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from advice import KNOWN, is_typable, pieces, shape, shapes_known
from forked import Interpreter

import wordline as wl

ROOT = Path(__file__).resolve().parents[2]
# A drive so small that it is worn out in no time.
LIVED = {
    "device": "raro-16gb",
    "workload": "zipf:theta=1.0,read=50%,bs=16KiB",
    "requests": 20_000,
    "set": {
        "medium.flash.blocks_per_plane": 12,
        "medium.flash.wordlines_per_block": 8,
        "capacity.logical": "12MiB",
    },
}


class Done:
    """A command that has ended."""

    def __init__(self, process: subprocess.CompletedProcess) -> None:
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    @property
    def json(self):
        return json.loads(self.out)


def call(program, *args, cwd=None, stdin=None, env=None, timeout=120) -> Done:
    process = subprocess.run(
        [program, *map(str, args)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(env or {})},
    )
    return Done(process)


def _recording(error: type, record: Path):
    """Have errors of a class append what they say to a file."""

    def begun(self, *args) -> None:
        with record.open("a") as file:
            file.write(
                json.dumps({"source": "python", "text": str(args[0]) if args else ""}) + "\n"
            )

    error.__init__ = begun


@pytest.fixture(scope="session", autouse=True)
def advice_is_known(tmp_path_factory):
    """Hold what commands and the package advise against what `test_advice.py` follows."""
    record = tmp_path_factory.mktemp("advice") / "said.jsonl"
    os.environ["WORDLINE_ADVICE"] = str(record)
    for error in (wl.UserError, wl.Refused):
        _recording(error, record)
    yield
    for error in (wl.UserError, wl.Refused):
        del error.__init__
    del os.environ["WORDLINE_ADVICE"]
    lines = record.read_text().splitlines() if record.exists() else []
    said = [json.loads(line) for line in lines]
    texts = dict.fromkeys(line["text"] for line in said if line["source"] in ("error", "python"))
    known = shapes_known()
    new = {
        shape(piece): piece for text in texts for piece in pieces(text) if shape(piece) not in known
    }
    if os.environ.get("BLESS"):
        with KNOWN.open("a", encoding="utf-8") as file:
            file.writelines(
                json.dumps({"seen": [_anywhere(piece)]}, ensure_ascii=False) + "\n"
                for piece in new.values()
                if not is_typable(piece)
            )
        new = {s: piece for s, piece in new.items() if is_typable(piece)}
    assert not new, (
        "this advice is in no line of tests/advice.jsonl: give it a command that leads to each "
        "(`BLESS=1 pytest` adds prose):\n" + "\n".join(new.values())
    )


def _anywhere(piece: str) -> str:
    """Return advice with another folder in place of that of a test."""
    return re.sub(r"[^\s`'\":]*/pytest-of-[^\s`'\":/]*/pytest-\d+/", "folder/", piece)


@pytest.fixture(scope="session")
def interpreter():
    """An interpreter that is forked for each command, and imports what it needs once."""
    interpreter = Interpreter()
    yield interpreter
    interpreter.end()


@pytest.fixture
def wordline(tmp_path, interpreter):
    """The command of the package in an empty folder, in a process that is forked for it."""

    def run(*args, **how) -> Done:
        return Done(interpreter.run([*map(str, args)], cwd=tmp_path, **how))

    return run


@pytest.fixture
def script(tmp_path):
    """The installed script, begun as a user begins it, in an empty folder."""
    path = Path(sys.executable).parent / "wordline"

    def run(*args, **how) -> Done:
        return call(path, *args, cwd=tmp_path, **how)

    return run


@pytest.fixture(scope="session")
def binary():
    """The native binary as `cargo test` builds it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    found = [
        p for p in (target / "debug" / "wordline", target / "release" / "wordline") if p.exists()
    ]
    assert found, "the native binary is not built; `make python-test` or `cargo build` builds it"
    return max(found, key=lambda p: p.stat().st_mtime)


@pytest.fixture
def small():
    """Arguments of a run that takes no time."""
    return ["--device", "demo-8gb", "--workload", "bursty", "--requests", "2000"]


@pytest.fixture
def trace(tmp_path):
    """A trace of 200 requests in MSR form."""
    path = tmp_path / "small.csv"
    start = 128166372000000000
    lines = [
        f"{start + 100_000 * i},host,0,{'Read' if i % 3 else 'Write'},{i * 37 % 500 * 4096},4096,9"
        for i in range(200)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path
