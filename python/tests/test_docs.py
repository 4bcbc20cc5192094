import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from dataclasses import dataclass
from functools import cache, reduce
from itertools import groupby
from operator import getitem
from pathlib import Path

import pytest

from wordline import toml

ROOT = Path(__file__).resolve().parents[2]
ENGINE = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs/engine").glob("*.md"))
PAGES = [
    *["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"],
    *["SUPPORT.md", "CODE_OF_CONDUCT.md", "devices/README.md"],
    *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "crates").rglob("*.md")),
    *sorted(str(p.relative_to(ROOT)) for of in ("docs", "lab") for p in (ROOT / of).rglob("*.md")),
]
# How many commands of the pages for users are run, and how many are not.
COUNTS = (82, 96)


def anchors(page):
    """The anchors of a page's headings, as the sites that show Markdown make them."""
    without_fences = re.sub(r"^```.*?^```", "", page, flags=re.S | re.M)
    headings = re.findall(r"^#+ (.*)$", without_fences, re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def test_every_link_of_the_pages_leads_somewhere():
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(), flags=re.S | re.M)
        for path, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", text):
            target = (ROOT / page).parent / path if path else ROOT / page
            assert target.exists(), f"{page} links to {path}"
            if anchor and target.suffix == ".md":
                found = anchors(target.read_text())
                assert anchor in found, f"{page} links to {path}#{anchor}"


def test_every_path_that_the_pages_name_exists():
    crates = "|".join(sorted(crate.name for crate in (ROOT / "crates").iterdir()))
    named = rf"`((?:crates|devices|lab|python|{crates})/[\w./-]+)`"
    evidence = ["lab/README.md", "lab/results/tests.md", "lab/results/speed.md"]
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", *evidence, *ENGINE]:
        for path in re.findall(named, (ROOT / page).read_text()):
            crate, _, rest = path.partition("/")
            places = [ROOT / path, ROOT / "crates" / path, ROOT / "crates" / crate / "src" / rest]
            if "my_scheme" not in path and "NAME" not in path:
                assert any(place.exists() for place in places), f"{page} names {path}"


def test_every_function_that_is_named_with_its_file_is_there():
    named = re.compile(r"`([\w/]+\.rs)` \((`\w+`(?:(?:,| to| and) `\w+`)*)")
    found = 0
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"]:
        for path, names in named.findall((ROOT / page).read_text()):
            crate, _, rest = path.partition("/")
            file = next((ROOT / "crates").glob(f"{crate}/src/{rest.removeprefix('src/')}"), None)
            for name in re.findall(r"`(\w+)`", names) if file else []:
                assert name in file.read_text(), f"{page} names {name} in {path}"
                found += 1
    assert found > 20


#: Rows of the table on the first screen: the figure in the JSON, a divisor and a unit.
FIRST_ROWS = {
    "mean write latency": ("latency_us.write.mean", 1e3, " ms"),
    "p99 write latency": ("latency_us.write.p99", 1e3, " ms"),
    "p99 read latency": ("latency_us.read.p99", 1e3, " ms"),
    "WAF": ("waf.total", 1, ""),
}


def first_table(comparison):
    """The table on the first screen, as the reports of the demonstration have it."""
    reports = comparison["reports"]
    names = [report["scheme"]["name"] for report in reports]
    lines = [f"| bursts of writes on 1 GiB of TLC | {' | '.join(names)} |", "|---|---|---|---|"]
    for label, (path, divisor, unit) in FIRST_ROWS.items():
        found = [reduce(getitem, path.split("."), report) / divisor for report in reports]
        cells = [f"{value:.3g}{unit} ({value / found[0]:.2f}×)" for value in found]  # noqa: RUF001
        lines.append(f"| {label} | {found[0]:.3g}{unit} | {' | '.join(cells[1:])} |")
    return "\n".join(lines)


def test_readme_table_matches_demo(wordline, tmp_path):
    wordline("demo", "--out", tmp_path / "demo")
    comparison = json.loads((tmp_path / "demo" / "comparison.json").read_text())
    drawn = runpy.run_path(str(ROOT / "docs" / "site" / "picture.py"))["picture"](comparison)
    text = (ROOT / "README.md").read_text()
    shown = re.search(r"^\| bursts .*?(?=\n\n)", text, re.S | re.M)[0]
    if "BLESS" in os.environ:
        (ROOT / "README.md").write_text(text.replace(shown, first_table(comparison)))
        (ROOT / "docs" / "demo.svg").write_text(drawn)
    else:
        assert shown == first_table(comparison)
        assert (ROOT / "docs" / "demo.svg").read_text() == drawn


