"""What a class declares: parameters with sizes and bounds, settings, and what it learns."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import wordline as wl
from helpers import ROOT
from schemes import made
from wordline import toml


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
    assert Bounded(size="16KiB").spelling == "bounded:size=16KiB"
    for wrong, allowed in (
        ({"size": 0}, "allowed: 512B to 1MiB"),
        ({"size": "2MiB"}, "allowed: 512B to 1MiB"),
        ({"share": 2}, "allowed: at most 1.0"),
        ({"size": "much"}, "a size such as"),
        ({"size": "8192"}, "the unit is missing; allowed"),
        ({"size": -1}, "-1 is not a size"),
    ):
        with pytest.raises(wl.UserError, match=allowed):
            Bounded(**wrong)
    with pytest.raises(wl.UserError, match="default is not allowed: 3 is out of bounds"):
        wl.Param(3, "too much", maximum=2)
    with pytest.raises(wl.UserError, match="has bounds, which only numbers can have"):
        wl.Param("slc", "a mode", minimum=1)
    with pytest.raises(AttributeError, match="is a parameter"):
        Bounded().size = 1


def test_what_no_parameter_says_of_an_instance_is_refused():
    class Own(wl.Scheme):
        pages = wl.State([0, 0])

        def __init__(self, k=3, **given):
            super().__init__(**given)
            self.k = k
            self.helper = object()

        def layout(self, drive):
            return wl.Layout.one_region(drive)

        def place(self, p, view):
            return wl.to("dense")

    class Unmade(Own):
        def __init__(self, k):
            pass

    run = {"device": "fair-tlc", "workload": "uniform", "requests": 20}
    # The class, and an instance like a new one, run.
    assert wl.run(scheme=Own, **run).result_hash == wl.run(scheme=Own(3), **run).result_hash
    later, learnt = Own(), Own()
    later.limit = 5
    learnt.pages[0] = 7
    for wrong, says in ((Own(4), "k"), (later, "limit"), (learnt, "pages")):
        with pytest.raises(
            wl.UserError, match=rf"Own\.{says} is set apart .*\n  allowed: what a wl"
        ):
            wl.run(scheme=wrong, **run)
        with pytest.raises(wl.UserError, match=rf"Own\.{says} is set apart"):
            wl.compare(schemes=["conventional", wrong], **run)
    with pytest.raises(wl.UserError, match=r"Unmade.__init__ does not call super"):
        wl.run(scheme=Unmade(4), **run)


def with_limit(limit):
    class Limited(wl.Scheme):
        most = 4

        def layout(self, drive):
            return wl.Layout.one_region(drive)

        def place(self, p, view):
            return wl.to("dense") if limit < self.most else wl.to("dense", plane="any")

    return Limited


def test_values_beyond_the_source_are_part_of_a_class(tmp_path):
    run = {"device": "fair-tlc", "workload": "uniform", "requests": 20}
    # Of two classes of one function, a sweep keeps the runs apart.
    for limit, there in ((3, 1), (5, 2), (3, 2)):
        wl.sweep(schemes=[with_limit(limit)], out=tmp_path, **run)
        assert len(list((tmp_path / "runs").iterdir())) == there
    # A class that was changed is not what another process would have.
    changed = with_limit(3)
    changed.most = 1
    with pytest.raises(wl.UserError, match=r"Limited\.most is set apart .*\n  allowed: what a wl"):
        wl.compare(schemes=[changed, "conventional"], replicas=2, **run)
    changed.most = 4
    wl.run(scheme=changed, **run)


FIXED, _VARIES = 4, 2
_VARIES += 1


def test_values_of_a_file_are_kept_or_part_of_a_class(tmp_path, monkeypatch):
    class Above(wl.Scheme):
        def layout(self, drive):
            return wl.Layout.one_region(drive)

        def place(self, p, view):
            return wl.to("dense") if p.lpn % FIXED < _VARIES else wl.to("dense", plane="any")

    run = {"device": "fair-tlc", "workload": "uniform", "requests": 20}
    for varies, there in ((3, 1), (5, 2), (3, 2)):
        monkeypatch.setitem(globals(), "_VARIES", varies)
        wl.sweep(schemes=[Above], out=tmp_path, **run)
        assert len(list((tmp_path / "runs").iterdir())) == there
    monkeypatch.setitem(globals(), "FIXED", 5)
    with pytest.raises(
        wl.UserError, match=r"^FIXED of test_parameters.py is set apart from source"
    ):
        wl.run(scheme=Above, **run)


def test_a_class_that_is_extended_is_part_of_the_source(tmp_path):
    (elsewhere := tmp_path / "elsewhere").mkdir()
    base = "import wordline as wl\nclass Base(wl.Scheme):\n    {}\n"
    base += "    def layout(self, drive):\n        return wl.Layout.one_region(drive)\n"
    base += "    def place(self, p, view):\n        return wl.to('dense')\n"
    (tmp_path / "own.py").write_text("import basis\nclass Own(basis.Base): pass\n")
    hashes = set()
    for k in ("k = 1", "k = 2"):
        (elsewhere / "basis.py").write_text(base.format(k))
        done = "from wordline import spelling, scheme_source\n"
        done += (
            "own = spelling.resolved('py:own.py#Own')[1][0]; print(scheme_source.source(own)[1])"
        )
        env = {**os.environ, "PYTHONPATH": str(elsewhere)}
        run = [sys.executable, "-c", done]
        found = subprocess.run(run, cwd=tmp_path, env=env, check=True, capture_output=True)
        hashes.add(found.stdout)
    assert len(hashes) == 2


def test_settings_take_sizes_as_numbers():
    small = {"device": "fair-tlc", "scheme": "conventional", "workload": "uniform", "requests": 10}
    asked = wl.identity(set={"capacity.logical": 256 * wl.MiB + wl.MiB // 2 * 2}, **small)
    assert asked == wl.identity(set={"capacity.logical": "257MiB"}, **small)


def test_lost_state_is_an_error_when_set():
    def place(self, p, view):
        self.count = np.int64(3)
        return wl.to("dense")

    counts = made(count=wl.State(0), place=place)
    with pytest.raises(wl.UserError, match=r"Made\.count holds int64") as told:
        wl.run(device="fair-tlc", scheme=counts, workload="uniform", requests=20)
    assert "raised in place of" in told.value.__notes__[0]
    assert "place" in [entry.name for entry in told.traceback]


def sizes(table, prefix=""):
    """Yield the settings of a device file that are sizes."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from sizes(value, f"{prefix}{key}.")
        elif isinstance(value, str) and re.fullmatch(r"\d+([KMGT]i)?B", value):
            yield f"{prefix}{key}"


def test_size_needs_a_unit(wordline):
    asked = {"scheme": "conventional", "workload": "uniform", "requests": 9}
    found = {}
    for device in wl.devices():
        file = ROOT / "devices" / f"{device.name}.toml"
        found |= dict.fromkeys(sizes(toml.read(file)), device.name)
    assert {"capacity.logical", "medium.flash.page"} <= set(found)
    for key, device in found.items():
        with pytest.raises(wl.UserError) as told:
            wl.run(device=device, set={key: 8}, **asked)
        said = str(told.value).partition(": ")[2].partition(": ")[2]
        assert said.startswith(f'{key}: "8" is not a size')
        assert "the unit is missing; allowed: B, KiB" in said
    options = [f"--{name}={value}" for name, value in {**asked, "device": device}.items()]
    typed = wordline("run", *options, "--set", f"{key}=8")
    assert typed.err.strip() == f"error: --set {key}=8: {said}"


def test_parts_and_multiples_of_sizes_are_sizes():
    made = (wl.MiB / 2, wl.KiB * 1.5, 3 * wl.GiB, wl.MiB // 4 + wl.MiB)
    assert [size.spelled for size in made] == ["512KiB", "1536B", "3GiB", "1280KiB"]
