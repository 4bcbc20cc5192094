"""``wordline pick``: which drive suits a workload."""

from __future__ import annotations

import csv
import difflib
import io
import math
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from json import dumps
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

import wordline as wl
from wordline import Refused, UserError, _wordline, toml
from wordline.commands import SWEEP, command, tell
from wordline.drive import programmed_bytes
from wordline.implausible import quiet, warn_of
from wordline.quantity import in_bytes, in_us, significant
from wordline.real.result import FITTED, PUBLIC, overhead_in
from wordline.real.sheet import read, scaled, scheme_of
from wordline.runs import Stopped

#: Default number of requests.
REQUESTS = 100_000
#: Number of steps in which a run is examined.
STEPS = 200
#: The cache of a scaled-down drive holds at least this many times what the workload writes.
ROOM = 2.0
#: The smallest drive that is simulated, in bytes.
LEAST = 8e9
#: A p99 below this many times an assumed read time follows from it; a drive that writes past its
#: cache, or is saturated, has a longer one.
FOLLOWS = 10
YEAR_S = 365.25 * 86400


@dataclass(frozen=True)
class Choice:
    """A drive under the workload; ``None`` for an unknown figure."""

    drive: str
    #: Of reads and writes together, in us, and whether it follows from a read time that nobody
    #: measured.
    p99_us: float | None = None
    p99_is_assumed: bool = False
    #: Simulated seconds in which most writes bypassed the SLC cache, and all simulated seconds.
    past_cache_s: float | None = None
    seconds: float | None = None
    waf: float | None = None
    #: Drive writes per day at the rate of the workload.
    dwpd: float | None = None
    #: Years until the rated TBW is written at the rate of the workload.
    years: float | None = None
    #: Part of the drive that was simulated, and why a figure is missing.
    share: float | None = None
    note: str = ""


@command("pick", SWEEP, extra="fit")
def main(*, json: bool, **arguments: Any) -> None:
    """Do ``wordline pick``; in JSON unknown figures are null."""
    found = pick(**arguments, tell=tell)
    print(dumps([asdict(c) for c in found], indent=2) if json else terminal(found))


def measured_drives() -> list[str]:
    """Return the built-in devices that are fitted to measurements."""
    names = (d.name for d in wl.devices())
    return [n for n in names if PUBLIC in (toml.builtin(f"devices/{n}.toml") or "")]


def rated_tbw() -> dict[str, float]:
    """Return the rated TBW in bytes of the drives for which it is known."""
    text = toml.builtin("devices/measured/rated.csv") or ""
    return {r["device"]: float(r["rated_TBW"]) * 1e12 for r in csv.DictReader(io.StringIO(text))}


def pick(
    workload: str,
    *,
    drives: Sequence[str] = ("all",),
    requests: int | None = None,
    fit: str | None = None,
    fill: str = "50%",
    seed: int = _wordline.DEFAULT_SEED,
    traces: str | None = None,
    jobs: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Choice]:
    """Run a workload on drives and rank them by p99 latency.

    Arguments are as for `wordline.run`, with 100,000 requests by default. ``drives`` are built-in
    devices or device files, ``all`` means every measured device, and ``fill`` is the share of each
    that holds data before the first request. By default as many drives run in parallel as there
    are cores; `tell` receives a line of text after each.

    Returns the drives, best first; those that cannot run the workload are last. Raises `UserError`:
    the workload or a device is invalid.
    """
    names = [n for d in drives for n in (measured_drives() if d == "all" else [d])]
    if not names:
        raise UserError("no drive is named; allowed: names of devices, or all")
    rated = rated_tbw()
    count = requests or REQUESTS
    stop = Event()
    for name in names:
        if toml.builtin(f"devices/{name}.toml") is None and not Path(name).is_file():
            raise _unknown(name)
    _check_share(fill)
    if workload != "-":
        # What no drive can read is an error of the workload, and said once.
        first = wl.Run(names[0], "conventional", workload, seed, requests, fit=fit, traces=traces)
        first.identity()
    warn_of((name, ()) for name in names)

    def one(name: str) -> Choice:
        text, file = read(name)
        run = _Run(workload, count, fit, fill, seed, traces, stop)
        try:
            # Erases of a scaled drive are short.
            with quiet():
                found = run.on(name, file, rated.get(name))
            if FITTED in text.partition("\n")[0]:
                is_assumed = (found.p99_us or 0.0) < FOLLOWS * _assumed_read_us(text, file)
                # A drive that was fitted to rates states no overhead, so that no WAF is known.
                overhead, waf = overhead_in(text), found.waf
                waf = None if waf is None or overhead is None else waf * overhead
                found = replace(found, waf=waf, p99_is_assumed=is_assumed)
        except (UserError, Refused) as e:
            found = Choice(name, note=str(e).splitlines()[0])
        tell(f"{name}: {found.note or 'done'}")
        return found

    with ThreadPoolExecutor(jobs) as pool:
        try:
            found = list(pool.map(one, names))
        except BaseException:
            stop.set()  # Nobody waits for the drives that are running.
            raise
    if all(c.p99_us is None for c in found):
        raise UserError(f"no drive can take the workload; {found[0].drive}: {found[0].note}")
    return sorted(found, key=lambda c: (c.p99_us is None, c.p99_us or 0.0))


