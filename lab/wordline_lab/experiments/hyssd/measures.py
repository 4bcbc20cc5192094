"""What the claims of HySSD are measured by.

Each function takes the study and the arguments that its claim gives, and returns one number, or
``None`` where what it looks for did not occur. A drive is ``ST`` or ``MT``; ``as_`` names a group
of runs that differs from the paper's reading, such as ``packed``; ``used`` says what E_USED counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordline import Report, model
from wordline.model import BITS, medium, simulated_us
from wordline.quantity import in_bytes, in_us
from wordline_lab.reproduce.paper import NotAdmitted, NotRun, Study

FIXED = ("5%", "10%", "20%", "30%", "40%", "50%", "60%", "70%", "80%", "90%", "97%")
#: Bytes of a unit of the map.
UNIT = 4096
#: A step against the rule that is smaller than this is taken for chance.
CHANCE = 0.01
#: Table II, as the device files must have it: C_PROG, C_CP, C_E in us and N_P.
COSTS = {
    "SLC": (350, 385, 1500, 128),
    "MLC": (1400, 1375, 3800, 256),
    "TLC": (2500, 2450, 3000, 384),
}

# --- one run -------------------------------------------------------------------------------------


def share(name: str) -> float:
    """Return a utilisation that is spelled in per cent."""
    return float(name.removesuffix("%")) / 100


def response_ms(report: Report) -> float:
    """Mean response time of all requests, in ms."""
    kinds = [report.latency_us.read, report.latency_us.write]
    total = sum(kind.count * kind.mean for kind in kinds if kind is not None)
    return total / sum(kind.count for kind in kinds if kind is not None) / 1e3


def cycles(report: Report, used: str) -> dict[str, tuple[float, float]]:
    """Return E_USED and E_TOTAL of each medium, the superior one first.

    Parameters
    ----------
    used
        ``erases``: mean erases of its blocks; ``programs``: all that was programmed in it over its
        size; ``writes``: the same without collections, which is what HySSD wrote to it.
    """
    found = {}
    by_cause = report.flash.program_bytes
    for region in report.flash.regions:
        mode = region["mode"]
        life = report.lifetime.by_mode[mode]
        endures, count = float(life.endurance), float(life.used)
        if used != "erases":
            causes = [cause for cause in by_cause if used == "programs" or cause != "gc"]
            written = sum(by_cause[cause]["program"].get(region["name"], 0) for cause in causes)
            count = written / size_of(report, mode)
        found[mode] = (count, endures)
    return found


def size_of(report: Report, mode: str) -> int:
    """Return the bytes of the medium in a mode."""
    found, _ = medium(report, mode)
    planes = int(np.prod([int(v) for v in found["topology"].values()]))
    pages = int(found["wordlines_per_block"]) * BITS[mode]
    return planes * int(found["blocks_per_plane"]) * pages * in_bytes(found["page"])


def lives(report: Report, used: str = "programs") -> tuple[float, float]:
    """Return L of the superior and of the inferior SSD; infinite before the first cycle."""
    left = [
        (total - count) / count if count > 0 else float("inf")
        for count, total in cycles(report, used).values()
    ]
    return left[0], left[1]


def remaining(report: Report, used: str = "programs") -> float:
    """Return L of the drive, eq. 4; not a number where neither SSD has been used."""
    left = min(lives(report, used))
    return left if left < float("inf") else float("nan")


def chosen(report: Report) -> NDArray[np.float64]:
    """Return host page writes, and the u chosen then, as rows."""
    return np.array(report.followed["u"])


def flash_us(report: Report) -> float:
    """Return the time that the flash works for a page that the host accesses, in us: C_HYSSD."""
    host = report.host
    return simulated_us(report, (host.read_bytes + host.write_page_bytes) // UNIT)


def figure_of(report: Report, figure: str, used: str = "programs") -> float:
    """Return ``response``, ``lifetime`` or ``flash``."""
    if figure == "lifetime":
        return remaining(report, used)
    return {"response": response_ms, "flash": flash_us}[figure](report)


# --- over fixed utilisations ---------------------------------------------------------------------


def group(drive: str, as_: str = "") -> str:
    """Return the group of runs of a drive."""
    return f"{drive}-{as_}" if as_ else drive


def curve(
    study: Study, drive: str, workload: str, figure: str, as_: str = "", used: str = "programs"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return fixed utilisations and a figure at each, without those that the drive cannot have.

    Raises
    ------
    NotRun
        Some were not run.
    """
    fixed = reports(study, drive, workload, as_)
    values = [figure_of(report, figure, used) for report in fixed.values()]
    return np.array(list(fixed)), np.array(values)


