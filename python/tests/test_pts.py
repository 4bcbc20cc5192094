"""Tests after SNIA's specification: the rule, what is measured, and what comes out."""

from __future__ import annotations

import contextlib
import csv
import html
import math
import os
import queue
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wordline as wl
from wordline import commands, progress, pts
from wordline.pts import show
from wordline.pts.measured import Bench, Cell, Load, Result, judge


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ([100, 100, 100, 100, 100], True),
        # The range is exactly a fifth of the mean, or more.
        ([90, 110, 90, 110, 100], True),
        ([89, 111, 89, 111, 100], False),
        # A line that rises by a tenth, or by more.
        ([95, 97.5, 100, 102.5, 105], True),
        ([94, 97, 100, 103, 106], False),
        # Only the last five count.
        ([500, 100, 100, 100, 100, 100], True),
    ],
)
def test_steady_state_rule(values: list[float], holds: bool) -> None:
    found = judge("IOPS", values)
    assert found is not None
    assert found.holds == holds
    slope, _ = np.polyfit(range(5), values[-5:], 1)
    assert found.slope == pytest.approx(abs(slope) * 4 / np.mean(values[-5:]))
    assert judge("IOPS", values[:4]) is None


def test_measured_latencies_are_those_of_the_requests() -> None:
    drive = wl.Drive(device="fair-tlc", scheme="slc-cache", initial="fill:90%")
    other = drive.fork()
    until = 50_000_000
    measured = drive.feed("uniform:read=50%,bs=4KiB,qd=8").measure(until_ns=until)
    ended = other.feed("uniform:read=50%,bs=4KiB,qd=8").step(until_ns=until)
    assert measured.requests == len(ended) > 100
    assert measured.seconds == pytest.approx(0.05)
    for op in ("read", "write"):
        own = [c for c in ended if c.op == op]
        latency = measured.latency_us.to_dict()[op]
        assert latency["count"] == len(own)
        assert latency["mean"] == pytest.approx(np.mean([c.latency_us for c in own]))
        assert latency["max"] == pytest.approx(max(c.latency_us for c in own))
    assert measured.write_bytes == 4096 * sum(c.op == "write" for c in ended)


def test_latency_of_a_mix_is_of_all_its_requests() -> None:
    bench = Bench("fair-tlc", "slc-cache", {}, 1, 0.06, 25, lambda _: None)
    load = Load(0.65, 4096, depth=1)
    bench.precondition(Load(0.0, 128 * 1024, sequential=True), 1)
    other = bench.drive.fork()
    cell = bench.measure("latency", 1, load)
    feed = other.feed(load.spelling("requests=1000000000"), seed=2)
    ended = feed.step(until_ns=other.now_ns + 60_000_000)
    every = sorted(c.latency_us for c in ended)
    assert {c.op for c in ended} == {"read", "write"}
    assert cell.requests == len(ended) > 100
    assert cell.mean_us == pytest.approx(np.mean(every))
    assert cell.max_us == every[-1]
    # Of the class of the histogram, as in a report.
    assert cell.p99_us == pytest.approx(every[math.ceil(0.99 * len(every)) - 1], rel=1e-3)
    assert cell.mean_us != pytest.approx(np.mean([c.latency_us for c in ended if c.op == "write"]))
    assert cell.iops == pytest.approx(len(ended) / 0.06)
    assert cell.mb_per_s == pytest.approx(len(ended) * 4096 / 0.06 / 1e6)
    assert bench.written == sum(c.bytes for c in ended if c.op == "write")


def test_rounds_are_told_without_exponents() -> None:
    told: list[str] = []
    bench = Bench("fair-tlc", "conventional", {}, 1, 0.01, 5, told.append)
    bench.until_steady("iops", "IOPS of 4 KiB writes", lambda number: 23_347.2)
    assert told[0] == "iops, round 1: IOPS of 4 KiB writes 23,347"


def test_outstanding_requests_are_counted() -> None:
    drive = wl.Drive(device="fair-tlc", scheme="conventional", initial="fill:90%")
    writes = drive.feed("uniform:read=0%,bs=4KiB,qd=16")
    reads = drive.feed("uniform:read=100%,bs=4KiB,qd=16", seed=2)
    counts = {"writes": 0, "reads": 0}
    for _ in range(5):
        for name, feed in (("writes", writes), ("reads", reads)):
            found = feed.measure(until_ns=drive.now_ns + 3_000_000)
            counts[name] += found.requests
            assert (found.write_bytes > 0) == (name == "writes")
    drive.run()
    # Of each, all but those that were under way as the other took over.
    assert drive.look().submitted - sum(counts.values()) <= 10 * 16


