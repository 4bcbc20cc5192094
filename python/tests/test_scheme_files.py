"""Schemes of several files: what they import from beside them, here and in other processes."""

import json
import signal
import subprocess
import sys

import pytest

import wordline as wl
from wordline import scheme_files, scheme_source, spelling

SMALL = {"device": "fair-tlc", "workload": "uniform", "requests": 500}
CLASS = """
import wordline as wl
{imports}


class Mine(wl.Scheme):
    \"\"\"It asks a file beside it.\"\"\"

    def layout(self, drive):
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        assert {size} == {expected}
        return wl.to("slc", "dense") if p.is_host else wl.to("dense")
"""


def written(folder, imports, size="SIZE", expected=1):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "helper.py").write_text(f"SIZE = {expected}\n")
    file = folder / "mine.py"
    file.write_text(CLASS.format(imports=imports, size=size, expected=expected))
    return f"py:{file}#Mine"


def test_scheme_imports_siblings(wordline, tmp_path):
    written(tmp_path / "plain", "from helper import SIZE")
    written(tmp_path / "pack", "from .helper import SIZE\nfrom pack import helper", expected=2)
    (tmp_path / "pack" / "__init__.py").touch()
    asked = ["compare", "--device", "fair-tlc", "--workload", "uniform", "--requests", "500"]
    asked += ["--scheme", "py:plain/mine.py#Mine", "--replicas", "2", "--json", "c.json"]
    done = wordline(*asked)
    assert done.code == 0, done.err
    done = wordline(*asked[:-3], "3", "--scheme", "py:pack/mine.py#Mine", "--out", "p")
    assert done.code == 2  # two classes of one name
    done = wordline("run", *asked[1:7], "--scheme", "py:pack/mine.py#Mine", "--replicas", "2")
    assert done.code == 0, done.err
    [report] = json.loads((tmp_path / "c.json").read_text())["reports"]
    assert "SIZE = 1" in json.dumps(report["config"]["scheme"])


def test_two_folders_may_have_a_helper_each(tmp_path):
    first = written(tmp_path / "a", "import helper", "helper.SIZE", 3)
    second = written(tmp_path / "b", "import helper", "helper.SIZE", 4)
    one, two = (wl.run(scheme=text, **SMALL) for text in (first, second))
    assert one.result_hash == two.result_hash == wl.run(scheme=first, **SMALL).result_hash


def test_class_hash_covers_imported_files(tmp_path):
    text = written(tmp_path / "c", "from helper import SIZE")
    [cls] = spelling.resolved(text)[1]
    before = scheme_source.source(cls)[1]
    (tmp_path / "c" / "unused.py").write_text("SIZE = 9\n")
    assert scheme_source.source(cls)[1] == before
    (tmp_path / "c" / "helper.py").write_text("SIZE = 1  # as before\n")
    assert scheme_source.source(cls)[1] != before
    assert scheme_files.read_with(tmp_path / "c" / "mine.py") == [tmp_path / "c" / "helper.py"]


def test_failed_import_error_says_what_is_allowed(tmp_path):
    text = written(tmp_path / "d", "import there_is_no_such_module")
    with pytest.raises(wl.UserError, match=r"no_such_module'\n  allowed: imports .* files in .*/d"):
        wl.run(scheme=text, **SMALL)
    judged = wl.judge(text, workloads=["uniform"], objectives=["waf.total"], seeds=2, cases=1,
                      device="fair-tlc", requests=300)  # fmt: skip
    assert judged["verdict"] == "refused"


def test_a_scheme_with_siblings_is_judged_sound(tmp_path):
    text = written(tmp_path / "e", "from helper import SIZE")
    judged = wl.judge(text, workloads=["uniform"], objectives=["waf.total"], seeds=2, cases=1,
                      device="fair-tlc", requests=300)  # fmt: skip
    assert judged["verdict"] == "sound", judged


