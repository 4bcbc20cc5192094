"""What the claims of RARO are measured by.

Each function takes the study and the arguments that its claim gives, and returns one number, or
``None`` where what it looks for did not occur.
"""

from __future__ import annotations

import itertools
from statistics import fmean

from wordline import Report
from wordline.experiments.raro import fit
from wordline.quantity import in_us
from wordline.reproduce.paper import Study

STAGES = ("young", "middle", "old")
SKEWS = ("zipf 0.8", "zipf 1.0", "zipf 1.2", "zipf 1.5")
SWEEPS = {
    "young": tuple(range(4, 11)),
    "middle": tuple(range(7, 14)),
    "old": tuple(range(11, 17)),
}
RETRIES = (0, 1, 4, 7, 10)
#: Per cent of the TLC pages that take a retry, in the sweep beside Figure 13.
TLC_SHARES = (0, 1, 10, 50, 100)
#: Warm from and hot from so many reads, skews and lengths of the grid beside Figures 13 to 16.
GRID_HEAT = tuple((w, h) for w in (2, 4, 8) for h in (8, 16, 32, 64) if w < h)
GRID_SKEWS = ("zipf 1.2", "zipf 1.5")
GRID_READS = tuple(n * 1_000_000 for n in (1, 4))
#: Capacity that RARO saves against Hotness, as section V-B prints it, by threads, skew and stage.
PRINTED_SAVING = {
    4: {"zipf 1.2": (0.741, 0.776, 0.534), "zipf 1.5": (0.667, 0.75, 0.75)},
    1: {"zipf 1.2": (0.704, 0.682, 0.386), "zipf 1.5": (0.714, 0.714, 0.571)},
}
MODES = ("SLC", "TLC", "QLC")
#: The threshold that section V-C chooses for a stage.
CHOSEN = {"young": 5, "middle": 7, "old": 11}
#: Bounds of the bulk of QLC pages (section V-C).
BULK = {"young": (4, 9), "middle": (7, 12), "old": (11, 16)}
MIB = 2**20
#: Bytes of the unit in which capacity moves: what a QLC block loses as TLC.
UNIT = 4 * MIB
#: Time outside the array of a page of 16 KiB, in us (Fig. 4: -46.5 % with one retry).
OUTSIDE_US = 21.0


def group_of(stage: str, threads: int) -> str:
    """Return the group of runs of a stage."""
    return stage if threads == 4 else f"{stage}-{threads}"


# --- Figures 2 to 4 ----------------------------------------------------------------------------


def bandwidth(report: Report) -> float:
    """Return MB/s read."""
    return report.throughput.read_mb_per_s


def modes_in_order(study: Study, workload: str) -> float:
    """Share of the neighbouring modes of which the one with fewer bits has more bandwidth."""
    found = [bandwidth(study.report(workload, mode, "modes")) for mode in MODES]
    return fmean(a > b for a, b in itertools.pairwise(found))


def qlc_below_slc(study: Study, workload: str) -> float:
    """Return by how much QLC's bandwidth is below SLC's, a share."""
    of = {mode: bandwidth(study.report(workload, mode, "modes")) for mode in MODES}
    return 1 - of["QLC"] / of["SLC"]


def relative_bandwidth(study: Study, mode: str, workload: str, retries: int) -> float:
    """Bandwidth with so many retries over that with none."""
    alone = bandwidth(study.report(workload, mode, "retries-0"))
    return bandwidth(study.report(workload, mode, f"retries-{retries}")) / alone


def bandwidth_lost(study: Study, mode: str, workload: str, retries: str) -> float:
    """Share of the bandwidth that so many retries cost."""
    return 1 - relative_bandwidth(study, mode, workload, int(retries))


def form(study: Study, mode: str, retries: int) -> float:
    """Return T0 / (T0 + n tR) of random reads, one at a time."""
    sense = configuration(study)[f"read {mode} us"]
    alone = sense + OUTSIDE_US
    return alone / (alone + retries * sense)