def reports(study: Study, drive: str, workload: str, as_: str = "") -> dict[float, Report]:
    """Return the reports of fixed utilisations that the drive can have."""
    here = group(drive, as_)
    found = {}
    for name in FIXED:
        if f"{here}/{workload}/{name}" not in study.paper.runs:
            continue
        with suppress(NotAdmitted):
            found[share(name)] = study.report(workload, name, here)
    if len(found) < 3:
        raise NotRun(f"{here}/{workload}: the drive admits fewer than three fixed utilisations")
    return found


def _breaks(values: Sequence[float] | NDArray[np.float64], turn: int) -> float | None:
    """Count steps that do not fall before the turn and rise behind it; None for one at an end."""
    if turn in (0, len(values) - 1):
        return None
    steps = np.diff(values) / np.abs(values[:-1])
    against = (steps[:turn] > CHANCE).sum() + (steps[turn:] < -CHANCE).sum()
    return float(against)


def breaks_of_a_valley(study: Study, drive: str, workload: str) -> float | None:
    """Count steps of the response time against one minimum between the ends."""
    _, values = curve(study, drive, workload, "response")
    return _breaks(values, int(np.argmin(values)))


def breaks_of_a_mountain(
    study: Study, drive: str, workload: str, used: str = "programs"
) -> float | None:
    """Count steps of the lifetime against one peak; it may be at an end."""
    _, values = curve(study, drive, workload, "lifetime", used=used)
    top = int(np.argmax(values))
    steps = np.diff(values) / np.abs(values[:-1])
    return float((steps[:top] < -CHANCE).sum() + (steps[top:] > CHANCE).sum())


def optimum(study: Study, drive: str, workload: str, as_: str = "") -> float:
    """Return the fixed utilisation with the least mean response time."""
    found, values = curve(study, drive, workload, "response", as_)
    return float(found[np.argmin(values)])


def longest_lived(
    study: Study, drive: str, workload: str, as_: str = "", used: str = "programs"
) -> float:
    """Return the fixed utilisation with the longest lifetime."""
    found, values = curve(study, drive, workload, "lifetime", as_, used)
    return float(found[np.nanargmax(values)])


def peaks_apart(study: Study, drive: str, used: str = "programs") -> float:
    """Return by how much the longest life under Exchange is above that under Financial."""
    at = {w: longest_lived(study, drive, w, used=used) for w in ("Exchange", "Financial")}
    return at["Exchange"] - at["Financial"]


def _lives_of(
    study: Study, drive: str, workload: str, used: str
) -> dict[float, tuple[float, float]]:
    """Return L of both SSDs at each fixed utilisation."""
    return {u: lives(r, used) for u, r in reports(study, drive, workload).items()}


def slopes(study: Study, drive: str, workload: str, used: str = "programs") -> float:
    """Share of fixed utilisations beside the peak whose SSD with less life left is the expected.

    Left of the peak it is the inferior one, right of it the superior one.
    """
    left = _lives_of(study, drive, workload, used)
    top = longest_lived(study, drive, workload, used=used)
    right = [
        inferior < superior if u < top else superior < inferior
        for u, (superior, inferior) in left.items()
        if u != top
    ]
    return sum(right) / len(right)


def from_even(study: Study, drive: str, workload: str, used: str = "programs") -> float:
    """Return how far above the peak the fixed utilisation is at which the lives are nearest."""
    left = _lives_of(study, drive, workload, used)
    apart = {
        u: abs(float(np.log(a / b))) for u, (a, b) in left.items() if np.isfinite([a, b]).all()
    }
    if not apart:
        return float("nan")
    return min(apart, key=lambda u: apart[u]) - longest_lived(study, drive, workload, used=used)


def optima_apart(study: Study, drive: str) -> float:
    """Return by how much the optimum under Exchange is above that under Financial."""
    return optimum(study, drive, "Exchange") - optimum(study, drive, "Financial")


def sensitivity(study: Study, drive: str, workload: str, used: str = "programs") -> float:
    """Greatest over least lifetime of fixed utilisations, over the same of response times."""
    spread = [
        values.max() / values.min()
        for values in (
            curve(study, drive, workload, f, used=used)[1] for f in ("lifetime", "response")
        )
    ]
    return float(spread[0] / spread[1])


