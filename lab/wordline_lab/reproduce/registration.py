"""Registration: hashes of the files that decide the verdicts, from before the first full run.

``registration.toml`` has a ``[[registration]]`` for each registration, the last of which counts:
``date``, ``why``, ``hash`` of all, and ``files`` with the hash of each. The files are those that
define claims, readings and runs: ``claims.toml``, ``readings.toml``, ``sentences.toml``,
``experiment.toml``, job files and twins of the folder, the code that measures, and the device files
and twins that its runs name. Causes may be found later. A page of a whole evaluation at full scale
is refused if a file has changed.

    python -m wordline_lab.reproduce.registration PAPER "what changed, and why"

registers a paper; `make register PAPERS=... WHY=...` does it in the sources.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wordline import UserError, toml
from wordline.commands import SWEEP, perform
from wordline_lab.reproduce.paper import Paper, papers, read

FILE = "registration.toml"
#: Files of a folder that say why, or what was before, or draw, and decide nothing.
FREE = {
    *(FILE, "causes.toml", "changes.toml", "claims-before.toml"),
    *("__init__.py", "figures.py", "findings.py", "words.py"),
}
#: What code names, as it is spelled now and as it was when it was registered: where a module has
#: moved, nothing else is measured, so hashes are those of the spelling of then.
MOVED = (
    (
        "from wordline.quantity import in_us\n"
        "from wordline_lab.experiments.pa_ssd.measures import BASELINE, planes_of\n",
        "from wordline.experiments.pa_ssd.measures import BASELINE, planes_of\n"
        "from wordline.quantity import in_us\n",
    ),
    (
        "from wordline.quantity import in_us\nfrom wordline_lab.experiments.raro import fit\n",
        "from wordline.experiments.raro import fit\nfrom wordline.quantity import in_us\n",
    ),
    ("from wordline import Report, model\n", "from wordline import Report, _wordline, model\n"),
    ("model.page_write_cost", "_wordline.page_write_cost"),
    ("workloads of the\ngroups `flushed`", "workloads of the groups\n`flushed`"),
    ('.to_dict()["metrics"][name]', '.to_dict()["followed"][name]'),
    ("wordline_lab.", "wordline."),
)
#: Descriptions of devices, as they are worded now and as they were when they were registered.
REWORDED = (
    (
        "16 GiB of QLC; blocks of frequently read data can be converted to TLC or SLC (RARO)",
        "16 GiB of QLC whose blocks may turn to TLC or SLC for what is read often (RARO)",
    ),
    (
        "2 GiB of SLC and 16 GiB of TLC on separate dies, 16 GiB logical capacity (HySSD, ST)",
        "2 GiB of SLC beside 16 GiB of TLC on dies of their own, 16 GiB to the host (HySSD, ST)",
    ),
    (
        "2 GiB of MLC and 16 GiB of TLC on separate dies, 16 GiB logical capacity (HySSD, MT)",
        "2 GiB of MLC beside 16 GiB of TLC on dies of their own, 16 GiB to the host (HySSD, MT)",
    ),
    (
        "2 GiB of SLC and 16 GiB of MLC on separate dies, 16 GiB logical capacity "
        "(HySSD, a third combination)",
        "2 GiB of SLC beside 16 GiB of MLC on dies of their own, 16 GiB to the host "
        "(HySSD, another combination)",
    ),
    (
        "18 GiB of SLC, 16 GiB logical capacity: the SLC drive that HySSD is compared with",
        "18 GiB of SLC, 16 GiB to the host: what HySSD shall perform in par with",
    ),
    (
        "288 GiB of TLC; program times of the page types differ by a factor of 11 (PA-SSD)",
        "288 GiB of TLC whose page types differ elevenfold in program time (PA-SSD)",
    ),
)
#: How much of a hash is shown.
SHOWN = 12


@dataclass(frozen=True)
class Registration:
    """The files of a paper at one time, each with its hash."""

    date: str
    why: str
    files: dict[str, str]

    @property
    def hash(self) -> str:
        """The hash of all files, in hexadecimal digits."""
        listed = "".join(f"{name} {self.files[name]}\n" for name in sorted(self.files))
        return hashlib.sha256(listed.encode()).hexdigest()

    def differs(self, now: Registration) -> list[str]:
        """Return the files that differ, and how."""
        found = []
        for name in sorted({*self.files, *now.files}):
            was, here = self.files.get(name), now.files.get(name)
            if was != here:
                found.append(f"{name} {'is new' if not was else 'changed' if here else 'is gone'}")
        return found


def of_now(paper: Paper, why: str = "") -> Registration:
    """Return the current state of a paper's files."""
    files = {
        path.name: _content(path)
        for path in sorted(paper.folder.iterdir())
        if path.name not in FREE and path.suffix in (".toml", ".fio", ".py")
    }
    files |= {name: text.encode() for name, text in _named(paper).items()}
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return Registration(datetime.date.today().isoformat(), why, hashes)


