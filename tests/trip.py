"""Count the functions and files through which a request passes.

Printed by ``make trip``. Callgrind runs cases of the bench ``count``, built so that nothing is
inlined: each function that runs is seen, whatever the compiler would make of it.

- A function counts where it is called at least for every second request of the measured work, by
  way of others that are: what is done for each block of a drive, each thousandth request, is no
  part of a request's way. Its calls are how often its first instruction ran.
- A loop counts however seldom it is called, if it calls another that counts that often, and so do
  those that call it: the event loop runs until a request has ended, and several may have by then.
- Copies of a generic function are one. A closure is a part of its function. What a derive writes
  is no function, since nobody reads it.
- **functions** and **files** are those of ``ftl`` and ``sim`` without what is marked
  ``#[inline(always)]``, as accessors are: these have bars. **all** has those too, and those of the
  other crates here.
- The standard library and dependencies are left out.

``--list CASE`` prints the functions as a tree of calls: each once, below the first that calls it,
and in the order in which the calls stand there.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Most functions and files that a request should pass through.
BARS = {
    "read": (65, 22),
    "write": (105, 30),
    "SLC cache write and migration": (165, 40),
}
CRATES = ("ftl", "sim")
# Functions through which each request passes, from its arrival to its completion. A list without
# one of them is wrong.
ALWAYS = (
    "Device::submit",
    "Device::go_on",
    "Dispatcher::run_events",
    "Clock::take",
    "Dispatcher::bus_done",
    "Dispatcher::array_done",
    "Dispatcher::end",
    "Dispatcher::deliver",
)
WRITES = ("submit_write", "Dispatcher::begin_program", "take_slot", "program_over", "commit")
PASSED = {
    "read": (*ALWAYS, "submit_read", "host_read_over"),
    "write": (*ALWAYS, *WRITES),
    "SLC cache write and migration": (*ALWAYS, *WRITES, "read_on", "relocate", "launch"),
}
# The function of the bench that does the measured work.
START = "counted"
FLAGS = "-Zinline-llvm=no -Zinline-mir=no -Csymbol-mangling-version=v0"
PROFILE = {
    "inherits": '"dev"',
    "opt-level": "0",
    "debug": '"line-tables-only"',
    "debug-assertions": "false",
    "overflow-checks": "false",
}
# How far above its first instruction the name of a function may stand.
HEAD = 12


@dataclass
class Symbol:
    """A function as the compiler made it."""

    name: str = ""
    file: str = ""
    # Of each instruction that ran: its line, and how often.
    instructions: dict[int, tuple[int, int]] = field(default_factory=dict)
    # Of each call: where it stands, and whom it calls.
    calls: dict[int, list[int]] = field(default_factory=dict)
    # Where it begins: several places, if the compiler made it more than once.
    entries: set[int] = field(default_factory=set)

    @property
    def line(self) -> int:
        """Return the line of its first instruction."""
        return self.instructions[min(self.instructions)][0] if self.instructions else 0

    @property
    def called(self) -> int:
        """Return how often it was called."""
        first = {min(self.instructions)} if self.instructions else set()
        return sum(map(self.ran, self.entries & self.instructions.keys() or first))

    def ran(self, at: int) -> int:
        """Return how often an instruction ran."""
        return self.instructions.get(at, (0, 0))[1]

    @property
    def last(self) -> str:
        """Return its name without path and parameters, or nothing for a closure."""
        return re.findall(r"::(\w+)(?:::<.*>)?$|$", self.name)[0]

    @property
    def short(self) -> str:
        """Return its name with that of its type."""
        owner = re.match(r"<[&*]?(?:mut |const )?([\w:]+)", self.name)
        return f"{owner[1].split('::')[-1]}::{self.last}" if owner else self.last


@dataclass(frozen=True)
class Function:
    """A function as it is written."""

    file: str
    line: int
    name: str
    is_always_inlined: bool

    @property
    def crate(self) -> str:
        """Return the crate that it is in."""
        return self.file.split("/")[1]


def read_profile(text: str) -> dict[int, Symbol]:
    """Read what callgrind writes with ``--dump-instr=yes --compress-pos=no``."""
    symbols: dict[int, Symbol] = {}
    files: dict[str, str] = {}
    here, called, file, is_call = 0, 0, "", False
    for line in text.splitlines():
        if names := re.match(r"(c?f[nile])=\((\d+)\)(?: (.*))?$", line):
            kind, key, name = names.groups()
            if kind in ("fn", "cfn"):
                symbol = symbols.setdefault(int(key), Symbol())
                symbol.name = name or symbol.name
                if kind == "fn":
                    here, symbol.file = int(key), file
                called = int(key)
            elif name:
                files[key] = name
            if kind == "fl":
                file = files[key]
        elif calls := re.match(r"calls=\d+ 0x([0-9a-f]+)", line):
            symbols[called].entries.add(int(calls[1], 16))
            is_call = True
        elif cost := re.match(r"0x([0-9a-f]+) (\d+) (\d+)$", line):
            at = int(cost[1], 16)
            if is_call:
                symbols[here].calls.setdefault(at, []).append(called)
            else:
                symbols[here].instructions[at] = int(cost[2]), int(cost[3])
            is_call = False
    return symbols


class Sources:
    """The files of a tree, in which functions are looked up."""

    def __init__(self, root: Path) -> None:
        """Of the tree below a folder."""
        self.root = root
        self.lines: dict[str, list[str]] = {}

    def function(self, symbol: Symbol) -> Function | None:
        """Return the function that a symbol comes from; none for closures, and what is not ours."""
        path = Path(symbol.file)
        if not path.is_relative_to(self.root / "crates") or not symbol.last:
            return None
        file = str(path.relative_to(self.root))
        if "/src/" not in file:
            return None
        if file not in self.lines:
            self.lines[file] = path.read_text().split("\n")
        lines = self.lines[file]
        head = re.compile(rf"\bfn {symbol.last}\b")
        above = range(symbol.line - 1, max(symbol.line - HEAD, 0) - 1, -1)
        at = next((i for i in above if head.search(lines[i])), None)
        if at is None:
            return None
        return Function(file, at + 1, symbol.short, is_always_inlined(lines, at))


def is_always_inlined(lines: list[str], at: int) -> bool:
    """Tell whether the attributes above a line say that its function is always inlined."""
    while at > 0 and re.match(r"\s*(#\[|//)", lines[at - 1]):
        at -= 1
        if "inline(always)" in lines[at]:
            return True
    return False


class Trip:
    """What requests lead to: functions, each with its depth, in the order of their calls."""

    def __init__(self, symbols: dict[int, Symbol], sources: Sources, requests: int) -> None:
        """Follow the calls of the measured work."""
        self.symbols = symbols
        self.found = {key: sources.function(symbol) for key, symbol in symbols.items()}
        self.requests = requests
        self.called: Counter[Function] = Counter()
        for key, function in self.found.items():
            if function:
                self.called[function] += symbols[key].called
        self.functions: dict[Function, int] = {}
        self._follow(self._loops())

    def _is_often(self, function: Function) -> bool:
        return 2 * self.called[function] >= self.requests

    def _follow(self, loops: set[Function]) -> None:
        """List what the measured work calls, by way of what counts."""
        seen: set[int] = set()
        ahead = [(key, 0) for key, symbol in self.symbols.items() if symbol.last == START]
        while ahead:
            key, depth = ahead.pop()
            function = self.found[key]
            counts = function is None or self._is_often(function) or function in loops
            if key in seen or not (counts or self.called[function] == 1):
                continue
            seen.add(key)
            if function and counts:
                self.functions.setdefault(function, depth)
                depth += 1
            calls = sorted(self.symbols[key].calls.items())
            ahead += [(callee, depth) for _, callees in reversed(calls) for callee in callees]

    def _loops(self) -> set[Function]:
        """Return functions that are called seldom and call often, and those that call them."""
        # Of each call of one function by another: how often it ran.
        ran: Counter[tuple[Function, Function]] = Counter()
        for key, symbol in self.symbols.items():
            for at, callees in symbol.calls.items():
                for callee in map(self.found.get, callees):
                    caller = self.found[key]
                    if caller and callee and not self._is_often(caller) and self.called[caller] > 1:
                        ran[caller, callee] += symbol.ran(at)
        loops: set[Function] = set()
        while more := {
            caller
            for (caller, callee), often in ran.items()
            if caller not in loops
            and (
                (self._is_often(callee) and 2 * often >= self.requests)
                or (callee in loops and 2 * often >= self.called[callee])
            )
        }:
            loops |= more
        return loops

    def count(self, *, every: bool) -> tuple[int, int]:
        """Return functions and files: of every function, or of those that have bars."""
        counted = [
            function
            for function in self.functions
            if every or (function.crate in CRATES and not function.is_always_inlined)
        ]
        return len(counted), len({function.file for function in counted})


def output(command: list[str], root: Path, **environment: str) -> str:
    """Run a command in a tree and return what it prints."""
    env = {**os.environ, **environment}
    return subprocess.run(
        command, cwd=root, check=True, text=True, stdout=subprocess.PIPE, env=env
    ).stdout


def build(root: Path) -> str:
    """Build the bench of a tree with nothing inlined, and return its path."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
    config = [f"--config=profile.trip.{key}={value}" for key, value in PROFILE.items()]
    what = ["--profile=trip", "--package=wordline-sim", "--bench=count"]
    command = ["cargo", "build", "--quiet", *config, *what, f"--target-dir={target}"]
    command.append("--message-format=json-render-diagnostics")
    told = output(command, root, RUSTC_BOOTSTRAP="1", RUSTFLAGS=FLAGS)
    return next(m["executable"] for m in map(json.loads, told.splitlines()) if m.get("executable"))


