"""Drives in steady state: rows that are read, a fit that finds a hidden drive, flash of another."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

import wordline as wl
from wordline import toml
from wordline.quantity import in_bytes, in_us
from wordline.real import (
    bench,
    copied_pages,
    fit,
    measurements,
    pick,
    steady_fit,
    steady_model,
    steady_rows,
)
from wordline.real.collection_unit import matched
from wordline.real.copied_pages import Skewed
from wordline.real.steady_fit import SteadyFit
from wordline.real.steady_model import SteadyModel

DEVICES = Path(__file__).parents[2] / "devices"
HEAD = (
    "row_id,drive,flash_of,model,interface,kind,block_B,threads,qd_per_thread,init,used_GB,"
    "used_frac_of_capacity,MBps_steady,knee_dw_interp,knee_res_dw,WAF_steady_measured,"
    "write_iops_achieved,read_iops_achieved,r_p50_us,r_p99_us,w_p50_us"
)
FILL = "F,d,,Drive,PCIe 4.0 x4,seqfill,524288,1,1,empty,100,1.0,1000,,,1.03,,,,,"
SMALL = "S,d,,Drive,PCIe 4.0 x4,seqfill,4096,1,1,empty,100,1.0,800,,,1.03,,,,,"
WRITES = "U,d,,Drive,PCIe 4.0 x4,uniform,4096,4,128,1x sequential,100,1.0,400,0.312,0.02,2.1,,,,,"
PART = "P,d,,Drive,PCIe 4.0 x4,uniform,4096,4,128,1x sequential,50,0.5,700,1.5,0.02,1.2,,,,,"
SLOW = "L,d,,Drive,PCIe 4.0 x4,latency,4096,7,64,3x uniform,100,1.0,,,,,10000,5000,70,160,9"
FULL = "M,d,,Drive,PCIe 4.0 x4,latency,4096,7,64,3x uniform,100,1.0,,,,,90000,5000,900,1600,900"
ROWS = (FILL, SMALL, WRITES, PART, SLOW, FULL)


def read(*rows: str, head: str = HEAD) -> dict[str, measurements.Drive]:
    text = "\n".join([head, *rows]) + "\n"
    return steady_rows.drives([measurements.Table("enterprise.csv", text)])


def test_what_rows_state_is_read_off() -> None:
    drive = read(*ROWS)["d"]
    assert drive.capacity == 100e9
    assert {k: v.value for k, v in drive.values.items()} == {
        # Of blocks of 4 KiB the host may be the limit: that fill is none.
        "fill_mbps": 1000,
        "overhead": 1.03,
        "knee_dw": 0.312,
        "steady_mbps": 400,
        "waf": 2.1,
        "read_us": 70,
        "read_p99_us": 160,
        "write_us": 9,
    }
    assert (drive.values["knee_dw"].low, drive.values["knee_dw"].high) == pytest.approx(
        (0.302, 0.322)
    )
    assert drive.rows[2].initial == "fill:100%,order=seq"
    assert drive.rows[3].initial == "fill:50%,order=seq"
    assert drive.rows[0].initial == "fresh"
    assert drive.rows[2].depth == 512
    # A third of saturation: the lowest rate alone.
    assert [r.name for r in steady_fit.low_rates(drive)] == ["L"]


def test_list_of_runs_uses_largest_figure() -> None:
    runs = FILL.replace(",100,1.0,", ",50.0|100.0|70.0,0.5|1.0|0.7,")
    assert read(runs)["d"].capacity == 100e9


def test_rows_of_other_kinds_are_passed_over() -> None:
    drive = read(FILL, WRITES.replace("uniform", "zipf", 1))["d"]
    assert [r.name for r in drive.rows] == ["F"]
    assert drive.unknown["streams"] == "rows of the kinds zipf are not used"
    assert "streams" not in read(*ROWS)["d"].unknown


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (",400,", ",fast,", "enterprise.csv:2: column MBps_steady: 'fast'"),
        (",400,", ",,", "enterprise.csv:2: column MBps_steady: ''"),
        (",400,", ",-4,", "enterprise.csv:2: column MBps_steady: '-4'"),
        ("U,d,", "U,,", "enterprise.csv:2: column drive: ''"),
        (",uniform,", ",,", "enterprise.csv:2: column kind: ''"),
        (",100,1.0,", ",100,1.5,", "enterprise.csv:2: column used_frac_of_capacity: '1.5'"),
        (",100,1.0,", ",,1.0,", "enterprise.csv:2: column used_GB: ''"),
        (",d,,Drive,", ",d,,,", "enterprise.csv:2: column model: ''"),
        (",d,,Drive,", ",d,e,Drive,", "enterprise.csv:2: column flash_of: 'e'"),
    ],
)
def test_a_wrong_cell_is_refused_with_row_and_column(old: str, new: str, says: str) -> None:
    with pytest.raises(wl.UserError, match="allowed: ") as told:
        read(WRITES.replace(old, new, 1))
    assert str(told.value).startswith(says)


def test_a_drive_without_the_rows_of_a_fit_is_refused() -> None:
    def refused(*rows: str) -> str:
        with pytest.raises(wl.UserError, match="allowed: ") as told:
            fit.fit(read(*rows)["d"], "x", tell=lambda _: None)
        return str(told.value)

    assert "a sequential fill" in refused(WRITES)
    assert "after a fill, with their knee" in refused(FILL)
    # Writes to a part have a knee, but not that of the drive.
    assert "after a fill, with their knee" in refused(FILL, PART)
    assert "not below the fill at 1000 MB/s" in refused(FILL, WRITES.replace(",400,", ",1000,"))
    assert "pcie5" in refused(*(r.replace("PCIe 4.0 x4", "USB") for r in (FILL, WRITES)))


HIDDEN = """
[device]
name = "hidden"
[medium.flash]
channels = 3
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 1
blocks_per_plane = {blocks}
wordlines_per_block = {wordlines}
page = "4KiB"
bus = {{ rate = "off" }}
slc = {{ read = "20us", program = "100us", erase = "100us" }}
[capacity]
logical = "{logical}B"
[gc]
trigger = "free_blocks < 2%"
victim = "{victim}"
[ack]
mode = "buffer"
pages = 60
"""
#: Flash per byte of data, and GiB of zones.
FLASH, ZONES = 1.35, (0.5, 1, 2, 4)


def hidden_zones(victim: str, blocks: int, counted: bool = True) -> list[str]:
    """Measure writes of zones on a drive of 100 GB, at 1/1000; return rows with WAF, or rates.

    Rates are those of a drive to which each copied byte costs as much as a written one.
    """
    logical = 100_000_000 // 4096 * 4096
    wordlines = round(FLASH * logical / 4096 / 6 / blocks)
    text = HIDDEN.format(blocks=blocks, wordlines=wordlines, logical=logical, victim=victim)
    with bench.device_file(text) as path:

        def waf(words: str) -> float:
            line = wl.run(
                device=path,
                scheme="conventional",
                workload=f"uniform:read=0%,{words},bytes=4x",
                initial="fill:100%,order=seq",
                seed=3,
            ).timeline.to_dict()
            host, media = (np.array(line[key]) for key in ("write_mb_per_s", "programmed_mb_per_s"))
            last = slice(3 * len(host) // 4, -1)
            return float(media[last].sum() / host[last].sum())

        uniform = waf("bs=4KiB,qd=64")
        zones = {z: waf(f"bs={round(z * 2**30 / 1000 / 4096) * 4096}B,qd=1") for z in ZONES}

    def shown(found: float) -> str:
        return f"{1000 / found:.1f},,,{f'{found:.3f}' if counted else ''},,,,,"

    state = "d,,Drive,PCIe 4.0 x4"
    rows = [f"F,{state},seqfill,524288,1,1,empty,100,1,{shown(1.0)},,,"]
    row = f"U,{state},uniform,4096,4,128,1x sequential,100,1,{shown(uniform)},,"
    rows.append(row.replace(",,,", f",{FLASH - 1:.2f},.01,", 1))
    for zone, found in zones.items():
        rows.append(f"Z{zone},{state},zns,524288,1,1,1x seq,100,1,{shown(found)},{zone},1")
    return rows


def zones_of(rows: list[str]) -> measurements.Drive:
    drive = read(*rows, head=f"{HEAD},zone_size_GiB,active_zones")["d"]
    steady_rows.take_unit(drive)
    return drive


@pytest.mark.parametrize(("blocks", "counted"), [(90, True), (140, True), (90, False)])
def test_zone_rows_of_a_table_show_the_unit(blocks: int, counted: bool) -> None:
    unit = zones_of(hidden_zones("greedy", blocks, counted)).values["unit_share"]
    assert 0.75 < unit.value * blocks / FLASH < 1.35
    assert unit.source == "Z0.5 and 3 more rows"


def test_unit_is_matched_to_copies_within_its_interval() -> None:
    unit = measurements.Value(1.0, 0.8, 1.25, "zones")

    def copied(of: measurements.Value) -> float:
        return 0.3 * of.value**2

    assert matched(unit, 0.363, copied).value == pytest.approx(1.1)
    assert matched(unit, 0.6, copied).value == 1.25
    assert matched(unit, 0.1, copied).value == 0.8
    # Copies that do not grow with the unit tell nothing.
    assert matched(unit, 0.6, lambda of: 0.3 / of.value) is unit


def test_zone_rows_of_a_fifo_drive_do_not_show_the_unit() -> None:
    drive = zones_of(hidden_zones("fifo", 50))
    assert "unit_share" not in drive.values
    assert drive.unknown["unit_share"]


def test_zone_rows_without_size_or_in_turn() -> None:
    fill, uniform, zone, *_ = hidden_rows = [
        "F,d,,Drive,PCIe 4.0 x4,seqfill,524288,1,1,empty,100,1,1000,,,,,,,,,,",
        "U,d,,Drive,PCIe 4.0 x4,uniform,4096,4,128,1x sequential,100,1,400,.35,.01,,,,,,,,",
        "Z,d,,Drive,PCIe 4.0 x4,zns,524288,1,1,1x sequential,100,1,900,,,,,,,,,2,1",
    ]
    with pytest.raises(wl.UserError, match=r"enterprise.csv:4: column zone_size_GiB: ''"):
        zones_of([fill, uniform, zone.replace(",2,1", ",,1")])
    # Zones written in turn are left out, and one size alone does not show the unit.
    assert "unit_share" not in zones_of([fill, uniform, zone.replace(",2,1", ",2,4")]).unknown
    assert zones_of(hidden_rows).unknown["unit_share"] == "zones of one size do not show it"


def skewed(*copies: float) -> list[Skewed]:
    return [Skewed(theta, c) for theta, c in zip((0.2, 0.6, 0.8, 1.2), copies, strict=True)]


def test_skewed_writes_tell_where_copied_pages_go() -> None:
    usable = 1.45
    kinds = {
        kind: [copied_pages.copies_of(kind, theta, usable) for theta in (0.6, 0.8)]
        for kind in copied_pages.KINDS
    }
    for kind, (less, more) in kinds.items():
        # Rows of little and of great skew do not count.
        assert copied_pages.copied_pages(skewed(9, less, more, 9), usable) == (kind, "")
    halves = [sum(of) / 2 for of in zip(*kinds.values(), strict=True)]
    for rows, why in (
        (skewed(1, *halves, 1), "both kinds of copies explain"),
        (skewed(1, 3, 3, 1), "neither kind of copies explains"),
        (skewed(1, 1, 1, 1)[:1], "no writes of a skew from 0.5 to 0.9"),
    ):
        kind, told = copied_pages.copied_pages(rows, usable)
        assert not kind
        assert why in told


def test_skewed_rows_of_a_drive_tell_its_copies() -> None:
    table = measurements.Table(
        "enterprise.csv", (DEVICES / "measured" / "enterprise.csv").read_text()
    )
    drives = steady_rows.drives([table])
    for drive in drives.values():
        steady_rows.take_copies(drive)
    assert {name for name, drive in drives.items() if drive.copies} == {"mp0"}
    assert drives["mp0"].copies == "apart"
    used = {
        row.skew
        for row in drives["mp0"].rows
        if row.kind == steady_rows.SKEWED and "steady" in steady_fit.uses(row, drives["mp0"])
    }
    assert used == {0.6, 0.8}


def test_built_in_files_are_what_a_fit_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of a file but what is searched, which is taken from it."""
    table = measurements.Table(
        "enterprise.csv", (DEVICES / "measured" / "enterprise.csv").read_text()
    )
    drives = steady_rows.drives([table])
    devices = {row["drive"]: row["device"] for row in table.rows}
    monkeypatch.setattr(steady_rows, "take_unit", lambda _: None)
    # The second unit of a drive has the file of the first.
    for name in devices.keys() - {"k5"}:
        text = (DEVICES / f"{devices[name]}.toml").read_text()
        file = toml.parse(text)
        flash = file["medium"]["flash"]
        made = SteadyFit(drives[name], devices[name], 1, lambda _: None)
        made.units = flash["channels"] * flash["dies_per_chip"]
        made.program = in_us(flash["tlc"]["program"])
        if "service" in file:
            made.min_left = in_us(file["service"]["suspend"]["program_min_left"])
        if unit := re.search(r"GC collects (\S+) \((\S+) to (\S+)\) of the drive", text):
            made.values["unit_share"] = measurements.Value(*map(float, unit.groups()), "zones")
        wordline = flash["blocks_per_plane"] * made.units * 3 * in_bytes(flash["page"])
        written = []
        # The flash was no whole number of wordlines, and also gives the number of blocks.
        for rounded in (-0.4, 0, 0.4):
            made.usable = wordline * (flash["wordlines_per_block"] + rounded)
            written.append(made._sheet(drives[name]).toml())
        assert text in written, name


