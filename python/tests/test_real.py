"""Real drives: what is read from measurements, what a fit recovers, and which drive is picked."""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recovery
import wordline as wl
from wordline import commands, toml
from wordline.quantity import gigabytes, in_bytes, in_us, significant
from wordline.real import (
    closed_network,
    controller_time,
    fit,
    jobs,
    measurements,
    pick,
    probe,
    probe_page,
    probed,
    rests,
    result,
    sheet,
    steady_fit,
    steady_rows,
)
from wordline.real.bench import Bench
from wordline.real.collection_unit import Zones, collection_unit, copies
from wordline.real.curve import plateaus
from wordline.real.map_cache import Lookup, map_cache
from wordline.real.write_buffer import write_buffer
from wordline.runs import Stopped

HEAD = "model,capacity_GB,nand,interface,slc_cache_GB,speed_in_cache_MBps,speed_after_cache_MBps"


def table(text: str) -> dict[str, measurements.Drive]:
    return steady_rows.drives([measurements.Table("cliffs.csv", text)])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("140", 140),
        ("12 static + dynamic, up to about 140 (series: 76-280 dynamic)", 140),
        ("78 (6 static + 72 dynamic)", 78),
        ("460 (54 GB at about 5000, then 3500)", 460),
        ("large", None),
    ],
)
def test_the_size_of_a_cache_is_read_from_its_cell(text: str, value: float | None) -> None:
    assert measurements.size_in(text) == value


def test_a_measured_rate_goes_before_a_specified_one() -> None:
    for text, rate in {
        "530 spec, 487 measured": 487,
        "5000 then 3500": 5000,
        "1800 (spec)": 1800,
    }.items():
        assert measurements.rate_in(text) == rate


def test_words_around_figures_are_understood() -> None:
    row = 'Drive,1000,QLC 64L,NVMe PCIe3,"78 (6 static + 72 dynamic)","530 spec, 487 measured",160'
    more = ",second_stage\n" + row + ",100 after 600 GB\n"
    found = table(HEAD + more)["Drive"]
    figures = {key: value.value for key, value in found.values.items()}
    assert figures == {
        "cache_gb": 78,
        "static_gb": 6,
        "cache_mbps": 487,
        "after_mbps": 160,
        "second_mbps": 100,
        "second_gb": 600,
    }
    assert found.cell == "qlc"
    assert found.values["cache_mbps"].source == "cliffs.csv line 2, speed_in_cache_MBps"


@pytest.mark.parametrize(
    "text",
    [
        f"\ufeff{HEAD}\nD,1000,TLC,SATA,42,500,100\n",
        f"{HEAD}\nD,1000,TLC,SATA,42,500,100\n".replace(",", ";"),
        f'{HEAD}\nD,"1,000",TLC,SATA,42 GB,0.5 GB/s,100 MB/s\n',
        f"{HEAD}\nD,1 TB,TLC,SATA,42000 MB,500,.1GB/s\n",
    ],
)
def test_tables_of_spreadsheets_and_units_in_cells_are_read(text: str) -> None:
    found = table(text)["D"]
    read = {key: value.value for key, value in found.values.items()}
    assert read == pytest.approx({"cache_gb": 42, "cache_mbps": 500, "after_mbps": 100})
    assert found.capacity == 10**12


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('D,1000,TLC,SATA,42,"3,3",100', "cliffs.csv:2: column speed_in_cache_MBps: '3,3'"),
        ("D,1000,TLC,SATA,fast,500,100", "cliffs.csv:2: column slc_cache_GB: 'fast'"),
        ("D,1000,TLC,SATA,10,0,100", "cliffs.csv:2: column speed_in_cache_MBps: '0'"),
        ("D,,TLC,SATA,10,500,100", "cliffs.csv:2: column capacity_GB: ''"),
        ("D,1000,MLC,SATA,10,500,100", "cliffs.csv:2: column nand: 'MLC'"),
        (",1000,TLC,SATA,10,500,100", "cliffs.csv:2: column model: ''"),
    ],
)
def test_a_wrong_cell_is_refused_with_row_and_column(row: str, says: str) -> None:
    with pytest.raises(wl.UserError, match="allowed: ") as told:
        table(f"{HEAD}\n{row}\n")
    assert str(told.value).startswith(says)


RANDOM = "random_read_kIOPS,random_write_kIOPS,random_queue_depth,random_read_qd1_kIOPS"


