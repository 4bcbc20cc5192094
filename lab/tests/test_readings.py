"""Sentences, readings and registration of papers: what counts, and what it depends on."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest

import wordline as wl
from wordline import toml
from wordline_lab import reproduce
from wordline_lab.reproduce import (
    changes,
    claims,
    groups,
    open_points,
    page,
    paper,
    readings,
    registration,
    sentences,
    verdicts,
)

HEAT = """
[[reading]]
name = "heat"
asks = "When is a page hot?"
figures = ["13"]
main = "count"

[[reading.alternative]]
name = "count"
is = "After so many reads."
kind = "text"
source = "section IV-D"

[[reading.alternative]]
name = "period"
is = "By the last period."
kind = "text"
source = "section IV-C"
scheme_options = { "R*" = "heat=period" }
runs = ["young"]

[[reading.alternative]]
name = "late"
is = "Ten times as late."
kind = "results seen"
source = "Figure 13"
set = { "a.b" = "1" }
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "readings.toml").write_text(HEAT)
    return tmp_path


def claim(id="x", **more):
    keys = {
        **{"where": "", "says": "", "tolerance_class": "T2", "measure": "m", "arguments": {}},
        **{"least": 1.0, "most": 2.0, "printed": None, "unit": "", "kind": "result"},
    }
    return claims.Claim(id=id, full_scale=False, **{**keys, **more})


def outcome(figure, **more):
    verdict = "holds" if 1 <= figure <= 2 else "deviates"
    return claims.Judged(claim(**more), figure, verdict, "because" if verdict == "deviates" else "")


def test_readings_are_turned_one_at_a_time(folder):
    read = readings.read(folder)
    assert [(c.label, c.is_counted) for c in read.choices()] == [
        ("heat=period", True),
        ("heat=late", False),
    ]
    assert read.chosen(["heat=count"]) == readings.Choice({})
    group = {"name": "young", "workloads": ["w"], "workload_options": "b=1"}
    text = {
        **{"device": "d", "initial": "fresh", "workloads": {"w": "uniform:a=2"}},
        **{"schemes": {"Base": "conventional", "RARO": "raro:r1=2"}, "runs": [group]},
    }

    def made(label):
        turned = [a for _, a in read.alternatives(read.chosen([label]))]
        runs = groups.expand(group, text, folder, 1, turned)
        return {name: (run.scheme, run.workload, run.set) for name, run in runs.items()}

    assert made("heat=count") == {
        "young/w/Base": ("conventional", "uniform:a=2,b=1", ()),
        "young/w/RARO": ("raro:r1=2", "uniform:a=2,b=1", ()),
    }
    assert made("heat=period")["young/w/RARO"][0] == "raro:r1=2,heat=period"
    assert made("heat=period")["young/w/Base"] == made("heat=count")["young/w/Base"]
    assert made("heat=late")["young/w/Base"][2] == (("a.b", "1"),)
    group["name"] = "old"
    assert made("heat=period")["old/w/RARO"] == made("heat=count")["old/w/RARO"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('kind = "text"', 'kind = "taste"'), "kind is 'taste'; allowed: text, simulator, results"),
        (('main = "count"', 'main = "age"'), "main is 'age'; allowed: .*count.*period"),
        (('source = "section IV-D"\n', ""), "reading heat, alternative count: 'source' is missing"),
        (('runs = ["young"]', 'ruins = ["young"]'), "unknown key 'ruins'"),
        (('set = { "a.b" = "1" }', ""), "set either a change"),
        (("set = {", 'missing = "x"\nset = {'), "set either a change"),
        (
            ('source = "section IV-D"', 'source = "IV-D"\ndevice = "d"'),
            "main alternative is experiment.toml itself",
        ),
        (("[[reading]]", "[[readings]]"), "unknown key 'readings'"),
    ],
)
def test_a_wrong_reading_is_named(folder, change, message):
    assert change[0] in HEAT
    (folder / "readings.toml").write_text(HEAT.replace(*change, 1))
    with pytest.raises(wl.UserError, match=message):
        readings.read(folder)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["heat"], "unknown reading; allowed: heat=count|period|late"),
        (["cold=count"], "unknown reading"),
        (["heat=often"], "unknown alternative; allowed: count, period, late"),
        (["heat=late", "heat=period"], "heat appears twice"),
    ],
)
def test_a_wrong_choice_is_refused(folder, asked, message):
    with pytest.raises(wl.UserError) as error:
        readings.read(folder).chosen(asked)
    assert message in str(error.value)


