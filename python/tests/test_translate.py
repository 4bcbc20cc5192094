"""A class of Python as the beginning of a file of Rust: is what it has carried over?"""

import re
import subprocess
import sys

import pytest

import wordline as wl
from wordline import translate

CLASS = '''import wordline as wl


class SmallFirst(wl.Scheme):
    """SLC for "small" writes only.

    Large ones go past it.
    """

    threshold = wl.Param(16 * wl.KiB, "largest write that goes to SLC, in bytes")
    type = wl.Param("page", "how it collects", choices=("page", "block"))
    share = wl.Param(0.5, "a share")
    eager = wl.Param(False, "whether it is eager")
    heat = wl.State({"warm": 0})

    def layout(self, drive):
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        return wl.to("slc", "dense")

    def routes(self):
        return {}

    def idle(self, plane, view):
        return wl.Collect("slc")  # whatever there is
'''


@pytest.fixture
def written(tmp_path, wordline):
    (tmp_path / "mine.py").write_text(CLASS)
    done = wordline("scheme", "new", "small-rust", "--rust", "--from", "py:mine.py#SmallFirst")
    assert done.code == 0, done.err
    assert "mod small_rust; and small_rust::entry in SCHEMES" in done.out
    return tmp_path


def test_what_the_class_has_is_in_the_file(written):
    rust = (written / "small_rust.rs").read_text()
    for text in (
        "//! # Small rust\n",
        '//! ## Idea\n//! SLC for "small" writes only.\n//!\n//! Large ones go past it.\n',
        "//! - `threshold`: largest write that goes to SLC, in bytes; default 16KiB.\n",
        'pub(crate) const NAME: &str = "small-rust";\n',
        'Entry::new(NAME, "SLC for \\"small\\" writes only", |p| {\n',
        '            r#type: p.take("type"),\n',
        '    .takes(Parameter::new("type", "page", "page, block: how it collects"))\n',
        "    threshold: Bytes,\n",
        "    share: f64,\n",
        "    eager: bool,\n",
        "//   heat = {'warm': 0}\n",
        '    // def place(self, p, view):\n    //     return wl.to("slc", "dense")\n    fn place(',
        '    //     return wl.Collect("slc")  # whatever there is\n    fn idle(&mut self, _plane: ',
        "    // def routes(self):\n",
    ):
        assert text in rust, text
    assert re.findall(r"^    fn (\w+)", rust, re.M) == ["name", "layout", "place", "idle"]
    headings = re.findall(r"^//! ## (.+)$", rust, re.M)
    assert headings == [
        "Source", "Idea", "Algorithm", "Symbols", "Parameters", "Differs", "Not modelled",
        "Checked by",
    ]  # fmt: skip
    # Only what is used is imported, and all of that.
    code = re.sub(r"//.*", "", rust)
    imported = {n for names in re.findall(r"^use \w+::\{?([^;]+?)\}?;", code, re.M | re.S)
                for n in re.findall(r"\b[A-Z]\w+", names)}  # fmt: skip
    body = code[code.index("const D") :]
    assert all(re.search(rf"\b{name}\b", body) for name in imported)
    assert {"IdleWork", "PlaneId", "Place"} <= imported
    assert not {"Move", "Tag", "Metrics"} & imported


def test_the_test_holds_both_to_one_result(tmp_path, wordline):
    (tmp_path / "plain.py").write_text(PLAIN)
    done = wordline("scheme", "new", "plain-rust", "--rust", "--from", "py:plain.py#Plain")
    assert done.code == 0, done.err
    # There is no such scheme in Rust, so one stands for it that decides as the class does.
    test = tmp_path / "test_plain_rust.py"
    text = test.read_text()
    assert "class InPython(Plain)" in text
    for scheme, said in (("conventional", "3 passed"), ("slc-cache", "3 failed")):
        test.write_text(text.replace('"plain-rust"', f'"{scheme}"'))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert said in done.stdout, done.stdout


PLAIN = """import wordline as wl


class Plain(wl.Scheme):
    def layout(self, drive):
        return wl.Layout.one_region(drive)

    def place(self, p, view):
        return wl.to("dense")
"""


def test_files_are_not_replaced_and_only_a_class_is_taken(written, wordline):
    how = ["scheme", "new", "small-rust", "--rust", "--from"]
    for more, said in (
        (["py:mine.py#SmallFirst"], "--force replaces it"),
        (["py:mine.py#Other"], "has no scheme 'Other'"),
        (["slc-cache"], "this is no class of Python alone"),
        (["py:mine.py#SmallFirst:threshold=8KiB"], "this is no class of Python alone"),
    ):
        done = wordline(*how, *more)
        assert done.code == 2
        assert said in done.err
    assert wordline(*how, "py:mine.py#SmallFirst", "--force").code == 0
    done = wordline("scheme", "new", "SMALL", *how[3:], "py:mine.py#SmallFirst")
    assert "is no name of a scheme" in done.err


def test_every_hook_has_its_head():
    class All(wl.Scheme):
        def layout(self, drive): ...
        def place(self, p, view): ...

    for hook in translate._HOOKS:
        setattr(All, hook, lambda self: None)
    rust = translate.translated("all-of-it", All)["all_of_it.rs"]
    trait = re.findall(r"^    fn (\w+)", rust, re.M)
    assert sorted(trait) == sorted(["name", "layout", "place", *translate._HOOKS])
    assert "struct AllOfIt;\n" in rust
    assert (
        '    Entry::new(NAME, "what it does, in a line", |_| {\n        Box::new(AllOfIt)\n' in rust
    )


def test_a_class_is_explained_as_a_scheme_in_rust_is(tmp_path, wordline):
    (tmp_path / "mine.py").write_text(CLASS)
    done = wordline("explain", "py:mine.py#SmallFirst")
    assert done.code == 0, done.err
    assert done.out == EXPLAINED
    rust = wordline("explain", "slc-cache").out
    for heading in ("\nHooks\n", "\nLayout on fair-tlc\n", "\nKeys\n", "\n  --scheme "):
        assert heading in done.out
        assert heading in rust
    assert "\nLayout on fair-pair\n" in wordline("explain", "hyssd").out


EXPLAINED = """\
small-first: SLC for "small" writes only
  Large ones go past it.

  It decides beforehand, by origin, size or page (routes).
  It learns: heat.

Hooks
  layout, place, idle

Layout on fair-tlc
  slc    SLC, 12 blocks in each plane
  dense  TLC, 100 blocks in each plane

Keys
  threshold  largest write that goes to SLC, in bytes [default: 16KiB]
  type       page, block: how it collects [default: page]
  share      a share [default: 0.5]
  eager      whether it is eager [default: false]

  --scheme py:mine.py#SmallFirst:key=value,...
"""
