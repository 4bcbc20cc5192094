"""What schemes in Python decide beforehand, or compiled, comes to what is asked each time."""

import dataclasses

import numpy as np
import pytest

import wordline as wl
from schemes import SMALL, SmallFirst
from wordline import routes
from wordline.examples.slc_cache import SlcCachePy


class Beforehand(SlcCachePy):
    """The cache, decided beforehand."""

    def routes(self):
        return {"host": wl.to("slc", "dense"), "collected": wl.to("dense")}

    def place(self, p, view):
        raise AssertionError("all of it is decided beforehand")


class SmallBeforehand(SmallFirst):
    name = "small-beforehand"

    def routes(self):
        small = wl.BySize([(self.threshold, wl.to("slc", "dense"))], wl.to("dense"))
        return {"host": small, "collected": wl.to("dense")}


class Halves(wl.Scheme):
    """The first pages of the drive in SLC, the more the longer it runs."""

    ticks = wl.State(0)

    def layout(self, drive):
        self.pages = drive.logical_pages
        found = wl.Layout.slc_cache(drive)
        return dataclasses.replace(found, tick_every_writes=100)

    def border(self):
        return self.pages * min(self.ticks, 8) // 16

    def tick(self, view):
        self.ticks += 1
        return []

    def place(self, p, view):
        in_slc = p.is_host and p.lpn < self.border()
        return wl.to("slc", "dense") if in_slc else wl.to("dense")


class HalvesBeforehand(Halves):
    def routes(self):
        classes = np.ones(self.pages, dtype=np.uint8)
        classes[: self.border()] = 0
        return {"host": wl.ByPage(classes, [wl.to("slc", "dense"), wl.to("dense")])}


@pytest.mark.parametrize(
    ("asked", "beforehand"),
    [(SlcCachePy, Beforehand), (SmallFirst, SmallBeforehand), (Halves, HalvesBeforehand)],
)
def test_routes_equal_place(asked, beforehand):
    how = {"device": "fair-tlc", "workload": "twin:hm_0:closed=8", "requests": 4000, "fit": "wrap"}
    runs = [wl.run(scheme=s, initial="fill:60%", **how) for s in (asked, beforehand)]
    assert runs[0].result_hash == runs[1].result_hash
    drive = wl.Drive(device="fair-tlc", scheme=beforehand, initial="fill:60%")
    drive.play(how["workload"], requests=2000, fit="wrap", keep=True)
    forks = [drive.fork().play("uniform", requests=500) for _ in range(2)]
    assert forks[0].result_hash == forks[1].result_hash
    wl.check(beforehand, cases=10, states=1000)


def warm(heat, lpn, size, region, now):
    """Send small data that are written for the third time to the cache."""
    heat[lpn] += 1
    return 0 if heat[lpn] > 2 and size <= 16384 else 1


class Warm(wl.Scheme):
    """Pages that are written often in SLC."""

    heat = wl.State()

    def layout(self, drive):
        self.heat = np.zeros(drive.logical_pages, np.int64)
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        if p.is_host and warm(self.heat, p.lpn, p.bytes, -1, view.now) == 0:
            return wl.to("slc", "dense")
        return wl.to("dense")


class WarmCompiled(Warm):
    def routes(self):
        places = [wl.to("slc", "dense"), wl.to("dense")]
        return {"host": wl.Compiled(warm, places, self.heat), "collected": wl.to("dense")}