def test_requests_of_one_load_end_before_another_begins() -> None:
    bench = Bench("fair-tlc", "conventional", {}, 1, 0.2, 25, lambda _: None)
    large, small = Load(0.0, 1024 * 1024), Load(0.0, 4096)
    first = bench.measure("iops", 1, large)
    assert bench.written == first.requests * large.size
    second = bench.measure("iops", 1, small)
    wrote = first.requests * large.size + second.requests * small.size
    assert bench.written - wrote == large.depth * large.size
    assert second.start_s > first.start_s + first.seconds
    # What goes on with the same load goes on at once.
    third = bench.measure("iops", 2, small)
    assert third.start_s == pytest.approx(second.start_s + second.seconds)


def unsteady(rounds: int, cell_s: float, waf: tuple[float, ...]) -> Result:
    """Return a test that is not steady, whose 4 KiB writes have these WAF in turn."""
    iops = [100.0 * (1 + n % 2) for n in range(rounds)]
    cells = [
        Cell(
            "iops", n + 1, load.name, load.mix, load.size, 32, n, cell_s, 1, iops[n], 1, 1, 1, 1, 1,
            1, 1, factor,
        )
        for n in range(rounds)
        for load, factor in [(Load(0.0, 8192), 99.0), (Load(0.0, 4096), waf[n % len(waf)])]
    ]  # fmt: skip
    judged = judge("IOPS", iops)
    assert judged is not None
    return Result("iops", "d", "conventional", 1, cell_s, cells, {"iops": judged})


def typed(**changed: object) -> str:
    """Spell a command."""
    return f"again {changed}"


def test_what_is_not_steady_says_why_and_what_to_type() -> None:
    sentence, then = show.advice([unsteady(5, 10.0, (9.5, 34.0))], typed) or ("", "")
    assert "of its rounds was 9.5 to 34: garbage collection falls unevenly on" in sentence
    assert sentence.endswith(" With more rounds: ")
    assert then == "again {'rounds': 25}"
    sentence, then = show.advice([unsteady(25, 10.0, (3.0, 3.1))], typed) or ("", "")
    assert "was 3 to 3.1: that is not the cause). With longer cells: " in sentence
    assert then == "again {'cell': '60s'}"
    sentence, then = show.advice([unsteady(25, 60.0, (9.5, 34.0))], typed) or ("", "")
    assert sentence.endswith("PTS ends here, and such a result is reported as not steady.")
    assert not then
    assert show.advice([Result("iops", "d", "conventional", 1, 10.0, [], {})], typed) is None


def test_command_for_a_drive_that_is_not_steady_can_be_typed(
    wordline: Callable[..., Any], tmp_path: Path
) -> None:
    test = ["pts", "throughput", "--device", "fair-tlc", "--scheme", "slc-cache", "--cell", "20ms"]
    set_ = ["--set", "slc_cache.static_blocks=3", "--rounds", "5", "--out", str(tmp_path)]
    done = wordline(*test, *set_)
    assert done.code == 0, done.err
    (line,) = [line for line in done.out.splitlines() if line.startswith("Not steady: ")]
    then = line.partition("With more rounds: ")[2]
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert f"<code>{html.escape(then)}</code>" in page
    again = wordline(*shlex.split(then)[1:])
    assert again.code == 0, again.err
    assert "With more rounds" not in again.out


def test_saturation_of_a_drive_with_an_slc_cache() -> None:
    # A quarter of the drive: a quarter of the requests write it over four times.
    set_ = {"medium.flash.blocks_per_plane": 32, "capacity.logical": "256MiB"}
    set_ |= {"slc_cache.static_blocks": 3}
    cached = pts.run("wsat", device="fair-tlc", scheme="slc-cache", cell="1250ms", set=set_)
    plain = pts.run("wsat", device="fair-tlc", cell="1250ms", set=set_)
    for found in (cached, plain):
        assert found.cells[-1].drive_writes >= 4 > found.cells[-2].drive_writes
        assert found.cells[0].iops > 1.5 * found.cells[-1].iops
        assert all(c.waf is not None and c.waf > 0.9 for c in found.cells)
    assert pts.run("wsat", device="fair-tlc", cell="1250ms", set=set_) == plain


def test_waf_is_that_of_reports() -> None:
    # Its mapping pages have 16 KiB, and nothing is collected yet. A report has the programs under
    # way at the end, a cell has not.
    bench = Bench("demo-8gb", "conventional", {}, 1, 0.5, 25, lambda _: None)
    cell = bench.measure("fresh", 1, Load(0.0, 4096))
    uniform = "uniform:read=0%,bs=4KiB,qd=32,duration=500ms"
    report = wl.run(device="demo-8gb", scheme="conventional", workload=uniform, initial="fresh")
    assert cell.waf == pytest.approx(report.waf.total, rel=0.02)


def test_idle_time_gives_an_slc_cache_back_its_speed() -> None:
    bench = Bench("fair-tlc", "slc-cache", {}, 1, 1.0, 25, lambda _: None)
    bench.precondition(Load(0.0, 128 * 1024, sequential=True), 1)
    load = Load(0.0, 4096)
    for number in range(1, 21):
        saturated = bench.measure("saturation", number, load)
    bench.rest(30.0)
    assert bench.measure("idle", 1, load, 0.2).iops > 2 * saturated.iops