def test_what_cannot_be_run_is_refused_and_left_out(folder):
    lacking = HEAT.replace('set = { "a.b" = "1" }', 'missing = "the engine has no clock"')
    (folder / "readings.toml").write_text(lacking)
    read = readings.read(folder)
    assert [choice.label for choice in read.choices()] == ["heat=period"]
    with pytest.raises(wl.UserError, match="cannot be run: the engine has no clock"):
        read.chosen(["heat=late"])


def test_a_result_holds_only_under_every_counted_reading():
    def over(main, *others):
        turned = [
            (readings.Choice({"r": str(at)}, counted), [outcome(figure)])
            for at, (figure, counted) in enumerate(others)
        ]
        return verdicts.under_readings([outcome(main)], turned)[0]

    assert over(1.5).verdict == "holds"
    assert over(1.5, (1.2, True)).verdict == "holds"
    assert over(1.5, (9.0, True)).verdict == "depends"
    assert over(9.0, (1.5, True)).verdict == "depends"
    assert over(9.0, (1.5, True)).cause == ""
    assert over(9.0, (8.0, True)).verdict == "deviates"
    assert over(9.0, (8.0, True)).cause == "because"
    # What was chosen when results were known is shown and moves nothing.
    assert over(9.0, (1.5, False)).verdict == "deviates"
    assert over(1.5, (9.0, False)).verdict == "holds"
    assert [o.reading for o in over(1.5, (9.0, False)).outcomes] == ["r=0"]
    # A figure that does not move is of no reading.
    assert over(1.5, (1.5, True)).outcomes == ()


def test_reading_chosen_after_results_moves_nothing_to_holds(folder):
    seen = HEAT.replace('main = "count"', 'main = "late"').replace('set = { "a.b" = "1" }', "")
    seen = seen.replace('source = "section IV-D"', 'source = "IV-D"\nset = { "a.b" = "2" }')
    (folder / "readings.toml").write_text(seen)
    assert all(choice.is_counted for choice in readings.read(folder).choices())
    twice = seen.replace('kind = "text"', 'kind = "results seen"')
    (folder / "readings.toml").write_text(twice)
    assert all(choice.is_counted for choice in readings.read(folder).choices())


def test_the_main_alternative_stands_first_with_its_question(folder):
    read = readings.read(folder)
    heat = read.all["heat"]
    other = {name: heat.alternatives[name] for name in reversed(heat.alternatives)}
    turned = replace(read, all={"heat": replace(heat, alternatives=other)})
    rows = [row for row in open_points.table(turned, {}, []).splitlines() if "`heat=" in row]
    assert rows[0].startswith("| When is a page hot? | `heat=count`")
    assert all(row.startswith("|  | `heat=") for row in rows[1:])


def test_the_verdict_has_three_counts_and_sizes():
    rows = [
        outcome(1.5, id="a", printed=1.5, no_effect=1.0),
        outcome(1.7, id="b", printed=1.5, no_effect=1.0),
        outcome(1.52, id="c", printed=1.5, no_effect=1.0),
    ]
    turned = [outcome(1.5, id="a"), outcome(9.0, id="b"), outcome(9.0, id="c")]
    rows[2] = outcome(9.0, id="c", printed=1.5, no_effect=1.0)
    found = verdicts.under_readings(rows, [(readings.Choice({"r": "1"}), turned)])
    assert verdicts.verdict(found, verdicts.ALL) == (
        "1 of 3 results hold under every reading, 1 depends on a reading, 1 deviates "
        "(orders and signs 1 of 3)"
    )
    assert verdicts.verdict(rows, verdicts.MAIN).startswith(
        "2 of 3 results hold under the main readings ("
    )
    assert verdicts.sizes(found) == (
        "of 3 printed sizes 2 within 50 %, 1 within 25 %, 1 within 10 % of the printed effect"
    )
    page = open_points.depending(found)
    assert "| b |  | 1 to 2 | 1.7 ✓ | `r=1` 9 ✗ |" in page


