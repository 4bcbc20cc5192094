"""Rows of drives in steady state: fills, uniform random writes, writes of zones, latencies."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import mean, median

from wordline import UserError
from wordline.real.collection_unit import BY_CHANCE, BY_RATES, collection_unit, copies
from wordline.real.copied_pages import Skewed, copied_pages
from wordline.real.measurements import CLIFF, Drive, Table, Value, cell_in, cliffs, stated

#: A table without these columns has no such rows.
COLUMNS = ("drive", "model", "kind", "used_GB", "used_frac_of_capacity", "MBps_steady")
#: Kinds of rows that are read; others are skipped.
FILL, UNIFORM, LATENCY, ZONES, SKEWED = "seqfill", "uniform", "latency", "zns", "zipf"
#: Minimum request size of a fill in bytes; with smaller requests the host may limit the rate.
BLOCK = 64 << 10
#: Columns that each kind of row must have.
NEEDED = {
    FILL: ("steady",),
    UNIFORM: ("steady",),
    LATENCY: ("writes", "reads"),
    ZONES: ("steady",),
    SKEWED: ("steady",),
}
#: Columns of rows of zones: the size of a zone, and the number that are written in turn.
ZONE, ACTIVE = "zone_size_GiB", "active_zones"
#: Column of skewed writes: the theta of Zipf's law.
SKEW = "skew"

#: Figures, by column.
FIGURES = {
    "dw0.5": "MBps_dw0.5",
    "dw1": "MBps_dw1",
    "dw2": "MBps_dw2",
    "dw4": "MBps_dw4",
    "steady": "MBps_steady",
    "knee": "knee_dw_interp",
    "waf": "WAF_steady_measured",
    "writes": "write_iops_achieved",
    "reads": "read_iops_achieved",
    "r_p50": "r_p50_us",
    "r_p99": "r_p99_us",
    "w_p50": "w_p50_us",
    "w_p99": "w_p99_us",
}


@dataclass(frozen=True)
class SteadyRow:
    """A row: what was written where, and what was measured meanwhile.

    `figures` has those of `FIGURES` that the row states: MB/s (10^6 B) around several drive writes
    and in ``steady`` state, ``knee`` in drive writes, ``waf``, writes and reads per second,
    latencies in us.
    """

    name: str
    kind: str
    #: Share of the capacity in use, at most 1.
    share: float
    #: What was written before, in words.
    init: str
    #: Outstanding requests; None if the row does not state them.
    depth: int | None
    figures: Mapping[str, Value]
    #: Request size in bytes; None if the row does not state it.
    block: int | None = None
    #: Uncertainty of the knee in drive writes.
    resolution: float = 0.0
    #: Bytes of a zone, which is written in order before another is drawn at random; 0 without.
    zone: float = 0.0
    #: Theta of Zipf's law; 0 without.
    skew: float = 0.0

    @property
    def initial(self) -> str:
        """The state of the drive before the row, as the engine spells it."""
        if "empty" in self.init:
            return "fresh"
        order = "random" if "random order" in self.init else "seq"
        return f"fill:{100 * self.share:.4g}%,order={order}"


def drives(given: list[Table]) -> dict[str, Drive]:
    """Return the drives of tables by name, with the values of their rows.

    A drive with an SLC cache is named by its model, followed by its capacity if a model has
    several. A drive in steady state is named by the column ``drive``. Raises `UserError`: no table
    states either, or a cell is invalid.
    """
    found: dict[str, Drive] = {}
    for table in given:
        if table.has(CLIFF):
            cliffs(table, found)
        if table.has(COLUMNS):
            _read(table, found)
    if not found and given and not any(table.rows for table in given):
        raise UserError(f"{given[0].name}: no rows\n  allowed: a line with columns, and rows below")
    if not found and given:
        raise UserError(
            f"{given[0].name}:1: its columns are {', '.join(given[0].columns) or 'none'}\n"
            f"  allowed: rows with the columns {', '.join(CLIFF)}, or {', '.join(COLUMNS)}"
        )
    return found


def _read(table: Table, found: dict[str, Drive]) -> None:
    """Add the drives of a table, named by its column ``drive``, with rows and values.

    Raises `UserError`: a cell is invalid, or a drive has no capacity.
    """
    borrowed: dict[str, str] = {}
    unused: dict[str, dict[str, None]] = {}
    kinds = f"{', '.join(NEEDED)}; rows of other kinds are ignored"
    for at, cells in enumerate(table.rows):
        name = stated(cells, "drive") or table.refuse(at, "drive", "", "a short name of the drive")
        kind = stated(cells, "kind") or table.refuse(at, "kind", "", kinds)
        # Zones written in turn mix in a unit: their copies do not show its size.
        is_known = kind in NEEDED and (kind != SKEWED or stated(cells, SKEW))
        if not is_known or (_whole(cells.get(ACTIVE)) or 1) > 1:
            unused.setdefault(name, {})[f"{kind} in turn" if kind == ZONES else kind] = None
            continue
        row = _row(table, at, kind)
        drive = found.get(name)
        if drive is None:
            drive = found[name] = _drive(table, at, row)
        drive.rows.append(row)
        if other := stated(cells, "flash_of"):
            borrowed[name] = other
            if other not in {stated(r, "drive") for r in table.rows}:
                table.refuse(at, "flash_of", other, "a name of the column drive, or nothing")
    for name, drive in found.items():
        if drive.rows:
            drive.flash = found.get(borrowed.get(name, ""), drive)
            if others := unused.get(name):
                drive.unknown["streams"] = f"rows of the kinds {', '.join(others)} are not used"
            summarize(drive)


def _row(table: Table, at: int, kind: str) -> SteadyRow:
    cells = table.rows[at]
    read = {key: _number(table, at, column) for key, column in FIGURES.items()}
    figures = {key: value for key, value in read.items() if value is not None}
    for key in NEEDED[kind]:
        if key not in figures:
            table.refuse(at, FIGURES[key], "", f"a number above 0 in rows of the kind {kind}")
    share = _number(table, at, "used_frac_of_capacity")
    if share is None or share.value > 1:
        given = (cells["used_frac_of_capacity"] or "").strip()
        table.refuse(at, "used_frac_of_capacity", given, "a share of the capacity: 1, or less")
    threads, depth = (_whole(cells.get(c)) for c in ("threads", "qd_per_thread"))
    resolution = _number(table, at, "knee_res_dw")
    zone = _number(table, at, ZONE) if kind == ZONES else None
    if kind == ZONES and zone is None:
        table.refuse(at, ZONE, "", f"the GiB of a zone, such as 2, in rows of the kind {ZONES}")
    skew = _number(table, at, SKEW) if kind == SKEWED else None
    return SteadyRow(
        (cells.get("row_id") or f"line {at + 2}").strip(),
        kind,
        share.value,
        (cells.get("init") or "").strip(),
        threads * depth if threads and depth else None,
        figures,
        _whole(cells.get("block_B")),
        resolution.value if resolution else 0.0,
        zone.value * 2**30 if zone else 0.0,
        skew.value if skew else 0.0,
    )


def _whole(text: str | None) -> int | None:
    found = re.match(r"\s*(\d+)", text or "")
    return int(found[1]) if found else None


def _number(table: Table, at: int, column: str) -> Value | None:
    """Read the number in a cell, the largest if it lists several runs separated by ``|``."""

    def largest(text: str) -> tuple[float, float] | None:
        try:
            found = max(float(part) for part in text.split("|"))
        except ValueError:
            table.refuse(at, column, text, "a number, several with | between them, or nothing")
        return found, found

    return table.read(at, column, largest)


def _drive(table: Table, at: int, row: SteadyRow) -> Drive:
    cells = table.rows[at]
    model = stated(cells, "model") or table.refuse(at, "model", "", "the name of the drive")
    used = _number(table, at, "used_GB") or table.refuse(
        at, "used_GB", "", "the gigabytes that were used, such as 800.2"
    )
    exact = _number(table, at, "capacity_bytes")
    capacity = exact.value if exact else used.value / row.share * 1e9
    nand = (cells.get("nand") or "").strip()
    drive = Drive(model, round(capacity), cell_in(nand) or "tlc", nand or "not stated; TLC assumed")
    drive.interface, drive.address = stated(cells, "interface"), stated(cells, "address", "source")
    return drive


def spread(name: str, values: list[Value], of: float) -> Value:
    """Return a figure of several rows, with the interval that they cover."""
    low, high = min(v.low for v in values), max(v.high for v in values)
    more = f" and {len(values) - 1} more rows" if len(values) > 1 else ""
    return Value(of, low, high, f"{name}{more}")


def summarize(drive: Drive) -> None:
    """Take the figures of a drive that follow directly from its rows."""
    fills = [r for r in drive.rows if r.kind == FILL and (r.block or BLOCK) >= BLOCK]
    if fills:
        rates = [r.figures["steady"] for r in fills]
        middle = median(v.value for v in rates)
        drive.values["fill_mbps"] = spread(fills[0].name, rates, middle)
        if wafs := [r.figures["waf"] for r in fills if "waf" in r.figures]:
            middle = mean(v.value for v in wafs)
            drive.values["overhead"] = spread(fills[0].name, wafs, middle)
    if row := fitted_row(drive):
        for key, figure in (("knee_dw", "knee"), ("steady_mbps", "steady"), ("waf", "waf")):
            if figure in row.figures:
                value = row.figures[figure]
                half = row.resolution / 2 if figure == "knee" else 0.0
                least, most = value.value - half, value.value + half
                bounds = min(value.low, least), max(value.high, most)
                drive.values[key] = Value(value.value, *bounds, row.name)
    if (low := lowest(drive)) is not None:
        for key, figure in (("read_us", "r_p50"), ("read_p99_us", "r_p99"), ("write_us", "w_p50")):
            if figure in low.figures:
                drive.values[key] = replace(low.figures[figure], source=low.name)


def take_unit(drive: Drive) -> None:
    """Determine the unit of collection of a drive from its rows of zones, if it has some."""
    rows = sorted((r for r in drive.rows if r.kind == ZONES), key=lambda r: r.zone)
    of = {key: value.value for key, value in drive.values.items()}
    if not rows or "unit_share" in drive.unknown:
        return
    if not {"knee_dw", "steady_mbps", "fill_mbps"} <= of.keys():
        return
    wafs = [r.figures["waf"].value if "waf" in r.figures else None for r in rows]
    rates = [r.figures["steady"].value for r in rows]
    zones, is_counted = copies(
        [max(1, round(drive.capacity / row.zone)) for row in rows],
        [of.get("overhead"), of.get("waf"), *wafs],
        [of["fill_mbps"], of["steady_mbps"], *rates],
    )
    off = BY_CHANCE if is_counted else math.hypot(BY_CHANCE, BY_RATES)
    unit, drive.unknown["unit_share"] = collection_unit(zones, 1 + of["knee_dw"], off, apart=True)
    if unit is not None:
        source = f"{rows[0].name} and {len(rows) - 1} more rows"
        drive.values["unit_share"] = replace(unit, source=source)


def take_copies(drive: Drive) -> None:
    """Determine from rows of skewed writes which blocks take copied pages, if it has some."""
    rows = [r for r in drive.rows if r.kind == SKEWED and r.share > 0.99]
    of = {key: value.value for key, value in drive.values.items()}
    if not rows or "copies" in drive.unknown or drive.copies:
        return
    if not {"knee_dw", "steady_mbps", "fill_mbps"} <= of.keys():
        return
    # Their WAF is seldom counted, and that of some alone tells less.
    rates = [of["fill_mbps"], of["steady_mbps"], *(r.figures["steady"].value for r in rows)]
    seen, _ = copies(range(len(rows)), [None] * len(rates), rates)
    skewed = [Skewed(row.skew, one.copies) for row, one in zip(rows, seen, strict=True)]
    drive.copies, drive.unknown["copies"] = copied_pages(skewed, 1 + of["knee_dw"])


def zone_figure(row: SteadyRow) -> str:
    """Return the figure of a row of zones that shows their copies."""
    return "waf" if "waf" in row.figures else "steady"


def fitted_row(drive: Drive) -> SteadyRow | None:
    """Return the row of uniform writes that a fit uses: the one with the most precise knee.

    It covers the whole drive, which was written in order before.
    """
    rows = [
        r
        for r in drive.rows
        if r.kind == UNIFORM and r.share > 0.99 and "knee" in r.figures and "seq" in r.initial
    ]
    return min(rows, key=lambda r: r.resolution or 1.0, default=None)


def lowest(drive: Drive) -> SteadyRow | None:
    """Return the latencies at the lowest rate."""
    rows = [r for r in drive.rows if r.kind == LATENCY and "r_p50" in r.figures]
    return min(rows, key=lambda r: r.figures["writes"].value, default=None)
