"""Read retries against the formulas of the specification, which share no code with the engine.

Blocks and pages are alike here (no variation), so how often a page is read again follows from the
log alone: which block, which bit, how many reads before it, at what time.
"""

import csv
import json
import math

import pytest

import wordline as wl

CYCLES, DAYS = 700, 20
HOUR_NS = 3_600_000_000_000
SENSES = (4, 4, 4, 3)


def rber(cycles, hours, reads, gamma):
    """SPEC 6.1 with the fitted set of QLC."""
    cycles = max(cycles, 1)
    rate = 1.317e-2 + 1.627e-8 * cycles**2.05 + 6.28e-5 * cycles**0.14 * hours**0.54
    return min(rate + gamma * cycles**0.33 * reads**1.71, 0.5)


def retries(rate, bit):
    """SPEC 6.2: errors of a codeword of 8192 bits, of which 72 can be corrected."""
    errors = 8192 * rate * SENSES[bit] / (sum(SENSES) / 4)
    if errors <= 72:
        return 0.0
    return math.log(errors / 72) / -math.log(0.9)


@pytest.mark.parametrize("gamma", [3.73e-9, 1e-4])
def test_logged_retries_match_formula(wordline, tmp_path, gamma):
    changes = {
        "errors.model": "raro",
        "errors.qlc.sigma_block": "0",
        "errors.qlc.sigma_page": "0",
        "errors.qlc.gamma": str(gamma),
        "medium.flash.blocks_per_plane": "8",
        "medium.flash.wordlines_per_block": "4",
        "capacity.logical": "2MiB",
    }
    done = wordline(
        *("run", "--device", "raro-16gb", "--scheme", "conventional"),
        *("--workload", "zipf:read=100%,bs=16KiB,rate=1,theta=1.2,requests=20000"),
        *("--initial", f"fill:100%+pe:qlc={CYCLES}+retention:{DAYS}d"),
        *(part for key, value in changes.items() for part in ("--set", f"{key}={value}")),
        *("--log", "log.csv", "--json", "-"),
    )
    assert done.code == 0, done.err
    before: dict[str, int] = {}
    checked = 0
    with (tmp_path / "log.csv").open() as file:
        next(file)
        for row in csv.DictReader(file):
            if row["kind"] != "read" or row["use"] != "array":
                continue
            reads = before.get(row["block"], 0)
            before[row["block"]] = reads + 1
            hours = DAYS * 24 + int(row["start_ns"]) // HOUR_NS
            rate = rber(CYCLES, hours, reads // 16, gamma)
            exact = retries(rate, int(row["slot"]) % 4)
            # The engine keeps seven digits; within those of a whole number it may round either way.
            allowed = {min(math.ceil(exact - d), 16) for d in (-2e-5, 2e-5)}
            assert int(row["retries"]) in allowed, (row, exact)
            checked += 1
    assert checked == 20000
    # Hours pass in this run, and blocks are read often.
    assert hours > DAYS * 24 + 3
    assert max(before.values()) > 5 * 16
    report = json.loads(done.out) if done.json is None else done.json
    assert report["flash"]["errors"]["retries"]["host"] > 0


def test_log_with_retries_is_checked(wordline, tmp_path):
    for number, more in enumerate(((), ("--set", "errors.retransfer=true"))):
        log = f"log{number}.csv"
        done = wordline(
            *("run", "--device", "raro-16gb", "--scheme", "raro:warm=1,hot=2"),
            *("--workload", "zipf:read=90%,bs=4KiB,qd=4,theta=1.2,requests=3000"),
            *("--initial", "fill:80%+pe:qlc=900+retention:30d"),
            *("--set", "errors.model=raro", "--set", "errors.decode=3us", *more),
            *("--set", "medium.flash.blocks_per_plane=16", "--set", "capacity.logical=256MiB"),
            *("--log", log, "--json", f"r{number}.json"),
        )
        assert done.code == 0, done.err
        sound = wordline("check-log", log, "--report", f"r{number}.json")
        assert sound.code == 0, sound.out + sound.err
        lines = (tmp_path / log).read_text().splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if ",array,read,host," in line and i > 50)
        cells = lines[at].rstrip("\n").split(",")
        cells[-1] = str(int(cells[-1]) - 1)
        (tmp_path / "bad.csv").write_text(
            "".join([*lines[:at], ",".join(cells) + "\n", *lines[at + 1 :]])
        )
        assert wordline("check-log", "bad.csv").code != 0


def test_saved_and_rerun_a_worn_drive_is_the_same(tmp_path):
    arguments = {
        "device": "raro-16gb",
        "scheme": "raro",
        "workload": "zipf:read=100%,bs=4KiB,qd=1,threads=4,theta=1.2,requests=20000",
        "initial": "fill:100%+pe:qlc=900+retention:30d",
        "set": {"errors.model": "raro"},
    }
    first, again = wl.run(**arguments), wl.run(**arguments)
    assert first.result_hash == again.result_hash
    off = wl.run(**{**arguments, "set": {}})
    assert off.to_dict()["flash"].get("errors") is None
    assert any("errors.model" in hint for hint in off.to_dict()["hints"])
