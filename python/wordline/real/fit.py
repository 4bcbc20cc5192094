"""``wordline device fit``: a device file that reproduces measurements."""

from __future__ import annotations

import math
import shlex
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from wordline import UserError, _wordline
from wordline.commands import SWEEP, command, need_folder, tell
from wordline.quantity import in_us
from wordline.real import (
    controller_time,
    jobs,
    map_cache,
    measurements,
    probed,
    rests,
    sheet,
    steady_fit,
    steady_rows,
    write_buffer,
)
from wordline.real.bench import Bench, read_mbps
from wordline.real.curve import CLIFF, Plateau
from wordline.real.measurements import Drive, Value
from wordline.real.result import FitResult, Row, Tell, head
from wordline.real.sheet import Sheet
from wordline.real.steady_fit import SteadyFit

#: Logical bytes of the drive that a search simulates, and the minimum size of its cache.
SIZE, CACHE = 16e9, 2e9
#: How close the model must come to a measured figure, and the number of corrections; the error of
#: a figure above which SLC data do not migrate as assumed.
NEAR, ROUNDS, FAR = 0.01, 6, 0.02
#: Rate of the planes as SLC, over the rate of a link that is slower than the cache.
AHEAD = 1.15
#: Physical bytes per logical byte, if nothing is known: 1 GiB of flash for each GB.
SPARE = 1.0737
#: The least, beside a static part of the SLC cache.
LEAST = 1.02
#: Share of the blocks that a dynamic cache with a static part leaves free, if not measured. The
#: value is that of the ADATA Atom 50, a drive whose second plateau shows it.
RESERVE = 0.22


@command("device fit", SWEEP, extra="fit")
def main(
    *,
    measurements: str,
    output: str,
    seed: int,
    force: bool,
    drive: str | None = None,
    out: str | None = None,
) -> None:
    """Do ``wordline device fit``."""
    target = Path(output)
    if target.is_file() and not force:
        raise UserError(f"{target}: file exists; --force overwrites it")
    for folder in [target.parent, *([Path(out)] if out is not None else [])]:
        need_folder(folder)
    fitted = fit(load(Path(measurements), drive), target.stem, seed=seed, tell=tell)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(fitted.toml(), encoding="utf-8")
    print(fitted.terminal())
    tell(f"{target}: written")
    if out is not None:
        words = ["wordline", "device", "fit", measurements, "-o", output, "--seed", str(seed)]
        words += ["--drive", drive] if drive else []
        tell(f"page: {fitted.write(Path(out), shlex.join(words))}")


def load(at: Path, name: str | None = None) -> Drive:
    """Read the measurements of a drive, which a name tells from others.

    They are in a folder with tables, probe.json, and fio's output and logs; or in a table. Raises
    `UserError`: the input is missing or invalid; the message says where, and what is allowed.
    """
    if not at.exists():
        raise UserError(f"{at}: no such file or folder")
    if at.is_dir() and (at / "probe.json").is_file():
        return probed.drive_of(at)
    if at.is_file() and at.suffix in (".json", ".log"):
        raise UserError(f"{at}: one file of fio\n  allowed: the folder of probe.json and its jobs")
    given = list(measurements.tables(at))
    if not given:
        allowed = "tables in CSV, or probe.json and results of its jobs; device probe writes it"
        raise UserError(f"{at}: no measurements\n  allowed: {allowed}")
    return measurements.chosen(steady_rows.drives(given), name, at)


def fit(
    drive: Drive, name: str, *, seed: int = _wordline.DEFAULT_SEED, tell: Tell = print
) -> FitResult:
    """Fit a device file of this name to the measurements of a drive.

    `tell` receives a line of text after each round. Raises `UserError`: the measurements are not
    sufficient.
    """
    require(drive)
    if "cache_gb" in drive.values:
        return _cliff(drive, name, seed, tell)
    return SteadyFit(drive, name, seed, tell).fitted()


