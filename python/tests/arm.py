"""Run the wheel for ARM under qemu-user, and hold its results to those of this machine.

    python arm.py dist/wordline-0.2.0-cp310-abi3-manylinux_2_28_aarch64.whl [--folder target/arm]

The interpreter for ARM, and qemu-aarch64 where it is missing, are unpacked from Debian's packages
into the folder; nothing is installed in the system. The package that is imported here is the
reference: its results must be those under qemu, to the last bit.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "crates/run/tests/golden"
#: What Python needs, and libraries that come with every Debian, for arm64.
PACKAGES = ["python3-minimal", "libpython3-stdlib", "libstdc++6"]
NEEDED = re.compile(r"(lib(?!perl)|python|zlib).*")
#: Runs whose reports and pictures are compared: with errors of reads, a steady beginning, a twin.
RUNS = {
    "demo": ["demo"],
    "errors": [
        *["compare", "--device", "raro-16gb", "--scheme", "raro", "--scheme", "conventional"],
        *["--workload", "zipf:theta=1.0,read=70%,bs=16KiB", "--requests", "5000"],
        *["--initial", "fill:20%+pe:qlc=500+retention:30d", "--replicas", "3"],
    ],
    "steady": [
        *["compare", "--device", "demo-8gb", "--scheme", "conventional", "--replicas", "2"],
        *["--workload", "uniform:read=30%,bs=4KiB", "--requests", "5000", "--steady-state"],
    ],
    "twin": [
        *["compare", "--device", "fair-tlc", "--scheme", "slc-cache", "--scheme", "sector"],
        *["--workload", "twin:prxy_0", "--requests", "5000"],
    ],
}
#: A drive that is served, and how much is copied to it and back.
SERVED = ["--device", "demo-8gb", "--scheme", "slc-cache", "--time-scale", "0"]
COPIED = 8 << 20
#: Prints the result hash of each golden row that its arguments number.
ROWS = """
import csv, sys, wordline
folder, *numbers = sys.argv[1:]
rows = list(csv.DictReader(open(folder + "/table.tsv"), delimiter="\\t"))
for number in map(int, numbers):
    row = rows[number]
    workload = row["workload"]
    report = wordline.run(
        device=folder + "/" + row["device"],
        scheme=row["scheme"],
        workload=folder + "/" + workload if workload.endswith(".csv") else workload,
        requests=int(row["requests"]),
        initial=row["initial"],
        seed=int(row["seed"]),
    )
    print(number, report.result_hash, flush=True)
"""


class Missing(Exception):
    """What this machine lacks, and how to get it."""


def run(*words: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a command to its end; return what it printed."""
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env)
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


class Packages:
    """Debian's packages of an architecture, by lists of their own: the system's stay."""

    def __init__(self, folder: Path, architecture: str) -> None:
        if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
            raise Missing(
                "apt-get and dpkg-deb are missing: Python for ARM comes from Debian's packages\n"
                "  hint: run this on Debian, or in a container of it"
            )
        lists, cache = folder / f"lists-{architecture}", folder / "cache"
        for made in (lists / "partial", cache / "archives/partial"):
            made.mkdir(parents=True, exist_ok=True)
        given = {
            "APT::Architecture": architecture,
            "APT::Architectures": architecture,
            "APT::Sandbox::User": os.environ.get("USER", "root"),
            "Dir::State::lists": lists,
            "Dir::State::status": "/dev/null",
            "Dir::Cache": cache,
        }
        self.options = [word for key, value in given.items() for word in ("-o", f"{key}={value}")]
        self.folder, self.architecture = folder, architecture
        self.apt("apt-get", "-qq", "update")

    def apt(self, command: str, *words: str, cwd: Path | None = None) -> str:
        """Run a command of apt for the architecture; return what it printed."""
        try:
            return run(command, *self.options, *words, cwd=cwd)
        except RuntimeError as why:
            raise Missing(
                f"Debian's packages for {self.architecture} cannot be fetched: {why}"
                "  hint: the mirrors in /etc/apt must be reachable, and have this architecture; "
                "Ubuntu has ARM at http://ports.ubuntu.com"
            ) from why

    def with_dependencies(self, names: list[str]) -> list[str]:
        """Return packages, and those that they depend on, directly or not."""
        kinds = ["recommends", "suggests", "conflicts", "breaks", "replaces", "enhances"]
        without = [f"--no-{kind}" for kind in kinds]
        told = self.apt("apt-cache", "depends", "--recurse", *without, *names)
        return sorted({line for line in told.splitlines() if re.match(r"[a-z0-9]", line)})

    def unpack(self, names: list[str], to: Path) -> None:
        """Unpack packages into a folder, which is there only if all of them are."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            self.apt("apt-get", "-qq", "download", *names, cwd=Path(name))
            root = Path(name) / "root"
            for package in Path(name).glob("*.deb"):
                run("dpkg-deb", "-x", package, root)
            root.rename(to)


class Emulated:
    """Python for ARM under qemu-user, with the wheel and what it depends on."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        root = folder / "root"
        if not root.exists():
            packages = Packages(folder, "arm64")
            names = packages.with_dependencies(PACKAGES)
            packages.unpack([name for name in names if NEEDED.fullmatch(name)], root)
        [python] = root.glob("usr/bin/python3.[0-9]*")
        self.site = folder / "site"
        shutil.rmtree(self.site, ignore_errors=True)
        platforms = [f"manylinux_2_{minor}_aarch64" for minor in (28, 27, 17)]
        pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        pip += ["--target", str(self.site), "--only-binary", ":all:"]
        pip += ["--python-version", python.name[len("python") :]]
        pip += [word for name in platforms for word in ("--platform", name)]
        try:
            run(*pip, wheel)
        except RuntimeError as why:
            raise Missing(f"what the wheel needs on ARM cannot be installed by pip: {why}") from why
        self.python = [qemu(folder), "-L", str(root), str(python)]
        self.env = {**os.environ, "PYTHONPATH": str(self.site), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, *words: object, cwd: Path | None = None) -> str:
        return run(*self.python, *words, cwd=cwd, env=self.env)


