"""Papers run again: the command, and how claims are judged."""

import json
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

import wordline as wl
from helpers import ROOT
from wordline_lab import reproduce
from wordline_lab.reproduce import (
    changes,
    claims,
    groups,
    overview,
    page,
    paper,
    readings,
    sections,
    sentences,
    verdicts,
)

CLAIM = """
[[claim]]
id = "one"
where = "Fig. 1"
says = "what {value} says"
class = "T1"
kind = "result"
no_effect = 0.0
measure = "dominated"
with = { workload = "DAP", scheme = "US" }
over.page = ["lsb", "msb"]
printed = { lsb = 0.5, msb = 0.2 }
within = "10%"
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "claims.toml"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("name", paper.papers())
def test_the_folder_of_every_paper_fits_together(name):
    read = paper.read(name)
    rows = claims.read(read.folder / "claims.toml")
    assert rows
    for row in rows:
        assert callable(getattr(read.module, row.measure)), row.id
    ids = {row.id for row in rows}
    for pattern, _ in claims.causes_of(read):
        assert any(claims.fnmatchcase(i, pattern) for i in ids), f"no claim is like {pattern}"
    for figure in read.figures:
        for pattern in figure.runs:
            there = any(paper.is_named(n, [pattern]) for n in read.runs)
            assert there or read.lacks(figure), f"no run {pattern}"
    for run in read.runs.values():
        run.identity()


@pytest.mark.parametrize("name", paper.papers())
def test_what_changed_since_the_page_before_has_its_reason(name):
    folder = paper.papers()[name]
    rows = claims.read(folder / "claims.toml")
    assert changes.faults(folder, rows) == []
    ids = {row.id for row in rows} | set(changes.before(folder)["claims"])
    for change in changes.read(folder):
        there = any(claims.fnmatchcase(i, change.claims) for i in ids)
        assert there, f"no claim is like {change.claims}"
        assert change.why


@pytest.mark.parametrize("name", paper.papers())
def test_every_result_is_a_sentence_of_the_paper(name):
    read = paper.read(name)
    rows = claims.read(read.folder / "claims.toml")
    assert read.sentences
    assert sentences.faults(read.sentences, {c.id: c.kind == "result" for c in rows}) == []


@pytest.mark.parametrize("name", paper.papers())
def test_every_alternative_changes_runs_or_measures(name):
    read = paper.read(name)
    ids = [row.id for row in claims.read(read.folder / "claims.toml")]
    assert read.readings.all
    for choice in read.readings.choices():
        other = paper.read(name, otherwise=choice.label.split(","))
        for reading, alternative in read.readings.alternatives(choice):
            numbers = [f.number for f in read.figures if f.is_asked(reading.figures)]
            assert numbers or not reading.figures, f"{reading.name}: no such figure"
            for pattern in alternative.claims:
                assert any(claims.fnmatchcase(i, pattern) for i in ids), (choice.label, pattern)
        turned = [n for n in other.turned() if other.runs[n] != read.runs.get(n)]
        assert turned or any(a.claims for _, a in read.readings.alternatives(choice)), choice.label
        for run in {other.runs[n] for n in turned[:: max(1, len(turned) // 20)]}:
            run.identity()


@pytest.mark.parametrize("name", paper.papers())
def test_claims_and_figures_need_no_cause_run(name):
    read = paper.read(name)
    groups = {run.split("/")[0] for run in read.runs}
    assert set(read.causes) < groups
    for row in claims.read(read.folder / "claims.toml"):
        assert row.arguments.get("group") not in read.causes, row.id
    table = [figure for figure in read.figures if figure.shows_causes]
    assert len(table) == bool(read.causes)
    for figure in read.figures:
        named = {pattern.split("/")[0] for pattern in figure.runs}
        assert figure.shows_causes or not named & set(read.causes), figure.number


def test_cause_runs_are_done_on_request():
    asked = reproduce._is_asked
    assert asked("main/Fin/US", ["*"], [], ["busier"])
    assert not asked("busier/Fin/US", ["*"], [], ["busier"])
    assert asked("busier/Fin/US", ["*"], [], [])
    assert asked("busier/Fin/US", ["*"], ["busier/*"], [])
    assert not asked("main/Fin/US", ["*"], ["busier/*"], [])
    assert not asked("main/Fin/US", ["rounds/*"], [], [])


def test_a_group_may_have_the_workloads_of_another():
    tables = [
        {"name": "near", "own_workloads": {"x": "uniform"}},
        {"name": "far", "own_workloads": "near"},
    ]
    groups.share_workloads(tables, Path("experiment.toml"))
    assert tables[1]["own_workloads"] == {"x": "uniform"}
    tables.append({"name": "off", "own_workloads": "nearby"})
    with pytest.raises(wl.UserError, match=r"off\.own_workloads.*'nearby'.*allowed: near"):
        groups.share_workloads(tables, Path("experiment.toml"))


def read_initial(read):
    return next(iter(read.runs.values())).initial


def test_the_overview_counts_what_the_folders_say(tmp_path):
    def judged(name, verdicts, scale=1):
        rows = [
            {"id": f"c{i}", "where": "Fig. 1", "says": "so", "kind": k, "verdict": v, "cause": why}
            for i, (k, v, why) in enumerate(verdicts)
        ]
        findings = [f"{name} was found", "and more", "too much"]
        said = {"verdict": "as it is", "model": "", "findings": findings}
        found = {**said, "scale": scale, "workloads": "", "claims": rows}
        (tmp_path / name).mkdir()
        (tmp_path / name / "claims.json").write_text(json.dumps(found))

    held = ("model", "holds", None)
    bus, die = ("result", "deviates", "the bus"), ("model", "deviates", "the die")
    judged("raro", [held, held, bus, die, bus, ("calibration", "calibration", None)], 4)
    judged("ips", [("result", v, None) for v in ("not-run", "holds", "deviates")])
    page = overview.write(tmp_path).read_text()
    lines = [line for line in page.splitlines() if line.startswith("| [")]
    rows = {line.split("](")[1].split("/")[0]: line for line in lines}
    assert [c.strip() for c in rows["raro"].split("|")[2:-1]] == [
        *("1/4, main readings, not registered", "2", "0", "", "2", "2 of 3", ""),
    ]
    assert [c.strip() for c in rows["ips"].split("|")[2:-1]] == [
        *("full, main readings, not registered", "2", "1", "", "1", "", "1"),
    ]
    assert "| all |  | 4 | 1 |  | 3 | 2 of 3 | 1 |\n" in page
    assert "\n- [raro](raro/README.md): raro was found\n" in page
    assert "and more" in page
    assert "too much" not in page
    assert "Not there: hyssd, pa-ssd" in page or "Not there: hierarchy, hyssd, pa-ssd" in page


def test_a_figure_is_drawn_from_a_scaled_run_and_says_so(wordline, tmp_path):
    arguments = ("reproduce", "pa-ssd", "--figure", "10", "--figure", "5", "--scale", "48")
    done = wordline(*arguments, "--out", "p", timeout=600)
    assert done.code == 0, done.out + done.err
    picture = (tmp_path / "p" / "figure-10.svg").read_text()
    assert "synthetic twins, not the traces themselves: dap" in picture
    assert "scaled down by 48" in picture
    found = json.loads((tmp_path / "p" / "claims.json").read_text())
    verdicts = {row["id"]: row["verdict"] for row in found["claims"]}
    # What needs no full scale holds at any; what was not asked for is not run, and holds nothing.
    assert verdicts["5-slow-4"] == "holds"
    assert verdicts["9a-us"] == "not-run"
    assert verdicts["12a-baseline"] == "not-run"
    assert verdicts["table-1-channels"] == "not-run"
    # What was asked for comes first, then claims; what was not run is counted and not listed.
    said = done.out
    assert said.index("at 1/48 of the scale, figures 10 and 5 only") < said.index("Figure 5: ")
    assert said.index("Figure 10: ") < said.index("picture: p/figure-10.svg")
    assert said.index("picture: p/figure-10.svg") < said.index("Claims on figures 10 and 5")
    assert said.index("Claims on figures 10 and 5") < said.index("5-slow-4")
    assert "9a-us" not in said
    assert "On other figures, by the same runs: " in said
    results = [row["verdict"] for row in found["claims"] if row["kind"] == "result"]
    assert f"{results.count('not-run')} not run" in said
    assert "the model is the paper's: " in said
    # Causes were found at full scale, so none is given here.
    known = {row["cause"] for row in found["claims"] if row["verdict"] == "deviates"}
    assert known <= {None, "what it speaks of did not occur"}
    assert "Why claims deviate was found out at full scale" in said
    page = (tmp_path / "p" / "README.md").read_text()
    assert "**At 1/48 of the scale, figures 10 and 5 only.**" in page
    assert page.index("results put to the test hold") < page.index("## Results by figure")
    assert page.index("## Results by figure") < page.index("## What deviates")
    assert "wordline reproduce pa-ssd --figure 10 --figure 5 --scale 48" in page
    words = runpy.run_path(str(ROOT / "tests" / "words.py"))
    assert words["prose"](page) <= words["PAPER_PAGE"]
    figures = (tmp_path / "p" / "figures.md").read_text()
    assert figures.startswith("# Figures and tables: pa-ssd\n\nOf [PA-SSD: ")
    assert "\n## Figure 10: " in figures
    claims = (tmp_path / "p" / "claims.md").read_text()
    assert claims.index("## Every result") < claims.index("## The model is the paper's")
    # Causes, and what came out before, are those of full scale.
    for name in ("causes.md", "changelog.md"):
        assert not (tmp_path / "p" / name).exists()
        assert name not in page
    whole = (tmp_path / "p" / "index.html").read_text()
    assert whole.index("Figures and tables</h2>") < whole.index("Every result</h2>")
    again = wordline(*arguments, "--out", "p", timeout=600)
    assert "0 runs done and 21 found" in again.out


def test_what_has_finished_makes_a_page_without_a_run(wordline, tmp_path):
    asked = ("reproduce", "ips", "--figure", "12a", "--scale", "64", "--readings", "--out", "p")
    nothing = wordline(*asked, "--finished")
    assert nothing.code == 2
    assert "omit --finished" in nothing.err
    main = [word for word in asked if word != "--readings"]
    assert "8 runs done" in wordline(*main).out
    part = wordline(*asked, "--finished").out
    assert "0 runs done and 8 found" in part
    assert "put to the test under the readings that were run" in part
    assert "not run; `--reading split=traditional` does" in (tmp_path / "p/README.md").read_text()
    assert "8 runs done and 8 found" in wordline(*asked).out
    kept = sorted((tmp_path / "p/runs").iterdir(), key=lambda file: file.stat().st_mtime_ns)
    last = kept[-1].read_bytes()
    kept[-1].unlink()
    part = wordline(*asked, "--finished").out
    assert "0 runs done and 15 found" in part
    assert "put to the test under the readings that were run" in part
    assert "so far, `--reading" in (tmp_path / "p/README.md").read_text()
    kept[-1].write_bytes(last)
    whole = wordline(*asked, "--finished").out
    assert "0 runs done and 16 found" in whole
    assert "put to the test under any reading" in whole


def test_a_figure_of_formulas_alone_needs_no_run(wordline):
    asked = ("reproduce", "raro", "--figure", "table-fit", "--out", "p")
    assert "none to do" in wordline(*asked, "--dry-run").out
    done = wordline(*asked)
    assert done.code == 0
    assert "table-fit.csv" in done.out
    assert "0 of 0" not in done.out


def test_runs_that_are_all_refused_make_a_page(wordline):
    asked = ("reproduce", "ips", "--figure", "12a", "--scale", "64", "--out", "p")
    read_as = ("--reading", "split=traditional", "--only", "cooperative-burst/*/Cooperative")
    done = wordline(*asked, *read_as)
    assert done.code == 0
    assert "cooperative-burst/64/Cooperative is not supported" in done.err
    assert "no run" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pa-sdd"], "unknown paper; allowed: hierarchy, hyssd, ips, pa-ssd, raro"),
        (["pa-ssd", "--figure", "77"], "unknown figure; allowed: table-1, table-2, 1a"),
        (["pa-ssd", "--scale", "100"], "at most 48"),
        (["pa-ssd", "--scale", "2", "--traces", "."], "scales twins, not traces"),
        (["pa-ssd", "--figure", "9", "--figure", "77"], "--figure 77: unknown figure; allowed:"),
        (["pa-ssd", "--only", "mian/*"], "allowed: GROUP/WORKLOAD/SCHEME"),
        (["pa-ssd", "--figure", "5", "--only", "main/*"], "matches no run of figure 5"),
        (["ips", "--figure", "4", "--scale", "8"], "a job file is not scaled"),
        (["all", "--figure", "9"], "are those of one paper; name it"),
        (["overview", "--out", "none"], "no PAPER/claims.json found"),
    ],
)
def test_wrong_input_ends_with_2_and_says_what_is_allowed(wordline, arguments, message):
    done = wordline("reproduce", *arguments)
    assert done.code == 2
    assert message in done.err


def test_a_claim_over_values_is_a_row_each(written):
    first, second = claims.read(written(CLAIM))
    assert (first.id, first.says) == ("one-lsb", "what lsb says")
    assert (first.least, first.most) == pytest.approx((0.45, 0.55))
    assert (second.least, second.most) == pytest.approx((0.18, 0.22))
    assert second.arguments == {"workload": "DAP", "scheme": "US", "page": "msb"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("within", "wihtin"), "unknown key 'wihtin'"),
        (('class = "T1"', 'class = "T9"'), "unknown class .T9.; allowed: T0, T1, T2, T3"),
        (("msb = 0.2", "csb = 0.2"), "no figure for 'msb'"),
        (('within = "10%"', ""), "set between"),
        (('id = "one"', ""), "'id' is missing"),
        (('kind = "result"', ""), "'kind' is missing"),
        (('"result"', '"outcome"'), "unknown kind .outcome.; allowed: result, model, calibration"),
        (("no_effect = 0.0", ""), "a result needs either no_effect"),
        (("no_effect = 0.0", "no_effect = 0.0\nequal = 0.0"), "a result needs either no_effect"),
        (('"10%"', '"51%"'), "claim one-lsb: must come out 0.245 to 0.755, which is too wide"),
        (("no_effect = 0.0", "no_effect = 0.55"), "no farther from 0.5 than half of the way to"),
    ],
)
def test_a_wrong_claim_is_named(written, change, message):
    with pytest.raises(wl.UserError, match=message):
        claims.read(written(CLAIM.replace(*change)))


@pytest.mark.parametrize(
    ("least", "most", "kept"),
    [
        ("-inf", "0.75", {"no_effect": 1.0, "printed": 0.5}),
        ("0.25", "0.75", {"no_effect": 1.0, "printed": 0.5}),
        ("-inf", "1.0", {"no_effect": 1.0}),
        ("1.2", "2.5", {"no_effect": 1.0}),
        ("0.95", "1.05", {"equal": 1.0}),
        ("-inf", "0.05", {"equal": 0.0}),
    ],
)
def test_a_result_is_held_to_half_of_its_effect(least, most, kept):
    def fault(least, most):
        return judged(1.0, least=float(least), most=float(most), kind="result", **kept).claim.fault

    assert fault(least, most) == ""
    assert fault(least, float(most) + 1) or most == "2.5"
    if kept.get("printed"):
        # The side of no effect needs a bound, the other one does not.
        assert "too wide" in fault(least, "inf")
        assert "too wide" in fault("0.2", "0.75")
    assert judged(1.0, least=0, most=9, kind="model").claim.fault == ""


def test_a_row_that_is_held_to_too_little_is_refused_by_name(written):
    with pytest.raises(wl.UserError, match="one-lsb: must come out"):
        claims.read(written(CLAIM.replace('"10%"', '"60%"')))


def judged(figure, **more):
    """Judge a claim between 1 and 2 of which this came out; an exception comes from the runs."""

    class Module:
        __name__ = "test"

        @staticmethod
        def measure(study):
            if isinstance(figure, Exception):
                raise figure
            return figure

    class Paper:
        module = Module
        choice = readings.Choice({})
        readings = readings.Readings()

    claim = claims.Claim(
        **{
            "id": "x",
            "where": "",
            "says": "",
            "tolerance_class": "T2",
            "measure": "measure",
            "arguments": {},
            "least": 1.0,
            "most": 2.0,
            "printed": None,
            "unit": "",
            "kind": "result",
            "full_scale": False,
            **more,
        }
    )
    return claims._judge(claim, Paper, paper.Study(Paper, {}, paper.Scope(2)), [("x", "because")])


def test_verdicts():
    assert judged(1.5).verdict == "holds"
    assert judged(2.0).verdict == "holds"
    assert judged(2.1).verdict == "deviates"
    assert judged(2.1).cause == "because"
    assert judged(None).verdict == "deviates"
    assert judged(1.5, kind="calibration").verdict == "calibration"
    assert judged(1.5, full_scale=True).verdict == "full-scale"
    assert judged(paper.NotRun("a run")).verdict == "not-run"


def test_only_tested_claims_count_as_holding_or_not():
    tested = [judged(1.5), judged(9.0), judged(1.5, kind="calibration"), judged(1, kind="model")]
    whole = "1 of 2 results hold (orders and signs 1 of 2)"
    assert verdicts.verdict(tested) == whole
    model = "the model is the paper's: 1 of 1; calibration: 1 of 1 met"
    assert verdicts.model_verdict(tested) == model
    assert verdicts.verdict([judged(paper.NotRun("a run"))]) == (
        "no result was put to the test; 1 not run"
    )
    others = [judged(paper.NotRun("a run")), judged(1.5, full_scale=True)]
    assert verdicts.verdict(tested + others) == (
        whole.replace("hold", "put to the test hold") + "; 1 not run; 1 that only full scale tells"
    )


def test_first_page_has_the_first_sentence_of_a_cause():
    why = "It takes .47 ms, as Fig. 5 of ips says. The rest waits."
    row = replace(judged(9.0, id="a"), verdict=claims.DEVIATES, cause=why)
    study = paper.Study(None, {})
    assert "\n\nIt takes .47 ms, as Fig. 5 of ips says.\n\n|" in sections.deviating(
        study, [row], True
    )
    assert "\n\nIt takes .47 ms, as Fig. 5 of ips says. The rest" in sections.deviating(
        study, [row]
    )


def test_what_came_out_is_compared_with_the_page_before(tmp_path):
    class Paper:
        folder = tmp_path

    now = [judged(1.5, id="a"), judged(9.0, id="b"), judged(1.5, id="new"), judged(9.0, id="same")]
    bound = {"unit": "", "kind": "result", "least": 1.0, "most": 2.0, "came_out": 1.25}
    was = [
        {**bound, "id": "a", "verdict": "deviates"},
        {**bound, "id": "b", "verdict": "holds", "most": 3.0},
        {**bound, "id": "same", "verdict": "deviates"},
        {**bound, "id": "gone", "verdict": "holds"},
    ]
    before = {"of": "the first page", "verdict": "2 of 4 hold", "claims": was}
    (tmp_path / "before.json").write_text(json.dumps(before))
    assert changes.faults(tmp_path, [j.claim for j in now]) == [
        "b has other bounds, without a reason",
        "gone is gone, without a reason",
    ]
    (tmp_path / "changes.toml").write_text(
        '[[change]]\nclaims = "b"\nwhy = "too wide"\n[[change]]\nclaims = "g*"\nwhy = "vacuous"\n'
    )
    assert changes.faults(tmp_path, [j.claim for j in now]) == []
    text = changes.markdown(paper.Study(Paper, {}), now)
    assert "## What changed since the first page\n\nThen 2 of 4 hold.\n" in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert rows == [
        "| claim | says | before | now |",
        "| --- | --- | --- | --- |",
        "| a |  | deviates, 1.25 | holds, 1.5 |",
        "| b |  | holds, 1.25 | deviates, 9 |",
        "| new |  | new | holds, 1.5 |",
        "| claims | dropped | added | bound otherwise | why |",
        "| --- | --- | --- | --- | --- |",
        "| b |  |  | 1 | too wide |",
        "| g* | 1 |  |  | vacuous |",
    ]
    assert changes.markdown(paper.Study(Paper, {}, paper.Scope(8)), now) == ""
    (tmp_path / "changes.toml").write_text('[[change]]\nclaims = "b"\n')
    with pytest.raises(wl.UserError, match=r"change 1 has \['claims'\]; needed"):
        changes.read(tmp_path)


def test_findings_whose_runs_are_missing_are_left_out():
    def found(study):
        return "found"

    def missing(study):
        raise paper.NotRun("x")

    assert paper.Study(None, {}).sentences(found, missing, found) == ["found", "found"]


def test_a_claim_is_of_the_figures_that_it_names():
    def of(id, where):
        return {n for n in ("1a", "1c", "6a", "6b", "9", "10", "table-1") if named(id, where, n)}

    def named(id, where, number):
        return judged(1.0, id=id, where=where).claim.is_of(number)

    assert of("1cd-order", "Fig. 1c, 1d") == {"1c"}
    assert of("10-msb-lowest", "Fig. 1a, 10") == {"1a", "10"}
    assert of("6-web_1-merge", "Fig. 6") == {"6a", "6b"}
    assert of("table-1-channels", "Table 1") == {"table-1"}
    assert of("overall-write", "abstract, section 9") == set()


def test_shorter_page_never_replaces_a_fuller_one(tmp_path):
    whole, part = paper.Scope(), paper.Scope(figures=("9",))
    small, coarse = paper.Scope(8), paper.Scope(48, only=("main/*",))
    assert whole.may_replace(coarse)
    assert part.may_replace(part)
    assert part.may_replace(coarse)
    for less, more in ((part, whole), (small, whole), (coarse, small), (small, part)):
        assert not less.may_replace(more)
    assert [str(s.folder) for s in (whole, part, coarse)] == [".", "figure-9", "only-main"]
    read = paper.read("ips")
    page.check_free(tmp_path / "none", read, small)
    (tmp_path / "README.md").write_text("a page that does not say of what it is")
    with pytest.raises(wl.UserError, match="has a page of ips at full scale"):
        page.check_free(tmp_path, read, small)
    text = '{"scale": 8, "figures": [], "only": []}'
    (tmp_path / "claims.json").write_text(text)
    page.check_free(tmp_path, read, small)
    page.check_free(tmp_path, read, whole)
    with pytest.raises(wl.UserError, match="at 1/48 of the scale, run main/"):
        page.check_free(tmp_path, read, coarse)


def test_causes_are_given_for_what_they_were_found_for():
    assert paper.Study(None, {}).is_as_explained
    assert not paper.Study(None, {}, paper.Scope(2)).is_as_explained