@pytest.mark.parametrize("column", range(4))
def test_wrong_random_iops_are_refused(column: int) -> None:
    cells = ["98", "90", "32", "10"]
    for wrong in ("fast", "0"):
        given = ",".join([*cells[:column], wrong, *cells[column + 1 :]])
        with pytest.raises(wl.UserError, match=f"{wrong!r} cannot be used\n  allowed: a number ab"):
            table(f"{HEAD},{RANDOM}\nD,1000,TLC,SATA,10,500,100,{given}\n")


def test_depth_of_random_iops_follows_from_the_link() -> None:
    rows = "A,1000,TLC,SATA,10,500,100,98,,,\nB,1000,TLC,PCIe4,10,500,100,98,90,,\n"
    rows += "C,1000,TLC,SATA,10,500,100,,90,8,10\n"
    found = {
        name: controller_time.rated(d) for name, d in table(f"{HEAD},{RANDOM}\n{rows}").items()
    }
    shown = {name: [(r.way, r.depth, r.kiops.value) for r in all_] for name, all_ in found.items()}
    assert shown == {
        "A": [("read", 32, 98)],
        "B": [("read", 256, 98), ("write", 256, 90)],
        "C": [("write", 8, 90)],
    }
    # 10.2 us at 98,000 per second, of which 4 KiB pass 500 MB/s in 8.2 us.
    us = found["A"][0].us(500)
    assert (us.value, us.low, us.high) == pytest.approx((2.012, 1.960, 2.064), abs=1e-3)
    # A link that lets no more pass leaves the controller nothing.
    assert found["A"][0].us(400).value == 0


@pytest.mark.usefixtures("small")
def test_rated_random_iops_are_fitted(tmp_path: Path) -> None:
    row = "D,1000,TLC,PCIe4,200,3000,300,400,900,,20,https://a.example https://b.example"
    drive = table(f"{HEAD},{RANDOM},random_source\n{row}\n")["D"]
    found = fit.fit(drive, "d", tell=lambda _: None)
    errors = {r.what: r.error for r in found.rows}
    assert abs(errors["random reads at QD256"]) < 0.01
    assert abs(errors["random reads at QD1, drive full"]) < 0.01
    # 3,000 MB/s are 732,000 writes per second, whatever the controller takes.
    assert -0.2 < errors["random writes at QD256"] < -0.15
    (why,) = (line for line in found.unknown if "per write" in line)
    assert "kIOPS, below the rated 900" in why
    assert found.sheet.values["host.write_overhead"][1].endswith("; not identifiable, at most")
    assert not any("per read" in line or "read times" in line for line in found.unknown)
    text = found.sheet.toml()
    assert "maker's statement of at most, and single reads: https://a.example https://b" in text
    spelled, why = found.sheet.values["host.read_overhead"]
    assert (spelled, why[:39]) == ("1915ns", "Rated, 400 kIOPS at QD256: 1.915 (1.884")
    assert "# Rated, reads of 4 KiB take 50 (" in text
    assert "random reads at QD256" in found.write(tmp_path, "wordline device fit").read_text()


def test_a_drive_with_sata_has_the_usual_times() -> None:
    def times(interface: str, *, reads: bool = False) -> list[str]:
        drive = table(f"{HEAD}\nD,1000,TLC,{interface},10,500,100\n")["D"]
        if reads:
            drive.values["read_mbps"] = measurements.Value.around(540, 5, "02-read.json")
        text = sheet.base(sheet.shape("tlc", 560, 1e12, 8, 1), "tlc", 10**12, ("d", "d"), [])
        controller_time.put(text, drive, 560)
        return [str(text.get(f"host.{way}_overhead")) for way in controller_time.WAYS]

    assert times("SATA") == ["2us", "3us"]
    assert times("SATA", reads=True) == times("PCIe4") == ["500ns", "500ns"]


def test_a_fill_counts_the_controller_once_per_large_request() -> None:
    # Requests of 16 KiB stand for an eighth of one of 128 KiB each.
    text = toml.builtin("devices/samsung-840-evo-1tb.toml") or ""
    bench = Bench.of(text, 1e9, 1)
    us = toml.parse(text)["host"]["write_overhead"]
    assert in_us(str(bench.in_parts.set["host.write_overhead"])) == pytest.approx(
        in_us(us) / 8, abs=1e-3
    )


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(len(recovery.RATED)))
def test_hidden_times_of_a_controller_come_back(seed: int) -> None:
    for key, (hidden, found) in recovery.recovered_controller(seed).items():
        assert found == pytest.approx(hidden, rel=0.05), key


