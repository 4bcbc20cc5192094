"""What a probe measured, shown: its figures, the nearest known drive, and what is not known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wordline import UserError, toml
from wordline.quantity import gigabytes, significant
from wordline.real import jobs, measurements, steady_rows
from wordline.real.measurements import Value
from wordline.real.probed import Probed, drive_of, fit_command

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
        text = significant(self.value)
        return text if self.off is None else f"{text} ± {self.off:,.2g}"


def readings(found: Probed) -> Iterator[Reading]:
    """Yield all measured figures, in the order of the jobs."""
    gb = found.capacity / 1e9

    def latencies(name: str, way: str, what: str) -> Iterator[Reading]:
        for at, label in (("mean", "mean"), ("99", "p99")):
            if (us := found.latency(name, way, at)) is not None:
                yield Reading(name, f"{what}, {label}", "us", us)

    def share(name: str, what: str, of: Value | None) -> Iterator[Reading]:
        if of is not None:
            yield Reading(name, what, "GB", of.value * gb, (of.high - of.value) * gb)

    for number, plateau in enumerate(found.plateaus, 1):
        yield Reading("01-fill", f"plateau {number} ends", "GB", plateau.end_gb)
        yield Reading("01-fill", f"plateau {number}", "MB/s", plateau.mb_per_s)
    if (waf := found.waf("01-fill")) is not None:
        yield Reading("01-fill", "WAF", "", waf)
    if found.has("02-read"):
        yield Reading("02-read", "sequential read", "MB/s", found.rate("02-read", "read"))
    yield from latencies("03-latency", "read", "4 KiB read at QD1")
    for depth in jobs.DEPTHS:
        if found.has(name := f"04-depth-{depth}"):
            iops = found.entry(name, "read")["iops"]
            yield Reading(name, f"4 KiB reads at QD{depth}", "IOPS", iops)
    for span in jobs.SPANS:
        yield from latencies(f"05-span-{span}", "read", f"4 KiB read over {span} % of the drive")
    cache = found.map_cache
    yield from share("05-span", "L2P cache covers", cache.share if cache else None)
    for rest in jobs.RESTS:
        if (back := found.behind(name := f"06-rest-{rest}", jobs.BURST)) is not None:
            yield Reading(name, f"SLC cache after {rest} s of rest", "GB", *back[:2])
    yield from latencies("07-read-burst", "read", "4 KiB read after a burst")
    yield from latencies("08-ack", "write", "4 KiB write at QD1")
    yield from latencies("08-sync", "write", "4 KiB write at QD1, flushed")
    if (uniform := found.uniform()) is not None:
        for key, job, what, unit in (
            ("knee", "09-uniform", "rate falls after", "drive writes"),
            ("dw1", "09-uniform", "at 1 drive write", "MB/s"),
            ("steady", "09-uniform", "steady", "MB/s"),
            ("waf", "10-steady", "WAF, steady", ""),
        ):
            if key in uniform.figures:
                yield Reading(job, what, unit, uniform.figures[key].value)
    for row in found.rates():
        rate = row.figures["writes"].value
        for key, what in (("r_p50", "read p50"), ("r_p99", "read p99"), ("w_p50", "write p50")):
            if key in row.figures:
                at = f"{what} at {rate:,.0f} writes/s"
                yield Reading(row.name, at, "us", row.figures[key].value)
    for number in jobs.ZONES:
        name, what = f"12-zones-{number}", f"writes of 1/{number} of the drive"
        if (waf := found.waf(name)) is not None:
            yield Reading(name, f"WAF of {what}", "", waf)
        if found.has(name):
            yield Reading(name, what, "MB/s", found.rate(name, "write"))
    yield from share("12-zones", "unit of GC", found.unit[0])
    if (back := found.behind("13-half", jobs.HALF)) is not None:
        yield Reading("13-half", "SLC cache at half full", "GB", *back[:2])
    if (buffer := found.buffer) is not None:
        off = buffer.high - buffer.value
        yield Reading("14-buffer", "write buffer", "MB", buffer.value / 1e6, off / 1e6)


def nearest(found: Probed) -> tuple[str, str] | None:
    """Return the most similar measured drive, and its distance.

    The distance is the mean of the logarithms of ratios over all figures that both drives state, at
    least three. A drive that differs by more than a factor of two is not similar.
    """
    try:
        drive = drive_of(found.folder)
    except UserError:
        return None
    mine = {key: value.value for key, value in drive.values.items() if value.value > 0}
    mine["capacity_gb"] = found.capacity / 1e9
    best: tuple[float, str, str] | None = None
    for file in ("cliffs.csv", "enterprise.csv"):
        text = toml.builtin(f"devices/measured/{file}") or ""
        for drive in steady_rows.drives([measurements.Table(file, text)]).values():
            other = {key: value.value for key, value in drive.values.items()}
            other["capacity_gb"] = drive.capacity / 1e9
            both = sorted(key for key in mine if key in other)
            if len(both) < 3:
                continue
            off = sum(abs(math.log(mine[key] / other[key])) for key in both) / len(both)
            if off < math.log(2) and (best is None or off < best[0]):
                how = f"{len(both)} figures differ by a factor of {math.exp(off):.2f}"
                best = (off, drive.name, how)
    return None if best is None else best[1:]


def _rows(found: Probed) -> list[list[str]]:
    return [[r.job, r.what, r.unit, str(r)] for r in readings(found)]


def _missing(found: Probed) -> list[str]:
    lines = [f"{name}: the drive throttled itself meanwhile" for name in found.throttled]
    shown = {reading.job for reading in readings(found)}
    why = (
        "no figure: its log is too short or too coarse, there is no SLC cache, or the write buffer "
        "took all of it"
    )
    done = {job.name: job for job in jobs.JOBS if job.name not in found.throttled}
    lines += [f"{name}: {why}" for name in done if found.has(name) and name not in shown]
    return lines + [f"{n}: not run: {j.purpose}" for n, j in done.items() if not found.has(n)]


def terminal(folder: Path) -> str:
    """Return the measurements, the most similar known drive, and what is not known."""
    from wordline._terminal import lines

    found = Probed(folder)
    text = lines(HEADS, _rows(found), left=(0, 1, 2))
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
    facts = [("capacity", gigabytes(found.capacity))]
    for key in ("nand", "interface", "firmware", "lba_bytes", "kernel", "fio"):
        if about.get(key):
            facts.append((key.replace("_", " "), str(about[key])))
    return pages.write(text, folder, facts=facts, command=fit_command(folder))