def test_readme_is_read_in_two_minutes():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 90
    runs, scheme = re.findall(r"^```python\n(.*?)\n```\n```\n.*?\n```$", text, re.S | re.M)
    assert len(runs.splitlines()) <= 8
    assert len(scheme.splitlines()) <= 12


@dataclass
class Shown:
    """Something that a page shows with what it prints: a command, or a program in Python."""

    command: str
    lines: list[str]
    not_run: str | None = None

    def is_printed(self, output):
        """Whether the output has these lines; `…` stands for any, or within a line for any text."""
        parts = [
            "(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + " *\n"
            for line in self.lines
        ]
        return re.fullmatch("".join(parts), output.rstrip() + "\n") or not self.lines

    def with_figures_of(self, output):
        """The lines as an output has them: all of it, or what differs in figures from parts."""
        printed = [line.rstrip() for line in output.rstrip().splitlines()]
        if self.lines and not any("…" in line for line in self.lines):
            return printed
        words = [without_figures(line) for line in printed]
        found, at = [], 0
        for marked, part in groupby(self.lines, lambda line: line == "…"):
            lines = list(part)
            wanted = [without_figures(line) for line in lines]
            ends = range(at + len(lines), len(words) + 1)
            fits = (end for end in ends if words[end - len(lines) : end] == wanted)
            if marked or (end := next(fits, None)) is None:
                found += lines
            else:
                found, at = found + printed[end - len(lines) : end], end
        return found


def without_figures(line):
    return re.sub(r"[\d.,\s*\u2212-]+", " ", line)


def shown(page):
    """What a page shows, in its order.

    A fence that begins with `$ ` has commands as a shell takes them, each with what it prints, or
    nothing; `$ cat FILE` shows a file that those behind it read. A fence ```python has a program,
    and a fence directly behind it what that prints. A fence ```not-run REASON has commands that
    would take too long, or need what is not here.
    """
    program, end = None, 0
    for fence in re.finditer(r"^```([^\n]*)\n(.*?)\n```$", page, re.S | re.M):
        told, block = fence.groups()
        kind, _, reason = told.partition(" ")
        follows = not page[end : fence.start()].strip()
        before, program, end = program, block if kind == "python" else None, fence.end()
        if before and follows and told == "" and not block.startswith("$ "):
            yield Shown(shlex.join([sys.executable, "-c", before]), block.splitlines())
        elif block.startswith("$ ") and kind in ("", "not-run"):
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, *lines = part.replace("\\\n", " ").splitlines()
                yield Shown(command, lines, reason if kind else None)
        elif kind == "not-run":
            for command in block.replace("\\\n", " ").splitlines():
                yield Shown(command, [], reason)


# Pages for users, as far as they show something.
FOR_USERS = [
    *("README.md", "python/README.md", "lab/README.md"),
    *(page for page in PAGES if page.startswith(("docs/", "devices/"))),
]
SHOWING = [page for page in FOR_USERS if any(shown((ROOT / page).read_text()))]
COMMAND = re.compile(r"^(\$ )?(wordline|fio|pip|cargo|nbd\w+) ", re.M)


@pytest.mark.parametrize("page", FOR_USERS)
def test_every_command_is_run_or_marked(page):
    for told, block in re.findall(
        r"^```([^\n]*)\n(.*?)\n```$", (ROOT / page).read_text(), re.S | re.M
    ):
        if told == "" and COMMAND.search(block):
            assert block.startswith("$ "), f"{page}: begin with `$ `, or say why not-run: {block}"


