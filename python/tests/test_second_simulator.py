"""Engine and second simulator must agree on the completion of every request.

``WORDLINE_SECOND_CASES=5000`` looks further, ``WORDLINE_SECOND_SEED=N`` begins elsewhere, and
``WORDLINE_SECOND_CASES=1`` with a seed replays one case.
"""

import os

import pytest
from second.drives import (
    Request,
    completions,
    device_file,
    random_case,
    random_requests,
    trace_file,
    workload,
)
from second.simulator import Simulator

import wordline as wl

CASES = int(os.environ.get("WORDLINE_SECOND_CASES", 200))
SEED = int(os.environ.get("WORDLINE_SECOND_SEED", 1))
BATCH = 25


def differences(seed: int, folder) -> list[str]:
    """What engine and second simulator say of a case, where they differ."""
    c, kind = random_case(seed)
    count = 60 + seed % 7 * 40
    device, trace, out = folder / "second.toml", folder / "second.trace", folder / "done.csv"
    device.write_text(device_file(c))
    requests = random_requests(c, kind, seed, count)
    trace.write_text(trace_file(requests, kind))
    wl.run(
        device=device,
        scheme=c.scheme,
        workload=workload(c, kind, trace, seed, count),
        initial=f"fill:{c.fill / 10_000_000:g}%,order=seq" if c.fill else "fresh",
        seed=seed,
        check=True,
        completions=out,
    )
    rows = completions(out)
    if kind == "trims":
        requests = [
            Request(
                int(row["number"]),
                row["op"],
                int(row["lba"]),
                int(row["blocks"]),
                int(row["arrival_ns"]),
            )
            for row in rows
        ]
    Simulator(c).run(requests)
    assert len(rows) == len(requests)
    found = []
    for row, request in zip(rows, requests, strict=True):
        engine = (row["op"], int(row["arrival_ns"]), int(row["completion_ns"]), row["outcome"])
        second = (request.op, request.arrival, request.completion, request.outcome)
        if engine != second:
            found.append(f"request {row['number']}: engine {engine}, second {second}")
    return found


@pytest.mark.parametrize("first", range(SEED, SEED + CASES, BATCH))
def test_engine_and_second_simulator_agree_on_every_completion(first, tmp_path):
    for seed in range(first, min(first + BATCH, SEED + CASES)):
        found = differences(seed, tmp_path)
        replay = f"replay: WORDLINE_SECOND_SEED={seed} WORDLINE_SECOND_CASES=1 pytest {__file__}"
        assert not found, f"{len(found)} requests differ\n{found[0]}\n{replay}"
