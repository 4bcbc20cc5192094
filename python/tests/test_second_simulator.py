"""Engine and second simulator must agree on the completion of every request, and on where its
time went.

``WORDLINE_SECOND_CASES=5000`` looks further, ``WORDLINE_SECOND_SEED=N`` begins elsewhere, and
``WORDLINE_SECOND_CASES=1`` with a seed replays one case.
"""

import os
from collections import Counter

import pytest
from second import latency
from second.drives import (
    Request,
    completions,
    device_file,
    initial,
    random_case,
    random_requests,
    trace_file,
    workload,
)
from second.simulator import Simulator

import wordline as wl

CASES = int(os.environ.get("WORDLINE_SECOND_CASES", 200))
SEED = int(os.environ.get("WORDLINE_SECOND_SEED", 1))
BATCH = 50


def reached(report: wl.Report) -> Counter:
    """What a case came to, so that a batch can be seen to try what matters."""
    flash = report.flash
    together = flash.to_dict().get("multiplane", {}).get("operations", {})
    suspended = flash.to_dict().get("suspensions", {})
    return Counter(
        {
            "blocks erased": sum(flash.erases.values()),
            "pages read to fill partial writes": flash.reads["rmw"],
            "pages padded": flash.programs["pad"]["program"],
            "pages migrated": flash.programs["migration"]["program"],
            "reads from RAM": flash.reads_from_ram,
            "requests out of space": report.host.failed.get("out_of_space", 0),
            "flushes": report.host.flush_requests,
            "trims": report.host.trim_requests,
            "writes paced": report.to_dict()["host"].get("writes_paced") or 0,
            **{f"{kind}s of several planes together": n for kind, n in together.items()},
            **{f"{kind}s suspended": n for kind, n in suspended.items()},
            "retries": sum(
                (report.to_dict()["flash"].get("errors") or {}).get("retries", {}).values()
            ),
            "uncorrectable reads": report.host.failed.get("uncorrectable", 0),
        }
    )


def differences(seed: int, folder, seen: Counter) -> list[str]:
    """What engine and second simulator say of a case, where they differ."""
    c, kind = random_case(seed)
    count = 40 + seed % 7 * 25
    device, trace, out = folder / "second.toml", folder / "second.trace", folder / "done.csv"
    device.write_text(device_file(c))
    requests = random_requests(c, kind, seed, count)
    trace.write_text(trace_file(requests, kind))
    report = wl.run(
        device=device,
        scheme=c.scheme,
        workload=workload(c, kind, trace, seed, count),
        initial=initial(c),
        seed=seed,
        check=True,
        completions=out,
    )
    seen.update(reached(report))
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
        engine += tuple(int(row[f"{part}_ns"]) for part in latency.PARTS)
        second += tuple(request.latency[part] for part in latency.PARTS)
        if engine != second:
            found.append(f"request {row['number']}: engine {engine}, second {second}")
    return found


SEEN: Counter = Counter()


@pytest.mark.parametrize("first", range(SEED, SEED + CASES, BATCH))
def test_second_simulator_agrees_on_completions(first, tmp_path):
    for seed in range(first, min(first + BATCH, SEED + CASES)):
        found = differences(seed, tmp_path, SEEN)
        replay = f"replay: WORDLINE_SECOND_SEED={seed} WORDLINE_SECOND_CASES=1 pytest {__file__}"
        assert not found, f"{len(found)} requests differ\n{found[0]}\n{replay}"


@pytest.mark.skipif(CASES < 200, reason="so few cases need not reach everything")
def test_the_cases_reach_what_matters():
    assert not [what for what, times in SEEN.items() if times == 0], SEEN
