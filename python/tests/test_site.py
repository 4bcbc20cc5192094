"""The site that `make docs` builds: strict, whole, searchable from a file, and asking nobody."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wordline as wl
from browsers import DRAWN, NEEDED, browser  # noqa: F401
from helpers import ROOT

CONFIG = ROOT / "mkdocs.yml"
GENERATOR = Path(sys.executable).with_name("zensical")
#: Pages of a paper that its first page leads to, and tables that a page with words leads to.
LED_TO = re.compile(
    r"^lab/results/[\w-]+/(figures|claims|causes|changelog)\.md$|^lab/results/atlas/pieces/index\.md$"
    r"|^lab/results/[\w-]+-(table|verdicts|keys|classes|fits)\.md$|^lab/results/rewrites\.md$"
)
#: What a browser loads without being asked.
OUTSIDE = r"""=["']?(?:https?:)?//[^"' >]+"""
LOADED = re.compile(
    rf"<(?:script|img|iframe|source)[^>]*\ssrc(?:set)?{OUTSIDE}"
    rf"|<link[^>]*rel=.?(?:stylesheet|preconnect|icon|preload)[^>]*href{OUTSIDE}"
)

pytestmark = pytest.mark.skipif(not CONFIG.exists(), reason="the sources are not of the package")
BUILT = pytest.mark.skipif(not GENERATOR.exists(), reason="zensical is not installed")


def staging():
    """The module that stages the pages."""
    spec = importlib.util.spec_from_file_location("stage", ROOT / "docs" / "site" / "stage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(folder, config=None):
    """Build the pages below a folder, and return what the generator did."""
    text = (config or CONFIG.read_text()).replace("target/site/", "")
    (folder / "mkdocs.yml").write_text(text.replace("[python]", f"[{ROOT / 'python'}]"))
    return subprocess.run(
        [GENERATOR, "build", "--strict"], cwd=folder, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    staging().stage(folder / "pages")
    return folder / "pages"


@pytest.fixture(scope="module")
def site(pages):
    done = build(pages.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    return pages.parent / "html"


def test_navigation_has_every_page(pages):
    listed = set(re.findall(r"\s(\S+\.md)$", CONFIG.read_text().partition("\nnav:")[2], re.M))
    staged = {page.relative_to(pages).as_posix() for page in pages.rglob("*.md")}
    assert listed - staged == set()
    assert {page for page in staged - listed if not LED_TO.match(page)} == set()


def test_reference_has_every_command_and_public_name(pages, wordline):
    commands = (pages / "reference" / "commands.md").read_text()
    listed = re.search(r"^Commands:\n(.*?)\n\n", wordline("--help").out, re.S | re.M)[1]
    for name in re.findall(r"^  (\S+)", listed, re.M):
        assert name == "help" or f"\n## wordline {name}\n" in commands
    for inner in ("trace convert", "device new", "twin fit"):
        assert f"\n### wordline {inner}\n" in commands
    assert "--over-provisioning" in commands
    python = (pages / "reference" / "python.md").read_text()
    assert "| `free_blocks(region, plane)` | " in python
    assert re.findall(r"^::: wordline\.(\w+)$", python, re.M) == sorted(wl.__all__, key=str.lower)


def test_pages_mark_commands_that_no_test_runs(pages):
    page = (pages / "docs" / "experiments.md").read_text()
    assert "```console\n$ dask scheduler" in page
    assert "*Not run by the tests: needs three shells.*" in page
    paper = (pages / "lab" / "results" / "ips" / "index.md").read_text()
    assert "\n```\n\n*Recorded when this page was written; not run by the tests.*" in paper


@BUILT
def test_names_and_links_reach_the_site(site):
    reference = (site / "reference" / "python.html").read_text()
    assert 'id="wordline.run"' in reference
    papers = (site / "lab" / "results" / "index.html").read_text()
    assert 'href="raro/index.html"' in papers
    assert 'href="docs/live.html"' in (site / "index.html").read_text()


@BUILT
def test_build_refuses_broken_links_and_anchors(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    config = CONFIG.read_text().partition("\nnav:")[0]
    (folder / "b.md").write_text("# B\n\n## Blocks of the drive: `--all`\n")
    for link, is_right in (
        ("b.md#blocks-of-the-drive---all", True),
        ("b.md#nothing", False),
        ("c.md", False),
    ):
        (folder / "index.md").write_text(f"# A\n\n[there]({link})\n")
        shutil.rmtree(tmp_path / ".cache", ignore_errors=True)
        assert (build(tmp_path, config).returncode == 0) == is_right, link


@BUILT
def test_no_page_loads_anything_from_elsewhere(site):
    assert LOADED.search('<script src="https://unpkg.com/x">')
    assert LOADED.search('<link rel="preconnect" href="https://fonts.gstatic.com" crossorigin>')
    for page in site.rglob("*.html"):
        assert not (found := LOADED.search(page.read_text())), f"{page}: {found and found[0]}"


@BUILT
@NEEDED
def test_search_works_from_file_without_network(site, browser):  # noqa: F811
    context = browser.new_context(offline=True)
    tab = context.new_page()
    asked = []
    tab.on(
        "request", lambda r: r.url.startswith(("file:", "data:", "blob:")) or asked.append(r.url)
    )
    for page in ("docs/glossary.html", "reference/python.html", "lab/results/ips/index.html"):
        tab.goto((site / page).as_uri())
    for word, page in (("over-provisioning", "docs/glossary"), ("hard_reserve", "devices/")):
        tab.goto((site / "index.html").as_uri())
        tab.evaluate(DRAWN)
        tab.keyboard.press("/")
        tab.keyboard.type(word)
        tab.wait_for_selector(f"li a[href*='{page}']:has-text('{word[:4]}')", timeout=60_000)
    context.close()
    assert asked == []
