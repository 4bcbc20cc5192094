"""Schemes in Python that repeat one in Rust come to its bits."""

import csv

import pytest

import wordline as wl
from helpers import ROOT
from wordline.examples.slc_cache import SlcCachePy
from wordline_lab.conformance.hierarchy import HierarchyPy
from wordline_lab.conformance.hyssd import HyssdPy
from wordline_lab.conformance.ips import IpsPy
from wordline_lab.conformance.raro import RaroPy
from wordline_lab.conformance.sa import SaPy
from wordline_lab.conformance.sector import SectorPy

GOLDEN = ROOT / "crates" / "run" / "tests" / "golden"
IN_PYTHON = {
    "slc-cache": SlcCachePy,
    "ips": IpsPy,
    "raro": RaroPy,
    "sa": SaPy,
    "sector": SectorPy,
    "hierarchy": HierarchyPy,
}


def golden(scheme: str) -> list[dict[str, str]]:
    with open(GOLDEN / "table.tsv") as file:
        rows = csv.DictReader(file, delimiter="\t")
        # What a drive does not admit has no figures.
        return [r for r in rows if r["scheme"] == scheme and r["completed"].isdigit()]


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden rows are not part of the package")
@pytest.mark.parametrize(
    ("scheme", "row"),
    [
        pytest.param(own, row, id=f"{own._name()}-{row['device']}-{row['workload'].split(':')[0]}")
        for name, own in IN_PYTHON.items()
        for row in golden(name)
    ],
)
def test_python_schemes_match_rust_on_every_golden_drive(scheme, row):
    workload = row["workload"]
    file = GOLDEN / workload.split(":")[0]
    found = wl.run(
        device=GOLDEN / row["device"],
        scheme=scheme,
        workload=f"{GOLDEN}/{workload}" if file.exists() else workload,
        requests=int(row["requests"]),
        initial=row["initial"],
        seed=int(row["seed"]),
        check=True,
    )
    assert found.result_hash == row["result_hash"]


@pytest.mark.parametrize("heat", [{}, {"warm": 2, "hot": 5, "r1": 0, "r2_old": 2}])
def test_raro_in_python_moves_what_the_one_in_rust_moves(heat):
    small = {"medium.flash.blocks_per_plane": 10, "capacity.logical": "256MiB"}
    how = {
        "device": "raro-16gb",
        "set": {"errors.model": "raro", **small},
        "workload": "zipf:read=80%,theta=1.2,bs=16KiB,qd=4",
        "requests": 20_000,
        "initial": "fill:90%,valid=80%+pe:qlc=900,tlc=2700,slc=90000+retention:30d",
    }
    given = ",".join(f"{k}={v}" for k, v in heat.items())
    spelling = f"raro:{given}" if given else "raro"
    runs = [wl.run(scheme=s, **how) for s in (spelling, RaroPy(**heat))]
    assert runs[0].result_hash == runs[1].result_hash
    programs = runs[0].to_dict()["flash"]["programs"]
    assert programs["migration"]["program"] > 0
    assert programs["gc"]["program"] > 0


#: Parts of pages, whole ones, reads and trims, on a cache that is soon full.
BUSY = {
    "device": "fair-tlc",
    "workload": "mix:read=20%,trim=5%,bs=4KiB@50/16KiB@50,qd=8",
    "requests": 12_000,
    "set": {"slc_cache.static_blocks": 4},
    "initial": "fill:80%",
}


@pytest.mark.parametrize(
    ("rust", "python"),
    [
        ("sa", SaPy),
        ("sector", SectorPy),
        ("hierarchy", HierarchyPy),
        ("hierarchy:window=64,ws_unit=request", HierarchyPy(window=64, ws_unit="request")),
        (
            "hierarchy:division=page,runs=any,window=200",
            HierarchyPy(division="page", runs="any", window=200),
        ),
    ],
)
def test_packing_schemes_match_rust_bits_and_metrics(rust, python):
    reports = [wl.run(scheme=scheme, **BUSY).to_dict() for scheme in (rust, python)]
    assert reports[0]["result_hash"] == reports[1]["result_hash"]
    assert reports[0]["flash"]["programs"] == reports[1]["flash"]["programs"]
    metrics = [report.get("metrics") for report in reports]
    assert metrics[0] == metrics[1]
    assert bool(metrics[0]) == rust.startswith("hierarchy")


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden rows are not part of the package")
@pytest.mark.parametrize("unit", ["packed", "unpacked", "rmw"])
@pytest.mark.parametrize("workload", ["uniform:read=30%,qd=16", "mix:trim=10%,bs=512B@20/20KiB@30"])
def test_two_media_with_a_second_home_match_rust(unit, workload):
    how = {"device": GOLDEN / "two-media.toml", "requests": 2000, "initial": "fill:90%"}
    rust = f"hyssd:static,tlc_unit={unit},period=64,age=1"
    runs = [
        wl.run(scheme=scheme, workload=workload, check=True, **how).to_dict()
        for scheme in (rust, HyssdPy(tlc_unit=unit, period=64, age=1))
    ]
    assert runs[0]["result_hash"] == runs[1]["result_hash"]
    assert runs[0]["metrics"] == runs[1]["metrics"]
    assert runs[0]["flash"]["programs"]["migration"]["program"] > 0


@pytest.mark.parametrize("scheme", [SaPy, SectorPy, HierarchyPy, HyssdPy])
def test_what_packs_parts_of_pages_loses_none(scheme):
    found = wl.check(scheme, cases=25, power_cuts=5, states=0)
    assert found.cases == 25
    assert found.power_cuts > 5


def test_class_follows_another_scheme_as_its_twin_does():
    how = {"device": "fair-qlc", "workload": "zipf:read=70%,bs=16KiB", "requests": 4000}
    how["set"] = {"errors.model": "raro"}
    mine = wl.run(scheme=wl.over("slc-cache", RaroPy(warm=2)), **how)
    assert mine.result_hash == wl.run(scheme="slc-cache+raro:warm=2", **how).result_hash
    alone = wl.run(scheme=RaroPy(warm=2), **how)
    assert alone.result_hash != mine.result_hash
