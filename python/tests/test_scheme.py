"""Schemes in Python: what they may do, what they come to, and what is said when they are wrong."""

import csv
import dataclasses
import inspect
import json
import pickle
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import wordline as wl
from conftest import ROOT
from wordline import routes
from wordline.examples.hierarchy import HierarchyPy
from wordline.examples.ips import IpsPy
from wordline.examples.raro import RaroPy
from wordline.examples.sa import SaPy
from wordline.examples.sector import SectorPy
from wordline.examples.slc_cache import SlcCachePy

GOLDEN = ROOT / "crates" / "run" / "tests" / "golden"
IN_PYTHON = {
    "slc-cache": SlcCachePy,
    "ips": IpsPy,
    "raro": RaroPy,
    "sa": SaPy,
    "sector": SectorPy,
    "hierarchy": HierarchyPy,
}
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


def golden(scheme: str) -> list[dict[str, str]]:
    with open(GOLDEN / "table.tsv") as file:
        rows = csv.DictReader(file, delimiter="\t")
        # What a drive does not admit has no figures.
        return [r for r in rows if r["scheme"] == scheme and r["completed"].isdigit()]


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden rows are not part of the package")
@pytest.mark.parametrize(
    ("scheme", "row"),
    [
        pytest.param(own, row, id=f"{own._name()}-{row['device']}-{row['workload'].split(':')[0]}")
        for name, own in IN_PYTHON.items()
        for row in golden(name)
    ],
)
def test_a_scheme_in_python_comes_to_the_same_bits_as_in_rust_on_every_golden_drive(scheme, row):
    workload = row["workload"]
    file = GOLDEN / workload.split(":")[0]
    found = wl.run(
        device=GOLDEN / row["device"],
        scheme=scheme,
        workload=f"{GOLDEN}/{workload}" if file.exists() else workload,
        requests=int(row["requests"]),
        initial=row["initial"],
        seed=int(row["seed"]),
        check=True,
    )
    assert found.result_hash == row["result_hash"]


def test_a_class_and_an_instance_run_beside_others():
    found = wl.compare(schemes=["slc-cache", SmallFirst, SmallFirst(threshold=4096)], **SMALL)
    names = [r.config.scheme.spelling for r in found]
    assert names == ["slc-cache", "small-first", "small-first:threshold=4096"]
    # Requests of 4 KiB are small under both, and all go to SLC.
    assert found[1].result_hash == found[2].result_hash
    assert found[1].config.scheme.parameters.threshold == "16384"
    assert wl.run(scheme=SmallFirst(threshold=0), **SMALL).result_hash != found[1].result_hash


def test_replicas_and_threads_come_to_the_same():
    several = wl.run(scheme=SmallFirst, replicas=3, threads=3, **SMALL).to_dict()
    one = wl.run(scheme=SmallFirst, seed=2, **SMALL)
    assert several["replicas"]["runs"][1]["result_hash"] == one.result_hash


def test_a_combination_may_have_a_class_in_front():
    text = wl.spelling.text(SmallFirst(threshold=8192))
    found = wl.run(scheme=f"{text}+ips", **SMALL)
    assert found.config.scheme.spelling == "small-first:threshold=8192+ips"


def test_a_run_goes_to_other_processes_by_file_and_class(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    run = wl.Run(scheme=f"py:{tmp_path}/mine.py#Mine:size=4KiB", **SMALL)
    here = pickle.loads(pickle.dumps(run)).do()
    code = (
        f"import wordline as wl; print(wl.Run(scheme={run.scheme!r}, **{SMALL!r}).do().result_hash)"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert there.stdout.strip() == here.result_hash
    assert (
        here.config.scheme.parameters.size == "8192" or "size=4KiB" in here.config.scheme.spelling
    )


def test_another_source_is_another_run(tmp_path):
    identities = []
    for letter in "ab":
        folder = tmp_path / letter
        folder.mkdir()
        (folder / "mine.py").write_text(
            "import wordline as wl\n"
            f"# {letter}\n"
            "class Mine(wl.Scheme):\n"
            "    def layout(self, drive): return wl.Layout.one_region(drive)\n"
            "    def place(self, p, view): return wl.to('dense')\n"
        )
        run = wl.Run(scheme=f"py:{folder}/mine.py#Mine", **SMALL)
        identities.append(run.identity()["scheme"]["parameters"]["source"])
    assert identities[0] != identities[1]


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


def test_what_is_learnt_is_saved_with_the_drive_and_goes_on(tmp_path):
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


# ---- What is wrong is said.


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
            'no region "slcc"\n  allowed: slc, dense',
        ),
        ("plane", wl.UserError, "there is no plane 8\n  allowed: 0 to 7"),
        ("outlives", wl.UserError, "a call which is over"),
        ("region", wl.UserError, 'no region "nowhere"\n  allowed: slc, dense'),
        ("type", wl.UserError, "place.. returned 'slc'\n  allowed: what wordline.to"),
    ],
)
def test_what_a_hook_does_wrong_is_an_exception_of_its_own(what, error, message):
    Wrong.kept = None
    with pytest.raises(error, match=message) as raised:
        wl.run(scheme=Wrong(what=what), **SMALL)
    if error is ZeroDivisionError:
        frames = [frame.name for frame in raised.traceback]
        assert frames[-1] == "place"
        if sys.version_info >= (3, 11):
            assert "raised in place of the scheme wrong at" in raised.value.__notes__[0]


