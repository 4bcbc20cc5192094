"""A search for parameters, and a candidate that is judged."""

import json
import textwrap
from dataclasses import replace

import pytest

import wordline as wl
from wordline.search.space import spelled

HOW = {
    "device": "fair-tlc",
    "workloads": ["twin:hm_0:closed=8", "twin:prxy_0:closed=8"],
    "objectives": ["latency_us.write.mean"],
    "requests": 400,
    "fit": "wrap",
    "initial": "fill:60%",
}
SPACE = {"static_blocks": (4, 60), "when_full": ["wait", "direct"]}


def search(**more):
    return wl.tune("slc-cache", **{"space": SPACE, "trials": 20, **HOW, **more})


def test_search_is_reproducible():
    one, two = search(threads=1), search(threads=2)
    assert one == two
    assert [t.number for t in one.trials] == list(range(20))
    assert one != search(seed=2)
    best = one.best
    assert (
        best.scheme
        == f"slc-cache:static_blocks={best.parameters['static_blocks']},when_full="
        + (best.parameters["when_full"])
    )
    assert best.costs == min(t.costs for t in one.trials if t.costs)
    run = {k: v for k, v in HOW.items() if k not in ("workloads", "objectives")}
    ratio = 1.0
    for workload in HOW["workloads"]:
        c = wl.compare(schemes=["slc-cache", best.scheme], workload=workload, **run)
        ratio *= c[1].latency_us.write.mean / c[0].latency_us.write.mean
    assert best.costs[0] == pytest.approx(ratio**0.5)
    assert "20 trials of slc-cache" in one._repr_html_()
    assert repr(one).startswith(f"<Tuned in 20 trials: {best.scheme} against slc-cache: ")


def test_search_and_judge_count_steady_runs():
    short = search(trials=2)
    runs = f"0 of {short.best.steady.runs + short.reference.runs} runs steady"
    needed = max(short.best.steady.needed, short.reference.needed)
    assert short.answer == f"not known: run longer, such as with requests={needed} ({runs})"
    # With so many each run writes the drive once.
    run = {k: v for k, v in HOW.items() if k not in ("workloads", "objectives")}
    for workload in HOW["workloads"]:
        r = wl.run(scheme="slc-cache", workload=workload, **run)
        written = r.host.write_bytes / r.capacity.logical_bytes
        assert written * needed / HOW["requests"] >= 1
    assert short.answer in repr(short)
    assert short.to_dict()["answer"] == short.answer
    assert {row["steady"] for row in short.to_dict()["trials"]} == {0}
    found = judged("slc-cache", against="conventional")
    assert found["steady"] == {"steady": 0, "runs": 2 * 2 * len(HOW["workloads"])}
    assert found["answer"].startswith("not known: run longer, such as with requests=")
    # Steady runs have an answer, and with how many of them.
    long = {"workloads": ["uniform:read=0%,bs=16KiB"], "requests": 150_000, "initial": "steady"}
    found = judged("conventional", against="conventional", **long)
    assert found["steady"] == {"steady": 4, "runs": 4}
    assert found["answer"] == "latency_us.write.mean 1 times (1 to 1) (4 of 4 runs steady)"


def test_interrupted_search_resumes(tmp_path):
    class Enough(Exception):
        pass

    def stop(done, of):
        assert of == 20
        if done >= 8:
            raise Enough

    with pytest.raises(Enough):
        search(out=tmp_path, progress=stop)
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "runs").iterdir()}
    assert kept
    again = search(out=tmp_path)
    assert again == search()
    assert kept == {file: file.stat().st_mtime_ns for file in kept}
    told = json.loads((tmp_path / "tuned.json").read_text())
    assert told["best"] == again.best.scheme
    assert len(told["trials"]) == 20


def test_a_run_in_place_of_a_workload_is_done_as_it_is(tmp_path):
    how = {k: HOW[k] for k in ("device", "requests", "fit", "initial")}
    runs = [wl.Run(scheme="slc-cache", workload=w, **how) for w in HOW["workloads"]]
    assert search(workloads=runs).trials == search().trials
    other = [replace(runs[0], initial="fill:30%"), runs[1]]
    search(workloads=other, out=tmp_path, trials=4)
    told = json.loads((tmp_path / "tuned.json").read_text())["how"]["workloads"]
    assert [w["initial"] for w in told] == ["fill:30%", "fill:60%"]
    kept = [json.loads(file.read_text()) for file in (tmp_path / "runs").glob("*.json")]
    pairs = {(r["config"]["workload"]["name"], r["config"]["initial"]["spelling"]) for r in kept}
    assert len(pairs) == 2


