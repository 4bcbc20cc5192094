"""The probe: the jobs that it runs on a drive, and what is read from their results."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import wordline as wl
from wordline.real import (
    closed_network,
    fit,
    jobs,
    measurements,
    probe,
    probe_page,
    probed,
    rests,
)
from wordline.real.collection_unit import Zones, collection_unit, copies
from wordline.real.map_cache import Lookup, map_cache
from wordline.real.write_buffer import write_buffer


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"fio version": "fio-2.16"}, "of fio-2.16, whose units differ"),
        ({"jobs": []}, "a job without bw, clat_ns, io_bytes, iops, total_ios of reads"),
        ({"jobs": [{"error": 5}]}, "ended with error 5"),
        ({"jobs": [{"read": {"bw": 1.0}}]}, "without clat_ns, io_bytes, iops, total_ios of reads"),
    ],
)
def test_output_of_fio_without_results_is_refused(
    change: dict[str, Any], says: str, tmp_path: Path
) -> None:
    way = {"io_bytes": 1, "bw": 1.0, "iops": 1.0, "total_ios": 1, "clat_ns": {"mean": 0.0}}
    whole = {"fio version": "fio-3.38", "jobs": [{"read": way, "write": way}]}
    (file := tmp_path / "x.json").write_text(f"fio: a note\n{json.dumps(whole)}")
    assert measurements.fio_json(file) == whole
    file.write_text("fill: (groupid=0, jobs=1): err= 0")
    with pytest.raises(wl.UserError, match=r"allowed: JSON alone"):
        measurements.fio_json(file)
    file.write_text(json.dumps(whole | change))
    with pytest.raises(wl.UserError, match=r"allowed: .*run its job again") as told:
        measurements.fio_json(file)
    assert says in str(told.value)


def wrote(gb: float) -> str:
    """Return fio's JSON for a job that wrote this much."""
    read = {"io_bytes": 0, "bw": 0.0, "iops": 0.0, "total_ios": 0, "clat_ns": {}}
    ways = {"read": read, "write": read | {"io_bytes": round(gb * 1e9)}}
    return json.dumps({"fio version": "fio-3.33", "jobs": [ways]})


@pytest.mark.parametrize(
    ("name", "logged", "gb", "says"),
    [
        ("01-fill", 40, 80.0, "its lines come to 40.96 GB, but fio wrote 80 GB"),
        ("01-fill", 40, 40.96, "its job wrote 40.96 GB of 80 GB"),
        ("09-uniform", 80, 81.92, "its job wrote 81.92 GB of 240 GB"),
    ],
)
def test_a_curve_of_half_a_job_is_refused(
    name: str, logged: int, gb: float, says: str, tmp_path: Path
) -> None:
    probed.write_about(tmp_path, 80 * 10**9, {"nand": "TLC", "interface": "off"})
    log = "".join(f"{1000 * t}, 1000000, 1, 0, 0\n" for t in range(1, logged + 1))
    # The log of a rest, which no curve needs, is left out.
    for job in (name, "06-rest-3"):
        (tmp_path / f"{job}_bw.1.log").write_text(log)
        (tmp_path / f"{job}.json").write_text(wrote(gb))
    with pytest.raises(wl.UserError, match="allowed: a whole ") as told:
        probed.Probed(tmp_path).log(name)
    assert says in str(told.value)
    rest = probed.Probed(tmp_path).log("06-rest-3")
    assert (rest is None) == ("lines come to" in says)


def test_files_of_fio_alone_name_what_they_lack(tmp_path: Path) -> None:
    (file := tmp_path / "01-fill.json").write_text("{}")
    for given, says in ((file, "one file of fio"), (tmp_path, "no measurements")):
        with pytest.raises(wl.UserError, match=r"allowed: .*probe.json") as told:
            fit.load(given)
        assert says in str(told.value)