def breaks_of_read_hits(study: Study, workload: str) -> float:
    """Count steps down of the share of host reads that SLC serves on ST-SSD, over rising u."""
    shares = []
    for report in reports(study, "ST", workload).values():
        reads = {r["mode"]: r["reads_by_cause"]["host"] for r in report.flash.regions}
        shares.append(reads["slc"] / sum(reads.values()))
    return float((np.diff(shares) < -CHANCE).sum())


# --- the dynamic schemes -------------------------------------------------------------------------


def dynamic(
    study: Study,
    drive: str,
    workload: str,
    scheme: str,
    figure: str,
    as_: str = "",
    used: str = "programs",
) -> float:
    """Return a figure of Perf or Life."""
    return figure_of(study.report(workload, scheme, group(drive, as_)), figure, used)


def perf_over_best(study: Study, drive: str, workload: str, as_: str = "") -> float:
    """Mean response time of Perf over that of the best fixed utilisation."""
    best = curve(study, drive, workload, "response", as_)[1].min()
    return dynamic(study, drive, workload, "Perf", "response", as_) / best


def life_over_perf(study: Study, drive: str, workload: str, as_: str = "") -> float:
    """Mean response time of Life over that of Perf."""
    life = dynamic(study, drive, workload, "Life", "response", as_)
    return life / dynamic(study, drive, workload, "Perf", "response", as_)


def over_longest(
    study: Study, drive: str, workload: str, scheme: str, used: str = "programs"
) -> float:
    """Lifetime of Perf or Life over that of the best fixed utilisation."""
    best = curve(study, drive, workload, "lifetime", used=used)[1].max()
    return float(dynamic(study, drive, workload, scheme, "lifetime", used=used) / best)


def cases_of_best(study: Study, used: str = "programs") -> float:
    """Count the cases in which Life lives as long as the best fixed utilisation, within 5 %."""
    cases = product(("ST", "MT"), ("Financial", "Exchange"))
    return float(sum(abs(over_longest(study, *case, "Life", used) - 1) <= 0.05 for case in cases))


def life_gain(
    study: Study, drive: str, workload: str, as_: str = "", used: str = "programs"
) -> float:
    """Lifetime of Life over that of Perf."""
    life = dynamic(study, drive, workload, "Life", "lifetime", as_, used)
    return life / dynamic(study, drive, workload, "Perf", "lifetime", as_, used)


def gain_less_loss(study: Study, drive: str, workload: str, used: str = "programs") -> float:
    """Gain of lifetime by Life, as a share of Perf's, less the loss of response time."""
    gain = life_gain(study, drive, workload, used=used) - 1
    return gain - (life_over_perf(study, drive, workload) - 1)


def over_slc(study: Study, workload: str) -> float:
    """Mean response time of Perf on ST-SSD over that of a drive of SLC alone."""
    alone = response_ms(study.report(workload, "SLC alone", "SLC"))
    return dynamic(study, "ST", workload, "Perf", "response") / alone


def moved_reads(study: Study, workload: str, figure: str) -> float:
    """Return what moving read pages to SLC does at 60 % of ST-SSD: a figure over that without.

    Parameters
    ----------
    figure
        ``response``: the mean response time; ``wear``: bytes programmed in TLC.
    """
    moved = study.report(workload, "60%, reads move", "ST-reads")
    stayed = study.report(workload, "60%", "ST-reads")
    if figure == "response":
        return response_ms(moved) / response_ms(stayed)
    in_tlc = [
        next(r["program_bytes"] for r in x.flash.regions if r["mode"] == "tlc")
        for x in (moved, stayed)
    ]
    return float(in_tlc[0] / in_tlc[1])


def forced_share(study: Study, workload: str) -> float | None:
    """Share of all response times that waited for migration in idle time, Perf over a day.

    ``None`` where nothing was moved in idle time.
    """
    report = study.report(workload, "Perf", "day")
    if not sum(report.idle.program_bytes.values()):
        return None
    kinds = [kind for kind in (report.latency_us.read, report.latency_us.write) if kind is not None]
    waited = report.idle.delayed_requests * (report.idle.delay_us_mean or 0.0)
    return float(waited / sum(kind.count * kind.mean for kind in kinds))


