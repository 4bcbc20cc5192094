"""Grids of runs: the command, the files it leaves, and what is found again."""

import csv
import json
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

pytest.importorskip("rich", reason="needs pip install '.[sweep]'")
pytest.importorskip("pyarrow", reason="needs pip install '.[sweep]'")

import pyarrow.parquet as pq

import wordline as wl
from wordline import Run, _frame, _measures, runs
from wordline._measures import shown
from wordline.commands import message
from wordline.runs import Runner
from wordline.steady import Steady
from wordline.sweeps import frontier, grid
from wordline.sweeps.table import Combination

SMALL = ["--device", "demo-8gb", "--workload", "bursty", "--requests", "500"]
BOTH = ["--scheme", "conventional", "--scheme", "slc-cache"]


def small(scheme="conventional", **more):
    return Run(device="demo-8gb", workload="bursty", scheme=scheme, requests=500, **more)


def test_every_combination_is_a_row_with_its_interval(wordline, tmp_path):
    set_ = ["--set", "gc.victim=greedy,fifo", "--replicas", "3"]
    done = wordline("sweep", *SMALL, *BOTH, *set_, "--out", "s")
    assert done.code == 0, done.err
    assert "12 runs done and 0 found" in done.out
    rows = list(csv.DictReader((tmp_path / "s" / "sweep.csv").open()))
    expected = [
        ("greedy", "conventional"),
        ("greedy", "slc-cache"),
        ("fifo", "conventional"),
        ("fifo", "slc-cache"),
    ]
    assert [(r["gc.victim"], r["scheme"]) for r in rows] == expected
    compared = wl.compare(
        device="demo-8gb",
        workload="bursty",
        schemes=["conventional", "slc-cache"],
        requests=500,
        replicas=3,
    )
    for row, report in zip(rows, compared, strict=False):
        estimate = report.replicas.figures["latency_us.write.mean"]
        assert float(row["latency_us.write.mean"]) == pytest.approx(estimate.mean)
        half = float(row["latency_us.write.mean.half_width_95"])
        assert half == pytest.approx(estimate.half_width_95, rel=1e-4)
    table = pq.read_table(tmp_path / "s" / "sweep.parquet").to_pylist()
    assert [r["result_hash"] for r in table] == [r["result_hash"] for r in rows]


def test_sweep_runs_only_missing_runs(wordline):
    assert "2 runs done and 0 found" in wordline("sweep", *SMALL, *BOTH).out
    assert "0 runs done and 2 found" in wordline("sweep", *SMALL, *BOTH).out
    more = wordline("sweep", *SMALL, *BOTH, "--scheme", "slc-cache:static_blocks=8")
    assert "1 run done and 2 found" in more.out
    other = wordline("sweep", *SMALL, *BOTH, "--seed", "2")
    assert "2 runs done and 0 found" in other.out


def test_dry_run_counts_and_estimates(wordline, tmp_path):
    asked = ["sweep", *SMALL, *BOTH, "--replicas", "4", "--jobs", "2", "--out", "s"]
    told = wordline(*asked, "--dry-run")
    assert told.code == 0, told.err
    assert "8 runs: 0 are kept, 8 to do; 2 of them tried in" in told.out
    assert [p.name for p in (tmp_path / "s").iterdir()] == ["runs"]
    assert "8 runs: 2 are kept, 6 to do; 2 of them tried in" in wordline(*asked, "--dry-run").out
    assert "4 runs done and 4 found" in wordline(*asked).out
    assert "8 runs: 8 are kept, none to do" in wordline(*asked, "--dry-run").out


def test_a_page_and_a_numbered_frontier_are_written(wordline, tmp_path):
    axes = "latency_us.write.mean,+throughput.iops"
    done = wordline("sweep", *SMALL, *BOTH, "--frontier", axes, "--out", "s")
    assert done.code == 0, done.err
    page = (tmp_path / "s" / "index.html").read_text()
    assert "<svg" in page
    assert "What nothing else beats in both" in page
    assert "higher is better" in (tmp_path / "s" / "frontier.svg").read_text()


