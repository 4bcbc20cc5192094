"""Run the recipes of this folder, and print a table of what was expected and what was found.

    recipes.py [--states N | --soak] [--stories] [--wordline PATH] [NAME ...]

Each recipe has two verdicts: *consistent*, by its integrity check and whole transactions, and *durable*, nothing that was
acknowledged is missing. A recipe is skipped where its program, its Python module or root is missing. Exit code 1: a verdict
is not the expected one.
"""

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = sys.executable
NO, YES = "no", "yes"


@dataclass
class Recipe:
    """A load, its check, and what its manual promises."""

    name: str
    run: str
    check: str
    consistent: str
    durable: str
    mount: str = ""
    more: tuple[str, ...] = ()
    needs: str = ""
    times: int = 1
    #: States with --soak of what must not fail.
    soak: int = 2000
    #: Whether the check is one process for all states.
    persistent: bool = False
    #: The script that makes the image which the drive begins with, and its size.
    image: tuple[str, str] = ("", "")


def stores() -> list[Recipe]:
    """Return the small store, without a fault and with each of five."""
    program = f"{PYTHON} {HERE}/store.py"
    all_of_them = [
        Recipe(
            "store",
            f"{program} run {{uri}} 128",
            f"{program} verify-each {{image}} {{acked}}",
            YES,
            YES,
            soak=10_000,
            persistent=True,
        )
    ]
    for fault in (
        "missing-barrier",
        "torn-header",
        "reused-block",
        "unawaited-flush",
        "unchecked-checksum",
    ):
        check = f"{program} verify {{uri}} {{acked}} {fault}"
        all_of_them.append(
            Recipe(f"store, {fault}", f"{program} run {{uri}} {fault}", check, NO, NO)
        )
    return all_of_them


def sqlite() -> list[Recipe]:
    """Return six settings of SQLite."""
    program, verdicts = f"{PYTHON} {HERE}/sqlite.py", []
    for synchronous, journal, consistent, durable in (
        ("OFF", "DELETE", NO, NO),
        ("NORMAL", "WAL", YES, NO),
        ("NORMAL", "DELETE", NO, NO),
        ("FULL", "DELETE", YES, NO),
        ("EXTRA", "DELETE", YES, YES),
        ("FULL", "WAL", YES, YES),
    ):
        name = f"SQLite, {synchronous}, {journal}"
        run = f"{program} run {{uri}} {synchronous} {journal}"
        check, times = f"{program} verify-each {{image}} {{acked}}", 8 if synchronous == "OFF" else 1
        recipe = Recipe(name, run, check, consistent, durable, times=times, soak=10_000)
        recipe.persistent = True
        verdicts.append(recipe)
    return verdicts


def keys() -> list[Recipe]:
    """Return LMDB and RocksDB, with sync and without."""
    program, verdicts = f"{PYTHON} {HERE}/keys.py", []
    for kind, module, sync, consistent, durable in (
        ("lmdb", "lmdb", "yes", YES, YES),
        ("lmdb", "lmdb", "no", NO, NO),
        ("rocksdb", "rocksdict", "yes", YES, YES),
        ("rocksdb", "rocksdict", "no", YES, NO),
    ):
        check = f"{program} verify {{mnt}} {{acked}} {kind} {sync}"
        name = {"lmdb": "LMDB", "rocksdb": "RocksDB"}[kind] + (
            ", sync" if sync == "yes" else ", no sync"
        )
        run = f"{program} run {{mnt}} {kind} {sync}"
        times = 1 if consistent == YES else 8
        verdicts.append(
            Recipe(name, run, check, consistent, durable, "ext4", needs=module, times=times)
        )
    return verdicts


def files() -> list[Recipe]:
    """Return file systems."""
    run = f"sh {HERE}/files.sh run {{mnt}}"
    fsck = f"sh {HERE}/fsck.sh {{image}} {{acked}}"
    strict = "e2fsck -fn {image}"
    return [
        Recipe("ext4", run, fsck, YES, YES, "ext4"),
        Recipe("ext4, barrier=0", run, fsck, NO, NO, "ext4,barrier=0"),
        Recipe("ext4, no journal", run, strict, NO, "", "ext4", ("--mkfs=-O^has_journal",)),
        Recipe("XFS", f"{run} 65536", fsck, YES, YES, "xfs"),
    ]


def qemu() -> list[Recipe]:
    """Return ext4 on another path to the drive, whose NVMe drive loses FUA unless every write has it."""
    check, recipes = f"sh {HERE}/fsck.sh {{image}} {{acked}}", []
    for option, durable in (("", NO), ("write-cache=off", YES)):
        recipe = Recipe(f"ext4 in QEMU, {option or 'defaults'}", "", check, YES, durable, needs="qemu", soak=300)
        recipe.run = f"sh {HERE}/qemu.sh run {{socket}} {option}".strip()
        recipe.more = ("--timeout", "300s", "--sector", "4KiB")
        recipe.image = ("qemu.sh", "64MiB")
        recipes.append(recipe)
    return recipes