def u_deviation(study: Study, workload: str, scheme: str = "Perf") -> float:
    """Return the standard deviation of the u of a scheme on ST-SSD, after a fifth of the run."""
    writes, u = chosen(study.report(workload, scheme, "day")).T
    return float(np.std(u[writes >= writes[-1] / 5]))


def life_above_perf(study: Study, workload: str) -> float:
    """Return by how much the last u of Life is above that of Perf, on ST-SSD."""
    last = [chosen(study.report(workload, s, "day"))[-1, 1] for s in ("Life", "Perf")]
    return float(last[0] - last[1])


def behind_collection_ms(report: Report) -> float:
    """Return how long a write waits for collections on the mean, in ms."""
    return float(report.latency_parts_us["write"]["behind_gc"]) / 1e3


# --- tables and the model ------------------------------------------------------------------------


def characteristics(study: Study, workload: str) -> dict[str, float]:
    """Return the figures of Table I: mean KiB of requests, and GiB in all."""
    host = study.report(workload, "50%", "ST").host
    return {
        "read KB": host.read_bytes / host.read_requests / 2**10,
        "write KB": host.write_bytes / host.write_requests / 2**10,
        "read GB": host.read_bytes / 2**30,
        "write GB": host.write_bytes / 2**30,
        "read ratio": host.read_bytes / (host.read_bytes + host.write_bytes),
    }


def characteristic(study: Study, workload: str, item: str) -> float:
    """Return one figure of Table I."""
    return characteristics(study, workload)[item]


def specifications(study: Study, mode: str) -> dict[str, float]:
    """Return the figures of Table II of the medium in a mode, from the configuration of a run."""
    drive = "MT" if mode == "MLC" else "ST"
    report = study.report("Financial", "50%", drive)
    found, times = medium(report, mode.lower())
    pages = found["wordlines_per_block"] * BITS[mode.lower()]
    page = in_bytes(found["page"])

    def first(times: Sequence[str]) -> float:
        return in_us(times[0])

    return {
        "read us": first(times["read"]),
        "program us": first(times["program"]),
        "copy-back us": in_us(times["copy_back"]),
        "erase ms": in_us(times["erase"]) / 1e3,
        "pages a block": pages,
        "P/E cycles": times["endurance"],
        "page KiB": page / 2**10,
        "GiB": size_of(report, mode.lower()) / 2**30,
    }


def specification(study: Study, mode: str, item: str) -> float:
    """Return one figure of Table II."""
    return specifications(study, mode)[item]


def size(study: Study, item: str) -> float:
    """Return ``TLC``, ``data`` or ``spare space`` of ``ST-SSD`` or ``MT-SSD``, in GiB."""
    what, drive = item.split(" of ")
    report = study.report("Financial", "50%", drive.removesuffix("-SSD"))
    data = in_bytes(report.config.device.capacity.logical)
    flash = {mode: size_of(report, mode) for mode in report.lifetime.by_mode}
    found = {"TLC": flash["tlc"], "data": data, "spare space": sum(flash.values()) - data}
    return float(found[what] / 2**30)


#: The paper's example: 2 GB of SLC, 8 GB of TLC and 9 GB of data.
EXAMPLE = {"medium.tlc.blocks_per_plane": "342", "capacity.logical": "9GiB"}


def example(study: Study) -> dict[str, Any]:
    """Return what the model foretells of the paper's example, under half of Exchange."""
    # All of it does not fit into 9 GiB.
    workload = study.paper.workloads["Exchange"] + ":scale=2"
    return model.curves(device="hyssd-st", workload=workload, scheme="hyssd", set=EXAMPLE)


def split_gb(study: Study, side: str) -> float:
    """Return what of the paper's example lies where at u = 0.63, by the sizes of the model."""
    sizes = example(study)
    superior, inferior = sizes["superior_bytes"] / 2**30, sizes["inferior_bytes"] / 2**30
    data = sizes["data_bytes"] / 2**30
    there = 0.63 * superior
    return {"SLC": there, "TLC": data - there, "spare": superior + inferior - data}[side]


def cost_model(study: Study, of: str, u: str) -> float:
    """Return U(u), or C_PW(u) of a medium in us, from the engine's own model."""
    c_prog, c_cp, c_e, n_p = COSTS["SLC" if of == "U" else of]
    utilisation, cost = model.page_write_cost(float(u), c_prog, c_cp, c_e, n_p)
    return utilisation if of == "U" else cost
