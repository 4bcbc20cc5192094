"""What a scheme that fails costs: not the results of others, nor a guess whose error it is."""

import re
import sys
import warnings

import pytest

import wordline as wl

HOW = {"device": "fair-tlc", "workload": "uniform", "requests": 500}
TYPED = ["--device", "fair-tlc", "--workload", "uniform", "--requests", "500"]

FILE = '''
import wordline as wl


class Raises(wl.Scheme):
    """Its layout raises."""

    def layout(self, drive):
        return helper(drive)

    def place(self, p, view):
        return wl.to("dense")


class Nothing(Raises):
    """Its layout returns nothing."""

    def layout(self, drive):
        pass


class Late(Raises):
    """Its place raises."""

    threshold = wl.Param(16 * wl.KiB, "of no account")

    def layout(self, drive):
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        if view.now > 100_000:
            return helper(p)
        return wl.to("slc", "dense")


def helper(of):
    return of.nosuch
'''


@pytest.fixture
def file(tmp_path):
    (tmp_path / "own.py").write_text(FILE)
    return tmp_path / "own.py"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Raises", "AttributeError: 'DriveInfo' object has no attribute 'nosuch'"),
        ("Nothing", "layout() returned None; return a wordline.Layout"),
    ],
)
def test_failing_layout_is_not_blamed_on_the_device(wordline, file, name, said):
    done = wordline("run", *TYPED, "--scheme", f"py:{file}#{name}")
    lines = done.err.splitlines()
    error = f"error: scheme {name.lower()}: layout() failed on device fair-tlc: {said}"
    assert (done.code, error in lines) == (1, True), done.err
    # The traceback is the user's: from their file on, and none where nothing of theirs raised.
    assert "site-packages" not in done.err
    assert "/wordline/scheme.py" not in done.err
    assert ('own.py", line 9, in layout' in done.err) == (name == "Raises")
    assert done.err.count("layout() returned None") == (name == "Nothing")
    # Nor is it a scheme that the device does not admit.
    both = ["conventional", f"py:{file}#{name}"]
    with pytest.raises((AttributeError, wl.UserError), match=said.partition(": ")[2] or said[:8]):
        wl.compare(schemes=both, strict=True, **HOW)


def test_failed_scheme_leaves_the_others_results(wordline, file, tmp_path):
    late, raises = (f"py:{file}#{name}" for name in ("Late", "Raises"))
    named = [late, "slc-cache", raises, "conventional"]
    schemes = [word for name in named for word in ("--scheme", name)]
    done = wordline("compare", *TYPED, *schemes, "--out", "out", "--json", "c.json")
    assert done.code == 1
    table = done.out
    assert table.startswith("slc-cache · conventional\n")
    assert "Failed, and not compared:\nlate    place() failed at t = " in table
    # Each traceback says whose it is, and each has its error.
    for name, hook in (("late", "place"), ("raises", "layout")):
        assert f"error: scheme {name}: {hook}() failed" in done.err
        if sys.version_info >= (3, 11):
            assert f"raised in {hook} of the scheme {name}" in done.err
    assert " ns" not in done.err
    page = (tmp_path / "out" / "report.html").read_text()
    assert "2 compared, 2 failed." in page
    assert "<dt>raises</dt>" in page.replace("<wbr>", "")
    found = wl.load(tmp_path / "c.json")
    assert [r.scheme.name for r in found] == ["slc-cache", "conventional"]
    alone = wl.run(scheme="slc-cache", **HOW)
    assert found["slc-cache"].result_hash == alone.result_hash
    # Where none has a result there is nothing to show.
    done = wordline("compare", *TYPED, "--scheme", late, "--scheme", raises, "--out", "none")
    assert (done.code, done.out, (tmp_path / "none").exists()) == (1, "", False)


def test_compare_keeps_what_did_not_fail(file, tmp_path):
    late, raises = (f"py:{file}#{name}" for name in ("Late", "Raises"))
    named = [late, "slc-cache", "ips:mode=qlc", "conventional"]
    with pytest.warns(UserWarning, match="failed and is not compared") as told:
        found = wl.compare(schemes=named, replicas=2, **HOW)
    assert len(told) == 2
    assert [r.scheme.name for r in found] == ["slc-cache", "conventional"]
    assert found["slc-cache"].result_hash == wl.run(scheme="slc-cache", **HOW).result_hash
    # Each with its exception: that of the scheme, with its traceback, or the engine's.
    assert list(found.failed) == ["late", "ips:mode=qlc"]
    error = found.failed["late"]
    assert isinstance(error, AttributeError)
    assert "place() failed" in str(error.ended_by)
    assert isinstance(found.failed["ips:mode=qlc"], wl.Refused)
    with pytest.raises(KeyError, match="'late' failed: "):
        found["late"]
    for shown in (str(found), found.html().replace("<wbr>", "")):
        assert "Failed, and not compared:" in shown
        assert "place() failed at t = " in shown
    kept = tmp_path / "c.json"
    found.save(kept)
    again = wl.load(kept)
    assert list(again.failed) == list(found.failed)
    assert again.json == found.json
    # Where it is asked for, or nothing is left, the first exception is raised.
    with pytest.raises(AttributeError, match="nosuch"):
        wl.compare(schemes=named, strict=True, **HOW)
    with pytest.raises(AttributeError, match="nosuch"):
        wl.compare(schemes=[late, raises], **HOW)
    # What is wrong for all is no matter of a scheme.
    with pytest.raises(wl.UserError, match="unknown scheme"):
        wl.compare(schemes=["slc-cache", "slk-cache"], **HOW)


