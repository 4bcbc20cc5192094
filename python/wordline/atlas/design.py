"""What the atlas runs: drives, workloads, conditions, and the runs of a condition.

A condition is one level of each factor: load, workload, fill, age and SLC cache. Not every
combination is run. The table of conditions has every level of a factor equally often, and every
pair of levels of two factors as equally often as its length allows.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from math import prod
from typing import Any

import wordline
from wordline import Run, UserError
from wordline.quantity import in_bytes

#: The factors, in the order of a condition, and what each is called.
FACTORS = {
    "load": "load",
    "workload": "workload",
    "fill": "holds data",
    "age": "age",
    "cache": "SLC cache",
}

#: The loads: how the client asks, and what it is called. Of an open loop the share of what the
#: baseline sustains; of bursts their size over the SLC cache and the rest after each.
CLOSED_DEPTH = 8
OPEN = {"open-10": 0.1, "open-30": 0.3, "open-60": 0.6, "open-90": 0.9}
BURSTS = {
    "burst-small-1s": (0.5, "1s"),
    "burst-small-10min": (0.5, "10min"),
    "burst-large-1s": (2.0, "1s"),
    "burst-large-10min": (2.0, "10min"),
}
THINK = "5ms"
LOADS = {
    "closed": f"closed loop, {CLOSED_DEPTH} at a time",
    **{name: f"open loop at {share:.0%} of the plain drive" for name, share in OPEN.items()},
    "burst-small-1s": "bursts of half the SLC cache, rests of 1 s",
    "burst-small-10min": "bursts of half the SLC cache, rests of 10 min",
    "burst-large-1s": "bursts of twice the SLC cache, rests of 1 s",
    "burst-large-10min": "bursts of twice the SLC cache, rests of 10 min",
    "think": f"{CLOSED_DEPTH} clients that think for {THINK}",
}
#: Requests outstanding where it is measured what the plain drive sustains.
SUSTAINED_DEPTH = 32

#: Shares of the logical capacity that hold data, and of the pages of written blocks that are valid
#: then: little more flash than the logical capacity has been written since it was erased.
FILLS = {"30%": "29%", "60%": "58%", "90%": "87%"}

#: Shares of the endurance of the densest mode that are used.
AGES = {"new": 0.0, "half": 0.5, "nine-tenths": 0.9}
#: How long the data have lain, at every age.
RETENTION = "30d"

#: What the SLC cache of the device file becomes: all static, or a third of it, and the rest
#: dynamic. A scheme that has no dynamic cache keeps the static one.
CACHES = {"static": None, "dynamic": (1, 3)}

#: How many times as long the runs of a condition become where too few are stationary.
LONGER = 4

#: Modes of cells, as a resolved device lists them.
MODES = ("slc", "mlc", "tlc", "qlc")


def names(kinds: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return what the levels of each factor are called; `kinds` says what workloads are like."""
    return {
        "load": dict(LOADS),
        "workload": {name: f"{name}: {kind}" if kind else name for name, kind in kinds.items()},
        "fill": {fill: f"{fill} of the capacity holds data" for fill in FILLS},
        "age": {
            "new": "new",
            "half": "half of its life used",
            "nine-tenths": "nine tenths of its life used",
        },
        "cache": {"static": "static", "dynamic": "dynamic, where the scheme has one"},
    }


@dataclass(frozen=True)
class Condition:
    """One level of each factor, by name."""

    load: str
    workload: str
    fill: str
    age: str
    cache: str

    def at(self) -> tuple[str, ...]:
        """Return the levels in the order of the factors."""
        return astuple(self)

    def __str__(self) -> str:
        """Say it in words."""
        cache = "" if self.cache == "static" else f", {self.cache} cache"
        return f"{self.load}, {self.workload}, {self.fill} full, {self.age}{cache}"


@dataclass(frozen=True)
class Drive:
    """A drive of the atlas, and what runs on it."""

    #: What it is called.
    name: str
    title: str
    device: str  #: Of every scheme that has no other in ``schemes``.
    dense: str  #: The densest mode, which ages.
    endurance: int  #: Cycles of that mode; 0 if the device file has none, and then it does not age.
    baseline: str  #: The scheme over which figures are given.
    #: Device and spelling of each scheme by its label, the baseline first.
    schemes: Mapping[str, tuple[str, str]]
    cache_bytes: int  #: What a static SLC cache takes, in bytes as SLC; 0 without one.
    cache_blocks: int  #: Its blocks per plane.
    capacity: int  #: What the host can address, in bytes.
    #: Changes of the device that every run has, in pairs of key and value.
    settings: tuple[tuple[str, str], ...] = ()
    #: Device and spelling of schemes that run beside the others, by label; no best is chosen among
    #: them.
    further: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def spelled(self) -> dict[str, tuple[str, str]]:
        """Device and spelling of all that runs, by label."""
        return {**self.schemes, **self.further}