def _content(path: Path) -> bytes:
    """Return what is registered of a file: its bytes, those of code with imports as they were."""
    content = path.read_bytes()
    if path.suffix == ".py":
        for now, was in MOVED:
            content = content.replace(now.encode(), was.encode())
    return content


def _named(paper: Paper) -> dict[str, str]:
    """Return the device files and twins that come with Wordline and that its runs name."""
    devices = {run.device for run in paper.runs.values()}
    texts = [path.read_text(encoding="utf-8") for path in paper.folder.glob("*.toml")]
    for reading in paper.readings.all.values():
        devices |= {other.changes.get("device", "") for other in reading.others}
    twins = {name for text in texts for name in re.findall(r"\btwin:([\w.-]+)", text)}
    names = {f"devices/{name}.toml" for name in devices} | {f"twins/{name}.toml" for name in twins}
    found = {name: text for name in names if (text := toml.builtin(name)) is not None}
    for now, was in REWORDED:
        found = {name: text.replace(now, was) for name, text in found.items()}
    return found


def registered(folder: Path) -> list[Registration]:
    """Return every registration of a paper, the last one last."""
    path = folder / FILE
    found = toml.read(path).get("registration", []) if path.exists() else []
    return [Registration(str(r["date"]), r["why"], r["files"]) for r in found]


def check(paper: Paper) -> Registration:
    """Return the registration of a paper's page.

    Raises
    ------
    UserError
        There is none, or a file is another than it was then.
    """
    there = registered(paper.folder)
    path = paper.folder / FILE
    if not there:
        raise UserError(f"{path}: {paper.name} was never registered; {_hint(paper)}")
    differs = there[-1].differs(of_now(paper))
    if differs:
        raise UserError(
            f"{path}: not what was registered on {there[-1].date}: {', '.join(differs)}; "
            "a page of the whole evaluation needs the registered files. Undo the change, or "
            f"register what changed and why: {_hint(paper)}"
        )
    return there[-1]


def _hint(paper: Paper) -> str:
    return f'`python -m wordline_lab.reproduce.registration {paper.name} "what changed, and why"`'


def register(name: str, why: str, into: Path | None = None) -> Registration:
    """Register the current files of a paper.

    Parameters
    ----------
    name
        The paper.
    why
        What changed since the last registration, and why.
    into
        The folder ``experiments`` to write to, if it is not that of the installed package.
    """
    paper = read(name)
    now = of_now(paper, " ".join(why.split()))
    before = registered(paper.folder)
    if before and not before[-1].differs(now):
        raise UserError(f"{name}: nothing changed since {before[-1].date}")
    lines = [f"# Written by `python -m wordline_lab.reproduce.registration {name}`.\n"]
    for one in [*before, now]:
        lines.append(
            f'\n[[registration]]\ndate = "{one.date}"\nhash = "{one.hash}"\n'
            f"why = {json.dumps(one.why, ensure_ascii=False)}\n\n[registration.files]\n"
            + "".join(f'"{file}" = "{one.files[file]}"\n' for file in sorted(one.files))
        )
    folder = into / paper.folder.name if into else paper.folder
    (folder / FILE).write_text("".join(lines), encoding="utf-8")
    return now


def main(arguments: Sequence[str] | None = None) -> int:
    """Register papers; return the exit code."""
    parser = argparse.ArgumentParser(
        "python -m wordline_lab.reproduce.registration", description=main.__doc__
    )
    parser.add_argument("paper", choices=list(papers()))
    parser.add_argument("why", help="what changed since the last registration, and why")
    parser.add_argument("--into", type=Path, help="the folder experiments/ to write to")
    asked = parser.parse_args(arguments)

    def run() -> None:
        found = register(asked.paper, asked.why, asked.into)
        print(f"{asked.paper}: {len(found.files)} files, {found.hash[:SHOWN]}")

    return perform("reproduce", SWEEP, run, extra="sweep")


if __name__ == "__main__":
    sys.exit(main())