def test_what_cannot_be_fitted_is_refused(tmp_path: Path) -> None:
    def refused(row: str) -> str:
        with pytest.raises(wl.UserError) as told:
            fit.fit(next(iter(table(f"{HEAD}\n{row}\n").values())), "x")
        return str(told.value)

    assert "past the cache is not among" in refused("D,1000,TLC,SATA,10,500,")
    assert "not below the capacity of 1000 GB" in refused("D,1000,TLC,SATA,1000,500,100")
    assert "allowed: a text with pcie5" in refused("D,1000,TLC,USB,10,500,100")
    assert "too few measurements for a fit" in refused("D,1000,TLC,SATA,,500,100")
    assert "does not fit into its flash\n  allowed: at most 367 GB" in refused(
        "D,1000,TLC,SATA,600,500,100"
    )
    assert "are the columns swapped?" in refused("D,1000,TLC,SATA,42,100,500")
    with pytest.raises(wl.UserError, match="no such file or folder"):
        fit.load(tmp_path / "none")
    with pytest.raises(wl.UserError, match="no measurements"):
        fit.load(tmp_path)
    (tmp_path / "a.csv").write_text(f"{HEAD}\nA,1,TLC,SATA,1,1,1\nB,1,TLC,SATA,1,1,1\n")
    with pytest.raises(wl.UserError, match='allowed: "A", "B"'):
        fit.load(tmp_path)
    assert fit.load(tmp_path, "b").name == "B"
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(wl.UserError, match="its columns are x, y"):
        fit.load(tmp_path)


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
    file.write_text(json.dumps(whole | change))
    with pytest.raises(wl.UserError, match=r"allowed: .*run its job again") as told:
        measurements.fio_json(file)
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


@pytest.mark.parametrize("cache", [6, 12, 150, 400])
def test_plateaus_are_found_at_any_size_of_the_cache(cache: float) -> None:
    edges, rates = [0, cache, 700, 1000], [2000, 500, 250]
    gb, seconds = [0.0], [0.0]
    noise = np.random.default_rng(1)
    for a, b, rate in zip(edges[:-1], edges[1:], rates, strict=True):
        for step in np.diff(np.linspace(a, b, 600)):
            gb.append(gb[-1] + step)
            seconds.append(seconds[-1] + step * 1e3 / rate * noise.uniform(0.9, 1.1))
    found = plateaus(gb, seconds)
    assert [p.mb_per_s for p in found] == pytest.approx(rates, rel=0.02)
    assert [p.end_gb for p in found] == pytest.approx(edges[1:], rel=0.02)


