"""What a run can be asked about single requests: completions as Parquet, a timeline for a trace
viewer, and why the slowest requests took so long."""

import csv
import gzip
import itertools
import json
from collections import defaultdict

import pytest

import wordline as wl

BUSY = {
    "device": "demo-8gb",
    "scheme": "slc-cache",
    "workload": "bursty:write_rate=150MB/s",
    "requests": 4000,
    "initial": "fill:90%",
    "set": {"slc_cache.static_blocks": 4},
}


def test_a_table_of_parquet_has_the_rows_of_the_csv(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    # More rows than are written together.
    run = BUSY | {"workload": "zipf:read=50%,qd=8", "requests": 70_000, "initial": "preload"}
    first = wl.run(**run, completions=tmp_path / "done.csv")
    second = wl.run(**run, completions=tmp_path / "done.parquet")
    assert first.result_hash == second.result_hash
    table = parquet.read_table(tmp_path / "done.parquet")
    with open(tmp_path / "done.csv", newline="") as file:
        about = json.loads(file.readline().removeprefix("# "))
        rows = list(csv.DictReader(file))
    assert json.loads(table.schema.metadata[b"wordline"]) == about
    assert table.column_names == list(rows[0])
    assert table.num_rows == len(rows) == 70_000
    words = {"op", "outcome"}
    for name in table.column_names:
        column = table[name].to_pylist()
        assert column == [row[name] if name in words else int(row[name]) for row in rows], name
    parts = [name for name in table.column_names[7:]]
    for row in table.slice(0, 500).to_pylist():
        assert sum(row[p] for p in parts) == row["completion_ns"] - row["arrival_ns"]
    (small,) = [(tmp_path / "done.parquet").stat().st_size]
    assert small * 3 < (tmp_path / "done.csv").stat().st_size


def test_a_table_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(wl.UserError, match="cannot be written"):
        wl.run(**BUSY, completions=tmp_path / "no" / "folder.parquet")


def valid(trace: dict) -> dict[tuple[int, int], list[dict]]:
    """Hold a trace to the rules of Chrome's trace event format; returns its slices by track."""
    assert set(trace) == {"traceEvents", "displayTimeUnit", "otherData"}
    assert trace["displayTimeUnit"] == "ns"
    named, slices, spans = set(), defaultdict(list), defaultdict(list)
    for event in trace["traceEvents"]:
        assert event["ph"] in {"M", "X", "b", "e"}, event
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        if event["ph"] == "M":
            assert event["name"] in {"process_name", "thread_name"}
            assert event["args"]["name"]
            named.add((event["name"], event["pid"], event["tid"]))
            continue
        assert event["name"]
        assert event["ts"] >= 0
        if event["ph"] == "X":
            assert event["dur"] > 0
            slices[event["pid"], event["tid"]].append(event)
            assert ("thread_name", event["pid"], event["tid"]) in named, "tracks have names"
        else:
            spans[event["cat"], event["id"]].append(event)
    for track in slices.values():
        # What one plane or one bus does never overlaps.
        track.sort(key=lambda e: e["ts"])
        for one, other in itertools.pairwise(track):
            assert round((one["ts"] + one["dur"]) * 1000) <= round(other["ts"] * 1000), (one, other)
    for span in spans.values():
        # Asynchronous events open and close in pairs, one within the other, in order.
        stack, at = [], 0.0
        for event in span:
            assert event["ts"] >= at
            at = event["ts"]
            if event["ph"] == "b":
                stack.append(event["name"])
            else:
                assert stack.pop() == event["name"]
        assert not stack
    return slices


def uses(log) -> set[tuple[int, str, int, int]]:
    rows = csv.DictReader(line for line in log.read_text().splitlines() if line[0] != "#")
    return {(int(r["op"]), r["use"], int(r["start_ns"]), int(r["end_ns"])) for r in rows}


def shown(slices) -> set[tuple[int, str, int, int]]:
    return {
        (
            e["args"]["op"],
            "bus" if e["tid"] == 0 else "array",
            round(e["ts"] * 1000),
            round((e["ts"] + e["dur"]) * 1000),
        )
        for track in slices.values()
        for e in track
    }


def test_a_timeline_is_valid_and_has_what_the_log_has(tmp_path):
    log, line = tmp_path / "log.csv", tmp_path / "line.json.gz"
    plain = wl.run(**BUSY)
    seen = wl.run(**BUSY, log=log, timeline=line)
    assert seen.result_hash == plain.result_hash
    with gzip.open(line) as file:
        trace = json.load(file)
    slices = valid(trace)
    assert shown(slices) == uses(log)
    kinds = {e["name"] for track in slices.values() for e in track}
    assert {"program host", "read migrate", "erase migrate"} <= kinds
    requests = [e for e in trace["traceEvents"] if e["ph"] == "b" and "args" in e]
    assert sorted(e["args"]["number"] for e in requests) == list(range(4000))


def test_a_window_of_a_timeline_is_what_lies_in_it(tmp_path):
    log, line = tmp_path / "log.csv", tmp_path / "line.json"
    wl.run(**BUSY, log=log, timeline=line, window="500ms..0.6s")
    start, end = 500_000_000, 600_000_000
    in_it = {u for u in uses(log) if u[2] < end and u[3] > start}
    assert in_it
    assert shown(valid(json.loads(line.read_text()))) == in_it
    done = tmp_path / "done.csv"
    wl.run(**BUSY, timeline=line, around=2000, completions=done)
    trace = json.loads(line.read_text())
    rows = csv.DictReader(r for r in done.read_text().splitlines() if r[0] != "#")
    (row,) = [r for r in rows if r["number"] == "2000"]
    start, end = (int(row[k]) for k in ("arrival_ns", "completion_ns"))
    assert shown(valid(trace)) == {u for u in uses(log) if u[2] < end and u[3] > start}
    spans = {e["id"]: e for e in trace["traceEvents"] if e["ph"] == "b" and "args" in e}
    parts = spans["2000"]["args"]["parts"]
    assert sum(parts.values()) == end - start


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"window": "1s..2s"}, "window and around require timeline=FILE"),
        ({"timeline": "t.json", "window": "2s..1s"}, "the end is before the start"),
        ({"timeline": "t.json", "window": "soon"}, "FROM..TO"),
        (
            {"timeline": "t.json", "window": "1s..2s", "around": 3},
            "window and around exclude each other; use one of them",
        ),
        ({"timeline": "t.json", "around": 4000}, "no such request"),
    ],
)
def test_window_error_shows_spelling(tmp_path, wrong, says):
    if "timeline" in wrong:
        wrong = wrong | {"timeline": tmp_path / wrong["timeline"]}
    with pytest.raises(wl.UserError, match=says):
        wl.run(**BUSY, **wrong)
    assert not list(tmp_path.iterdir())


