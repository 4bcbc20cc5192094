"""Print the tables of docs/real-drives.md: the built-in drives, measured and modelled.

python -m wordline_lab.real_drives [cliffs|states|steady|skew] [--devices DIR] [--drive NAME]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from wordline import Run, UserError, page, toml
from wordline.real import controller_time, copied_pages, fit, measurements, steady_fit, steady_rows
from wordline.real.bench import Bench
from wordline.real.measurements import Drive, Value
from wordline.real.result import overhead_in
from wordline.real.steady_model import SteadyModel
from wordline.real.steady_rows import LATENCY, UNIFORM, ZONES, SteadyRow, take_unit

CLIFF_HEADS = ["device", "SLC cache, GB", "in it, MB/s", "past it, MB/s", "whole fill, MB/s"]
CLIFF_HEADS += ["random reads, kIOPS", "random writes, kIOPS"]
CACHE_HEADS = ["device", "state", "SLC cache, GB"]
WRITE_HEADS = [
    "device",
    "row",
    "fill, MB/s",
    "knee, drive writes",
    "at 1 drive write, MB/s",
    "steady, MB/s",
    "WAF",
]
ZONE_HEADS = ["device", "zone, GiB", "WAF"]
READ_HEADS = ["device", "writes/s", "read p50, us", "read p99, us", "write p50, us"]
SKEW_HEADS = ["device", "zipf, theta", "copies together, MB/s", "apart, MB/s"]

#: Reads a file of `devices/` by its path there.
Files = Callable[[str], str | None]


def builtin(path: str) -> str | None:
    """Return the text of a built-in file."""
    return toml.builtin(f"devices/{path}")


def folder(at: Path) -> Files:
    """Return a function that reads the files of a folder such as `devices/` of a clone."""

    def text(path: str) -> str | None:
        file = at / path
        return file.read_text(encoding="utf-8") if file.is_file() else None

    return text


def cell(found: float, stated: float | None, fitted: bool = False) -> str:
    """Return a figure of the model with the measured one, and the error."""
    if stated is None:
        return f"{found:,.4g}"
    text = f"{stated:,.4g} → {found:,.4g} ({100 * (found / stated - 1):+.1f} %)"
    return f"*{text}*" if fitted else text


def cliffs(only: Sequence[str] | None = None, files: Files = builtin) -> list[list[str]]:
    """Simulate the fill of each drive with an SLC cache; return the rows of the table."""
    table, known = _table("cliffs.csv", files)
    found = []
    for line in table.rows:
        file = files(f"{line['device']}.toml")
        if file is None or (only is not None and line["device"] not in only):
            continue
        drive = known[line["model"]]
        figures = fit.cliff_of(file, drive, Run.seed)
        gb, seconds, _ = Bench.of(file, fit.SIZE, Run.seed).fill(1.0)
        whole = float(line["whole_fill_average_MBps"]) if line["whole_fill_average_MBps"] else None
        stated = [drive.values[k].value for k in ("cache_gb", "cache_mbps", "after_mbps")]
        cells = [cell(f, s, True) for f, s in zip(figures, stated, strict=True)]
        cells.append(cell(float(gb[-1] * 1e3 / seconds[-1]), whole))
        found.append([line["device"], *cells, *random(drive, file)])
    return found


def random(drive: Drive, file: str) -> list[str]:
    """Simulate what a maker states of random reads and writes; return both cells."""
    bench = Bench.of(file, fit.simulated_size(drive), Run.seed)
    cache, cells = drive.values["cache_gb"].value, dict.fromkeys(controller_time.WAYS, "")
    for one in controller_time.rated(drive):
        found = controller_time.modelled(one, bench, cache)
        cells[one.way] = cell(found, one.kiops.value, True)
    return list(cells.values())


def _table(name: str, files: Files) -> tuple[measurements.Table, dict[str, Drive]]:
    """Return a table of measurements, and its drives by name."""
    table = measurements.Table(name, files(f"measured/{name}") or "")
    return table, steady_rows.drives([table])


@dataclass(frozen=True)
class State:
    """A drive after an idle time or partly full, and its SLC cache then according to a review."""

    device: str
    #: The state in words, and the initial state of a run.
    words: str
    initial: str = "fresh"
    rest_s: float = 0.0
    #: GB of cache, measured or in words.
    stated: float | None = None
    says: str = ""


#: From the pages named in `cliffs.csv`.
STATES = (
    State("intel-660p-1tb", "80 % full", "fill:80%,order=seq", 0.0, 12.0),
    *(
        State("samsung-840-evo-1tb", f"full cache, then {rest} s of rest", rest_s=rest, says=says)
        for rest, says in ((10, "in part"), (15, "sometimes 12"), (20, "often 12"), (25, "12"))
    ),
    State("samsung-980-pro-1tb", "full cache, then 1 s of rest", rest_s=1, says="some"),
    State("adata-atom-50-1tb", "full cache, then 10 s of rest", rest_s=10, says="full speed"),
)


def states(only: Sequence[str] | None = None, files: Files = builtin) -> list[list[str]]:
    """Simulate partly full drives and drives after idle times; return the rows of the table."""
    table, known = _table("cliffs.csv", files)
    drives = {row["device"]: known[row["model"]] for row in table.rows}
    found = []
    for state in STATES:
        file = files(f"{state.device}.toml")
        if file is None or (only is not None and state.device not in only):
            continue
        values = drives[state.device].values
        cache, fast, slow = (values[k].value for k in ("cache_gb", "cache_mbps", "after_mbps"))
        bench = Bench.of(file, fit.simulated_size(drives[state.device]), Run.seed)
        gb = bench.behind(
            state.initial,
            1.3 * cache,
            (fast * slow) ** 0.5,
            before_gb=1.3 * cache if state.rest_s else 0.0,
            rest_s=state.rest_s,
        )
        shown = f"{state.says} → {gb:,.3g}" if state.says else cell(gb, state.stated)
        found.append([state.device, state.words, shown])
    return found


@dataclass(frozen=True)
class Steady:
    """A drive of `enterprise.csv`, its rows, and its device file as a model."""

    device: str
    #: Its name in the table.
    name: str
    drive: Drive
    model: SteadyModel
    #: Figures of the model, by load.
    kept: dict[str, dict[str, float]] = field(default_factory=dict)

    def writes(self) -> list[list[str]]:
        """Return the rows of the table of writes: each uniform row, with the fill at the first."""
        fill = self.drive.values.get("fill_mbps")
        own = not self.drive.has_flash_of_another
        shown = cell(self.model.fill_mbps(), fill.value, own) if fill else ""
        found = []
        for row in self.drive.rows:
            if row.kind == UNIFORM:
                figures = [self._cell(row, key) for key in ("knee", "dw1", "steady", "waf")]
                found.append([self.device, self._words(row), shown, *figures])
                shown = ""
        return found

    def reads(self) -> list[list[str]]:
        """Return the rows of the table of latencies, up to a third of saturation."""
        found = []
        for row in steady_fit.low_rates(self.drive):
            figures = [self._cell(row, key) for key in ("r_p50", "r_p99", "w_p50")]
            found.append([self.device, f"{row.figures['writes'].value:,.0f}", *figures])
        return found

    def zones(self) -> list[list[str]]:
        """Return the rows of the table of zones."""
        take_unit(self.drive)
        return [
            [self.device, f"{row.zone / 2**30:g}", self._cell(row, "waf")]
            for row in sorted(self.drive.rows, key=lambda row: row.zone)
            if row.kind == ZONES
        ]

    def _words(self, row: SteadyRow) -> str:
        before = {"fresh": "from empty", "random": "after random fill"}
        words = next((w for key, w in before.items() if key in row.initial), "")
        share = f"{100 * row.share:.0f} % used" if row.share < 0.995 else ""
        return ", ".join(filter(None, [row.name.partition("-")[0], self.name, share, words]))

    def _cell(self, row: SteadyRow, key: str) -> str:
        stated: Value | None = row.figures.get(key)
        found = self._figures(row).get(key)
        if stated is None or found is None:
            # A WAF without the drive's own overhead cannot be compared.
            lacks = key == "waf" and self.model.overhead == 1.0
            return "" if found is None or lacks else cell(found, None)
        return cell(found, stated.value, key in steady_fit.uses(row, self.drive))

    def _figures(self, row: SteadyRow) -> dict[str, float]:
        # Rows that differ only in their name are one run.
        rate = row.figures["writes"] if row.kind == LATENCY else ""
        load = f"{row.kind} {row.share} {row.initial} {row.depth} {rate} {row.zone}"
        if load not in self.kept:
            self.kept[load] = self.model.figures(row)
        return self.kept[load]


def steady(only: Sequence[str] | None = None, files: Files = builtin) -> Iterator[Steady]:
    """Return each drive of `enterprise.csv` that has a device file."""
    table, known = _table("enterprise.csv", files)
    devices = {row["drive"]: row["device"] for row in table.rows}
    for name, drive in known.items():
        file = files(f"{devices[name]}.toml")
        if file is None or (only is not None and not {name, devices[name]} & set(only)):
            continue
        model = SteadyModel(file, Run.seed, overhead_in(file) or 1.0)
        yield Steady(devices[name], name, drive, model)


def skew(only: Sequence[str] | None = None, files: Files = builtin) -> list[list[str]]:
    """Simulate skewed writes in steady state; return the rows.

    Copied pages go to the blocks of host data or to their own.
    """
    found = []
    for drive in steady(only, files):
        steady_rows.take_copies(drive.drive)
        for row in drive.drive.rows:
            if row.kind != steady_rows.SKEWED:
                continue
            used = "steady" in steady_fit.uses(row, drive.drive)
            cells = []
            for kind in copied_pages.KINDS:
                figures = replace(drive.model, set={"gc.copies": kind}).figures(row)
                cells.append(cell(figures["steady"], row.figures["steady"].value, used))
            found.append([drive.device, f"{row.skew:g}", *cells])
    return found


def text(kind: str, files: Files, only: Sequence[str] | None) -> str:
    """Return the tables of a kind; none if it has no such drive.

    The kinds are ``cliffs``, ``states`` (SLC caches after idle times and on partly full drives),
    ``steady`` and ``skew`` (skewed writes).
    """
    if kind == "cliffs":
        rows = cliffs(only, files)
        return page.table(CLIFF_HEADS, rows, right=len(CLIFF_HEADS) - 1) if rows else ""
    if kind == "states":
        rows = states(only, files)
        return page.table(CACHE_HEADS, rows, right=1) if rows else ""
    if kind == "skew":
        rows = skew(only, files)
        return page.table(SKEW_HEADS, rows, right=3) if rows else ""
    drives = list(steady(only, files))
    if not drives:
        return ""
    writes = [row for drive in drives for row in drive.writes()]
    reads = [row for drive in drives for row in drive.reads()]
    above = page.table(WRITE_HEADS, writes, right=len(WRITE_HEADS) - 2)
    if zones := [row for drive in drives for row in drive.zones()]:
        above += f"\n{page.table(ZONE_HEADS, zones, right=2)}"
    return f"{above}\n{page.table(READ_HEADS, reads, right=len(READ_HEADS) - 1)}"


def tables_of(kinds: Sequence[str], files: Files, only: Sequence[str] | None) -> str:
    """Return the tables of several kinds.

    Raises `UserError`: no drive has that name.
    """
    found = [shown for kind in kinds if (shown := text(kind, files, only))]
    if not found:
        raise UserError(
            f"unknown drive {', '.join(only or [])}\n  allowed: a name in the column device of "
            "devices/measured/cliffs.csv or enterprise.csv, or in the column drive of the latter"
        )
    return "\n".join(found)


KINDS = ("cliffs", "states", "steady", "skew")


def main(words: list[str]) -> int:
    """Print the tables that are asked for; return 0, or 2 where a word is wrong."""
    parser = argparse.ArgumentParser("python -m wordline_lab.real_drives", description=__doc__)
    parser.add_argument("kind", nargs="?", choices=KINDS, help="all if not given")
    parser.add_argument("--devices", type=Path, help="folder of device files; the built-in ones")
    parser.add_argument("--drive", action="append", help="device or drive; all if not given")
    given = parser.parse_args(words)
    files = folder(given.devices) if given.devices else builtin
    try:
        print(tables_of([given.kind] if given.kind else KINDS, files, given.drive), end="")
    except UserError as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