def _unknown(name: str) -> UserError:
    near = difflib.get_close_matches(name, [d.name for d in wl.devices()], n=1)
    meant = f'; did you mean "{near[0]}"?' if near else ""
    return UserError(
        f"--drives {name}: no built-in device or file of this name{meant}\n"
        "  hint: `wordline list devices` lists the built-in devices"
    )


def _check_share(fill: str) -> None:
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*(%?)", fill.strip())
    share = float(found[1]) / (100 if found[2] else 1) if found else math.inf
    if share > 1:
        meant = f"; write {found[1]}%" if found and not found[2] and share <= 100 else ""
        what = f"not a share of a drive{meant}\n  allowed: 0% to 100%, such as 50%"
        raise UserError(f"--fill {fill}: {what}")


def _assumed_read_us(text: str, file: dict[str, Any]) -> float:
    """Return the read time of the densest cells of a fitted file if no measurement has it, or 0."""
    (medium,) = file["medium"].values()
    cell = next(mode for mode in ("qlc", "tlc", "mlc", "slc") if mode in medium)
    lines = text.partition(f".{cell}]\n")[2].splitlines()
    line = next((line for line in lines if line.startswith("read =")), "")
    return in_us(medium[cell]["read"]) if "ASSUMED" in line else 0.0


@dataclass(frozen=True)
class _Run:
    """A workload to be run on a drive."""

    workload: str
    requests: int
    fit: str | None
    fill: str
    seed: int
    traces: str | None
    stop: Event  #: Set where nobody waits for the result.

    def on(self, name: str, file: dict[str, Any], tbw: float | None) -> Choice:
        """Run it on a small drive, and on a larger one if the small drive's cache is too small."""
        size = in_bytes(file["capacity"]["logical"])
        wanted = min(size, LEAST)
        while True:
            changes, by = scaled(file, wanted / size)
            state, scheme = f"fill:{self.fill}", scheme_of(file)
            try:
                drive = wl.Drive(
                    device=name, scheme=scheme, set=changes, seed=self.seed, initial=state
                )
                found, written, cache = self._once(name, file, drive, tbw)
            except UserError:
                # A trace may reach beyond a small drive and still fit the whole drive.
                if by == 1:
                    raise
                wanted = min(size, 8 * wanted)
                continue
            # A smaller cache fills earlier: the data written must fit as on the whole drive.
            if by == 1 or written * ROOM <= cache:
                return replace(found, share=1 / by)
            more = max(written * ROOM / max(cache, 1), 2.0)
            wanted = min(size, size / by * more * 1.05)

    def _once(
        self, name: str, file: dict[str, Any], drive: wl.Drive, tbw: float | None
    ) -> tuple[Choice, int, float]:
        has_cache = scheme_of(file) == "slc-cache"
        before = programmed_bytes(drive)
        cache = _cache_bytes(file, drive) if has_cache else float("inf")
        feed = drive.feed(
            self.workload, seed=self.seed, requests=self.requests, fit=self.fit, traces=self.traces
        )
        latency: list[float] = []
        written, failed, past, into = 0, 0, 0.0, _host(drive)
        start = then = drive.now_ns
        step = max(1, self.requests // STEPS)
        over = False
        while not over:
            if self.stop.is_set():
                raise Stopped
            over = feed.is_over
            ended = drive.run() if over else feed.step(step)
            latency += [c.latency_us for c in ended if c.op in ("read", "write")]
            failed += sum(c.outcome != "done" for c in ended)
            written += sum(c.bytes for c in ended if c.op == "write")
            now, host = max((c.end_ns for c in ended), default=then), _host(drive)
            if host[1] - into[1] > host[0] - into[0]:
                past += (now - then) / 1e9
            then, into = now, host
        if failed:
            raise UserError(f"{failed} requests fail: the drive is out of space or worn out")
        if not latency:
            raise UserError("the workload has no reads and writes")
        seconds = (then - start) / 1e9
        pace = written / seconds if seconds else 0.0
        choice = Choice(
            drive=name,
            p99_us=float(np.percentile(latency, 99)),
            past_cache_s=past if has_cache else 0.0,
            seconds=seconds,
            waf=(programmed_bytes(drive) - before) / written if written else None,
            dwpd=86_400 * pace / in_bytes(file["capacity"]["logical"]),
            years=tbw / pace / YEAR_S if tbw and pace else None,
        )
        return choice, written, cache


def _host(drive: wl.Drive) -> tuple[int, int]:
    """Return the host bytes programmed as SLC, and in denser cell modes."""
    found = [0, 0]
    for region in drive.look().to_dict()["regions"]:
        found[region["mode"] != "slc"] += region["programmed_bytes"].get("host", 0)
    return found[0], found[1]


def _cache_bytes(file: dict[str, Any], drive: wl.Drive) -> float:
    """Return the size of the SLC cache of a drive at its fill level."""
    held = drive.look()
    medium = next(iter(file["medium"].values()))
    cells = max(b for mode, b in (("mlc", 2), ("tlc", 3), ("qlc", 4)) if mode in medium)
    cache = file["slc_cache"]
    full = held.live_bytes / held.logical_bytes
    blocks = cache["static_blocks"] + cache.get("dynamic_blocks", 0) * (1 - full)
    return held.usable_bytes * blocks / medium["blocks_per_plane"] / cells


def terminal(found: Sequence[Choice]) -> str:
    """Return the table."""
    from wordline._terminal import lines

    def number(value: float | None, digits: int = 3, by: float = 1.0) -> str:
        return "not known" if value is None else significant(by * value, digits)

    heads = ["drive", "p99, µs", "past cache, %", "WAF", "writes/day", "TBW, years", "simulated, %"]
    rows = [
        [
            c.drive,
            "~" * c.p99_is_assumed + number(c.p99_us, 4),
            number(c.past_cache_s, by=100 / c.seconds if c.seconds else 0.0),
            "not known" if c.waf is None else f"{c.waf:.2f}",
            number(c.dwpd),
            number(c.years),
            number(c.share, by=100),
        ]
        for c in found
        if c.p99_us is not None
    ]
    text = lines(heads, rows)
    refused = [c for c in found if c.p99_us is None]
    if refused:
        text += "\n\nnot run:\n" + "".join(f"  {c.drive}: {c.note}\n" for c in refused)
    return text.rstrip() + ABOUT


ABOUT = (
    "\n\nRanked by p99 of reads and writes. ~: follows from the usual read time of such cells, "
    "which no\nmeasurement of that drive has; it does not tell two such drives apart, nor one of "
    "them from a drive below\na millisecond."
    "\nPast cache: time in which most writes bypassed the SLC cache. WAF: of this run, which may "
    "end before GC\nbegins. Writes/day: drive writes. TBW: the rated one at this rate. Not known: "
    "no measurement identifies\nit, or no rating is on record."
    "\nEach drive is simulated in proportion: its cache holds twice what is written, or it is "
    "whole."
)
