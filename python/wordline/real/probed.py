"""Results of a probe's jobs, and the drive that a fit makes of them."""

from __future__ import annotations

import itertools
import json
import math
import shlex
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from wordline import UserError
from wordline.real import jobs, measurements, rests, steady_rows
from wordline.real.closed_network import units_of
from wordline.real.collection_unit import BY_COUNTERS, BY_RATES, collection_unit, copies
from wordline.real.curve import Plateau, plateaus
from wordline.real.map_cache import Lookup, MapCache, map_cache
from wordline.real.measurements import Drive, Value
from wordline.real.on_drive import throttled
from wordline.real.rests import Back
from wordline.real.steady_model import LAST, curve_figures
from wordline.real.steady_rows import SteadyRow
from wordline.real.write_buffer import link_rate, write_buffer
from wordline.runs import write_whole

#: The file that describes a drive and its jobs.
ABOUT = "probe.json"
#: Share by which two runs of a job may differ.
AGAIN = 0.02
#: Data written after an idle time count as the cache's while the rate is above this share of the
#: rate in the cache.
FAST = 0.7
#: Lines of a log that are slow together where a cache is full.
LASTING = 8
#: The link does not limit single reads below this share of the sequential rate. If more than this
#: share of the outstanding reads is in service, the number of units cannot be determined.
LINKED, FULL = 0.8, 0.8
#: Below this WAF a counter does not count bytes written to flash.
LEAST_WAF = 0.5
#: Number of points of the curve of random writes.
POINTS = 400
#: A first plateau of a fill that is shorter than so many write buffers is no SLC cache.
BUFFERS = 3
#: A job with fewer lines in its log was too short for a curve.
LINES = 4
#: Share of what a job wrote by which its log may be off, and lines; fio leaves the last one out.
ALL, LOST = 0.1, 2
#: Jobs whose logs every other figure rests on.
CURVES = {job.name: job.writes for job in jobs.JOBS if job.name in ("01-fill", "09-uniform")}


def read_about(file: Path) -> dict[str, Any]:
    """Read probe.json.

    Raises `UserError`: the file is not a valid probe.json.
    """
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
        if int(about["capacity_bytes"]) <= 0:
            raise ValueError("capacity_bytes is not above 0")
    except (ValueError, KeyError, TypeError) as e:
        raise UserError(
            f"{file}: {type(e).__name__}: {e}\n  allowed: JSON with capacity_bytes, nand, "
            "interface and model"
        ) from e
    return dict(about)


