import csv

import pytest

import wordline as wl
from helpers import ROOT

FOLDER = ROOT / "crates/run/tests/golden"


def rows():
    with (FOLDER / "table.tsv").open() as table:
        return [r for r in csv.DictReader(table, delimiter="\t") if r["result_hash"] != "refused"]


def name(row):
    return f"{row['scheme']} {row['device']} {row['workload']}"


@pytest.mark.parametrize("row", rows(), ids=name)
def test_release_package_matches_golden_table(row):
    workload = row["workload"]
    if workload.endswith(".csv"):
        workload = str(FOLDER / workload)
    report = wl.run(
        device=str(FOLDER / row["device"]),
        scheme=row["scheme"],
        workload=workload,
        requests=int(row["requests"]),
        initial=row["initial"],
        seed=int(row["seed"]),
    )
    assert report.result_hash == row["result_hash"]