def test_claims_are_counted_on_old_and_new_readings(tmp_path):
    (tmp_path / "readings.toml").write_text(HEAT)
    (tmp_path / "claims-before.toml").write_text(
        '[[claim]]\nid = "a"\nwhere = ""\nsays = ""\nclass = "T2"\nkind = "result"\n'
        'measure = "m"\nno_effect = 0.0\nbetween = [1.0, 9.0]\n'
    )
    (tmp_path / "claims.toml").write_text(
        (tmp_path / "claims-before.toml").read_text().replace("9.0]", "2.0]")
    )

    class Module:
        __name__ = "test"

        @staticmethod
        def m(study):
            return study.reports["figure"]

    read = readings.read(tmp_path)
    former = read.chosen(["heat=period"])
    main, turned = (
        SimpleNamespace(folder=tmp_path, module=Module, readings=read, choice=choice, seeds={})
        for choice in (readings.Choice({}), former)
    )
    main.readings = readings.Readings(read.all, before=former)
    study = paper.Study(main, {"figure": 5.0})
    study.others = [paper.Study(turned, {"figure": 1.5})]
    now = claims.judge(main, study)
    text = open_points.before(study, now)
    assert "| claims of the page before | 1 of 1 | 1 of 1 |" in text
    assert "| claims of today | 1 of 1 | 0 of 1 |" in text
    study.others = []
    assert open_points.before(study, now) == ""


def test_rows_over_seeds_are_judged_by_their_interval():
    figures = {1: 1.2, 2: 1.4, 3: 1.3}

    class Module:
        __name__ = "test"

        @staticmethod
        def m(study):
            study.seeds_read.add(3)
            return figures[study.seed]

        @staticmethod
        def once(study):
            return 1.1

    class Paper:
        module = Module

    def judged(**more):
        return claims._judge(claim(**more), Paper, paper.Study(Paper, {}), [])

    wide, narrow = judged(), judged(least=1.2)
    assert wide.figure == pytest.approx(1.3)
    assert wide.half_width == pytest.approx(4.3027 * 0.1 / 3**0.5, rel=1e-4)
    assert (wide.verdict, narrow.verdict) == ("holds", "deviates")
    assert judged(measure="once").half_width == 0


def test_further_seeds_are_run_and_priced_on_request():
    read = paper.read("pa-ssd", scale=48)
    seeds = [n for n in read.runs if n.startswith("main/Fin/US/")]
    assert [n for n in seeds if not read.is_further_seed(n)] == ["main/Fin/US/1"]
    assert not any(read.is_further_seed(n) for n in read.runs if n.startswith("rounds/"))
    # A run that several ask for counts for the first of them.
    asked = {n: read.runs[n] for n in seeds}
    turned = {"main/Fin/US/1": read.runs["main/Fin/US/1"]}
    parts = {part: len(runs) for part, runs in reproduce._parts(read, asked, [turned]).items()}
    assert parts == {"the paper": 1, "causes": 0, "further seeds": 4, "readings": 0}


def test_single_seed_rows_say_how_to_get_an_interval():
    read = paper.read("pa-ssd", scale=48)
    assert "`x --seeds`" in page.hint(paper.Study(read, {}, all_seeds=False), "x")
    assert page.hint(paper.Study(read, {}), "x") == ""


def test_sentences_and_rows_are_held_together(tmp_path):
    (tmp_path / "sentences.toml").write_text(
        '[[sentence]]\nwhere = "V"\nquote = "RARO is fast"\nrows = ["a-*"]\n'
        '[[sentence]]\nwhere = "V"\nquote = "and cool"\nnot_modelled = "because\\n heat is not"\n'
    )
    found = sentences.read(tmp_path)
    assert sentences.faults(found, {"a-1": True, "m": False}) == []
    assert sentences.faults(found, {"b": True}) == [
        "V: no claim is like 'a-*'",
        "claim b: no sentence names it",
    ]
    assert sentences.table(found, {"a-1": "holds"})[0]["rows"] == "a-1 holds"
    text = sentences.markdown(found, "s.csv")
    assert "in 2 sentences: 1 have rows, 0 cannot be tested, and 1 speak of" in text
    assert "| V | “and cool” | not modelled | because heat is not |" in text
    for row, message in (
        ('where = "V"\nquote = "x"\n', "none of rows, not_testable and not_modelled"),
        ('where = "V"\nrows = ["a"]\n', "'quote' is missing"),
        ('where = "V"\nquote = "x"\nrow = ["a"]\n', "unknown key 'row'"),
        ('where = "V"\nquote = "x"\nrows = ["a"]\nnot_testable = "y"\n', "set exactly one of them"),
    ):
        (tmp_path / "sentences.toml").write_text(f"[[sentence]]\n{row}")
        with pytest.raises(wl.UserError, match=message):
            sentences.read(tmp_path)