def test_a_line_that_is_none_of_a_log_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "fill_bw.1.log"
    log.write_text("1000, 2000, 1, 4096, 0\n2000, 2000, one, 4096\n")
    with pytest.raises(wl.UserError, match=r"fill_bw.1.log:2: "):
        measurements.fio_log(log)
    log.write_text("1000, 1000000, 1, 0\n2000, 5, 0, 0\n3000, 500000, 1, 0\n")
    gb, seconds = measurements.fio_log(log)
    assert gb == pytest.approx([0, 1.024, 2.048])
    assert seconds == pytest.approx([0, 1, 3])
    # As fio 3.33 logs a rest of 6 s: no line, and the first behind it is of its second alone.
    log.write_text("".join(f"{t}, 1000000, 1, 0, 0\n" for t in (1000, 2000, 8000, 9000)))
    gb, seconds = measurements.fio_log(log)
    assert gb == pytest.approx([0, 1.024, 2.048, 2.048, 3.072, 4.096])
    assert seconds == pytest.approx([0, 1, 2, 7, 8, 9])


def test_probe_of_a_simulated_drive_writes_what_fit_reads(tmp_path: Path) -> None:
    small = {"medium.flash.wordlines_per_block": 8, "capacity.logical": "256MiB"}
    probe.simulate(tmp_path, "demo-8gb", set=small)
    values = {key: value.value for key, value in fit.load(tmp_path).values.items()}
    assert values["cache_mbps"] > 2 * values["after_mbps"]
    # 32 MiB, which migration empties meanwhile.
    assert 0.02 < values["cache_gb"] < 0.1
    assert 74 < values["read_us"] < 78
    found = measurements.fio_json(tmp_path / "01-fill.json")["jobs"][0]["write"]
    assert found["io_bytes"] == 256 * wl.MiB
    # Every job has a figure, but for the burst, which the buffer of a drive so small takes whole.
    readings = list(probe_page.readings(probed.Probed(tmp_path)))
    assert {r.job for r in readings} == {j.name for j in jobs.JOBS} - {"14-buffer"}
    assert values["units"] == pytest.approx(8, rel=0.1)
    by_what = {(r.job, r.what): r.value for r in readings}
    waf = [by_what[f"12-zones-{z}", f"WAF of writes of 1/{z} of the drive"] for z in jobs.ZONES]
    assert waf == sorted(waf, reverse=True)
    assert probe_page.terminal(tmp_path).split("not known:")[1].count("\n  ") == 1
    assert "reads at QD256" in probe_page.page(tmp_path).read_text()


def test_the_fit_that_a_probe_prints_runs(wordline: Any, tmp_path: Path) -> None:
    small = ["--set", "medium.flash.wordlines_per_block=16", "--set", "capacity.logical=512MiB"]
    probed_ = wordline("device", "probe", "--device", "demo-8gb", *small, "--jobs", "jobs")
    assert probed_.code == 0, probed_.err
    command = probed_.out.splitlines()[-1].split()
    assert command == ["wordline", "device", "fit", "jobs", "-o", "mine.toml"]
    fitted = wordline(*command[1:], "--out", "page")
    assert fitted.code == 0, fitted.err
    for figure in ("SLC cache", "in the cache", "past the cache", "sequential read"):
        assert figure in fitted.out
        assert figure in (tmp_path / "page" / "index.html").read_text()
    shown = wordline("device", "show", "mine.toml")
    assert shown.code == 0, shown.err


def test_writes_without_a_knee_are_named(tmp_path: Path) -> None:
    rates = [(1, 10.0), *((n, 4.9) for n in range(2, 620))]
    lines = [f"{1000 * n}, {1e3 * rate:.0f}, 1, 4096, 0\n" for n, rate in rates]
    told = {"model": "D", "nand": "TLC", "interface": "PCIe3", "capacity_bytes": 10**9}
    (tmp_path / "probe.json").write_text(json.dumps(told))
    fill = [f"{n}, 200000, 1, 131072, 0\n" for n in range(9, 5000, 9)]
    (tmp_path / "01-fill_bw.1.log").write_text("".join(fill))
    (tmp_path / "09-uniform_bw.1.log").write_text("".join(lines))
    for job, gb in (("01-fill", 1.02), ("09-uniform", 3.1)):
        (tmp_path / f"{job}.json").write_text(wrote(gb))
    drive = fit.load(tmp_path)
    assert "cache_gb" not in drive.values
    with pytest.raises(
        wl.UserError, match=r"09-uniform shows no knee: .*\n  allowed: writes with a"
    ):
        fit.fit(drive, "d", tell=lambda _: None)
    assert "shows no knee" in probe._unfit(tmp_path)
    # So little flash beyond the data that large units leave GC no block.
    unit, why = collection_unit([Zones(512, 0.8), Zones(128, 0.4)], 1.01)
    assert unit is None
    assert why


