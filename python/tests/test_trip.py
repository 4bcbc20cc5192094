"""The counts of ``make trip``, of a recorded profile of a program of four files."""

import re
import sys

import pytest

from helpers import ROOT

sys.path.insert(0, str(ROOT / "tests"))
import trip

SOURCES = {
    "crates/sim/src/a.rs": """\
impl<M: Media> Device<M> {
    pub fn begin(&mut self,
        ends: u8) {
        // An `fn helped` in words.
    }
    /// An accessor.
    #[inline(always)]
    #[must_use]
    fn now(&self) -> u64 {}
    fn sample(&self) {}
    fn go_on(&self) {}
    fn run_events(&self) {}
}
#[derive(PartialEq)]
struct Device;
""",
    "crates/ftl/src/b.rs": """\
fn place() {}
fn block_status() {}
fn rare() {}
fn twice() {}
fn end() {}
""",
    "crates/units/src/c.rs": "fn index() {}\n",
    "crates/sim/benches/count/main.rs": "fn counted() {}\n",
}
LOOP = "<sim::Device<ftl::No>>::run_events"
# Of each function: its file, its line, how often it was called, and whom it calls from where, and
# for some how often.
PROGRAM = {
    "count::counted": (
        "crates/sim/benches/count/main.rs",
        1,
        1,
        [(9, "core::fold::<u8>"), (3, BEGIN := "<sim::Device<ftl::No>>::begin")],
    ),
    "core::fold::<u8>": (
        "/rustc/core.rs",
        5,
        1,
        [(1, "<sim::Device<ftl::No>>::sample"), (2, "ftl::rare")],
    ),
    BEGIN: (
        "crates/sim/src/a.rs",
        3,
        10,
        [
            (1, "<sim::Device<ftl::No>>::begin::{closure#0}"),
            (2, "<sim::Device<ftl::No>>::now"),
            (3, "<sim::Device as core::cmp::PartialEq>::eq"),
        ],
    ),
    "<sim::Device<ftl::No>>::begin::{closure#0}": (
        "crates/sim/src/a.rs",
        4,
        10,
        [(4, "ftl::place"), (5, "ftl::twice::<u8>"), (6, "ftl::twice::<u16>")],
    ),
    "<sim::Device<ftl::No>>::now": ("crates/sim/src/a.rs", 9, 20, [(1, "units::index")]),
    "<sim::Device<ftl::No>>::sample": ("crates/sim/src/a.rs", 10, 2, [(1, "ftl::block_status")]),
    # Two rounds of a loop, each of which ends five requests; and what each round does besides.
    "<sim::Device<ftl::No>>::go_on": ("crates/sim/src/a.rs", 11, 2, [(1, LOOP, 2)]),
    LOOP: ("crates/sim/src/a.rs", 12, 2, [(1, "ftl::end", 10), (2, "ftl::rare", 2)]),
    "<sim::Device as core::cmp::PartialEq>::eq": ("crates/sim/src/a.rs", 14, 10, []),
    "ftl::place": (
        "crates/ftl/src/b.rs",
        1,
        10,
        [(1, BEGIN), (2, "<sim::Device<ftl::No>>::go_on", 2)],
    ),
    "ftl::end": ("crates/ftl/src/b.rs", 5, 10, []),
    "ftl::block_status": ("crates/ftl/src/b.rs", 2, 99, []),
    "ftl::rare": ("crates/ftl/src/b.rs", 3, 4, []),
    "ftl::twice::<u8>": ("crates/ftl/src/b.rs", 4, 3, []),
    "ftl::twice::<u16>": ("crates/ftl/src/b.rs", 4, 2, []),
    "units::index": ("crates/units/src/c.rs", 1, 5, []),
}


def recorded(root):
    """Write what callgrind would: names in full where they come first, then their numbers."""
    seen, lines = {}, ["positions: instr line", "events: Ir", ""]

    def named(kind, name):
        number = f"({seen.setdefault(name, len(seen) + 1)})"
        lines.append(
            f"{kind}={number} {name}" if len(seen) == int(number[1:-1]) else f"{kind}={number}"
        )

    for at, (name, (file, line, called, calls)) in enumerate(PROGRAM.items(), start=1):
        named("fl", file if file.startswith("/") else str(root / file))
        named("fn", name)
        lines += [f"0x{at}08 {line + 1} 77", f"0x{at}00 {line} {called}"]
        for offset, callee, *ran in calls:
            lines += [f"0x{at}1{offset} {line + 1} {often}" for often in ran]
            named("cfi", "some file")
            named("cfn", callee)
            # With the calls before the work was measured, which tell nothing.
            lines += ["calls=5000 0x500 7", f"0x{at}1{offset} {line + 1} 1234"]
        lines.append("")
    return "\n".join(lines)


@pytest.fixture
def made(tmp_path):
    for file, text in SOURCES.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    return trip.Trip(trip.read_profile(recorded(tmp_path)), trip.Sources(tmp_path), 10)


def test_functions_are_listed_in_the_order_of_calls(made):
    told = [(f.name, f.file.removeprefix("crates/"), f.line, d) for f, d in made.functions.items()]
    assert told == [
        ("Device::begin", "sim/src/a.rs", 2, 0),
        ("place", "ftl/src/b.rs", 1, 1),
        ("Device::go_on", "sim/src/a.rs", 11, 2),
        ("Device::run_events", "sim/src/a.rs", 12, 3),
        ("end", "ftl/src/b.rs", 5, 4),
        ("twice", "ftl/src/b.rs", 4, 1),
        ("Device::now", "sim/src/a.rs", 9, 1),
        ("index", "units/src/c.rs", 1, 2),
    ]


def test_bars_omit_inlined_functions_and_other_crates(made):
    assert made.count(every=False) == (6, 2)
    assert made.count(every=True) == (8, 3)
    assert [f.name for f in made.functions if f.is_always_inlined] == ["Device::now"]


def test_bench_has_every_case_with_a_bar():
    bench = (ROOT / "crates/sim/benches/count/main.rs").read_text()
    assert all(f'name: "{case}"' in bench for case in trip.BARS)
    assert f"fn {trip.START}(" in bench


def test_list_without_a_function_of_each_request_is_an_error(made, monkeypatch):
    monkeypatch.setitem(trip.PASSED, "read", ("Device::begin", "Device::run_events"))
    trip.check_list("read", made)
    monkeypatch.setitem(trip.PASSED, "read", ("Device::begin", "Device::sample", "rare"))
    with pytest.raises(SystemExit, match=r"read: the list lacks Device::sample, rare, through"):
        trip.check_list("read", made)


def test_functions_of_each_request_are_in_the_engine():
    engine = [*ROOT.glob("crates/ftl/src/**/*.rs"), *ROOT.glob("crates/sim/src/**/*.rs")]
    text = "\n".join(path.read_text() for path in engine)
    assert trip.PASSED.keys() == trip.BARS.keys()
    for name in {name for names in trip.PASSED.values() for name in names}:
        owner, function = ["", *name.split("::")][-2:]
        assert re.search(rf"\bfn {function}\b", text), name
        assert re.search(rf"\bimpl\b[^\n]*\b{owner}\b", text), name
