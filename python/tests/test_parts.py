"""Schemes in Python that see parts of pages: maps, the merge buffer, sectors, channels, metrics."""

from dataclasses import replace
from typing import ClassVar

import pytest

import wordline as wl
from helpers import ROOT
from wordline.examples.slc_cache import SlcCachePy

GOLDEN = ROOT / "crates" / "run" / "tests" / "golden"
SMALL = {"device": "fair-tlc", "workload": "uniform:bs=4KiB", "requests": 500}


class Diagonal(wl.Scheme):
    """Pages along the diagonals, whose earlier bits are read again."""

    earlier_bits = wl.Param("reread", "where they are", ("buffered", "reread"))

    def layout(self, drive):
        return wl.Layout.one_region(
            drive, mode="tlc", rule="strict-diagonal", earlier_bits=self.earlier_bits
        )

    def place(self, p, view):
        return wl.to("dense")


def test_earlier_bits_are_read_again_as_in_rust():
    how = {"device": GOLDEN / "dynamic.toml", "requests": 2000}
    how["workload"] = "uniform:read=30%,qd=8"
    found = {}
    for bits, word in (("buffered", "on"), ("reread", "off")):
        rust = wl.run(scheme=f"conventional-tlc:mode=tlc,wordline_buffer={word}", **how)
        found[bits] = wl.run(scheme=Diagonal(earlier_bits=bits), **how).result_hash
        assert found[bits] == rust.result_hash
    assert found["buffered"] != found["reread"]


class Waiting(wl.Scheme):
    """Data that wait for the rest of a one-shot group as long as the test says."""

    protected = wl.Param(False, "whether power-protected RAM holds them")
    pad_after = wl.Param("never", "nanoseconds until the device fills up a group")
    pad_host_after = wl.Param("never", "the same, for host data")

    def layout(self, drive):
        both = (self.pad_after, self.pad_host_after)
        after, host_after = (one if one == "never" else int(one) for one in both)
        waiting = {"pad_after_ns": after, "pad_host_after_ns": host_after}
        return wl.Layout.one_region(drive, protected=self.protected, **waiting)

    def place(self, p, view):
        return wl.to("dense")


@pytest.mark.parametrize(
    ("of_device", "of_region"),
    [
        (("volatile", "20us", "50us"), (False, "20000", "50000")),
        (("protected", "never", "1ms"), (True, "never", "1000000")),
    ],
)
def test_region_pads_groups_like_device(of_device, of_region):
    how = {"device": GOLDEN / "hybrid.toml", "workload": "uniform:rate=2k", "requests": 1000}
    keys = ("buffer", "pad_after", "pad_host_after")
    settings = {f"program.{key}": value for key, value in zip(keys, of_device, strict=True)}
    rust = wl.run(scheme="conventional", set=settings, **how)
    keys = ("protected", "pad_after", "pad_host_after")
    found = wl.run(scheme=Waiting(**dict(zip(keys, of_region, strict=True))), **how)
    assert found.result_hash == rust.result_hash
    assert found.result_hash != wl.run(scheme="conventional", **how).result_hash


class BySector(wl.Scheme):
    """A place for each sector of the drive."""

    def layout(self, drive):
        self.sector = drive.geometry.sector
        return replace(wl.Layout.one_region(drive), map="sector")

    def split_write(self, span, view):
        assert view.sectors(span.lpn) >= 0
        return 1 << wl.sectors(span.mask)[0]

    def place(self, p, view):
        assert sum(span.mask.bit_count() for span in p.spans) * self.sector == p.bytes
        assert [span.lpn for span in p.spans] == p.lpns
        return wl.to("dense", gather="as-is")


def test_sector_map_writes_host_sectors_only():
    how = {"device": "fair-tlc", "workload": "uniform:bs=4KiB,qd=4", "requests": 3000}
    by_page = wl.run(scheme="conventional", **how)
    by_sector = wl.run(scheme=BySector, check=True, **how)
    assert by_sector.waf.without_pad < by_page.waf.without_pad / 3
    wl.check(BySector, cases=25, power_cuts=5, states=0)