def test_parameters_are_held_to_their_types():
    with pytest.raises(wl.UserError, match="has no parameter 'treshold'; it has threshold"):
        SmallFirst(treshold=1)
    with pytest.raises(wl.UserError, match="'big' is not a whole number"):
        SmallFirst(threshold="big")
    with pytest.raises(AttributeError, match="threshold is a parameter"):
        SmallFirst().threshold = 3
    text = wl.spelling.text(SmallFirst)
    with pytest.raises(wl.UserError, match=r"threshold.*'big' is not a whole number"):
        wl.run(scheme=f"{text}:threshold=big", **SMALL)
    with pytest.raises(wl.UserError, match="tresh"):
        wl.run(scheme=f"{text}:treshold=1", **SMALL)
    with pytest.raises(wl.UserError, match="not one of 'device', 'wait', 'direct'"):
        SlcCachePy(when_full="never")


def test_a_class_without_place_is_no_scheme():
    class Half(wl.Scheme):
        def layout(self, drive):
            return wl.Layout.one_region(drive)

    with pytest.raises(wl.UserError, match=r"Half has no method place\(\)"):
        wl.run(scheme=Half, **SMALL)


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("py:none.py#X", "there is no such file"),
        (f"py:{__file__}#Nobody", "has no scheme 'Nobody'; say .* with one of .*SmallFirst"),
        ("py:#Gone", "was typed into an interpreter or a notebook"),
    ],
)
def test_a_spelling_that_leads_nowhere(spelling, message):
    with pytest.raises(wl.UserError, match=message):
        wl.run(scheme=spelling, **SMALL)


def test_an_interrupt_ends_a_run_in_python(tmp_path):
    class Stops(SmallFirst):
        """Interrupts as a user would."""

        def place(self, p, view):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wl.run(scheme=Stops, **SMALL)


def test_the_report_holds_the_hash_of_the_source():
    report = wl.run(scheme=SmallFirst, **SMALL)
    own = wl.scheme.source(SmallFirst)[1][:16]
    assert json.loads(report.json)["config"]["scheme"]["parameters"]["source"] == own
    assert Path(__file__).read_text() == wl.scheme.source(SmallFirst)[0]


