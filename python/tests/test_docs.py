import os
import re
import subprocess
import sys
from pathlib import Path

from wordline import toml

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "devices/README.md"]


def test_every_link_of_the_pages_leads_somewhere():
    for page in PAGES:
        folder = (ROOT / page).parent
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text()):
            assert (folder / target).exists(), f"{page} links to {target}"


def test_every_path_that_the_pages_name_exists():
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]:
        for path in re.findall(
            r"`((?:crates|devices|python)/[\w./-]+)`", (ROOT / page).read_text()
        ):
            if "my_scheme" not in path:
                assert (ROOT / path).exists(), f"{page} names {path}"


def test_the_first_screen_shows_what_the_demonstration_prints(wordline, tmp_path):
    shown = re.search(r"What it prints:\n\n```\n(.*?)\n```", (ROOT / "README.md").read_text(), re.S)
    printed = wordline("demo", "--out", tmp_path / "demo")
    assert printed.out.rstrip() == shown.group(1).rstrip()


def shown(page):
    """Commands that a page shows, as a shell takes them, each with the lines behind it."""
    for block in re.findall(r"^```\n(\$ .*?)\n```$", page, re.S | re.M):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *lines = part.replace("\\\n", " ").splitlines()
            yield command, lines


def test_what_the_readme_shows_is_what_its_commands_print(tmp_path):
    scripts = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}"}
    commands = list(shown((ROOT / "README.md").read_text()))
    assert len(commands) >= 3
    for command, lines in commands:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, check=True
        )
        # What is left out is marked; all else stands there, in this order.
        printed = iter(done.stdout.splitlines())
        for line in lines:
            assert line == "…" or line in printed, f"{command} does not print\n{line}"


def test_every_fault_to_plant_finds_its_place_once():
    mutants = toml.read(ROOT / "tests" / "mutants.toml")["mutant"]
    assert len(mutants) >= 10
    for mutant in mutants:
        text = (ROOT / mutant["file"]).read_text()
        assert text.count(mutant["find"]) == 1, f"{mutant['name']}: {mutant['file']}"
