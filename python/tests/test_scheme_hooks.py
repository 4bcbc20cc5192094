"""Hooks of schemes in Python: each is asked, and told of when it answers wrong; what is learnt."""

import sys
import warnings
from dataclasses import replace
from typing import ClassVar

import pytest

import wordline as wl
from schemes import RESTS, SMALL, Wrong, made
from wordline.examples.slc_cache import SlcCachePy


class Counting(wl.Scheme):
    """Counts what it is asked, and sends every seventh page another way."""

    seen = wl.State(0)
    pages = wl.State({})

    def layout(self, drive):
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        self.seen += 1
        self.pages[str(p.lpn)] = self.seen
        return wl.to("dense") if self.seen % 7 == 0 or not p.is_host else wl.to("slc", "dense")


def test_learned_state_is_saved_with_drive(tmp_path):
    whole = {"device": "fair-tlc", "scheme": Counting}
    state = tmp_path / "drive.state"
    wl.run(workload="uniform:requests=1001", save_state=state, **whole)
    after = wl.run(workload="uniform:requests=500", from_state=state, seed=2, **whole)
    fresh = wl.run(workload="uniform:requests=500", seed=2, **whole)
    assert after.result_hash != fresh.result_hash
    again = wl.run(workload="uniform:requests=500", from_state=state, seed=2, **whole)
    assert again.result_hash == after.result_hash
    assert Counting().seen == 0, "an instance does not learn from the runs of its class"


def test_instances_do_not_share_what_they_learn():
    one, other = Counting(), Counting()
    one.pages["1"] = 1
    assert other.pages == {}
    copy = one._copy()
    copy.pages["2"] = 2
    assert one.pages == {"1": 1}


class AllHooks(SlcCachePy):
    """Notes which hooks are asked, and with what."""

    asked: ClassVar[dict] = {}

    def layout(self, drive):
        return replace(super().layout(drive), tick_every_writes=64, idle_after_ns=1000)

    def note(self, hook, what=None):
        AllHooks.asked[hook] = what

    def seed(self, seed):
        self.note("seed", seed)

    def admit(self, request, view):
        self.note("admit", request)
        return 3 if request.is_write else 0

    def place(self, p, view):
        assert p.tag == (3 if p.is_host else 0)
        return super().place(p, view)

    def make_room(self, p, view):
        self.note("make_room", p.bytes)
        return []

    def read(self, seen, view):
        self.note("read", (seen, view.locate(seen.lpn)))
        return wl.Move(seen.lpn, seen.ppn, wl.to("dense")) if seen.mode == "slc" else None

    def collect(self, region, plane, view):
        self.note("collect", region)
        return wl.Collect(region, view.best(region, plane))

    def idle(self, plane, view):
        block = view.best("slc", plane)
        self.note("idle", block)
        return None if block is None else wl.Collect("slc", block)

    def tick(self, view):
        self.note("tick", view.taken("slc"))
        return [wl.SetQuota("slc", 12)]

    def on_trim(self, lpn):
        self.note("on_trim", lpn)


def test_every_hook_is_asked_and_answered():
    AllHooks.asked.clear()
    mix = "mix:read=30%,trim=10%,bs=4KiB@50/16KiB@50,requests=20k,rate=20k"
    found = wl.run(device="fair-tlc", scheme=AllHooks, workload=mix, initial="fill:60%", check=True)
    hooks = {"seed", "admit", "make_room", "read", "collect", "idle", "tick", "on_trim"}
    assert set(AllHooks.asked) == hooks
    request = AllHooks.asked["admit"]
    assert request.op in ("read", "write", "trim")
    assert request.is_write == (request.op == "write")
    seen, where = AllHooks.asked["read"]
    assert seen.mode in ("slc", "tlc")
    assert where is not None
    assert found.flash.programs.migration.program > 0, "reads have moved pages"


@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        ("refuse", wl.Refused, "it does not like this drive"),
        ("layout", wl.UserError, "layout.. returned 'no layout'; return a wordline.Layout"),
        ("raise", ZeroDivisionError, "of my own"),
        ("attribute", AttributeError, "Wrong.counter is set after layout.*wl.State"),
        (
            "view",
            wl.UserError,
            'unknown region "slcc"\n  allowed: slc, dense',
        ),
        ("plane", wl.UserError, "unknown plane 8\n  allowed: 0 to 7"),
        (
            "outlives",
            wl.UserError,
            "the view is valid only during the hook call; store values instead of the view",
        ),
        ("region", wl.UserError, 'unknown region "nowhere"\n  allowed: slc, dense'),
        ("type", wl.UserError, "place.. returned 'slc'\n  allowed: what wordline.to"),
    ],
)
def test_hook_errors_are_exceptions(what, error, message):
    Wrong.kept = None
    with pytest.raises(error, match=message) as raised:
        wl.run(scheme=Wrong(what=what), **SMALL)
    if error is ZeroDivisionError:
        frames = [frame.name for frame in raised.traceback]
        assert frames[-1] == "place"
        if sys.version_info >= (3, 11):
            assert "raised in place of the scheme wrong at" in raised.value.__notes__[0]