def over_form(study: Study, mode: str) -> float:
    """Relative bandwidth over the closed form, of the number of retries that is most off."""
    found = (relative_bandwidth(study, mode, "random", n) / form(study, mode, n) for n in RETRIES)
    return max(found, key=lambda ratio: abs(ratio - 1))


# --- Figures 5 and 6 ---------------------------------------------------------------------------


def histogram(study: Study, mode: str, stage: str) -> list[float]:
    """Share of the pages read with no retry, one, two and so on."""
    report = study.report("pages", mode, f"pages-{stage}")
    counts = report.to_dict()["flash"]["errors"]["host_pages"][mode.lower()]
    return [n / sum(counts) for n in counts]


def share_of_pages(study: Study, stage: str) -> float:
    """Share of QLC pages with as many retries as section V-C names."""
    least, most = BULK[stage]
    return sum(histogram(study, "QLC", stage)[least : most + 1])


def share_with_most(study: Study, stage: str) -> float:
    """Share of QLC pages with the most retries of their stage."""
    found, most = histogram(study, "QLC", stage), fit.PRINTED[stage][2]
    return found[most] if most < len(found) else 0.0


def least_retries(study: Study, stage: str) -> float:
    """Return the fewest retries that a QLC page takes."""
    return float(next(n for n, share in enumerate(histogram(study, "QLC", stage)) if share))


def steps_up(study: Study) -> float:
    """How often the mean retries of QLC pages are more than in the stage before."""
    found = [
        sum(n * share for n, share in enumerate(histogram(study, "QLC", stage))) for stage in STAGES
    ]
    return float(sum(b > a for a, b in itertools.pairwise(found)))


def most_retries_of_tlc(study: Study, stage: str) -> float:
    """Return the most retries that a TLC page takes."""
    return float(len(histogram(study, "TLC", stage)) - 1)


# --- Figures 8 to 11 ---------------------------------------------------------------------------


def moved_elsewhere(study: Study) -> float:
    """Bytes that RARO's moves programmed into QLC, over all runs with four threads."""
    total = 0
    for stage, skew in itertools.product(STAGES, SKEWS):
        moved = study.report(skew, "RARO", stage).to_dict()["flash"]["program_bytes"]["migration"]
        total += sum(n for kind in moved.values() for region, n in kind.items() if region == "Z")
    return float(total)


# --- Figures 13 to 16 --------------------------------------------------------------------------


def iops(study: Study, workload: str, scheme: str, stage: str, threads: int = 4) -> float:
    """Return reads a second."""
    return study.report(workload, scheme, group_of(stage, threads)).throughput.iops


def iops_over_base(study: Study, workload: str, stage: str, threads: int) -> float:
    """IOPS of RARO over Base's."""
    base = iops(study, workload, "Base", stage, threads)
    return iops(study, workload, "RARO", stage, threads) / base


def least_iops_over_base(study: Study, stage: str, threads: int) -> float:
    """Return the least of these ratios over the skews."""
    return min(iops_over_base(study, skew, stage, threads) for skew in SKEWS)


def over_hotness(study: Study, workload: str, stage: str, threads: int = 4) -> float:
    """IOPS of RARO over those of Hotness."""
    hotness = iops(study, workload, "Hotness", stage, threads)
    return iops(study, workload, "RARO", stage, threads) / hotness


def over_hotness_most_off(study: Study, stage: str, threads: int) -> float:
    """Return the one of these ratios over the skews that is farthest from 1."""
    found = (over_hotness(study, skew, stage, threads) for skew in SKEWS)
    return max(found, key=lambda ratio: abs(ratio - 1))


def least_over_best_other(study: Study, stage: str, threads: int) -> float:
    """Return the least ratio over the skews of RARO's IOPS to the most of Base and Hotness."""
    return min(
        iops(study, skew, "RARO", stage, threads)
        / max(iops(study, skew, other, stage, threads) for other in ("Base", "Hotness"))
        for skew in SKEWS
    )


