"""Real traces beside the twins of a paper, and drives shrunk to what they write."""

import csv

import pytest

import wordline as wl
from helpers import ROOT
from wordline_lab.reproduce import paper, shrunk

MIB = 2**20
#: As an identity has it: 4 channels of a die with 4 planes, a block of 2 MiB as SLC, of 6 as TLC.
DRIVE = {
    "name": "made-up",
    "unit": "16KiB",
    "slc_cache": {"static_blocks": 64},
    "media": [
        {
            "name": "flash",
            "page": "16KiB",
            "wordlines_per_block": 128,
            "blocks_per_plane": 512,
            "modes": [{}, None, {}, None],
            "topology": {
                **{"channels": 4, "chips_per_channel": 1},
                **{"dies_per_chip": 1, "planes_per_die": 4},
            },
        }
    ],
}
RULE = {"blocks": 16, "channels": 2}
#: The paper's cache of 2 GiB is a tenth of this.
WRITTEN = 20 * 2**30


def of(written_mib, touched_mib=10.0, drive=DRIVE, rule=RULE):
    trace = {"write_gib": written_mib / 1024, "footprint_gib": touched_mib / 1024}
    return shrunk.fitted(drive, WRITTEN, trace, rule)


@pytest.mark.parametrize(
    ("written_mib", "channels", "planes", "blocks"),
    [
        # A block for each 20 MiB that are written.
        (20 * 1024, 4, 4, 64),
        (20 * 16 * 16, 4, 4, 16),
        (20 * 16 * 16 - 1, 4, 2, 32),
        (20 * 4 * 16, 4, 1, 16),
        (20 * 4 * 16 - 1, 2, 1, 32),
        (20 * 2 * 16, 2, 1, 16),
        (100 * 1024, 4, 4, 320),
    ],
)
def test_planes_are_halved_until_each_has_enough_blocks(written_mib, channels, planes, blocks):
    found = of(written_mib)
    assert found.why_not == ""
    assert found.settings["medium.flash.channels"] == str(channels)
    assert found.settings["medium.flash.planes_per_die"] == str(planes)
    assert found.settings["slc_cache.static_blocks"] == str(blocks) == str(found.blocks)
    # As the paper's cache over what the paper's trace writes, but for whole blocks in each plane.
    assert found.cache_bytes / found.written_bytes == pytest.approx(0.1, rel=1 / 32)
    assert found.share == pytest.approx(0.1)


def test_a_piece_that_writes_too_little_is_not_run():
    found = of(20 * 2 * 16 - 1)
    assert found.settings == {}
    assert found.why_not == (
        "not run: its cache would be 63.9 MiB, and the smallest, 2 channels of a plane with "
        "16 blocks, has 64 MiB"
    )
    assert of(0).why_not == "not run: it writes nothing"


def test_half_of_the_back_region_holds_all_writes():
    # The paper's 448 blocks of 6 MiB a plane, which is more than enough.
    assert of(20 * 1024).settings["medium.flash.blocks_per_plane"] == str(64 + 448)
    # Two planes; each 4 KiB that is touched may be a page of 16 KiB.
    found = of(640, touched_mib=2048)
    blocks = int(found.settings["medium.flash.blocks_per_plane"]) - found.blocks
    assert (blocks - 1) * 2 * 6 < 2 * (2048 * 4 + 640) <= blocks * 2 * 6


def test_a_drive_without_a_static_cache_is_not_shrunk():
    with pytest.raises(wl.UserError, match="made-up has no static cache to shrink"):
        of(640, drive={**DRIVE, "slc_cache": None})


def test_what_the_papers_trace_writes_is_its_twins_table():
    # Table II: 3,993,316 requests, 64.5 % of them writes of 8.33 KiB.
    found = shrunk.written_by("hm_0", "twin:hm_0:speedup=1.58", {})
    assert found == pytest.approx(3_993_316 * 0.645 * 8.33 * 1024, rel=1e-4)
    assert shrunk.written_by("hm_0", "twin:hm_0", {"hm_0": "20GiB"}) == WRITTEN
    with pytest.raises(wl.UserError, match=r"zipf \(zipf\).* add it to \[pieces.shrink.written\]"):
        shrunk.written_by("zipf", "zipf", {})


def test_the_rule_says_which_real_traces_are_run():
    folder = ROOT.parent / "shared" / "traces"
    if not folder.is_dir():
        pytest.skip("no folder ../shared/traces: these traces may not be passed on")
    pieces = [p for p in paper.read("hierarchy", traces=str(folder)).pieces if p.beside == "merge"]
    run = {(p.workload, p.file.partition(".")[0]): p.drive for p in pieces if p.is_run}
    assert {name: (d.planes, d.blocks) for name, d in run.items()} == {
        ("lun2", "cloudPhysicsIO"): (16, 72),
        ("hm_0", "cloudPhysicsIO"): (4, 28),
        ("hm_0", "DTRS1K"): (2, 18),
        ("hm_0", "ssd-iozone-aligned2-100K"): (16, 107),
        ("hm_0", "tencent_cbs_raw_sample50000"): (2, 20),
    }
    for (workload, _), drive in run.items():
        share = 1.005 if workload == "lun2" else 0.0978
        assert drive.cache_bytes / drive.written_bytes == pytest.approx(share, rel=0.02)
    assert len({p.file for p in pieces if not p.is_run}) == 13


