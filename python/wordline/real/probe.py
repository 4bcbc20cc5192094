"""``wordline device probe``: fio jobs that identify a drive, and their run on a simulated one."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wordline as wl
from wordline import UserError, _wordline
from wordline.commands import SWEEP, perform
from wordline.real import measurements, sheet
from wordline.real.measurements import Drive, Value

#: Sectors, mapping units and pages in fio's logs are of no concern: a log line each second.
_LOG_MS = 1000
#: What probe.json has until a reader says what the drive is.
_TO_FILL_IN = {"model": None, "nand": "TLC", "interface": "PCIe4"}


@dataclass(frozen=True)
class Job:
    """A job file: what it is for, what it does, and how much it writes."""

    name: str
    #: What is identified, for the comment at its head.
    purpose: str
    #: Lines of the job, without those of all jobs.
    lines: tuple[str, ...]
    #: Drive writes, and about how long it takes at the rates of a drive.
    drive_writes: float
    time: str
    #: Whether the drive is erased before it, and whether a log is written.
    erased: bool = False
    logged: bool = False


JOBS = (
    Job(
        "01-fill",
        "size of the SLC cache, rates in it and past it; without a cache the rate of the flash",
        ("rw=write", "bs=128k", "iodepth=32", "size=100%"),
        1.0,
        "capacity over the rate past the cache: 10 min to 3 h for 1 TB",
        erased=True,
        logged=True,
    ),
    Job(
        "02-read",
        "rate of sequential reads, which the link or the buses limit",
        ("rw=read", "bs=128k", "iodepth=32", "size=10%"),
        0.0,
        "under a minute",
    ),
    Job(
        "03-latency",
        "latency of single 4 KiB reads: array, transfer and controller together",
        ("rw=randread", "bs=4k", "iodepth=1", "size=100%", "norandommap", "number_ios=2000"),
        0.0,
        "seconds",
    ),
)


def main(**arguments: Any) -> int:
    """Do ``wordline device probe``; return its exit code: 0, 1 or 2, as `perform` says."""
    return perform("device probe", SWEEP, lambda: _main(**arguments), extra="fit")


def _main(
    *,
    jobs: str,
    set: list[str],
    seed: int,
    force: bool,
    capacity: str | None = None,
    device: str | None = None,
    scheme: str | None = None,
) -> None:
    folder = Path(jobs)

    def tell(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    pairs = dict(pair.partition("=")[::2] for pair in set)
    if device is None:
        write(folder, _wordline.size(capacity or ""), force=force)
        print(about(folder))
    else:
        run(folder, device, scheme=scheme, set=pairs, seed=seed, force=force, tell=tell)
        print(f"{folder}: results of the jobs; fit them with:")
        print(f"  wordline device fit {folder} -o mine.toml")


def text_of(job: Job, capacity: int) -> str:
    """Return a job file."""
    written = job.drive_writes * capacity / 1e9
    lines = [
        f"# {job.purpose}.",
        f"# Writes {written:,.4g} GB ({job.drive_writes:g} drive writes); takes {job.time}.",
    ]
    if job.erased:
        lines.append("# Erase the drive before: nvme format -s1, or blkdiscard. All data are lost.")
    elif job.drive_writes:
        lines.append("# Overwrites the drive. All data are lost.")
    else:
        lines.append("# Reads only.")
    log = f"--output={job.name}.json --output-format=json"
    if job.logged:
        log += f" --write_bw_log={job.name} --log_avg_msec={_LOG_MS}"
    lines.append(f"# fio {job.name}.fio --filename=/dev/nvme0n1 {log}")
    lines += [f"[{job.name[3:]}]", "ioengine=libaio", "direct=1", "refill_buffers=1"]
    return "\n".join([*lines, *job.lines]) + "\n"


def write(
    folder: Path,
    capacity: int,
    about: Mapping[str, object] = _TO_FILL_IN,
    *,
    force: bool = False,
) -> None:
    """Write the job files and probe.json for a drive of a capacity in bytes.

    Raises `UserError`: a file exists and `force` is not given.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = {f"{job.name}.fio": text_of(job, capacity) for job in JOBS}
    texts["probe.json"] = json.dumps({"capacity_bytes": capacity, **about}, indent=2) + "\n"
    for name, text in texts.items():
        if (folder / name).exists() and not force:
            raise UserError(f"{folder / name}: file exists; --force overwrites it")
        (folder / name).write_text(text, encoding="utf-8")


