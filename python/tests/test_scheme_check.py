"""`wl.check`: does it find what is wrong with a scheme in Python?"""

import random
import sys
import warnings
from dataclasses import replace

import pytest

import wordline as wl
from schemes import made
from wordline import random_drives
from wordline.examples.slc_cache import SlcCachePy


class Lsb(wl.Scheme):
    """Asks for a type of page that blocks programmed in order do not tell apart."""

    asked = wl.State(0)

    def layout(self, drive):
        return wl.Layout.one_region(drive, rule="sequential")

    def place(self, p, view):
        self.asked += 1
        return wl.to("dense", slot="lsb" if self.asked > 9 else "next")


class Raises(SlcCachePy):
    """Raises on full drives."""

    def place(self, p, view):
        if p.is_collected:
            raise LookupError("of my own")
        return super().place(p, view)


class Throws(wl.Scheme):
    """It throws dice of its own."""

    def layout(self, drive):
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        ways = ("slc", "dense") if p.is_host and random.random() < 0.5 else ("dense",)
        return wl.to(*ways)


def test_scheme_that_is_random_is_called_so():
    with pytest.raises(wl.Fault) as told:
        wl.check(Throws, cases=30, power_cuts=0, states=0, progress=False)
    text = str(told.value)
    assert text.startswith("Throws is not deterministic: runs of the same requests")
    assert "hint: draw numbers from a generator that seed(seed) makes" in text
    assert "on the random drive of seed " in text


def test_check_runs_a_scheme_on_random_drives():
    found = wl.check(SlcCachePy, cases=60, power_cuts=0, states=0, seed=7)
    assert found == wl.check(SlcCachePy, cases=60, power_cuts=0, states=0, seed=7)
    assert found.refused > 0, "some drives have no SLC mode"


def test_check_finds_broken_rule_and_replays():
    with pytest.raises(wl.Fault, match=r"illegal decision.*Lsb slots") as raised:
        wl.check(Lsb, cases=40)
    replay = str(raised.value).split("wordline.check(..., ")[1].split(")")[0]
    assert replay.endswith("cases=1, power_cuts=0, states=0")
    with pytest.raises(wl.Fault, match="Lsb slots"):
        wl.check(Lsb, cases=1, power_cuts=0, states=0, seed=int(replay.split("=")[1].split(",")[0]))


class Forgets(SlcCachePy):
    """Believes after a start that the drive is as it was when it was laid out."""

    blocks = wl.State([])

    def place(self, p, view):
        home = view.frontier("dense", 0)
        if not self.blocks:
            self.blocks = [view.now == 0]
        if not self.blocks[0] and home is not None:
            raise LookupError("of a start")
        return super().place(p, view)


def test_check_cuts_power_and_restarts_scheme():
    found = wl.check(SlcCachePy, cases=0, power_cuts=20, states=0)
    assert found == wl.check(SlcCachePy, cases=0, power_cuts=20, states=0)
    assert found.power_cuts > 20
    with pytest.raises(LookupError, match="of a start") as raised:
        wl.check(Forgets, cases=0, power_cuts=20)
    if sys.version_info >= (3, 11):
        note = raised.value.__notes__[-1]
        assert "drive with power cuts" in note
        seed = int(note.split("seed=")[1].split(",")[0])
        with pytest.raises(LookupError, match="of a start"):
            wl.check(Forgets, cases=0, power_cuts=1, seed=seed)


def test_check_goes_through_states_of_a_small_drive():
    found = wl.check(SlcCachePy, cases=0, power_cuts=0, states=500)
    assert 500 <= found.states < 600
    with pytest.raises(wl.Fault, match=r"blocks x pages = 2x4x3, .*after\n   1 host: "):
        wl.check(Lsb, cases=0, power_cuts=0, states=20_000)


def test_check_raises_what_the_scheme_raises():
    with pytest.raises(LookupError, match="of my own") as raised:
        wl.check(Raises, cases=100)
    if sys.version_info >= (3, 11):
        assert "on the random drive of seed" in raised.value.__notes__[-1]
    with pytest.raises(wl.UserError, match="at least one of the first three"):
        wl.check(Raises, cases=0, power_cuts=0, states=0)


def test_check_warns_of_uncalled_hook():
    def never(self, view):
        raise RuntimeError

    def layout(self, drive):
        return replace(wl.Layout.slc_cache(drive), tick_every_writes=1_000_000)

    with pytest.warns(
        UserWarning,
        match=r"Made\.tick was never called on these small drives",
    ):
        wl.check(made(layout=layout, tick=never), cases=3, power_cuts=2, states=0)
    asked = made(tick=lambda self, view: [], admit=lambda self, request, view: 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wl.check(asked, cases=3, power_cuts=2, states=0)


def test_full_drive_lists_ignored_actions(capsys, monkeypatch):
    full = made(
        place=lambda self, p, view: wl.to("slc"),
        collect=lambda self, region, plane, view: wl.Collect("dense"),
    )
    told = r"OutOfSpace; .*; ignored scheme actions: .*collect_no_victim \d+"
    with pytest.raises(wl.Fault, match=told):
        wl.check(full, cases=5, power_cuts=0, states=0)
    monkeypatch.setattr(random_drives, "_EVERY", 0.01)
    wl.check(made(), cases=3, power_cuts=0, states=0)
    assert "of 3 random drives" in capsys.readouterr().err
    seen = []
    wl.check(made(), cases=2, power_cuts=1, states=0, progress=lambda *at: seen.append(at))
    assert seen[:2] == [("random drives", 0, 2), ("random drives", 1, 2)]
    assert ("drives with power cuts", 0, 1) in seen