def postgres() -> list[Recipe]:
    """Return settings of PostgreSQL."""
    program, verdicts = f"sh {HERE}/postgres.sh", []
    for settings, consistent, durable in (
        ("", YES, YES),
        ("synchronous_commit=off", YES, NO),
        ("fsync=off", NO, NO),
        ("full_page_writes=off", NO, NO),
    ):
        name = f"PostgreSQL, {settings or 'defaults'}"
        check = f"{program} verify {{mnt}} {{acked}}"
        run = f"{program} run {{mnt}} {settings}".strip()
        recipe = Recipe(name, run, check, consistent, durable, "ext4", needs="postgres", soak=300)
        recipe.image = ("postgres.sh", "160MiB")
        verdicts.append(recipe)
    return verdicts


def lacks(recipe: Recipe) -> str:
    """Return what this machine lacks for a recipe."""
    if recipe.mount and os.geteuid():
        return "root"
    if recipe.mount and not shutil.which("nbdfuse"):
        return "nbdfuse"
    if recipe.mount == "xfs" and not shutil.which("mkfs.xfs"):
        return "mkfs.xfs"
    if recipe.needs == "qemu":
        programs = [p for p in ("qemu-system-x86_64", "cpio") if not shutil.which(p)]
        files = {"$KERNEL": os.environ.get("KERNEL", ""), "busybox": os.environ.get("BUSYBOX", "/bin/busybox")}
        return ", ".join(programs + [name for name, path in files.items() if not os.path.isfile(path)])
    if recipe.needs == "postgres":
        return "" if list(Path("/usr/lib/postgresql").glob("*/bin/initdb")) else "PostgreSQL"
    return recipe.needs if recipe.needs and not importlib.util.find_spec(recipe.needs) else ""


def crash(
    recipe: Recipe, verdict: str, options: argparse.Namespace, folder: Path
) -> tuple[str, dict]:
    """Return whether no state fails, and the report."""
    log = folder / f"{recipe.name.replace(' ', '')}.log"
    states = recipe.soak if options.soak else options.states * recipe.times
    command = [options.wordline, "crash", "--states", str(states), "--json", "-"]
    command += ["--check", f"{recipe.check} {verdict}".strip()]
    command += ["--mount", recipe.mount] if recipe.mount else []
    command += ["--persistent"] if recipe.persistent else []
    if log.exists():
        command += ["--log", str(log)]
    else:
        command += ["--run", recipe.run, "--save", str(log), *recipe.more]
        script, size = recipe.image
        if script:
            image = folder / "begin.img"
            prepare = ["sh", HERE / script, "prepare", image]
            subprocess.run(prepare, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            command += ["--image", str(image), "--size", size]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return f"error: {(done.stderr.strip().splitlines() or [''])[-1][:90]}", {
            "checks": 0,
            "failing": None,
        }
    return (NO if done.returncode else YES), json.loads(done.stdout)


def main() -> int:
    """Run recipes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="begin of names; all without")
    parser.add_argument("--states", type=int, default=60)
    parser.add_argument(
        "--soak", action="store_true", help="10,000, 2,000 or 300 states of each; hours"
    )
    parser.add_argument("--stories", action="store_true", help="print the smallest failing states")
    parser.add_argument("--wordline", default="wordline")
    options = parser.parse_args()
    recipes = [*stores(), *sqlite(), *files(), *qemu(), *keys(), *postgres()]
    chosen = [
        r for r in recipes if not options.names or any(r.name.startswith(n) for n in options.names)
    ]
    differs = 0
    print(f"{'recipe':<36} {'expected':<27} {'found':<27} {'states':>6}  first failing state")
    for recipe in chosen:
        if missing := lacks(recipe):
            print(f"{recipe.name:<36} skipped: needs {missing}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            own_store = recipe.name.startswith("store")
            verdicts = ("",) if own_store or not recipe.durable else ("", "durable")
            reports = [crash(recipe, verdict, options, Path(folder)) for verdict in verdicts]
        found = [said for said, _ in reports]
        expected = [recipe.consistent, recipe.durable][: len(found)]
        states = max(report["checks"] for _, report in reports)
        failing = [report["failing"]["state"] for _, report in reports if report["failing"]]
        wrong = found != expected
        differs += wrong
        words = ["consistent", "durable"]
        texts = [
            ", ".join(f"{w} {v}" for w, v in zip(words, values, strict=False))
            for values in (expected, found)
        ]
        print(
            f"{recipe.name:<36} {texts[0]:<27} {texts[1]:<27} {states:>6}  {' '.join(failing)}{'  DIFFERS' if wrong else ''}",
            flush=True,
        )
        for one in [report["failing"] for _, report in reports if report["failing"]]:
            if options.stories:
                print(f"{one['state']}: {one['story']}  the check said: {one['check_said']}", flush=True)
    return int(differs > 0)


if __name__ == "__main__":
    sys.exit(main())
