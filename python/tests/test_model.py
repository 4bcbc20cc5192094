"""The analytic model of HySSD: curves without a simulation, and simulations beside them."""

import csv
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rich", reason="needs pip install '.[sweep]'")
pytest.importorskip("pyarrow", reason="needs pip install '.[sweep]'")

import wordline as wl
from wordline import model

DEVICE = str(Path(__file__).parents[2] / "crates/run/tests/golden/two-media.toml")
WORKLOAD = "zipf:read=30%,bs=4KiB,qd=2,requests=20k"


def test_curves_match_formulas():
    found = model.curves(device=DEVICE, workload="zipf:read=30%,bs=4KiB,requests=40k")
    points = found["points"]
    assert found["page_reads"] + found["page_writes"] == 40_000
    assert found["io_w"] == pytest.approx(0.7, abs=0.02)
    for key in ("h_w", "h_r"):
        assert np.all(np.diff([p[key] for p in points]) >= 0)
    for point in points:
        written, read = found["io_w"] * point["c_pw_hy_us"], point["c_pr_hy_us"]
        assert point["c_hyssd_us"] == pytest.approx(written + (1 - found["io_w"]) * read)
        assert point["effective_us"] > point["c_hyssd_us"]
    best = model.least_cost(points)
    assert all(best["c_hyssd_us"] <= p["c_hyssd_us"] for p in points)
    assert model.longest_life(points) is None  # the device file gives no endurance


def test_whole_page_charge_costs_more():
    least = {
        unit: model.least_cost(
            model.curves(device=DEVICE, workload=WORKLOAD, scheme=f"hyssd:tlc_unit={unit}")[
                "points"
            ]
        )["c_hyssd_us"]
        for unit in ("packed", "mixed")
    }
    assert least["mixed"] > least["packed"]


def test_charged_read_costs_every_miss():
    free, charged = (
        model.curves(device=DEVICE, workload=WORKLOAD, scheme=f"hyssd:rest={rest}")["points"]
        for rest in ("free", "charged")
    )
    more = [
        (b["c_pw_hy_us"] - a["c_pw_hy_us"]) / (1 - a["h_w"])
        for a, b in zip(free, charged, strict=True)
    ]
    assert more == pytest.approx([more[0]] * len(more))
    assert more[0] > 0


def test_grid_sets_the_utilizations_of_the_model():
    hundredths, sixteenths = (
        model.curves(device=DEVICE, workload=WORKLOAD, scheme=scheme)["points"]
        for scheme in ("hyssd", "hyssd:grid=6.25%")
    )
    assert [p["u"] * 16 % 1 for p in sixteenths] == [0] * len(sixteenths)
    assert 5 < len(sixteenths) < len(hundredths) / 5
    # Where both have a point it is the same.
    by_u = {p["u"]: p for p in hundredths}
    shared = [p for p in sixteenths if p["u"] in by_u]
    assert len(shared) >= 2
    assert all(p == by_u[p["u"]] for p in shared)
    with pytest.raises(wl.UserError, match=r"60% is not between 0\.1% and 50%"):
        model.curves(device=DEVICE, workload=WORKLOAD, scheme="hyssd:grid=60%")


def test_model_command_lists_and_simulates_its_grid(wordline, tmp_path):
    arguments = ("--device", DEVICE, "--workload", WORKLOAD, "--simulate", "--out", "m")
    done = wordline("model", "hyssd:grid=6.25%", *arguments, timeout=600)
    assert done.code == 0, done.out + done.err
    with (tmp_path / "m" / "model.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    listed = [line.split()[0] for line in done.out.splitlines() if line.strip().startswith("0.")]
    assert [float(u) for u in listed] == [float(row["u"]) for row in rows]
    simulated = [float(row["u"]) * 16 for row in rows if row["simulated_us"]]
    assert len(simulated) > 3
    assert all(u % 1 == 0 for u in simulated)


def test_level_planes_do_not_wait_for_gc():
    # Half of each die of SLC is spare, 2,048 pages: a whole number of sixteenths of a block. The
    # roomiest is then taken though it collects; `level` counts equals from the roomiest on.
    waits = {
        place: wl.run(
            device="hyssd-st",
            set={
                "medium.slc.blocks_per_plane": "32",
                "medium.tlc.blocks_per_plane": "30",
                "capacity.logical": "480MiB",
            },
            scheme=f"hyssd:static,u=50%,tlc_unit=rmw,place={place}",
            workload="zipf:read=0%,bs=4KiB,span=32MiB,rate=2k,requests=60k",
            initial="fill:100%",
        ).latency_parts_us["write"]["behind_gc"]
        for place in ("roomiest", "level")
    }
    assert waits["level"] < 0.5 * waits["roomiest"]


def test_model_errors_suggest_devices():
    with pytest.raises(wl.Refused, match="two media"):
        model.curves(device="demo-8gb", workload="uniform:requests=10")
    with pytest.raises(wl.UserError, match="hyssd"):
        model.curves(device=DEVICE, workload="uniform:requests=10", scheme="slc-cache")


def test_model_command_writes_plot(wordline, tmp_path):
    arguments = ("--device", DEVICE, "--workload", WORKLOAD, "--simulate", "--out", "m")
    done = wordline("model", "hyssd", *arguments, timeout=600)
    assert done.code == 0, done.out + done.err
    assert "least cost at u =" in done.out
    assert "simulated" in done.out
    assert (tmp_path / "m" / "model.svg").read_text().startswith("<?xml")
    head, *rows = (tmp_path / "m" / "model.csv").read_text().splitlines()
    assert head.endswith("simulated_us")
    assert any(not row.endswith(",") for row in rows)