def require(drive: Drive) -> None:
    """Raise `UserError` where the measurements of a drive are not sufficient for a fit."""
    if "cache_gb" in drive.values:
        return
    if drive.rows:
        return steady_fit.require(drive.flash or drive)
    raise UserError(
        f"{drive.name}: too few measurements for a fit\n  allowed: the size of an SLC cache with "
        "the write rates before and after the cliff, or a logged fill that shows them, or a fill "
        "and random writes in steady state"
    )


def simulated_size(drive: Drive) -> float:
    """Return the bytes of a drive to simulate: its cache has some GB, and its fill many samples."""
    share = CACHE / 1e9 / drive.values["cache_gb"].value
    return min(max(SIZE, share * drive.capacity), float(drive.capacity))


def cliff_of(text: str, drive: Drive, seed: int, size: float | None = None) -> list[float]:
    """Fill a drive in order; return its cache in GB, and MB/s before and after the cliff.

    The drive is filled up to the second measured plateau, but at most to 2.5 times the cache.
    `size` is the size of the simulated drive in bytes, that of `simulated_size` if not given.
    """
    cache, capacity = drive.values["cache_gb"].value, drive.capacity / 1e9
    share = min(1.0, 2.5 * cache / capacity)
    if "second_gb" in drive.values:
        share = min(share, drive.values["second_gb"].value / capacity)
    bench = Bench.of(text, size or simulated_size(drive), seed)
    gb, _, found = bench.fill(share, most=2)
    if len(found) < 2:
        return [float(gb[-1]), found[0].mb_per_s, found[0].mb_per_s]
    return [found[0].end_gb, found[0].mb_per_s, found[1].mb_per_s]


def of_dies(gib: float) -> int:
    """Return the GiB of flash that hold this many, as dies have powers of two."""
    return int(2 ** math.ceil(math.log2(gib)))


def _cliff(drive: Drive, name: str, seed: int, tell: Tell) -> FitResult:
    """Fit a drive with an SLC cache, and find out when its data migrate.

    A second plateau shows it, or a rate past the cache that early migration does not leave.
    """
    early = _Cliff(drive, name, seed, tell)
    if "second_gb" in drive.values and drive.values["second_gb"].value < early.capacity_gb:
        second = f"a second plateau from {drive.values['second_gb']} GB, as free blocks run out"
        late = _Cliff(drive, name, seed, tell, late=second)
        return min((early, late), key=_Cliff.second_error).fitted()
    if early.off <= FAR:
        return early.fitted()
    left = f"early migration leaves {early.past:.0f} MB/s past the cache"
    late = _Cliff(drive, name, seed, tell, late=left)
    return min((early, late), key=lambda fitted: fitted.off).fitted()