def test_broken_files_are_named_with_their_line(wordline, tmp_path):
    (tmp_path / "syn.py").write_text("import wordline as wl\nclass Syn(wl.Scheme)\n    pass\n")
    for words in (
        ["run", "--device", "fair-tlc", "--workload", "uniform", "--scheme", "py:syn.py#Syn"],
        ["explain", "py:syn.py#Syn"],
    ):
        done = wordline(*words)
        assert done.code == 2
        assert "py:syn.py#Syn cannot" not in done.err
        assert f"syn.py cannot be loaded: {tmp_path}/syn.py:2: expected ':'" in done.err
        assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("x = 1 / 0", "ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(4)", "SystemExit: 4"),
        (
            "class A(wl.Scheme): n = wl.Param([1], 'n')",
            "the default of a parameter is [1]; allowed:",
        ),
    ],
)
def test_file_that_raises_is_named_with_its_line(wordline, tmp_path, wrong, said):
    (tmp_path / "top.py").write_text(f"import wordline as wl\n{wrong}\n")
    done = wordline(
        "run", "--device", "fair-tlc", "--workload", "uniform", "--scheme", "py:top.py#A"
    )
    assert done.code == 2
    assert f"top.py cannot be loaded: {tmp_path}/top.py:2: {said}" in done.err
    assert "Traceback" not in done.err


def test_class_may_be_left_out_where_there_is_one(wordline, tmp_path):
    written(tmp_path, "from helper import SIZE")
    run = ["run", "--device", "fair-tlc", "--workload", "uniform", "--requests", "500", "--scheme"]
    assert wordline(*run, "py:mine.py").code == 0
    # Its name without the prefix is no scheme, but says which one is meant.
    for wrong in ("mine.py", "conventional,mine.py"):
        done = wordline(*run, wrong)
        assert done.code == 2
        assert "mine.py: a file of Python is no scheme\n  allowed: py:mine.py#Mine" in done.err
    assert wordline(*run, "py:mine.py#Mine").code == 0
    with (tmp_path / "mine.py").open("a") as file:
        file.write("\n\nclass Other(Mine):\n    pass\n")
    done = wordline(*run, "py:mine.py")
    assert done.code == 2
    assert "no class is named; use py:mine.py#CLASS with one of Mine, Other" in done.err


def test_scheme_that_fails_after_its_run_is_an_error(wordline, tmp_path):
    text = CLASS.format(imports="", size="1", expected="1")
    (tmp_path / "met.py").write_text(f"{text}\n    def metrics(self):\n        return {{'a': 5}}\n")
    run = ["run", "--device", "fair-tlc", "--workload", "uniform", "--requests", "500", "--scheme"]
    done = wordline(*run, "py:met.py#Mine")
    assert done.code == 1
    assert "error: scheme mine: metrics() returned {'a': 5}\n  allowed: a dictionary" in done.err
    assert "the results above are complete, but for the metrics of the scheme" in done.err
    # It is called after the last request, at no time of the drive.
    assert "raised in metrics of the scheme mine\n" in done.err
    assert "at 0 ns" not in done.err
    # Of several schemes the one at fault is named, also by a process of its own.
    compare = ["compare", *run[1:-1], "--scheme", "slc-cache", "--scheme", "py:met.py#Mine"]
    done = wordline(*compare, "--replicas", "2", "--threads", "2")
    assert done.code != 0
    assert "error: scheme mine: metrics() returned {'a': 5}\n" in done.err


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_signal_interrupts_a_hook_that_does_not_return(tmp_path, name, code):
    (tmp_path / "inf.py").write_text(
        "import wordline as wl\n\n\nclass Inf(wl.Scheme):\n    def layout(self, drive):\n"
        "        return wl.Layout.slc_cache(drive)\n\n    def place(self, p, view):\n"
        "        print('in place', flush=True)\n        while True:\n            pass\n"
    )
    words = ["run", "--device", "demo-8gb", "--workload", "bursty", "--scheme", "py:inf.py#Inf"]
    with subprocess.Popen(
        [sys.executable, "-m", "wordline", *words, "--requests", "1000"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout.readline() == "in place\n"
        process.send_signal(getattr(signal, name))
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == code
    assert "place() at inf.py:1" in err
    assert "has not returned since the signal, and is interrupted" in err
    assert "stopped: no results were kept" in err
    # It can be typed again.
    assert "wordline run" in err.partition("to start again: ")[2]
    assert "py:inf.py" in err.partition("to start again: ")[2]
    assert "Traceback" not in err
