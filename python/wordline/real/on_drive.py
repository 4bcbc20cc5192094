"""``wordline device probe --run``: run the jobs on a drive of this machine, by fio."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordline import UserError
from wordline.quantity import gigabytes
from wordline.real.jobs import Job

#: Counters of nvme-cli that show whether a drive was throttled while a job ran.
THROTTLED = (
    "warning_temp_time",
    "critical_comp_time",
    "thm_temp1_trans_count",
    "thm_temp2_trans_count",
)
#: Names of the bytes written to flash in OCP's log; they vary between versions of nvme-cli.
MEDIA = "physical media units written"
#: Properties of a drive from sysfs and nvme-cli, by their names in probe.json.
_SYSFS = {
    "model": "device/model",
    "firmware": "device/firmware_rev",
    "lba_bytes": "queue/hw_sector_size",
    "link": "device/device/current_link_speed",
}
_ALLOWED = "  allowed: a block device such as /dev/nvme0n1"


@dataclass(frozen=True)
class Target:
    """A drive to measure: a block device, or a regular file of its size to try the jobs."""

    path: str
    capacity: int
    is_device: bool

    @classmethod
    def of(cls, path: str, *, writes: bool) -> Target:
        """Check a path that is to be read or overwritten.

        Raises `UserError`: the path does not exist, is neither, is in use, or is not accessible to
        this user.
        """
        try:
            mode = os.stat(path).st_mode
        except OSError as e:
            raise UserError(f"{path}: {e.strerror}\n{_ALLOWED}") from e
        is_device = stat.S_ISBLK(mode)
        if not is_device and not stat.S_ISREG(mode):
            raise UserError(f"{path}: neither a block device nor a regular file\n{_ALLOWED}")
        try:
            # A device that is mounted or part of an array cannot be opened exclusively.
            alone = os.O_EXCL if is_device and writes else 0
            handle = os.open(path, (os.O_RDWR if writes else os.O_RDONLY) | alone)
        except OSError as e:
            raise UserError(
                f"{path}: cannot be opened: {e.strerror}\n"
                "  allowed: a drive that is not in use and that this user may write; unmount it, "
                "or use sudo"
            ) from e
        try:
            capacity = os.lseek(handle, 0, os.SEEK_END)
        finally:
            os.close(handle)
        if capacity < 1 << 24:
            raise UserError(f"{path}: has {capacity} bytes\n  allowed: at least 16 MiB")
        return cls(path, capacity, is_device)

    def about(self) -> dict[str, Any]:
        """Return what this machine reports about the drive, for probe.json."""
        about: dict[str, Any] = {"drive": self.path, "kernel": os.uname().release}
        about["fio"] = _run(["fio", "--version"]).stdout.strip() or None
        folder = Path("/sys/class/block") / Path(os.path.realpath(self.path)).name
        for key, file in _SYSFS.items():
            at = folder / file
            about[key] = at.read_text().strip() if self.is_device and at.is_file() else None
        return about

    def erase(self) -> None:
        """Discard all data of the drive.

        Raises `UserError`: the drive does not support it.
        """
        if not self.is_device:
            with open(self.path, "r+b") as file:
                file.truncate(0)
                file.truncate(self.capacity)
            return
        done = _run(["blkdiscard", "-f", self.path])
        if done.returncode:
            raise UserError(
                f"{self.path}: blkdiscard failed: {done.stderr.strip()}\n"
                "  allowed: a drive that can discard; erase others with nvme format -s1"
            )

    def counters(self) -> dict[str, Any]:
        """Return the drive's own counters: bytes written to flash, and throttling times."""
        if not self.is_device or shutil.which("nvme") is None:
            return {}
        smart = _json(["nvme", "smart-log", self.path, "-o", "json"])
        log = _json(["nvme", "ocp", "smart-add-log", self.path, "-o", "json"])
        named = {key.lower().replace("_", " "): value for key, value in log.items()}
        media = named.get(MEDIA)
        found = {key: smart[key] for key in THROTTLED if isinstance(smart.get(key), int)}
        if isinstance(media, dict):
            found["media_bytes"] = (int(media["hi"]) << 64) + int(media["lo"])
        elif isinstance(media, int):
            found["media_bytes"] = media
        return found


def confirm(target: Target, ask: Callable[[str], str]) -> None:
    """Require that the user types the name of a drive before it is overwritten.

    Raises `UserError`: the user typed something else.
    """
    size = gigabytes(target.capacity)
    text = f"All data on {target.path} ({size}) will be lost. Type {target.path} to go on: "
    if ask(text).strip() != target.path:
        raise UserError(f"{target.path}: not confirmed; nothing was written")


def run(job: Job, folder: Path, target: Target) -> dict[str, Any]:
    """Run a job by fio; return the drive's counters before and after it.

    Results get their final names only if fio succeeded.

    Raises `UserError`: fio failed; the message has its output.
    """
    if job.erased:
        target.erase()
    before = target.counters()
    done = _run(job.command(os.path.abspath(target.path), "part"), folder)
    part = folder / f"{job.name}.part"
    if done.returncode:
        part.unlink(missing_ok=True)
        said = (done.stderr or done.stdout).strip().splitlines()
        raise UserError(
            f"{folder / job.name}.fio: fio ended with {done.returncode}: {' / '.join(said[-3:])}\n"
            "  allowed: a job that fio can complete; the same command resumes with it"
        )
    after = target.counters()
    part.replace(folder / f"{job.name}.json")
    return {"before": before, "after": after}


def throttled(counters: dict[str, Any]) -> bool:
    """Return whether a drive was throttled between two readings of its counters."""
    before, after = counters["before"], counters["after"]
    return any(after.get(key, 0) > before.get(key, 0) for key in THROTTLED)


def _run(words: list[str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)


def _json(words: list[str]) -> dict[str, Any]:
    try:
        found = json.loads(_run(words).stdout)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
