"""Schemes in Python in several processes: the same results and the same errors."""

import pickle
import subprocess
import sys

import pytest

import wordline as wl
from schemes import MINE, SMALL
from wordline.examples.slc_cache import SlcCachePy


def test_run_is_sent_by_file_and_class(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    run = wl.Run(scheme=f"py:{tmp_path}/mine.py#Mine:size=4KiB", **SMALL)
    here = pickle.loads(pickle.dumps(run)).do()
    code = (
        f"import wordline as wl; print(wl.Run(scheme={run.scheme!r}, **{SMALL!r}).do().result_hash)"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert there.stdout.strip() == here.result_hash
    assert (
        here.config.scheme.parameters.size == "8192" or "size=4KiB" in here.config.scheme.spelling
    )


def without_speed(report):
    """All of a report but what the machine adds."""
    found = report.to_dict()
    found.pop("speed")
    for replica in found["replicas"]["runs"]:
        replica.pop("speed", None)
    return found


def test_replicas_in_processes_equal_one_process():
    how = {"device": "fair-tlc", "workload": "uniform:requests=4k", "replicas": 3}
    seen = []
    runs = {
        threads: wl.run(
            scheme=SlcCachePy, threads=threads, progress=lambda *at: seen.append(at), **how
        )
        for threads in (1, 2)
    }
    assert without_speed(runs[1]) == without_speed(runs[2])
    assert {number for number, _, _ in seen} == {0, 1, 2}
    pair = wl.compare(schemes=["slc-cache", SlcCachePy], threads=2, **how)
    assert pair[0].result_hash == pair[1].result_hash == runs[1].result_hash
    assert without_speed(pair[1]) == without_speed(runs[1])
    # What is said from a process is what is said from this one.
    with pytest.raises(wl.UserError, match="bs=1B"):
        wl.run(scheme=SlcCachePy, threads=2, **{**how, "workload": "uniform:bs=1B"})


MODULE = """
import wordline as wl


class Own(Exception):
    pass


class Late(wl.Scheme):
    of = wl.Param("builtin", "which exception")

    def layout(self, drive):
        return wl.Layout.one_region(drive)

    def place(self, p, view):
        print("not part of any protocol")
        if view.now > 0:
            raise LookupError("too late") if self.of == "builtin" else Own("too late")
        return wl.to("dense")
"""


def test_process_exception_has_traceback(tmp_path):
    (tmp_path / "late.py").write_text(MODULE)
    late = f"py:{tmp_path}/late.py#Late"
    how = {"replicas": 2, "threads": 2, **SMALL}
    with pytest.raises(LookupError, match="too late") as raised:
        wl.run(scheme=late, **how)
    if sys.version_info >= (3, 11):
        notes = "\n".join(raised.value.__notes__)
        assert 'late.py", line 18, in place' in notes
        assert "raised in place of the scheme late" in notes
    with pytest.raises(wl.Fault, match="Own: too late"):
        wl.run(scheme=f"{late}:of=own", **how)

    def stop(*_):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        wl.run(scheme=SlcCachePy, progress=stop, **how)


def test_classes_of_a_script_stay_in_its_process(tmp_path):
    # It would begin once more in each process.
    (tmp_path / "script.py").write_text(
        MODULE.replace("if view.now > 0:", "if False:")
        + 'r = wl.run(device="fair-tlc", scheme=Late, workload="uniform", requests=50, replicas=8, '
        "threads=8)\nprint('ran', len(r.to_dict()['replicas']['runs']))\n"
    )
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("ran 8") == 1