class Probed:
    """The results in a folder: for each job, fio's output, its log, and the drive's counters."""

    def __init__(self, folder: Path) -> None:
        """Look for results in a folder; raises `UserError` if probe.json is invalid."""
        self.folder = folder
        self.about = read_about(folder / ABOUT)
        self.capacity = int(self.about["capacity_bytes"])
        self.counters = self.about.get("jobs") or {}
        #: Jobs during which the drive was throttled.
        self.throttled = [name for name, c in self.counters.items() if throttled(c)]

    def has(self, name: str) -> bool:
        """Return whether a job has valid results."""
        return name not in self.throttled and (self.folder / f"{name}.json").is_file()

    def entries(self, name: str) -> list[dict[str, Any]]:
        """Return fio's results for the sections of a job, the measured one last."""
        return list(measurements.fio_json(self.folder / f"{name}.json")["jobs"])

    def entry(self, name: str, way: str) -> dict[str, Any]:
        """Return fio's results for the reads or writes of a job's measured section."""
        return dict(self.entries(name)[-1][way])

    def rate(self, name: str, way: str) -> float:
        """Return the MB/s of the reads or writes of a job."""
        return float(self.entry(name, way)["bw"]) * 1.024e-3

    def log(self, name: str) -> tuple[Any, Any] | None:
        """Return gigabytes and seconds from a job's log; None if it is not whole, or too short.

        Raises `UserError`: it is not whole, and one of `CURVES`.
        """
        file = self.folder / f"{name}_bw.1.log"
        if not self.has(name) or not file.is_file():
            return None
        lines = len(file.read_text(encoding="utf-8").splitlines())
        if lines < LINES:
            return None
        gb, seconds = measurements.fio_log(file)
        off = max(ALL, LOST / lines)
        wrote = sum(entry["write"]["io_bytes"] for entry in self.entries(name)) / 1e9
        if abs(gb[-1] - wrote) > off * wrote:
            if name not in CURVES:
                return None
            raise UserError(
                f"{file}: its lines come to {gb[-1]:.4g} GB, but fio wrote {wrote:.4g} GB\n"
                "  allowed: a whole log, by the fio command in the job file; delete both files, "
                "and run it again"
            )
        if (curve := CURVES.get(name)) is not None:
            whole = curve.drive_writes * self.capacity / 1e9
            if wrote < (1 - off) * whole:
                raise UserError(
                    f"{file}: its job wrote {wrote:.4g} GB of {whole:.4g} GB\n"
                    f"  allowed: a whole job, on a drive of the capacity_bytes of {ABOUT}; delete "
                    "its files to run it again"
                )
        return gb, seconds

    def waf(self, name: str) -> float | None:
        """Return the WAF of a job by the drive's counters, if it has counters of bytes."""
        counted = self.counters.get(name) or {}
        sides = [counted.get(side, {}).get("media_bytes") for side in ("before", "after")]
        if None in sides or not self.has(name):
            return None
        host = sum(entry["write"]["io_bytes"] for entry in self.entries(name))
        waf = (sides[1] - sides[0]) / host if host else 0.0
        return float(waf) if waf > LEAST_WAF else None

    def latency(self, name: str, way: str, at: str = "mean") -> float | None:
        """Return microseconds: the mean, or a percentile such as ``99``."""
        if not self.has(name):
            return None
        clat = self.entry(name, way)["clat_ns"]
        if at != "mean":
            found = clat.get("percentile") or {}
            clat = {at: next((v for k, v in found.items() if float(k) == float(at)), 0)}
        return float(clat[at]) / 1e3 or None

    @cached_property
    def plateaus(self) -> list[Plateau]:
        """The plateaus of the fill; none if it was not logged."""
        log = self.log("01-fill")
        return [] if log is None else plateaus(*log)

    @cached_property
    def has_slc_cache(self) -> bool:
        """Whether the first plateau of the fill is more than what the write buffer took."""
        drive = Drive("", self.capacity, "", "")
        if self.plateaus:
            measurements.cliff(drive, self.plateaus, "01-fill")
        return self.takes_more(drive)

    def takes_more(self, drive: Drive) -> bool:
        """Return whether the SLC cache of a fill is more than what the write buffer took."""
        cache, buffer = drive.values.get("cache_gb"), self.buffer
        if cache is None or buffer is None:
            return cache is not None
        return 1e9 * cache.value >= BUFFERS * buffer.value

    @cached_property
    def map_cache(self) -> MapCache | None:
        """The L2P cache that reads over growing spans show; None if they show none."""
        found = []
        for span in jobs.SPANS:
            if (us := self.latency(name := f"05-span-{span}", "read")) is not None:
                found.append(Lookup(span / 100, us, int(self.entry(name, "read")["total_ios"])))
        return map_cache(found)

    @cached_property
    def buffer(self) -> Value | None:
        """The bytes that the write buffer takes; None if a burst did not show them."""
        log = self.log("14-buffer")
        return None if log is None else write_buffer(*log)

    @cached_property
    def link(self) -> Value | None:
        """The MB/s at which the write buffer takes writes; None if a burst did not show them."""
        log, held = self.log("14-buffer"), self.buffer
        return link_rate(*log, held.value) if log is not None and held is not None else None

    @cached_property
    def unit(self) -> tuple[Value | None, str]:
        """The unit of collection as a share of the drive, or why it is not identifiable."""
        if self.has_slc_cache:
            return None, "an SLC cache takes part in the writes of zones"
        uniform, fill = self.uniform(), self.fill()
        names = {number: f"12-zones-{number}" for number in jobs.ZONES}
        done = {number: name for number, name in names.items() if self.has(name)}
        if uniform is None or fill is None or "knee" not in uniform.figures or not done:
            return None, "no writes of zones beside a fill and random writes"
        limits = (self.waf(name) for name in ("01-fill", "10-steady"))
        rates = [row.figures["steady"].value for row in (fill, uniform)]
        rates += [self.rate(name, "write") for name in done.values()]
        zones, is_counted = copies(done, [*limits, *map(self.waf, done.values())], rates)
        off = BY_COUNTERS if is_counted else BY_RATES
        return collection_unit(zones, 1 + uniform.figures["knee"].value, off)

    def rests(self) -> list[Back]:
        """Return what a full cache recovered in each idle time."""
        found = ((rest, self.behind(f"06-rest-{rest}", jobs.BURST)) for rest in jobs.RESTS)
        return [Back(rest, *back) for rest, back in found if back is not None]

    def behind(self, name: str, at: float) -> tuple[float, float, bool] | None:
        """Return the gigabytes written after an idle time at the rate of the cache.

        If the rate did not fall, these are all gigabytes written after the idle time. Also return
        their uncertainty, which is the size of a line of the log, and whether the rate did not
        fall. None if the drive has no cache, or the job no log.
        """
        first, log = self.plateaus, self.log(name)
        if log is None or len(first) < 2 or first[1].mb_per_s > first[0].mb_per_s:
            return None
        gb, seconds = log
        rates = np.diff(gb) * 1e3 / np.maximum(np.diff(seconds), 1e-12)
        # Requests in flight before the idle time complete after it. The first line covers only part
        # of a bin.
        before = (at * self.capacity + jobs.DEPTH * jobs.BLOCK) / 1e9
        behind = np.flatnonzero((gb[1:] > before) & (rates > 0))
        if len(behind) < 2:
            return None
        # Where a few units are full before the others, the rate falls and rises once more.
        until = np.minimum(np.arange(len(rates)) + LASTING, len(rates))
        on = (gb[until] - gb[:-1]) * 1e3 / np.maximum(seconds[until] - seconds[:-1], 1e-12)
        middle = (first[0].mb_per_s + first[1].mb_per_s) / 2
        is_slow = (rates < FAST * first[0].mb_per_s) & (on < middle)
        slow = [i for i in behind[1:] if is_slow[i]]
        begin, end = float(gb[behind[0]]), float(gb[slow[0]] if slow else gb[-1])
        wrote = np.diff(gb)
        if slow and slow[0] + 1 < len(rates):
            # The line in which the rate falls is partly in the cache.
            fast, at_slow, next_slow = first[0].mb_per_s, rates[slow[0]], rates[slow[0] + 1]
            if next_slow < at_slow < fast:
                share = (1 / at_slow - 1 / next_slow) / (1 / fast - 1 / next_slow)
                end += share * float(wrote[slow[0]])
        return max(0.0, end - begin), float(wrote[behind].max()), not slow

    def uniform(self) -> SteadyRow | None:
        """Return uniform random writes as a row of steady state; None if not measured."""
        if (log := self.log("09-uniform")) is None:
            return None
        used = self.capacity / 1e9
        gb = np.linspace(0.0, log[0][-1], POINTS)
        seconds = np.interp(gb, *log)
        found = curve_figures(gb[1:] / used, np.diff(gb) * 1e3 / np.diff(seconds))
        last = gb > gb[-1] - LAST * used
        took = seconds[-1] - seconds[last][0]
        found["steady"] = float((gb[-1] - gb[last][0]) * 1e3 / took)
        if (waf := self.waf("10-steady")) is not None:
            found["waf"] = waf
        step = float(np.diff(gb).max() / used)
        about = ("09-uniform", steady_rows.UNIFORM, 1.0, "sequential", 128)
        return SteadyRow(*about, _values(found, "09-uniform"), 4096, step)

    def units(self) -> Value | None:
        """Return the number of units that sense in parallel; None if not measured.

        By Little's law the rate times the service time of a read is the mean number of busy units,
        and a single read takes that time. `closed_network` has how many units there are then. The
        greatest depth gives the best estimate, unless the link limits it.
        """
        alone = self.latency("03-latency", "read")
        for depth in sorted(jobs.DEPTHS, reverse=True):
            name = f"04-depth-{depth}"
            if alone is None or not self.has(name):
                continue
            rate = float(self.entry(name, "read")["iops"])
            limit = self.entry("02-read", "read")["bw"] / 4 if self.has("02-read") else math.inf
            work = rate * alone / 1e6
            if rate < LINKED * limit and work < FULL * depth:
                return Value.within(units_of(work, depth), AGAIN * depth / (depth - work), name)
        return None

    def rates(self) -> list[SteadyRow]:
        """Return latencies at given rates as rows of steady state."""
        rows = []
        for name in (f"11-rate-{rate}" for rate in jobs.RATES):
            if not self.has(name):
                continue
            found = {f"{way}s": float(self.entry(name, way)["iops"]) for way in ("read", "write")}
            for way, at in itertools.product(("read", "write"), ("50", "99")):
                if (us := self.latency(name, way, at)) is not None:
                    found[f"{way[0]}_p{at}"] = us
            figures = _values({key: at for key, at in found.items() if at > 0}, name)
            if {"reads", "writes"} <= figures.keys():
                about = (name, steady_rows.LATENCY, 1.0, "random order", None)
                rows.append(SteadyRow(*about, figures, 4096))
        return rows

    def fill(self) -> SteadyRow | None:
        """Return the fill as a row of steady state; None if not measured."""
        if (log := self.log("01-fill")) is None:
            return None
        gb, seconds = log
        found = {"steady": float(gb[-1] * 1e3 / seconds[-1])}
        if (waf := self.waf("01-fill")) is not None:
            found["waf"] = waf
        about = ("01-fill", steady_rows.FILL, 1.0, "erased, empty", 32)
        return SteadyRow(*about, _values(found, "01-fill"), jobs.BLOCK)


