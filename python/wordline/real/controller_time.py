"""The time that a controller takes for each request, from the random IOPS that a maker states.

Such a figure is reached at a depth that keeps all units busy, from an erased drive, within its SLC
cache. So it states the interval at which the whole path takes or returns requests, of which the
transfer over the link is known. The rest occupies the link in the device file: requests pass it
one by one, at any depth. It does not say what a single request takes.
"""

from __future__ import annotations

from dataclasses import dataclass

from wordline.real import sheet
from wordline.real.bench import Bench
from wordline.real.measurements import Drive, Value
from wordline.real.sheet import Sheet

#: Bytes of a request, and outstanding requests where a maker states none: SATA has 32 at most.
BYTES, DEPTH, SATA_DEPTH = 4096, 256, 32
#: Share by which the model may miss a rate before another limit than this time explains it.
NEAR = 0.05
WAYS = ("read", "write")
#: Times in us of drives with SATA, of which no IOPS are stated. The link leaves little choice: the
#: 840 EVO takes 2.1 and 3.0 us, and the 870 QVO 1.9 and 3.0 us.
USUAL_SATA = {"read": 2.0, "write": 3.0}


@dataclass(frozen=True)
class Rated:
    """The random IOPS of a drive in one direction, in thousands, and at which queue depth."""

    way: str
    kiops: Value
    depth: int

    @property
    def what(self) -> str:
        """Its name among the figures of a fit."""
        return f"random {self.way}s at QD{self.depth}"

    def us(self, link_mbps: float) -> Value:
        """Return the time per request in addition to its transfer, in us; 0 if there is none."""
        transfer = BYTES / link_mbps
        return self.kiops.mapped(lambda rate: max(0.0, 1e3 / rate - transfer))


def rated(drive: Drive) -> list[Rated]:
    """Return what is stated of a drive."""
    usual = SATA_DEPTH if _has_sata(drive) else DEPTH
    stated = drive.values.get("random_depth")
    depth = usual if stated is None else round(stated.value)
    found = [(way, drive.values.get(f"random_{way}_kiops")) for way in WAYS]
    return [Rated(way, kiops, depth) for way, kiops in found if kiops is not None]


def put(text: Sheet, drive: Drive, link_mbps: float) -> None:
    """Give a device file the times of a drive's controller, as far as they are stated or usual."""
    # Sequential reads that were measured are the link's with what is assumed otherwise.
    if _has_sata(drive) and "read_mbps" not in drive.values:
        for way, us in USUAL_SATA.items():
            why = "ASSUMED: not identifiable; usual for SATA"
            text.put(f"host.{way}_overhead", sheet.time(us), why)
    for one in rated(drive):
        took, at = one.us(link_mbps), f"{one.kiops.value:g} kIOPS at QD{one.depth}"
        why = f"Rated, {at}: {took} us each, less transfer"
        text.put(f"host.{one.way}_overhead", sheet.time(took.value), why)


def _has_sata(drive: Drive) -> bool:
    return "sata" in (drive.interface or "").lower()


def single(drive: Drive) -> Value | None:
    """Return the single random reads per second that are stated of a drive, in thousands."""
    us = drive.values.get("read_us")
    if us is None or drive.rated_at is None:
        return None
    return us.mapped(lambda time: 1e3 / time)


def modelled(one: Rated, bench: Bench, cache_gb: float) -> float:
    """Return the thousands of IOPS of an erased drive within half of its SLC cache."""
    return bench.random_kiops(one.way == "read", one.depth, cache_gb / 2)


def unknown(one: Rated, found: float) -> str | None:
    """Say why the time is not identifiable, if the model misses the rate although it has it."""
    if found >= (1 - NEAR) * one.kiops.value:
        return None
    return (
        f"time of the controller per {one.way}: flash or link limit the model to {found:,.0f} "
        f"kIOPS, below the rated {one.kiops.value:g}"
    )


def doubt(text: Sheet, one: Rated) -> None:
    """Mark the time of a direction as a bound, since another limit is reached before it."""
    path = f"host.{one.way}_overhead"
    value, source = text.values[path]
    text.put(path, value, f"{source}; not identifiable, at most")
