"""What the claims of RARO are measured by.

Each function takes the study and the arguments that its claim gives, and returns one number, or
``None`` where what it looks for did not occur.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from statistics import fmean

from wordline import Report
from wordline.quantity import in_us
from wordline_lab.experiments.raro import fit
from wordline_lab.reproduce.paper import Study

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
#: Regions of the schemes by the mode of their blocks.
REGIONS = {"SLC": "X", "TLC": "Y"}


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


def least_retries(study: Study, stage: str, quantile: float = 0.0) -> float:
    """Return the fewest retries that a QLC page takes, but for a share of the pages."""
    shares = itertools.accumulate(histogram(study, "QLC", stage))
    return float(next(n for n, share in enumerate(shares) if share > quantile))


def mean_retries(study: Study, mode: str, stage: str) -> float:
    """Return the mean retries of the pages of a stage."""
    return sum(n * share for n, share in enumerate(histogram(study, mode, stage)))


def steps_up(study: Study) -> float:
    """How often the mean retries of QLC pages are more than in the stage before."""
    found = [mean_retries(study, "QLC", stage) for stage in STAGES]
    return float(sum(b > a for a, b in itertools.pairwise(found)))


def mean_over_most_of_tlc(study: Study, stage: str) -> float:
    """Return the mean retries of a QLC page over the most that a TLC page takes, or over 1."""
    return mean_retries(study, "QLC", stage) / max(1.0, most_retries_of_tlc(study, stage))


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


def times_base_over_young(study: Study, stage: str) -> float:
    """IOPS of RARO over Base's, over the same ratio in the young stage."""
    young = iops_over_base(study, "zipf 1.5", "young", 4)
    return iops_over_base(study, "zipf 1.5", stage, 4) / young


def base_over_young(study: Study, stage: str) -> float:
    """Return the most over the skews of Base's IOPS over those in the young stage."""
    return max(iops(study, w, "Base", stage) / iops(study, w, "Base", "young") for w in SKEWS)


def retry_share(study: Study, stage: str) -> float:
    """Return the least share over the skews of Base's read latency that retries take."""
    reports = (study.report(skew, "Base", stage).to_dict() for skew in SKEWS)
    return float(min(r["flash"]["errors"]["share_of_read_latency"] for r in reports))


def retries_a_read(study: Study, workload: str, scheme: str, stage: str) -> float:
    """Return the mean retries of a page read, four threads."""
    report = study.report(workload, scheme, stage).to_dict()
    return float(report["flash"]["errors"]["retries_per_host_page"])


def retries_over_base(study: Study, stage: str) -> float:
    """Return the most over the skews of RARO's retries a read over Base's."""
    return max(
        retries_a_read(study, w, "RARO", stage) / retries_a_read(study, w, "Base", stage)
        for w in SKEWS
    )


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
        if converted_blocks(report) >= 8:
            raro = lost(study, skew, "RARO", stage, threads)
            found.append(raro < lost(study, skew, "Hotness", stage, threads))
    return fmean(found) if found else None


def capacity_left(study: Study, stage: str, threads: int) -> float:
    """Return the least over the skews of RARO's capacity at the end over that at the beginning."""
    found = []
    for skew in SKEWS:
        report = study.report(skew, "RARO", group_of(stage, threads))
        physical = report.to_dict()["capacity"]["physical_bytes"]
        found.append(1 - lost_bytes(report) / physical)
    return min(found)


def migrated_bytes(report: Report, *modes: str) -> int:
    """Bytes that moves after reads programmed, into any mode or into some."""
    moved = report.to_dict()["flash"]["program_bytes"]["migration"].get("program", {})
    regions = [REGIONS[mode] for mode in modes] or list(moved)
    return sum(moved.get(region, 0) for region in regions)


def converted_blocks(report: Report) -> int:
    """Blocks that are no QLC at the end."""
    regions = report.to_dict()["capacity"]["regions"]
    return sum(r["blocks"] for r in regions if r["name"] != "Z")


def _over_hotness(
    study: Study, of: Callable[[Report], int], stage: str, threads: int
) -> float | None:
    """Return what all skews come to under RARO over the same under Hotness."""
    group = group_of(stage, threads)
    raro, hotness = (
        sum(of(study.report(skew, scheme, group)) for skew in SKEWS)
        for scheme in ("RARO", "Hotness")
    )
    return raro / hotness if hotness else None


