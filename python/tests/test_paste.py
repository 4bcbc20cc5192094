"""The command of a report with a class of Python: does it work where it is pasted?"""

import inspect
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import wordline as wl
from schemes import SmallFirst

CLASS = '"""A scheme."""\n\nimport wordline as wl\n\n\n' + inspect.getsource(SmallFirst)
ASKED = 'device="fair-tlc", workload="uniform", requests=400'
#: A script without a guard: whoever loads it for its class begins its runs, too.
SCRIPT = (
    CLASS
    + f"""

report = wl.run({ASKED}, replicas=2, scheme=SmallFirst(threshold=4096))
print(report.json)
"""
)
BIN = Path(sys.executable).parent


def said(command: list, folder: Path, text: str | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(
        [BIN / command[0], *command[1:]],
        cwd=folder, input=text, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def pasted(report: dict, folder: Path) -> dict:
    """Return the report that a report's command comes to, by a shell's rules."""
    line = shlex.join(report["command"])
    done = said([*shlex.split(line), "--json", "again.json"], folder)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "again.json").read_text())


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "small first.py").write_text(CLASS)
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path


@pytest.mark.parametrize("after", ["", ":threshold=8KiB", "+ips", ":threshold=8KiB+ips"])
def test_of_a_spelling(folder, after):
    spelling = f"py:small first.py#SmallFirst{after}"
    asked = ["--device", "fair-tlc", "--workload", "uniform", "--requests", "400"]
    done = said(["wordline", "run", *asked, "--scheme", spelling, "--json", "-"], folder)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["command"][report["command"].index("--scheme") + 1] == spelling
    assert pasted(report, folder)["result_hash"] == report["result_hash"]


def test_of_an_object_in_a_script(folder):
    done = said(["python", "script.py"], folder)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    there = f"py:{folder / 'script.py'}#SmallFirst:threshold=4KiB"
    assert report["command"][report["command"].index("--scheme") + 1] == there
    again = pasted(report, folder)
    assert again["result_hash"] == report["result_hash"]
    hashes = [[r["result_hash"] for r in one["replicas"]["runs"]] for one in (report, again)]
    assert hashes[0] == hashes[1]


def test_what_no_file_has_says_so(folder):
    typed = CLASS + f"\nreport = wl.run({ASKED}, scheme=SmallFirst)\nprint(report)\n"
    done = said(["python", "-"], folder, typed)
    assert done.returncode == 0, done.stderr
    assert "--scheme 'py:#SmallFirst'" in done.stdout
    assert "is a class without a file" in " ".join(done.stdout.split())
    asked = ["--device", "fair-tlc", "--workload", "uniform", "--scheme", "py:#SmallFirst"]
    done = said(["wordline", "run", *asked], folder)
    assert done.returncode == 2
    assert "allowed: py:FILE#CLASS, with the class at the top level of a file" in done.stderr


def test_a_class_in_a_function_is_in_no_file():
    class Inner(wl.Scheme):
        def layout(self, drive):
            return wl.Layout.slc_cache(drive)

        def place(self, p, view):
            return wl.to("nowhere")

    with pytest.raises(wl.UserError) as e:
        wl.run(device="fair-tlc", workload="uniform", requests=10, scheme=Inner)
    told = str(e.value) + str(getattr(e.value, "ended_by", ""))
    assert "--scheme 'py:#Inner'" in told
    assert "hint: py:# is a class without a file" in told
