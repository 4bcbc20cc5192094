"""Results as data frames, and sweeps in Python."""

import json
import pickle
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import wordline as wl
from schemes import SmallFirst
from wordline import Run
from wordline.runs import Runner

SMALL = {"device": "demo-8gb", "workload": "bursty", "requests": 500}
BOTH = ["conventional", "slc-cache"]


@pytest.fixture
def plain(monkeypatch):
    """A library whose frames are plain dictionaries of columns."""
    monkeypatch.setitem(sys.modules, "polars", SimpleNamespace(DataFrame=dict))


def test_frame_has_a_row_per_scheme_and_seed(plain):
    both = wl.compare(**SMALL, schemes=BOTH, replicas=3)
    frame = both.to_frame("polars")
    assert frame["scheme"] == [s for s in BOTH for _ in range(3)]
    assert frame["seed"] == [1, 2, 3, 1, 2, 3]
    assert {len(column) for column in frame.values()} == {6}
    alone = wl.run(**SMALL, scheme="slc-cache", seed=2)
    assert frame["result_hash"][4] == alone.result_hash
    assert frame["latency_us.write.p99"][4] == alone.latency_us.write.p99
    assert frame["waf.total"][4] == alone.waf.total
    one = alone.to_frame("polars")
    assert {name: column[4] for name, column in frame.items() if column[4] is not None} == {
        name: column[0]
        for name, column in one.items()
        if not name.startswith("speed.") and column[0] is not None
    } | {name: frame[name][4] for name in frame if name.startswith("speed.")}
    assert both["slc-cache"].replicas.to_frame("polars")["seed"] == [1, 2, 3]
    assert not any(name.startswith(("config.", "timeline.", "latency_cdf.")) for name in frame)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_frames_are_of_the_library_that_is_asked_for(library):
    module = pytest.importorskip(library)
    frame = wl.run(**SMALL, scheme="slc-cache").to_frame(library)
    assert isinstance(frame, module.DataFrame)
    assert frame["waf.total"].to_list()[0] > 0


