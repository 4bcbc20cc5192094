"""The counts of ``make trip``, of a recorded profile of a program of four files."""

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
}
#[derive(PartialEq)]
struct Device;
""",
    "crates/ftl/src/b.rs": "fn place() {}\nfn block_status() {}\nfn rare() {}\nfn twice() {}\n",
    "crates/units/src/c.rs": "fn index() {}\n",
    "crates/sim/benches/count/main.rs": "fn counted() {}\n",
}
# Of each function: its file, its line, how often it was called, and whom it calls from where.
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
    "<sim::Device as core::cmp::PartialEq>::eq": ("crates/sim/src/a.rs", 12, 10, []),
    "ftl::place": ("crates/ftl/src/b.rs", 1, 10, [(1, BEGIN)]),
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
        for offset, callee in calls:
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
        ("twice", "ftl/src/b.rs", 4, 1),
        ("Device::now", "sim/src/a.rs", 9, 1),
        ("index", "units/src/c.rs", 1, 2),
    ]


def test_bars_omit_inlined_functions_and_other_crates(made):
    assert made.count(every=False) == (3, 2)
    assert made.count(every=True) == (5, 3)
    assert [f.name for f in made.functions if f.is_always_inlined] == ["Device::now"]


def test_bench_has_every_case_with_a_bar():
    bench = (ROOT / "crates/sim/benches/count/main.rs").read_text()
    assert all(f'name: "{case}"' in bench for case in trip.BARS)
    assert f"fn {trip.START}(" in bench