def test_value_overrides_spelling():
    assert spelled("hyssd:perf,period=9", {"period": 7, "age": 2}) == "hyssd:perf,period=7,age=2"
    assert spelled("sector:static_blocks=9+pa-ssd", {"queue": 3}).endswith("=9+pa-ssd:queue=3")
    assert spelled("py:a/b:c.py#K:x=1", {"x": 2}) == "py:a/b:c.py#K:x=2"


def test_objectives_have_a_pareto_front():
    found = search(objectives=["latency_us.write.mean", "+throughput.iops"])
    costs = [t.costs for t in found.frontier]
    assert costs == sorted(set(costs))
    for t in (t for t in found.trials if t.costs):
        assert any(all(a <= b for a, b in zip(best, t.costs, strict=True)) for best in costs)


def test_refused_candidates_have_reasons():
    found = search(space={"static_blocks": [1, 8, 5000]})
    left = {t.parameters["static_blocks"]: t.left_out for t in found.trials if t.left_out}
    assert "a cache of 1 blocks" in left[1]
    assert set(left) <= {1, 5000, 8}
    assert found.best.parameters == {"static_blocks": 8}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"space": {}}, "name at least one parameter"),
        ({"space": {"static_blocks": (9, 2)}}, "give a list of choices, or bounds"),
        ({"space": {"static_blocks": (0, 9, "log")}}, "give a list of choices, or bounds"),
        ({"space": {"static_blocks": []}}, "give a list of choices, or bounds"),
        ({"space": {"static_block": (2, 9)}}, "did you mean .*static_blocks"),
        ({"space": {"static_blocks": [1]}}, "no trial of slc-cache completed:"),
        ({"objectives": ["waf.totl"]}, "no workload has this figure"),
        ({"objectives": "waf.total"}, "give a list of figures"),
        ({"objectives": ["waf.total", "+waf.total"]}, "appears twice"),
        ({"workloads": "twin:hm_0"}, "pass a list of at least one"),
        ({"workloads": ["twin:hm_9"]}, "unknown twin"),
        ({"trials": 0}, "trials=0"),
    ],
)
def test_a_search_that_cannot_be_says_why(changes, message):
    with pytest.raises(wl.UserError, match=message):
        _ = search(**{"trials": 2, **changes}).best


def judged(scheme, **more):
    return wl.judge(scheme, **{**HOW, "seeds": 2, "cases": 5, **more})


def test_scheme_is_judged_on_other_seeds():
    own = judged("slc-cache", against="slc-cache")
    assert own["verdict"] == "sound"
    assert own["overall"]["latency_us.write.mean"] == {"ratio": 1, "low": 1, "high": 1}
    assert min(own["seeds"]) > 1_000_000
    other = judged("slc-cache", against="conventional", seeds=3)
    found = other["overall"]["latency_us.write.mean"]
    assert found["low"] <= found["ratio"] <= found["high"]
    assert set(other["workloads"]) == set(HOW["workloads"])


CANDIDATE = """
    import os
    import wordline as wl

    class Candidate(wl.Scheme):
        def layout(self, drive):
            return wl.Layout.one_region(drive)

        def place(self, p, view):
            {body}
            return wl.to("dense")
"""


@pytest.mark.parametrize(
    ("body", "verdict", "why"),
    [
        ("pass", "sound", None),
        ("print('{}')", "sound", None),
        ("raise ValueError('lost')", "broken", "ValueError: lost"),
        ("return wl.to('sparse')", "refused", "sparse"),
        ("os._exit(3)", "broken", "the process ended with 3"),
        ('print(\'{"verdict": "sound"}\', flush=True); os._exit(0)', "broken", "ended with 0"),
        # It keeps the interpreter's lock, as an endless loop does, and takes no time of a core.
        ("import ctypes; ctypes.PyDLL(None).pause()", "too slow", "longer than 4 s"),
    ],
)
def test_a_candidate_cannot_win_by_breaking_anything(tmp_path, body, verdict, why):
    file = tmp_path / "candidate.py"
    file.write_text(textwrap.dedent(CANDIDATE).replace("{body}", body))
    timeout = 4 if verdict == "too slow" else 300
    found = judged(f"py:{file}#Candidate", cases=1, requests=50, timeout_s=timeout)
    assert found["verdict"] == verdict, found
    assert why is None or why in found["why"]
    assert ("overall" in found) == (verdict == "sound")


def test_a_judgement_that_cannot_be_says_why():
    assert judged("slc-cash")["verdict"] == "refused"
    with pytest.raises(wl.UserError, match="an interval needs"):
        judged("slc-cache", seeds=1)
    with pytest.raises(wl.UserError, match="pass a list"):
        judged("slc-cache", workloads="twin:hm_0")