def test_the_command_takes_a_class_of_a_file(wordline, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    small = ["--device", "fair-tlc", "--workload", "uniform", "--requests", "500"]
    done = wordline("run", "--scheme", "py:mine.py#Mine:size=4KiB", *small, "--json", "-")
    assert done.code == 0, done.err
    own = wl.Run(
        device="fair-tlc", workload="uniform", requests=500, scheme=f"py:{tmp_path}/mine.py#Mine"
    )
    assert done.json["result_hash"] == own.do().result_hash
    swept = wordline("sweep", "--scheme", "py:mine.py#Mine", "--scheme=slc-cache", *small)
    assert swept.code == 0, swept.err
    wrong = wordline("run", "--scheme=py:mine.py#Mine:size=1", *small)
    assert wrong.code != 0
    assert "ValueError: one" in wrong.err
    lost = wordline("run", "--scheme", "py:mine.py#Yours", *small)
    assert lost.code == 2
    assert "has no scheme 'Yours'" in lost.err


def test_a_report_of_a_class_is_run_again_with_the_class_as_it_was():
    for scheme in (SmallFirst(threshold=4096), f"{wl.spelling.text(SmallFirst)}+ips"):
        report = wl.run(scheme=scheme, **SMALL)
        again = wl.rerun(report, classes=[SmallFirst])
        assert again.result_hash == report.result_hash
        with pytest.raises(wl.UserError, match="a class of Python; give it: classes="):
            wl.rerun(report)
        own = wl.scheme.source(SmallFirst)[1][:16]
        changed = report.json.replace(own, "0" * 16)
        with pytest.raises(wl.UserError, match="source of SmallFirst has changed"):
            wl.rerun(changed, classes=[SmallFirst])


# ---- Under random drives.


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


def test_check_runs_a_scheme_on_random_drives():
    found = wl.check(SlcCachePy, cases=60, power_cuts=0, states=0, seed=7)
    assert found == wl.check(SlcCachePy, cases=60, power_cuts=0, states=0, seed=7)
    assert found.refused > 0, "some drives have no SLC mode"


def test_check_finds_a_broken_rule_and_says_how_to_come_there_again():
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


def test_check_cuts_the_power_and_starts_the_scheme_anew():
    found = wl.check(SlcCachePy, cases=0, power_cuts=20, states=0)
    assert found == wl.check(SlcCachePy, cases=0, power_cuts=20, states=0)
    assert found.power_cuts > 20
    with pytest.raises(LookupError, match="of a start") as raised:
        wl.check(Forgets, cases=0, power_cuts=20)
    if sys.version_info >= (3, 11):
        note = raised.value.__notes__[-1]
        assert "whose power is cut" in note
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
def test_what_is_decided_beforehand_comes_to_what_is_asked_each_time(asked, beforehand):
    how = {"device": "fair-tlc", "workload": "twin:hm_0:closed=8", "requests": 4000, "fit": "wrap"}
    runs = [wl.run(scheme=s, initial="fill:60%", **how) for s in (asked, beforehand)]
    assert runs[0].result_hash == runs[1].result_hash
    drive = wl.Drive(device="fair-tlc", scheme=beforehand, initial="fill:60%")
    drive.play(how["workload"], requests=2000, fit="wrap", keep=True)
    forks = [drive.fork().play("uniform", requests=500) for _ in range(2)]
    assert forks[0].result_hash == forks[1].result_hash
    wl.check(beforehand, cases=10)


def without_speed(report):
    """All of a report but what the machine adds."""
    found = report.to_dict()
    found.pop("speed")
    for replica in found["replicas"]["runs"]:
        replica.pop("speed", None)
    return found


def test_replicas_go_in_processes_and_come_to_what_they_do_in_one():
    how = {"device": "fair-tlc", "workload": "uniform:requests=4k", "replicas": 3}
    seen = []
    runs = {
        threads: wl.run(
            scheme=SlcCachePy, threads=threads, progress=lambda *at: seen.append(at), **how
        )
        for threads in (1, 2)
    }
    assert without_speed(runs[1]) == without_speed(runs[2])
    assert {number for number, _, _ in seen} == {0, 1, 2}
    pair = wl.compare(schemes=["slc-cache", SlcCachePy], threads=2, **how)
    assert pair[0].result_hash == pair[1].result_hash == runs[1].result_hash
    assert without_speed(pair[1]) == without_speed(runs[1])
    # What is said from a process is what is said from this one.
    with pytest.raises(wl.UserError, match="bs=1B"):
        wl.run(scheme=SlcCachePy, threads=2, **{**how, "workload": "uniform:bs=1B"})


MODULE = """
import wordline as wl


class Own(Exception):
    pass


class Late(wl.Scheme):
    of = wl.Param("builtin", "which exception")

    def layout(self, drive):
        return wl.Layout.one_region(drive)

    def place(self, p, view):
        print("not part of any protocol")
        if view.now > 0:
            raise LookupError("too late") if self.of == "builtin" else Own("too late")
        return wl.to("dense")
"""


def test_what_a_scheme_raises_in_a_process_comes_with_its_traceback(tmp_path):
    (tmp_path / "late.py").write_text(MODULE)
    late = f"py:{tmp_path}/late.py#Late"
    how = {"replicas": 2, "threads": 2, **SMALL}
    with pytest.raises(LookupError, match="too late") as raised:
        wl.run(scheme=late, **how)
    if sys.version_info >= (3, 11):
        notes = "\n".join(raised.value.__notes__)
        assert 'late.py", line 18, in place' in notes
        assert "raised in place of the scheme late" in notes
    with pytest.raises(wl.Fault, match="Own: too late"):
        wl.run(scheme=f"{late}:of=own", **how)

    def stop(*_):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        wl.run(scheme=SlcCachePy, progress=stop, **how)


def test_classes_of_a_script_stay_in_its_process(tmp_path):
    # It would begin once more in each process.
    (tmp_path / "script.py").write_text(
        MODULE.replace("if view.now > 0:", "if False:")
        + 'r = wl.run(device="fair-tlc", scheme=Late, workload="uniform", requests=50, replicas=8, '
        "threads=8)\nprint('ran', len(r.to_dict()['replicas']['runs']))\n"
    )
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("ran 8") == 1


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
def test_what_is_compiled_comes_to_what_is_asked_each_time(by, tmp_path, monkeypatch):
    if by == "numba":
        pytest.importorskip("numba", reason="needs pip install 'wordline[compiled]'")
    else:
        monkeypatch.setattr(routes, "_wants_python", [None])
    how = {"device": "fair-tlc", "workload": "zipf:bs=16KiB,qd=8", "requests": 30_000}
    asked = wl.run(scheme=Warm, **how)
    assert wl.run(scheme=WarmCompiled, **how).result_hash == asked.result_hash
    # What it has learnt is the drive's own: saved with it, and copied for each fork.
    later = []
    for scheme in (Warm, WarmCompiled):
        state = tmp_path / f"{scheme.__name__}.state"
        wl.run(scheme=scheme, save_state=state, **how)
        drive = wl.Drive(device="fair-tlc", scheme=scheme)
        drive.play(how["workload"], requests=30_000, keep=True)
        forks = [drive.fork().play(how["workload"], requests=20_000, seed=2) for _ in range(2)]
        later.append(
            [wl.run(scheme=scheme, from_state=state, **how).result_hash]
            + [fork.result_hash for fork in forks]
        )
    assert later[0] == later[1]
    assert later[0][1] == later[0][2]
    assert wl.check(WarmCompiled, cases=10, power_cuts=5) == wl.check(
        WarmCompiled, cases=10, power_cuts=5
    )


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
        (lambda self: [0], "give an array of int64"),
        (lambda self: self.heat[::2], "is not contiguous"),
        (lambda self: self.heat.astype(np.float64), "give an array of int64"),
    ):
        with pytest.raises((wl.UserError, wl.Refused), match=message):
            wl.run(scheme=under(seven, memory), **SMALL)
    wrong = {decide: under(decide, lambda self: self.heat) for decide in (beyond, seven, opens)}
    with pytest.raises(wl.UserError, match="is 7\n  allowed: 0 to 0"):
        wl.run(scheme=wrong[seven], **SMALL)
    with pytest.raises(IndexError, match="out of bounds"):
        wl.check(wrong[beyond], cases=2)
    pytest.importorskip("numba", reason="needs pip install 'wordline[compiled]'")
    with pytest.raises(wl.UserError, match=r"raised an exception\n  hint: wordline\.check"):
        wl.run(scheme=wrong[beyond], **SMALL)
    with pytest.raises((wl.UserError, wl.Refused), match="numba cannot compile opens"):
        wl.run(scheme=wrong[opens], **SMALL)


