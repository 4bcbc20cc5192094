"""Measurements of a drive: small tables, and fio's JSON output and logs."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from wordline import UserError
from wordline.real.curve import Plateau

#: The column of the logical capacity; a table without all of these columns states no SLC cache.
CAPACITY = "capacity_GB"
CLIFF = ("model", CAPACITY, "slc_cache_GB", "speed_in_cache_MBps", "speed_after_cache_MBps")

#: Columns that a drive with an SLC cache may have: thousands of random reads and writes of 4 KiB
#: per second, outstanding requests then, reads per second at queue depth 1 in thousands, and where
#: all that is stated.
READS, WRITES, OUTSTANDING = "random_read_kIOPS", "random_write_kIOPS", "random_queue_depth"
SINGLE, STATED_IN = "random_read_qd1_kIOPS", "random_source"

#: A line of a log that is later than usual by this factor comes after an idle time.
REST = 2.5
#: Below this share of the capacity, a first plateau counts as a cache only if the rate falls by
#: this factor.
SMALL, SHARP = 0.01, 1.5


@dataclass(frozen=True)
class Value:
    """A figure with its interval and source."""

    value: float
    low: float
    high: float
    source: str

    @classmethod
    def around(cls, value: float, off: float, source: str) -> Value:
        """Return a figure that may be off by this much either way."""
        return cls(value, value - off, value + off, source)

    @classmethod
    def within(cls, value: float, share: float, source: str) -> Value:
        """Return a figure that may be off by this share of it either way."""
        return cls(value, (1 - share) * value, (1 + share) * value, source)

    def mapped(self, falling: Callable[[float], float]) -> Value:
        """Return a falling function of the figure, as a time is of a rate."""
        return Value(falling(self.value), falling(self.high), falling(self.low), self.source)

    def __str__(self) -> str:
        """As ``140 (139 to 141)``."""
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


@dataclass
class Drive:
    """All measurements of one drive."""

    name: str
    #: Logical capacity in bytes.
    capacity: int
    #: ``tlc`` or ``qlc``; `nand` has the source.
    cell: str
    nand: str
    interface: str | None = None
    #: By name: ``cache_gb``, ``cache_mbps``, ``after_mbps``, ``second_gb``, ``second_mbps``,
    #: ``static_gb``, ``half_gb``, ``idle_s``, ``idle_mbps``, ``fill_mbps``, ``read_mbps``,
    #: ``read_us``, ``map_share`` (the share of the drive that the L2P cache covers),
    #: ``buffer_bytes``, ``link_mbps`` (at which the buffer takes writes), ``unit_share`` (of
    #: the drive, that GC collects together), ``random_read_kiops``, ``random_write_kiops`` and
    #: ``random_depth`` (as their maker states them).
    values: dict[str, Value] = field(default_factory=dict)
    #: Why a value that was looked for is not identifiable, by its name.
    unknown: dict[str, str] = field(default_factory=dict)
    #: The logged fill: gigabytes and seconds from 0.
    fill: tuple[Any, Any] | None = None
    #: Source of public figures; None for a drive of the user's own.
    address: str | None = None
    #: Source of random IOPS, and of the latency of single reads if they state it.
    rated_at: str | None = None
    #: Rows of steady state, and the drive that has the same flash; by default the drive itself.
    rows: list[Any] = field(default_factory=list)
    #: Which blocks take copied pages, as ``gc.copies`` says it; nothing if not identifiable.
    copies: str = ""
    flash: Drive | None = None

    @property
    def has_flash_of_another(self) -> bool:
        """Whether it has the flash of another drive, which was fitted."""
        return self.flash not in (None, self)


#: Reads a number of a text, or a range of two.
Reader = Callable[[str], tuple[float, float] | None]
_NUMBER = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+)"
#: Digits in groups of three, as in ``3,300``, ``3'300`` and ``3 300``.
_GROUPS = re.compile(r"(?<![\d.])\d{1,3}(?:([,' \u2019\u00a0\u202f])\d{3})(?:\1\d{3})*(?![\d,])")
#: What a unit after a number comes to, in GB (10^9 B) and in MB/s.
_GB = {"MB": 1e-3, "GB": 1.0, "TB": 1e3, "MiB": 2**20 / 1e9, "GiB": 2**30 / 1e9, "TiB": 2**40 / 1e9}
_MBPS = {f"{unit}{per}": 1e3 * gb for unit, gb in _GB.items() for per in ("/s", "ps")}
_MBPS |= {f"k{unit[1:]}": mbps / 1e3 for unit, mbps in _MBPS.items() if unit[0] == "M"}
#: What follows a number and looks like its unit; what makes it the first of a range, or of others.
_UNIT = re.compile(r"\s*(%|[kmgt]?(?:i?b|bit)s?(?:/s|ps)?)(?![a-z])", re.IGNORECASE)
_DASH = r"\s*(?:-|\u2013|\u2014|to\b|\.\.+)\s*"
_TO, _FROM = re.compile(_DASH + _NUMBER), re.compile(f"{_NUMBER}{_DASH}$")
_OR = re.compile(r"\s*/\s*\d")
#: Bits; in a rate, a small letter tells them from bytes.
_BITS = re.compile(r".?(?:b(?:/s|ps)|bits?(?:/s|ps)?)")


class _Unclear(ValueError):
    """A cell whose number could be taken for another; its text says what is allowed."""


def without_groups(text: str) -> str:
    """Return a text without the commas, apostrophes and spaces between groups of three digits."""
    return _GROUPS.sub(lambda group: re.sub(r"\D", "", group[0]), text)


def _reader(*patterns: str, units: Mapping[str, float] | None = None) -> Reader:
    """Return a function that reads the number of the first pattern that a text has, in its unit.

    Of a range it reads both ends. It raises `_Unclear` where the number is below zero, one of two,
    or of an unknown unit.
    """
    units = units or {}
    of = {unit.lower(): size for unit, size in units.items()}

    def unit_of(after: str) -> tuple[float | None, str]:
        """Return what the unit before a text comes to, and the text behind it."""
        if (unit := _UNIT.match(after)) is None:
            return None, after
        size = None if _BITS.fullmatch(unit[1]) else of.get(unit[1].lower())
        if size is None:
            raise _Unclear(f"no unit, or bytes such as {next(iter(units))}" if units else "no unit")
        return size, after[unit.end() :]

    def read(text: str) -> tuple[float, float] | None:
        text = without_groups(text)
        found = (re.search(pattern, text, re.IGNORECASE) for pattern in patterns)
        if (match := next(filter(None, found), None)) is None:
            return None
        before, after = text[: match.start(1)], text[match.end(1) :]
        if re.search(r"(?:^|\s)[-\u2212]$", before):
            raise _Unclear("a number above 0")
        size, after = unit_of(after)
        if _OR.match(after):
            raise _Unclear("one number, or a range such as 400-500")
        first = last = float(match[1])
        last_size = size
        if (begin := _FROM.search(before)) is not None:
            first = float(begin[1])
        elif (end := _TO.match(after)) is not None:
            last = float(end[1])
            last_size, _ = unit_of(after[end.end() :])
        sizes = size or last_size or 1.0, last_size or size or 1.0
        low, high = sorted((first * sizes[0], last * sizes[1]))
        return low, high

    return read


#: The size of a cache: the number at the start of a text, or the maximum that it names.
size_in = _reader(rf"up to (?:about )?{_NUMBER}", rf"^[^\d.]*{_NUMBER}", units=_GB)
#: A rate; a measured one takes precedence over one from a data sheet.
rate_in = _reader(
    rf"{_NUMBER} measured", rf"measured {_NUMBER}", rf"^[^\d.]*{_NUMBER}", units=_MBPS
)
_plain = _reader(rf"^\s*{_NUMBER}", units=_GB)
_rated = _reader(rf"^\s*{_NUMBER}")
_SIZE = rf"{_NUMBER} ?(?=[MGT]i?B)"
#: Values of rows that state an SLC cache, with their columns; a cell has a number or is empty.
_STATED = (
    ("cache_gb", "slc_cache_GB", size_in),
    ("cache_mbps", "speed_in_cache_MBps", rate_in),
    ("after_mbps", "speed_after_cache_MBps", rate_in),
)
#: Values of columns that may be absent, whose cells have a number or are empty, too.
_RATED = (
    ("random_read_kiops", READS, _rated),
    ("random_write_kiops", WRITES, _rated),
    ("random_depth", OUTSTANDING, _rated),
)
#: Values that cells may have besides; the first of each counts. A static part may be as in
#: ``78 (6 static + 72 dynamic)``.
_BESIDES = (
    ("second_mbps", "second_stage", _reader(rf"^{_NUMBER}", units=_MBPS)),
    ("static_gb", "static_GB", _plain),
    ("static_gb", "slc_cache_GB", _reader(rf"{_NUMBER} (?:GB )?static", units=_GB)),
    ("second_gb", "second_stage", _reader(rf"(?:after|from|past) (?:about )?{_SIZE}", units=_GB)),
    ("second_gb", "speed_after_cache_MBps", _reader(rf"until (?:about )?{_SIZE}", units=_GB)),
)


class Table:
    """A CSV table whose errors name line and column."""

    def __init__(self, name: str, text: str) -> None:
        """Store its text, and its name in messages."""
        self.name = name
        text = text.removeprefix("\ufeff")
        head = text.partition("\n")[0]
        reader = csv.DictReader(io.StringIO(text), delimiter=max(",;\t", key=head.count))
        self.rows = list(reader)
        self.columns = tuple(reader.fieldnames or ())

    def has(self, columns: tuple[str, ...]) -> bool:
        """Return whether it has all of these columns."""
        return set(columns) <= set(self.columns)

    def read(self, at: int, column: str, of: Reader, *, is_optional: bool = False) -> Value | None:
        """Read a number from a cell; None if the cell is empty or has no number of this kind.

        The interval is the uncertainty of the last digit, or that of a range, whose middle counts.

        Raises `UserError`: the number is not above zero, has another unit or is one of two, or a
        cell that must have one has no number; not if it is optional.
        """
        text = (self.rows[at].get(column) or "").strip()
        if not text:
            return None
        if re.search(r"\d,\d", without_groups(text)):
            self.refuse(at, column, text, "a number with a point before its decimals, such as 3.3")
        try:
            found = of(text)
        except _Unclear as e:
            self.refuse(at, column, text, str(e))
        if found is None:
            if column in (READS, WRITES, OUTSTANDING, SINGLE):
                self.refuse(at, column, text, "a number above 0")
            if column in CLIFF and not is_optional:
                allowed = "a number, with words around it if need be, or nothing"
                self.refuse(at, column, text, allowed)
            return None
        low, high = found
        if low <= 0:
            self.refuse(at, column, text, "a number above 0")
        source = f"{Path(self.name).name} line {at + 2}, {column}"
        if low < high:
            if column == CAPACITY:
                self.refuse(at, column, text, "one number")
            return Value((low + high) / 2, low, high, source)
        return Value.around(low, _half_digit(low), source)

    def refuse(self, at: int, column: str, text: str, allowed: str) -> NoReturn:
        """Raise `UserError` for a cell."""
        raise UserError(
            f"{self.name}:{at + 2}: column {column}: {text!r} cannot be used\n  allowed: {allowed}"
        )


def _half_digit(value: float) -> float:
    """Half of the last significant digit of a printed number, trailing zeros excluded."""
    digits = f"{value:.6g}"
    if "." in digits:
        return 0.5 * 10.0 ** -len(digits.partition(".")[2])
    zeros = len(digits) - len(digits.rstrip("0"))
    # 4000 means 3950 to 4050, not 3500 to 4500.
    return 0.5 * 10.0 ** min(zeros, max(0, len(digits) - 2))


def stated(row: Mapping[str, str | None], *columns: str) -> str | None:
    """Return the first cell of a row that is not empty among these columns."""
    return next((text for c in columns if (text := (row.get(c) or "").strip())), None)


def tables(at: Path) -> Iterator[Table]:
    """Read a table, or all tables of a folder."""
    files = [at] if at.is_file() else sorted(at.glob("*.csv"))
    for file in files:
        try:
            yield Table(str(file), file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, csv.Error) as e:
            raise UserError(f"{file}: cannot be read as CSV: {e}") from e


def cliffs(table: Table, found: dict[str, Drive]) -> None:
    """Add the drives of a table whose rows state an SLC cache; raises `UserError` for a cell."""
    models = [(row["model"] or "").strip() for row in table.rows]
    for at, row in enumerate(table.rows):
        if not models[at]:
            table.refuse(at, "model", "", "the name of the drive")
        capacity = table.read(at, CAPACITY, _plain) or table.refuse(
            at, CAPACITY, "", "the capacity in GB, such as 1000"
        )
        many = models.count(models[at]) > 1
        name = f"{models[at]} {capacity.value:g}" if many else models[at]
        nand = row.get("nand") or ""
        cell = cell_in(nand) or table.refuse(at, "nand", nand, "a text that names TLC or QLC")
        drive = Drive(name, round(capacity.value * 1e9), cell, nand.strip())
        drive.interface, drive.address = stated(row, "interface"), stated(row, "address", "source")
        for key, column, of in (*_STATED, *_RATED):
            if value := table.read(at, column, of):
                drive.values[key] = value
        if single := table.read(at, SINGLE, _rated):
            drive.values["read_us"] = single.mapped(lambda kiops: 1e3 / kiops)
        if {"random_read_kiops", "random_write_kiops", "read_us"} & drive.values.keys():
            drive.rated_at = stated(row, STATED_IN) or drive.address
        for key, column, of in _BESIDES:
            if value := table.read(at, column, of, is_optional=True):
                drive.values.setdefault(key, value)
        if "small static" in (row.get("cache_kind") or "") and "cache_gb" in drive.values:
            drive.values.setdefault("static_gb", drive.values["cache_gb"])
        found[name] = drive


#: Words for the cell types; some makers count the bits of their TLC and QLC.
CELLS = (("qlc", r"qlc|4[ -]bit"), ("tlc", r"tlc|3[ -]bit"))


def cell_in(text: str) -> str | None:
    """Read the cell type that a text names: ``tlc`` or ``qlc``."""
    return next((cell for cell, words in CELLS if re.search(words, text.lower())), None)


def chosen(found: Mapping[str, Drive], asked: str | None, where: Path) -> Drive:
    """Return the drive of this name, or the only drive.

    Raises `UserError`: there are several drives and no name is given, or no drive has that name.
    """
    if asked is None and len(found) == 1:
        return next(iter(found.values()))
    names = ", ".join(f'"{n}"' for n in found)
    for name, drive in found.items():
        if asked is not None and name.lower() == asked.lower():
            return drive
    which = "several drives, and none is named" if asked is None else f"no drive {asked!r}"
    raise UserError(f"{where}: {which}\n  allowed: {names}")


# --- fio -------------------------------------------------------------------------------------


#: What fio says of reads and of writes, at least.
RATES = {"io_bytes", "bw", "iops", "total_ios", "clat_ns"}


def fio_json(file: Path) -> dict[str, Any]:
    """Read fio's JSON output, which other lines of fio may precede.

    Raises `UserError`: the text is not such output, is that of fio 2, or has no whole job.
    """
    text = file.read_text(encoding="utf-8", errors="replace")
    again = "; delete the file, and run its job again"
    as_json = f"  allowed: JSON alone, as the fio command in the job file writes it{again}"
    try:
        found = json.loads(text[max(text.find("{"), 0) :])
    except ValueError as e:
        raise UserError(f"{file}: cannot be read as JSON: {e}\n{as_json}") from e
    if not isinstance(found, dict) or not isinstance(found.get("jobs"), list):
        raise UserError(f"{file}: no output of fio\n{as_json}")
    version = str(found.get("fio version", ""))
    if version.startswith("fio-2"):
        raise UserError(f"{file}: of {version}, whose units differ\n  allowed: fio 3{again}")
    named = [job if isinstance(job, dict) else {} for job in found["jobs"]]
    if failed := next((job["error"] for job in named if job.get("error")), 0):
        raise UserError(f"{file}: its job ended with error {failed}\n  allowed: error 0{again}")
    for job in named or [{}]:
        for way in ("read", "write"):
            if lacking := RATES - (job.get(way) or {}).keys():
                what = f"a job without {', '.join(sorted(lacking))} of {way}s"
                raise UserError(f"{file}: {what}\n  allowed: whole jobs{again}")
    return found


def fio_log(file: Path) -> tuple[Any, Any]:
    """Read a bandwidth log of fio (``write_bw_log``); return gigabytes and seconds from 0.

    Its lines are milliseconds, KiB/s, direction (1: writes), size. Each value is the mean since the
    previous line. While a job is idle, fio writes no line, and the first line after the idle time
    has the mean of its own time only. Raises `UserError`: a line is invalid.
    """
    times: list[float] = []
    rates: list[float] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        parts = [p.strip() for p in line.split(",")]
        try:
            time, rate, way = float(parts[0]), float(parts[1]), int(parts[2])
        except (ValueError, IndexError) as e:
            raise UserError(
                f"{file}:{number}: {line[:60]!r} is not a line of a bandwidth log\n"
                "  allowed: milliseconds, KiB/s, direction, block size"
            ) from e
        if way == 1 and time / 1e3 > (times[-1] if times else 0.0):
            times.append(time / 1e3)
            rates.append(rate * 1024 / 1e9)
    if len(times) < 2:
        raise UserError(f"{file}: has {len(times)} lines of writes; at least 2 are needed")
    gb, seconds = [0.0], [0.0]
    steps = np.diff([0.0, *times])
    for i, (time, rate) in enumerate(zip(times, rates, strict=True)):
        usual = max([*steps[max(i - 1, 0) : i], *steps[i + 1 : i + 2]])
        if i > 0 and steps[i] > REST * usual:
            gb.append(gb[-1])
            seconds.append(time - usual)
        gb.append(gb[-1] + (time - seconds[-1]) * rate)
        seconds.append(time)
    return np.array(gb), np.array(seconds)


def cliff(drive: Drive, found: list[Plateau], source: str) -> None:
    """Determine the cache and the rates of a drive from the plateaus of a fill."""

    def value(at: float) -> Value:
        return Value.around(at, 0.01 * at, source)

    if len(found) > 1:
        # What a write buffer takes at the rate of the link is not a cache.
        small = found[0].end_gb * 1e9 < SMALL * drive.capacity
        if small and found[0].mb_per_s < SHARP * found[1].mb_per_s:
            found = found[1:]
    first, *further = found
    if not further or further[0].mb_per_s > first.mb_per_s:
        drive.values["fill_mbps"] = value(first.mb_per_s)
        return
    drive.values["cache_mbps"] = value(first.mb_per_s)
    drive.values["after_mbps"] = value(further[0].mb_per_s)
    drive.values["cache_gb"] = value(first.end_gb)
    if len(further) > 1 and further[1].mb_per_s < further[0].mb_per_s:
        drive.values["second_mbps"] = value(further[1].mb_per_s)
        drive.values["second_gb"] = value(further[0].end_gb)