@dataclass(frozen=True)
class Design:
    """All that an atlas runs."""

    title: str  #: What the page is called.
    #: What is combined: each condition on each drive.
    drives: Sequence[Drive]
    conditions: Sequence[Condition]
    #: Spelling of each workload by its name, with a place for the load's options.
    workloads: Mapping[str, str]
    kinds: Mapping[str, str]  #: What each workload is like, in words.
    seeds: int  #: How many seeds each scheme runs with, from 1.
    requests: Mapping[str, int]  #: Of the runs of each workload.
    #: What becomes of requests beyond the drive, where the workload does not say it.
    fit: str | None = None
    #: Of each factor those that are run.
    levels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Up to which seed the best two schemes of a condition run that are not apart with ``seeds``.
    most_seeds: int = 0
    #: How many times as long the runs of a condition become where too few are stationary.
    longer: int = LONGER
    #: Whether the workloads are as long as they are: what is asked is what these requests come to.
    is_finite: bool = False

    @property
    def longest(self) -> int:
        """How many times as long the runs of a condition may become."""
        return 1 if self.is_finite else self.longer

    def condition_count(self) -> int:
        """Return how many conditions there are on all drives."""
        return len(self.conditions) * len(self.drives)


#: Options of a trace that say how fast it comes, which the loads of an atlas do.
PACES = ("closed", "speedup", "think", "burst", "rest")


def of_workload(
    workload: str,
    device: str,
    *,
    schemes: Sequence[str],
    seeds: int,
    requests: int,
    most_seeds: int = 0,
) -> Design:
    """Return a design for one workload on one drive: every load with every fill.

    Age and cache take turns. Requests beyond the drive wrap around, unless the workload's own
    ``fit=`` says otherwise.

    Raises `UserError`: device or workload is wrong, or the workload has a pace of its own.
    """
    own = {w.name for w in wordline.workloads() if not w.name.startswith("twin:")}
    if workload.partition(":")[0] in own or workload.partition(":")[0].endswith(".fio"):
        raise UserError(
            f"--workload {workload}: it sets its own rate, but an atlas sets the rate of its "
            "loads\n  allowed: a trace or a twin\n  hint: `wordline list workloads` names the twins"
        )
    if paces := [f"{key}=" for key in PACES if has_option(workload, key)]:
        raise UserError(
            f"--workload {workload}: an atlas sets the rate of its loads, and so does "
            f"{' and '.join(paces)}\n  allowed: the workload without it"
        )
    name = workload.split(":")[0].rsplit("/", 1)[-1] if "/" in workload else workload
    drive = drive_of(
        device.rsplit("/", 1)[-1].removesuffix(".toml"), {"device": device, "schemes": schemes}
    )
    caches = list(CACHES) if drive.cache_blocks >= 3 else ["static"]
    ages = list(AGES) if drive.endurance else ["new"]
    rows = [
        Condition(load, name, fill, ages[(i + j) % len(ages)], caches[(i + j) % len(caches)])
        for (i, load), (j, fill) in itertools.product(enumerate(LOADS), enumerate(FILLS))
    ]
    levels = (list(LOADS), [name], list(FILLS), ages, caches)
    return Design(
        title=f"{name} on {drive.name}",
        drives=[drive],
        conditions=rows,
        workloads={name: workload},
        kinds={name: ""},
        seeds=seeds,
        requests={name: requests},
        fit=None if has_option(workload, "fit") else "wrap",
        most_seeds=most_seeds,
        levels=dict(zip(FACTORS, levels, strict=True)),
    )


def drive_of(name: str, text: Mapping[str, Any]) -> Drive:
    """Return a drive from its device file and from what a file says of it.

    That is ``device`` and ``schemes`` (names, or tables with ``label``, ``device`` and ``scheme``),
    perhaps ``title`` and ``baseline``.
    """
    device = text["device"]
    baseline = text.get("baseline", "conventional")
    schemes: dict[str, tuple[str, str]] = {}
    for scheme in text["schemes"]:
        own: Mapping[str, Any] = scheme if isinstance(scheme, Mapping) else {"label": scheme}
        schemes[own["label"]] = (own.get("device", device), own.get("scheme", own["label"]))
    if baseline not in schemes:
        schemes = {baseline: (device, baseline), **schemes}
    probe = Run(device=device, scheme=schemes[baseline][1], workload="uniform:requests=1")
    found = probe.identity()["device"]
    medium = found["media"][0]
    modes = {name: m for name, m in zip(MODES, medium["modes"], strict=True) if m}
    dense, mode = list(modes.items())[-1]
    cache = found.get("slc_cache") or {}
    planes = prod(medium["topology"].values())
    blocks = int(cache.get("static_blocks", 0))
    block = medium["wordlines_per_block"] * in_bytes(medium["page"])
    logical = found["capacity"].get("logical")
    return Drive(
        name=name,
        title=text.get("title", name),
        device=device,
        dense=dense,
        endurance=int(mode["endurance"]),
        baseline=baseline,
        schemes=schemes,
        cache_bytes=blocks * planes * block,
        cache_blocks=blocks,
        capacity=in_bytes(logical)
        if logical
        else probe.do().to_dict()["capacity"]["logical_bytes"],
        settings=() if found.get("errors") else (("errors.model", "raro"),),
    )