def qemu(folder: Path) -> str:
    """Return the emulator: that of the system, or else of a package that is unpacked."""
    for name in ("qemu-aarch64-static", "qemu-aarch64"):
        if found := shutil.which(name):
            return found
    unpacked = folder / "qemu"
    if not unpacked.exists():
        machine = run("dpkg", "--print-architecture").strip()
        Packages(folder, machine).unpack(["qemu-user-static"], unpacked)
    return str(unpacked / "usr/bin/qemu-aarch64-static")


def golden_rows(emulated: Emulated) -> str:
    with (GOLDEN / "table.tsv").open() as table:
        want = [row["result_hash"] for row in csv.DictReader(table, delimiter="\t")]
    numbers = [number for number, hash_ in enumerate(want) if hash_ != "refused"]
    workers = os.cpu_count() or 1
    parts = [numbers[part::workers] for part in range(workers)]
    with ThreadPoolExecutor(workers) as pool:
        told = pool.map(lambda part: emulated.run("-c", ROWS, GOLDEN, *part), parts)
    found = dict(line.split() for text in told for line in text.splitlines())
    assert len(found) == len(numbers), found
    wrong = [number for number in numbers if found[str(number)] != want[number]]
    assert not wrong, f"rows {wrong} of {GOLDEN / 'table.tsv'} differ"
    return f"{len(numbers)} golden rows, identical"


def without_speed(value: object) -> object:
    """Return a report without how fast and with how much memory it was made."""
    if isinstance(value, dict):
        return {key: without_speed(inner) for key, inner in value.items() if key != "speed"}
    return [without_speed(inner) for inner in value] if isinstance(value, list) else value


def written(folder: Path) -> dict[str, object]:
    """Return what a command has written into a folder, by name, without its speed."""
    found: dict[str, object] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        if path.suffix == ".json":
            found[name] = without_speed(json.loads(path.read_text()))
        elif path.suffix != ".html":
            # A page has its report in it, the speed too.
            found[name] = path.read_bytes()
    return found


def reports(emulated: Emulated, folder: Path) -> Iterator[str]:
    for name, words in RUNS.items():
        out = [*words, "--out", name]
        here, there = (folder / machine for machine in ("here", "there"))
        for made in (here, there):
            made.mkdir(exist_ok=True)
        run(sys.executable, "-m", "wordline", *out, cwd=here)
        emulated.run("-m", "wordline", *out, cwd=there)
        want, found = written(here / name), written(there / name)
        differ = sorted(
            file for file in want.keys() | found.keys() if want.get(file) != found.get(file)
        )
        assert not differ, f"{name}: {', '.join(differ)} in {here} and {there} differ"
        assert any(file.endswith(".json") for file in want), want.keys()
        yield f"{name}: the report and {len(want) - 1} pictures and tables, identical"


def served(emulated: Emulated, folder: Path) -> str:
    if not (shutil.which("nbdinfo") and shutil.which("nbdcopy")):
        return "a served drive: not tried without nbdinfo and nbdcopy (apt-get install libnbd-bin)"
    image, copy = folder / "image", folder / "copy"
    image.write_bytes(os.urandom(COPIED))
    data = ["--data", folder / "drive"]
    for client in (["nbdcopy", image, "$uri"], ["nbdcopy", "--no-extents", "$uri", copy]):
        command = f"nbdinfo $uri && {' '.join(map(str, client))}"
        said = emulated.run(
            *["-m", "wordline", "serve", *SERVED, *data, "--size", f"{COPIED}B"],
            *["--run", command],
        )
        assert f"export-size: {COPIED}" in said, said
    assert copy.read_bytes() == image.read_bytes()
    return f"a drive in a folder: {COPIED >> 20} MiB written to a server, read from another"


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the wheel for ARM under qemu-user.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--folder", type=Path, default=ROOT / "target/arm")
    given = parser.parse_args()
    if "aarch64" not in given.wheel.name:
        parser.error(
            f"{given.wheel}: no wheel for ARM\n  hint: make wheel TARGET=aarch64-unknown-linux-gnu"
        )
    begun = time.monotonic()

    def tell(what: str) -> None:
        nonlocal begun
        now = time.monotonic()
        print(f"{now - begun:6.1f} s  {what}", flush=True)
        begun = now

    try:
        emulated = Emulated(given.folder.resolve(), given.wheel.resolve())
    except Missing as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    tell(f"fetched and unpacked in {given.folder}")
    machine = "import platform; print(platform.machine(), 'Python', platform.python_version())"
    version = emulated.run("-m", "wordline", "--version").strip()
    tell(f"{version}, {emulated.run('-c', machine).strip()}")
    tell(golden_rows(emulated))
    with tempfile.TemporaryDirectory(prefix="wordline-arm-") as name:
        for line in reports(emulated, Path(name)):
            tell(line)
        tell(served(emulated, Path(name)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