def _values(found: Mapping[str, float], source: str) -> dict[str, Value]:
    """Return the figures of a job, which may differ in another run of it."""
    return {key: Value.within(at, AGAIN, source) for key, at in found.items()}


def drive_of(folder: Path) -> Drive:
    """Read the results of the jobs, for a fit.

    Raises `UserError`: probe.json is wrong, or there are no results.
    """
    found = Probed(folder)
    about = found.about
    path = folder / ABOUT
    nand = str(about.get("nand") or "")
    cell = measurements.cell_in(nand)
    if cell is None:
        raise UserError(f"{path}: nand {nand!r} cannot be used\n  allowed: TLC or QLC, to fill in")
    drive = Drive(about.get("model") or folder.resolve().name, found.capacity, cell, nand)
    drive.interface = about.get("interface")
    fill = folder / "01-fill_bw.1.log"
    if not fill.is_file():
        raise UserError(
            f"{fill}: no such file; job 01-fill writes it, and its job file has the fio command"
        )
    drive.fill = found.log("01-fill") or measurements.fio_log(fill)
    measurements.cliff(drive, plateaus(*drive.fill), fill.name)
    if found.has("02-read"):
        rate = found.rate("02-read", "read")
        drive.values["read_mbps"] = Value.within(rate, AGAIN, "02-read.json")
    if (us := found.latency("03-latency", "read")) is not None:
        drive.values["read_us"] = Value.within(us, AGAIN, "03-latency.json")
    if not found.takes_more(drive):
        # The first plateau is what the write buffer took.
        for key in ("cache_gb", "cache_mbps", "after_mbps", "second_gb", "second_mbps"):
            drive.values.pop(key, None)
    table = found.map_cache
    measured = {
        "buffer_bytes": found.buffer,
        "link_mbps": found.link,
        "map_share": table.share if table else None,
        "units": found.units(),
    }
    drive.values |= {key: value for key, value in measured.items() if value is not None}
    if "cache_gb" in drive.values:
        _take_rests(drive, found)
    else:
        drive.rows = [row for row in (found.fill(), found.uniform(), *found.rates()) if row]
        drive.flash = drive
        steady_rows.summarize(drive)
        unit, drive.unknown["unit_share"] = found.unit
        if unit is not None:
            drive.values["unit_share"] = unit
    if table is not None:
        # Latencies at a rate are those of hits and misses.
        drive.values["read_us"] = Value.within(table.hit_us, AGAIN, "hits of 05-span")
    return drive


