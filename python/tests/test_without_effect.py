"""Moves and collections that come to nothing: are they counted, and shown by why?"""

import re
from dataclasses import replace

import pytest

import wordline as wl

ASKED = {
    "device": "fair-tlc", "workload": "bursty", "requests": 1500, "initial": "fresh",
}  # fmt: skip


def somewhere(view):
    """Return a page that is on flash, and where."""
    return next((n, at) for n in range(view.logical_pages) if (at := view.locate(n)) is not None)


class Vain(wl.Scheme):
    """Asks for what cannot be."""

    asks = wl.Param(True, "whether it asks at all")
    known = wl.State({})

    def layout(self, drive):
        layout = wl.Layout.slc_cache(drive)
        return replace(layout, tick_every_writes=50, idle_after_ns=1_000_000)

    def place(self, p, view):
        return wl.to("slc", "dense")

    def tick(self, view):
        if not self.asks:
            return []
        home = wl.to("dense")
        page, there = somewhere(view)
        vain = [wl.Move(view.logical_pages, there, home), wl.Move(page, there + 1, home)]
        return [*vain, wl.Move(page, there, home), wl.Move(page, there, home)]

    def idle(self, plane, view):
        if self.asks and view.best("dense", plane) is None:
            return wl.Collect("dense")
        return None


@pytest.fixture(scope="module")
def both():
    return wl.compare(schemes=[Vain(asks=False), Vain], **ASKED)


def test_they_are_in_the_report_by_why(both):
    assert "without_effect" not in both[0].to_dict()
    counts = both[1].to_dict()["without_effect"]
    ticks = counts["move_no_such_page"]
    assert ticks > 2
    assert counts["move_page_elsewhere"] == ticks
    assert counts["move_already_under_way"] == ticks
    assert counts["collect_no_victim"] > 0


def test_they_are_in_the_table_and_on_the_page(both):
    counts = both[1].without_effect
    rows = both.table(all=True).split("\nIgnored scheme actions\n")[1].splitlines()
    found = {r.split("  ")[1]: r.split()[-2:] for r in rows if r.startswith("  move: no such page")}
    assert found == {"move: no such page": ["0", f"{counts.move_no_such_page:,}"]}
    assert "Ignored scheme actions" in both.html()
    assert "Ignored scheme actions" in str(both[1])
    assert "Ignored scheme actions" not in str(both[0])
    # The page carries its run, and so the source of this class.
    shown = re.sub(r"<script.*?</script>", "", both[0].html(), flags=re.S)
    assert "Ignored scheme actions" not in shown


def test_they_are_no_part_of_the_result():
    class Once(Vain):
        def tick(self, view):
            return []

        def idle(self, plane, view):
            return None

    class Idle(Once):
        def idle(self, plane, view):
            if self.asks and view.best("dense", plane) is None:
                return wl.Collect("dense")
            return None

    once, idle = (wl.run(scheme=s, **ASKED) for s in (Once, Idle))
    assert idle.without_effect.collect_no_victim > 0
    assert once.result_hash == idle.result_hash
