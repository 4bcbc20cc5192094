"""Plant each fault of ``mutants.toml`` in a copy of the engine and say which tests catch it.

Run by ``make mutants``, which takes some minutes a fault; exit code 0 only if every one is caught.
``--only WORD`` plants those whose name contains a word; ``--out FILE`` writes a Markdown table.
With ``--alone`` they are those of ``mutants-ftl.toml``, and the translation layer's own tests must
catch seven in ten of them (``make ftl-mutants``). With ``--explore`` they are those of
``mutants-explore.toml``, and the search of every order of events must find each
(``make explore-mutants``).
"""

import argparse
import filecmp
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "target" / "mutants"
# What the engine is built from, and what its tests read: the page of its rooms, names of tests.
COPIED = ["crates", "devices", "docs", "lab/results", "fuzz", "Cargo.toml", "Cargo.lock", ".cargo"]
COPIED += ["ARCHITECTURE.md", "Makefile", "python/tests", "lab/tests"]
# The engine's own checks come first; the golden table would catch nearly anything.
SUITES = [["wordline-flash", "wordline-ftl", "wordline-sim", "wordline-swarm"], ["wordline-run"]]
ALONE = [["wordline-ftl"]]
EXPLORE = [["wordline-explore"]]
SECONDS = 1500


def copy(to: Path = COPY) -> None:
    """Copy what the engine is built from.

    A file is written only where it differs, and then anew, so that cargo builds again what had a
    fault, and nothing else. A file that is not there any more is removed from the copy.
    """
    for name in COPIED:
        top = ROOT / name
        for target in filter(Path.is_file, (to / name).rglob("*")):
            if not (ROOT / target.relative_to(to)).is_file():
                target.unlink()
        for source in [top] if top.is_file() else filter(Path.is_file, top.rglob("*")):
            target = to / source.relative_to(ROOT)
            if not target.exists() or not filecmp.cmp(source, target, shallow=False):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)


def plant(mutant: dict, to: Path = COPY) -> None:
    """Put one fault into the copy."""
    path = to / mutant["file"]
    text = (ROOT / mutant["file"]).read_text()
    if text.count(mutant["find"]) != 1:
        times = text.count(mutant["find"])
        sys.exit(
            f"{mutant['name']}: {mutant['file']} has the text to replace {times} times, not once"
        )
    path.write_text(text.replace(mutant["find"], mutant["replace"]))


def failed(text: str) -> list[str]:
    """Return the tests that a suite says have failed."""
    return sorted(set(re.findall(r"^test ([\w:]+) \.\.\. FAILED$", text, flags=re.M)))


def run(suite: list[str]) -> list[str]:
    """Run the tests of some crates up to the first program with failures; return those.

    Each is told as it ends, so that those before a hang or an abort are known.
    """
    command = ["cargo", "test", *(f"--package={name}" for name in suite)]
    # Artifacts of a copy with a fault stay out of the folder that the tree itself is built in.
    env = {**os.environ, "CARGO_TARGET_DIR": str(COPY / "target")}
    try:
        done = subprocess.run(
            command, cwd=COPY, env=env, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired as late:
        return failed((late.stdout or b"").decode()) or ["(the suite hangs)"]
    text = done.stdout + done.stderr
    tests = failed(text)
    if not tests and "the drive never ends" in text:
        return ["(the swarm: a drive never ends)"]
    if done.returncode and not tests:
        sys.exit(f"the suite did not run:\n{text[-3000:]}")
    return tests


def caught(suites: list[list[str]]) -> list[str]:
    """Return the tests that fail, of the first suite in which any does."""
    return next(filter(None, map(run, suites)), [])


def main() -> int:
    """Plant them one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="plant the faults whose name contains this")
    parser.add_argument("--out", type=Path, help="write the table here as Markdown")
    parser.add_argument(
        "--alone", action="store_true", help="of the translation layer, by its own tests"
    )
    parser.add_argument(
        "--explore", action="store_true", help="by the search of every order of events"
    )
    options = parser.parse_args()
    faults, suites = "mutants.toml", SUITES
    if options.alone:
        faults, suites = "mutants-ftl.toml", ALONE
    if options.explore:
        faults, suites = "mutants-explore.toml", EXPLORE
    mutants = tomllib.loads((ROOT / "tests" / faults).read_text())["mutant"]
    mutants = [m for m in mutants if options.only in m["name"]]
    copy()
    if tests := caught(suites):
        sys.exit(f"without a fault the suite does not pass: {', '.join(tests)}")
    rows, missed = [], 0
    for mutant in mutants:
        copy()
        plant(mutant)
        begin = time.monotonic()
        tests = caught(suites)
        missed += not tests
        shown = ", ".join(f"`{t}`" for t in tests[:3]) + (
            f" and {len(tests) - 3} more" if len(tests) > 3 else ""
        )
        rows.append((mutant["name"], mutant["file"], shown or "**nothing**"))
        print(
            f"{mutant['name']:<52} {time.monotonic() - begin:5.0f} s  {shown or 'NOT CAUGHT'}",
            flush=True,
        )
    if options.out:
        lines = ["| fault | where | caught by |", "|---|---|---|"]
        lines += [f"| {name} | `{where}` | {by} |" for name, where, by in rows]
        options.out.write_text("\n".join(lines) + "\n")
    print(f"{len(mutants) - missed} of {len(mutants)} faults are caught")
    bar = 0.7 if options.alone else 1.0
    return int(len(mutants) - missed < bar * len(mutants))


if __name__ == "__main__":
    sys.exit(main())
