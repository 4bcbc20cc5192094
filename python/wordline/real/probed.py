"""Results of a probe's jobs: read, shown, and compared with known drives."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from wordline import UserError, toml
from wordline.real import jobs, measurements, rests, show, steady_rows, tables
from wordline.real.closed_network import units_of
from wordline.real.curve import Plateau, plateaus
from wordline.real.map_cache import Lookup, MapCache, map_cache
from wordline.real.measurements import Drive, Value
from wordline.real.on_drive import throttled
from wordline.real.rests import Back
from wordline.real.steady_model import LAST, curve_figures
from wordline.real.steady_rows import SteadyRow
from wordline.real.write_buffer import write_buffer

#: The file that describes a drive and its jobs.
ABOUT = "probe.json"
#: Share by which two runs of a job may differ.
AGAIN = 0.02
#: Data written after an idle time count as the cache's while the rate is above this share of the
#: rate in the cache.
FAST = 0.7
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
#: Heads of the table of measurements.
HEADS = ["job", "figure", "unit", "measured"]


@dataclass(frozen=True)
class Reading:
    """A figure that a job measured."""

    job: str
    what: str
    unit: str
    value: float
    #: Uncertainty, if the log is coarse.
    off: float | None = None

    def __str__(self) -> str:
        """As ``0.053 ± 0.02``: four digits; large numbers without decimals."""
        text = f"{self.value:,.4g}" if abs(self.value) < 1e4 else f"{self.value:,.0f}"
        return text if self.off is None else f"{text} ± {self.off:,.2g}"


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
        """Return gigabytes and seconds from a job's log; None if it has too few lines."""
        file = self.folder / f"{name}_bw.1.log"
        if not self.has(name) or not file.is_file():
            return None
        lines = file.read_text(encoding="utf-8").splitlines()
        return measurements.fio_log(file) if len(lines) >= LINES else None

    def waf(self, name: str) -> float | None:
        """Return the WAF of a job by the drive's counters, if it has counters of bytes."""
        counted = self.counters.get(name) or {}
        sides = [counted.get(side, {}).get("media_bytes") for side in ("before", "after")]
        if None in sides or not self.has(name):
            return None
        host = sum(entry["write"]["io_bytes"] for entry in self.entries(name))
        waf = (sides[1] - sides[0]) / host if host else 0.0
        return float(waf) if waf > LEAST_WAF else None

    def _latency(self, name: str, way: str, at: str = "mean") -> float | None:
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
    def readings(self) -> list[Reading]:
        """All measured figures, in the order of the jobs."""
        return list(self._readings())

    def _readings(self) -> Iterator[Reading]:
        yield from self._of_fill()
        yield from self._of_reads()
        for rest in jobs.RESTS:
            name = f"06-rest-{rest}"
            if (back := self._behind(name, jobs.BURST)) is not None:
                yield Reading(name, f"SLC cache after {rest} s of rest", "GB", *back[:2])
        yield from self._single("07-read-burst", "read", "4 KiB read after a burst")
        yield from self._single("08-ack", "write", "4 KiB write at QD1")
        yield from self._single("08-sync", "write", "4 KiB write at QD1, flushed")
        yield from self._of_random()
        if (back := self._behind("13-half", jobs.HALF)) is not None:
            yield Reading("13-half", "SLC cache at half full", "GB", *back[:2])
        if (found := self.buffer) is not None:
            off = found.high - found.value
            yield Reading("14-buffer", "write buffer", "MB", found.value / 1e6, off / 1e6)

    def _single(self, name: str, way: str, what: str) -> Iterator[Reading]:
        for at, label in (("mean", "mean"), ("99", "p99")):
            if (us := self._latency(name, way, at)) is not None:
                yield Reading(name, f"{what}, {label}", "us", us)

    def _of_fill(self) -> Iterator[Reading]:
        for number, plateau in enumerate(self.plateaus, 1):
            yield Reading("01-fill", f"plateau {number} ends", "GB", plateau.end_gb)
            yield Reading("01-fill", f"plateau {number}", "MB/s", plateau.mb_per_s)
        if (waf := self.waf("01-fill")) is not None:
            yield Reading("01-fill", "WAF", "", waf)

    def _of_reads(self) -> Iterator[Reading]:
        if self.has("02-read"):
            yield Reading("02-read", "sequential read", "MB/s", self.rate("02-read", "read"))
        yield from self._single("03-latency", "read", "4 KiB read at QD1")
        for depth in jobs.DEPTHS:
            name = f"04-depth-{depth}"
            if self.has(name):
                iops = self.entry(name, "read")["iops"]
                yield Reading(name, f"4 KiB reads at QD{depth}", "IOPS", iops)
        for span in jobs.SPANS:
            yield from self._single(
                f"05-span-{span}", "read", f"4 KiB read over {span} % of the drive"
            )
        if (cache := self.map_cache) is not None:
            size, gb = cache.share, self.capacity / 1e9
            off = size.high - size.value
            yield Reading("05-span", "L2P cache covers", "GB", size.value * gb, off * gb)

    def _of_random(self) -> Iterator[Reading]:
        uniform = self.uniform()
        if uniform is not None:
            for key, what, unit in (
                ("knee", "rate falls after", "drive writes"),
                ("dw1", "at 1 drive write", "MB/s"),
                ("steady", "steady", "MB/s"),
                ("waf", "WAF, steady", ""),
            ):
                if key in uniform.figures:
                    job = "10-steady" if key == "waf" else "09-uniform"
                    yield Reading(job, what, unit, uniform.figures[key].value)
        for row in self.rates():
            for key, what in (("r_p50", "read p50"), ("r_p99", "read p99"), ("w_p50", "write p50")):
                if key in row.figures:
                    rate = row.figures["writes"].value
                    yield Reading(
                        row.name, f"{what} at {rate:,.0f} writes/s", "us", row.figures[key].value
                    )
        for zone in jobs.ZONES:
            name = f"12-zone-{zone}"
            if (waf := self.waf(name)) is not None:
                yield Reading(name, f"WAF of writes of {zone} MiB", "", waf)
            if self.has(name):
                yield Reading(name, f"writes of {zone} MiB", "MB/s", self.rate(name, "write"))

    @cached_property
    def map_cache(self) -> MapCache | None:
        """The L2P cache that reads over growing spans show; None if they show none."""
        found = []
        for span in jobs.SPANS:
            name = f"05-span-{span}"
            if (us := self._latency(name, "read")) is not None:
                reads = int(self.entry(name, "read")["total_ios"])
                found.append(Lookup(span / 100, us, reads))
        return map_cache(found)

    @cached_property
    def buffer(self) -> Value | None:
        """The bytes that the write buffer takes; None if a burst did not show them."""
        log = self.log("14-buffer")
        return None if log is None else write_buffer(*log)

    def rests(self) -> list[Back]:
        """Return what a full cache recovered in each idle time."""
        found = []
        for rest in jobs.RESTS:
            if (back := self._behind(f"06-rest-{rest}", jobs.BURST)) is not None:
                found.append(Back(rest, *back))
        return found

    def _behind(self, name: str, at: float) -> tuple[float, float, bool] | None:
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
        slow = [i for i in behind[1:] if rates[i] < FAST * first[0].mb_per_s]
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
        log = self.log("09-uniform")
        if log is None:
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
        figures = {key: self._value(value, "09-uniform") for key, value in found.items()}
        step = float(np.diff(gb).max() / used)
        return SteadyRow(
            "09-uniform", steady_rows.UNIFORM, 1.0, "sequential", 128, figures, 4096, step
        )

    def units(self) -> Value | None:
        """Return the number of units that sense in parallel; None if not measured.

        By Little's law the rate times the service time of a read is the mean number of busy units,
        and a single read takes that time. `closed_network` has how many units there are then. The
        greatest depth gives the best estimate, unless the link limits it.
        """
        alone = self._latency("03-latency", "read")
        for depth in sorted(jobs.DEPTHS, reverse=True):
            name = f"04-depth-{depth}"
            if alone is None or not self.has(name):
                continue
            rate = float(self.entry(name, "read")["iops"])
            limit = self.entry("02-read", "read")["bw"] / 4 if self.has("02-read") else math.inf
            work = rate * alone / 1e6
            if rate < LINKED * limit and work < FULL * depth:
                found, off = units_of(work, depth), AGAIN * depth / (depth - work)
                return Value(found, (1 - off) * found, (1 + off) * found, name)
        return None

    def rates(self) -> list[SteadyRow]:
        """Return latencies at given rates as rows of steady state."""
        rows = []
        for rate in jobs.RATES:
            name = f"11-rate-{rate}"
            if not self.has(name):
                continue
            found = {f"{way}s": float(self.entry(name, way)["iops"]) for way in ("read", "write")}
            for way in ("read", "write"):
                for at in ("50", "99"):
                    if (us := self._latency(name, way, at)) is not None:
                        found[f"{way[0]}_p{at}"] = us
            figures = {key: self._value(value, name) for key, value in found.items() if value > 0}
            if {"reads", "writes"} <= set(figures):
                rows.append(
                    SteadyRow(name, steady_rows.LATENCY, 1.0, "random order", None, figures, 4096)
                )
        return rows

    def fill(self) -> SteadyRow | None:
        """Return the fill as a row of steady state; None if not measured."""
        log = self.log("01-fill")
        if log is None:
            return None
        gb, seconds = log
        found = {"steady": float(gb[-1] * 1e3 / seconds[-1])}
        if (waf := self.waf("01-fill")) is not None:
            found["waf"] = waf
        figures = {key: self._value(value, "01-fill") for key, value in found.items()}
        return SteadyRow("01-fill", steady_rows.FILL, 1.0, "erased, empty", 32, figures, jobs.BLOCK)

    @staticmethod
    def _value(value: float, source: str) -> Value:
        return Value(value, (1 - AGAIN) * value, (1 + AGAIN) * value, source)