class _Cliff:
    """A drive with an SLC cache, fitted to its size and to the rates before and after the cliff."""

    def __init__(
        self, drive: Drive, name: str, seed: int, tell: Tell, *, late: str | None = None
    ) -> None:
        for key, column in (("cache_mbps", "in the cache"), ("after_mbps", "past the cache")):
            if key not in drive.values:
                raise UserError(f"{drive.name}: the rate {column} is not among the measurements")
        self.drive, self.seed, self.tell = drive, seed, tell
        #: What shows that data migrate only when other writes need their blocks; None if they
        #: migrate as the cache fills.
        self.late = late
        values = drive.values
        self.capacity_gb = drive.capacity / 1e9
        self.cache = values["cache_gb"].value
        if self.cache >= self.capacity_gb:
            raise UserError(
                f"{drive.name}: an SLC cache of {self.cache:g} GB is not below the capacity of "
                f"{self.capacity_gb:g} GB"
            )
        self.static = min(values["static_gb"].value, self.cache) if "static_gb" in values else 0.0
        usable = drive.capacity * SPARE
        #: Flash without a static part, in GiB.
        self.gib = usable / 2**30
        flash_gb = of_dies(self.gib) * 2**30 / 1e9
        most = self.static + flash_gb / sheet.BITS[drive.cell]
        if self.cache > most:
            raise UserError(
                f"{drive.name}: an SLC cache of {self.cache:g} GB does not fit into its flash\n"
                f"  allowed: at most {most:.0f} GB, all {drive.cell.upper()} as SLC; more with a "
                "static part, as in 600 (300 static + 300 dynamic)"
            )
        rate, after = values["cache_mbps"].value, values["after_mbps"].value
        if after > (1 + FAR) * rate:
            raise UserError(
                f"{drive.name}: {after:g} MB/s past the cache are more than {rate:g} MB/s in it\n"
                f"  allowed: at most {rate:g} MB/s past it; are the columns swapped?"
            )
        #: Whether the rate falls by enough for a fill to show where the cache ends.
        self.shows = rate > CLIFF * after
        link = sheet.link_of(drive.interface)
        self.by_link = rate > 0.8 * link
        self.link = rate if self.by_link else link
        if "read_mbps" in values:
            self.link = max(self.link if self.by_link else 0.0, values["read_mbps"].value)
        bits = sheet.BITS[drive.cell]
        # Number of planes that the greater of the two rates needs at typical program times.
        planes = max(
            rate * sheet.USUAL["slc"][1] / sheet.PAGE * (AHEAD if self.by_link else 1.0),
            after * sheet.USUAL[drive.cell][1] / bits / sheet.PAGE,
        )
        # A static part that was measured alone must be met as closely as the whole cache.
        is_measured = self.static > 0 and values["static_gb"].source == rests.FULL
        grain = (self.static if is_measured else self.cache) / 40
        self.shape = sheet.shape(drive.cell, link, usable, planes, grain)
        #: Blocks per plane that a GiB of flash amounts to.
        self.gib_blocks = self.shape.blocks / self.gib
        block = self.shape.slc_block_gb
        self.base = round(self.static / block)
        #: Blocks per plane that the cache takes on an empty drive in addition to static ones.
        self.dynamic = (self.cache - self.static) / (1 - self.cache / self.capacity_gb) / block
        #: Blocks per plane that the cache leaves free, if it takes free blocks: if it needs nearly
        #: all blocks, those that remain; with a static part, a typical share.
        self.reserve: float | None = None
        blocks, taken = self.shape.blocks, (self.cache - self.static) / block
        spare = round(blocks * 0.02) + 2
        has_usual = 0 < self.static < self.cache and "half_gb" not in values
        needs = taken + RESERVE * blocks if has_usual else self.dynamic
        self.takes_all = self.static < self.cache and needs + spare > blocks
        if self.takes_all:
            self.reserve = max(blocks - taken, 0.0)
        elif has_usual:
            self.reserve, self.dynamic = RESERVE * blocks, taken
        at_once = self.shape.planes * sheet.PAGE
        self.slc_us = sheet.USUAL["slc"][1] if self.by_link else at_once / rate
        self.dense_us = bits * at_once / after
        self.name = name
        self.size = simulated_size(drive)

    @property
    def off(self) -> float:
        """The greatest error of a figure that was fitted."""
        return self._found[0]

    @property
    def past(self) -> float:
        """The rate past the cache, in MB/s."""
        return self._found[1][2]

    @cached_property
    def _found(self) -> tuple[float, list[float], Sheet]:
        """Greatest error, cache, both rates and device file of the closest round of a search."""
        targets = self._targets()
        tried: list[tuple[float, list[float], Sheet]] = []
        for number in range(ROUNDS):
            text = self._sheet()
            rows = cliff_of(text.toml(), self.drive, self.seed, self.size)
            off = [m / t.value for m, t in zip(rows, targets, strict=True)]
            if not self.shows:
                off[0] = 1.0
            self.tell(
                f"round {number + 1}: cache {rows[0]:.4g} GB, {rows[1]:.4g} MB/s in it, "
                f"{rows[2]:.4g} MB/s past it"
            )
            full = self._full_error(text)
            worst = max(abs(x - 1) for x in (*off, full))
            tried.append((worst, rows, text))
            if worst < NEAR:
                break
            self._correct(off, full)
        # Keep the closest round: a cache of few blocks may have no exact solution.
        return min(tried, key=itemgetter(0))

    def _targets(self) -> list[Value]:
        return [self.drive.values[key] for key in ("cache_gb", "cache_mbps", "after_mbps")]

    @cached_property
    def _whole(self) -> tuple[Any, Any, list[Plateau]]:
        """The fill of the whole drive, as `Bench.fill` has it."""
        return Bench.of(self._found[2].toml(), SIZE, self.seed).fill(1.0, most=3)

    def second(self) -> Plateau | None:
        """Return the second, slower plateau past the cache, if the model has one."""
        found = self._whole[2]
        return found[2] if len(found) > 2 and found[2].mb_per_s < found[1].mb_per_s else None

    def second_error(self) -> float:
        """Return how far off the second plateau begins; one that is absent begins at the end."""
        second = self.second()
        at = second.start_gb if second else self.capacity_gb
        return abs(math.log(at / self.drive.values["second_gb"].value))

    def fitted(self) -> FitResult:
        values, targets = self.drive.values, self._targets()
        _, rows, text = self._found
        # The size of a cache that does not show is no figure of the fit.
        first = 0 if self.shows else 1
        write_buffer.put(text, self.drive, self.seed)
        unknown = [line for line, value in UNKNOWN.items() if value not in values]
        fitted = FitResult(self.drive, text, unknown=unknown)
        names = (("SLC cache", "GB"), ("in the cache", "MB/s"), ("past the cache", "MB/s"))
        if not self.shows:
            fitted.unknown.append(
                "size of the SLC cache: the rate falls by less than "
                f"{CLIFF - 1:.0%} after it, which a fill does not show; the size is the one given"
            )
        figures = [*zip(names, targets, rows, strict=True)][first:]
        for (what, unit), target, found in figures:
            fitted.rows.append(Row(what, unit, target, found))
        fitted.size_names = [f"{row.what}, {row.unit}" for row in fitted.rows]
        if "read_mbps" in values:
            found = read_mbps(text.toml(), self.seed)
            fitted.rows.append(Row("sequential read", "MB/s", values["read_mbps"], found))
        self._rate(fitted)
        fitted.sizes = [(self._simulated_gb(text, self.size), rows[first:])]
        for size in (self.size / 2, self.size / 4):
            # A drive with few wordlines is simulated as it is.
            if (gb := self._simulated_gb(text, size)) < fitted.sizes[-1][0]:
                smaller = cliff_of(text.toml(), self.drive, self.seed, size)
                fitted.sizes.append((gb, smaller[first:]))
        fitted.fill = self._whole[:2]
        second, rate = self.second() if self.late else None, values.get("second_mbps")
        at = values.get("second_gb")
        if second is not None and at is not None:
            fitted.rows.append(Row("second plateau from", "GB", at, second.start_gb))
        if second is not None and rate is not None and at is not None:
            fitted.rows.append(Row("in it (not fitted)", "MB/s", rate, second.mb_per_s))
        elif rate is not None:
            fitted.unknown.append(f"not modelled: the {self._second()}")
        return fitted

    def _rate(self, fitted: FitResult) -> None:
        """Add what a maker states of random requests, and what the model has of it."""
        bench = Bench.of(fitted.sheet.toml(), self.size, self.seed)
        for one in controller_time.rated(self.drive):
            found = controller_time.modelled(one, bench, self.cache)
            fitted.rows.append(Row(one.what, "kIOPS", one.kiops, found))
            if why := controller_time.unknown(one, found):
                fitted.unknown.append(why)
                controller_time.doubt(fitted.sheet, one)
        if (rate := controller_time.single(self.drive)) is not None:
            found = bench.single_kiops()
            fitted.rows.append(Row("random reads at QD1, drive full", "kIOPS", rate, found))

    def _simulated_gb(self, text: Sheet, size: float) -> float:
        """Return the size of the drive that is simulated when `size` bytes are asked for, in GB."""
        return self.capacity_gb / Bench.of(text.toml(), size, self.seed).by

    def _second(self) -> str:
        values = self.drive.values
        at = f" from {values['second_gb'].value:g} GB" if "second_gb" in values else ""
        return f"second plateau of {values['second_mbps'].value:g} MB/s{at}"

    def _full_error(self, text: Sheet) -> float:
        """Return the cache of the full drive after a long idle time, modelled over measured.

        1 if it was not measured.
        """
        static = self.drive.values.get("static_gb")
        if static is None or static.source != rests.FULL:
            return 1.0
        bench = Bench.of(text.toml(), self.size, self.seed)
        before, after = (part * self.capacity_gb for part in (jobs.BURST, jobs.AFTER))
        fast = probed.FAST * self.drive.values["cache_mbps"].value
        found = bench.behind("fill:100%", after, fast, before_gb=before, rest_s=jobs.RESTS[-1])
        return found / static.value

    def _correct(self, off: list[float], full: float) -> None:
        off = [min(max(x, 0.5), 2.0) for x in off]
        if full != 1.0:
            self.base = max(2, round(self.base / min(max(full, 0.5), 2.0)))
        if self.takes_all and self.reserve is not None:
            blocks = self.shape.blocks
            whole = self.base + blocks - self.reserve
            self.reserve = max(0.0, self.base + blocks - whole / off[0])
        elif self.dynamic:
            whole = self.base + self.dynamic
            self.dynamic = max(1.0, whole / off[0] - self.base)
        elif self.base:
            self.base = max(2, round(self.base / off[0]))
        if self.by_link:
            # More would be another limit's, which no link moves.
            self.link = min(self.link / off[1], AHEAD * self.drive.values["cache_mbps"].value)
        else:
            self.slc_us *= off[1]
        self.dense_us *= off[2]

    def _sheet(self) -> Sheet:
        """Return the device file with the current values."""
        drive, made = self.drive, self.shape
        values = drive.values
        dynamic = round(self.dynamic) if self.static < self.cache else 0
        base = max(self.base, 0 if dynamic > 1 else 2)
        # Flash that holds the data beside the static part.
        least = (base + made.blocks * LEAST / SPARE) / self.gib_blocks
        all_gib = of_dies(max(self.gib, least))
        wanted = min(base + made.blocks, int(all_gib * self.gib_blocks))
        if self.takes_all:
            dynamic = wanted - base - 1
        sources = {
            "Rows": drive.address or "the measurements given",
            "Fit": "fitted: `wordline device fit` searched for what reproduces Rows",
            "Cap": f"the capacity in Rows, {self.capacity_gb:g} GB",
            "Link": f"the interface in Rows, {drive.interface}",
        }
        if drive.rated_at is not None:
            single = ", and single reads" if "read_us" in values else ""
            what = f"random IOPS, a maker's statement of at most{single}"
            sources["Rated"] = f"{what}: {drive.rated_at}"
        flash = "medium.flash."
        head_lines = [*head(drive, sources), "", *_not_modelled(drive)]
        if "second_mbps" in values and not self.late:
            head_lines[-1] += f" The {self._second()}."
        about = f"{drive.name}, {self.capacity_gb:g} GB of {drive.cell.upper()}: SLC cache of "
        named = (self.name, f"{about}{self.cache:g} GB")
        text = sheet.base(made, drive.cell, drive.capacity, named, head_lines)
        if wanted != made.blocks:
            why = "Fit: 7 % more flash than capacity, and the cache"
            if wanted < base + made.blocks:
                why = f"ASSUMED: {all_gib} GiB of flash, as dies have powers of two"
            text.put(flash + "blocks_per_plane", wanted, why)
        rates = [values[k] for k in ("cache_mbps", "after_mbps")]
        why = f"Fit: {rates[0]} MB/s in the cache"
        if self.by_link:
            text.put("host.rate", f"{self.link:.0f}MB/s", f"{why}, near the link's")
        else:
            text.put(flash + "slc.program", sheet.time(self.slc_us), why)
        dense = f"{flash}{drive.cell}.program"
        text.put(dense, sheet.time(self.dense_us), f"Fit: {rates[1]} MB/s past the cache")
        if "read_mbps" in values and not self.by_link:
            text.put("host.rate", f"{self.link:.0f}MB/s", "Rows, sequential reads")
        controller_time.put(text, drive, self.link)
        if "read_us" in values:
            moved = 4096 / (1200 if made.link <= 7000 else 2400) + 4096 / self.link
            moved += in_us(text.get("host.read_overhead"))
            read = max(1.0, values["read_us"].value - moved)
            source = "Rows" if drive.rated_at is None else "Rated"
            why = f"{source}, reads of 4 KiB take {values['read_us']} us; less transfers"
            text.put(f"{flash}{drive.cell}.read", sheet.time(read), why)
        static = values.get("static_gb")
        why = f"Rows, static part {static} GB" if static else "ASSUMED: no static part is named"
        text.put("slc_cache.static_blocks", base, why)
        on_empty = f"Fit: {values['cache_gb']} GB of cache on an empty drive"
        if not self.shows:
            on_empty = f"Rows, {values['cache_gb']} GB; a fill does not show it"
        all_free = "Fit: all free flash, but for the reserve"
        text.put("slc_cache.dynamic_blocks", dynamic, all_free if self.takes_all else on_empty)
        if self.reserve is not None:
            share = f"{100 * self.reserve / wanted:.1f}%"
            usual = "ASSUMED: not identifiable; that of the ADATA Atom 50"
            text.put("slc_cache.dynamic_reserve", share, on_empty if self.takes_all else usual)
        trigger, why = "free_blocks < 10%", "ASSUMED: not identifiable; migrates early"
        if self.late:
            trigger, why = "never", f"Fit: {self.late}"
        text.put("slc_cache.trigger", trigger, why)
        text.put("slc_cache.when_full", "direct", "Rows, writes go on at the rate of dense cells")
        map_cache.put(text, drive)
        if "idle_s" in values:
            after, rate = values["idle_s"], values["idle_mbps"]
            # Rests show whole blocks, so that on average half of one is missing. How large they are
            # is not known: between none and those of this file.
            late = made.slc_block_gb / 4 / rate.value * 1e6 if after.source == rests.FULL else 0.0
            ms = f"{max(1.0, 1e3 * after.value - late):.0f}ms"
            why = f"Rows, {after} s" + (", less a quarter of a block" if late else "")
            text.put("slc_cache.idle_after", ms, why)
            text.put("slc_cache.idle_rate", f"{rate.value:.4g}MB/s", f"Rows, {rate} MB/s")
        elif self.late:
            why = "ASSUMED: not identifiable; drives empty their cache at rest"
            text.put("slc_cache.idle_after", "1s", why)
        return text


def _not_modelled(drive: Drive) -> list[str]:
    what = "Reads, random writes and GC"
    if drive.rated_at is not None:
        what = "GC and write latencies" if "read_us" in drive.values else "GC and latencies"
    return [
        "Not modelled: a change of rate within a plateau, recovery as this drive does it, "
        "temperature,",
        f"power states. {what} were not measured: their values are assumed.",
    ]


#: What three columns of a table do not determine, and the value by which it is known anyway.
UNKNOWN = {
    "channels, dies, planes, page size and program time: only their combined rate shows": None,
    "spare blocks, write overhead and WAF: no random writes in steady state": None,
    "read times: no reads": "read_us",
    "time of the controller per read: no rated random reads": "random_read_kiops",
    "time of the controller per write: no rated random writes": "random_write_kiops",
    "L2P cache: no reads over growing spans that show misses": "map_share",
    "write buffer: no burst that shows it": "buffer_bytes",
    "delay and rate of recovery: no rests that show them": "idle_s",
}
