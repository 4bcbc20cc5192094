"""A drive step by step, its forks and its tables."""

import csv

import pyarrow as pa
import pytest

import wordline as wl
from wordline.examples.slc_cache import SlcCachePy

HOW = {"device": "demo-8gb", "scheme": "slc-cache", "initial": "fill:70%,valid=80%"}


@pytest.fixture
def drive():
    return wl.Drive(**HOW)


def test_requests_complete_at_their_times(drive):
    assert [drive.write(0, 64 * wl.KiB), drive.read(0, 4 * wl.KiB), drive.flush()] == [0, 1, 2]
    done = drive.run()
    assert [(c.number, c.op, c.offset, c.bytes) for c in sorted(done)] == [
        (0, "write", 0, 65536), (1, "read", 0, 4096), (2, "flush", 0, 0),
    ]  # fmt: skip
    assert all(c.outcome == "done" and c.latency_us >= 0 for c in done)
    later = drive.now_ns + 5_000_000
    drive.trim(0, 4 * wl.KiB, at_ns=later)
    assert drive.run(until_ns=later + 1_000_000)[0].arrival_ns == later
    assert drive.now_ns == later + 1_000_000
    assert drive.look().outstanding == 0


def test_a_drive_played_comes_to_what_a_run_comes_to(drive):
    run = wl.run(**HOW, workload="bursty", requests=2000, seed=7)
    played = drive.play("bursty", requests=2000, seed=7)
    assert played.result_hash == run.result_hash
    assert played.config.initial.state.file == "a drive in memory"
    with pytest.raises(wl.UserError, match="a drive in memory"):
        wl.rerun(played)
    assert drive.now_ns == 0
    assert drive.play("bursty", requests=2000, seed=7).result_hash == run.result_hash
    kept = drive.play("bursty", requests=2000, seed=7, keep=True)
    again = drive.play("bursty", requests=2000, seed=7)
    assert kept.result_hash == run.result_hash != again.result_hash


def test_fork_continues_independently(drive):
    for i in range(40):
        drive.write(i * 128 * wl.KiB, 128 * wl.KiB)
    drive.run(most=10)
    forks = [drive.fork() for _ in range(3)]
    forks[0].write(0, wl.MiB)
    left = [sorted(d.run()) for d in (drive, *forks[1:])]
    assert left[0] == left[1] == left[2] != sorted(forks[0].run())
    assert len(left[0]) == 30


def test_what_a_scheme_of_python_has_learnt_is_forked(drive):
    own = wl.Drive(**HOW | {"scheme": SlcCachePy})
    assert (
        own.fork().play("bursty", requests=500).result_hash
        == drive.play("bursty", requests=500).result_hash
    )


def test_what_a_drive_holds_is_seen_from_outside(drive):
    drive.play("bursty", requests=3000, keep=True)
    drive.drain()
    look, blocks = drive.look(), drive.blocks()
    assert blocks["live_bytes"].sum() == look.live_bytes
    assert blocks.rows == len(blocks["state"]) == len(set(blocks["block"]))
    for region in look.to_dict()["regions"]:
        owned = (blocks["region"] == region["name"]) & (blocks["state"] != "erased")
        assert owned.sum() == region["blocks"]
    assert "full, at" in drive._repr_html_()
    assert "demo-8gb under slc-cache" in repr(drive)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: d.write(1, 512), "offset=1 is not a multiple of 512"),
        (lambda d: d.write(0, -512), "size=-512 is not a multiple of"),
        (lambda d: d.write(1 << 50, 512), "but the capacity is"),
        (lambda d: d.write(0, 0), "has length 0; a read, write or trim covers at least 512 bytes"),
        (lambda d: d.submit("wipe", 0, 512), "allowed: read, write, trim, flush"),
        (lambda d: d.read(0, 512, at_ns=-1), "is before the start time of the drive"),
        (lambda d: (d.run(until_ns=9), d.read(0, 512, at_ns=3)), "is submitted at t = 3 ns"),
        (lambda d: (d.run(until_ns=9), d.run(until_ns=3)), "until_ns=3 has passed"),
        (lambda d: d.run(most=0), "most=0"),
        (lambda d: (d.read(0, 512), d.play("bursty")), "drain the device and take"),
        (lambda d: d.blocks()["blok"], "allowed: block, plane"),
    ],
)
def test_what_is_wrong_is_told_and_the_drive_goes_on(drive, call, message):
    with pytest.raises(wl.UserError, match=message):
        call(drive)
    drive.drain()
    assert drive.write(0, 512, at_ns=drive.now_ns) >= 0
    assert drive.run()[-1].outcome == "done"