def drive_of(folder: Path) -> Drive:
    """Read the results of the jobs, for a fit.

    Raises `UserError`: probe.json is wrong, or there are no results.
    """
    found = Probed(folder)
    about = found.about
    path = folder / ABOUT
    nand = str(about.get("nand"))
    cell = measurements.cell_in(nand)
    if cell is None:
        raise UserError(f"{path}: nand {nand!r}; allowed: TLC or QLC")
    drive = Drive(about.get("model") or folder.name, found.capacity, cell, nand)
    drive.interface = about.get("interface")
    fill = folder / "01-fill_bw.1.log"
    if not fill.is_file():
        raise UserError(
            f"{fill}: no such file; job 01-fill writes it, and its job file has the fio command"
        )
    measurements.take_log(drive, fill)
    if found.has("02-read"):
        drive.values["read_mbps"] = found._value(found.rate("02-read", "read"), "02-read.json")
    if (us := found._latency("03-latency", "read")) is not None:
        drive.values["read_us"] = found._value(us, "03-latency.json")
    if (buffer := found.buffer) is not None:
        drive.values["buffer_bytes"] = buffer
        cache = drive.values.get("cache_gb")
        if cache is not None and 1e9 * cache.value < BUFFERS * buffer.value:
            # The first plateau is what the write buffer took.
            for key in ("cache_gb", "cache_mbps", "after_mbps", "second_gb", "second_mbps"):
                drive.values.pop(key, None)
    if (table := found.map_cache) is not None:
        drive.values["read_us"] = found._value(table.hit_us, "hits of 05-span")
        drive.values["map_share"] = table.share
    if (units := found.units()) is not None:
        drive.values["units"] = units
    if "cache_gb" in drive.values:
        _take_rests(drive, found)
    else:
        rows = [found.fill(), found.uniform(), *found.rates()]
        drive.rows = [row for row in rows if row is not None]
        drive.flash = drive
        steady_rows.summarize(drive)
    return drive