def test_a_probe_names_the_nearest_measured_drive(tmp_path: Path) -> None:
    probe.write(tmp_path, 10**12, {"nand": "QLC", "interface": "PCIe3"})
    (tmp_path / "01-fill.json").write_text(wrote(996))
    # 140 GB at 1,600 MB/s and the rest at 150 MB/s, as a Crucial P1; and a hundred times as fast.
    for factor, named in ((1, "Crucial P1"), (100, None)):
        rates = [1600 * factor] * 88 + [150 * factor] * 5700
        steps = ((i + 1) * 1000 / factor for i in range(len(rates)))
        lines = [f"{t}, {r * 1e6 / 1024:.0f}, 1, 0, 0\n" for t, r in zip(steps, rates, strict=True)]
        (tmp_path / "01-fill_bw.1.log").write_text("".join(lines))
        near = probe_page.nearest(probed.Probed(tmp_path))
        assert (near and near[0]) == named


def test_zones_that_do_not_show_the_unit_say_why() -> None:
    def why(*copies: float) -> str:
        zones = [Zones(n, c) for n, c in zip(jobs.ZONES, copies, strict=False)]
        unit, text = collection_unit(zones, 1.3)
        assert unit is None
        return text

    assert "victims are not those with the fewest valid pages" in why(1.0, 1.01, 0.99, 0.98)
    assert "the unit is smaller" in why(0.05, 0.02, 0.01, 0.0)
    assert "zones of one size" in why(0.5)
    # Copies fall with the size of zones, not the other way round.
    assert "no unit explains" in why(0.2, 0.4, 0.8, 1.0)


def test_unit_is_found_where_gc_frees_nothing_of_small_ones() -> None:
    # Copies of units of 84 of 32,768 pages, simulated once.
    shares = zip(jobs.ZONES, (0.965, 0.832, 0.534, 0.213), strict=True)
    unit, why = collection_unit([Zones(*each) for each in shares], 1.34)
    assert unit is not None, why
    assert unit.value == pytest.approx(84 / 32_768, rel=0.02)


def test_copies_of_zones_follow_from_rates() -> None:
    # Writes in order at 1,000 MB/s; random ones with a WAF of 2 take twice as long.
    rates = [1000, 500, 500, 1000, 1 / 0.0015]
    for wafs in ([None] * 5, [1.0, 2.0, 2.0, 1.0, None], [1.0, 2.0, 2.0, 1.0, 1.5]):
        zones, is_counted = copies((512, 8192, 2048), wafs, rates)
        assert is_counted == (None not in wafs)
        assert [z.number for z in zones] == [512, 8192, 2048]
        assert [z.copies for z in zones] == pytest.approx([1, 0, 0.5])


def test_zones_divide_a_drive_into_requests() -> None:
    for capacity in (256 << 20, 800_166_076_416, 4 << 40):
        for number in jobs.ZONES:
            block, blocks = jobs.zone(capacity, number)
            assert block % 4096 == 0
            assert block * blocks == pytest.approx(capacity / number, rel=0.03)


@pytest.mark.parametrize(("noise", "near"), [(0.0, 0.05), (0.01, 0.15)])
@pytest.mark.parametrize("share", [0.02, 0.08, 0.22, 0.35])
def test_spans_show_an_l2p_cache(share: float, noise: float, near: float) -> None:
    draw = np.random.default_rng(7)
    spans = []
    for span in (0.01, 0.03, 0.1, 0.3, 0.45, 0.6):
        missed = draw.binomial(20_000, max(0.0, 1 - share / span)) / 20_000
        spans.append(Lookup(span, (65 + 74 * missed) * draw.normal(1, noise), 20_000))
    found = map_cache(spans)
    assert found is not None
    assert found.share.value == pytest.approx(share, rel=near)
    assert found.share.low <= share <= found.share.high
    assert (found.hit_us, found.miss_us) == pytest.approx((65, 74), rel=near)