class Numbers(wl.Scheme):
    """Compares the drive's numbering with what it is made of."""

    def layout(self, drive):
        g = drive.geometry
        assert (g.unit, g.planes) == (drive.page_bytes, drive.planes)
        assert g.unit == g.sector * g.sectors_per_unit
        assert sum(b - a for a, b in map(g.planes_of_die, range(g.dies))) == g.planes
        assert g.planes_of_medium(0) == (0, g.planes)
        for plane in range(g.planes):
            first, end = g.blocks_of(plane)
            assert (g.first_block(plane), end - first) == (first, drive.blocks_per_plane[0])
            assert g.plane_of(first) == g.plane_of(end - 1) == plane
            assert g.channel_of(g.die_of(plane)) < g.channels
            assert g.medium_index(plane) == 0
        place = g.ppn(3, 5)
        assert (g.block_of(place), g.slot_of(place)) == (3, 5)
        assert g.units_per_page(0) == 1
        assert g.most_slots > 5
        for wrong, allowed in (
            (
                lambda: g.die_of(g.planes),
                f"unknown plane {g.planes}\n  allowed: 0 to {g.planes - 1}",
            ),
            (lambda: g.ppn(g.blocks, 0), f"unknown block {g.blocks}"),
            (lambda: g.ppn(0, g.most_slots), "unknown slot"),
            (lambda: g.channel_of(g.dies), "unknown die"),
            (lambda: g.units_per_page(1), "unknown medium 1\n  allowed: 0 to 0"),
            (lambda: g.block_of(2**32 - 1), "unknown place"),
        ):
            with pytest.raises(wl.UserError, match=allowed):
                wrong()
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        assert view.geometry.planes == view.planes
        assert view.free_slots_in("slc") == view.free_slots("slc")
        assert view.frontier("slc", 0) == view.frontier("slc", 0, "next")
        assert view.frontier("slc", 0, slot="slc") is None
        with pytest.raises(wl.UserError, match="allowed: next, lsb"):
            view.frontier("slc", 0, "other")
        return wl.to("slc", "dense")


def test_the_drive_is_numbered_as_in_rust():
    assert wl.run(scheme=Numbers, **SMALL).host.requests == 500


class Hinted(SlcCachePy):
    """Sees what the host says beside its requests."""

    seen = wl.State([])

    def admit(self, request, view):
        self.seen.append([request.hint, request.is_fua, request.stream, request.volume])
        assert request.blocks * 512 == request.bytes
        return 0

    def metrics(self):
        return {"streams": [(i, seen[2]) for i, seen in enumerate(self.seen)]}


def test_a_request_has_what_the_host_says_beside_it(tmp_path):
    job = tmp_path / "job.fio"
    job.write_text("[one]\nrw=randwrite\nbs=4k\nsize=4m\nnumber_ios=20\nwrite_hint=long\n")
    found = wl.run(device="fair-tlc", scheme=Hinted, workload=job).to_dict()
    streams = {stream for _, stream in found["metrics"]["streams"]}
    assert streams == {3.0}


# ---- What is wrong is said.


class Wrong(wl.Scheme):
    """Does what the test says."""

    change: ClassVar[dict] = {}
    places = None
    split = "whole"

    def layout(self, drive):
        region = {k: v for k, v in self.change.items() if k in wl.Region.__annotations__}
        others = {k: v for k, v in self.change.items() if k not in region}
        found = wl.Layout.slc_cache(drive)
        slc, dense = found.regions
        return replace(found, regions=[replace(slc, **region), dense], **others)

    def split_write(self, span, view):
        return span.mask if self.split == "whole" else self.split

    def place(self, p, view):
        return self.places() if self.places else wl.to("dense")

    def metrics(self):
        return getattr(self, "followed", {})


