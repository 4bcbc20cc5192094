"""Schemes in Python beside their twins in Rust: ``make bench CASES=python-schemes``.

Each line is a scheme of the package or the laboratory and its twin on the same drive and load, five
pairs: user seconds of a run, the middle ratio with the least and the most, and the result hash.
SepBIT has no twin in Rust: it is held against `conventional`, which learns nothing.
"""

import argparse
import importlib
import json
import resource
import statistics
import subprocess
import sys

import wordline as wl

#: Class, twin, and what both run on.
CASES = {
    "ips": ("wordline_lab.conformance.ips#IpsPy", "ips", {
        "device": "fair-tlc", "workload": "uniform:read=0%,bs=16KiB", "requests": 600_000,
    }),
    "raro": ("wordline_lab.conformance.raro#RaroPy", "raro", {
        "device": "fair-qlc", "workload": "zipf:theta=1.1,read=70%,bs=16KiB", "requests": 600_000,
        "initial": "fill:90%,valid=85%+pe:qlc=900", "set": {"errors.model": "raro"},
    }),
    "sector": ("wordline_lab.conformance.sector#SectorPy", "sector", {
        "device": "fair-tlc", "workload": "zipf:theta=1.1,read=20%,bs=4KiB", "requests": 800_000,
    }),
    "sepbit": ("wordline.examples.sepbit#SepBit", "conventional", {
        "device": "fair-tlc", "workload": "zipf:theta=0.99,read=0%,bs=16KiB", "requests": 600_000,
    }),
}  # fmt: skip
PAIRS = 5
#: How many times the twin a scheme in Python may take.
MOST = 3


def user_seconds() -> float:
    """Return the user seconds of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def one(name: str, in_python: bool) -> None:
    """Do a run, and print its user seconds and its result hash."""
    path, twin, how = CASES[name]
    module, _, cls = path.partition("#")
    own = getattr(importlib.import_module(module), cls)
    begin = user_seconds()
    report = wl.run(scheme=own if in_python else twin, **how)
    print(json.dumps([user_seconds() - begin, report.result_hash, report.waf.total]))


def measured(name: str, in_python: bool) -> tuple[float, str, float]:
    """Return what a run in a process of its own came to."""
    words = [sys.executable, __file__, "--one", name, *(["--python"] if in_python else [])]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    seconds, result_hash, waf = json.loads(done.stdout.splitlines()[-1])
    return seconds, result_hash, waf


def main() -> int:
    """Print a line a case; return 1 where one takes more than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", choices=CASES)
    parser.add_argument("--python", action="store_true")
    parser.add_argument("cases", nargs="*", help="words that a case's name has")
    asked = parser.parse_args()
    if asked.one:
        one(asked.one, asked.python)
        return 0
    head = f"{'python schemes':<16} {'twin':<13} {'user s':>7} {'twin s':>7}  {'times':>5}"
    print(f"{head}  {'of the five':>11}  {'WAF':>5}  result")
    over = 0
    for name in (n for n in CASES if not asked.cases or any(w in n for w in asked.cases)):
        pairs = [(measured(name, True), measured(name, False)) for _ in range(PAIRS)]
        ratios = sorted(ours[0] / theirs[0] for ours, theirs in pairs)
        ours, theirs = ([pair[i][0] for pair in pairs] for i in (0, 1))
        (_, own_hash, waf), (_, twin_hash, _) = pairs[0]
        same = own_hash if own_hash == twin_hash else f"{own_hash}, the twin's is {twin_hash}"
        times = ratios[PAIRS // 2]
        over += times > MOST
        print(
            f"{name:<16} {CASES[name][1]:<13} {statistics.median(ours):>7.2f} "
            f"{statistics.median(theirs):>7.2f}  {times:>5.2f}  "
            f"{f'{ratios[0]:.2f}-{ratios[-1]:.2f}':>11}  {waf:>5.2f}  {same}",
            flush=True,
        )
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
