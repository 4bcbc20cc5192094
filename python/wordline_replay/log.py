"""The file: a header, names of columns, a row for each use of an array or bus; what is wrong."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SCHEMA = "wordline.log/1"
#: The uses that make up an operation, in their order.
USES = {"read": ("array", "bus"), "program": ("bus", "array"), "erase": ("array",)}
#: How the end of a damaged file shows.
Damaged = zstd.ZstdError


class Unreadable(Exception):
    """What was given is not a log, or not a report."""


@dataclass(slots=True)
class Use:
    """One row of the log, with its columns in their order."""

    op: int
    use: str
    kind: str
    cause: str
    start: int
    end: int
    channel: int
    die: int
    plane: int
    block: int
    slot: int
    slots: int
    mode: str
    page: str
    region: str
    bytes: int
    data: str
    retries: int

    def identity(self) -> tuple[Any, ...]:
        """All that the uses of one operation have in common."""
        where = (self.channel, self.die, self.plane, self.block, self.slot, self.slots)
        what = (self.mode, self.page, self.region, self.bytes, self.data, self.retries)
        return (self.op, self.kind, self.cause, *where, *what)

    def parts(self) -> tuple[tuple[int, int, int, str], ...]:
        """Slot, logical page, sectors and cause of each logical page."""
        return _parts(self.data)


COLUMNS = [f"{f.name}_ns" if f.name in ("start", "end") else f.name for f in fields(Use)]
_READ: list[Callable[[str], Any]] = [str if f.type == "str" else int for f in fields(Use)]


# Asked for several times of each use, and each use of an operation has the same.
@lru_cache(maxsize=1024)
def _parts(data: str) -> tuple[tuple[int, int, int, str], ...]:
    found = []
    for part in data.split():
        slot, lpn, sectors, cause = part.split(":")
        found.append((int(slot), int(lpn), int(sectors), cause))
    return tuple(found)


def row(fields: list[str]) -> Use:
    """Read a row from its columns.

    Raises `ValueError`: one of them is no number where there must be one.
    """
    use = Use(*[read(text) for read, text in zip(_READ, fields, strict=True)])
    use.parts()
    return use


def opened(path: str) -> io.TextIOBase:
    """Return the text of a log, plain, in gzip or in zstd, by its first bytes."""
    try:
        with open(path, "rb") as file:
            head = file.read(4)
        if head[:2] == b"\x1f\x8b":
            return gzip.open(path, "rt", encoding="utf-8")
        if head == b"\x28\xb5\x2f\xfd":
            return zstd.open(path, "rt", encoding="utf-8")
        return open(path, encoding="utf-8")
    except OSError as e:
        raise Unreadable(f"{path}: cannot be read: {e.strerror}") from None


@dataclass
class Findings:
    """The violations so far, each with its line of the log, and the line that is being checked."""

    line: int = 0
    violations: list[tuple[int, str]] = field(default_factory=list)

    def wrong(self, rule: str, what: str, expected: object = None) -> None:
        """Note what breaks a rule in the line that is being checked, and what was expected."""
        what += "" if expected is None else f"; expected {expected}"
        self.violations.append((self.line, f"{rule}: {what}"))
