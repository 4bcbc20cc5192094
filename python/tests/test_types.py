"""What type checkers know of the package."""

import os
import subprocess
import sys

import pytest
import typed_report

from helpers import ROOT

CHECKED = """
import wordline as wl


class Mine(wl.Scheme):
    size = wl.Param(8 * wl.KiB, "a size")
    share = wl.Param(0.5, "a share")
    count = wl.State(0)
    seen = wl.State([])

    def layout(self, drive: wl.DriveInfo) -> wl.Layout:
        reveal_type(self.size)
        reveal_type(self.share)
        reveal_type(self.count)
        reveal_type(self.seen)
        self.count = "many"
        return wl.Layout.one_region(drive)

    def place(self, p: wl.Parcel, view: wl.View) -> wl.Place:
        return wl.to("dense")

    def idle(self, plane: int, view: wl.View) -> str:
        return ""


r = wl.run(device="fair-tlc", scheme=Mine, workload="uniform")
reveal_type(r.host.completed)
reveal_type(r.latency_us.write)
reveal_type(wl.tune)
reveal_type(wl.load("x"))
"""
KNOWN = [
    'Revealed type is "int"',
    'Revealed type is "float"',
    'Revealed type is "int"',
    'Revealed type is "list[Any]"',
    'Incompatible types in assignment (expression has type "str", variable has type "int")',
    'Return type "str" of "idle" incompatible with return type "Move | Collect | None"',
    'Revealed type is "int"',
    'Revealed type is "wordline._parts.Latency | Any"',
    'Revealed type is "def (scheme: ',
    'Revealed type is "wordline._result.Report | wordline._result.Comparison | wordline.sweeps',
]


def test_types_of_all_public_names_are_known(tmp_path):
    pytest.importorskip("mypy", reason="needs pip install mypy")
    (tmp_path / "mine.py").write_text(CHECKED)
    # By the configuration of `make check`, so that what it knows of the package holds here, too.
    words = [sys.executable, "-m", "mypy", "--no-error-summary", str(tmp_path / "mine.py")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    said = [line for line in done.stdout.replace("builtins.", "").splitlines()]
    said = [line for line in said if "note: This violates" not in line and "See http" not in line]
    assert len(said) == len(KNOWN), done.stdout + done.stderr
    for line, known in zip(said, KNOWN, strict=True):
        assert known in line, done.stdout


def test_report_figures_have_the_types_of_the_schema():
    if os.environ.get("BLESS"):
        typed_report.STUB.write_text(typed_report.stub(), encoding="utf-8")
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", "_parts.pyi", "-"],
        input=typed_report.stub(), capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    if formatted.returncode:
        pytest.skip("needs pip install ruff")
    assert typed_report.STUB.read_text(encoding="utf-8") == formatted.stdout, (
        "BLESS=1 pytest python/tests/test_types.py writes it"
    )