def test_sweep_says_how_long_runs_must_be(wordline, trace):
    words = ["--device", "fair-tlc", "--workload", trace.name]
    done = wordline("sweep", *words, *BOTH, "--out", "s")
    assert done.code == 0, done.err
    # More requests do not make a trace longer.
    line = next(line for line in done.out.splitlines() if line.startswith("0 of 2 runs steady."))
    assert "--requests" not in line
    (loops,) = re.findall(r"Run longer: with --set (workload\.loops=\d+) all may be\.", line)
    compared = wordline("compare", *words, *BOTH)
    (same,) = re.findall(r"workload\.loops=(\d+) or more", " ".join(compared.out.split()))
    assert float(loops.partition("=")[2]) == pytest.approx(float(same), rel=0.06)
    # The option is one of a sweep.
    done = wordline("sweep", *words, *BOTH, "--out", "t", "--set", loops, "--requests", "50")
    assert done.code == 0, done.err
    done = wordline("sweep", *SMALL, *BOTH, "--out", "s")
    assert "0 of 2 runs steady. Run longer: with --requests " in done.out
    looped = Steady(0, 2, 500, options=[{"workload.loops": 7}])
    both = looped + Steady(0, 2, 900, options=[{"": 900}]) + Steady(0, 1, options=[{"": 800}])
    assert both.longer == "with --requests 900, and for traces --set workload.loops=7 all may be"
    # Passes that have been run are no advice.
    done = wordline("sweep", *words, *BOTH, "--out", "s", "--set", "workload.loops=2")
    (further,) = re.findall(r"with --set (workload\.loops=\d+) all may be\.", done.out)
    assert float(further.partition("=")[2]) >= float(loops.partition("=")[2])


def test_sweep_starts_steady_as_a_run_does(wordline, tmp_path):
    words = ["--device", "fair-tlc", "--workload", "uniform:bs=16KiB", "--requests", "500"]
    done = wordline("sweep", *words, "--scheme", "conventional", "--steady-state", "--out", "s")
    assert done.code == 0, done.err
    (combination,) = json.loads((tmp_path / "s/sweep.json").read_text())["combinations"]
    assert combination["at"]["initial"] == "steady"


def test_refused_rows_do_not_stop_sweep(wordline):
    schemes = ["--scheme", "conventional", "--scheme", "pa-ssd"]
    done = wordline("sweep", *SMALL, *schemes)
    assert done.code == 0, done.err
    assert "pa-ssd was refused" in done.out


@pytest.fixture
def asked(monkeypatch):
    """The schemes of runs that the engine was asked for."""
    seen = []
    do = runs._do

    def see(run, *how):
        seen.append(run.scheme)
        return do(run, *how)

    monkeypatch.setattr(runs, "_do", see)
    return seen


def test_what_was_refused_is_not_asked_again(asked, tmp_path, monkeypatch):
    refused = Run(device="fair-tlc", scheme="raro", workload="uniform:requests=10")
    then = replace(refused, after=refused, seed=2)
    _, first = Runner(tmp_path).run([refused, then])
    _, again = Runner(tmp_path).run([then, refused])
    assert asked == ["raro"]
    for run in (refused, then):
        assert type(again[run]) is type(first[run]) is wl.Refused
        assert str(again[run]) == str(first[run])
        assert message(again[run]) == message(first[run])
    assert "1 are kept, none to do" in Runner(tmp_path).forecast([refused])
    # Whoever takes no refusal gets the error itself.
    with pytest.raises(wl.Refused):
        Runner(tmp_path, refusals=()).run([refused])
    assert asked == ["raro"] * 2
    # Another run, and one of another engine, are asked for.
    Runner(tmp_path).run([replace(refused, seed=3)])
    monkeypatch.setattr(runs, "engine", lambda: "another")
    Runner(tmp_path).run([refused])
    assert asked == ["raro"] * 4


def test_only_refusals_that_come_again_are_kept(tmp_path, monkeypatch):
    run = Run(device="fair-tlc", scheme="conventional", workload="uniform:requests=10")

    def full(*_):
        raise OSError("no space left")

    with monkeypatch.context() as broken:
        broken.setattr(runs, "_do", full)
        _, refused = Runner(tmp_path, refusals=(OSError,)).run([run])
    assert str(refused[run]) == "no space left"
    assert not list(tmp_path.iterdir())
    reports, refused = Runner(tmp_path, refusals=(OSError,)).run([run])
    assert run in reports
    assert not refused


def test_a_sweep_finds_its_refusals_again(wordline, tmp_path):
    schemes = ["--scheme", "conventional", "--scheme", "pa-ssd"]
    first = wordline("sweep", *SMALL, *schemes)
    [kept] = tmp_path.rglob("*.refused")
    again = wordline("sweep", *SMALL, *schemes)
    assert "0 runs done and 2 found" in again.out
    assert again.out.splitlines()[:-1] == first.out.splitlines()[:-1]
    kept.write_text(kept.read_text().replace("needs", "NEEDS").replace("page", "PAGE"))
    assert wordline("sweep", *SMALL, *schemes).out != first.out


