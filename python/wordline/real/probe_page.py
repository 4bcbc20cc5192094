"""What a probe measured, shown: its figures, the nearest known drive, and what is not known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wordline import UserError, toml
from wordline.real import jobs, measurements, show, tables
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
        text = f"{self.value:,.4g}" if abs(self.value) < 1e4 else f"{self.value:,.0f}"
        return text if self.off is None else f"{text} ± {self.off:,.2g}"


def readings(found: Probed) -> list[Reading]:
    """Return all measured figures, in the order of the jobs."""
    return list(_readings(found))


def _readings(found: Probed) -> Iterator[Reading]:
    yield from _of_fill(found)
    yield from _of_reads(found)
    for rest in jobs.RESTS:
        name = f"06-rest-{rest}"
        if (back := found.behind(name, jobs.BURST)) is not None:
            yield Reading(name, f"SLC cache after {rest} s of rest", "GB", *back[:2])
    yield from _single(found, "07-read-burst", "read", "4 KiB read after a burst")
    yield from _single(found, "08-ack", "write", "4 KiB write at QD1")
    yield from _single(found, "08-sync", "write", "4 KiB write at QD1, flushed")
    yield from _of_random(found)
    if (back := found.behind("13-half", jobs.HALF)) is not None:
        yield Reading("13-half", "SLC cache at half full", "GB", *back[:2])
    if (buffer := found.buffer) is not None:
        off = buffer.high - buffer.value
        yield Reading("14-buffer", "write buffer", "MB", buffer.value / 1e6, off / 1e6)


def _single(found: Probed, name: str, way: str, what: str) -> Iterator[Reading]:
    for at, label in (("mean", "mean"), ("99", "p99")):
        if (us := found.latency(name, way, at)) is not None:
            yield Reading(name, f"{what}, {label}", "us", us)


def _of_fill(found: Probed) -> Iterator[Reading]:
    for number, plateau in enumerate(found.plateaus, 1):
        yield Reading("01-fill", f"plateau {number} ends", "GB", plateau.end_gb)
        yield Reading("01-fill", f"plateau {number}", "MB/s", plateau.mb_per_s)
    if (waf := found.waf("01-fill")) is not None:
        yield Reading("01-fill", "WAF", "", waf)


def _of_reads(found: Probed) -> Iterator[Reading]:
    if found.has("02-read"):
        yield Reading("02-read", "sequential read", "MB/s", found.rate("02-read", "read"))
    yield from _single(found, "03-latency", "read", "4 KiB read at QD1")
    for depth in jobs.DEPTHS:
        name = f"04-depth-{depth}"
        if found.has(name):
            iops = found.entry(name, "read")["iops"]
            yield Reading(name, f"4 KiB reads at QD{depth}", "IOPS", iops)
    for span in jobs.SPANS:
        yield from _single(
            found, f"05-span-{span}", "read", f"4 KiB read over {span} % of the drive"
        )
    if (cache := found.map_cache) is not None:
        size, gb = cache.share, found.capacity / 1e9
        off = size.high - size.value
        yield Reading("05-span", "L2P cache covers", "GB", size.value * gb, off * gb)


def _of_random(found: Probed) -> Iterator[Reading]:
    uniform = found.uniform()
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
    for row in found.rates():
        for key, what in (("r_p50", "read p50"), ("r_p99", "read p99"), ("w_p50", "write p50")):
            if key in row.figures:
                rate = row.figures["writes"].value
                yield Reading(
                    row.name, f"{what} at {rate:,.0f} writes/s", "us", row.figures[key].value
                )
    yield from _of_zones(found)


def _of_zones(found: Probed) -> Iterator[Reading]:
    for number in jobs.ZONES:
        name = f"12-zones-{number}"
        if (waf := found.waf(name)) is not None:
            yield Reading(name, f"WAF of writes of 1/{number} of the drive", "", waf)
        if found.has(name):
            rate = found.rate(name, "write")
            yield Reading(name, f"writes of 1/{number} of the drive", "MB/s", rate)
    unit = found.unit[0]
    if unit is not None:
        gb = found.capacity / 1e9
        yield Reading(
            "12-zones", "unit of GC", "GB", unit.value * gb, (unit.high - unit.value) * gb
        )


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
    return [[r.job, r.what, r.unit, str(r)] for r in readings(found)]


def _missing(found: Probed) -> list[str]:
    lines = [f"{name}: the drive throttled itself meanwhile" for name in found.throttled]
    shown = {reading.job for reading in readings(found)}
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
