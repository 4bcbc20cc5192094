"""How much closer arrivals come: chosen on the Baseline alone, by the rule of ``[calibrated]``.

``python -m wordline_lab.experiments.hierarchy.closeness [REQUESTS]`` prints the workloads of the
groups `flushed` and `buffer`, as ``experiment.toml`` has them, and with ``--traces DIR`` what real
traces there get in `flushed`, each on the drive that ``[pieces.shrink]`` gives it. No other scheme
is run.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

import wordline
from wordline import toml
from wordline_lab.reproduce import paper
from wordline_lab.reproduce.groups import with_options

#: Of each group: the device's settings, steps a decade, and the time in us that is doubled where no
#: run finds it: a page of 16 KiB on the idle drive.
GROUPS: Mapping[str, tuple[Mapping[str, str], int, float | None]] = {
    "flushed": ({"ack.mode": "program"}, 10, None),
    "buffer": ({"ack.mode": "buffer", "ack.pages": "64"}, 40, 549.0),
}
EXPERIMENT = Path(__file__).parent / "experiment.toml"
#: Decades that are searched.
LEAST, MOST = -2, 5
#: The first of them for real traces, of which bursts are left at a hundredth.
LEAST_OF_PIECES = -4


def common() -> dict[str, str]:
    """Return the settings of all runs of the evaluation."""
    return dict(toml.read(EXPERIMENT).get("set", {}))


def closer(workload: str, speedup: float) -> str:
    """Spell a workload with arrivals so many times closer, to three digits."""
    return with_options(workload, f"speedup={_digits(speedup)}")


def _digits(speedup: float) -> str:
    return f"{float(f'{speedup:.3g}'):g}"


def write_us(
    workload: str, settings: Mapping[str, str], speedup: float, requests: int | None
) -> float:
    """Mean write latency of the Baseline, in us, with arrivals so many times closer."""
    report = wordline.run(
        device="hierarchy-44gb",
        scheme="slc-cache",
        workload=closer(workload, speedup),
        set={**common(), **settings},
        initial=toml.read(EXPERIMENT)["initial"],
        requests=requests,
    )
    return report.latency_us.write.mean


def closeness(
    workload: str,
    group: str,
    requests: int | None = None,
    drive: Mapping[str, str] | None = None,
    least: int = LEAST,
) -> float:
    """Return the least step at which a write waits as long as it is worked on.

    Latencies rise with closeness, so the step is found by halving.
    """
    settings, steps, alone = GROUPS[group]
    settings = {**settings, **(drive or {})}
    if alone is None:
        alone = write_us(workload, settings, 10.0**least, requests)
    low, high = least * steps, MOST * steps
    while high - low > 1:
        middle = (low + high) // 2
        if write_us(workload, settings, 10 ** (middle / steps), requests) >= 2 * alone:
            high = middle
        else:
            low = middle
    return 10 ** (high / steps)


def of_pieces(traces: str) -> dict[str, str]:
    """Return what real traces get in `flushed`, by label.

    Those whose requests come at a single instant get nothing: no pace changes what they wait.
    """
    found = {}
    for piece in paper.read("hierarchy", traces=traces).pieces:
        if (
            piece.beside == "flushed"
            and piece.is_run
            and wordline.inspect(piece.spelling).span_s > 1
        ):
            drive = piece.drive.settings if piece.drive else {}
            spelling = ",".join(
                o for o in piece.spelling.split(",") if not o.startswith("speedup=")
            )
            speedup = closeness(spelling, "flushed", None, drive, LEAST_OF_PIECES)
            found[f"{piece.workload} ({piece.file})"] = f"speedup={_digits(speedup)}"
    return found


def main() -> None:
    """Print the spellings of both groups, or those of pieces."""
    if sys.argv[1:2] == ["--traces"]:
        for label, option in of_pieces(sys.argv[2]).items():
            print(f'"{label}" = "{option}"', flush=True)
        return
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else None
    workloads = paper.read("hierarchy").workloads
    for group in GROUPS:
        print(f"# {group}", flush=True)
        with ThreadPoolExecutor(2) as pool:
            found = pool.map(closeness, workloads.values(), repeat(group), repeat(requests))
            for (name, spelling), speedup in zip(workloads.items(), found, strict=True):
                print(f'{name} = "{closer(spelling, speedup)}"', flush=True)


if __name__ == "__main__":
    main()
