"""Fits of drives with an SLC cache: the cells of a table that are read, and what a fit recovers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import wordline as wl
from cliff_tables import HEAD, table
from wordline import toml
from wordline.quantity import gigabytes, in_bytes, in_us, significant
from wordline.real import (
    controller_time,
    fit,
    measurements,
    pick,
    probe,
    probe_page,
    result,
    sheet,
)
from wordline.real.bench import Bench
from wordline.real.curve import plateaus


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
    assert measurements.size_in(text) == (value and (value, value))


def test_a_measured_rate_goes_before_a_specified_one() -> None:
    for text, rate in {
        "530 spec, 487 measured": 487,
        "5000 then 3500": 5000,
        "1800 (spec)": 1800,
    }.items():
        assert measurements.rate_in(text) == (rate, rate)


def test_words_around_figures_are_understood() -> None:
    row = 'Drive,1000,QLC 64L,NVMe PCIe3,"78 (6 static + 72 dynamic)","530 spec, 487 measured",160'
    stages = (",100 after 600 GB\n", ",0.1 GB/s after .6 TB\n")
    found, again = (table(f"{HEAD},second_stage\n{row}{stage}")["Drive"] for stage in stages)
    (other,) = table(f"{HEAD}\nD,1000,TLC,SATA,78 (6 GB static + 72 dynamic),500,100\n").values()
    assert other.values["static_gb"].value == 6
    for key in ("second_mbps", "second_gb"):
        assert again.values[key].value == pytest.approx(found.values[key].value)
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
        f"{HEAD}\nD,1 000,TLC,SATA,42,5e2 MBps,1e5 kB/s\n",
        f"{HEAD}\nD,1'000 GB,TLC,SATA,42,500,100\n",
        f"{HEAD}\nD,1tb,TLC,SATA,42gb,500,100\n",
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
        ("D,1000,TLC,SATA,10,4.2 Gbit/s,100", "cliffs.csv:2: column speed_in_cache_MBps: '4.2"),
        ("D,1000,TLC,SATA,10,4.2Gb/s,100", "cliffs.csv:2: column speed_in_cache_MBps: '4.2"),
        ("D,1000,TLC,SATA,10,4.2 GB,100", "cliffs.csv:2: column speed_in_cache_MBps: '4.2"),
        ("D,1000,TLC,SATA,10 %,500,100", "cliffs.csv:2: column slc_cache_GB: '10 %'"),
        ("D,1000,TLC,SATA,10/50,500,100", "cliffs.csv:2: column slc_cache_GB: '10/50'"),
        ("D,500-1000,TLC,SATA,10,500,100", "cliffs.csv:2: column capacity_GB: '500-1000'"),
        ("D,1000,TLC,SATA,10,-500,100", "cliffs.csv:2: column speed_in_cache_MBps: '-500'"),
    ],
)
def test_a_wrong_cell_is_refused_with_row_and_column(row: str, says: str) -> None:
    with pytest.raises(wl.UserError, match="allowed: ") as told:
        table(f"{HEAD}\n{row}\n")
    assert str(told.value).startswith(says)


def test_middle_of_a_range_counts_within_it() -> None:
    cells = "6 - 24 GB,0.4 GB/s to 0.6 GB/s,450 spec—100 to 150 measured"
    found = table(f"{HEAD}\nD,1000,TLC,SATA,{cells}\n")["D"].values
    read = {key: (v.value, v.low, v.high) for key, v in found.items()}
    assert read["cache_gb"] == pytest.approx((15, 6, 24))
    assert read["cache_mbps"] == pytest.approx((500, 400, 600))
    assert read["after_mbps"] == pytest.approx((125, 100, 150))


RANDOM = "random_read_kIOPS,random_write_kIOPS,random_queue_depth,random_read_qd1_kIOPS"


def test_lanes_of_a_link_count() -> None:
    for words, rate in {
        "NVMe PCIe4": 7000,
        "PCIe 4.0 x4 NVMe": 7000,
        "PCIe 3.0 x2": 1750,
        "NVMe PCIe5 x8": 28000,
        "SATA 6 Gb/s": 560,
        "2000MB/s": 2000,
    }.items():
        assert sheet.link_of(words) == rate


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


@pytest.mark.usefixtures("small_caches")
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


@pytest.mark.usefixtures("small_caches")
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


@pytest.mark.usefixtures("small_caches")
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


@pytest.mark.usefixtures("small_caches")
@pytest.mark.usefixtures("small_caches")
def test_a_file_says_what_the_search_has_missed() -> None:
    # Far more in the cache than its planes and its link can give beside so slow a rest.
    row = "D,1000,TLC,NVMe PCIe4,200,4500,4.5"
    found = fit.fit(table(f"{HEAD}\n{row}\n")["D"], "d", tell=lambda _: None)
    errors = {row.what: abs(row.error) for row in found.rows}
    far = [what for what in result.CLIFF if errors[what] > result.MISSED]
    assert far
    for text in (found.terminal(), found.toml()):
        assert all(f"{what} \u2212" in text or f"{what} +" in text for what in far)
    assert "missed: " in found.terminal()
    assert "MISSED: " in found.toml()
    near = replace(found, rows=[r for r in found.rows if r.what not in far])
    assert "missed" not in near.terminal()
    assert near.toml() == near.sheet.toml()


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