def about(folder: Path) -> str:
    """Return a line for each job."""
    lines = [f"{folder}/{j.name}.fio  {j.drive_writes:g} drive writes: {j.purpose}" for j in JOBS]
    lines.append(f"{folder}/probe.json  fill in model, nand (TLC or QLC) and interface")
    return "\n".join(lines)


def run(
    folder: Path,
    device: str,
    *,
    scheme: str | None = None,
    set: Mapping[str, object] | None = None,
    seed: int = _wordline.DEFAULT_SEED,
    force: bool = False,
    tell: Any = lambda _: None,
) -> None:
    """Run the jobs on a simulated drive, one after another, and write output like that of fio.

    Parameters
    ----------
    folder
        For job files, probe.json, fio's JSON and bandwidth logs.
    device, scheme, set, seed
        As for `wordline.run`; ``slc-cache`` where the device has an SLC cache if not given.
    force
        Overwrite existing files.
    tell
        Called with a line of text after each job.

    Raises
    ------
    UserError
        The device is wrong, or a file exists.
    """
    _, file = sheet.read(device)
    named = scheme or sheet.scheme_of(file)
    drive = wl.Drive(device=device, scheme=named, set=set, seed=seed)
    capacity = drive.look().logical_bytes
    cells = [
        c for c in ("qlc", "tlc", "mlc", "slc") if any(c in m for m in file["medium"].values())
    ]
    interface = (set or {}).get("host.rate") or file.get("host", {}).get("rate", "off")
    about = {"model": device, "nand": cells[0].upper(), "interface": interface}
    write(folder, capacity, about, force=force)
    for job in JOBS:
        report = drive.play(folder / f"{job.name}.fio", seed=seed, keep=True)
        found = report.to_dict()
        (folder / f"{job.name}.json").write_text(
            json.dumps(_as_fio(job, found), indent=2) + "\n", encoding="utf-8"
        )
        if job.logged:
            line = found["timeline"]
            step = line["bin_s"] * 1e3
            rows = [
                f"{(i + 1) * step:.6f}, {rate * 1e6 / 1024:.3f}, 1, 0, 0\n"
                for i, rate in enumerate(line["write_mb_per_s"])
            ]
            (folder / f"{job.name}_bw.1.log").write_text("".join(rows[:-1]), encoding="utf-8")
        tell(f"{job.name}: {found['simulated_s']:.4g} s of simulated time")
        drive.drain()


def _as_fio(job: Job, found: dict[str, Any]) -> dict[str, Any]:
    """Return what a job did under the keys and units of fio's JSON, with the WAF of the drive."""
    entry: dict[str, Any] = {"jobname": job.name[3:]}
    for way in ("read", "write"):
        latency = found["latency_us"].get(way) or {}
        entry[way] = {
            "io_bytes": found["host"][f"{way}_bytes"],
            "bw": found["throughput"][f"{way}_mb_per_s"] * 1e6 / 1024,
            "total_ios": found["host"][f"{way}_requests"],
            "clat_ns": {"mean": 1e3 * (latency.get("mean") or 0.0)},
        }
    return {
        "fio version": f"wordline-{wl.__version__}",
        "jobs": [entry],
        "waf": (found["waf"] or {}).get("total"),
    }


def results(folder: Path) -> Drive:
    """Read what the jobs measured.

    Raises `UserError`: probe.json is wrong, or there are no results.
    """
    path = folder / "probe.json"
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        capacity = int(about["capacity_bytes"])
        nand = str(about["nand"])
    except (ValueError, KeyError, TypeError) as e:
        raise UserError(
            f"{path}: {type(e).__name__}: {e}\n  allowed: JSON with capacity_bytes, nand, "
            "interface and model"
        ) from e
    cell = measurements.cell_in(nand)
    if cell is None:
        raise UserError(f"{path}: nand {nand!r}; allowed: TLC or QLC")
    drive = Drive(about.get("model") or folder.name, capacity, cell, nand)
    drive.interface = about.get("interface")
    fill = folder / "01-fill_bw.1.log"
    if not fill.is_file():
        raise UserError(
            f"{fill}: no such file; it is the log of 01-fill, whose job file has the command of fio"
        )
    measurements.take_log(drive, fill)
    for name, way, key in (("02-read", "read", "read_mbps"), ("03-latency", "read", "read_us")):
        file = folder / f"{name}.json"
        if file.is_file():
            entry = measurements.fio_json(file)["jobs"][0][way]
            value = (
                entry["bw"] * 1024 / 1e6 if key == "read_mbps" else entry["clat_ns"]["mean"] / 1e3
            )
            drive.values[key] = Value(value, 0.98 * value, 1.02 * value, file.name)
    return drive
