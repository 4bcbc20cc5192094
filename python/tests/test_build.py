"""`make test` compiles a crate once, for the tests in Rust and for the package that it installs."""

import re
import shutil
import subprocess

import pytest

from helpers import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()


def built(edges, *selected):
    """Return the crates of a build, each with the sets of features that it is compiled with."""
    words = ["cargo", "tree", "--edges", edges, "--prefix", "none", "--no-dedupe"]
    shown = subprocess.run(
        [*words, "--format", "{p} |{f}", *selected],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = {}
    for line in shown.stdout.splitlines():
        crate, _, features = line.removesuffix(" (*)").partition(" |")
        found.setdefault(crate, set()).add(features)
    return found


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_package_is_built_from_the_crates_of_the_tests():
    [of_tests] = re.findall(r"^CARGO_TEST := .*--features (\S+)", MAKEFILE, re.M)
    [of_package] = re.findall(r"^\$\(TESTED\): BUILD = .*--features (\S+)", MAKEFILE, re.M)
    tests = built("normal,build,dev", "--workspace", "--features", of_tests)
    package = built("normal,build", "--package", "wordline-py", "--features", of_package)
    assert len(package) > 100
    twice = {crate.partition(" ")[0] for crate, of in package.items() if not of <= tests[crate]}
    assert twice == {"wordline-py"}