@pytest.mark.parametrize("page", SHOWING)
def test_what_a_page_shows_is_what_its_commands_print(page, tmp_path):
    scripts = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}"}
    text, at = (ROOT / page).read_text(), 0
    for part in shown(text):
        if part.not_run is not None:
            continue
        file = re.fullmatch(r"cat ([\w.-]+)", part.command)
        if file and not (tmp_path / file[1]).exists():
            (tmp_path / file[1]).write_text("".join(f"{line}\n" for line in part.lines))
        done = subprocess.run(
            part.command,
            shell=True,
            cwd=tmp_path,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, f"{part.command}\n{done.stdout}"
        lines = "\n".join(part.lines)
        if "BLESS" in os.environ:
            part.lines = part.with_figures_of(done.stdout)
            at = text.index(lines, at)
            text = text[:at] + "\n".join(part.lines) + text[at + len(lines) :]
            at += len("\n".join(part.lines))
            (ROOT / page).write_text(text)
        assert part.is_printed(done.stdout), f"{part.command} prints\n{done.stdout}"


def test_unrun_commands_have_reasons(wordline):
    parts = [part for page in SHOWING for part in shown((ROOT / page).read_text())]
    left_out = [part for part in parts if part.not_run is not None]
    # More of either: say so here.
    assert (len(parts) - len(left_out), len(left_out)) == COUNTS
    of_command = cache(lambda *words: wordline(*words, "--help").out)
    for part in left_out:
        assert part.not_run, f"{part.command} is not run, and no reason is given"
        # Some lines have no words but their comment.
        program, *words = shlex.split(part.command, comments=True) or [""]
        if program == "wordline":
            commands = (
                words[:2]
                if words[0] in ("trace", "twin", "device") and words[1][0] != "-"
                else words[:1]
            )
            known = of_command(*commands)
            for option in (word.partition("=")[0] for word in words if word.startswith("--")):
                assert option in known, f"{part.command}: there is no {option}"


def test_output_is_compared_by_line():
    def fits(*lines):
        return bool(Shown("", list(lines)).is_printed("a\nb 1 s\nc\n"))

    assert fits("a", "b 1 s", "c")
    assert fits("a", "…")
    assert fits("…", "c")
    assert fits("…", "b … s", "…")
    assert fits()
    assert not fits("a", "c")
    assert not fits("a", "b 1 s")
    assert not fits("…", "b", "…")
    assert Shown("", ["…", "b 2.5 s", "…"]).with_figures_of("a\nb 1 s\nc\n") == ["…", "b 1 s", "…"]


def test_example_of_trace_format_is_what_convert_writes(wordline, tmp_path):
    page = (ROOT / "crates" / "trace" / "FORMAT.md").read_text()
    (tmp_path / "four.csv").write_text(re.search(r"^```\n(.*?)^```", page, re.S | re.M)[1])
    wordline("trace", "convert", tmp_path / "four.csv", tmp_path / "four.wl")
    written = (tmp_path / "four.wl").read_bytes()
    assert f" {len(written)} bytes of these" in page
    compared = 0
    for at, content in re.findall(r"^\| (\d+) \| ([^|]*) \|", page, re.M):
        parts = re.findall(r"`([\da-f ]+)`|(\S+)", content.replace(",", ""))
        if parts[0][0]:
            shown = b"".join(bytes.fromhex(digits) or word.encode() for digits, word in parts)
            assert written[int(at) :].startswith(shown), f"byte {at}: {content}"
            compared += len(shown)
    assert compared > 70


@pytest.mark.parametrize("faults", ["mutants.toml", "mutants-ftl.toml", "mutants-explore.toml"])
def test_every_fault_to_plant_finds_its_place_once(faults):
    mutants = toml.read(ROOT / "tests" / faults)["mutant"]
    assert len(mutants) >= 9
    for mutant in mutants:
        text = (ROOT / mutant["file"]).read_text()
        assert text.count(mutant["find"]) == 1, f"{mutant['name']}: {mutant['file']}"


def test_each_page_begins_with_its_answer():
    for page in FOR_USERS:
        if page.startswith("docs/") and not page.startswith(("docs/schemes/", "docs/recipes/")):
            title, empty, first = (ROOT / page).read_text().splitlines()[:3]
            assert title.startswith("# "), page
            assert not empty, page
            assert re.match(r"[\w`*\[]", first), f"{page} begins with {first}"
            assert not first.startswith("```"), page


def test_citation_is_of_this_version():
    version = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M)[1]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'\nversion = "{version}"\n' in (ROOT / "lab" / "pyproject.toml").read_text()
    assert f"\n## {version}\n" in (ROOT / "CHANGELOG.md").read_text()


def test_issue_templates_ask_for_a_report():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert [form.stem for form in forms] == ["bug", "config", "feature", "result"]
    assert all("report.json" in form.read_text() for form in forms if form.stem != "config")
