"""The laboratory takes nothing of the package but the public names in docs/engine/python.md."""

import ast
import re
from importlib import import_module

import pytest

import imports
import wordline
from helpers import ROOT

PACKAGE = imports.modules(ROOT / "python" / "wordline")
FOLDERS = [ROOT / "lab" / "wordline_lab", ROOT / "lab" / "tests"]


def public():
    """The names that the table lists, by module, and those of the package itself."""
    text = (ROOT / "docs/engine/python.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `(wordline[\w.]*)` \| (.*?) \|", text.partition("## Public names")[2], re.M
    )
    found = {module: set(re.findall(r"`(\w+)`", names)) for module, names in rows}
    assert len(found) >= 15
    # Of a row of modules all that those define is public.
    for package in [m for m, names in found.items() if all(f"{m}.{n}" in PACKAGE for n in names)]:
        for name in found.pop(package):
            module = import_module(f"{package}.{name}")
            found[f"{package}.{name}"] = {n for n in vars(module) if not n.startswith("_")}
    return {**found, "wordline": {"__all__", *wordline.__all__}}


def not_public(tree, known):
    """The names that code takes of the package and that are not public."""
    taken = imports.taken(tree, PACKAGE)
    return sorted(f"{m}.{n}" for m, n in taken if n not in known.get(m, ()))


def test_the_laboratory_imports_public_names_alone():
    known, found = public(), {}
    for folder in FOLDERS:
        for name, tree in imports.modules(folder).items():
            if wrong := not_public(tree, known):
                found[f"{folder.name}: {name}"] = wrong
    assert not found, f"list them in docs/engine/python.md, or do without: {found}"


def test_every_public_name_is_there():
    for module, names in public().items():
        there = dir(import_module(module))
        assert names <= set(there), f"{module} lacks {names - set(there)}"


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("from wordline import _wordline\n_wordline.page()", ["wordline._wordline.page"]),
        ("import wordline as wl\nwl.lifetime_runs.of()", ["wordline.lifetime_runs.of"]),
        ("import wordline as wl\nwl._api.run", ["wordline._api.run"]),
        ("from wordline.runs import write_whole", ["wordline.runs.write_whole"]),
        ("from wordline import runs as r\nr.located", ["wordline.runs.located"]),
        ("import wordline.lifetime_runs\nwordline.lifetime_runs.of", ["wordline.lifetime_runs.of"]),
        ("from wordline.runs import Runner\nimport wordline\nwordline.run", []),
        ("from wordline.examples.dac import Dac", []),
    ],
)
def test_a_name_that_is_not_public_is_found(code, wrong):
    assert not_public(ast.parse(code), public()) == wrong
