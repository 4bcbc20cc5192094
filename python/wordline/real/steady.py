"""A drive without an SLC cache, fitted to sequential fills and to random writes in steady state."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from wordline import UserError
from wordline.real import sheet
from wordline.real.bench import Bench
from wordline.real.measurements import Drive, Value
from wordline.real.result import FitResult, Row, Tell, head
from wordline.real.sheet import Sheet

#: Logical bytes of the drive that a search simulates, its trials, and the sizes that are compared.
SIZE, TRIALS = 2e9, 36
#: The page that a mapping unit of 4 KiB fills: programs of whole pages are four of these.
UNIT = 4096


def mean_field(u: float) -> float:
    """Return the WAF of uniform writes where a share `u` of the flash holds data (0 to 1).

    A victim taken in the order of filling keeps a share m of its data, where u = (1 - m) / -ln m.
    """
    low, high = 1e-9, 1 - 1e-9
    for _ in range(80):
        m = (low + high) / 2
        low, high = (m, high) if (1 - m) / -math.log(m) < u else (low, m)
    return 1 / (1 - low)


def usable(drive: Drive) -> Value | None:
    """Return the flash that can hold data, in GB, from the knee of a drive; None without one."""
    known = [r for r in drive.uniform if r.knee is not None]
    if not known:
        return None
    row = max(known, key=lambda r: r.used_gb)
    assert row.knee is not None
    k = row.knee
    values = [row.used_gb * (1 + x) for x in (k.value, k.low, k.high)]
    return Value(
        *values, f"{k.source}: {row.used_gb:g} GB and {k.value:g} times that until the knee"
    )


def fitted(drive: Drive, name: str, seed: int, tell: Tell) -> FitResult:
    """Fit a drive to its fill and to random writes over most of it; the other rows judge it."""
    if "fill_mbps" not in drive.values:
        raise UserError(f"{drive.name}: no sequential fill is among the measurements")
    found = _Steady(drive, name, seed, tell)
    found.search()
    return found.result()


class _Steady:
    def __init__(self, drive: Drive, name: str, seed: int, tell: Tell) -> None:
        self.drive, self.name, self.seed, self.tell = drive, name, seed, tell
        self.flash = usable(drive)
        gb = self.flash.value if self.flash else drive.capacity * 1.0737 / 1e9
        self.fill = drive.values["fill_mbps"]
        link = sheet.link_of(drive.interface)
        bits = sheet.BITS[drive.cell]
        planes = self.fill.value * sheet.USUAL[drive.cell][1] / bits / sheet.PAGE
        self.shape = sheet.shape(drive.cell, link, gb * 1e9, planes, 1.0)
        #: Program of a wordline of 4 KiB pages, and time that moved data cost besides, in us.
        self.program = bits * self.shape.planes * UNIT / self.fill.value
        self.read = sheet.USUAL[drive.cell][0] / 4
        whole = [r for r in drive.uniform if r.used_gb <= drive.capacity / 1e9 * 1.001]
        self.target = max(whole, key=lambda r: r.used_gb) if whole else None

    def search(self) -> None:
        """Search for the times of programs and reads that give both rates."""
        from cmaes import CMA

        self.program *= self._fill() / self.fill.value
        if self.target is None:
            return
        optimizer = CMA(mean=np.zeros(2), sigma=0.15, seed=self.seed % 2**31, population_size=6)
        start = (self.program, self.read)
        best = (math.inf, *start)
        goal = self.target.mb_per_s.value
        for generation in range(TRIALS // 6):
            trials = []
            for _ in range(6):
                x = optimizer.ask()
                self.program, self.read = start[0] * math.exp(x[0]), start[1] * math.exp(4 * x[1])
                fill, rate = self._fill(), self._uniform(self.target.used_gb)[0]
                loss = math.log(fill / self.fill.value) ** 2 + math.log(rate / goal) ** 2
                best = min(best, (loss, self.program, self.read))
                trials.append((x, loss))
            optimizer.tell(trials)
            self.tell(f"generation {generation + 1}: off by {math.sqrt(best[0]):.2%}")
            if best[0] < 1e-4 or optimizer.should_stop():
                break
        _, self.program, self.read = best

    def _bench(self, used_gb: float | None = None, size: float = SIZE) -> Bench:
        text = self.sheet()
        if used_gb is not None:
            logical = round(used_gb * 1e9) // UNIT * UNIT
            text.put("capacity.logical", f"{logical}B", "Rows")
        whole = Bench.of(
            text.toml(),
            size * (1 if used_gb is None else used_gb * 1e9 / self.drive.capacity),
            self.seed,
        )
        return whole

    def _fill(self, size: float = SIZE) -> float:
        gb, seconds, _ = self._bench(size=size).fill(0.9)
        cut = len(gb) // 10
        return float((gb[-1] - gb[cut]) * 1e3 / (seconds[-1] - seconds[cut]))

    def _uniform(self, used_gb: float, size: float = SIZE) -> tuple[float, float]:
        """Return MB/s and WAF of random writes over a part of the drive, in steady state."""
        bench = self._bench(used_gb, size)
        report = bench.run("uniform:read=0%,bs=4KiB,qd=512,bytes=0.6x", "steady")
        return report.throughput.write_mb_per_s, report.waf.total

    def result(self) -> FitResult:
        """Return the file, and every row beside the model."""
        text = self.sheet()
        found = FitResult(self.drive, text)
        overhead = self.drive.values["fill_waf"].value if "fill_waf" in self.drive.values else 1.0
        found.rows.append(Row("sequential fill", "MB/s", self.fill, self._fill()))
        for row in self.drive.uniform:
            rate, waf = self._uniform(row.used_gb)
            what = f"random writes, {row.used_gb:g} GB"
            judged = "" if row is self.target else ", judged"
            found.rows.append(Row(what + judged, "MB/s", row.mb_per_s, rate))
            if row.waf is not None:
                found.rows.append(Row(f"{what}, judged", "WAF", row.waf, waf * overhead))
        found.unknown += [
            "channels, dies, planes, page size and program time: only their combined rate shows",
            "greedy or FIFO victims: uniform writes do not tell them apart",
            "read times but those of GC, unless reads were measured",
        ]
        if self.flash is None:
            found.unknown.append("usable flash: no knee after a sequential fill")
        if self.target is None:
            found.unknown.append("WAF: no random writes in steady state")
        return found

    def sheet(self) -> Sheet:
        """Return the device file of the present values."""
        drive, made = self.drive, self.shape
        sources = {
            "Rows": drive.address or "the measurements given",
            "Fit": "fitted: `wordline device fit` searched for what reproduces Rows",
            "Cap": f"the capacity in Rows, {drive.capacity / 1e9:g} GB",
            "Link": f"the interface in Rows, {drive.interface}",
        }
        lines = [*head(drive, sources), "", *NOT_MODELLED]
        about = (
            self.name,
            f"{drive.name}, {drive.capacity / 1e9:g} GB of {drive.cell.upper()}: no SLC cache",
        )
        text = sheet.base(made, drive.cell, drive.capacity, about, lines)
        flash, cell = "medium.flash.", drive.cell
        if self.flash:
            text.put(flash + "blocks_per_plane", made.blocks, f"Rows, usable flash {self.flash} GB")
        text.put(
            flash + "page", "4KiB", "ASSUMED: stands for four mapping units on a page of 16 KiB"
        )
        four = "ASSUMED: four times as many, as pages are of 4 KiB"
        text.put(flash + "wordlines_per_block", 4 * made.wordlines, four)
        text.put(
            f"{flash}{cell}.program",
            sheet.time(self.program),
            f"Fit: {self.fill} MB/s in a fill, of 4 KiB pages",
        )
        if self.target is not None:
            rate = self.target.mb_per_s
            text.put(
                f"{flash}{cell}.read",
                sheet.time(self.read),
                f"Fit: {rate} MB/s of random writes, of 4 KiB pages",
            )
        for key in list(text.values):
            if key.startswith("medium.flash.slc"):
                del text.values[key]
        text.put("mapping.unit", "4KiB", "ASSUMED: usual for enterprise drives")
        logical = drive.capacity // UNIT * UNIT
        text.put("capacity.logical", f"{logical}B", "Cap, in whole mapping units")
        pages = 8 * made.planes * sheet.BITS[cell]
        text.put(
            "ack.pages", pages, "ASSUMED: power-loss protection; several wordlines of every plane"
        )
        return replace(text)


NOT_MODELLED = (
    "Not modelled: parity across dies (media writes of the model times the overhead of a fill are",
    "the drive's), pacing by firmware, temperature, power states. Pages of 4 KiB stand for mapping",
    "units on larger ones.",
)