def _take_rests(drive: Drive, found: Probed) -> None:
    """Determine delay and rate of recovery, and from them the static part of the cache."""
    backs = found.rests()
    recovered = rests.recovery(backs)
    if recovered is None:
        return
    drive.values["idle_s"], drive.values["idle_mbps"] = after, rate = recovered
    wrote = jobs.AFTER * found.capacity / 1e9
    static = rests.static_of_full(backs, after.value, rate.value, wrote)
    if static is not None:
        drive.values["static_gb"] = static
    back = found._behind("13-half", jobs.HALF)
    # If idle time did not empty the cache, its size on a half-full drive is not known.
    if back is None or after.value + back[0] * 1e3 / rate.value > jobs.HALF_REST:
        return
    cache, off = drive.values["cache_gb"].value, max(back[1], AGAIN * back[0])
    drive.values["half_gb"] = Value(back[0], back[0] - off, back[0] + off, "13-half")
    if "static_gb" in drive.values:
        return
    part = rests.static_part(cache, back[0], found.capacity / 1e9, jobs.HALF)
    if part is not None:
        part = max(0.0, part)
        low, high = max(0.0, part - 2 * off), part + 2 * off
        drive.values["static_gb"] = Value(part, low, high, "13-half")


def write_about(folder: Path, capacity: int, known: Mapping[str, object]) -> None:
    """Write probe.json atomically."""
    text = json.dumps({"capacity_bytes": capacity, **known}, indent=2) + "\n"
    part = folder / f"{ABOUT}.part"
    part.write_text(text, encoding="utf-8")
    part.replace(folder / ABOUT)