def test_spans_without_a_law_show_no_l2p_cache() -> None:
    shares = (0.01, 0.03, 0.1, 0.3, 0.45, 0.6)
    assert map_cache([Lookup(s, 65.0, 20_000) for s in shares]) is None
    # Misses over the whole drive alone do not tell their cost from their number.
    late = [Lookup(s, 65.0 + (30 if s == 0.6 else 0), 20_000) for s in shares]
    assert map_cache(late) is None
    # Data in an SLC cache, which are read faster, lie in every span.
    held = [Lookup(s, 65 - 0.12 / s + 74 * max(0.0, 1 - 0.3 / s), 20_000) for s in shares]
    found = map_cache(held)
    assert found is not None
    assert found.share.value == pytest.approx(0.3, rel=0.02)
    uneven = zip(shares, (50, 37, 48, 68, 104, 90), strict=True)
    assert map_cache([Lookup(s, float(us), 20_000) for s, us in uneven]) is None


def test_busy_units_show_how_many_there_are() -> None:
    assert closed_network.busy(1, 64) == pytest.approx(1, rel=1e-3)
    assert closed_network.busy(48, 1) == pytest.approx(1, rel=1e-3)
    # Constant times keep more units busy than exponential ones, and fewer than there are.
    for units in (6, 24, 40, 96):
        working = closed_network.busy(units, 256)
        assert units * 256 / (units + 255) < working < units
        assert closed_network.units_of(working, 256) == pytest.approx(units, rel=0.02)


@pytest.mark.parametrize("buffer_mb", [8.0, 50.0, 300.0])
def test_a_burst_shows_a_write_buffer(buffer_mb: float) -> None:
    link, flash = 3000.0, 1000.0
    seconds = np.arange(0, 2.0, 1e-3)
    mb = np.minimum(link * seconds, buffer_mb + flash * seconds)
    found = write_buffer(mb / 1e3, seconds)
    if buffer_mb < 9:
        assert found is None  # three lines of the log hold more
    else:
        assert found is not None
        assert found.value / 1e6 == pytest.approx(buffer_mb, rel=0.01)
    assert write_buffer(flash * seconds / 1e3, seconds) is None


@pytest.mark.parametrize(
    ("delay", "rate", "at_once", "capacity"),
    [(2.0, 300.0, 0.0, 12.0), (5.0, 100.0, 1.5, 40.0), (0.5, 700.0, 0.0, 30.0)],
)
def test_rests_show_delay_and_rate(
    delay: float, rate: float, at_once: float, capacity: float
) -> None:
    def back(t: float) -> rests.Back:
        gb = at_once + min(capacity, rate / 1e3 * max(0.0, t - delay))
        return rests.Back(t, gb, 0.01)

    found = rests.recovery([back(t) for t in jobs.RESTS])
    assert found is not None
    for value, hidden in zip(found, (delay, rate), strict=True):
        assert value.value == pytest.approx(hidden, rel=0.02)
        assert value.low <= value.value <= value.high
    # Two rests, or a cache that is back at once, do not tell.
    assert rests.recovery([back(t) for t in (1, 600)]) is None
    assert rests.recovery([rests.Back(t, 12.0, 0.01) for t in jobs.RESTS]) is None
    # Of what the host stopped writing too early it is known that it was at least so much.
    early = [replace(back(t), at_least=True) for t in jobs.RESTS]
    assert rests.recovery(early) is None


def test_rests_without_recovery_may_differ() -> None:
    # Of a drive with a delay of 5.41 s and 15.1 MB/s.
    sizes = {1: 45.7, 3: 54.8, 10: 117.4, 30: 430.5, 100: 541.0, 600: 541.0}
    found = rests.recovery([rests.Back(t, mb / 1e3, 0.0022) for t, mb in sizes.items()])
    assert found is not None
    delay, rate = found
    assert (delay.value, rate.value) == pytest.approx((5.41, 15.1), rel=0.06)


