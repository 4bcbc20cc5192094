import re
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


def test_every_fault_to_plant_finds_its_place_once():
    mutants = toml.read(ROOT / "tests" / "mutants.toml")["mutant"]
    assert len(mutants) >= 10
    for mutant in mutants:
        text = (ROOT / mutant["file"]).read_text()
        assert text.count(mutant["find"]) == 1, f"{mutant['name']}: {mutant['file']}"