@pytest.mark.parametrize(
    ("decided", "message"),
    [
        ([], "routes\\(\\) returned no dictionary"),
        ({"hots": wl.to("dense")}, "allowed: host, sealed, collected, moved"),
        ({"host": "dense"}, "a rule that is no place"),
        ({"host": wl.to("sparse")}, "there is no region"),
        (
            {"host": wl.BySize([(9, wl.to("dense")), (9, wl.to("slc"))], wl.to("dense"))},
            "do not rise",
        ),
        ({"host": wl.ByPage(np.zeros(3, np.uint8), [wl.to("dense")])}, "of a byte for each"),
    ],
)
def test_a_decision_that_is_none_is_told(decided, message):
    class Wrong(SlcCachePy):
        pass

    Wrong.routes = lambda self: decided
    with pytest.raises((wl.UserError, wl.Refused), match=message):
        wl.run(scheme=Wrong, **SMALL)


def test_a_report_has_the_source_of_its_class():
    found = wl.run(scheme=SlcCachePy, **SMALL)
    [(name, text)] = found.to_dict()["config"]["scheme"]["sources"].items()
    assert name == "slc-cache-py"
    assert text == Path(inspect.getsourcefile(SlcCachePy)).read_text()
    assert "sources" not in wl.run(scheme="slc-cache", **SMALL).to_dict()["config"]["scheme"]
    assert wl.rerun(found, classes=[SlcCachePy]).result_hash == found.result_hash