def _take_rests(drive: Drive, found: Probed) -> None:
    """Determine delay and rate of recovery, and from them the static part of the cache."""
    backs = found.rests()
    if (recovered := rests.recovery(backs)) is None:
        return
    drive.values["idle_s"], drive.values["idle_mbps"] = after, rate = recovered
    wrote = jobs.AFTER * found.capacity / 1e9
    if (static := rests.static_of_full(backs, after.value, rate.value, wrote)) is not None:
        drive.values["static_gb"] = static
    back = found.behind("13-half", jobs.HALF)
    # If idle time did not empty the cache, its size on a half-full drive is not known.
    if back is None or after.value + back[0] * 1e3 / rate.value > jobs.HALF_REST:
        return
    cache, off = drive.values["cache_gb"].value, max(back[1], AGAIN * back[0])
    drive.values["half_gb"] = Value.around(back[0], off, "13-half")
    if "static_gb" in drive.values:
        return
    if (part := rests.static_part(cache, back[0], found.capacity / 1e9, jobs.HALF)) is not None:
        part = max(0.0, part)
        low, high = max(0.0, part - 2 * off), part + 2 * off
        drive.values["static_gb"] = Value(part, low, high, "13-half")


def write_about(folder: Path, capacity: int, known: Mapping[str, object]) -> None:
    """Write probe.json atomically."""
    text = json.dumps({"capacity_bytes": capacity, **known}, indent=2) + "\n"
    write_whole(folder / ABOUT, text.encode())


def fit_command(folder: Path) -> str:
    """Return the command that fits a device file to the results in a folder."""
    return f"wordline device fit {shlex.quote(str(folder))} -o mine.toml"


def lacks(folder: Path) -> list[str]:
    """Return what a fit needs and probe.json does not state yet."""
    about = read_about(folder / ABOUT)
    return [key for key in ("nand", "interface") if about.get(key) is None]
