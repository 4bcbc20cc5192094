"""What the claims of HySSD are measured by.

Each function takes the study and the arguments that its claim gives, and returns one number, or
``None`` where what it looks for did not occur. A drive is ``ST`` or ``MT``; ``as_`` names a group
of runs that differs from the paper's reading, such as ``packed``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordline import Report, _wordline
from wordline.model import BITS, medium, simulated_us
from wordline.quantity import in_bytes, in_us
from wordline.reproduce.paper import NotAdmitted, NotRun, Study

FIXED = ("10%", "20%", "30%", "40%", "50%", "60%", "70%", "80%", "90%", "97%")
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


def remaining(report: Report) -> float:
    """Return L of the drive, eq. 4; not a number before the first erase."""
    left = report.lifetime.left
    return float("nan") if left is None else left


def chosen(report: Report) -> NDArray[np.float64]:
    """Return host page writes, and the u chosen then, as rows."""
    return np.array(report.followed["u"])


def flash_us(report: Report) -> float:
    """Return the time that the flash works for a page that the host accesses, in us: C_HYSSD."""
    host = report.host
    return simulated_us(report, (host.read_bytes + host.write_page_bytes) // UNIT)


FIGURES = {"response": response_ms, "lifetime": remaining, "flash": flash_us}

# --- over fixed utilisations ---------------------------------------------------------------------


def group(drive: str, as_: str = "") -> str:
    """Return the group of runs of a drive."""
    return f"{drive}-{as_}" if as_ else drive


def curve(
    study: Study, drive: str, workload: str, figure: str, as_: str = ""
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return fixed utilisations and a figure at each, without those that the drive cannot have.

    Raises
    ------
    NotRun
        Some were not run.
    """
    found, values = [], []
    here = group(drive, as_)
    for name in FIXED:
        if f"{here}/{workload}/{name}" not in study.paper.runs:
            continue
        try:
            report = study.report(workload, name, here)
        except NotAdmitted:
            continue
        found.append(share(name))
        values.append(FIGURES[figure](report))
    if len(found) < 3:
        raise NotRun(f"{here}/{workload}: the drive admits fewer than three fixed utilisations")
    return np.array(found), np.array(values)


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


def breaks_of_a_mountain(study: Study, drive: str, workload: str) -> float | None:
    """Count steps of the lifetime against one peak; it may be at an end."""
    _, values = curve(study, drive, workload, "lifetime")
    top = int(np.argmax(values))
    steps = np.diff(values) / np.abs(values[:-1])
    return float((steps[:top] < -CHANCE).sum() + (steps[top:] > CHANCE).sum())


def optimum(study: Study, drive: str, workload: str, as_: str = "") -> float:
    """Return the fixed utilisation with the least mean response time."""
    found, values = curve(study, drive, workload, "response", as_)
    return float(found[np.argmin(values)])


def longest_lived(study: Study, drive: str, workload: str, as_: str = "") -> float:
    """Return the fixed utilisation with the longest lifetime."""
    found, values = curve(study, drive, workload, "lifetime", as_)
    return float(found[np.nanargmax(values)])


def optima_apart(study: Study, drive: str) -> float:
    """Return by how much the optimum under Exchange is above that under Financial."""
    return optimum(study, drive, "Exchange") - optimum(study, drive, "Financial")


def sensitivity(study: Study, drive: str, workload: str) -> float:
    """Greatest over least lifetime of fixed utilisations, over the same of response times."""
    spread = [
        values.max() / values.min()
        for values in (curve(study, drive, workload, f)[1] for f in ("lifetime", "response"))
    ]
    return float(spread[0] / spread[1])


# --- the dynamic schemes -------------------------------------------------------------------------


def dynamic(
    study: Study, drive: str, workload: str, scheme: str, figure: str, as_: str = ""
) -> float:
    """Return a figure of Perf or Life."""
    return FIGURES[figure](study.report(workload, scheme, group(drive, as_)))


