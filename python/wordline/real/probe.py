"""``wordline device probe``: fio jobs that identify a drive, run on it or on a simulated one."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import wordline as wl
from wordline import UserError, _wordline
from wordline.commands import SWEEP, command, message, settings, tell
from wordline.drive import programmed_bytes
from wordline.quantity import gigabytes
from wordline.real import bench, fit, on_drive, probe_page, probed, sheet
from wordline.real.jobs import JOBS, Job
from wordline.real.on_drive import Target
from wordline.real.result import Tell

#: Values of probe.json until the user fills them in.
_TO_FILL_IN = {"model": None, "nand": None, "interface": None, "rated_tbw": None}
#: Interfaces by the lane speed that the kernel reports.
_LANES = {"8.0": "PCIe3", "16.0": "PCIe4", "32.0": "PCIe5"}


@command("device probe", SWEEP, extra="fit")
def main(
    *,
    jobs: str,
    set: list[str],
    seed: int,
    force: bool,
    read_only: bool,
    capacity: str | None = None,
    device: str | None = None,
    scheme: str | None = None,
    run: str | None = None,
    budget: str | None = None,
) -> None:
    """Do ``wordline device probe``."""
    folder = Path(jobs)
    chosen = [job for job in JOBS if job.reads_only or not read_only]

    if run is not None:
        most = None if budget is None else _wordline.size(budget)
        measure(folder, run, jobs=chosen, budget=most, tell=tell)
    elif device is not None:
        drive: Any = {"scheme": scheme, "set": settings(set), "seed": seed}
        simulate(folder, device, **drive, force=force, jobs=chosen, tell=tell)
    else:
        write(folder, _wordline.size(capacity or ""), force=force, jobs=chosen)
        print(about(folder, chosen))
        return
    print(probe_page.terminal(folder))
    tell(f"page: {probe_page.page(folder)}")
    said = f"{folder}: results of the jobs; fit them with:"
    if lacks := probed.lacks(folder):
        said = f"{folder}/{probed.ABOUT}: fill in {' and '.join(lacks)}; then fit the results with:"
    elif why := _unfit(folder):
        print(f"{folder}: results of the jobs; they cannot be fitted:\n  {why}")
        return
    print(f"{said}\n  {probed.fit_command(folder)}")


def _unfit(folder: Path) -> str:
    """Return why no device file can be fitted to the results in a folder, or nothing."""
    try:
        fit.require(probed.drive_of(folder))
    except UserError as e:
        return message(e)
    return ""


def write(
    folder: Path,
    capacity: int,
    about: Mapping[str, object] = _TO_FILL_IN,
    *,
    force: bool = False,
    jobs: Sequence[Job] = JOBS,
) -> None:
    """Write the job files and probe.json for a drive of this many bytes.

    Raises `UserError`: a file with other contents exists, and `force` is not given.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = {f"{job.name}.fio": job.text(capacity) for job in jobs}
    for name in [*texts, probed.ABOUT]:
        if (folder / name).exists() and not force:
            raise UserError(f"{folder / name}: file exists; --force overwrites it")
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    probed.write_about(folder, capacity, about)


def about(folder: Path, jobs: Sequence[Job] = JOBS) -> str:
    """Return a table of the jobs, the total that they write, and what the user must fill in."""
    from wordline._terminal import lines

    file = json.loads((folder / probed.ABOUT).read_text(encoding="utf-8"))
    capacity, rated = file["capacity_bytes"], file.get("rated_tbw")
    rows = [[job.name, f"{job.written(capacity) / capacity:.3g}", job.purpose] for job in jobs]
    written = sum(job.written(capacity) for job in jobs)
    share = f", {100 * written / (rated * 1e12):.2g} % of rated TBW" if rated else ""
    text = lines(["job", "drive writes", "measures"], rows, left=(0, 2))
    lacking = "fill in model, nand (TLC or QLC), interface and rated_tbw (TB)"
    text += f"\n\nall jobs write {gigabytes(written)}{share}"
    return f"{text}\n{folder}/{probed.ABOUT}: {lacking}"


def measure(
    folder: Path,
    path: str,
    *,
    jobs: Sequence[Job] = JOBS,
    budget: int | None = None,
    ask: Callable[[str], str] = input,
    tell: Tell = print,
) -> None:
    """Run the jobs that have no results yet on a drive of this machine.

    The path is a block device that is not in use, or a regular file to try the jobs; the folder
    gets job files, probe.json, fio's JSON and bandwidth logs. All jobs may write `budget` bytes,
    over all runs with this folder; a job that would exceed it is skipped. `ask` has the user type
    the name of the drive before it is overwritten, and `tell` gets a line of text for each job.

    Raises `UserError`: the drive does not exist or is in use, fio is missing or fails, the name was
    not typed, or the folder has results of another drive.
    """
    if shutil.which("fio") is None:
        raise UserError("fio: not installed\n  allowed: fio 3 in PATH (apt-get install fio)")
    writes = any(not job.reads_only for job in jobs)
    target = Target.of(path, writes=writes)
    known = _resumed(folder, target)
    write(folder, target.capacity, known, force=True, jobs=jobs)
    done = [job for job in jobs if (folder / f"{job.name}.json").is_file()]
    if writes and len(done) < len(jobs):
        on_drive.confirm(target, ask)
    for job in jobs:
        if job in done:
            tell(f"{job.name}: has results")
            continue
        needed = job.written(target.capacity)
        if budget is not None and known["written_bytes"] + needed > budget:
            left = gigabytes(budget - known["written_bytes"])
            tell(f"{job.name}: left out: {gigabytes(needed)}, and {left} of --budget left")
            continue
        tell(f"{job.name}: {job.time}")
        known["written_bytes"] += int(needed)
        probed.write_about(folder, target.capacity, known)
        counters = known["jobs"][job.name] = on_drive.run(job, folder, target)
        probed.write_about(folder, target.capacity, known)
        if on_drive.throttled(counters):
            tell(f"{job.name}: the drive throttled itself; the job is not used")