def measure(program: str, case: str, sources: Sources) -> Trip:
    """Run a case under callgrind."""
    cases = output([program], sources.root).splitlines()
    if case not in cases:
        sys.exit(f"no case {case!r} in the bench; it has {', '.join(cases)}")
    if shutil.which("valgrind") is None:
        sys.exit("no valgrind (apt-get install valgrind)")
    tool = ["valgrind", "--quiet", "--tool=callgrind", f"--toggle-collect=count::{START}"]
    tool += ["--dump-instr=yes", "--compress-pos=no"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "callgrind"
        printed = output([*tool, f"--callgrind-out-file={file}", program, case], sources.root)
        symbols = read_profile(file.read_text())
    trip = Trip(symbols, sources, int(printed.split(" ")[1]))
    if not trip.functions:
        sys.exit(f"{case}: callgrind names no function (valgrind must know Rust's names: 3.17)")
    return trip


def check_list(case: str, trip: Trip) -> None:
    """End the program if a list lacks a function through which each request of a case passes."""
    listed = {function.name for function in trip.functions}
    if missing := [name for name in PASSED.get(case, ()) if name not in listed]:
        sys.exit(
            f"{case}: the list lacks {', '.join(missing)}, through which each request passes; "
            "if the engine has another name for it, write that into PASSED (tests/trip.py), "
            "else correct the rule of Trip"
        )


def copy_of(commit: str, folder: Path) -> Path:
    """Unpack a commit into a folder."""
    tree = folder / "tree"
    tree.mkdir()
    archive = folder / "tree.tar"
    subprocess.run(["git", "archive", f"--output={archive}", commit], cwd=ROOT, check=True)
    subprocess.run(["tar", "-xf", archive, "-C", tree], check=True)
    return tree.resolve()


def measured(program: str, case: str, sources: Sources) -> Trip:
    """Measure a case, and check its list where the names are those of this tree."""
    trip = measure(program, case, sources)
    if sources.root == ROOT:
        check_list(case, trip)
    return trip


def show(cases: list[str], sources: Sources) -> None:
    """Print a line for each case."""
    program = build(sources.root)
    width = max(map(len, cases))
    print(f"{'':<{width}} functions  files  bars       all")
    for case in cases:
        trip = measured(program, case, sources)
        (functions, files), every = trip.count(every=False), trip.count(every=True)
        bars = "{} in {}".format(*BARS[case]) if case in BARS else "-"
        print(f"{case:<{width}} {functions:9} {files:6}  {bars:<9}  {every[0]} in {every[1]}")


def show_tree(case: str, sources: Sources) -> None:
    """Print the functions of a case, each below the first that calls it."""
    trip = measured(build(sources.root), case, sources)
    for function, depth in trip.functions.items():
        mark = "  (always inlined)" if function.is_always_inlined else ""
        print(f"{'  ' * depth}{function.name}  {function.file}:{function.line}{mark}")


def main() -> None:
    """Print the table, or the functions of a case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="cases of the bench count")
    parser.add_argument("--commit", help="of this commit instead of the files as they are")
    parser.add_argument("--list", metavar="CASE", help="print the functions of a case")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sources = Sources(copy_of(args.commit, Path(folder)) if args.commit else ROOT)
        if args.list:
            show_tree(args.list, sources)
        else:
            show(args.cases or list(BARS), sources)


if __name__ == "__main__":
    main()