def test_a_rate_that_rises_once_more_is_in_the_cache() -> None:
    rates = [1900] * 20 + [1200, 960, 1200, 1400] + [1800] * 8 + [700, 300] + [80] * 30
    gb = np.concatenate([[0.0, 0.1], 0.1 + np.cumsum(rates) / 1e6])
    seconds = np.concatenate([[0.0, 3.0], 3.0 + np.arange(1, len(rates) + 1) / 1e3])
    drive: Any = SimpleNamespace(
        plateaus=[SimpleNamespace(mb_per_s=2000.0), SimpleNamespace(mb_per_s=575.0)],
        log=lambda _: (gb, seconds),
        capacity=10**9,
    )
    back = probed.Probed.behind(drive, "06-rest-3", 0.1 - jobs.DEPTH * jobs.BLOCK / 1e9)
    assert back is not None
    took, _, is_bound = back
    # All that was written before the last fall, to a line of the log.
    assert took == pytest.approx(sum(rates[:33]) / 1e6, abs=0.002)
    assert not is_bound


def test_half_full_drive_shows_its_static_cache() -> None:
    static, dynamic, capacity = 12.0, 140.0, 1000.0

    def size(fill: float) -> float:
        return (static + dynamic * (1 - fill)) / (1 + dynamic / capacity)

    found = rests.static_part(size(0.0), size(0.5), capacity, 0.5)
    assert found == pytest.approx(static, rel=1e-6)
    assert rests.static_part(20.0, 20.0, capacity, 0.5) == 20.0
    assert rests.static_part(100.0, 10.0, capacity, 0.5) is None, "free flash gives less"


