import inspect
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import wordline as wl
from helpers import LIVED, ROOT
from wordline.examples.slc_cache import SlcCachePy

SMALL = {"device": "demo-8gb", "workload": "bursty", "requests": 3000}


@pytest.fixture(scope="module")
def report():
    return wl.run(scheme="slc-cache", check=True, **SMALL)


def test_figures_are_attributes_and_python_numbers(report):
    assert isinstance(report.waf.total, float)
    assert report.waf.total == pytest.approx(
        sum(report.waf.parts[c]["program"] for c in report.waf.parts)
    )
    assert report.latency_us.write.p50 <= report.latency_us.write.p99 <= report.latency_us.write.max
    assert report.host.completed == 3000
    assert report.flash.program_bytes["host"]["program"]["S"] > 0
    assert report.latency_us.trim is None if "trim" in report.latency_us else True
    assert "latency_us" in dir(report)
    with pytest.raises(AttributeError, match="total"):
        _ = report.waf.totl


def test_series_are_float_arrays_of_the_promised_shape(report):
    cdf = report.latency_cdf.write
    assert cdf.dtype == np.float64
    assert cdf.shape[1] == 2
    assert cdf.shape[0] <= 400
    assert (np.diff(cdf, axis=0) > 0).all()
    assert cdf[-1, 1] == 1.0
    rate = report.timeline.write_mb_per_s
    assert rate.ndim == 1
    assert rate.sum() * report.timeline.bin_s * 1e6 == pytest.approx(report.host.write_bytes)
    assert report.timeline.write_latency_us_mean.shape == rate.shape


