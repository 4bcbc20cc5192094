"""Schemes in Python that several files of tests have."""

from dataclasses import replace

import wordline as wl

SMALL = {"device": "fair-tlc", "workload": "uniform:requests=3000"}


MINE = """
import wordline as wl


class Mine(wl.Scheme):
    size = wl.Param(8 * wl.KiB, "a size")

    def layout(self, drive):
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        if self.size == 1:
            raise ValueError("one")
        return wl.to("slc", "dense") if p.is_host else wl.to("dense")
"""


class SmallFirst(wl.Scheme):
    """SLC for small writes only."""

    threshold = wl.Param(16 * wl.KiB, "largest write that goes to SLC")

    def layout(self, drive):
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        small = p.is_host and p.bytes <= self.threshold
        return wl.to("slc", "dense") if small else wl.to("dense")


class Wrong(wl.Scheme):
    """Does what the test says."""

    what = wl.Param("nothing", "what it does wrong")
    kept = None

    def layout(self, drive):
        if self.what == "refuse":
            raise wl.Refused("it does not like this drive")
        if self.what == "layout":
            return "no layout"
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        if self.what == "raise" and p.lpn > 10:
            raise ZeroDivisionError("of my own")
        if self.what == "attribute":
            self.counter = 1
        if self.what == "view":
            view.free_blocks("slcc", 0)
        if self.what == "plane":
            view.free_blocks("slc", 8)
        if self.what == "outlives":
            if Wrong.kept is not None:
                Wrong.kept.now  # noqa: B018
            Wrong.kept = view
        return {"region": wl.to("nowhere"), "type": "slc"}.get(self.what, wl.to("dense"))


def made(**hooks):
    """Return a scheme with these hooks over a plain SLC cache."""
    plain = {
        "layout": lambda self, drive: replace(wl.Layout.slc_cache(drive), tick_every_writes=10),
        "place": lambda self, p, view: wl.to("slc", "dense"),
    }
    return type("Made", (wl.Scheme,), plain | hooks)


RESTS = {"device": "fair-tlc", "workload": "bursty:bursts=5,quiet=1s", "requests": 300}