def test_requests_match_completions_file(tmp_path):
    file = tmp_path / "done.csv"
    r = wl.run(
        device="demo-8gb", scheme="slc-cache", workload="bursty", requests=500, completions=file
    )
    with file.open() as text:
        next(text)
        rows = list(csv.DictReader(text))
    table = r.requests
    assert set(table) == set(rows[0])
    for name in table:
        assert [str(v) for v in table[name]] == [row[name] for row in rows]
    parts = [n for n in table if n.endswith("_ns") and n not in ("arrival_ns", "completion_ns")]
    assert (sum(table[n] for n in parts) == table["completion_ns"] - table["arrival_ns"]).all()
    assert repr(table).startswith("<Table of 500 rows: number, lba")
    html = table._repr_html_()
    assert html.count("<tr>") == 12
    assert "…" in html


def test_arrow_takes_a_table_as_it_is(drive):
    found = pa.table(drive.blocks())
    assert found.schema.names == list(drive.blocks())
    assert found.num_rows == drive.blocks().rows
    assert found["live_bytes"].to_numpy().sum() == drive.look().live_bytes


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_table_is_a_frame_of_either_library(drive, library):
    pytest.importorskip(library)
    frame = drive.blocks().to_frame(library)
    assert list(frame.columns) == list(drive.blocks())
    assert frame["live_bytes"].sum() == drive.look().live_bytes


def test_requests_need_the_class():
    own = {"device": "demo-8gb", "workload": "bursty", "requests": 100}
    ended = [wl.run(scheme=s, **own).requests["completion_ns"] for s in ("slc-cache", SlcCachePy)]
    assert (ended[0] == ended[1]).all()


@pytest.mark.parametrize("workload", ["twin:hm_0", "uniform:read=30%", "bursty"])
def test_fed_workload_equals_run(workload):
    used = wl.Drive(device="fair-tlc", scheme="slc-cache", initial="fill:50%").fork()
    how = {"requests": 600, "fit": "wrap"}
    whole = used.play(workload, **how)
    feed, ended = used.feed(workload, **how), []
    while not feed.is_over:
        ended += feed.step(50)
        used.fork().drain()
    ended += used.run()
    assert len(ended) == 600
    for op in ("read", "write"):
        times = [c.latency_us for c in ended if c.op == op]
        if times:
            assert sum(times) / len(times) == pytest.approx(whole.latency_us[op].mean, rel=1e-9)


def test_trace_is_fed_from_drive_time(trace):
    drive = wl.Drive(device="fair-tlc", scheme="slc-cache")
    drive.write(0, 4096)
    drive.run(until_ns=5_000_000)
    feed = drive.feed(trace)
    first = feed.step(until_ns=5_000_000 + 100_000_000)
    assert drive.now_ns == 105_000_000
    assert not feed.is_over
    # The requests of the trace are 10 ms apart, and the last that has come is under way.
    assert (len(first), drive.look().outstanding) == (10, 1)
    assert first[0].arrival_ns == 5_000_000
    rest = [*feed.step(), *drive.run()]
    assert feed.is_over
    assert len(first) + len(rest) == 200
    assert feed.step(5) == []
    with pytest.raises(wl.UserError, match="count=0 is not at least 1"):
        feed.step(0)
    with pytest.raises(wl.UserError, match="has passed"):
        feed.step(until_ns=1)