@pytest.mark.parametrize(
    ("hook", "answer", "allowed"),
    [
        ("idle", [1], "a wordline.Move, a wordline.Collect, or None"),
        ("admit", 1000, "a whole number from 0 to 255"),
        ("admit", None, "a whole number from 0 to 255"),
        ("tick", None, "a list of wordline.SetQuota and wordline.Move, which may be empty"),
        ("make_room", 7, "a list of wordline.Move"),
    ],
)
def test_invalid_hook_result_error_says_what_is_allowed(hook, answer, allowed):
    with pytest.raises(wl.UserError) as told:
        wl.run(**RESTS, scheme=made(**{hook: lambda *_: answer}))
    assert f"{hook}() returned {answer!r}\n  allowed: {allowed}" in str(told.value)


def test_collect_of_no_region_is_met_with_the_regions():
    with pytest.raises(wl.UserError, match=r'unknown region "999"\n  allowed: slc, dense'):
        wl.run(**RESTS, scheme=made(idle=lambda *_: wl.Collect(999)))


def test_unsaved_state_names_its_hook():
    def place(self, p, view):
        self.seen[p.lpn] = 1
        return wl.to("dense")

    with pytest.raises(wl.UserError, match=r"Made.seen has the key \d+, which would be lost") as e:
        wl.run(**RESTS, scheme=made(seen=wl.State({}), place=place))
    assert "raised in place of" in e.value.__notes__[0]
    with pytest.raises(wl.UserError, match=r"Made.seen holds set, which"):
        wl.run(**RESTS, scheme=made(seen=wl.State([{"a": {1}}])))
    kept = made(seen=wl.State({"a": [1, {"b": None}], "c": "d"}))
    assert wl.run(**RESTS, scheme=kept).result_hash


def test_a_method_that_is_nearly_a_hook_is_warned_of():
    with pytest.warns(UserWarning, match="Made.on_idle is not a hook .* did you mean idle"):
        wl.run(**RESTS, scheme=made(on_idle=lambda self, plane, view: None))
    with pytest.warns(UserWarning, match="Made.idel is not a hook .* did you mean idle"):
        wl.run(**RESTS, scheme=made(idel=lambda self, plane, view: None))
    with pytest.warns(UserWarning, match="Made.on_trimm is not a hook .* did you mean on_trim"):
        wl.run(**RESTS, scheme=made(on_trimm=lambda self, lpn: None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wl.run(**RESTS, scheme=made(places=lambda self: 1, idle=lambda self, plane, view: None))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"tick_every_writes": -10}, "tick_every_writes: .*(negative|out of range)"),
        ({"idle_after_ns": "1us"}, "idle_after_ns: .*'str'"),
        (
            {"regions": [wl.Region("dense", "tlc", blocks=-1)]},
            r"regions\.blocks: .*(negative|out of range)",
        ),
    ],
)
def test_field_of_a_layout_is_named_that_cannot_be_read(wrong, said):
    def layout(self, drive):
        return replace(wl.Layout.one_region(drive), **wrong)

    with pytest.raises(wl.UserError, match=rf"layout\(\) returned a Layout whose {said}"):
        wl.run(**RESTS, scheme=made(layout=layout))


def test_class_without_tick_runs():
    plain = {"layout": lambda self, drive: wl.Layout.slc_cache(drive)}
    done = wl.run(device="consumer-qlc", workload="uniform", requests=5000, scheme=made(**plain))
    assert done.result_hash


class Following(wl.Scheme):
    def layout(self, drive):
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        return wl.to("slc", "dense")

    def metrics(self):
        return {"share": [(0, 1.0), (64, 3.0), (200, 2.0)]}


def test_what_a_scheme_follows_is_drawn_as_it_was_told():
    both = wl.compare(**RESTS, schemes=["slc-cache", Following])
    at = both.plot.metrics("share")
    assert [line.get_label() for line in at.lines] == ["following"]
    drawn = list(zip(*at.lines[0].get_data(), strict=True))
    assert drawn == [(0, 1.0), (64, 3.0), (200, 2.0)]
    assert at.lines[0].get_drawstyle() == "steps-post"
    with pytest.raises(wl.UserError, match="name='wear': allowed are share"):
        both.plot.metrics("wear")
    with pytest.raises(wl.UserError, match="no scheme here has metrics"):
        both[0].plot.metrics("share")