def test_stories_match_timeline(wordline, tmp_path):
    report = wl.run(**BUSY, log=tmp_path / "log.csv")
    (tmp_path / "report.json").write_text(report.json)
    done = wordline(
        "why", "report.json", "--slowest", "5", "--json", "-", "--timeline", "line.json"
    )
    assert done.code == 0, done.err
    stories = done.json["stories"]
    assert len(stories) == 5
    seen = defaultdict(list)
    for use in uses(tmp_path / "log.csv"):
        seen[use[0]].append(use)
    line = shown(valid(json.loads((tmp_path / "line.json").read_text())))
    for story in stories:
        took = story["completion_ns"] - story["arrival_ns"]
        assert sum(story["parts_ns"].values()) == took
        assert sum(s["to_ns"] - s["from_ns"] for s in story["stretches"]) == took
        for stretch in story["stretches"]:
            for work in stretch["behind"]:
                times = seen[work["op"]]
                start, end = min(u[2] for u in times), max(u[3] for u in times)
                if work["had"] == "plane":
                    assert (work["start_ns"], work["end_ns"]) == (start, end)
                    if story is stories[0]:
                        assert line & set(times), "the timeline around the first shows it"
    words = wordline("why", "report.json", "--slowest", "5", "--stories", "5")
    assert words.code == 0, words.err
    for story in stories:
        assert f"request {story['number']}: {story['op']} of" in words.out
        assert f"{story['arrival_ns'] / 1e9:.9f} s" in words.out
    assert words.out.count("total: ") == 5
    same = wl.why(report, slowest=5)
    assert [s["number"] for s in same["stories"]] == [s["number"] for s in stories]
    (one,) = wl.why(report.json, numbers=[stories[3]["number"]])["stories"]
    assert one == stories[3]


def test_why_of_a_comparison_asks_which_run(wordline, tmp_path):
    both = wl.compare(
        device="demo-8gb", workload="bursty", requests=500, schemes=["conventional", "slc-cache"]
    )
    (tmp_path / "both.json").write_text(both.json)
    done = wordline("why", "both.json")
    assert done.code == 2
    assert "contains 2 runs" in done.err
    assert "--scheme conventional, --scheme slc-cache" in done.err
    done = wordline("why", "both.json", "--scheme", "slc-cache", "--op", "write", "--stories", "3")
    assert done.code == 0, done.err
    assert done.out.count(": write of") == 3
    done = wordline("why", "both.json", "--scheme", "slc-cache", "500")
    assert done.code == 2
    assert "no request 500" in done.err
    assert "0 to 499" in done.err