def test_spare_flash_tells_waf() -> None:
    # A block keeps a share m: flash = -ln m / (1 - m), and WAF = 1 / (1 - m).
    assert steady_fit.mean_field_waf(1.386294) == pytest.approx(2.0, rel=1e-4)
    assert steady_fit.mean_field_waf(1.446) == pytest.approx(1.84, rel=0.01)


def test_units_divide_into_channels() -> None:
    for wanted in (6.3, 23.4, 31.0, 61.0, 127.9):
        units = steady_fit.nearest_units(wanted, 7000)
        assert abs(units / wanted - 1) < 0.1
        assert units % steady_fit.channels_of(units, 7000) == 0


def hidden_fit(drive: measurements.Drive, read_us: float, units: int, flash: float) -> SteadyFit:
    """Return a fit to the rows of a drive that has come upon the values of a drive of our own."""
    made = SteadyFit(drive, "hidden", 1, lambda _: None)
    made.values["read_us"] = measurements.Value(read_us, read_us, read_us, "hidden")
    made.units, made.usable = units, flash * made.of.capacity
    made.program = 3 * 16384 * units / 900
    return made


def hidden(read_us: float, units: int, flash: float) -> tuple[str, float]:
    """Return the device file of a drive of our own, and what its program takes in us."""
    made = hidden_fit(read(*ROWS)["d"], read_us, units, flash)
    return made._sheet(made.of).toml(), made.program


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate fewer blocks and fewer drive writes than a user does, for the time of a test."""
    monkeypatch.setattr(steady_fit, "FEWEST", 100)
    monkeypatch.setattr(steady_fit, "MOST", 100)
    monkeypatch.setattr(steady_model, "WRITES", 2.2)


@pytest.mark.usefixtures("small")
def test_a_hidden_drive_is_found_from_its_rows(tmp_path: Path) -> None:
    text, program = hidden(90.0, 16, 1.32)
    model, given = SteadyModel(text, seed=1), read(*ROWS)["d"].rows
    writes, slow = model.figures(given[2]), model.figures(given[4])
    cells = {
        "F": {"MBps_steady": model.fill_mbps(), "WAF_steady_measured": 1.0},
        "U": {
            "MBps_steady": writes["steady"],
            "knee_dw_interp": writes["knee"],
            "WAF_steady_measured": writes["waf"],
        },
        "L": {"r_p50_us": slow["r_p50"], "r_p99_us": slow["r_p99"], "w_p50_us": slow["w_p50"]},
    }
    table = list(csv.DictReader(io.StringIO("\n".join([HEAD, FILL, WRITES, SLOW, FULL]))))
    for row in table:
        row.update({k: f"{v:.6g}" for k, v in cells.get(row["row_id"], {}).items()})
    with (tmp_path / "mine.csv").open("w", newline="") as out:
        writer = csv.DictWriter(out, HEAD.split(","))
        writer.writeheader()
        writer.writerows(table)
    # Another seed than that of the hidden drive.
    found = fit.fit(fit.load(tmp_path), "mine", seed=2, tell=lambda _: None)
    flash = toml.parse(found.sheet.toml())["medium"]["flash"]
    units = flash["channels"] * flash["dies_per_chip"]
    assert units == pytest.approx(16, rel=0.15)
    per_unit = flash["tlc"]["program"]
    assert in_us(per_unit) / units == pytest.approx(program / 16, rel=0.05)
    assert in_us(flash["tlc"]["read"]) == pytest.approx(90, rel=0.1)
    held = flash["blocks_per_plane"] * flash["wordlines_per_block"] * units * 3 * 16384
    assert held / 100e9 == pytest.approx(1.32, rel=0.03)
    for row in found.rows:
        if "(fitted)" in row.what:
            assert abs(row.error) < 0.1, row
    assert len(found.sizes) == 3
    assert "GB: fill, MB/s " in found.terminal()
    html = found.write(tmp_path / "page", "wordline device fit").read_text()
    assert "victim rule, collection unit" in html
    assert (tmp_path / "page" / "fill.svg").is_file()


@pytest.mark.usefixtures("small")
def test_reads_at_two_rates_tell_when_a_program_is_suspended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steady_model, "REQUESTS", 30_000)
    rows = (SLOW, SLOW.replace("L,", "N,", 1).replace(",10000,", ",20000,"))
    made = hidden_fit(read(FILL, WRITES, *rows, FULL)["d"], 70.0, 16, 1.32)
    made.min_left = 300.0
    assert made.min_left < made.program / 2
    found = [made._model(made.of).figures(row)["r_p99"] for row in steady_fit.low_rates(made.of)]
    assert found[0] < found[1]
    told = [r.replace(",70,160,", f",70,{p99:.6g},") for r, p99 in zip(rows, found, strict=True)]
    again = hidden_fit(read(FILL, WRITES, *told, FULL)["d"], 70.0, 16, 1.32)
    again.seed = 2
    again._search_min_left()
    assert again.min_left == pytest.approx(300, rel=0.08)


def test_drive_with_shared_flash_is_judged() -> None:
    other = [r.replace("F,d,,", "G,e,d,").replace("U,d,,", "V,e,d,") for r in (FILL, WRITES)]
    drives = read(*ROWS, *(r.replace(",100,1.0,", ",120,1.0,") for r in other))
    assert drives["e"].flash is drives["d"]
    made = SteadyFit(drives["e"], "mine", 1, lambda _: None)
    assert made.of is drives["d"]
    assert steady_fit.uses(drives["e"].rows[1], drives["e"]) == set()
    assert steady_fit.uses(drives["d"].rows[2], drives["d"]) == {"knee", "steady", "waf"}
    sheet = made._sheet(drives["e"])
    assert sheet.get("capacity.logical") == "120000000000B"
    assert "The flash is that of Drive" in sheet.toml()


def test_pick_knows_waf_of_counted_drives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pick, "LEAST", 1e9)
    names = [str(DEVICES / f"{n}.toml") for n in ("micron-7450-max-800gb", "wd-dc-sn640-960gb")]
    load = "uniform:read=30%,bs=16KiB,qd=4"
    found = {Path(c.drive).stem: c for c in pick.pick(load, drives=names, requests=3000)}
    known, unknown = (found[Path(n).stem] for n in names)
    assert unknown.waf is None
    assert known.waf is not None
    assert 1.0 < known.waf < 1.2
    assert known.past_cache_s == 0.0


def test_every_row_of_the_table_names_its_source() -> None:
    path = DEVICES / "measured" / "enterprise.csv"
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert {r["drive"] for r in rows} == {"mp0", "m0", "i1", "h0", "k4", "k5", "s0", "wd"}
    for row in rows:
        assert row["source"].startswith("https://"), row
        text = (DEVICES / f"{row['device']}.toml").read_text()
        assert "fitted to public measurements, not a statement by its maker" in text
        logical = in_bytes(toml.parse(text)["capacity"]["logical"])
        assert logical == pytest.approx(float(row["capacity_bytes"]), rel=1e-6)
