"""A drive in steady state, fitted to its fills, one row of random writes and one of latencies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import itemgetter
from statistics import geometric_mean

from wordline import UserError
from wordline.real import copied_pages, jobs, map_cache, sheet, steady_rows, write_buffer
from wordline.real.bench import read_mbps
from wordline.real.collection_unit import matched
from wordline.real.measurements import Drive, Value
from wordline.real.result import FitResult, Row, Tell, head
from wordline.real.sheet import Sheet
from wordline.real.steady_model import SteadyModel

#: How close the model must come to fill, knee and steady rate, and the number of corrections.
NEAR, ROUNDS = 0.01, 6
#: How close the flash must come once the unit of collection is known.
NEAR_FLASH = 0.001
#: Number of corrections of the rates of link and channels.
READ_ROUNDS = 10
#: Number of corrections of the time that a suspended program has left, and how close p99 of reads
#: must come.
SUSPENDS, NEAR_READ = 5, 0.02
#: Time from the command to a free array.
SUSPEND = "20us"
#: Factors by which the drives are larger on which a fit is verified.
SIZES = (1.0, 1.5, 2.0)
#: Initial flash per unit that works alone, in bytes, in the search for the number of units.
DIE = 40 << 30
#: Number of blocks of all units, and minimum and maximum per unit. Fewer are simulated faster, but
#: open and reserved blocks are then a greater share of them. The number of wordlines per block
#: follows from the flash.
BLOCKS, FEWEST, MOST = 12_800, 200, 400
#: Share of free blocks in percent at which GC starts.
TRIGGER = 0.5
#: Minimum and maximum blocks per unit if the unit of collection determines them.
FEW_UNITS, MANY_UNITS = 20, 1600
#: Wordlines of each unit that a write buffer holds.
BUFFERED = 4
#: Copied bytes per host byte above which writes of zones show the unit of collection.
LEAST_COPIES = 0.05
#: Channel rate in MB/s. Its share in the time of a copy cannot be separated from that of the read.
BUS = 2400
#: Largest share of the latency of a read that may be the controller's.
MOST_CONTROLLER = 0.3
#: Latency of a read on an idle drive in addition to the array time: command and completion, in us.
COMMAND = 0.5


def require(drive: Drive) -> None:
    """Raise `UserError` where a drive without an SLC cache lacks a measurement that a fit needs."""
    for key, what in (
        ("fill_mbps", "a sequential fill (rows of the kind seqfill, blocks of 64 KiB or more)"),
        ("knee_dw", "uniform random writes over the whole drive after a fill, with their knee"),
        ("steady_mbps", "uniform random writes over the whole drive after a fill"),
    ):
        if key in drive.values:
            continue
        rows = [r for r in drive.rows if r.kind == steady_rows.UNIFORM and r.share > 0.99]
        if key == "knee_dw" and rows:
            raise UserError(
                f"{drive.name}: {rows[0].name} shows no knee: a table states none (column "
                "knee_dw_interp), or the rate of uniform random writes does not fall after 2 % of "
                f"the drive or later; it is {rows[0].figures['steady']} MB/s in the end, and the "
                "flash beyond the capacity is not known\n  allowed: writes with a knee, as on a "
                "drive with a smaller capacity.logical, or of smaller mapping units"
            )
        raise UserError(f"{drive.name}: not among the measurements\n  allowed: {what}")


class SteadyFit:
    """The search: flash from the knee, programs from a fill, units from the steady rate."""

    def __init__(self, drive: Drive, name: str, seed: int, tell: Tell) -> None:
        """Store the measurements, as for `wordline.real.fit.fit`; raises `UserError` like it."""
        self.drive, self.name, self.seed, self.tell = drive, name, seed, tell
        self.of = drive.flash or drive
        steady_rows.take_unit(self.of)
        steady_rows.take_copies(self.of)
        self.values = self.of.values
        require(self.of)
        self.fill, self.knee, self.steady = (
            self.values[k].value for k in ("fill_mbps", "knee_dw", "steady_mbps")
        )
        if self.steady >= self.fill:
            raise UserError(
                f"{self.of.name}: random writes at {self.steady:g} MB/s are not below the fill at "
                f"{self.fill:g} MB/s\n  allowed: a drive in which GC runs; erase it before the fill"
            )
        named = "pcie5" if self.fill > 7000 else "pcie4"
        self.link = sheet.link_of(self.of.interface or named)
        self.most_link = self.link
        self.link_source = "Link" if self.of.interface else "ASSUMED: no interface is stated"
        #: MB/s of a channel, and what limits sequential reads if the model has them too slow.
        self.bus, self.slow_reads = float(BUS), ""
        #: us of a read that are neither those of the array nor of transfers.
        self.controller = 0.0
        self.bits = sheet.BITS[self.of.cell]
        #: Search variables: bytes of flash, parallel units, us of a program, us that a program
        #: must have left to be suspended.
        self.usable = self.of.capacity * (1 + self.knee) * 1.01
        #: Reads at several depths determine the units; without them, the steady rate does.
        told = self.values.get("units")
        wanted = told.value if told else 4 * round(self.of.capacity / DIE / 4)
        self.units = nearest_units(wanted, self.most_link)
        self.program = self.bits * sheet.PAGE * self.units / self.fill
        self.min_left: float | None = None
        self.overhead = self.values["overhead"].value if "overhead" in self.values else 1.0

    def fitted(self) -> FitResult:
        """Search, and return the device file with its rows, fitted and verified."""
        self._search_reads()
        self._search()
        self._search_unit()
        self._search_min_left()
        text = self._sheet(self.drive)
        write_buffer.put(text, self.drive, self.seed)
        fitted = FitResult(self.drive, text, unknown=self._unknown())
        model = self._model(self.drive)
        if "fill_mbps" in self.drive.values:
            mark = "fitted" if self.drive is self.of else "judged"
            fill = self.drive.values["fill_mbps"]
            fitted.rows.append(Row(f"sequential fill ({mark})", "MB/s", fill, model.fill_mbps()))
        if "read_mbps" in self.of.values:
            what, target = "sequential read (fitted)", self.of.values["read_mbps"]
            fitted.rows.append(Row(what, "MB/s", target, read_mbps(text.toml(), self.seed)))
        for row in self.drive.rows:
            fitted.rows += self._rows(row, model)
        if (shown := steady_rows.fitted_row(self.drive)) is not None:
            fitted.size_names = ["fill, MB/s", "knee, drive writes", "steady, MB/s", "WAF"]
            for larger in SIZES:
                again = SteadyModel(text.toml(), self.seed, self.overhead, larger)
                found = again.figures(shown)
                shown_rates = (found["steady"], found["waf"])
                figures = [again.fill_mbps(), found.get("knee", 0.0), *shown_rates]
                fitted.sizes.append((again.simulated_gb, figures))
        return fitted

    def _rows(self, row: steady_rows.SteadyRow, model: SteadyModel) -> list[Row]:
        is_high = row.kind == steady_rows.LATENCY and row not in low_rates(self.drive)
        if row.kind == steady_rows.FILL or is_high:
            return []
        used = uses(row, self.drive)
        found = model.figures(row)
        rows = []
        # The WAF of zones is what the fit uses, if it is known.
        only = {steady_rows.zone_figure(row)} if row.kind == steady_rows.ZONES else SHOWN.keys()
        for key, (what, unit) in SHOWN.items():
            if key in only & row.figures.keys() & found.keys():
                mark = "fitted" if key in used else "judged"
                rows.append(Row(f"{row.name} {what} ({mark})", unit, row.figures[key], found[key]))
        return rows

    def _model(self, drive: Drive) -> SteadyModel:
        return SteadyModel(self._sheet(drive).toml(), self.seed, self.overhead)

    def _search_reads(self) -> None:
        """Choose the rates of link and channels so that sequential reads are as measured.

        Writes that the buffer takes faster than the drive reads show that the link is not the
        limit. If the units sense too slowly, neither is.
        """
        if (target := self.values.get("read_mbps")) is None:
            return
        link = self.values.get("link_mbps")
        by_channels = link is not None and link.low > target.high
        # The rates tried that are too high or too low, each with how far it was off.
        tried: dict[bool, tuple[float, float]] = {}
        for number in range(READ_ROUNDS):
            found = read_mbps(self._sheet(self.of).toml(), self.seed)
            self.tell(f"sequential reads: {found:.4g} MB/s of {target.value:.4g} measured")
            off = found / target.value
            if abs(off - 1) < NEAR:
                return
            if self.controller or (not number and off < 1):
                if not self._sense_faster(off):
                    self.slow_reads = f"sequential reads of {target} MB/s: units sense more slowly"
                    return
                continue
            rate = self.bus if by_channels else self.link
            tried[off > 1] = (math.log(rate), math.log(off))
            share = channels_of(self.units, self.most_link) if by_channels else 1
            rate = between(tried) if len(tried) > 1 else target.value / share
            if by_channels:
                self.bus, self.link = rate, min(self.link, max(self._link(), target.value))
            else:
                self.link = rate

    def _sense_faster(self, off: float) -> bool:
        """Take from the time of the array what sequential reads show is none of it.

        It is the controller's. `off` is the rate of the model over the measured one. Return False
        if it would be most of the time.
        """
        if "read_us" not in self.values:
            return False
        self.controller = max(0.0, self.controller + self._read_us() * (1 - off))
        return self.controller < MOST_CONTROLLER * self.values["read_us"].value

    def _read_us(self) -> float:
        """Return the array time of a read: its latency less transfers and controller."""
        moved = 4096 / self.bus + 4096 / self.link + COMMAND + self.controller
        return max(1.0, self.values["read_us"].value - moved)

    def _link(self) -> float:
        """Return the rate of the link from that of a burst, whose writes have an overhead each."""
        burst = jobs.BUFFER_BLOCK / self.values["link_mbps"].value
        return jobs.BUFFER_BLOCK / max(burst - COMMAND, burst / 2)

    def _search(self, near: float = NEAR) -> None:
        row = steady_rows.fitted_row(self.of)
        assert row is not None
        tried: list[tuple[float, tuple[float, int, float]]] = []
        for number in range(ROUNDS):
            fill = self._model(self.of).fill_mbps()
            self.program *= fill / self.fill
            model = self._model(self.of)
            fill, found = model.fill_mbps(), model.figures(row)
            steady = found["steady"]
            self.tell(
                f"round {number + 1}: {self.units} units, fill {fill:.4g} MB/s, "
                f"knee {found.get('knee', 0.0):.4g} drive writes, steady {steady:.4g} MB/s, "
                f"WAF {found['waf']:.4g}"
            )
            more = self._flash_lacking(found)
            off = [fill / self.fill - 1, more / self.knee, steady / self.steady - 1]
            worst = max(map(abs, off))
            tried.append((worst, (self.usable, self.units, self.program)))
            if worst < NEAR and abs(off[1]) < near:
                break
            self.usable += more * self.of.capacity
            before = self.units
            self._more_units(found["waf"] / self.overhead, steady)
            # The number of units is whole: the steady rate may lie between those of two numbers.
            if self.units == before and abs(off[0]) < NEAR and abs(off[1]) < near:
                break
        self.usable, self.units, self.program = min(tried, key=itemgetter(0))[1]

    def _search_unit(self) -> None:
        """Choose the unit of collection by the zones whose copies were counted, and the flash."""
        rows = [row for row in self.of.rows if self._copies(row, row.figures) > LEAST_COPIES]
        if "unit_share" not in self.values or not rows:
            return

        def copied(unit: Value) -> float:
            self.values["unit_share"] = unit
            model = self._model(self.of)
            found = sum(self._copies(row, model.figures(row)) for row in rows)
            self.tell(f"unit of {unit.value:.4g} of the drive: {found / wanted:.3f} of the copies")
            return found

        wanted = sum(self._copies(row, row.figures) for row in rows)
        unit = self.values["unit_share"]
        self.values["unit_share"] = matched(unit, wanted, copied)
        self._search(NEAR_FLASH)

    def _copies(self, row: steady_rows.SteadyRow, figures: Mapping[str, Value | float]) -> float:
        """Return the bytes that writes of zones copied per byte of the host; 0 if not counted."""
        if row.kind != steady_rows.ZONES or "waf" not in row.figures:
            return 0.0
        waf = figures["waf"]
        return (waf.value if isinstance(waf, Value) else waf) / self.overhead - 1

    def _flash_lacking(self, found: dict[str, float]) -> float:
        """Return the missing flash as a share of the capacity, by knee and WAF.

        If the drive counts its media writes, both have equal weight (least squares of errors).
        """
        late = found.get("knee", 0.0) - self.knee
        if "waf" not in self.values:
            return -late
        spare = self.usable / self.of.capacity
        slope = math.log(mean_field_waf(spare + 0.01) / mean_field_waf(spare - 0.01)) / 0.02
        errors = (late / self.knee, math.log(found["waf"] / self.values["waf"].value))
        slopes = (1 / self.knee, slope)
        return -sum(e * s for e, s in zip(errors, slopes, strict=True)) / sum(s * s for s in slopes)

    def _more_units(self, waf: float, steady: float) -> None:
        """Choose the number of units that share the cost of copies, so that it is as measured."""
        if "units" in self.values:
            return
        cost = self.units * (self.fill / (waf * steady) - 1)
        wanted = self.fill / (waf * self.steady) - 1
        more = cost / wanted if wanted > 0 else 2 * self.units
        more = min(max(more, self.units / 2), 2 * self.units)
        before = self.units
        self.units = nearest_units(more, self.most_link)
        self.program *= self.units / before

    def _search_min_left(self) -> None:
        """Let reads suspend programs if they wait too long, after a fit to all low rates.

        A read that finds a program of time T with less than F left waits for its end. Where
        programs take a share u of the time, a share u (F - w) / T of all reads waits longer than w:
        p99 grows with the rate, and as much as F does.
        """
        rows = [r for r in low_rates(self.of) if "r_p99" in r.figures]
        if not rows:
            return
        measured = float(geometric_mean([r.figures["r_p99"].value for r in rows]))
        off = self._off(rows)
        left = self.program
        for _ in range(SUSPENDS):
            if off <= 1 + NEAR_READ and (self.min_left is None or off >= 1 - NEAR_READ):
                return
            left = self.min_left = min(max(0.0, left + measured * (1 - off)), self.program)
            off = self._off(rows)
            self.tell(f"suspension above {left:.4g} us left: p99 of reads {off:.3f} of measured")

    def _off(self, rows: list[steady_rows.SteadyRow]) -> float:
        """Return the factor by which the p99 of reads exceeds the measured one.

        It lies half-way between those of the worst rows, high and low, so that the largest error
        is smallest.
        """
        model = self._model(self.of)
        found = [model.figures(r)["r_p99"] / r.figures["r_p99"].value for r in rows]
        return math.sqrt(min(found) * max(found))

    def _unknown(self) -> list[str]:
        of, drive = self.values, self.drive.values
        why = self.of.unknown.get("unit_share") or "uniform writes do not tell"
        unused = self.drive.unknown.get("streams")
        copies = self.of.unknown.get("copies") or "uniform writes do not tell"
        lines = {
            f"{STREAMS}: {copies}": not self.of.copies,
            f"{UNITS}: {why}": "unit_share" not in of,
            str(unused): bool(unused),
            "write overhead: no counter of media writes": "overhead" not in of,
            "read time: no latencies": "read_us" not in of,
            "write buffer: no burst that shows it": "buffer_bytes" not in drive,
            self.slow_reads: bool(self.slow_reads),
            "L2P cache: no reads over growing spans that show misses": "map_share" not in drive,
        }
        return [*UNKNOWN, *(line for line, is_so in lines.items() if is_so)]

    def _sheet(self, drive: Drive) -> Sheet:
        """Return the device file with the current values, for a drive with this much flash."""
        cell, flash = self.of.cell, "medium.flash."
        at = f"{flash}{cell}."
        channels, blocks = channels_of(self.units, self.most_link), self._blocks()
        block = self.bits * sheet.PAGE * self.units
        wordlines = round(self.usable / (block * blocks))
        made = sheet.Shape(channels, self.units // channels, blocks, wordlines, self.link)
        about = f"{drive.name}, {drive.capacity / 1e9:.4g} GB of {cell.upper()}: steady state"
        named = (self.name, f"{about} of random writes")
        text = sheet.base(made, cell, drive.capacity, named, self._head(drive))
        for key in ("read", "program", "erase", "endurance"):
            del text.values[f"{flash}slc.{key}"]
        v, put = self.values, text.put
        reads = f"Fit: {v['read_mbps']} MB/s of sequential reads" if "read_mbps" in v else ""
        limited = self.bus != BUS
        why = f"{reads}, below the link" if limited else f"{UN}; channels carry more than the link"
        put(flash + "bus", {"rate": f"{self.bus:.0f}MT/s", "width": 1}, why)
        mid = "units that sense and program in parallel"
        put(flash + "channels", channels, f"{UN}; with the dies {self.units} {mid}")
        why = f"Fit: {v['steady_mbps']} MB/s of random writes, {self.units} {mid}"
        if "units" in v:
            why = f"Rows, {v['units'].source}, {v['units']} {mid}"
        put(flash + "dies_per_chip", self.units // channels, why)
        put(flash + "planes_per_die", 1, f"{UN}; planes that program together are one")
        share = v.get("unit_share")
        why = f"{UN}; fewer and larger are simulated faster"
        if share is not None:
            why = f"Fit: writes of zones, GC collects {share} of the drive together"
        put(flash + "blocks_per_plane", blocks, why)
        waf = f", WAF {v['waf']}" if "waf" in v else ""
        why = f"Fit: with the blocks, knee after {v['knee_dw']} drive writes{waf}"
        put(flash + "wordlines_per_block", wordlines, why)
        if "read_us" in v:
            why = f"Low, reads take {v['read_us']} us at p50; less transfers"
            put(at + "read", sheet.time(self._read_us()), why)
        why = f"Fit: {v['fill_mbps']} MB/s in a fill"
        put(at + "program", f"{round(self.program * 1e3)}ns", why)
        # An erase takes the same share of the time of a block for any number of wordlines.
        erase = sheet.USUAL[cell][2] * wordlines / sheet.WORDLINES[0]
        put(at + "erase", sheet.time(erase), f"{UN}; usual for {cell.upper()}, per wordline")
        why = f"{self.link_source}, what is left of it for data"
        if reads and not limited and self.link < self.most_link:
            why = reads
        put("host.rate", f"{self.link:g}MB/s", why)
        if self.controller:
            why = f"{reads}, which the array limits"
            put("host.read_latency", sheet.time(self.controller), why)
        if "write_us" in v:
            latency = v["write_us"].value - 4096 / self.link - COMMAND
            why = f"Low, writes take {v['write_us']} us at p50; less link"
            put("host.write_latency", sheet.time(max(0.0, latency)), why)
        order, why = "CWDP", f"{UN}; by address, evenly over all units"
        if self.of.copies:
            order, why = "round-robin", "Fit: skewed writes, which do not wait for one unit"
        put("allocation.order", order, why)
        trigger, victim, why = f"{TRIGGER:g}", "fifo", f"{UN}; as greedy under uniform writes"
        if share is not None:
            # GC of all units at once needs two blocks of each.
            trigger, victim = f"{max(TRIGGER, 190 / blocks):.3g}", "greedy"
            why = "Fit: writes of zones, WAF falls with their size, as where the emptiest is next"
        put("gc.trigger", f"free_blocks < {trigger}%", f"{UN}; the knee has the flash less this")
        put("gc.victim", victim, why)
        if self.of.copies:
            put("gc.copies", self.of.copies, "Fit: skewed writes, which cost as many copies")
        put("gc.class", "host", f"{UN}; GC takes turns with the host")
        pages = BUFFERED * self.units * self.bits * sheet.PAGE // sheet.MAPPED
        put("ack.pages", pages, f"{UN}; {BUFFERED} wordlines of every unit")
        map_cache.put(text, drive)
        if self.min_left is not None:
            left = sheet.time(self.min_left)
            why = f"Fit: p99 of reads at up to a third of saturation; {SUSPEND} ASSUMED: usual"
            suspend = dict.fromkeys(("program", "erase", "resume"), SUSPEND)
            suspend |= {"program_min_left": left, "erase_min_left": left}
            put("service.suspend", suspend, why)
        return text

    def _blocks(self) -> int:
        """Return the blocks of a plane; one of every plane is collected together."""
        if (share := self.values.get("unit_share")) is None:
            return min(max(BLOCKS // self.units, FEWEST), MOST)
        wanted = round(self.usable / (share.value * self.of.capacity))
        return min(max(wanted, FEW_UNITS), MANY_UNITS)

    def _head(self, drive: Drive) -> list[str]:
        v = self.values
        low = v["read_us"].source if "read_us" in v else "none"
        sources = {
            "Rows": drive.address or "measurements of the reader",
            "Fit": f"fitted: `wordline device fit` searched for what reproduces "
            f"{v['fill_mbps'].source} and {v['knee_dw'].source}",
            "Low": f"read off {low}",
            "Cap": f"the capacity in Rows, {drive.capacity / 1e9:g} GB",
            "Link": f"the interface in Rows, {self.of.interface or 'none'}",
        }
        if "overhead" in v:
            each = f"{self.overhead:.4g} media bytes per host byte of a fill"
            sources["Overhead"] = f"{each}; figures of WAF times it"
        lines = head(drive, sources)
        if drive is not self.of:
            lines.append(f"The flash is that of {self.of.name}, to which all but Cap was fitted.")
        return [*lines, "", *NOT_MODELLED]


def between(tried: dict[bool, tuple[float, float]]) -> float:
    """Return a rate between one that is too low and one that is too high, by interpolation."""
    (low, below), (high, above) = tried[False], tried[True]
    share = min(max(below / (below - above), 0.2), 0.8)
    return math.exp(low + share * (high - low))


def mean_field_waf(flash: float) -> float:
    """Return the WAF of uniform writes under FIFO collection; `flash` is flash per byte of data.

    A victim holds a share m of valid data: 1/flash = (1 - m) / -ln m.
    """
    low, high = 1e-9, 1 - 1e-9
    for _ in range(60):
        m = (low + high) / 2
        low, high = (low, m) if (1 - m) / -math.log(m) > 1 / flash else (m, high)
    return 1 / (1 - low)


def nearest_units(wanted: float, link: float) -> int:
    """Return the nearest number of units that divides evenly over channels."""
    near = [u for u in range(6, 1025) if any(u % c == 0 for c in usual_channels(link))]
    return min(near, key=lambda u: abs(u - wanted))


def channels_of(units: int, link: float) -> int:
    """Return the number of channels for a number of units."""
    return next(c for c in usual_channels(link) if units % c == 0)


def usual_channels(link: float) -> list[int]:
    """Return numbers of channels, the most usual for a link first; none limits the rate."""
    few, usual, many = (12, 16, 20) if link > 7000 else (6, 8, 12)
    return sorted(range(few, many + 1), key=lambda c: (abs(c - usual), c))


def low_rates(drive: Drive) -> list[steady_rows.SteadyRow]:
    """Return the latencies at up to a third of the saturation rate."""
    rows = [r for r in drive.rows if r.kind == steady_rows.LATENCY]
    most = max((r.figures["writes"].value for r in rows), default=0.0) / 3
    rows = [r for r in rows if r.figures["writes"].value <= most * NEAR_THIRD]
    return sorted(rows, key=lambda r: r.figures["writes"].value)


def uses(row: steady_rows.SteadyRow, drive: Drive) -> set[str]:
    """Return the figures of a row that the fit of a drive uses."""
    if drive.has_flash_of_another:
        return set()
    is_known = row.kind == steady_rows.ZONES and "unit_share" in drive.values
    return {
        *(("knee", "steady", "waf") if row is steady_rows.fitted_row(drive) else ()),
        *(("r_p50", "w_p50") if row is steady_rows.lowest(drive) else ()),
        *(("r_p99",) if row.kind == steady_rows.LATENCY else ()),
        *((steady_rows.zone_figure(row),) if is_known else ()),
        *(("steady",) if drive.copies and copied_pages.tells(row.skew) else ()),
    }


#: A rate up to this many times a third of saturation is low: target rates are round numbers.
NEAR_THIRD = 1.05
#: Figures of a row to show, with labels and units.
SHOWN = {
    "knee": ("knee", "drive writes"),
    "dw0.5": ("at .5 drive writes", "MB/s"),
    "dw1": ("at 1 drive write", "MB/s"),
    "dw2": ("at 2 drive writes", "MB/s"),
    "steady": ("steady", "MB/s"),
    "waf": ("WAF", ""),
    "r_p50": ("reads, p50", "us"),
    "r_p99": ("reads, p99", "us"),
    "w_p50": ("writes, p50", "us"),
}
UN = "ASSUMED: not identifiable"
UNKNOWN = (
    "channels, dies and planes: only the units that sense and program in parallel show",
    "page size, mapping unit",
    "GC start: only the flash that is left when it starts",
)
STREAMS = "whether copied pages share blocks with host data"
UNITS = "victim rule, collection unit"
NOT_MODELLED = ("Not modelled: pacing of writes by firmware, temperature, power states.",)