def test_all_compatible_is_a_row_for_every_scheme():
    asked = grid.grid(
        devices=["demo-8gb"], workloads=["bursty"], schemes=["raro", "all-compatible"]
    )
    every = [s.name for s in wl.schemes()]
    assert [p.at["scheme"] for p in asked.points] == ["raro", *(s for s in every if s != "raro")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "gc.victim"], "expected KEY=A,B,..., as in"),
        (["--set", "gc.victim=greedy,"], "a value of gc.victim is empty"),
        (["--set", 'x=["a,b'], "is not closed"),
        (["--set", "gc.victim=greedy", "--set", "gc.victim=fifo"], "already set"),
        (["--set", "gc.victim=greedy,greedy"], "appears twice"),
        (["--set", "gc.victim=luck"], "luck"),
        (["--set", "gc.nothing=1"], "nothing"),
        (["--frontier", "waf.total"], "needs two figures"),
        (["--figure", "waf.totl"], "waf.total"),
    ],
)
def test_invalid_input_exits_with_2(wordline, arguments, message):
    done = wordline("sweep", *SMALL, *BOTH, *arguments)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_comma_in_brackets_belongs_to_value():
    assert grid.values("a.b=1, 2") == ("a.b", ["1", "2"])
    assert grid.values('p=["1us", "2us"],["3us", "4us"]')[1] == ['["1us", "2us"]', '["3us", "4us"]']
    assert grid.values("t='a,b',c")[1] == ["'a,b'", "c"]


def test_the_frontier_holds_what_nothing_beats_in_both():
    def row(name, x, y):
        return Combination({"scheme": name}, {"x": (x, None), "y": (y, None)}, ())

    rows = [row("a", 1, 5), row("b", 2, 2), row("c", 3, 3), row("d", 2, 2), row("e", 4, 1)]
    x, y = frontier.axes(["x", "y"])
    assert [r.at["scheme"] for r in frontier.frontier(rows, x, y)] == ["a", "b", "d", "e"]
    x, y = frontier.axes(["x", "+y"])
    assert [r.at["scheme"] for r in frontier.frontier(rows, x, y)] == ["a"]
    nothing = Combination({"scheme": "f"}, {"x": None, "y": (0, None)}, ())
    assert frontier.frontier([nothing], x, y) == []


def test_a_run_after_another_begins_with_its_drive(tmp_path):
    first = small("slc-cache")
    second = small("slc-cache", after=first)
    reports, _ = Runner(tmp_path / "runs").run([second, first])
    state = tmp_path / "a.state"
    by_hand = {"device": "demo-8gb", "scheme": "slc-cache", "workload": "bursty", "requests": 500}
    assert reports[first].result_hash == wl.run(**by_hand, save_state=state).result_hash
    assert reports[second].result_hash == wl.run(**by_hand, from_state=state).result_hash
    assert reports[first].result_hash != reports[second].result_hash
    # States are big, and can be made again from what is kept.
    assert not list((tmp_path / "runs").glob("*.state"))
    third = small("slc-cache", after=second)
    done = []
    Runner(tmp_path / "runs", ended=lambda run, found: done.append((run, found))).run([third])
    assert [run for run, _ in done] == [first, second, third]


def test_workers_of_another_kind_leave_the_same(tmp_path):
    runs = [small(), small("slc-cache")]
    here, _ = Runner(tmp_path / "here").run(runs)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there, _ = Runner(tmp_path / "there", executor=pool).run(runs)
    assert [here[r].result_hash for r in runs] == [there[r].result_hash for r in runs]


def test_interrupted_run_leaves_no_files(tmp_path):
    class Enough(Exception):
        pass

    def watch(run, completed, now):
        raise Enough

    with pytest.raises(Enough):
        Runner(tmp_path / "runs", watch=watch).run([small()])
    assert not list(tmp_path.iterdir())


def interrupted(tmp_path, *workloads):
    """Interrupt a sweep once it has kept as many runs as there are workloads but one."""
    command = [sys.executable, "-m", "wordline", "sweep", "--device", "demo-8gb", "--jobs", "2"]
    asked = [word for text in workloads for word in ("--workload", text)]
    arguments = [*command, *asked, "--scheme", "conventional", "--out", "s"]
    process = subprocess.Popen(arguments, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    runs = tmp_path / "s" / "runs"
    while not runs.exists() or len(list(runs.glob("*.json"))) < len(workloads) - 1:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=60)[1], process.returncode


