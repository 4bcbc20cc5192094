"""Add a figure to a copy of the sources, by the three edits of ``figure.toml``, and look for it.

Run by ``make figure``, which builds the command in the copy; exit code 0 only if the figure is, by
these edits alone, in a report's JSON and table, in the schema, in Python, and explained.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import mutants
import tomllib

ROOT = mutants.ROOT
COPY = ROOT / "target" / "figure"
EDITS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["edit"]
# Where the edits put the figure, its label, and the sentences of its counter and of its row.
NAME, LABEL = "single_page_writes", "in one page"
COUNTED, ABOUT = (
    "Writes that touch a single mapping unit.",
    "Writes that touch one page of the map.",
)
RUN = ["--device", "fair-tlc", "--scheme", "slc-cache"]
RUN += ["--workload", "uniform:read=0%,bs=4KiB,requests=2k"]


def cargo(*words: str) -> str:
    """Call cargo in the copy, where tests accept what they generate; return what it prints."""
    # In a folder of its own: cargo would take what it builds there for what it builds here.
    own = {"BLESS": "1", "CARGO_TARGET_DIR": str(COPY / "target")}
    command, environment = ["cargo", *words], {**os.environ, **own}
    done = subprocess.run(
        command, cwd=COPY, capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def lend(built: Path = ROOT / "target" / "debug") -> None:
    """Give the copy the libraries that tests of the tree have built, by hard links."""
    own = shutil.ignore_patterns("*wordline*", "it-*")
    for name in ("deps", "build", ".fingerprint"):
        to = COPY / "target" / "debug" / name
        if (built / name).exists() and not to.exists():
            shutil.copytree(built / name, to, copy_function=os.link, ignore=own)


def changed() -> list[str]:
    """Return the files of the copy that differ from their originals."""
    copied = (path for name in mutants.COPIED for path in [COPY / name, *(COPY / name).rglob("*")])
    names = (path.relative_to(COPY) for path in copied if path.is_file())
    return sorted(str(n) for n in names if (COPY / n).read_bytes() != (ROOT / n).read_bytes())


def main() -> int:
    """Make the edits, and look for the figure wherever it should be."""
    mutants.copy(COPY)
    lend()
    for edit in EDITS:
        mutants.plant(edit, COPY)
    edited = changed()
    cargo("test", "--quiet", "--package=wordline-report", "--test=it", "schema::")
    schema = json.loads((COPY / "crates/report/report.schema.json").read_text())
    sys.path.insert(0, str(ROOT / "python" / "tests"))
    import typed_report

    from wordline import _frame

    typed_report.SCHEMA = schema
    wordline = ["run", "--quiet", "--package=wordline-cli", "--bin=wordline", "--"]
    host = json.loads(cargo(*wordline, "run", *RUN, "--json", "-"))["host"]
    counted = schema["$defs"]["Host"]["properties"].get(NAME, {}).get("description")
    seen = {
        "three edits": edited == sorted(edit["file"] for edit in EDITS) and len(edited) == 3,
        "the JSON of a report": host.get(NAME)
        == host["write_requests"] - host["multi_page_writes"],
        "what the schema says of its counter": counted == COUNTED,
        "what the schema says of its row": ABOUT in schema["figures"].get(f"host.{NAME}", ""),
        "a column of frames and sweeps": f"host.{NAME}" in dict(_frame.numbers({"host": host})),
        "the types of Python": f"    {NAME}: int\n" in typed_report.stub(),
        "the table": LABEL in cargo(*wordline, "run", *RUN),
        "explain": ABOUT in cargo(*wordline, "explain", LABEL),
    }
    for what, is_there in seen.items():
        print(f"{what:<40} {'yes' if is_there else 'NO'}")
    return int(not all(seen.values()))


if __name__ == "__main__":
    sys.exit(main())
