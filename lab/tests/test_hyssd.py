"""What HySSD's folder measures."""

import pytest

import wordline as wl
from wordline_lab.experiments.hyssd import measures


def test_cycles_are_erases_or_what_was_programmed():
    report = wl.run(
        device="hyssd-st",
        set={"medium.*.blocks_per_plane": "16", "capacity.logical": "32MiB"},
        workload="zipf:bs=4KiB,qd=2,requests=20k",
        scheme="hyssd:static",
        initial="fill:100%",
    )
    found = {used: measures.cycles(report, used) for used in ("programs", "writes")}
    for region in report.flash.regions:
        programmed = region["program_bytes"] / measures.size_of(report, region["mode"])
        assert found["programs"][region["mode"]][0] == pytest.approx(programmed)
        collected = report.flash.program_bytes["gc"]["program"].get(region["name"], 0)
        copies = collected / measures.size_of(report, region["mode"])
        assert found["writes"][region["mode"]][0] == pytest.approx(programmed - copies)


def test_breaks_are_counted_against_one_inner_minimum():
    assert measures._breaks([5, 3, 2, 4, 6], 2) == 0
    assert measures._breaks([5, 6, 2, 4, 3], 2) == 2
    assert measures._breaks([1, 2, 3], 0) is None
