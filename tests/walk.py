"""Count where one leads who follows the calls from a function of a crate: functions and files.

Printed by ``make walk``. It tells how far what belongs together stands apart, by one rule at any
commit, so that two can be compared:

- A walk starts at a method of ``Ftl`` and follows its calls in the order in which they stand, depth
  first. Each function is visited once: that is a **stop**.
- A **change of file** is a stop in another file than the stop before it.
- The first two counts follow only calls of one's own methods, ``self.f()`` and ``Self::f()``, which
  are in many files and need no import.
- The two behind them follow every call that leads to a function with a body in the crate: also
  ``Type::f()``; ``f()`` to the function of the file, or else the only one of that name; and
  ``other.f()`` to the only method of that name, if just one type has one and it is no word of the
  standard library's collections.
- What a trait declares, and tests, are left out.

It reads text, not types: the counts are a measure to compare by, not the truth.
"""

import argparse
import itertools
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
STARTS = ["submit_write", "program_done", "relocate"]
# Where the dispatcher begins with the same three, at commits that have one.
DISPATCHED = ["write", "program_over", "collected_read_over"]
# Methods of collections and options: on anything but `self` they say nothing.
COMMON = frozenset(
    """
    all and_then any as_mut as_ref binary_search chain clear clone contains contains_key count
    drain entry enumerate extend fill filter find first flat_map fold get get_mut insert into
    is_empty iter iter_mut keys last len map max min next or_insert peek pop position push range
    remove replace resize retain rev skip sort split start sum swap take truncate unwrap_or values
    zip
    """.split()  # noqa: SIM905 - a list of words
)
COMMENT = re.compile(
    r"//[^\n]*|/\*.*?\*/|r(#*)\".*?\"\1|\"(?:\\.|[^\"\\])*\"|'(?:\\.[^']*|[^\\'])'", re.S
)
HEAD = re.compile(
    r"^ *(?:pub\S* |unsafe )*(impl|trait|mod)\b([^;{]*)\{"
    r"|\bfn (\w+)(?:[^;{\[]|\[[^\]]*\])*|([{};])",
    re.M,
)
CALL = re.compile(r"(\bself\.|\b\w+::|\.)?\b([a-z_]\w*)(?:::<[^()]*>)?\(")


class Function(NamedTuple):
    """A function with its body, and the type whose method it is."""

    file: str
    owner: str
    name: str
    body: str


def owner_of(head: str) -> str:
    """Tell the type that an ``impl`` is for, without its parameters."""
    head = re.sub(r"\s+where\b.*", "", head, flags=re.S)
    while "<" in (shorter := re.sub(r"<[^<>]*>", "", head)) and shorter != head:
        head = shorter
    return re.sub(r"<[^<>]*>", "", head).split(" for ")[-1].strip().split("::")[-1]


def functions(file: str, source: str) -> list[Function]:
    """List the functions of a source, in their order."""
    code = COMMENT.sub(" ", source).split("#[cfg(test)]\nmod ")[0].replace("->", "  ")
    found: list[Function] = []
    open_: list[tuple[str, str, int]] = []  # kind, name, where the body begins
    name, owner = "", ""
    for part in HEAD.finditer(code):
        kind, head, fn, mark = part.groups()
        if kind:
            owner = owner_of(head) if kind == "impl" else f"{kind} {head.split()[0]}"
            open_.append((kind, owner, part.end()))
        elif fn:
            name = fn
        elif mark == ";":
            name = ""
        elif mark == "{":
            open_.append(("fn" if name else "", name, part.end()))
            name = ""
        elif open_:
            kind, what, begin = open_.pop()
            if kind == "fn":
                within = [o for k, o, _ in open_ if k in ("impl", "trait")]
                owner = within[-1] if within else ""
                if not owner.startswith("trait"):
                    found.append(Function(file, owner, what, code[begin : part.start()]))
    return found


class Crate:
    """The functions of a crate, by name."""

    def __init__(self, sources: dict[str, str]) -> None:
        """Of its sources, by their path."""
        self.by_name: dict[str, list[Function]] = {}
        for file, source in sorted(sources.items()):
            for function in functions(file, source):
                self.by_name.setdefault(function.name, []).append(function)

    def led_to(self, caller: Function, before: str, name: str, *, own: bool) -> Function | None:
        """Tell where a call leads, of one's own methods only or of any function."""
        known = self.by_name.get(name, [])
        if own and before not in ("self.", "Self::"):
            return None
        if before in ("self.", "Self::"):
            known = [f for f in known if f.owner == caller.owner]
        elif before.endswith("::"):
            known = [f for f in known if f.owner == before[:-2] or not f.owner]
        elif before == ".":
            known = [f for f in known if f.owner and name not in COMMON]
        else:
            free = [f for f in known if not f.owner]
            known = [f for f in free if f.file == caller.file] or free
        return known[0] if len(known) == 1 else None

    def has(self, name: str) -> bool:
        """Tell whether ``Ftl`` has a method of this name."""
        return any(f.owner == "Ftl" for f in self.by_name.get(name, []))

    def walk(self, name: str, *, own: bool) -> list[Function]:
        """List the stops of the walk from a method of ``Ftl``."""
        stops: dict[Function, None] = {}
        ahead = [f for f in self.by_name.get(name, []) if f.owner == "Ftl"]
        if len(ahead) != 1:
            sys.exit(f"{len(ahead)} methods of Ftl are called {name}")
        while ahead:
            here = ahead.pop()
            if here in stops:
                continue
            stops[here] = None
            calls = [self.led_to(here, *call, own=own) for call in CALL.findall(here.body)]
            ahead += [call for call in reversed(calls) if call]
        return list(stops)


def changes(stops: list[Function]) -> int:
    """Count the stops in another file than the stop before."""
    return sum(a.file != b.file for a, b in itertools.pairwise(stops))


def sources(commit: str | None, folder: str) -> dict[str, str]:
    """Read the sources of a crate, as they are or as they were at a commit."""
    if commit is None:
        top = ROOT / folder
        return {str(f.relative_to(top)): f.read_text() for f in top.rglob("*.rs")}
    listing = ["git", "ls-tree", "-r", "--name-only", commit, folder]
    git = {"cwd": ROOT, "text": True, "check": True, "capture_output": True}
    files = subprocess.run(listing, **git).stdout.split()
    show = {f: subprocess.run(["git", "show", f"{commit}:{f}"], **git).stdout for f in files}
    return {f.removeprefix(f"{folder}/"): text for f, text in show.items() if f.endswith(".rs")}


def main() -> None:
    """Print a line for each method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("starts", nargs="*", help="methods of Ftl")
    parser.add_argument("--commit", help="of this commit instead of the files as they are")
    parser.add_argument("--stops", action="store_true", help="print every stop of the first walk")
    args = parser.parse_args()
    crate = Crate(sources(args.commit, "crates/ftl/src"))
    for name in args.starts or [*STARTS, *filter(crate.has, DISPATCHED)]:
        own, every = (crate.walk(name, own=own) for own in (True, False))
        print(
            f"{name}: {len(own)} stops with {changes(own)} changes of file; "
            f"in all of the crate {len(every)} with {changes(every)}"
        )
        for stop in own if args.stops else []:
            print(f"  {stop.file}: {stop.name}")


if __name__ == "__main__":
    main()
