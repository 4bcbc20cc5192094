"""The analytic model of HySSD, alone or with simulations: ``wordline model``.

The formulas are those of the scheme (``crates/schemes/src/cost_model.rs``), evaluated for a device
and a workload.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wordline import Report, Run, UserError, _run, _wordline, commands
from wordline._wordline import page_write_cost as page_write_cost
from wordline.commands import SWEEP, command, message
from wordline.quantity import in_us

#: Bits of a cell by mode.
BITS = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}
#: A table has every utilization of the grid where there are so few of them.
ALL = 20
#: Utilizations that are simulated beside the model, those of its grid nearest to them, where the
#: drive admits them.
SIMULATED = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def curves(
    *,
    device: str,
    workload: str,
    scheme: str = "hyssd",
    set: Mapping[str, str] | None = None,
    seed: int = _wordline.DEFAULT_SEED,
    requests: int | None = None,
    fit: str | None = None,
    traces: str | None = None,
) -> dict[str, Any]:
    """Return the prediction of a scheme's model for a device and workload.

    Parameters
    ----------
    device, workload, scheme, set, seed, requests, fit, traces
        As for `wordline.run`; the scheme is ``hyssd``, perhaps with parameters.

    Returns
    -------
    dict
        ``points``: for each utilization ``u`` of the faster medium that the drive admits, the hit
        rates ``h_w`` and ``h_r``, the costs ``c_pw_hy_us``, ``c_pr_hy_us`` and ``c_hyssd_us``
        (eq. 3) in microseconds, the last over the blocks that can hold data while one is collected
        (``effective_us``), and how many page writes the drive endures (``endured_writes``; None
        where no endurance is known). Beside them ``io_w``, ``page_reads``, ``page_writes``,
        ``unit_bytes`` and the sizes.

    Raises
    ------
    UserError
        Something given is wrong.
    Refused
        The device does not suit the scheme.
    """
    changes = tuple((set or {}).items())
    run = Run(device, scheme, workload, seed, requests, changes, traces=traces, fit=fit)
    return json.loads(_wordline.model(_run.asked(run), scheme))


def least_cost(points: Sequence[Mapping[str, Any]], key: str = "c_hyssd_us") -> Mapping[str, Any]:
    """Return the point of least cost; the lowest utilization of several."""
    return min(points, key=lambda point: point[key])


def longest_life(points: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the point at which the drive endures most; None where no endurance is known."""
    known = [point for point in points if point["endured_writes"] is not None]
    return max(known, key=lambda point: point["endured_writes"]) if known else None


def simulated_us(report: Report, accesses: int) -> float:
    """Return the flash time per page access, in microseconds.

    The sum over all reads, programs, copies within a plane and erases of a run, each with its time
    by the device file, over `accesses` pages that the host read and wrote: the measured counterpart
    of C_HYSSD.
    """
    total = 0.0
    for region in report.flash.regions:
        bits = BITS[region["mode"]]
        _, times = medium(report, region["mode"])

        def mean(each: Sequence[str], bits: int = bits) -> float:
            return sum(map(in_us, each[:bits])) / bits

        copies = region["copy_backs"]
        copied = in_us(times["copy_back"]) if copies else 0.0
        total += region["reads"] * mean(times["read"]) + copies * copied
        total += (region["programs"] - copies) * mean(times["program"])
        total += region["erases"] * in_us(times["erase"])
    return total / accesses