def test_a_piece_is_run_on_a_drive_of_its_own(wordline, tmp_path):
    # 80 MiB in writes of 1 MiB: enough at lun2's share of 1.005, not at hm_0's of .098.
    text = "".join(f"0,{i % 40 * 2048},1048576,w,{i / 10:.6f}\n" for i in range(80))
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "cloudPhysicsIO.vscsi").write_text(text)
    (tmp_path / "t" / "cloudPhysicsIO_us.csv").write_text(text)
    read = paper.read("hierarchy", traces=str(tmp_path / "t"))
    own = {n: run for n, run in read.runs.items() if n.startswith("pieces/")}
    schemes = ("Baseline", "SA", "Sector", "Hierarchy")
    label = "lun2 (cloudPhysicsIO.vscsi, {})"
    assert list(own) == [
        f"pieces/{label.format(g)}/{s}" for g in ("flushed", "merge") for s in schemes
    ]
    flushed, merge = (own[f"pieces/{label.format(g)}/SA"] for g in ("flushed", "merge"))
    assert dict(flushed.set)["ack.mode"] == "program"
    assert dict(flushed.set)["slc_cache.static_blocks"] == "20"
    assert dict(flushed.set)["medium.flash.channels"] == "2"
    assert flushed.workload.endswith(":fit=compact,speedup=0.01")
    assert merge.workload.endswith(":fit=compact")
    asked = ("--traces", "t", "--only", "pieces/*/*", "--out", "p")
    done = wordline("reproduce", "hierarchy", *asked)
    assert done.code == 0, done.err
    with (tmp_path / "p" / "table-pieces.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(r["workload"], r["trace"], r["runs"], r["scheme"]) for r in rows] == [
        *(("lun2", "cloudPhysicsIO.vscsi", g, s) for g in ("flushed", "merge") for s in schemes),
        ("lun2", "cloudPhysicsIO_us.csv", "", ""),
        ("hm_0", "cloudPhysicsIO.vscsi", "", ""),
    ]
    assert (rows[0]["written_mib"], rows[0]["cache"]) == ("80.0", "2 planes x 20 blocks")
    assert float(rows[0]["cache_over_written"]) == 1.0
    assert (rows[1]["write"], rows[1]["write_paper"]) != ("", "")
    assert rows[-2]["note"].endswith(
        "not run: the capture of cloudPhysicsIO.vscsi once more, as text"
    )
    assert "not run: its cache would be 7.8 MiB" in rows[-1]["note"]


def lines(count):
    """Return requests of UMass's form: every other one a write of 8 KiB."""
    return "".join(
        f"0,{i % 50 * 64},8192,{'w' if i % 2 else 'r'},{i / 100:.6f}\n" for i in range(count)
    )


def test_real_traces_are_run_beside_the_twins(wordline, tmp_path):
    (tmp_path / "t" / "umass").mkdir(parents=True)
    (tmp_path / "t" / "umass" / "financial1_head.spc").write_text(lines(400))
    (tmp_path / "t" / "DTR.spc").write_text(lines(300))
    alone, read = paper.read("pa-ssd"), paper.read("pa-ssd", traces=str(tmp_path / "t"))
    assert [(p.workload, p.file, p.note) for p in read.pieces] == [
        ("Fin", "financial1_head.spc", ""),
        ("DTR", "DTR.spc", "the whole trace"),
    ]
    # Nothing else changes: a piece is a run more, never another run.
    own = {n: r for n, r in read.runs.items() if n.split("/")[0] == "pieces"}
    assert len(own) == 14
    assert {n: r for n, r in read.runs.items() if n not in own} == alone.runs
    run, twin = own["pieces/Fin (financial1_head.spc)/US"], read.runs["main/Fin/US/1"]
    assert (run.scheme, run.initial, run.set) == (twin.scheme, twin.initial, twin.set)
    asked = ("reproduce", "pa-ssd", "--traces", "t", "--only", "pieces/*/[BU]*", "--out", "p")
    done = wordline(*asked)
    assert done.code == 0, done.err
    assert "Table pieces: real traces beside their twins" in done.out
    rows = (tmp_path / "p" / "table-pieces.csv").read_text().splitlines()
    assert rows[0].startswith("workload,trace,requests,twin_requests,scheme,write_twin,write,")
    assert rows[1].startswith(
        # Fifty times the 400 requests that it has.
        "Fin,financial1_head.spc,20000,,Baseline,,1.0,,1.0,,1.0,writes 0.03 % of the"
    )
    assert rows[4].endswith("the whole trace; writes 0.00 % of the drive")
    page = (tmp_path / "p" / "figures.md").read_text()
    page += (tmp_path / "p" / "README.md").read_text()
    assert "`--traces DIR` adds this table, where DIR has financial1_head.spc, DTR.spc." in page
    assert str(tmp_path) not in page
    assert "original traces" not in page


def test_every_paper_names_the_twins_of_its_traces(tmp_path):
    for name in ("hm_0.part1.csv", "cloudPhysicsIO.vscsi", "financial1_head9", "rsrch_1.csv"):
        (tmp_path / name).write_text(lines(20))
    found = {name: paper.read(name, traces=str(tmp_path)).pieces for name in paper.papers()}
    assert {n: [p.workload for p in pieces] for n, pieces in found.items()} == {
        "hierarchy": ["hm_0", "hm_0", "lun2", "hm_0", "hm_0"] * 2,
        "hyssd": ["Financial"],
        "ips": ["HM_0", "RSRCH_0"],
        "pa-ssd": ["Fin"],
        "raro": [],
    }
    assert [p.note for p in found["ips"]] == ["", "kin, not the paper's trace"]
    with pytest.raises(wl.UserError, match="--traces nowhere: the folder does not exist"):
        paper.read("ips", traces="nowhere")
