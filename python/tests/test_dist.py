"""What is given away: the wheel of `make wheel` and the source distribution of `make sdist`."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from helpers import ROOT, call

SITE = "https://github.com/wordline/wordline/blob/main/"


def built(pattern):
    """The one file of a kind in the folder that WORDLINE_DIST names."""
    if "WORDLINE_DIST" not in os.environ:
        pytest.skip("nothing was built: make wheel sdist; make test WHEEL=$(echo dist/*.whl)")
    found = list(Path(os.environ["WORDLINE_DIST"]).glob(pattern))
    assert len(found) == 1, found
    return found[0]


@pytest.fixture
def wheel():
    return built("*.whl")


@pytest.fixture
def sdist():
    return built("*.tar.gz")


def workspace(key):
    """A value of the workspace's package in Cargo.toml."""
    return re.search(rf'^{key} = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def tracked(folder):
    """The files of a folder of the checkout that belong to it."""
    files = (p for p in (ROOT / folder).rglob("*") if p.is_file())
    return {p.relative_to(ROOT).as_posix() for p in files if "__pycache__" not in p.parts}


def test_package_page_links_lead_to_files():
    for link in re.findall(r"\]\(([^)]+)\)", (ROOT / "python/README.md").read_text()):
        assert link.startswith(SITE), link
        assert (ROOT / link.removeprefix(SITE)).exists(), link


def test_the_laboratory_has_the_version_of_the_package():
    found = re.search(r'^version = "(.+)"', (ROOT / "lab/pyproject.toml").read_text(), re.M)
    assert found[1] == workspace("version")


def test_wheel_is_portable_and_small(wheel):
    name = rf"wordline-{workspace('version')}-cp310-abi3-manylinux_2_(\d+)_\w+\.whl"
    tag = re.fullmatch(name, wheel.name)
    assert tag, wheel.name
    assert int(tag[1]) <= 28
    assert wheel.stat().st_size <= 12e6


def test_the_wheel_holds_every_file_of_the_package(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    assert not [n for n in names if "lab" in n.split("/")[0]]
    paths = [p for name in ("wordline", "wordline_replay") for p in tracked(f"python/{name}")]
    ours = {p.removeprefix("python/") for p in paths if not p.endswith(".so")}
    assert len(ours) > 50
    assert ours <= names
    assert "wordline/_wordline.abi3.so" in names
    assert [n for n in names if n.endswith("licenses/LICENSE-MIT")]


def test_the_metadata_say_what_it_is_and_of_whom(wheel):
    with zipfile.ZipFile(wheel) as file:
        [name] = [n for n in file.namelist() if n.endswith(".dist-info/METADATA")]
        said = message_from_bytes(file.read(name))
    assert said["Author"] == "The Wordline developers"
    assert said["License-Expression"] == "Apache-2.0 OR MIT"
    assert said["Requires-Python"] == ">=3.10"
    assert said["Keywords"]
    assert said.get_all("License-File") == ["LICENSE-APACHE", "LICENSE-MIT"]
    assert f"Repository, {workspace('repository')}" in said.get_all("Project-URL")
    assert "Typing :: Typed" in said.get_all("Classifier")
    assert said["Description-Content-Type"].startswith("text/markdown")
    page = (ROOT / "python/README.md").read_text()
    assert said.get_payload(decode=True).decode().strip() == page.strip()


def test_sdist_holds_embedded_files(sdist):
    with tarfile.open(sdist) as file:
        names = {m.name.split("/", 1)[1] for m in file.getmembers() if m.isfile()}
    for source in [p for p in names if re.fullmatch(r"crates/\w+/src/.*\.rs", p)]:
        for path in re.findall(r'include_(?:str|bytes)!\("([^"]+)"\)', (ROOT / source).read_text()):
            embedded = os.path.normpath(Path(source).parent / path)
            assert embedded in names, f"{source} embeds {embedded}"
    assert tracked("devices") | tracked("crates/workload/twins") <= names
    assert {"Cargo.lock", "pyproject.toml", "LICENSE-MIT", "python/README.md"} <= names
    documents = sorted(n for n in names if n.startswith("docs/"))
    assert documents == ["docs/README.md", "docs/not-modelled.md"]
    assert sdist.stat().st_size < 3e6


def environment(folder, package, path):
    """A new environment with a package in it: how to call its command, in an empty folder."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    bin_folder = folder / "venv/bin"
    search = {"PATH": os.pathsep.join([str(bin_folder), *path])}
    pip = [bin_folder / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    done = call(*pip, package, env=search, cwd=folder, timeout=3000)
    assert done.code == 0, done.err
    (folder / "empty").mkdir()
    return lambda *args: call(bin_folder / "wordline", *args, cwd=folder / "empty", env=search)


def test_wheel_runs_demo_without_compiler(wheel, tmp_path):
    begin = time.monotonic()
    assert not shutil.which("cargo", path=str(tmp_path / "venv/bin"))
    wordline = environment(tmp_path, wheel, [])
    done = wordline("demo")
    took = time.monotonic() - begin
    assert done.code == 0, done.err
    assert "WAF" in done.out
    assert "conventional" in done.out
    assert (tmp_path / "empty/out/demo/report.html").stat().st_size > 100_000
    assert took < 60, f"{took:.0f} s from nothing to the first comparison"
    works_without_a_checkout(wordline)


def works_without_a_checkout(wordline):
    """What reads files of its own, or another package."""
    small = ["--device", "demo-8gb", "--workload", "bursty", "--requests", "500"]
    files = ["--log", "ops.csv.zst", "--completions", "c.parquet", "--json", "r.json"]
    for args, says in [
        (["run", *small, "--scheme", "slc-cache", *files], "WAF"),
        (["check-log", "ops.csv.zst", "--report", "r.json"], "the report's counts agree"),
        (["why", "r.json", "--slowest", "1"], "slc-cache"),
        (["explain", "gc"], "cost-benefit"),
        (["explain", "not-modelled"], "not modelled"),
        (["completions", "bash"], "demo-8gb"),
    ]:
        done = wordline(*args)
        assert done.code == 0, done.err
        assert says in done.out
    done = wordline("sweep", *small[:4], "--scheme", "conventional")
    assert done.code == 2
    assert "pip install '.[sweep]'" in done.err


def test_sdist_builds_without_checkout(sdist, tmp_path):
    if "WORDLINE_SDIST" not in os.environ:
        pytest.skip("takes minutes; make release-check does it")
    wordline = environment(tmp_path, sdist, os.environ["PATH"].split(os.pathsep))
    done = wordline("demo")
    assert done.code == 0, done.err
    works_without_a_checkout(wordline)