def _resumed(folder: Path, target: Target) -> dict[str, Any]:
    """Return what is known of a drive, from an earlier run and from this machine."""
    file = folder / probed.ABOUT
    fresh = {**_TO_FILL_IN, **target.about(), "written_bytes": 0, "jobs": {}}
    lane = str(fresh.get("link") or "").partition(" ")[0]
    fresh["interface"] = _LANES.get(lane, fresh["interface"])
    if not file.is_file():
        return fresh
    before = probed.read_about(file)
    drive, capacity = before.get("drive"), before.get("capacity_bytes")
    if capacity != target.capacity or drive not in (None, target.path):
        other = f"{drive} of {capacity} bytes"
        raise UserError(
            f"{file}: belongs to another drive, {other}\n  allowed: another folder, or that drive"
        )
    said = {key: value for key, value in before.items() if value is not None}
    return {**fresh, **said, "drive": target.path}


def simulate(
    folder: Path,
    device: str,
    *,
    scheme: str | None = None,
    set: Mapping[str, object] | None = None,
    seed: int = _wordline.DEFAULT_SEED,
    force: bool = False,
    jobs: Sequence[Job] = JOBS,
    tell: Tell = lambda _: None,
) -> None:
    """Run the jobs on a simulated drive, one after another, and write output like that of fio.

    The default scheme is ``slc-cache`` if the device has an SLC cache. Files are as for `measure`;
    existing ones are overwritten with `force`, and are else a `UserError`, as an invalid device is.
    """
    _, file = sheet.read(device)
    named = scheme or sheet.scheme_of(file)

    def erased() -> wl.Drive:
        return wl.Drive(device=device, scheme=named, set=set, seed=seed, initial="fresh")

    drive = erased()
    capacity = drive.look().logical_bytes
    modes = ("qlc", "tlc", "mlc", "slc")
    nand = next(mode for mode in modes if any(mode in m for m in file["medium"].values())).upper()
    interface = (set or {}).get("host.rate") or file.get("host", {}).get("rate", "off")
    known: dict[str, Any] = {"model": device, "nand": nand, "interface": interface}
    write(folder, capacity, known, force=force, jobs=jobs)
    known |= {"rated_tbw": None, "jobs": {}}
    for job in jobs:
        if job.erased:
            drive = erased()
        began, media = drive.now_ns, programmed_bytes(drive)
        drive.run(until_ns=drive.now_ns + job.rest_s * 10**9)
        if job.writes is None:
            output = _as_fio(job, _played(drive, job, capacity, seed))
            began, media = 0, 0
        else:
            output, log = bench.write(drive, job.writes, capacity, seed)
            (folder / f"{job.name}_bw.1.log").write_text(log, encoding="utf-8")
        text = json.dumps(output, indent=2) + "\n"
        (folder / f"{job.name}.json").write_text(text, encoding="utf-8")
        took = (drive.now_ns - began) / 1e9
        drive.drain()
        # Take completed requests, so that others can start.
        drive.run()
        written = {"before": media, "after": programmed_bytes(drive)}
        known["jobs"][job.name] = {at: {"media_bytes": total} for at, total in written.items()}
        tell(f"{job.name}: {took:.4g} s of simulated time")
    probed.write_about(folder, capacity, known)


def _played(drive: wl.Drive, job: Job, capacity: int, seed: int) -> dict[str, Any]:
    """Run the sections of a job one after another; return the report of the last, measured one."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, section in enumerate(job.sections(capacity)):
            file = Path(folder) / f"{number}.fio"
            file.write_text("\n".join(section) + "\n", encoding="utf-8")
            found = drive.play(file, seed=seed + number, keep=True).to_dict()
    return found


def _as_fio(job: Job, found: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a job with the keys and units of fio's JSON."""
    ways = {}
    for way in ("read", "write"):
        latency = found["latency_us"].get(way) or {}
        requests = found["host"][f"{way}_requests"]
        points = ((50, "p50"), (90, "p90"), (99, "p99"), (99.9, "p999"))
        percentiles = {f"{at:.6f}": 1e3 * latency[key] for at, key in points if key in latency}
        ways[way] = {
            "io_bytes": found["host"][f"{way}_bytes"],
            "bw": found["throughput"][f"{way}_mb_per_s"] * 1e6 / 1024,
            "iops": requests / found["simulated_s"],
            "total_ios": requests,
            "clat_ns": {"mean": 1e3 * (latency.get("mean") or 0.0), "percentile": percentiles},
        }
    return bench.output(job.section, ways)