def test_a_fill_without_a_cache_has_one_plateau() -> None:
    gb = np.linspace(0, 100, 500)
    assert [p.mb_per_s for p in plateaus(gb, gb / 0.4)] == pytest.approx([400])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a smaller part of a drive than a user does, for the time of a test."""
    monkeypatch.setattr(fit, "SIZE", 4e9)
    monkeypatch.setattr(fit, "CACHE", 0.8e9)


@pytest.mark.usefixtures("small")
def test_a_logged_fill_is_fitted_within_five_per_cent(tmp_path: Path) -> None:
    probe.write(tmp_path, 10**12)
    about = {"capacity_bytes": 10**12, "model": "Mine", "nand": "TLC", "interface": "PCIe4"}
    (tmp_path / "probe.json").write_text(json.dumps(about))
    # 200 GB at 3,000 MB/s and the rest at 300 MB/s, a line each second.
    rates = [3000.0] * 67 + [300.0] * 2663
    lines = [f"{(i + 1) * 1000}, {r * 1e6 / 1024:.0f}, 1, 0, 0" for i, r in enumerate(rates)]
    (tmp_path / "01-fill_bw.1.log").write_text("\n".join(lines) + "\n")
    drive = fit.load(tmp_path)
    read = {key: value.value for key, value in drive.values.items()}
    assert read == pytest.approx({"cache_gb": 201, "cache_mbps": 3000, "after_mbps": 300}, rel=0.01)
    found = fit.fit(drive, "mine", tell=lambda _: None)
    for row in found.rows:
        assert abs(row.error) < 0.05, row
    # No smaller drive has blocks of whole wordlines.
    assert len(found.sizes) == 1
    text = found.sheet.toml()
    assert text.startswith("# Mine: fitted to measurements.")
    (tmp_path / "mine.toml").write_text(text)
    wl.Drive(device=tmp_path / "mine.toml", scheme="slc-cache", set={"capacity.logical": "900GB"})


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("row", "trigger"),
    [
        ("D,1000,TLC,NVMe PCIe3,42,3300,500", "free_blocks < 10%"),
        # While data migrate, 1,700 MB/s are out of reach.
        ("D,1000,TLC,NVMe PCIe3,42,3300,1700", "never"),
        # The link limits the cache, and the rate past it needs few planes.
        ("D,2000,TLC,NVMe PCIe Gen4 x4,226,6500,1400", "free_blocks < 10%"),
        # Static blocks, and the cache takes nearly all that is free.
        ("D,240,QLC,SATA,58.8 (17 static + 41.8 dynamic),533,424", "never"),
    ],
)
def test_three_columns_fit_within_five_per_cent(row: str, trigger: str) -> None:
    found = fit.fit(table(f"{HEAD}\n{row}\n")["D"], "d", tell=lambda _: None)
    assert found.sheet.get("slc_cache.trigger") == trigger
    assert {r.what: r.error for r in found.rows if abs(r.error) > 0.05} == {}
    assert len(found.rows) == 3


@pytest.mark.usefixtures("small")
def test_a_fall_that_no_fill_shows_leaves_the_size_as_given() -> None:
    found = fit.fit(
        table(f"{HEAD}\nD,1000,3-bit MLC,SATA,42,530,520\n")["D"], "d", tell=lambda _: None
    )
    assert [r.what for r in found.rows] == ["in the cache", "past the cache"]
    assert max(abs(r.error) for r in found.rows) < 0.05
    assert found.unknown[-1].startswith("size of the SLC cache: the rate falls by less than 15%")
    assert found.sheet.values["slc_cache.dynamic_blocks"][1].startswith("Rows, 42")


def test_a_fit_with_sequential_reads_is_shown(tmp_path: Path) -> None:
    drive = table(f"{HEAD}\nD,1000,TLC,PCIe4,200,3000,300\n")["D"]
    drive.values["read_mbps"] = measurements.Value.around(5000, 50, "02-read.json")
    found = fit.fit(drive, "d", tell=lambda _: None)
    # The rate of reads is a row; simulated smaller, only the fill is measured again.
    assert "sequential read" in found.terminal()
    assert [round(size, 1) for size, _ in found.sizes] == [15.6, 7.8, 5.2]
    assert found.terminal().count("simulated at") == 3
    assert "sequential read" in found.write(tmp_path, "wordline device fit").read_text()


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
    for job in ("01-fill", "09-uniform"):
        (tmp_path / f"{job}.json").write_text('{"jobs": [{"write": {"io_bytes": 1}}]}')
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
    (tmp_path / "01-fill.json").write_text('{"jobs": [{"write": {"io_bytes": 1}}]}')
    # 140 GB at 1,600 MB/s and the rest at 150 MB/s, as a Crucial P1; and a hundred times as fast.
    for factor, named in ((1, "Crucial P1"), (100, None)):
        rates = [1600 * factor] * 88 + [150 * factor] * 5700
        steps = ((i + 1) * 1000 / factor for i in range(len(rates)))
        lines = [f"{t}, {r * 1e6 / 1024:.0f}, 1, 0, 0\n" for t, r in zip(steps, rates, strict=True)]
        (tmp_path / "01-fill_bw.1.log").write_text("".join(lines))
        near = probe_page.nearest(probed.Probed(tmp_path))
        assert (near and near[0]) == named


def test_a_hidden_drive_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "SHARE", 0.006)
    monkeypatch.setattr(steady_fit, "SIZES", ())
    for key, (hidden, found) in recovery.recovered(1, tmp_path).items():
        assert found == pytest.approx(hidden, rel=recovery.BARS.get(key, 0.05)), key


def test_a_hidden_l2p_cache_without_slc_cache_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "SHARE", 0.006)
    for hidden, found in recovery.recovered_table(2, tmp_path).values():
        assert found == pytest.approx(hidden, rel=0.05)


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


def test_a_second_plateau_shows_that_data_migrate_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "SIZE", 2e9)
    monkeypatch.setattr(fit, "CACHE", 0.4e9)
    text = toml.builtin("devices/kingston-a2000-1tb.toml") or ""
    *_, (cache, past, second) = Bench.of(text, 4e9, 1).fill(1.0, most=3)
    assert second.mb_per_s < 0.8 * past.mb_per_s
    row = f"D,1000,TLC,NVMe PCIe3,{cache.end_gb:.1f},{cache.mb_per_s:.0f},{past.mb_per_s:.0f}"
    head = f"{HEAD},second_stage\n"
    drive = table(f"{head}{row},{second.mb_per_s:.0f} after {past.end_gb:.0f} GB\n")["D"]
    fitted = fit.fit(drive, "d", tell=lambda _: None)
    assert fitted.sheet.get("slc_cache.trigger") == "never"
    errors = {r.what: r.error for r in fitted.rows}
    assert abs(errors["second plateau from"]) < 0.05
    assert abs(errors["in it (not fitted)"]) < 0.1
    assert not any("not modelled" in line for line in fitted.unknown)
    # A second plateau near the end is nearer to none, as where data migrate early.
    late = table(f"{head}{row},{second.mb_per_s:.0f} after 970 GB\n")["D"]
    fitted = fit.fit(late, "d", tell=lambda _: None)
    assert fitted.sheet.get("slc_cache.trigger") == "free_blocks < 10%"
    assert any("not modelled: the second plateau" in line for line in fitted.unknown)


def test_a_hidden_cache_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "CACHED_SHARE", 0.006)
    monkeypatch.setattr(fit, "CACHE", 0.4e9)
    for key, (hidden, found) in recovery.recovered_cache(1, tmp_path).items():
        assert found == pytest.approx(hidden, rel=0.05), key


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


def test_a_scaled_drive_keeps_blocks_and_shares() -> None:
    file = toml.parse(toml.builtin("devices/samsung-980-pro-1tb.toml") or "")
    changes, by = sheet.scaled(file, 0.01)
    wordlines = file["medium"]["flash"]["wordlines_per_block"]
    assert changes["medium.flash.wordlines_per_block"] == pytest.approx(wordlines / by)
    logical = in_bytes(str(changes["capacity.logical"]))
    assert logical == pytest.approx(in_bytes(file["capacity"]["logical"]) / by, rel=1e-4)
    assert sheet.scaled(file, 2.0) == ({}, 1.0)


def test_fitted_devices_state_their_kind_and_rows() -> None:
    names = pick.measured_drives()
    assert len(names) >= 8
    for name in names:
        text = toml.builtin(f"devices/{name}.toml") or ""
        assert "not a statement by its maker" in text.splitlines()[0]
        assert "# Rows = http" in text


def test_pick_ranks_drives_and_says_what_is_not_known(wordline: Any, tmp_path: Path) -> None:
    drives = ["wd-sn580-1tb", "kingston-fury-rgb-480gb"]
    words = ["--workload", "uniform:read=50%,bs=64KiB,qd=4", "--requests", "2000", "--json"]
    done = wordline("pick", *words, "--drives", ",".join(drives))
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert [c["drive"] for c in found] == drives
    assert found[0]["p99_us"] < found[1]["p99_us"]
    assert found[0]["years"] > 0
    assert found[1]["years"] is None
    assert all(c["waf"] is None and c["share"] < 1 for c in found)
    # Nobody measured their single reads; the second one is drowned in writes.
    assert [c["p99_is_assumed"] for c in found] == [True, False]
    assert all(c["dwpd"] > 0 for c in found)


def test_numbers_have_no_exponents() -> None:
    shown = pick.terminal([pick.Choice("d", 10_041.5, False, 0.0, 1.0, 12.3, 23_347.2, 7897.4)])
    assert "10,042" in shown
    assert "23,347" in shown
    assert "7,897" in shown
    assert "e+" not in shown
    row = result.Row("w", "MB/s", measurements.Value(23_347.2, 23_000.4, 24_000.0, "t"), 10_041.5)
    assert row.cells()[2:5] == ["23,347", "23,000 to 24,000", "10,042"]
    assert str(probe_page.Reading("j", "w", "us", 23_347.2)) == "23,347"
    assert [significant(value) for value in (0.12346, 999.96, 1234.5)] == [
        "0.1235",
        "1,000",
        "1,234",
    ]
    assert [gigabytes(count) for count in (1.5e9, 11.2e12)] == ["1.5 GB", "11,200 GB"]


def test_pick_names_a_wrong_drive_and_keeps_lines_whole(
    wordline: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = wordline("pick", "--drives", "nosuch", "--workload", "uniform")
    assert done.code == 2
    assert done.err.startswith("error: --drives nosuch: no built-in device")
    named = wordline("pick", "--drives", "demo-8gb,samsung-980-pro-1t", "--workload", "uniform")
    assert 'did you mean "samsung-980-pro-1tb"?\n  hint: `wordline list devices`' in named.err
    assert "demo-8gb: done" not in named.err
    # A name may have any words in it.
    with pytest.raises(wl.UserError, match=r"^--drives device=foo: no built-in"):
        pick.pick("uniform", drives=["device=foo"])
    # Lines of several threads do not mix if each is written at once.
    written: list[str] = []
    monkeypatch.setattr(sys.stderr, "write", written.append)
    commands.tell("samsung-980-pro-1tb: done")
    assert written == ["samsung-980-pro-1tb: done\n"]


def test_pick_says_once_what_is_wrong_for_all_drives(wordline: Any, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(
        "when_us,address,size,op\n"
        + "".join(f"{300 * i},{12288 * i},4096,{'RW'[i % 2]}\n" for i in range(24))
    )
    done = wordline("pick", "--workload", "own.csv")
    assert done.code == 2
    assert done.err.startswith("error: own.csv: no trace format matches")
    assert (done.err.count("own.csv: "), "kingston" in done.err) == (1, False)
    # The hint that `trace inspect` gives is there, too.
    assert "when_us | address | size | op" in done.err
    for fill, says in [("95", "write 95%"), ("120%", "not a share"), ("much", "not a share")]:
        done = wordline("pick", "--workload", "uniform", "--fill", fill)
        assert done.code == 2
        assert done.err.startswith(f"error: --fill {fill}: ")
        assert says in done.err


def test_pick_stops_the_other_drives_when_it_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started, stopped = threading.Event(), []

    def on(run: Any, name: str, *_: object) -> pick.Choice:
        if name == "samsung-980-pro-1tb":
            assert started.wait(60)
            raise KeyboardInterrupt
        started.set()
        stopped.append(run.stop.wait(60))
        return pick.Choice(name)

    monkeypatch.setattr(pick._Run, "on", on)
    with pytest.raises(KeyboardInterrupt):
        pick.pick("uniform", drives=["samsung-980-pro-1tb", "kingston-fury-rgb-480gb"], jobs=2)
    assert stopped == [True]
    # A run of requests looks for it at each step.
    run = pick._Run("uniform", 10**9, None, "50%", 1, None, threading.Event())
    run.stop.set()
    drive = wl.Drive(device="fair-tlc", scheme="conventional")
    with pytest.raises(Stopped):
        run._once("fair-tlc", toml.parse(toml.builtin("devices/fair-tlc.toml") or ""), drive, None)


def test_pick_shows_whole_names_and_marks_assumed_latencies() -> None:
    names = pick.measured_drives()
    shown = pick.terminal(
        [pick.Choice(n, 78.84, True, 12.0, 199.0, 1.031, 12.3, 4.87, 0.0638) for n in names]
    )
    for name in names:
        (line,) = (line for line in shown.splitlines() if line.split()[:1] == [name])
        assert line.split()[1] == "~78.84"
    assert "~: follows from the usual read time" in shown


def test_oversized_trace_is_noted_and_others_ranked(tmp_path: Path) -> None:
    trace = tmp_path / "far.csv"
    places = [0, 700_000_000_000, *range(8192, 8192 * 7, 8192)]
    rows = [
        f"{128166372 * 10**9 + i * 10**7},srv,0,Write,{p},4096,100\n" for i, p in enumerate(places)
    ]
    trace.write_text("".join(rows))
    found = pick.pick(str(trace), drives=["kingston-fury-rgb-480gb", "samsung-980-pro-1tb"])
    assert [c.p99_us is None for c in found] == [False, True]
    assert found[1].drive == "kingston-fury-rgb-480gb"
    assert "beyond" in found[1].note
    with pytest.raises(wl.UserError, match="no drive can take the workload"):
        pick.pick(str(trace), drives=["kingston-fury-rgb-480gb"])
    with pytest.raises(wl.UserError, match="no built-in device or file"):
        pick.pick(str(trace), drives=["sony"])


def test_the_list_tells_measured_devices_from_others(wordline: Any) -> None:
    text = wordline("list", "devices").out
    measured, _, others = text.partition("from papers, or hypothetical:")
    assert "samsung-980-pro-1tb" in measured
    assert "demo-8gb" in others
    entries = json.loads(wordline("list", "devices", "--json").out)
    assert {e["name"] for e in entries if e["measured"]} == set(pick.measured_drives())