def medium(report: Report, mode: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the medium of a device whose densest cell mode this is, and the times of the mode.

    Raises
    ------
    UserError
        The device has none.
    """
    at = BITS[mode] - 1
    for each in report.config["device"]["media"]:
        modes = each["modes"]
        if modes[at] is not None and not any(denser is not None for denser in modes[at + 1 :]):
            return each, modes[at]
    raise UserError(f"{report.device.name} has no medium of {mode}")


def draw_hits(at: Any, points: Sequence[Mapping[str, Any]]) -> None:
    """Draw the hit rate curves on axes of `matplotlib`."""
    from wordline import plotting

    u = [point["u"] for point in points]
    at.plot(u, [p["h_w"] for p in points], color=plotting.SCHEMES[0], label="writes, H_w")
    at.plot(u, [p["h_r"] for p in points], color=plotting.SCHEMES[2], label="reads, H_r")
    at.set_xlim(0, 1)
    at.set_ylim(0, 1)
    at.set_xlabel("utilization of the superior SSD")
    at.set_ylabel("hit rate")
    at.legend()


def draw_costs(
    at: Any, points: Sequence[Mapping[str, Any]], simulated: Mapping[float, float] | None = None
) -> None:
    """Draw the cost curve on axes of `matplotlib`; simulated costs by utilization as points."""
    from wordline import plotting

    u = [point["u"] for point in points]
    cost = [p["c_hyssd_us"] for p in points]
    at.plot(u, cost, color=plotting.SCHEMES[0], label="C_HYSSD, eq. 3")
    effective = [p["effective_us"] for p in points]
    at.plot(u, effective, color=plotting.BASELINE, lw=1, ls="--", label="without reserved blocks")
    best = least_cost(points)
    at.plot([best["u"]], [best["c_hyssd_us"]], "v", color=plotting.SCHEMES[1])
    where = {"xytext": (0, 8), "textcoords": "offset points", "ha": "center"}
    at.annotate(f"u = {_share(best['u'])}", (best["u"], best["c_hyssd_us"]), **where, fontsize=8)
    if simulated:
        look = {"ms": 4, "color": plotting.SCHEMES[2], "label": "simulated, greedy"}
        at.plot(list(simulated), list(simulated.values()), "o", **look)
    at.set_xlim(0, 1)
    at.set_ylim(0, 4 * best["c_hyssd_us"])
    at.set_xlabel("utilization of the superior SSD")
    at.set_ylabel("µs a page access")
    at.legend()


@command("model", SWEEP, extra="sweep")
def main(
    *,
    scheme: str,
    device: str,
    workload: str,
    set: Sequence[str],
    simulate: bool,
    jobs: int | None = None,
    out: str | None = None,
    **of_runs: Any,
) -> None:
    """Do ``wordline model``."""
    if wrong := next((text for text in set if "=" not in text), None):
        raise UserError(f"--set {wrong}: expected KEY=VALUE, as in capacity.logical=9GiB")
    settings = commands.settings(set)
    asked = {"device": device, "workload": workload, **of_runs}
    found = curves(scheme=scheme, set=settings, **asked)
    simulated = _simulated(found, scheme, settings, asked, jobs) if simulate else {}
    _show(found, simulated)
    if out:
        for path in _write(found, simulated, Path(out)):
            print(f"wrote {path}")


def _simulated(
    found: Mapping[str, Any],
    scheme: str,
    settings: Mapping[str, str],
    asked: Mapping[str, Any],
    jobs: int | None,
) -> dict[float, float]:
    """Simulate fixed utilizations; return the flash time per page access by u."""
    import tempfile

    from wordline.progress import Bars
    from wordline.runs import Runner

    name, _, given = scheme.partition(":")
    kept = [p for p in given.split(",") if p.startswith(("tlc_unit=", "place=", "reads="))]
    points = [p["u"] for p in found["points"]]
    runs = {}
    for wanted in SIMULATED:
        if points[0] - 1e-9 <= wanted <= points[-1] + 1e-9:
            u = min(points, key=lambda point: abs(point - wanted))
            spelled = ",".join([f"{name}:static", f"u={u * 100:g}%", *kept])
            changes = tuple(sorted(settings.items()))
            runs[Run(scheme=spelled, set=changes, initial="fill:100%", **asked)] = u
    with tempfile.TemporaryDirectory() as folder, Bars(len(runs), lambda run: run.scheme) as bars:
        runner = Runner(Path(folder), jobs=jobs, watch=bars.watch, ended=bars.ended)
        reports, refused = runner.run(runs)
    for run, why in refused.items():
        raise UserError(f"{run.scheme} is not supported: {message(why)}")
    accesses = found["page_reads"] + found["page_writes"]
    return {runs[run]: simulated_us(report, accesses) for run, report in reports.items()}


def _share(u: float) -> str:
    """Return a utilization with two digits behind the point, or all where it has more."""
    return f"{u:.2f}" if abs(u - round(u, 2)) < 1e-9 else f"{u:g}"


def _show(found: Mapping[str, Any], simulated: Mapping[float, float]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    points = found["points"]
    best, longest = least_cost(points), longest_life(points)
    gib = 2**30
    table = Table(box=box.SIMPLE, padding=(0, 0, 0, 1))
    columns = ["u", "H_w", "H_r", "C_PW_HY", "C_PR_HY", "C_HYSSD", "effective"]
    columns += ["TB"] if longest else []
    columns += ["simulated", "off"] if simulated else []
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for point in points:
        is_tenth = round(point["u"] * 1000) % 100 == 0
        is_listed = len(points) <= ALL or is_tenth or point["u"] in simulated
        if not (is_listed or point is best or point is longest or point is points[0]):
            continue
        cells = [_share(point["u"]), f"{point['h_w']:.3f}", f"{point['h_r']:.3f}"]
        costs = ("c_pw_hy_us", "c_pr_hy_us", "c_hyssd_us", "effective_us")
        cells += [f"{point[key]:,.0f}" for key in costs]
        if longest:
            writes = point["endured_writes"]
            cells.append("-" if writes is None else f"{writes * found['unit_bytes'] / 1e12:,.1f}")
        if simulated:
            own = simulated.get(point["u"])
            off = "" if own is None else f"{point['effective_us'] / own - 1:+.1%}"
            cells += ["" if own is None else f"{own:,.0f}", off]
        table.add_row(*cells, style="bold" if point is best else None)
    console = Console(highlight=False)
    console.print(
        f"{found['workload']} on {found['device']}: {found['data_bytes'] / gib:.2f} GiB of data "
        f"over {found['superior_bytes'] / gib:.2f} and {found['inferior_bytes'] / gib:.2f} GiB; "
        f"{found['page_writes']:,} page writes, {found['page_reads']:,} page reads "
        f"(IO_W {found['io_w']:.3f})"
    )
    console.print(table)
    what = "C_HYSSD over the blocks that can hold data while one is collected"
    notes = f"costs in us; effective: {what}"
    notes += "; TB: written by the host until a medium is worn out" if longest else ""
    if simulated:
        notes += "; simulated: time of the flash for a page access; off: effective over simulated"
    console.print(notes)
    superior = best["u"] * found["superior_bytes"] / gib
    console.print(
        f"least cost at u = {_share(best['u'])}, {superior:.2f} GiB: "
        f"{best['c_hyssd_us']:,.0f} us per access"
    )
    if longest:
        longest_gib = longest["u"] * found["superior_bytes"] / gib
        console.print(f"longest lifetime at u = {_share(longest['u'])}, {longest_gib:.2f} GiB")


def _write(found: Mapping[str, Any], simulated: Mapping[float, float], folder: Path) -> list[Path]:
    """Write the picture and its data."""
    import matplotlib.pyplot as plt

    from wordline import plotting

    folder.mkdir(parents=True, exist_ok=True)
    with plotting.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.3), layout="constrained")
        draw_hits(left, found["points"])
        draw_costs(right, found["points"], simulated)
        left.set_title(f"{found['workload']} on {found['device']}")
        picture = folder / "model.svg"
        plotting.save(figure, picture)
    data = folder / "model.csv"
    with data.open("w", newline="") as file:
        rows = [dict(p) for p in found["points"]]
        for row in rows if simulated else ():
            row["simulated_us"] = simulated.get(row["u"], "")
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return [picture, data]