@pytest.mark.parametrize("by", ["numba", "python"])
def test_compiled_routes_equal_place(by, tmp_path, monkeypatch):
    if by == "numba":
        pytest.importorskip("numba", reason="needs pip install '.[compiled]'")
    else:
        monkeypatch.setattr(routes, "_wants_python", [None])
    # A drive of a quarter of the size, whose cache is full after a fifth of the requests.
    small = {"medium.flash.blocks_per_plane": 28, "capacity.logical": "200MiB"}
    small |= {"slc_cache.static_blocks": 2}
    workload = "zipf:bs=16KiB,qd=8"
    how = {"device": "fair-tlc", "workload": workload, "requests": 6000, "set": small}
    asked = wl.run(scheme=Warm, **how)
    assert wl.run(scheme=WarmCompiled, **how).result_hash == asked.result_hash
    assert asked.flash.programs["migration"]["program"] > 0
    # What it has learnt is the drive's own: saved with it, and copied for each fork.
    later = []
    for scheme in (Warm, WarmCompiled):
        state = tmp_path / f"{scheme.__name__}.state"
        wl.run(scheme=scheme, save_state=state, **how)
        drive = wl.Drive(device="fair-tlc", scheme=scheme, set=small)
        drive.play(workload, requests=6000, keep=True)
        forks = [drive.fork().play(workload, requests=4000, seed=2) for _ in range(2)]
        later.append(
            [wl.run(scheme=scheme, from_state=state, **how).result_hash]
            + [fork.result_hash for fork in forks]
        )
    assert later[0] == later[1]
    assert later[0][1] == later[0][2]
    how = {"cases": 10, "power_cuts": 5, "states": 500}
    assert wl.check(WarmCompiled, **how) == wl.check(WarmCompiled, **how)


def test_a_compiled_decision_that_goes_wrong_is_told():
    def beyond(heat, lpn, size, region, now):
        return heat[lpn + 1_000_000_000]

    def seven(heat, lpn, size, region, now):
        return 7

    def opens(heat, lpn, size, region, now):
        return open("x")

    def under(decide, memory):
        class Wrong(Warm):
            def routes(self):
                return {"host": wl.Compiled(decide, [wl.to("dense")], memory(self))}

        return Wrong

    for memory, message in (
        (lambda self: [0], "allowed: a one-dimensional array of int64"),
        (lambda self: self.heat[::2], "is not contiguous"),
        (lambda self: self.heat.astype(np.float64), "allowed: a one-dimensional array of int64"),
    ):
        with pytest.raises((wl.UserError, wl.Refused), match=message):
            wl.run(scheme=under(seven, memory), **SMALL)
    wrong = {decide: under(decide, lambda self: self.heat) for decide in (beyond, seven, opens)}
    with pytest.raises(wl.UserError, match="is 7\n  allowed: 0 to 0"):
        wl.run(scheme=wrong[seven], **SMALL)
    with pytest.raises(IndexError, match="out of bounds"):
        wl.check(wrong[beyond], cases=2)
    pytest.importorskip("numba", reason="needs pip install '.[compiled]'")
    with pytest.raises(wl.UserError, match=r"raised an exception\n  hint: wordline\.check"):
        wl.run(scheme=wrong[beyond], **SMALL)
    with pytest.raises((wl.UserError, wl.Refused), match="numba cannot compile opens"):
        wl.run(scheme=wrong[opens], **SMALL)


@pytest.mark.parametrize(
    ("decided", "message"),
    [
        ([], "routes\\(\\) did not return a dictionary"),
        ({"hots": wl.to("dense")}, "allowed: host, sealed, collected, moved"),
        ({"host": "dense"}, "routes.. has an invalid rule"),
        ({"host": wl.to("sparse")}, "unknown region"),
        (
            {"host": wl.BySize([(9, wl.to("dense")), (9, wl.to("slc"))], wl.to("dense"))},
            "the sizes of wl.BySize must ascend",
        ),
        (
            {"host": wl.ByPage(np.zeros(3, np.uint8), [wl.to("dense")])},
            "allowed: one byte for each of the",
        ),
    ],
)
def test_a_decision_that_is_none_is_told(decided, message):
    class Wrong(SlcCachePy):
        pass

    Wrong.routes = lambda self: decided
    with pytest.raises((wl.UserError, wl.Refused), match=message):
        wl.run(scheme=Wrong, **SMALL)