def migrated_over_hotness(study: Study, stage: str, threads: int) -> float | None:
    """Bytes that RARO migrates over all skews, over those that Hotness migrates."""
    return _over_hotness(study, migrated_bytes, stage, threads)


def converted_over_hotness(study: Study, stage: str, threads: int) -> float | None:
    """Blocks that RARO converts over all skews, over those that Hotness converts."""
    return _over_hotness(study, converted_blocks, stage, threads)


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


def largest_over_chosen(study: Study, workload: str, stage: str) -> float:
    """IOPS with the largest R2 over those with the one that the paper chooses."""
    found = {r2: report.throughput.iops for r2, report in swept(study, workload, stage)}
    return found[SWEEPS[stage][-1]] / found[CHOSEN[stage]]


def lost_at_largest_over_smallest(study: Study, workload: str, stage: str) -> float | None:
    """Bytes of capacity lost with the largest R2 over those lost with the smallest."""
    found = [lost_bytes(report) for _, report in swept(study, workload, stage)]
    return found[-1] / found[0] if found[0] else None


def migrated_at_largest_over_smallest(study: Study, mode: str, stage: str) -> float | None:
    """Bytes migrated into a mode with the largest R2 over those with the smallest."""
    sweeps = [swept(study, skew, stage) for skew in GRID_SKEWS]
    least, most = (sum(migrated_bytes(s[at][1], mode) for s in sweeps) for at in (0, -1))
    return most / least if least else None


# --- Section IV-C: thresholds at both ends ------------------------------------------------------


def iops_with_high_thresholds(study: Study, stage: str) -> float:
    """Return the most over two skews of IOPS with the highest thresholds over the chosen ones'."""
    found = []
    for skew in GRID_SKEWS:
        of = {s: study.report(skew, s, f"ends-{stage}") for s in ("high", "chosen")}
        found.append(of["high"].throughput.iops / of["chosen"].throughput.iops)
    return max(found)


def migrated_with_low(study: Study, threshold: str, stage: str) -> float | None:
    """Bytes migrated over two skews with a low R1 or R2 over those with the chosen thresholds."""
    low, chosen = (
        sum(migrated_bytes(study.report(skew, s, f"ends-{stage}")) for skew in GRID_SKEWS)
        for s in (f"{threshold} low", "chosen")
    )
    return low / chosen if chosen else None


# --- Figure 12 ---------------------------------------------------------------------------------


def regained(study: Study) -> float | None:
    """Share of the capacity lost without reclaim that reclaim by heat gives back."""
    lost, left = (
        lost_bytes(study.report("moving", s, "reclaim")) for s in ("RARO", "RARO with reclaim")
    )
    return 1 - left / lost if lost else None


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


def parameters(study: Study) -> dict[str, str]:
    """Return the parameters that the runs of RARO have."""
    scheme = study.report("zipf 1.2", "RARO", "young").config["scheme"].to_dict()
    return {key: str(value) for key, value in scheme["parameters"].items()}


def principle(study: Study, row: str, beyond: int = 0) -> float:
    """Return a threshold of Table II as the runs have it, of retries that must be exceeded so."""
    return float(parameters(study)["r2_young" if "R2" in row else "r1"]) - beyond


def correctable_bits(study: Study) -> float:
    """Bits that can be corrected of a codeword of 1 KiB."""
    device = study.report("zipf 1.5", "RARO", "young").config["device"].to_dict()
    errors = device["errors"]
    return float(errors["correctable"]) * 8192 / errors["codeword"]


def data_set(study: Study) -> float:
    """GiB that the host can address."""
    capacity = study.report("zipf 1.5", "RARO", "young").to_dict()["capacity"]
    return float(capacity["logical_bytes"]) / 2**30


def gib_read(study: Study, each_of: int = 1) -> float:
    """GiB that a run with four threads reads, or that each of so many of them reads."""
    host = study.report("zipf 1.5", "RARO", "young").to_dict()["host"]
    return float(host["read_bytes"]) / each_of / 2**30