def lost_bytes(report: Report) -> int:
    """Bytes of capacity that are gone at the end; none where blocks keep their mode."""
    capacity = report.to_dict()["capacity"]
    if "changing" not in capacity:
        return 0
    return capacity["physical_bytes"] - capacity["changing"]["usable_bytes"]


def lost(study: Study, workload: str, scheme: str, stage: str, threads: int = 4) -> int:
    """Bytes of capacity that a run loses."""
    return lost_bytes(study.report(workload, scheme, group_of(stage, threads)))


def loses_less(study: Study, stage: str, threads: int) -> float | None:
    """Share of the skews at which RARO loses less than Hotness.

    Of those at which Hotness has converted 8 blocks or more.
    """
    found = []
    for skew in SKEWS:
        report = study.report(skew, "Hotness", group_of(stage, threads))
        blocks = sum(
            r["blocks"] for r in report.to_dict()["capacity"]["regions"] if r["name"] != "Z"
        )
        if blocks >= 8:
            raro = lost(study, skew, "RARO", stage, threads)
            found.append(raro < lost(study, skew, "Hotness", stage, threads))
    return fmean(found) if found else None


def saving(study: Study, workload: str, stage: str, threads: int) -> float:
    """Share of Hotness' loss that RARO saves."""
    hotness = lost(study, workload, "Hotness", stage, threads)
    return 1 - lost(study, workload, "RARO", stage, threads) / hotness


# --- The grid beside Figures 13 to 16 --------------------------------------------------------


def over_grid(study: Study, workload: str, scheme: str, stage: str, threads: int) -> list[Report]:
    """Return the runs of a scheme with other heat and other lengths, in an order that all share."""
    group = f"grid-{group_of(stage, threads)}"
    if workload not in GRID_SKEWS:
        return []
    return [
        study.report(f"{workload} x {reads // threads}", f"{scheme} {warm}/{hot}", group)
        for reads in GRID_READS
        for warm, hot in GRID_HEAT
    ]


def iops_range(
    study: Study, workload: str, scheme: str, stage: str, threads: int
) -> tuple[float, float] | None:
    """Return the least and most reads a second over the grid."""
    found = [r.throughput.iops for r in over_grid(study, workload, scheme, stage, threads)]
    return (min(found), max(found)) if found else None


def lost_range(
    study: Study, workload: str, scheme: str, stage: str, threads: int
) -> tuple[int, int] | None:
    """Return the least and most bytes of capacity that are lost over the grid."""
    found = [lost_bytes(r) for r in over_grid(study, workload, scheme, stage, threads)]
    return (min(found), max(found)) if found else None


def saving_range(
    study: Study, workload: str, stage: str, threads: int
) -> tuple[float, float] | None:
    """Return the least and most of Hotness' loss that RARO saves with the same heat and length."""
    both = (over_grid(study, workload, s, stage, threads) for s in ("Hotness", "RARO"))
    pairs = [(lost_bytes(h), lost_bytes(r)) for h, r in zip(*both, strict=True)]
    found = [1 - raro / hotness for hotness, raro in pairs if hotness]
    return (min(found), max(found)) if found else None


# --- Figures 17 and 18 -------------------------------------------------------------------------


def swept(study: Study, workload: str, stage: str) -> list[tuple[int, Report]]:
    """Return R2 and the run with it."""
    group = f"r2-{stage}"
    return [(r2, study.report(workload, str(r2), group)) for r2 in SWEEPS[stage]]


def steps_down(study: Study, workload: str, stage: str) -> float:
    """How often a larger R2 loses less capacity than the one before."""
    found = [lost_bytes(report) for _, report in swept(study, workload, stage)]
    return float(sum(b < a for a, b in itertools.pairwise(found)))