def test_report_follows_schema(report):
    schema = json.loads((ROOT / "crates/report/report.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(report.to_dict())
    doctored = report.to_dict()
    doctored["host"]["requests"] = "many"
    assert not validator.is_valid(doctored)
    del doctored["host"]
    assert not validator.is_valid(doctored)


@pytest.mark.parametrize("requests", [1e2, np.int64(100), np.float64(100.0)])
def test_whole_numbers_of_any_type_are_counts(requests):
    # As a literal, of numpy, or computed: an integral float once was a TypeError of the engine.
    report = wl.run(device="fair-tlc", scheme="conventional", workload="uniform", requests=requests)
    assert report.host.requests == 100


@pytest.mark.parametrize(
    ("name", "value"), [("requests", "1k"), ("requests", 1.5), ("seed", "one"), ("replicas", 2.5)]
)
def test_number_that_is_not_whole_is_a_user_error(name, value):
    said = rf"{name}={value!r} is not a whole number such as 1000 or 1_000_000"
    with pytest.raises(wl.UserError, match=said):
        wl.run(device="fair-tlc", scheme="conventional", workload="uniform", **{name: value})


def test_more_requests_than_the_engine_counts_are_refused():
    with pytest.raises(wl.UserError, match=r"requests=18446744073709551616 is not below 2\*\*64"):
        wl.run(device="fair-tlc", scheme="conventional", workload="uniform", requests=2**64)


def test_names_may_be_bytes_as_of_the_file_system():
    names = {"device": b"fair-tlc", "workload": b"uniform"}
    assert wl.run(**names, scheme="conventional", requests=100).host.requests == 100


def test_comparison_has_its_decision():
    both = wl.compare(schemes=["conventional", "slc-cache"], **SMALL)
    decision = both.decision
    assert decision.verdict == json.loads(both.json)["decision"]["verdict"]
    write_p99 = next(m for m in decision.measures if m["path"] == "latency_us.write.p99")
    assert write_p99["best"] == [1]
    assert write_p99["values"][1] == both["slc-cache"].latency_us.write.p99


def test_a_comparison_follows_its_schema():
    comparison = wl.compare(schemes=["conventional", "slc-cache"], **SMALL)
    schema = json.loads((ROOT / "crates/report/comparison.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(comparison.to_dict())
    assert len(comparison) == 2
    assert comparison["slc-cache"].scheme.name == "slc-cache"
    assert "conventional" in str(comparison)
    with pytest.raises(KeyError, match="slc-cache"):
        _ = comparison["slc"]


def test_all_compatible_lists_refused_schemes(tmp_path):
    both = wl.compare(schemes=["slc-cache", "all-compatible"], **SMALL)
    ran = [r.scheme.name for r in both]
    assert ran[0] == "slc-cache"
    assert "conventional" in ran
    assert sorted([*ran, *both.refused]) == sorted(s.name for s in wl.schemes())
    assert "two media" in both.refused["hyssd"]
    assert "Not supported on this device:" in str(both)
    assert "hyssd" in both.html()
    schema = json.loads((ROOT / "crates/report/comparison.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(both.to_dict())
    both.save(tmp_path / "all.json")
    assert wl.load(tmp_path / "all.json").refused == both.refused
    with pytest.raises(wl.UserError, match="all-compatible"):
        wl.run(scheme="all-compatible", **SMALL)


def test_the_same_arguments_give_the_same_hash(report):
    again = wl.run(scheme="slc-cache", **SMALL)
    together = wl.compare(schemes=["conventional", "slc-cache"], threads=2, **SMALL)
    assert again.result_hash == report.result_hash == together["slc-cache"].result_hash
    assert wl.run(scheme="slc-cache", seed=9, **SMALL).result_hash != report.result_hash


def test_replicas_have_means_and_intervals(report):
    many = wl.run(scheme="slc-cache", replicas=4, **SMALL)
    assert many.result_hash == report.result_hash
    assert many.replicas.seeds == [1, 2, 3, 4]
    assert many.replicas.result_hashes[2] == wl.run(scheme="slc-cache", seed=3, **SMALL).result_hash
    values = many.replicas.values("latency_us.write.mean")
    found = many.replicas.figures["latency_us.write.mean"]
    assert found.mean == pytest.approx(values.mean())
    assert found.sd == pytest.approx(values.std(ddof=1))
    # Student's t for three degrees of freedom, from a table.
    assert found.half_width_95 == pytest.approx(3.182446 * found.sd / 2, rel=1e-5)
    assert "±" in str(many)
    assert report.replicas is None
    with pytest.raises(KeyError, match=r"latency_us\.write\.mean"):
        _ = many.replicas.figures["latency_us.write.men"]
    schema = json.loads((ROOT / "crates/report/report.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(many.to_dict())
    assert wl.rerun(many).replicas.result_hashes == many.replicas.result_hashes
    with pytest.raises(wl.UserError, match="replicas=0"):
        wl.run(scheme="slc-cache", replicas=0, **SMALL)


def test_replicas_of_a_comparison_are_paired_by_seed():
    both = wl.compare(schemes=["conventional", "slc-cache"], replicas=3, threads=2, **SMALL)
    path = "latency_us.write.p50"
    a, b = (r.replicas.values(path) for r in both)
    found = both.differences_percent["slc-cache"][path]
    assert found.mean == pytest.approx(((b / a - 1) * 100).mean())
    assert [r.replicas.seeds for r in both] == [[1, 2, 3]] * 2
    assert "differences" in [f.name for f in both.figures()]
    assert wl.compare(schemes=["conventional"], **SMALL).differences_percent == {}


def test_steady_state_is_judged(report):
    assert report.steady_state.reached == "no"
    assert "fills up" in report.steady_state.why
    read = wl.run(
        device="demo-8gb",
        scheme="conventional",
        workload="uniform:read=100%,qd=4",
        requests=20_000,
    )
    assert read.steady_state.reached == "yes"
    after = read.steady_state.after
    assert after.waf is None
    assert after.read_latency_us.mean == pytest.approx(read.latency_us.read.mean, rel=0.02)


def test_a_report_reproduces_itself_from_a_file(report, tmp_path):
    report.save(tmp_path / "report.json")
    loaded = wl.load(tmp_path / "report.json")
    assert wl.rerun(loaded).result_hash == report.result_hash
    comparison = wl.Comparison([report])
    comparison.save(tmp_path / "comparison.json")
    assert wl.load(tmp_path / "comparison.json")[0].result_hash == report.result_hash


def test_changed_trace_is_refused(trace):
    report = wl.run(device="demo-8gb", scheme="conventional", workload=trace)
    assert wl.rerun(report).result_hash == report.result_hash
    moved = trace.with_name("elsewhere.csv")
    trace.rename(moved)
    assert wl.rerun(report, workload=moved).result_hash == report.result_hash
    moved.write_text(moved.read_text().replace("Read", "Write"))
    with pytest.raises(wl.UserError, match="SHA-256"):
        wl.rerun(report, workload=moved)


def test_wrong_changes_and_files_are_named(tmp_path):
    for set_ in (["gc.victim=fifo"], "gc.victim=fifo"):
        with pytest.raises(
            wl.UserError, match=r"is not a dict\n  allowed: set={'gc.victim': 'fifo'}"
        ):
            wl.run(device="fair-tlc", scheme="conventional", workload="uniform", set=set_)
        with pytest.raises(wl.UserError, match="is not a dict"):
            wl.sweep(device="fair-tlc", schemes=["conventional"], workload="uniform", set=set_)
    file = tmp_path / "mine.toml"
    file.write_text("x = 1\n")
    with pytest.raises(wl.UserError, match=r"mine\.toml: cannot be read as a report"):
        wl.load(file)


def test_changes_reach_device_workload_and_scheme():
    changes = {"gc.victim": "fifo", "workload.read": "50%", "scheme.when_full": "wait"}
    report = wl.run(scheme="slc-cache", set=changes, **SMALL)
    assert report.config["device"]["gc"]["victim"] == "fifo"
    assert report.scheme.name == "slc-cache:when_full=wait"
    assert report.config["workload"]["text"] == "bursty:read=50%"


def test_user_errors_differ_from_refusals():
    with pytest.raises(wl.UserError, match="did you mean"):
        wl.run(scheme="slc-cashe", **SMALL)
    with pytest.raises(wl.Refused, match="slc-cache does not support device mqsim-qd1"):
        wl.run(device="mqsim-qd1", scheme="slc-cache", workload="uniform", requests=10)
    with pytest.raises(wl.UserError, match="seed"):
        wl.run(scheme="conventional", seed=-1, **SMALL)
    with pytest.raises(wl.UserError, match="list"):
        wl.compare(schemes="conventional", **SMALL)
    assert issubclass(wl.UserError, ValueError)
    assert issubclass(wl.Fault, RuntimeError)


WRONG = [
    ({"device": "demo-9gb"}, 'device="demo-9gb": no built-in', "`wordline.devices()`"),
    ({"initial": "full"}, 'initial="full": ', ""),
    ({"initial": "steady", "workload": "bursty"}, "", ""),
    ({"fit": "wrp"}, 'fit="wrp": ', ""),
    ({"set": {"gc.victim": "luck"}}, 'set={"gc.victim": "luck"}: gc.victim', ""),
    ({"set": {"scheme.x": 1}}, 'set={"scheme.x": "1"}: scheme slc-cache has no', ""),
    ({"scheme": "slc"}, "unknown scheme", "`wordline.schemes()`"),
    ({"scheme": "slc-cache:x=1"}, "scheme slc-cache:x=1: unknown key", ""),
    ({"from_state": "none.state"}, 'from_state="none.state": ', ""),
    ({"from_state": __file__}, "a run with save_state=", ""),
    ({"from_state": __file__, "initial": "fresh"}, "", ""),
    ({"save_state": "/nowhere/a.state"}, 'save_state="/nowhere/a.state": ', ""),
    ({"save_state": "a.state", "replicas": 2}, "omit replicas=", ""),
    ({"traces": "/nowhere", "workload": "twin:hm_0"}, "traces= or WORDLINE_TRACES", ""),
    ({"log": "log.csv", "replicas": 2}, "completions= and timeline= record a single run", ""),
    ({"timeline": "t.json", "window": "1..2"}, 'window="1..2": ', ""),
    ({"timeline": "t.json", "window": "2h..3h"}, 'window="2h..3h": the run ends at ', ""),
    ({"timeline": "t.json", "around": 500}, "around=500: no such request in this run", ""),
]


@pytest.mark.parametrize(("wrong", "said", "more"), WRONG)
def test_errors_speak_in_the_terms_of_the_caller(wrong, said, more, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {"device": "demo-8gb", "scheme": "slc-cache", "workload": "bursty", "requests": 500}
    asked |= wrong
    if wrong.get("initial") == "steady":
        asked["set"] = {"dram.map_cache": "1MiB"}
        said = 'fill the drive (initial="fill:9'
    try:
        wl.run(**asked)
    except wl.UserError as e:
        text, typed = str(e), getattr(e, "on_command_line", str(e))
    else:
        pytest.fail("nothing was refused")
    assert said in text
    assert more in text
    assert "--" not in text
    # One who typed a command reads the same in its terms.
    assert "=" not in typed or "--" in typed or text == typed


def test_what_progress_raises_ends_the_run():
    seen = []

    def stop(run, completed, seconds):
        seen.append((run, completed, seconds))
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        wl.run(
            device="demo-8gb",
            scheme="conventional",
            workload="uniform:read=100%",
            requests=100_000,
            progress=stop,
        )
    assert seen[0][0] == 0
    assert 0 < seen[0][1] < 100_000


def test_other_threads_run_while_a_device_does():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            done.wait(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    wl.run(device="demo-8gb", scheme="conventional", workload="uniform", requests=200_000)
    took = time.monotonic() - begin
    done.set()
    thread.join()
    # Had the run kept the interpreter, there would be a gap as long as the run.
    gaps = np.diff([begin, *ticks, time.monotonic()])
    assert gaps.max() < max(0.5 * took, 0.05)


def test_ctrl_c_ends_a_run():
    code = (
        "import wordline as wl, signal\n"
        # A shell starts what runs in the background with interrupts ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "said = []\n"
        "def note(*_):\n"
        "    if not said:\n"
        "        said.append(1); print('running', flush=True)\n"
        "try:\n"
        "    wl.run(device='demo-8gb', scheme='conventional', workload='uniform:read=100%',"
        " requests=10**12, progress=note, initial='fill:100%')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert out == "interrupted\n"


def test_a_notebook_gets_a_table_and_pictures(report):
    page = report._repr_html_()
    assert page.startswith("<pre ")
    assert "<svg" in page
    assert report.html().lstrip().lower().startswith("<!doctype html>")
    names = [f.name for f in report.figures()]
    assert "write-latency-cdf" in names
    assert len(names) == len(set(names))


def test_listings_name_what_can_be_run():
    assert "demo-8gb" in [d.name for d in wl.devices()]
    assert [s.name for s in wl.schemes()][:2] == ["conventional", "slc-cache"]
    assert "bursty" in [w.name for w in wl.workloads()]
    assert all(
        e.description for e in [*wl.devices(), *wl.schemes(), *wl.workloads(), *wl.formats()]
    )


def test_inspect_says_what_a_trace_is(trace):
    found = wl.inspect(trace)
    assert found.requests == 200
    assert "msr" in found.format
    assert found.unusable["count"] == 0


def test_saved_drive_needs_same_scheme(tmp_path):
    state = tmp_path / "aged.state"
    wl.run(scheme="slc-cache", save_state=state, initial="fill:90%", **SMALL)
    first = wl.run(scheme="slc-cache", from_state=state, check=True, **SMALL)
    assert first.to_dict()["config"]["initial"]["state"]["file"] == str(state)
    assert wl.rerun(first).result_hash == first.result_hash
    both = wl.compare(schemes=["slc-cache"] * 2, from_state=state, **SMALL)
    assert [both[i].result_hash for i in range(2)] == [first.result_hash] * 2
    with pytest.raises(wl.UserError, match="state was saved under scheme slc-cache"):
        wl.run(scheme="conventional", from_state=state, **SMALL)
    with pytest.raises(wl.UserError, match="use one of the two"):
        wl.run(scheme="slc-cache", from_state=state, initial="fresh", **SMALL)


def test_run_object_equals_run_call(report):
    described = wl.Run(scheme="slc-cache", check=True, **SMALL)
    assert described == wl.Run(scheme="slc-cache", check=True, **SMALL)
    assert {described: 1}[wl.Run(scheme="slc-cache", check=True, **SMALL)] == 1
    assert described.identity() == wl.identity(scheme="slc-cache", check=True, **SMALL)
    assert described.do().result_hash == report.result_hash
    changed = wl.Run(scheme="slc-cache", set=(("gc.victim", "fifo"),), **SMALL)
    by_arguments = wl.run(scheme="slc-cache", set={"gc.victim": "fifo"}, replicas=2, **SMALL)
    assert changed.do(replicas=2).replicas.result_hashes == by_arguments.replicas.result_hashes


def test_a_run_after_another_begins_with_its_drive(tmp_path):
    aging = wl.Run(scheme="slc-cache", **{**SMALL, "workload": "uniform"})
    aging.do(save_state=tmp_path / "aged.state")
    aged = wl.run(scheme="slc-cache", from_state=tmp_path / "aged.state", **SMALL)
    later = wl.Run(scheme="slc-cache", after=aging, initial="fresh", **SMALL)
    assert later.do().result_hash == aged.result_hash
    assert aged.result_hash != wl.run(scheme="slc-cache", **SMALL).result_hash
    two = wl.Run(scheme="slc-cache", after=aging, from_state="aged.state", **SMALL)
    with pytest.raises(wl.UserError, match="after and from_state exclude each other"):
        two.do()


def test_lifetimes_have_figures_and_page():
    seen = []
    lived = wl.lifetime(
        schemes=["conventional", "raro"],
        acceleration=100,
        shelf="1d",
        replicas=2,
        progress=lambda scheme, seed, writes: seen.append((scheme, seed)),
        **LIVED,
    )
    assert lived.acceleration == 100
    assert lived.shelf_s == 86_400
    for scheme in lived.to_dict()["schemes"]:
        assert [life["seed"] for life in scheme["lives"]] == [1, 2]
        assert all(life["total_bytes_written"] > 0 and life["phases"] for life in scheme["lives"])
        assert scheme["check"]["acceleration"] == 50
    assert {scheme for scheme, _ in seen} == {0, 1}
    assert "host writes" in str(lived)
    assert lived.figures()[0].name == "lifetime-written"
    assert lived.csv().startswith("scheme,seed,acceleration,phase,")
    page = lived.html()
    assert page.startswith("<!doctype html>")
    assert "DWPD over 5 years" in page


def test_stored_lifetimes_resume(tmp_path):
    how = {"schemes": ["conventional", "raro"], "acceleration": 100, "replicas": 2, **LIVED}
    whole = wl.lifetime(**how)
    kept = wl.lifetime(out=tmp_path, **how)
    assert kept.to_dict() == whole.to_dict()
    files = sorted((tmp_path / "runs").iterdir())
    assert len(files) == 2 * (2 + 1)
    before = {file: file.stat().st_mtime_ns for file in files}
    files[0].unlink()
    again = wl.lifetime(out=tmp_path, **how)
    assert again.to_dict() == whole.to_dict()
    assert [f for f in files if f.stat().st_mtime_ns != before[f]] == files[:1]
    # Another end is another life.
    wl.lifetime(out=tmp_path, end="out-of-space", **how)
    assert len(list((tmp_path / "runs").iterdir())) == 2 * len(files)
    with pytest.raises(wl.UserError, match="is not an end condition; allowed"):
        wl.lifetime(out=tmp_path, end="soon", **how)


def test_what_is_wrong_with_lifetimes_is_a_user_error():
    with pytest.raises(wl.UserError, match="pass a list"):
        wl.lifetime(schemes="raro", **LIVED)
    with pytest.raises(wl.UserError, match="acceleration=0"):
        wl.lifetime(schemes=["raro"], acceleration=0, **LIVED)
    with pytest.raises(wl.UserError, match="is not a time"):
        wl.lifetime(schemes=["raro"], shelf="long", **LIVED)
    with pytest.raises(wl.UserError, match="is not an end condition; allowed: capacity"):
        wl.lifetime(schemes=["raro"], end="soon", **LIVED)


def test_every_public_name_says_what_it_is():
    # ruff asks for it in all other modules, and takes those that begin with _ for private.
    package = Path(wl.__file__).parent

    def is_written(function):
        # What a NamedTuple or a dataclass makes lies elsewhere.
        return package in Path(function.__code__.co_filename).parents

    for name in sorted(set(wl.__all__) - {"__version__"}):
        public = getattr(wl, name)
        assert public.__doc__, name
        written = [
            c for c in getattr(public, "__mro__", ()) if c.__module__.startswith("wordline.")
        ]
        for member, found in [pair for c in written for pair in vars(c).items()]:
            function = found.fget if isinstance(found, property) else found
            is_public = not member.startswith("_") or member.endswith("__")
            if is_public and inspect.isfunction(function) and is_written(function):
                assert function.__doc__, f"{name}.{member}"


def test_a_bar_is_shown_to_those_who_ask_for_one(capfd):
    how = {"device": "fair-tlc", "workload": "uniform", "requests": 3000}
    plain = wl.run(scheme="slc-cache", **how)
    assert capfd.readouterr().err == ""
    shown = wl.run(scheme="slc-cache", progress=True, **how)
    assert shown.result_hash == plain.result_hash
    assert "3.00k/3.00k" in capfd.readouterr().err
    wl.compare(schemes=["slc-cache", "sector"], progress=True, replicas=2, **how)
    assert "12.0k/12.0k" in capfd.readouterr().err
    wl.sweep(schemes=["slc-cache", "sector"], progress=True, **how)
    assert "2/2" in capfd.readouterr().err
    wl.Drive(device="fair-tlc", scheme="sector").play("uniform", requests=900, progress=True)
    assert "900/900" in capfd.readouterr().err
    assert wl.run(scheme="slc-cache", progress=False, **how).result_hash == plain.result_hash


def test_explain_returns_what_the_command_prints():
    assert "unused part of a page" in wl.explain("WAF excluding padding")
    assert "lower is better" in wl.explain("why did WAF rise?")
    assert "when_full" in wl.explain(SlcCachePy)

    class Inner(SlcCachePy):
        pass

    with pytest.raises(wl.UserError, match="no other process finds this class"):
        wl.explain(Inner)
    with pytest.raises(wl.UserError, match="pass a name as text, or a class of Scheme"):
        wl.explain(3)
    with pytest.raises(wl.UserError, match="unknown device"):
        wl.explain("nonesuch")
    with pytest.raises(wl.UserError, match="the name is empty"):
        wl.explain(" ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"plane": 99}, "plane is one of home, any, next-channel, most-free"),
        ({"gather": None}, "gather is one of fill, as-is, whole"),
        ({"avoid": 5}, "avoid is a list of channel numbers"),
    ],
)
def test_a_place_of_wrong_types_says_what_is_allowed(arguments, says):
    with pytest.raises(wl.UserError, match=says):
        wl.to("slc", **arguments)


def test_words_of_a_place_are_those_of_the_engine():
    for name, words in wl.scheme._WORDS.items():
        with pytest.raises(wl.UserError) as told:
            wl.to("slc", **{name: "nonesuch"})
        allowed = str(told.value).partition("allowed: ")[2]
        assert set(words.split(", ")) == set(allowed.split(", "))


def test_a_report_lists_each_attribute_once():
    names = dir(wl.run(device="demo-8gb", scheme="conventional", workload="bursty", requests=9))
    assert len(names) == len(set(names))
    assert "metrics" in names
    assert "followed" not in names