@pytest.mark.parametrize("heat", [{}, {"warm": 2, "hot": 5, "r1": 0, "r2_old": 2}])
def test_raro_in_python_moves_what_the_one_in_rust_moves(heat):
    small = {"medium.flash.blocks_per_plane": 10, "capacity.logical": "256MiB"}
    how = {
        "device": "raro-16gb",
        "set": {"errors.model": "raro", **small},
        "workload": "zipf:read=80%,theta=1.2,bs=16KiB,qd=4",
        "requests": 20_000,
        "initial": "fill:90%,valid=80%+pe:qlc=900,tlc=2700,slc=90000+retention:30d",
    }
    given = ",".join(f"{k}={v}" for k, v in heat.items())
    spelling = f"raro:{given}" if given else "raro"
    runs = [wl.run(scheme=s, **how) for s in (spelling, RaroPy(**heat))]
    assert runs[0].result_hash == runs[1].result_hash
    programs = runs[0].to_dict()["flash"]["programs"]
    assert programs["migration"]["program"] > 0
    assert programs["gc"]["program"] > 0


def made(**hooks):
    """Return a scheme with these hooks over a plain SLC cache."""
    plain = {
        "layout": lambda self, drive: replace(wl.Layout.slc_cache(drive), tick_every_writes=10),
        "place": lambda self, p, view: wl.to("slc", "dense"),
    }
    return type("Made", (wl.Scheme,), plain | hooks)


RESTS = {"device": "fair-tlc", "workload": "bursty:bursts=5,quiet=1s", "requests": 300}


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
def test_what_a_hook_must_not_return_is_told_with_what_it_may(hook, answer, allowed):
    with pytest.raises(wl.UserError) as told:
        wl.run(**RESTS, scheme=made(**{hook: lambda *_: answer}))
    assert f"{hook}() returned {answer!r}\n  allowed: {allowed}" in str(told.value)


def test_a_state_that_would_not_come_back_as_it_is_is_told_at_the_end_of_a_run():
    def place(self, p, view):
        self.seen[p.lpn] = 1
        return wl.to("dense")

    with pytest.raises(wl.UserError, match=r"Made.seen has the key \d+, which .* would lose"):
        wl.run(**RESTS, scheme=made(seen=wl.State({}), place=place))
    with pytest.raises(wl.UserError, match=r"Made.seen holds set, which"):
        wl.run(**RESTS, scheme=made(seen=wl.State([{"a": {1}}])))
    kept = made(seen=wl.State({"a": [1, {"b": None}], "c": "d"}))
    assert wl.run(**RESTS, scheme=kept).result_hash


def test_a_method_that_is_nearly_a_hook_is_warned_of():
    with pytest.warns(UserWarning, match="Made.on_idle is no hook, .* did you mean idle"):
        wl.run(**RESTS, scheme=made(on_idle=lambda self, plane, view: None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wl.run(**RESTS, scheme=made(places=lambda self: 1, idle=lambda self, plane, view: None))


def test_a_report_of_a_class_is_done_again_on_the_command_line(tmp_path, capfd):
    file = tmp_path / "first.py"
    file.write_text(
        "import wordline as wl\n\n\nclass First(wl.Scheme):\n"
        "    def layout(self, drive):\n        return wl.Layout.slc_cache(drive)\n\n"
        "    def place(self, p, view):\n        return wl.to('slc', 'dense')\n"
    )
    report = tmp_path / "one.json"
    report.write_text(wl.run(**RESTS, scheme=f"py:{file}#First").json)
    again = ["wordline", "rerun", str(report)]
    assert wl._wordline.main([*again, "--class", f"py:{file}#First"]) == 0
    assert "the same result" in capfd.readouterr().err
    assert wl._wordline.main(again) == 2
    assert "--class py:FILE#CLASS gives" in capfd.readouterr().err
    with pytest.raises(wl.UserError, match="no report's JSON; of a file, give its text"):
        wl.rerun(str(report))


def test_a_class_without_a_tick_runs_where_the_layout_asks_for_ticks():
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
    at = both.plot.followed("share")
    assert [line.get_label() for line in at.lines] == ["following"]
    drawn = list(zip(*at.lines[0].get_data(), strict=True))
    assert drawn == [(0, 1.0), (64, 3.0), (200, 2.0)]
    assert at.lines[0].get_drawstyle() == "steps-post"
    with pytest.raises(wl.UserError, match="name='wear': allowed are share"):
        both.plot.followed("wear")
    with pytest.raises(wl.UserError, match="no scheme here has metrics"):
        both[0].plot.followed("share")


def test_a_hook_that_a_check_has_never_asked_is_warned_of():
    def never(self, view):
        raise RuntimeError

    def layout(self, drive):
        return replace(wl.Layout.slc_cache(drive), tick_every_writes=1_000_000)

    with pytest.warns(UserWarning, match=r"Made\.tick was never asked on these small drives"):
        wl.check(made(layout=layout, tick=never), cases=10, power_cuts=2, states=0)
    asked = made(tick=lambda self, view: [], admit=lambda self, request, view: 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wl.check(asked, cases=10, power_cuts=2, states=0)
