"""What a class declares: parameters with sizes and bounds, settings, and what it learns."""

import numpy as np
import pytest

import wordline as wl
from schemes import made


def test_a_parameter_takes_sizes_and_keeps_its_bounds():
    class Bounded(wl.Scheme):
        size = wl.Param("8KiB", "a size", minimum=512, maximum="1MiB")
        share = wl.Param(0.5, "a share", maximum=1)

        def layout(self, drive):
            return wl.Layout.one_region(drive)

        def place(self, p, view):
            return wl.to("dense")

    assert Bounded().size == 8192
    assert Bounded(size="16KiB").size == Bounded(size=16 * wl.KiB).size == 16384
    assert Bounded(share="25%").share == 0.25
    assert Bounded(size="16KiB").spelling == "bounded:size=16384"
    for wrong, allowed in (
        ({"size": 0}, "allowed: 512 to 1048576"),
        ({"size": "2MiB"}, "allowed: 512 to 1048576"),
        ({"share": 2}, "allowed: at most 1.0"),
        ({"size": "much"}, "a size such as"),
    ):
        with pytest.raises(wl.UserError, match=allowed):
            Bounded(**wrong)
    with pytest.raises(wl.UserError, match="default is not allowed: 3 is out of bounds"):
        wl.Param(3, "too much", maximum=2)
    with pytest.raises(wl.UserError, match="only numbers do"):
        wl.Param("slc", "a mode", minimum=1)
    with pytest.raises(AttributeError, match="is a parameter"):
        Bounded().size = 1


def test_settings_take_sizes_as_numbers():
    small = {"device": "fair-tlc", "scheme": "conventional", "workload": "uniform", "requests": 10}
    asked = wl.identity(set={"capacity.logical": 256 * wl.MiB + wl.MiB // 2 * 2}, **small)
    assert asked == wl.identity(set={"capacity.logical": "257MiB"}, **small)


def test_a_state_that_would_be_lost_is_told_where_it_is_set():
    def place(self, p, view):
        self.count = np.int64(3)
        return wl.to("dense")

    counts = made(count=wl.State(0), place=place)
    with pytest.raises(wl.UserError, match=r"Made\.count holds int64") as told:
        wl.run(device="fair-tlc", scheme=counts, workload="uniform", requests=20)
    assert "raised in place of" in told.value.__notes__[0]
    assert "place" in [entry.name for entry in told.traceback]