#: A program in place of fio: it reads its job file and writes what fio would.
FIO = """#!/bin/sh
[ "$1" = --version ] && { echo fio-stub; exit; }
grep -q '^rw=' "$1" || { echo "$1: no job" >&2; exit 1; }
[ -f slow ] && { touch begun; sleep 60; }
[ -f broken ] && { echo "device is gone" >&2; exit 5; }
for word; do
    case $word in --output=*) out=${word#*=};; --write_bw_log=*) log=${word#*=};; esac
done
io='{"io_bytes": 4096, "bw": 1000, "iops": 250, "total_ios": 1, "clat_ns": {"mean": 80000}}'
echo "{\\"jobs\\": [{\\"jobname\\": \\"x\\", \\"read\\": $io, \\"write\\": $io}]}" > "$out"
[ -z "$log" ] || printf '1000, 100, 1, 0, 0\\n2000, 100, 1, 0, 0\\n' > "${log}_bw.1.log"
"""


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file that stands for a drive, with a program in place of fio."""
    (tmp_path / "bin").mkdir()
    fio = tmp_path / "bin" / "fio"
    fio.write_text(FIO)
    fio.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fio.parent}{os.pathsep}{os.environ['PATH']}")
    disk = tmp_path / "disk"
    disk.write_bytes(b"x" * (32 << 20))
    return disk


def test_drive_is_overwritten_only_after_typing_its_name(tmp_path: Path, disk: Path) -> None:
    asked = []

    def ask(text: str) -> str:
        asked.append(text)
        return "yes"

    with pytest.raises(wl.UserError, match="not confirmed; nothing was written"):
        probe.measure(tmp_path / "jobs", str(disk), ask=ask)
    assert str(disk) in asked[0]
    assert "will be lost" in asked[0]
    assert disk.read_bytes()[:1] == b"x"
    reads = [job for job in jobs.JOBS if job.reads_only]
    probe.measure(tmp_path / "reads", str(disk), jobs=reads, ask=ask, tell=lambda _: None)
    assert len(asked) == 1
    assert disk.read_bytes()[:1] == b"x"


def test_a_probe_goes_on_where_it_stopped(tmp_path: Path, disk: Path) -> None:
    folder, told = tmp_path / "jobs", []

    def measure(budget: int | None = None) -> None:
        told.clear()
        probe.measure(folder, str(disk), budget=budget, ask=lambda _: str(disk), tell=told.append)

    folder.mkdir()
    (folder / "broken").touch()
    with pytest.raises(wl.UserError, match=r"01-fill\.fio: fio ended with 5: device is gone"):
        measure()
    (folder / "broken").unlink()
    # The fill that failed counts, and three fills' worth of random writes are over the budget.
    measure(budget=100 << 20)
    assert any(t.startswith("09-uniform: left out: 0.1007 GB, and ") for t in told)
    assert (folder / "03-latency.json").is_file()
    assert not (folder / "09-uniform.json").exists()
    assert disk.stat().st_size == 32 << 20
    assert disk.read_bytes()[:1] == b"\0"
    measure()
    assert told[0] == "01-fill: has results"
    assert (folder / "09-uniform.json").is_file()
    about = json.loads((folder / "probe.json").read_text())
    assert about["fio"] == "fio-stub"
    assert set(about["jobs"]) == {job.name for job in jobs.JOBS}
    # What was measured is kept where a reader has said what the drive is.
    about |= {"nand": "TLC", "interface": "PCIe4"}
    (folder / "probe.json").write_text(json.dumps(about))
    assert probed.lacks(folder) == []
    measure()
    assert json.loads((folder / "probe.json").read_text()) == about
    (tmp_path / "other").write_bytes(b"x" * (64 << 20))
    with pytest.raises(wl.UserError, match="belongs to another drive"):
        probe.measure(folder, str(tmp_path / "other"), ask=lambda _: "", tell=lambda _: None)


def test_a_stopped_probe_says_what_is_kept(tmp_path: Path, disk: Path) -> None:
    (folder := tmp_path / "jobs").mkdir()
    (folder / "slow").touch()
    words = ["device", "probe", "--jobs", "jobs", "--run", str(disk), "--read-only"]
    with subprocess.Popen(
        [sys.executable, "-m", "wordline", *words],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        while not (folder / "begun").exists():
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGTERM)
        told = process.communicate()[1]
    assert process.returncode == 143, told
    assert "stopped: finished jobs are kept in jobs; the same command resumes" in told


def test_what_is_no_drive_is_not_probed(tmp_path: Path, disk: Path) -> None:
    for path, said in (
        ("/dev/null", "neither a block device nor a regular file"),
        (str(tmp_path / "none"), "No such file or directory"),
        (str(disk.parent / "bin" / "fio"), "at least 16 MiB"),
    ):
        with pytest.raises(wl.UserError, match=said):
            probe.measure(tmp_path / "jobs", path)


def test_jobs_in_which_a_drive_throttled_itself_are_left_out(tmp_path: Path, disk: Path) -> None:
    probe.measure(tmp_path, str(disk), ask=lambda _: str(disk), tell=lambda _: None)
    about = json.loads((tmp_path / "probe.json").read_text())
    before, after = {"thm_temp1_trans_count": 3}, {"thm_temp1_trans_count": 4}
    about["jobs"]["03-latency"] = {"before": before, "after": after, "throttled": False}
    (tmp_path / "probe.json").write_text(json.dumps(about))
    assert "03-latency: the drive throttled itself" in probe_page.terminal(tmp_path)
    assert "03-latency" not in {r.job for r in probe_page.readings(probed.Probed(tmp_path))}


def test_probe_writes_jobs_that_say_what_they_cost(wordline: Any, tmp_path: Path) -> None:
    done = wordline("device", "probe", "--jobs", str(tmp_path), "--capacity", "1TB")
    assert done.code == 0, done.err
    assert "all jobs write 11,221 GB" in done.out
    text = (tmp_path / "01-fill.fio").read_text()
    assert "# Writes 1,000 GB (1 drive writes)" in text
    assert "All data are lost" in text
    assert "write_bw_log=01-fill" in text
    assert json.loads((tmp_path / "probe.json").read_text())["capacity_bytes"] == 10**12
    again = wordline("device", "probe", "--jobs", str(tmp_path), "--capacity", "1TB")
    assert again.code == 2
    assert "file exists; --force overwrites it" in again.err
    with pytest.raises(wl.UserError, match="nand"):
        fit.load(tmp_path)
    reads = wordline(
        "device", "probe", "--jobs", str(tmp_path / "r"), "--capacity", "1TB", "--read-only"
    )
    assert "all jobs write 0 GB" in reads.out
    assert not (tmp_path / "r" / "01-fill.fio").exists()