def fit_command(folder: Path) -> str:
    """Return the command that fits a device file to the results in a folder."""
    return f"wordline device fit {shlex.quote(str(folder))} -o mine.toml"


def lacks(folder: Path) -> list[str]:
    """Return what a fit needs and probe.json does not state yet."""
    about = read_about(folder / ABOUT)
    return [key for key in ("nand", "interface") if about.get(key) is None]


# --- shown -----------------------------------------------------------------------------------


def nearest(found: Probed) -> tuple[str, str] | None:
    """Return the most similar measured drive, and its distance.

    The distance is the mean of the logarithms of ratios over all figures that both drives state, at
    least three. A drive that differs by more than a factor of two is not similar.
    """
    mine = _figures(found)
    best: tuple[float, str, str] | None = None
    for file in ("cliffs.csv", "enterprise.csv"):
        text = toml.builtin(f"devices/measured/{file}") or ""
        for drive in tables.drives([measurements.Table(file, text)]).values():
            other = {key: value.value for key, value in drive.values.items()}
            other["capacity_gb"] = drive.capacity / 1e9
            both = sorted(key for key in mine if key in other)
            if len(both) < 3:
                continue
            off = sum(abs(math.log(mine[key] / other[key])) for key in both) / len(both)
            if off < math.log(2) and (best is None or off < best[0]):
                best = (
                    off,
                    drive.name,
                    f"{len(both)} figures differ by a factor of {math.exp(off):.2f}",
                )
    return None if best is None else best[1:]


def _figures(found: Probed) -> dict[str, float]:
    try:
        drive = drive_of(found.folder)
    except UserError:
        return {}
    figures = {key: value.value for key, value in drive.values.items() if value.value > 0}
    figures["capacity_gb"] = found.capacity / 1e9
    return figures


def _rows(found: Probed) -> list[list[str]]:
    return [[r.job, r.what, r.unit, str(r)] for r in found.readings]


def _missing(found: Probed) -> list[str]:
    lines = [f"{name}: the drive throttled itself meanwhile" for name in found.throttled]
    shown = {reading.job for reading in found.readings}
    lines += [
        f"{job.name}: no figure: its log is too short or too coarse, there is no SLC cache, or the "
        "write buffer took all of it"
        for job in jobs.JOBS
        if found.has(job.name) and job.name not in shown
    ]
    lines += [
        f"{job.name}: not run: {job.purpose}"
        for job in jobs.JOBS
        if job.name not in found.throttled and not found.has(job.name)
    ]
    return lines


def terminal(folder: Path) -> str:
    """Return the measurements, the most similar known drive, and what is not known."""
    found = Probed(folder)
    text = show.lines(HEADS, _rows(found), left=(0, 1, 2))
    if (near := nearest(found)) is not None:
        text += f"\n\nnearest measured drive: {near[0]} ({near[1]} on average)"
    if missing := _missing(found):
        text += "\n\nnot known:\n" + "".join(f"  {line}\n" for line in missing)
    return text.rstrip()


def page(folder: Path) -> Path:
    """Write index.html to the folder of the jobs; return it."""
    from wordline import page as pages

    found = Probed(folder)
    about = found.about
    text = f"# {about.get('model') or folder.name}: measured\n\n"
    text += pages.table(HEADS, _rows(found), right=1)
    if (near := nearest(found)) is not None:
        text += f"\n## Nearest measured drive\n\n{near[0]}: {near[1]} on average.\n"
    if missing := _missing(found):
        text += "\n## Not known\n\n" + "".join(f"- {line}\n" for line in missing)
    facts = [("capacity", f"{found.capacity / 1e9:,.4g} GB")]
    for key in ("nand", "interface", "firmware", "lba_bytes", "kernel", "fio"):
        if about.get(key):
            facts.append((key.replace("_", " "), str(about[key])))
    command = fit_command(folder)
    return pages.write(text, folder, facts=facts, command=command)