@dataclass(frozen=True)
class Rates:
    """What was measured of a drive before its conditions are run."""

    #: Requests a second of a workload at the times that it brings; 0 if it brings none.
    natural: float
    sustained: float  #: Requests a second that the baseline completes with many outstanding.


class NoTimes(UserError):
    """A load of the workload's own times, of a workload that has none."""


def options(condition: Condition, drive: Drive, rates: Rates | None) -> str:
    """Return the options that make a workload the load of a condition.

    Raises `NoTimes`: an open loop of a workload without times.
    """
    load = condition.load
    if load in OPEN:
        if rates is None or not rates.natural:
            raise NoTimes(f"{condition.workload} has no times, so it has no open loop")
        return f"speedup={_number(OPEN[load] * rates.sustained / rates.natural)}"
    closed = f"closed={CLOSED_DEPTH}"
    if load in BURSTS:
        share, rest = BURSTS[load]
        cache = drive.cache_bytes or drive.capacity // 20
        return f"{closed},burst={int(share * cache)}B,rest={rest}"
    return f"{closed},think={THINK}" if load == "think" else closed


def initial(condition: Condition, drive: Drive) -> str:
    """Return the initial state of a condition."""
    state = f"fill:{condition.fill},valid={FILLS[condition.fill]},order=random"
    cycles = round(AGES[condition.age] * drive.endurance)
    worn = f"+pe:{drive.dense}={cycles}" if cycles else ""
    return f"{state}{worn}+retention:{RETENTION}"


def settings(
    condition: Condition, drive: Drive, device: str, *, fixed: bool = False
) -> tuple[tuple[str, str], ...]:
    """Return the changes of a device under a condition; `fixed` keeps its cache static."""
    share = CACHES[condition.cache]
    has_cache = device == drive.device and drive.cache_blocks
    if share is None or fixed or not has_cache:
        return drive.settings
    static = max(1, drive.cache_blocks * share[0] // share[1])
    blocks = {"static": static, "dynamic": drive.cache_blocks - static}
    changed = ((f"slc_cache.{part}_blocks", str(count)) for part, count in blocks.items())
    return (*drive.settings, *changed)


def run(
    design: Design,
    drive: Drive,
    condition: Condition,
    label: str,
    seed: int,
    rates: Rates | None,
    *,
    fixed: bool = False,
    times: int = 1,
) -> Run:
    """Return one run of a condition, this many times as long; `fixed` keeps the cache static."""
    device, scheme = drive.spelled[label]
    return Run(
        device,
        scheme,
        workload(design, drive, condition, rates),
        seed,
        times * design.requests[condition.workload],
        set=settings(condition, drive, device, fixed=fixed),
        initial=initial(condition, drive),
        fit=design.fit,
    )


def workload(design: Design, drive: Drive, condition: Condition, rates: Rates | None) -> str:
    """Return the workload of a condition as its runs spell it; raises as `options`."""
    return with_options(design.workloads[condition.workload], options(condition, drive, rates))


def with_options(workload: str, more: str) -> str:
    """Return a workload's spelling with further options."""
    _, colon, last = workload.rpartition(":")
    return f"{workload}{',' if colon and '=' in last else ':'}{more}"


def has_option(workload: str, key: str) -> bool:
    """Whether a workload's spelling sets an option.

    >>> has_option("a=b/trace.csv:fit=compact", "fit"), has_option("fit=a/trace.csv:loops=2", "fit")
    (True, False)
    """
    _, colon, last = workload.rpartition(":")
    return bool(colon) and any(part.partition("=")[0] == key for part in last.split(","))


def _number(value: float) -> str:
    """Write a factor with four digits and no exponent."""
    text = f"{value:.{max(0, 4 - len(str(int(value))))}f}" if value >= 1 else f"{value:.9f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
