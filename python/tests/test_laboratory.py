"""Commands of the laboratory where it is not installed: they say how to get it, and that is so."""

import os
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from helpers import ROOT, call

#: Of an interpreter in which no package provides a command.
WITHOUT = "import importlib.metadata as of\nof.entry_points = lambda **_: ()\n"
COMMANDS = [["reproduce", "ips"], ["validate", "--quick"], ["atlas"]]


@pytest.fixture
def without(tmp_path):
    """The environment of a command that finds no laboratory."""
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "sitecustomize.py").write_text(WITHOUT)
    return {"PYTHONPATH": str(tmp_path / "none")}


@pytest.mark.parametrize("command", COMMANDS)
def test_missing_laboratory_message_is_equal(script, binary, without, command):
    ours, native = script(*command, env=without), call(binary, *command)
    assert ours.code == native.code == 2
    assert ours.err == native.err
    assert f"{command[0]} is part of the laboratory" in ours.err
    assert len(ours.err.splitlines()) == 1


def test_help_is_whole_without_it(script, without):
    said = script("reproduce", "--help", env=without)
    assert said.code == 0
    for word in ("--readings", "--traces", "pip install . ./lab"):
        assert word in " ".join(said.out.split())


def test_what_it_says_to_type_brings_the_command(without, script, tmp_path):
    """In a new environment, where the wheel stands for the clone `.` that it is built of."""
    if "WORDLINE_DIST" not in os.environ:
        pytest.skip("nothing was built: make wheel; make test WHEEL=$(echo dist/*.whl)")
    [wheel] = Path(os.environ["WORDLINE_DIST"]).glob("*.whl")
    said = script("validate", env=without).err
    program, *words = shlex.split(re.search(r"`(pip install [^`]+)`", said)[1])
    assert program == "pip"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    words = [str(wheel) if word == "." else word for word in words]
    done = call(python, "-m", "pip", *words, "--no-deps", "-q", cwd=ROOT, timeout=600)
    assert done.code == 0, done.err
    # What both need besides is there already, in the environment of the tests.
    packages = Path(call(python, "-c", "import site; print(site.getsitepackages()[0])").out.strip())
    (packages / "others.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    command = tmp_path / "venv" / "bin" / "wordline"
    done = call(command, "validate", "--only", "unloaded", "--quick", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    where = call(python, "-c", "import wordline_lab as l; print(l.__file__)").out
    assert where.startswith(str(packages))
