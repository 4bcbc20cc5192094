"""How a command that is done in Python ends when its output cannot be written."""

import errno
import os
import subprocess
import sys

from wordline import commands

PERFORM = """
import sys
from wordline import commands

def work():
    for _ in range(100_000):
        print("a row of a long table")

sys.exit(commands.perform("sweep", (), work))
"""


def test_closed_standard_output_is_no_error():
    # As with `wordline sweep ... | head -1`, which once ended in "[Errno 32] Broken pipe".
    command = [sys.executable, "-c", PERFORM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        done.stdout.readline()
        done.stdout.close()
        said = done.stderr.read()
    assert (done.returncode, said) == (0, b"")


def test_full_disk_is_named_by_its_folder(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["wordline", "sweep", "--device", "d", "--out", "small/s"])
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert commands.message(full) == "small/s: No space left on device"
    other = OSError(errno.EACCES, os.strerror(errno.EACCES), "kept/runs")
    assert commands.message(other) == "kept/runs: Permission denied"