def test_throughput_reads_and_writes_each_size(
    wordline: Callable[..., Any], tmp_path: Path
) -> None:
    test = ["pts", "throughput", "--device", "fair-tlc", "--scheme", "conventional,slc-cache"]
    done = wordline(*test, "--cell", "500ms", "--out", str(tmp_path))
    assert done.code == 0, done.err
    assert "sequential writes, 1024 KiB" in done.out
    assert "steady in rounds 1 to 5" in done.out
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "wordline pts throughput --device fair-tlc" in page
    assert "<svg" in page
    with (tmp_path / "pts.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["scheme"] for row in rows} == {"conventional", "slc-cache"}
    assert {(row["mix"], row["size"]) for row in rows} == {
        (mix, size) for mix in ("100/0", "0/100") for size in ("1048576", "131072")
    }


def drawn(test: str, stages: list[tuple[str, float, float]]) -> Any:
    """Return the axes of a test with a cell for each stage, start and figure; cells of 5 s."""
    cells = [
        Cell(
            stage, number, "w", "0/100", 4096, 32, start, 5.0, 1, iops, iops, iops, 1, 1, 1, 1, 1, 1
        )
        for number, (stage, start, iops) in enumerate(stages, 1)
    ]
    result = Result(test, "d", "conventional", 1, 10.0, cells, {})
    ((_, _, figure),) = show._plots([result])
    figure.canvas.draw()
    return figure.axes


@pytest.mark.parametrize(
    ("fastest", "scale"), [(400.0, "linear"), (900.0, "linear"), (5000.0, "log")]
)
def test_an_axis_of_any_range_has_labels(fastest: float, scale: str) -> None:
    at, *_ = drawn("throughput", [("a", 0, 110.0), ("a", 5, fastest)])
    assert at.get_yscale() == scale
    low, high = at.get_ylim()
    labels = [
        text.get_text()
        for text in at.get_yticklabels(which="both")
        if low <= text.get_position()[1] <= high and text.get_text()
    ]
    assert len(labels) >= 2, labels


def test_lines_break_at_idle_time_and_stimuli_are_parted() -> None:
    at, *_ = drawn("hir", [("a", 90, 100.0), ("a", 95, 110.0), ("b", 110, 300.0)])
    (line,) = at.lines
    np.testing.assert_equal(line.get_xdata(), [0, 5, 5, 10, math.nan, 20, 25])
    at, *_ = drawn("xsr", [("a", 0, 100.0), ("b", 5, 110.0), ("b", 10, 120.0)])
    assert [line.get_xdata()[0] for line in at.lines] == [0, 5]


def test_folder_that_cannot_be_written_is_refused_first(
    wordline: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    test = ["pts", "wsat", "--device", "fair-tlc", "--scheme", "conventional", "--cell", "1s"]
    done = wordline(*test, "--out", "file/page")
    assert done.code == 2
    assert "file/page: cannot be written: Not a directory" in done.err
    assert "drive writes" not in done.err + done.out
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(PermissionError, match=str(tmp_path)):
        commands.need_folder(tmp_path / "new" / "page")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--cell", "ten"], "cell=ten"),
        (["--cell", "0s"], "cell=0s is not a duration; allowed"),
        (["--set", "capacity.logical=0GiB"], "capacity.logical"),
    ],
)
def test_wrong_input_is_refused(wordline: Callable[..., Any], words: list[str], says: str) -> None:
    done = wordline("pts", "iops", "--device", "fair-tlc", "--scheme", "conventional", *words)
    assert done.code == 2
    assert says in done.err


@pytest.mark.parametrize("test", ["wsat", "hir", "iops"])
def test_progress_goes_on_between_rounds(test: str) -> None:
    # A drive of 1 TB once left the terminal empty for 150 s.
    seen: list[tuple[str, float | None]] = []

    def see(what: str, share: float | None) -> None:
        seen.append((what, share))
        if len(seen) > 40:
            raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        pts.run(test, device="fair-tlc", cell="20ms", rounds=5, seen=see)
    stages: dict[str, list[float]] = {}
    for what, share in seen:
        stages.setdefault(what.partition(":")[0], []).append(share or 0.0)
    assert all(shares == sorted(shares) and shares[-1] < 1 for shares in stages.values())
    assert any(len(set(shares)) > 5 for shares in stages.values())
    first = {"wsat": "wsat", "hir": "preconditioning", "iops": "preconditioning"}
    assert seen[0] == (first[test], 0.0)


def test_meter_without_a_terminal_prints_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr(progress, "tell", told.put)
    with progress.Meter(["slc-cache", "sector"], every=0.01) as meter:
        meter.see("slc-cache", "wsat", 0.25)
        assert told.get(timeout=60) == "slc-cache: wsat 25 %, 0 s"
        meter.see("slc-cache", "iops, round 2", None)
        while "round 2, 0 s" not in told.get(timeout=60):
            pass