def test_the_slowest_are_summed_up_beside_all(wordline, tmp_path):
    out = tmp_path / "out"
    report = wl.run(**BUSY | {"requests": 2500}, completions=tmp_path / "done.csv")
    out.mkdir()
    report.save(out / "report.json")
    with open(tmp_path / "done.csv", newline="") as file:
        file.readline()
        rows = list(csv.DictReader(file))
    told = wl.why(report, slowest="1%")
    assert len(told["stories"]) == 3
    assert [s["op"] for s in told["summaries"]] == ["read", "write"]
    for summary in told["summaries"]:
        here = [r for r in rows if r["op"] == summary["op"]]
        latency = {r["number"]: int(r["completion_ns"]) - int(r["arrival_ns"]) for r in here}
        slowest = sorted(here, key=lambda r: -latency[r["number"]])[: -(-len(here) // 100)]
        assert (summary["of"], summary["slowest"]) == (len(here), len(slowest))
        assert summary["over_ns"] == latency[slowest[-1]["number"]]
        for which, of, ns in (("slowest", slowest, "slowest_ns"), ("all", here, "all_ns")):
            total = sum(latency[r["number"]] for r in of)
            assert summary[ns] == total
            for part in summary["parts"]:
                spent = sum(int(r[f"{part['part']}_ns"]) for r in of)
                assert part[which] == pytest.approx(spent / total)
            # Every nanosecond is somebody's.
            assert sum(way[which] for way in summary["ways"]) == pytest.approx(1)
            # What stood in the way comes to the parts of the latency that are waits behind it.
            for cause, part in (("migrate", "behind_migration"), ("gc", "behind_gc")):
                behind = sum(w[which] for w in summary["ways"] if w.get("cause") == cause)
                least = sum(p[which] for p in summary["parts"] if p["part"] == part)
                assert behind >= least - 1e-9
    ten = wl.why(report, slowest=10, op="write")
    assert len(ten["stories"]) == ten["summaries"][0]["slowest"] == 10
    done = wordline("why", "out", "--slowest", "1%", "--stories", "0")
    assert done.code == 0, done.err
    assert "slowest 1% of the reads (" in done.out
    assert "  cause: " in done.out
    # The answer is at most ten lines, and the tables are there for whoever asks.
    assert len(done.out.splitlines()) <= 10
    assert "waiting for migration  " not in done.out
    asked = wordline("why", "out", "--slowest", "1%", "--shares")
    assert "waiting for migration  " in asked.out
    assert "request " not in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--slowest", "0"], "must be above 0: a number such as 10, or a share such as 0.1%"),
        (["--slowest", "101%"], "is more than 100%"),
        (["--slowest", "few"], "few"),
        (["--op", "flush"], ""),
    ],
)
def test_a_summary_of_nothing_says_so(wordline, small, arguments, message):
    wordline("run", *small, "--scheme", "conventional", "--json", "r.json")
    done = wordline("why", "r.json", *arguments)
    assert done.code == (2 if message else 0)
    assert message in done.err
    assert "panicked" not in done.err


def test_page_or_folder_names_its_report(wordline, small, tmp_path):
    wordline("run", *small, "--scheme", "conventional", "--out", "one")
    wordline("compare", *small, "--scheme", "conventional", "--scheme", "slc-cache", "--out", "two")
    for named in ("one", "one/report.html", "one/report.json"):
        done = wordline("why", named, "--stories", "1")
        assert done.code == 0, done.err
        assert "conventional on demo-8gb" in done.out
        assert wl.load(tmp_path / named).scheme.name == "conventional"
    assert "rerun" not in wordline("rerun", "one").err
    which = wordline("why", "two/report.html")
    assert which.code == 2
    assert "2 runs; select one" in which.err
    chosen = wordline("why", "two", "--scheme", "slc-cache", "--stories", "1")
    assert "slc-cache on demo-8gb" in chosen.out
    with pytest.raises(wl.UserError, match="pass scheme= with one of conventional, slc-cache"):
        wl.why(tmp_path / "two")
    assert wl.why(tmp_path / "two", scheme="slc-cache", stories=0)["scheme"] == "slc-cache"
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "page.html").write_text("<!doctype html><html></html>")
    for named, place in (("none", "in this folder"), ("none/page.html", "beside this page")):
        done = wordline("why", named)
        assert done.code == 2
        assert f"no report.json or comparison.json found {place}" in done.err
    (tmp_path / "two" / "report.json").write_text((tmp_path / "one/report.json").read_text())
    assert "contains 2 runs" in wordline("why", "two/report.html").err