def wrong(**attributes):
    return type("Wrong", (Wrong,), attributes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"map": "block"}, 'map="block" is not known\n  allowed: page, sector, extent'),
        ({"map": wl.Overlay(["slcc"], 9)}, 'unknown region "slcc"\n  allowed: slc, dense'),
        ({"merges": "last"}, 'merges="last" is not known\n  allowed: first, same-key, fewest'),
        ({"second_home": ("dense", 1)}, 'allowed: a region other than "dense"'),
        ({"enabled_hooks": ["tock"]}, 'enabled_hooks has "tock"\n  allowed: admit, read, collect'),
        ({"moved_in": "wrapped"}, 'moved_in="wrapped" is not known\n  allowed: packed, alone'),
        (
            {"moved_in": "rewritten"},
            "hold 1 mapping units\n  allowed: flash with 2 mapping units per page",
        ),
        ({"earlier_bits": "lost"}, 'earlier_bits="lost" is not known\n  allowed: buffered, reread'),
        ({"pad_after_ns": "soon"}, 'pad_after_ns="soon" is not known\n  allowed: never'),
        ({"trigger": "first-block"}, '\n  allowed: "last-block", too'),
    ],
)
def test_a_layout_that_is_none_is_told(change, message):
    with pytest.raises((wl.UserError, wl.Refused), match=message):
        wl.run(scheme=wrong(change=change), **SMALL)


def test_a_region_without_blocks_is_refused():
    class KeepsAll(SlcCachePy):
        def layout(self, drive):
            whole = drive.blocks_per_plane[0]
            regions = [wl.Region("slc", "slc", kept=whole), wl.Region("dense", drive.dense)]
            return wl.Layout(regions, [wl.Pool(whole)], "dense")

    with pytest.raises(wl.Refused, match="region dense has no block, since other regions keep all"):
        wl.run(scheme=KeepsAll, **SMALL)


@pytest.mark.parametrize(
    ("places", "error", "message"),
    [
        (lambda _: wl.to("dense", avoid=[1]), wl.UserError, 'allowed: only with plane="any"'),
        (
            lambda _: wl.to("dense", plane="any", avoid=[99]),
            wl.UserError,
            "unknown channel 99\n  allowed: 0 to",
        ),
        (
            lambda _: wl.into_buffer(gather="fill"),
            wl.Fault,
            "merge buffer .*the layout has no merge buffer",
        ),
        (lambda _: wl.into_buffer(256), OverflowError, "256|out of range"),
        (lambda _: wl.into_buffer(gather="all"), wl.UserError, "allowed: as-is, fill, whole"),
    ],
)
def test_a_place_that_is_none_is_told(places, error, message):
    with pytest.raises(error, match=message):
        wl.run(scheme=wrong(places=places), **SMALL)


@pytest.mark.parametrize("split", [0, 16, -1, "1", None, 1.5])
def test_sectors_that_are_not_written_are_told(split):
    with pytest.raises(
        wl.UserError,
        match=r"split_write\(\) returned .*\n  allowed: a subset of the written sectors,",
    ):
        wl.run(scheme=wrong(split=split, change={"map": "sector"}), **SMALL)


@pytest.mark.parametrize(
    "followed", [[1], {"a": 1}, {"a": [1]}, {"a": [(1, float("nan"))]}, {"a": [(1, 2, 3)]}, {1: []}]
)
def test_metrics_that_are_none_are_told(followed):
    with pytest.raises(wl.UserError, match=r"metrics\(\) returned"):
        wl.run(scheme=wrong(followed=followed), **SMALL)


def test_only_hooks_that_are_enabled_are_asked():
    class Quiet(SlcCachePy):
        def layout(self, drive):
            return replace(super().layout(drive), enabled_hooks=["admit"])

        def admit(self, request, view):
            return 1

        def read(self, seen, view):
            raise AssertionError("it is not enabled")

        def place(self, p, view):
            assert p.tag == p.is_host
            return super().place(p, view)

    how = {"device": "fair-tlc", "workload": "uniform:read=50%", "requests": 500}
    assert wl.run(scheme=Quiet, **how).result_hash == wl.run(scheme="slc-cache", **how).result_hash