def perf_over_best(study: Study, drive: str, workload: str, as_: str = "") -> float:
    """Mean response time of Perf over that of the best fixed utilisation."""
    best = curve(study, drive, workload, "response", as_)[1].min()
    return dynamic(study, drive, workload, "Perf", "response", as_) / best


def life_over_perf(study: Study, drive: str, workload: str, as_: str = "") -> float:
    """Mean response time of Life over that of Perf."""
    life = dynamic(study, drive, workload, "Life", "response", as_)
    return life / dynamic(study, drive, workload, "Perf", "response", as_)


def over_longest(study: Study, drive: str, workload: str, scheme: str) -> float:
    """Lifetime of Perf or Life over that of the best fixed utilisation."""
    best = curve(study, drive, workload, "lifetime")[1].max()
    return dynamic(study, drive, workload, scheme, "lifetime") / best


def life_gain(study: Study, drive: str, workload: str, as_: str = "") -> float:
    """Lifetime of Life over that of Perf."""
    life = dynamic(study, drive, workload, "Life", "lifetime", as_)
    return life / dynamic(study, drive, workload, "Perf", "lifetime", as_)


def gain_less_loss(study: Study, drive: str, workload: str) -> float:
    """Gain of lifetime by Life, as a share of Perf's, less the loss of response time."""
    gain = life_gain(study, drive, workload) - 1
    return gain - (life_over_perf(study, drive, workload) - 1)


def u_deviation(study: Study, workload: str) -> float:
    """Return the standard deviation of the u of Perf on ST-SSD, after a fifth of the run."""
    writes, u = chosen(study.report(workload, "Perf", "day")).T
    return float(np.std(u[writes >= writes[-1] / 5]))


def life_above_perf(study: Study, workload: str) -> float:
    """Return by how much the last u of Life is above that of Perf, on ST-SSD."""
    last = [chosen(study.report(workload, s, "day"))[-1, 1] for s in ("Life", "Perf")]
    return float(last[0] - last[1])


# --- tables and the model ------------------------------------------------------------------------


def characteristics(study: Study, workload: str) -> dict[str, float]:
    """Return the figures of Table I: mean KiB of requests, and GiB in all."""
    host = study.report(workload, "50%", "ST").host
    return {
        "read KB": host.read_bytes / host.read_requests / 2**10,
        "write KB": host.write_bytes / host.write_requests / 2**10,
        "read GB": host.read_bytes / 2**30,
        "write GB": host.write_bytes / 2**30,
    }


def characteristic(study: Study, workload: str, item: str) -> float:
    """Return one figure of Table I."""
    return characteristics(study, workload)[item]


def specifications(study: Study, mode: str) -> dict[str, float]:
    """Return the figures of Table II of the medium in a mode, from the configuration of a run."""
    drive = "MT" if mode == "MLC" else "ST"
    report = study.report("Financial", "50%", drive)
    found, times = medium(report, mode.lower())
    planes = np.prod([int(v) for v in found["topology"].values()])
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
        "GiB": float(planes * found["blocks_per_plane"] * pages * page / 2**30),
    }


def specification(study: Study, mode: str, item: str) -> float:
    """Return one figure of Table II."""
    return specifications(study, mode)[item]


def split_gb(study: Study, side: str) -> float:
    """Return where the 9 GB of the paper's example lie at u = 0.63."""
    superior = 0.63 * 2
    return superior if side == "SLC" else 9 - superior


def cost_model(study: Study, of: str, u: str) -> float:
    """Return U(u), or C_PW(u) of a medium in us, from the engine's own model."""
    c_prog, c_cp, c_e, n_p = COSTS["SLC" if of == "U" else of]
    utilisation, cost = _wordline.page_write_cost(float(u), c_prog, c_cp, c_e, n_p)
    return utilisation if of == "U" else cost