def test_interrupted_sweep_resumes(tmp_path):
    told, code = interrupted(tmp_path, "uniform:requests=1k", "uniform:requests=2G")
    assert code == 130, told
    assert "stopped: finished runs are kept in s" in told
    assert "wordline sweep --device demo-8gb" in told
    assert "Traceback" not in told
    assert [f.suffix for f in (tmp_path / "s" / "runs").iterdir()] == [".json"]


def test_early_interrupt_leaves_no_files(tmp_path):
    told, code = interrupted(tmp_path, "uniform:requests=2G")
    assert code == 130, told
    assert "stopped: no run had finished; to start again: wordline sweep" in told
    assert not list(tmp_path.iterdir())


def test_identity_equals_report_configuration():
    asked = {"device": "demo-8gb", "scheme": "slc-cache", "workload": "bursty", "requests": 500}
    identity = wl.identity(**asked)
    config = wl.run(**asked).config.to_dict()
    assert {k: v for k, v in identity.items() if k != "initial"} == {
        k: v for k, v in config.items() if k != "initial"
    }
    assert json.dumps(identity) != json.dumps(wl.identity(**asked, initial="fresh"))


def test_figures_are_shown_as_people_read_them():
    assert shown((216_899.4, None)) == "216,899"
    assert shown((1.23456, 0.012345)) == "1.235 ± 0.012"
    assert shown((399_518.0, 12_345.0)) == "400,000 ± 12,000"
    assert shown(None) == "–"  # noqa: RUF001


FAILS = """
import wordline as wl


class Fails(wl.Scheme):
    many = wl.Param(1, "pages that it places before it raises")
    placed = wl.State(0)

    def layout(self, drive):
        return wl.Layout.one_region(drive)

    def place(self, p, view):
        self.placed += 1
        if self.placed == self.many:
            raise ZeroDivisionError("of my own")
        return wl.to("dense")
"""


def test_failed_combination_is_a_row(wordline, tmp_path):
    (tmp_path / "fails.py").write_text(FAILS)
    asked = ["sweep", *SMALL, *BOTH, "--scheme", "py:fails.py#Fails:many=40", "--replicas", "2"]
    done = wordline(*asked, "--out", "s")
    assert done.code == 1, done.err
    assert "Fails:many=40 (seed 1) failed: ZeroDivisionError: of my own" in done.out
    assert 'raise ZeroDivisionError("of my own")' in done.out
    assert "in the run of py:fails.py#Fails:many=40 on demo-8gb under bursty" in done.out
    rows = list(csv.DictReader((tmp_path / "s" / "sweep.csv").open()))
    assert [bool(row["failed"]) for row in rows] == [False, False, True]
    assert rows[2]["failed_seed"] == "1"
    assert rows[1]["latency_us.write.mean"]
    kept = wl.load(tmp_path / "s")
    assert len(kept) == 3
    assert isinstance(kept[2].failed, wl.Fault)
    assert "of my own" in kept[2].failed.traceback_there
    assert (
        str(kept).splitlines()[:3] == str(wl.load(tmp_path / "s" / "index.html")).splitlines()[:3]
    )


def test_dry_run_finds_early_failures(wordline, tmp_path):
    (tmp_path / "fails.py").write_text(FAILS)
    asked = ["sweep", *SMALL, "--scheme", "conventional", "--scheme", "py:fails.py#Fails"]
    asked += ["--scheme", "pa-ssd", "--replicas", "2", "--dry-run"]
    told = wordline(*asked, "--set", "capacity.logical=5GiB,9TiB")
    assert told.code == 2, "a value that fails everywhere is a mistake"
    assert "9TiB" in told.err
    told = wordline(*asked)
    assert told.code == 0, told.err
    assert "2 failed: py:fails.py#Fails · seed 1" in told.out
    assert "ZeroDivisionError: of my own" in told.out
    assert "2 failed: pa-ssd · seed 1, pa-ssd · seed 2: scheme pa-ssd" in told.out


def test_sweep_ends_if_every_run_fails(tmp_path):
    (tmp_path / "fails.py").write_text(FAILS)
    with pytest.raises(ZeroDivisionError, match="of my own") as told:
        wl.sweep(
            device="demo-8gb",
            workload="bursty",
            requests=50,
            schemes=[f"py:{tmp_path}/fails.py#Fails"],
        )
    assert "in the run of py:" in told.value.__notes__[-1]