def test_missing_library_error_says_what_to_install(monkeypatch):
    report = wl.run(**SMALL, scheme="slc-cache")
    for name in ("polars", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(wl.UserError, match=r"needs polars or pandas.*pip install polars") as told:
        report.to_frame()
    assert sys.executable in str(told.value)
    with pytest.raises(wl.UserError, match="pip install pandas"):
        report.to_frame("pandas")
    with pytest.raises(wl.UserError, match="allowed are polars, pandas"):
        report.to_frame("arrow")


def test_a_sweep_in_python_is_that_of_the_command(plain, wordline, tmp_path):
    victims = {"gc.victim": ["greedy", "fifo"], "capacity.logical": "5GiB"}
    seen = []
    found = wl.sweep(
        **SMALL,
        schemes=[*BOTH, "pa-ssd"],
        set=victims,
        replicas=2,
        out=tmp_path / "s",
        progress=lambda ended, runs: seen.append((ended, runs)),
    )
    assert found.axes == ["gc.victim", "scheme"]
    assert seen == [(n + 1, 12) for n in range(12)]
    assert (found.ran, found.found, len(found)) == (12, 0, 6)
    assert [c.at["scheme"] for c in found if c.refused] == ["pa-ssd", "pa-ssd"]
    assert "pa-ssd is not supported: " in str(found)
    columns = found.columns()
    assert columns["gc.victim"] == ["greedy"] * 3 + ["fifo"] * 3
    samples = [r.latency_us.write.mean for r in found[0].reports]
    assert columns["latency_us.write.mean"][0] == pytest.approx(np.mean(samples))
    half = 12.7062 * np.std(samples, ddof=1) / np.sqrt(2)
    assert columns["latency_us.write.mean.half_width_95"][0] == pytest.approx(half, rel=1e-4)
    frame = found.to_frame("polars")
    every = ["conventional", "slc-cache", "pa-ssd"]
    assert frame["scheme"] == [scheme for scheme in every for _ in (1, 2)] * 2
    assert frame["seed"] == [1, 2] * 6
    assert frame["capacity.logical"] == ["5GiB"] * 12
    assert frame["initial"] == ["preload"] * 12
    # What was refused has a row with the reason, and no figures.
    assert [bool(why) for why in frame["refused"]] == ([False] * 4 + [True] * 2) * 2
    assert frame["waf.total"][4] is None
    best = found.frontier("latency_us.write.mean", "+throughput.iops")
    assert best
    assert all(c in list(found) for c in best)
    pytest.importorskip("rich", reason="needs pip install '.[sweep]'")
    pytest.importorskip("pyarrow", reason="needs pip install '.[sweep]'")
    options = ["--set", "gc.victim=greedy,fifo", "--set", "capacity.logical=5GiB"]
    schemes = [word for scheme in [*BOTH, "pa-ssd"] for word in ("--scheme", scheme)]
    same = ["--device", "demo-8gb", "--workload", "bursty", "--requests", "500", "--replicas", "2"]
    done = wordline("sweep", *same, *schemes, *options, "--out", "s")
    assert "0 runs done and 12 found" in done.out  # what was refused is kept, too
    assert {p.name for p in found.save(tmp_path / "s")} == {
        *("sweep.csv", "sweep.parquet", "index.html", "tradeoff.svg")
    }


def test_sweep_without_folder_stores_nothing(tmp_path):
    here = wl.sweep(**SMALL, schemes=BOTH)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = wl.sweep(**SMALL, schemes=BOTH, executor=pool, out=tmp_path)
    assert here.columns() == there.columns()
    again = wl.sweep(**SMALL, schemes=BOTH, out=tmp_path)
    assert (again.ran, again.found) == (0, 2)


def test_sweep_errors_use_python_spelling():
    with pytest.raises(wl.UserError, match="pass a list of spellings"):
        wl.sweep(**SMALL, schemes="slc-cache")
    with pytest.raises(wl.UserError, match='device="demo-9gb": no built-in device'):
        wl.sweep(device="demo-9gb", workload="bursty", schemes=BOTH)
    with pytest.raises(
        wl.UserError, match="greedy appears twice; values of an axis must be unique"
    ):
        wl.sweep(**SMALL, schemes=BOTH, set={"gc.victim": ["greedy", "greedy"]})
    with pytest.raises(wl.UserError, match="threads=0"):
        wl.sweep(**SMALL, schemes=BOTH, threads=0)
    found = wl.sweep(**SMALL, schemes=BOTH, figures=["waf.total"])
    with pytest.raises(wl.UserError, match="choose other figures with figures="):
        found.frontier("waf.total", "throughput.iops")


TWIN = Path(__file__).parents[2] / "crates/workload/twins/web_1.toml"


def test_cached_run_is_found_after_files_move(tmp_path, trace, monkeypatch):
    key = Runner(tmp_path / "runs").key
    keys = []
    for place in ("one", "two/deep"):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        shutil.copy(trace, folder / "trace.csv")
        shutil.copy(TWIN, folder / "twin.toml")
        of = [folder / "trace.csv", f"{folder / 'trace.csv'}:speedup=2", folder / "twin.toml"]
        runs = [
            Run(device="demo-8gb", scheme="conventional", workload=str(w), fit="wrap") for w in of
        ]
        keys.append([key(run) for run in runs])
        monkeypatch.chdir(folder)
        near = Run(device="demo-8gb", scheme="conventional", workload="./trace.csv", fit="wrap")
        assert Runner(tmp_path / "runs").key(near) == keys[-1][0]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 3
    # What is in the file decides, not its name alone.
    (folder / "trace.csv").write_text("\n".join(trace.read_text().splitlines()[:100]) + "\n")
    other = Run(
        device="demo-8gb", scheme="conventional", workload=str(folder / "trace.csv"), fit="wrap"
    )
    assert Runner(tmp_path / "runs").key(other) != keys[0][0]
    identity = other.identity()
    assert str(tmp_path) not in json.dumps(identity)


def test_plots_show_report_figures():
    c = wl.compare(
        device="demo-8gb", workload="bursty", requests=2000, schemes=["conventional", "slc-cache"]
    )
    names = [r.scheme.name for r in c]
    at = c.plot.latency("read")
    assert [line.get_label() for line in at.lines] == names
    assert at.get_xscale() == "log"
    assert at.lines[0].get_ydata()[-1] == 99.99
    over = c.plot.timeline("write_mb_per_s", ax=c[0].plot.timeline())
    assert len(over.lines) == 3
    assert over.get_ylabel() == "write, MB/s"
    bars = c.plot.waf()
    ends = [b.get_x() + b.get_width() for b in bars.patches]
    assert all(any(end == pytest.approx(r.waf.total) for end in ends) for r in c)
    for call in (lambda: c.plot.latency("trim"), lambda: c.plot.timeline("write")):
        with pytest.raises(wl.UserError, match="allowed are"):
            call()
    reads = wl.run(device="demo-8gb", scheme="slc-cache", workload="uniform:read=100%", requests=99)
    with pytest.raises(wl.UserError, match="no write has completed"):
        reads.plot.latency()


def test_notebook_shows_tables(tmp_path):
    trace = tmp_path / "t.csv"
    trace.write_text("128166372000000000,h,0,Write,4096,4096,9\n")
    found = wl.inspect(trace)
    assert f"<td>requests</td><td>{found.requests}</td>" in found._repr_html_()
    report = wl.run(device="demo-8gb", scheme="conventional", workload="bursty", requests=200)
    page = report.latency_us._repr_html_()
    assert f"<td>write.mean</td><td>{report.latency_us.write.mean:.6g}</td>" in page
    assert "values</td>" in report.timeline._repr_html_()
    device = wl.identity(device="demo-8gb", scheme="conventional", workload="bursty")["device"]
    assert "the first 60 here" not in wl.Figures(device)._repr_html_()[:80]
    grid = wl.sweep(
        device="demo-8gb", workload="bursty", requests=200, schemes=["conventional", "pa-ssd"]
    )
    assert "2 combinations, 1 refused" in grid._repr_html_()
    assert grid._repr_html_().count("<tr>") == 3


def test_frame_distinguishes_experiments(plain, tmp_path):
    same = {"device": "fair-tlc", "requests": 200, "scheme": "slc-cache:static_blocks=8"}
    state = tmp_path / "a.state"
    wl.run(workload="uniform", save_state=state, **same)
    loads = [{"workload": f"twin:hm_0:closed={depth}", "fit": "wrap"} for depth in (8, 32)]
    changed = [
        *loads,
        {"workload": "uniform", "fit": "wrap"},
        {"workload": "uniform", "initial": "fill:50%"},
        {"workload": "uniform", "from_state": state},
        {"workload": "uniform", "set": {"workload.read": "70%"}},
        {"workload": "uniform", "set": {"gc.victim": "fifo"}},
        {"workload": "uniform"},
    ]
    names = ("device", "workload", "scheme", "scheme_source", "initial", "fit", "set", "requests")
    rows = []
    for change in changed:
        frame = wl.run(**{**same, **change}).to_frame("polars")
        rows.append(tuple(frame[name][0] for name in names))
    assert len(set(rows)) == len(changed)
    assert rows[0][:6] == (
        "fair-tlc",
        "twin:hm_0:closed=8",
        same["scheme"],
        None,
        "preload",
        "wrap",
    )
    assert rows[4][4] == f"from_state={state}"
    assert rows[5][1] == "uniform:read=70%"
    assert rows[6][6] == "gc.victim=fifo"


def test_scheme_has_one_name_in_all_frames(plain):
    how = {"device": "fair-tlc", "workload": "uniform", "requests": 200}
    mine = SmallFirst(threshold=8 * wl.KiB)
    alone = wl.run(scheme=mine, **how).to_frame("polars")
    together = wl.compare(schemes=[mine], **how).to_frame("polars")
    swept = wl.sweep(schemes=[mine], initial="fill:50%", **how).to_frame("polars")
    for frame in (alone, together, swept):
        assert frame["scheme"] == ["small-first:threshold=8KiB"]
        assert frame["scheme_source"] == alone["scheme_source"]
    assert swept["initial"] == ["fill:50%,order=random,valid=100%"]


def test_results_can_be_pickled():
    how = {"device": "fair-tlc", "workload": "uniform", "requests": 200}
    report = wl.run(scheme="slc-cache", replicas=2, **how)
    rows = report.requests
    both = wl.compare(schemes=["slc-cache", "conventional"], **how)
    swept = wl.sweep(schemes=["slc-cache", "raro"], **how)
    again = [pickle.loads(pickle.dumps(x)) for x in (report, rows, both, swept, report.waf)]
    assert again[0].json == report.json
    assert again[1] == rows
    assert str(again[2]) == str(both)
    assert (str(again[3]), type(again[3][1].refused)) == (str(swept), wl.Refused)
    assert again[4].total == report.waf.total
    drive = wl.Drive(device="fair-tlc", scheme="slc-cache")
    assert pickle.loads(pickle.dumps(drive.blocks())) == drive.blocks()


def test_requests_are_compact_columns():
    report = wl.run(device="fair-tlc", workload="uniform", requests=2000, scheme="slc-cache")
    rows = report.requests
    assert (rows.rows, len(rows)) == (2000, 18)
    assert rows.nbytes / rows.rows < 60
    few = report.requests_with("op", "completion_ns")
    assert list(few) == ["op", "completion_ns"]
    assert few.nbytes / few.rows < 12
    assert (few["completion_ns"] == rows["completion_ns"]).all()
    assert few["completion_ns"].dtype == np.int64
    with pytest.raises(
        wl.UserError, match="is not a column of the requests\n  allowed: number, lba"
    ):
        report.requests_with("opp")
    with pytest.raises(TypeError, match="read-only"):
        rows["op"] = []
    pandas = pytest.importorskip("pandas", reason="needs pip install pandas")
    assert pandas.DataFrame(rows).shape == rows.to_frame("pandas").shape == (2000, 18)


def test_polars_takes_requests_by_arrow():
    polars = pytest.importorskip("polars")
    rows = wl.run(
        device="fair-tlc", workload="uniform", requests=70_000, scheme="slc-cache"
    ).requests
    frame = rows.to_frame("polars")
    assert frame.shape == (70_000, 18)
    assert frame["op"].dtype == polars.String
    assert (frame["completion_ns"].to_numpy() == rows["completion_ns"]).all()