def thresholds_better_than_chosen(study: Study, workload: str, stage: str) -> float:
    """How many R2 have both more IOPS and less loss than the one that the paper chooses."""
    found = {r2: (r.throughput.iops, lost_bytes(r)) for r2, r in swept(study, workload, stage)}
    chosen = found[CHOSEN[stage]]
    return float(sum(r[0] > chosen[0] and r[1] < chosen[1] for r in found.values()))


def lost_by_pages(report: Report) -> float:
    """Bytes of capacity that the pages moved take more than in QLC: 3 a byte in SLC, 1/3 in TLC."""
    moved = report.to_dict()["flash"]["program_bytes"]["migration"]
    programmed = moved.get("program", {})
    return 3.0 * programmed.get("X", 0) + programmed.get("Y", 0) / 3


def shallow_lost(study: Study, retries: int) -> float:
    """Share of sequential bandwidth that retries cost four threads of one request each."""
    of = {n: bandwidth(study.report("sequential", "QLC", f"shallow-{n}")) for n in (0, retries)}
    return 1 - of[retries] / of[0]


# --- Readings that were not taken, and the retries of TLC mode ----------------------------------


def in_group(study: Study, workload: str, group: str, over: str) -> float:
    """IOPS of RARO over another scheme's in a group of runs."""
    of = {s: study.report(workload, s, group).throughput.iops for s in (over, "RARO")}
    return of["RARO"] / of[over]


def saving_in(study: Study, workload: str, group: str) -> float:
    """Share of Hotness' loss that RARO saves in a group of runs."""
    of = {s: lost_bytes(study.report(workload, s, group)) for s in ("Hotness", "RARO")}
    return 1 - of["RARO"] / of["Hotness"]


def tlc_retried(study: Study, workload: str, share: int) -> float | None:
    """Share of RARO's reads of TLC pages that took a retry, where so many per cent of pages do."""
    report = study.report(workload, "RARO", f"tlc-{share}").to_dict()
    counts = report["flash"]["errors"]["host_pages"].get("tlc")
    return 1 - counts[0] / sum(counts) if counts else None


# --- Tables ------------------------------------------------------------------------------------


def configuration(study: Study) -> dict[str, float]:
    """Return Tables III and IV as the drive has them: times in us and ms."""
    medium = study.report("random", "QLC", "retries-0").config["device"].to_dict()["media"][0]
    parts = medium["topology"]
    found: dict[str, float] = {
        "channels": parts["channels"],
        "LUNs a channel": parts["chips_per_channel"] * parts["dies_per_chip"],
        "planes a LUN": parts["planes_per_die"],
        "blocks a plane": medium["blocks_per_plane"],
        "page KiB": float(medium["page"].removesuffix("KiB")),
    }
    for mode, bits, at in (("SLC", 1, 0), ("TLC", 3, 2), ("QLC", 4, 3)):
        times = medium["modes"][at]
        found[f"pages {'an' if mode == 'SLC' else 'a'} {mode} block"] = (
            bits * medium["wordlines_per_block"]
        )
        found[f"read {mode} us"] = in_us(times["read"][0])
        found[f"write {mode} us"] = in_us(times["program"][0])
        found[f"erase {mode} ms"] = in_us(times["erase"]) / 1e3
        found[f"cycles {mode}"] = times["endurance"]
    return found


def configured(study: Study, item: str) -> float:
    """Return one value of Tables III and IV as the drive has it."""
    return float(configuration(study)[item])


def stage_begins(study: Study, stage: str) -> float:
    """Return the first cycles of a stage, the thirds of a life as the scheme has them."""
    cycles = int(configuration(study)["cycles QLC"])
    third = STAGES.index(stage)
    return float(next(c for c in range(cycles) if c * 3 // cycles == third))


def principle(study: Study, row: str) -> float:
    """Return a threshold of Table II as the runs have it."""
    given = study.report("zipf 1.2", "RARO", "young").config["scheme"].to_dict()["parameters"]
    return float(given["r2_young" if "R2" in row else "r1"])