def test_differences_are_paired_by_seed(tmp_path):
    how = {"device": "demo-8gb", "workload": "bursty", "requests": 500, "replicas": 3}
    both = ["conventional", "slc-cache"]
    swept = wl.sweep(schemes=both, out=tmp_path / "s", **how)
    path = "latency_us.write.mean"
    expected = wl.compare(schemes=both, **how).differences_percent["slc-cache"][path]
    for found in (swept, wl.load(tmp_path / "s")):
        [row] = found.differences().rows
        assert row.percent[path] == pytest.approx((expected.mean, expected.half_width_95))
    columns = swept.differences(over="scheme", baseline="slc-cache").columns()
    assert columns["scheme"] == ["conventional"]
    assert columns["seeds"] == [3]
    with pytest.raises(wl.UserError, match=r"over='gc.victim' does not vary\n  allowed: scheme"):
        swept.differences(over="gc.victim")
    with pytest.raises(
        wl.UserError,
        match="baseline='x' is not a value of scheme",
    ):
        swept.differences(baseline="x")


def test_table_is_shown_though_the_sweep_cannot_be_kept(wordline, tmp_path):
    (tmp_path / "s" / "sweep.json").mkdir(parents=True)
    done = wordline("sweep", *SMALL, *BOTH, "--out", "s")
    assert done.code == 1
    assert "0 of 2 runs steady" in done.out
    assert done.err.splitlines()[-1].startswith("error: s/sweep.json: ")


@pytest.mark.parametrize("option", ["--figure", "--frontier"])
def test_unknown_figure_is_refused_before_any_run(wordline, tmp_path, option):
    path = "waf.totl" if option == "--figure" else "waf.totl,throughput.iops"
    done = wordline("sweep", *SMALL, *BOTH, option, path, "--out", "s")
    assert done.code == 2
    assert done.err.startswith("error: waf.totl: unknown figure; similar: waf.total")
    assert not (tmp_path / "s").exists()


def test_every_number_of_a_report_is_a_known_figure():
    report = wl.run(device="fair-tlc", workload="uniform", scheme="slc-cache", requests=300)
    paths = [path for path, _ in _frame.numbers(report.to_dict())]
    assert len(paths) > 100
    _measures.check_paths(paths)
    for wrong in ("waf", "waf.total.x", "latency_us.write.p98", "wear.tlc.meen"):
        with pytest.raises(wl.UserError, match="unknown figure"):
            _measures.check_paths([wrong])


def test_figures_have_the_digits_of_their_intervals():
    shown = _measures.shown
    assert shown((770_311.0, 160_000.0)) == "770,000 ± 160,000"
    assert shown((-0.06513, 16.0)) == "0 ± 16"
    assert shown((1.9756, 0.0092)) == "1.9756 ± 0.0092"
    assert shown((10_132_263.0, None)) == "10,132,263"
    assert shown((9_848_226.0, None)) == "9,848,226"
    assert _measures.change((-17.81, 16.0)) == "\u221218 ± 16"


def test_full_standard_output_is_not_taken_for_the_folder(wordline, tmp_path):
    script = Path(sys.executable).parent / "wordline"
    run = ["--device", "fair-tlc", "--workload", "uniform", "--requests", "100", "--scheme"]
    command = [script, "sweep", *run, "conventional", "--out", "s"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last == "error: standard output cannot be written: No space left on device"
    # The runs are there.
    assert list((tmp_path / "s" / "runs").glob("*.json"))


def test_files_are_written_if_nobody_reads_the_table(tmp_path):
    words = (
        "sweep --device fair-tlc --workload uniform --requests 300 --scheme conventional --out o"
    )
    done = subprocess.Popen(
        [sys.executable, "-m", "wordline", *words.split()],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.stdout is not None
    done.stdout.close()
    assert done.wait() == 0
    assert {f.name for f in (tmp_path / "o").iterdir()} >= {"sweep.csv", "index.html"}


def test_class_that_no_file_gives_is_shown_without_one(tmp_path):
    # As py:/abs/path/of/this/file.py#Local it would be found by nobody.
    class Local(wl.Scheme):
        def layout(self, drive):
            return wl.Layout.slc_cache(drive)

        def place(self, page, view):
            return wl.to("slc", "dense")

    found = wl.sweep(
        device="fair-tlc", workload="uniform", requests=50, schemes=[Local, "conventional"]
    )
    assert [c.at["scheme"] for c in found] == ["py:#Local", "conventional"]
    assert "py:#Local" in str(found)
    assert str(Path(__file__).parent) not in str(found)
    with pytest.raises(wl.UserError, match="no file has this class: it was defined in"):
        wl.run(device="fair-tlc", workload="uniform", scheme="py:#Local")