def test_parameter_of_some_schemes_applies_to_them(wordline, file):
    late = f"py:{file}#Late"
    schemes = ["--scheme", "slc-cache", "--scheme", "conventional"]
    typed = [*TYPED, *schemes, "--set", "scheme.static_blocks=6"]
    says = "scheme.static_blocks=6: conventional has no such parameter and runs without it"
    done = wordline("compare", *typed)
    assert (done.code, says in done.err) == (0, True), done.err
    done = wordline("sweep", *typed, "--out", "swept")
    assert (done.code, says.replace("=6", "") in done.err) == (0, True), done.err
    assert "2 runs done" in done.out
    # Two values: of conventional they are one run.
    grid = {"scheme.static_blocks": [2, 12]}
    with pytest.warns(UserWarning, match=r"static_blocks: conventional has no such parameter"):
        found = wl.sweep(schemes=["slc-cache", "conventional"], set=grid, **HOW)
    hashes = [combination.reports[0].result_hash for combination in found]
    assert (len(set(hashes)), hashes[1]) == (3, hashes[3])
    assert found.ran == 3
    own = {"scheme.threshold": "8KiB"}
    with pytest.warns(UserWarning, match="threshold: slc-cache has no such parameter"):
        wl.compare(schemes=["slc-cache", late], set={**own}, **{**HOW, "requests": 5})
    # One that no scheme has is refused, as a mistake.
    for command in ("compare", "sweep"):
        done = wordline(command, *TYPED, *schemes, "--set", "scheme.treshold=1")
        assert done.code == 2
        assert "treshold" in done.err
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wl.sweep(schemes=["slc-cache"], set={"scheme.static_blocks": [6]}, **HOW)


def test_axis_without_effect_is_named(wordline):
    typed = [*TYPED, "--scheme", "conventional", "--set", "gc.victim=greedy,fifo"]
    done = wordline("sweep", *typed, "--set", "host.write_overhead=0ns,50us", "--out", "swept")
    assert "gc.victim changes no figure of the table." in " ".join(done.out.split())
    assert "host.write_overhead change" not in " ".join(done.out.split())


def test_wrong_arguments_of_pools_and_moves_are_shown():
    class Medium(wl.Scheme):
        def layout(self, drive):
            pools = [wl.Pool(0, drive.blocks_per_plane[0])]
            return wl.Layout(pools=pools, regions=[wl.Region("all", "tlc")], home="all")

        def place(self, p, view):
            return wl.to("all")

    class Swapped(wl.Scheme):
        def layout(self, drive):
            return wl.Layout.slc_cache(drive)

        def place(self, p, view):
            return wl.to("slc", "dense")

        def read(self, seen, view):
            return wl.Move(seen.lpn, wl.to("slc"), seen.ppn)

    with pytest.raises(
        wl.UserError, match=r"on medium 112; .* its blocks, then its medium\n  allowed: 0 to 0"
    ):
        wl.run(scheme=Medium, **HOW)
    reads = {**HOW, "workload": "uniform:read=100%"}
    with pytest.raises(wl.UserError, match=r"allowed: a wordline.Move\(lpn, seen, to\), or None"):
        wl.run(scheme=Swapped, initial="fill:50%", **reads)


def test_twin_of_ones_own_is_named_without_a_prefix():
    with pytest.raises(wl.UserError, match=r"is the workload own\.toml, without twin:"):
        wl.run(**{**HOW, "workload": "twin:own.toml"}, scheme="conventional")


class OnlyCache(wl.Scheme):
    """Leaves most of the drive alone."""

    def layout(self, drive):
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        return wl.to("slc")


def test_scheme_without_another_place_is_told_so():
    r = wl.run(device="fair-tlc", scheme=OnlyCache, workload="zipf", requests=30_000)
    [hint] = [h for h in r.hints if "out of space" in h and "times" in h]
    assert "blocks are erased, but the scheme allows these data no region with room" in hint
    assert "over-provisioning" not in hint


@pytest.mark.parametrize("option", ["--log", "--completions", "--timeline", "--save-state"])
def test_dash_is_no_file_of_a_run(wordline, tmp_path, option):
    done = wordline("run", *TYPED, "--scheme", "conventional", option, "-")
    assert done.code == 2
    assert "standard output has the table" in done.err
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("scheme", ["pa-ssd", "conventional-tlc"])
def test_one_hint_makes_a_new_drive_fit(wordline, scheme):
    # It once led to a second error, about mapping.packing.
    drive = ["--capacity", "8GiB", "--cell", "tlc", "--channels", "4", "--interface", "pcie4x4"]
    assert wordline("device", "new", "mine.toml", *drive).code == 0
    run = ["run", "--device", "mine.toml", "--workload", "uniform", "--requests", "50"]
    done = wordline(*run, "--scheme", scheme)
    assert done.code == 2
    settings = re.findall(r"([a-z_.]+=[A-Za-z0-9.]+)(?=[ ,])", done.err.partition("; set ")[2])
    keys = ["medium.flash.tlc.one_shot", "medium.flash.tlc.program", "mapping.packing"]
    assert [each.partition("=")[0] for each in settings] == keys, done.err
    given = [word for each in settings for word in ("--set", each)]
    assert wordline(*run, "--scheme", scheme, *given).code == 0
