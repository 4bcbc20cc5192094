"""How a command that is done in Python ends when its output cannot be written."""

import errno
import fcntl
import os
import subprocess
import sys

import pytest

from wordline import commands
from wordline.runs import write_whole

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


def test_file_that_cannot_be_written_is_named(tmp_path):
    with (
        pytest.raises(OSError, match="No space left") as raised,
        commands.naming(tmp_path / "a.csv"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert commands.message(raised.value) == f"{tmp_path}/a.csv: No space left on device"
    (tmp_path / "b.json").mkdir()
    with pytest.raises(OSError, match="directory") as raised:
        write_whole(tmp_path / "b.json", b"x")
    assert raised.value.filename == str(tmp_path / "b.json")
    assert [p.name for p in tmp_path.iterdir()] == ["b.json"]


@pytest.mark.parametrize(
    "words",
    [
        "sweep --scheme conventional --workload uniform:requests=50",
        "atlas --scheme conventional --workload uniform:requests=50 --seeds 2",
        "lifetime --on 1 --scheme conventional --workload uniform:requests=50",
        "pts wsat --scheme conventional",
        "model hyssd --workload uniform:requests=50",
    ],
)
def test_a_folder_that_another_command_writes_is_refused(wordline, tmp_path, words):
    out = tmp_path / "new" / "out"
    out.mkdir(parents=True)
    other = os.open(out, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    command = [*words.split(), "--out", out, "--device"]
    refused = wordline(*command, "demo-8gb")
    assert refused.code == 2
    said = "another command is about to write its results here\n  allowed: a folder of its own for "
    assert f"{out}: {said}" in refused.err
    # The lock goes with whoever has it; nothing is left of a command that comes to nothing.
    os.close(other)
    out.rmdir()
    failed = wordline(*command, "nothing.toml")
    assert failed.code == 2
    assert "nothing.toml" in failed.err
    assert not out.exists()
