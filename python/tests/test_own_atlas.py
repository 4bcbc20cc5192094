"""The atlas of one workload on one drive."""

import io
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("rich", reason="needs pip install '.[atlas]'")
pytest.importorskip("pyarrow", reason="needs pip install '.[atlas]'")

from rich.console import Console

import wordline as wl
from helpers import ROOT
from wordline import atlas, steady
from wordline.atlas import design as designs
from wordline.atlas import page as pages


def test_an_atlas_of_ones_own(wordline, tmp_path):
    trace = "".join(
        f"{128166372000000000 + 2_000_000 * i},host,0,{'Read' if i % 3 else 'Write'},"
        f"{i * 37 % 500 * 16384},{4096 * (1 + i % 4)},9\n"
        for i in range(900)
    )
    (tmp_path / "mine.csv").write_text(trace)
    asked = ["--workload", "mine.csv", "--device", "fair-tlc", "--scheme", "conventional"]
    asked += ["--scheme", "slc-cache", "--seeds", "2", "--requests", "500", "--out", "mine"]
    forecast = wordline("atlas", *asked, "--dry-run")
    assert forecast.code == 0, forecast.err
    assert "30 conditions on 1 drive, 2 seeds" in forecast.out
    assert "tried in" in forecast.out
    assert "all take" in forecast.out
    # What the tried runs say of an answer is told before the rest is done.
    assert "runs steady, so answers may not be known; with some " in forecast.out
    done = wordline("atlas", *asked, timeout=300)
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "mine" / "atlas.json").read_text())
    [drive] = found["drives"]
    assert len(drive["places"]) == 30
    assert {p["at"][0] for p in drive["places"]} == set(designs.LOADS)
    assert not any(isinstance(c, int) for p in drive["places"] for c in p["cells"])
    assert (tmp_path / "mine" / "index.html").exists()
    # So few requests tell nothing, and that is what it says: no figure, no lifetime, the command.
    text = (tmp_path / "mine" / "README.md").read_text()
    assert (
        "the scheme with the lowest mean write latency is not known: run longer (0 of 120" in text
    )
    assert "times the plain drive" not in text
    assert "TiB" not in text
    again = text.partition("Written by\n\n```\n")[2].partition("\n")[0]
    schemes = "--scheme conventional --scheme slc-cache"
    run = f"wordline atlas --workload mine.csv --device fair-tlc {schemes} --seeds 2"
    assert again == f"{run} --requests 500"
    page = (tmp_path / "mine" / "index.html").read_text()
    assert 'data-longer="wordline trace loop mine.csv longer.wl --times ' in page
    # Its pages say how the trace was fitted to the drive, without which a command is refused.
    assert found["fit"] == "wrap"


def test_parts_of_a_latency_have_the_names_of_other_pages():
    terms = (ROOT / "crates/report/src/words/figures/terms.txt").read_text()
    parts = terms.partition("[part of the mean latency]\n")[2].partition("\n\n")[0]
    of = [line.split(" | ")[:2] for line in parts.splitlines()]
    script = Path(pages.__file__).with_name("atlas.js").read_text()
    named = dict(re.findall(r'\["(\w+)", "([^"]+)"\]', script))
    assert len(of) == 11
    for name, key in of:
        assert named[key] == name


@pytest.mark.parametrize(
    ("workload", "spelled"),
    [
        ("twin:hm_0", "twin:hm_0:closed=8"),
        ("twin:hm_0:requests=9", "twin:hm_0:requests=9,closed=8"),
        ("a=b/trace.csv", "a=b/trace.csv:closed=8"),
        ("zipf:theta=1.1", "zipf:theta=1.1,closed=8"),
    ],
)
def test_options_join_those_of_a_workload(workload, spelled):
    assert designs.with_options(workload, "closed=8") == spelled


@pytest.mark.parametrize(
    ("workload", "has"),
    [
        ("trace.csv:loops=2,fit=compact", True),
        ("twin:hm_0:fit=wrap", True),
        ("fit=a/trace.csv:loops=2", False),
        ("trace.csv", False),
    ],
)
def test_fit_of_the_workload_holds(workload, has):
    assert designs.has_option(workload, "fit") is has
    drive = {"schemes": ["conventional"], "seeds": 2, "requests": 100}
    assert designs.of_workload(workload, "fair-tlc", **drive).fit == (None if has else "wrap")


def test_longer_trace_is_not_written_over_itself():
    names = ("mine.csv", "out/longer.wl", "longer-2.wl", "/tmp/longer-11.wl", "longer.wl.csv")
    assert [pages._longer_name(name) for name in names] == [
        "longer.wl",
        "longer-2.wl",
        "longer-3.wl",
        "longer-12.wl",
        "longer.wl",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workload", "uniform"], "--device is missing"),
        (["--device", "fair-tlc"], "--workload is missing"),
        (["--workload", "unifrom", "--device", "fair-tlc"], "unifrom"),
        (["--workload", "a.csv:speedup=9", "--device", "fair-tlc"], "so does speedup="),
        (["--workload", "uniform", "--device", "fair-tcl"], "fair-tlc"),
    ],
)
def test_wrong_input_ends_with_2(wordline, arguments, message):
    done = wordline("atlas", *arguments)
    assert done.code == 2
    assert message in done.err


def test_seeds_make_a_stationary_run_steady():
    report = wl.run(
        device="fair-tlc",
        scheme="conventional",
        workload="uniform:read=100%,rate=100k",
        requests=5000,
        initial="fill:30%",
    ).to_dict()
    state = report["steady_state"]
    assert (state["reached"], state["stationary"]) == ("too_short", True), state["why"]
    alone, among = (steady.of_reports([report] * 5, over_seeds=seeds) for seeds in (False, True))
    assert (alone.steady, among.steady) == (0, 5)
    assert (alone.changing, among.changing) == (0, 0)
    assert alone.needed > 5000
    assert among.needed == 0


def test_remaining_time_has_room_on_a_narrow_terminal():
    console = Console(width=80, file=io.StringIO())
    bars = atlas._bars(console)
    text = atlas._cut("fair-tlc: two thirds of saturation, fill 90 %, worn", 80, 30)
    bars.update(bars.add_task("atlas", total=30), completed=5, description=text)
    with console.capture() as shown:
        console.print(bars.get_renderable())
    (line,) = shown.get().splitlines()
    assert "fair-tlc: two thirds" in line
    assert re.search(r"5 of 30 conditions.* (-:--:--|\d:\d\d:\d\d)", line)
    assert atlas._cut("short", 80, 30) == "short"
