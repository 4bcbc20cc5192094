"""What Python has of the contract of schemes: the table of crates/py/CONTRACT.md is true."""

import inspect
import re
from collections.abc import Iterator

import pytest

import wordline as wl
from helpers import ROOT

CRATES = ROOT / "crates"
#: Where the contract stands: all types of its own files, and some of those that it is made of.
OWN = [
    *(CRATES / "ftl" / "src").glob("plan/*.rs"),
    CRATES / "ftl" / "src" / "scheme.rs",
    CRATES / "ftl" / "src" / "view.rs",
]
OTHERS = {
    CRATES / "flash" / "src" / "geometry.rs": "Geometry",
    CRATES / "flash" / "src" / "rule.rs": "ProgramRule",
    CRATES / "flash" / "src" / "slot.rs": "SlotClass",
    CRATES / "units" / "src" / "request.rs": "HostRequest",
}
#: Types that a scheme asks or makes by methods.
BY_METHODS = ("View", "Geometry", "Route")

pytestmark = pytest.mark.skipif(not CRATES.exists(), reason="the sources are not of the package")


def blocks(text: str, head: str) -> Iterator[tuple[str, str]]:
    """Names and bodies of items of the outermost level that begin so."""
    found = re.finditer(rf"^{head}(\w+)[^;{{(]*\{{\n(.*?)^}}", text, re.M | re.S)
    return ((name, body) for name, body in (match.groups() for match in found))


def of_rust(text: str) -> set[tuple[str, str]]:
    """Types with the names of their hooks, fields, variants and, of some, methods."""
    named = [(name, body, r"^    fn (\w+)") for name, body in blocks(text, "pub trait ")]
    named += [(name, body, r"^    pub (\w+):") for name, body in blocks(text, "pub struct ")]
    named += [(name, body, r"^    ([A-Z]\w*)") for name, body in blocks(text, "pub enum ")]
    for name in BY_METHODS:
        body = "".join(found for _, found in blocks(text, rf"impl(?:<'a>)? (?={name}\b)"))
        named.append((name, body, r"^    pub (?:const )?fn (\w+)"))
    return {(name, own) for name, body, of in named for own in re.findall(of, body, re.M)}


def rows() -> list[tuple[str, list[str], str]]:
    """The table: a type of Rust, names of it, and what is said of them."""
    text = (CRATES / "py" / "CONTRACT.md").read_text(encoding="utf-8")
    table = text[text.index("| of Rust | names | in Python |") :].splitlines()[2:]
    cells = [line.strip("| ").split(" | ") for line in table if line.startswith("|")]
    return [(cell[0].strip("`"), re.findall(r"`(\w+)`", cell[1]), cell[2]) for cell in cells]


def has(name: str) -> bool:
    """Whether the package has a name, an attribute of a class, or a parameter of a function."""
    path, _, parameter = name.removeprefix("wl.").rstrip(")").partition("(")
    found = wl
    *outer, last = path.split(".")
    for part in outer:
        found = getattr(found, part)
    if parameter:
        return parameter in inspect.signature(getattr(found, last)).parameters
    return hasattr(found, last) or last in inspect.get_annotations(found)


def test_contract_table_matches_rust():
    there = {found for source in OWN for found in of_rust(source.read_text(encoding="utf-8"))}
    there = {
        (name, own) for name, own in there if name not in ("CloneScheme", "Answer", "OutOfReach")
    }
    for source, wanted in OTHERS.items():
        found = of_rust(source.read_text(encoding="utf-8"))
        there |= {(name, own) for name, own in found if name == wanted}
    told = [(name, own) for name, names, _ in rows() for own in names]
    assert len(told) == len(set(told)), "a name stands twice"
    assert {name for name in there - set(told)} == set(), "in Rust, and not in the table"
    assert {name for name in set(told) - there} == set(), "in the table, and not in Rust"


def test_every_name_of_python_in_the_table_is_there():
    for name, names, said in rows():
        if said.startswith("not there: "):
            continue
        written = re.findall(r"`(wl\.[\w.()]+)`", said)
        assert all(map(has, written)), (name, said)
        if said.startswith("the same, of `wl."):
            lacking = [own for own in names if not has(f"{written[0]}.{own}")]
            assert not lacking, (name, lacking)
    [hooks] = (names for name, names, said in rows() if said.startswith("the same, of a class"))
    from wordline.scheme import HOOKS

    assert set(hooks) == {"layout", "place", "seed", "metrics", *HOOKS}


NEW = """
pub trait Scheme: Debug {
    fn place(&self) {
        self.other()
    }
    fn dream(&self);
}

impl<'a> View<'a> {
    pub fn moon(&self) -> u32 {
        0
    }
    fn own() {}
}

pub struct Span {
    /// It.
    pub lpn: Lpn,
    own: u8,
}

pub enum Join {
    First,
    Keyed(u8),
}
"""


def test_what_is_new_in_rust_is_missed():
    assert of_rust(NEW) == {
        ("Scheme", "place"),
        ("Scheme", "dream"),
        ("View", "moon"),
        ("Span", "lpn"),
        ("Join", "First"),
        ("Join", "Keyed"),
    }
    assert not has("wl.View.moon")
    assert not has("wl.to(moon)")