def test_no_deviation_vanishes_and_no_bound_widens(tmp_path):
    row = {"unit": "", "kind": "result", "least": 1.0, "most": 2.0, "came_out": 9.0}
    was = [
        {**row, "id": "off", "verdict": "deviates"},
        {**row, "id": "wide", "verdict": "holds"},
        {**row, "id": "same", "verdict": "deviates"},
        {**row, "id": "good", "verdict": "holds"},
    ]
    before = {"of": "the page before", "verdict": "", "claims": was}
    (tmp_path / "before.json").write_text(json.dumps(before))
    now = [claim("wide", most=3.0), claim("same"), claim("good")]

    def faults(text, rows=now):
        (tmp_path / "changes.toml").write_text(text)
        return changes.faults(tmp_path, rows)

    said = '[[change]]\nclaims = "wide"\nwhy = "so"\n[[change]]\nclaims = "off"\nwhy = "twice"\n'
    assert faults(said) == [
        "off deviated and is no result any more; name the row in its place",
        "wide has wider bounds than before: 1 to 3",
    ]
    now[0] = claim("wide", most=1.5)
    assert faults(said + 'into = "same"\n') == []
    assert faults(said + 'into = "good"\n') == [
        "off deviated and was replaced by good, which did not deviate"
    ]
    assert faults(said + 'into = "gone"\n') == ["off was replaced by gone, which is not a result"]


@pytest.mark.parametrize("name", paper.papers())
def test_the_files_of_every_paper_are_those_registered(name):
    assert registration.check(paper.read(name)).hash


def test_a_byte_of_what_decides_makes_the_page_refused(tmp_path, monkeypatch):
    known = paper.papers()
    shutil.copytree(known["raro"], tmp_path / "raro")
    monkeypatch.setattr(paper, "papers", lambda: {**known, "raro": tmp_path / "raro"})
    registration.check(paper.read("raro"))
    for file in ("claims.toml", "readings.toml", "sentences.toml", "zipf.fio", "measures.py"):
        path = tmp_path / "raro" / file
        text = path.read_text()
        path.write_text(text + "\n")
        with pytest.raises(wl.UserError, match=rf"{file} changed; .*register what changed and why"):
            registration.check(paper.read("raro"))
        path.write_text(text)
    (tmp_path / "raro" / "causes.toml").write_text("")
    registration.check(paper.read("raro"))
    builtin = toml.builtin
    monkeypatch.setattr(toml, "builtin", lambda name: (text := builtin(name)) and text + "\n")
    with pytest.raises(wl.UserError, match=r"devices/raro-16gb\.toml changed"):
        registration.check(paper.read("raro"))
    before = registration.registered(tmp_path / "raro")
    now = registration.register("raro", "the device's  last line")
    assert registration.registered(tmp_path / "raro") == [*before, now]
    assert now.why == "the device's last line"
    assert registration.check(paper.read("raro")).hash == now.hash
    with pytest.raises(wl.UserError, match="nothing changed since"):
        registration.register("raro", "again")
    (tmp_path / "into" / "raro").mkdir(parents=True)
    (tmp_path / "raro" / "claims.toml").open("a").write("\n")
    assert registration.main(["raro", "a line", "--into", str(tmp_path / "into")]) == 0
    assert [r.why for r in registration.registered(tmp_path / "into" / "raro")][-1] == "a line"


def test_device_files_and_twins_are_there_by_their_paths():
    named = toml.builtin
    assert named("devices/demo-8gb.toml").startswith("#")
    assert named("twins/exch.toml") == named("twins/exchange.toml")
    assert named("twins/raro-1.2.toml") is None
    assert named("devices/none.toml") is None
    assert named("none") is None
