"""The atlas: what it asks for, what it makes of it, and its page in a real browser."""

import re
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import combinations, pairwise
from math import log2

import numpy as np
import pytest

import browsers
import small_atlas
import wordline as wl
from wordline.atlas import design as designs
from wordline.atlas import findings, judge
from wordline.atlas import page as pages
from wordline.atlas import report as reports
from wordline.atlas.cells import KEYS, LEAST_LATENCY_US, MEASURES, Atlas, Cell, DriveCells, Place
from wordline_lab.atlas import kept, length, published, tuned, tuning, tuning_gains


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("atlas")


@pytest.fixture(scope="module")
def atlas(folder):
    return small_atlas.perform(folder)


# ---- The design.


def test_conditions_balance_levels_and_pairs():
    design = published.built_in()
    rows = [c.at() for c in design.conditions]
    assert len(rows) == len(set(rows)) == 60
    for i, levels in enumerate(design.levels.values()):
        assert set(Counter(row[i] for row in rows).values()) == {60 // len(levels)}
    for i, j in combinations(range(5), 2):
        pairs = Counter((row[i], row[j]) for row in rows)
        want = 60 / (len(list(design.levels.values())[i]) * len(list(design.levels.values())[j]))
        # No pair is there more than once too often, or once too seldom.
        assert all(abs(n - want) <= 1.01 for n in pairs.values()), (i, j, pairs)


def test_every_atlas_run_is_described_and_unique():
    design = published.built_in()
    rates = designs.Rates(natural=10.0, sustained=2_000.0)
    seen = set()
    for drive in design.drives:
        for condition in design.conditions[::7]:
            for scheme in drive.spelled:
                run = designs.run(design, drive, condition, scheme, 1, rates)
                run.identity()
                assert (drive.name, run) not in seen
                seen.add((drive.name, run))


def test_only_duplicate_combinations_are_left_out():
    design = published.built_in()
    for drive in design.drives:
        if drive.name == "pair":
            continue
        alone = [s for s in drive.schemes if "+" not in s]
        dense = [*alone, "raro", "hotness"]
        text = "twin:hm_0:closed=8,requests=3000,scale=9"
        initial = designs.initial(design.conditions[0], drive)

        def hashed(scheme, drive=drive, text=text, initial=initial):
            run = wl.Run(device=drive.device, scheme=scheme, workload=text, initial=initial)
            try:
                return run.do(threads=1).result_hash
            except (wl.Refused, wl.UserError):
                return None

        for front in alone:
            there = {hashed(s) for s in drive.schemes if s.partition("+")[0] == front}
            for behind in dense:
                found = hashed(f"{front}+{behind}")
                assert found is None or found in there, f"{front}+{behind} on {drive.name}"


def test_open_loads_are_a_share_of_sustained_rate():
    design = published.built_in()
    tlc = design.drives[0]
    condition = replace(design.conditions[0], load="open-30")
    rates = designs.Rates(natural=50.0, sustained=5_000.0)
    assert designs.options(condition, tlc, rates) == "speedup=30"
    with pytest.raises(designs.NoTimes, match="has no times"):
        designs.options(condition, tlc, designs.Rates(0.0, 5_000.0))
    small = designs.options(replace(condition, load="burst-small-1s"), tlc, None)
    assert small == f"closed=8,burst={24 << 20}B,rest=1s"


# ---- What came out.


def test_every_cell_has_figures_or_the_reason_why_not(atlas):
    for drive in atlas.drives:
        assert len(drive.places) == 12
        for place in drive.places:
            assert set(place.cells) == set(drive.spelled)
            for scheme, cell in place.cells.items():
                assert (cell.logs is not None) != bool(cell.why), (place.at, scheme)


def test_a_cell_is_the_run_that_its_condition_leads_to(atlas):
    design = small_atlas.design()
    drive = atlas.drives[0]
    place = next(p for p in drive.places if p.at[0].startswith("burst"))
    device, scheme = drive.schemes["sector"]
    fixed = place.cells["sector"].fixed
    settings = published.built_in().drives[0].settings if fixed else place.settings[device]
    run = {
        "device": device,
        "workload": place.workload,
        "initial": place.initial,
        "set": dict(settings),
        "requests": design.requests[place.at[1]],
    }
    for seed in (1, 2):
        plain = wl.run(
            scheme="conventional", seed=seed, **{**run, "set": dict(place.settings[device])}
        )
        own = wl.run(scheme=scheme, seed=seed, **run)
        want = log2(own.latency_us.write.mean / plain.latency_us.write.mean)
        found = place.cells["sector"].logs[KEYS["write_mean"]][seed - 1]
        assert found == pytest.approx(want, abs=6e-4)


def test_what_is_kept_is_found_again(folder, atlas):
    seen = []
    from wordline.atlas.execute import SERIES, Performer
    from wordline.runs import Runner

    def ended(run, found):
        seen.append(found)

    refusals = (wl.Refused, wl.UserError)
    runner = Runner(folder / "runs", leave_out=SERIES, refusals=refusals, ended=ended)
    design = small_atlas.design()
    again = design.came_to(Performer(design, runner).perform())
    assert seen.count(True) > 200
    assert again.to_json() == atlas.to_json()


def test_json_holds_all_of_it(atlas):
    text = atlas.to_json()
    assert kept.from_json(text).to_json() == text


def made(
    logs: dict[str, list[float]], requests: int = 200_000, unsteady: Sequence[str] = ()
) -> DriveCells:
    """A drive with one measure of one condition, by scheme and seed."""

    def cell(scheme: str, row: list[float]) -> Cell:
        all_rows = np.full((len(MEASURES), len(row)), np.nan)
        for measure in ("write_mean", "write_p999", "lifetime"):
            all_rows[KEYS[measure]] = row
        return Cell(logs=all_rows, steady=0 if scheme in unsteady else len(row))

    place = Place(
        ("closed", "w", "60%", "new", "static"), "", "", {}, np.ones(len(MEASURES)),
        (requests, requests), {s: cell(s, row) for s, row in logs.items()},
        base_scheme="plain",
    )  # fmt: skip
    return DriveCells("D", "d", "plain", {s: ("dev", s) for s in logs}, [place])


def test_a_choice_is_sure_only_beyond_chance():
    drive = made({"plain": [0.0] * 3, "a": [-1.0, -1.1, -0.9], "b": [-1.0, -0.8, -1.1]})
    choice = judge.choose(drive, drive.places, "write_mean")
    assert choice.scheme == "a"
    assert choice.second == "b"
    assert judge.is_better("write_mean", choice.gain)
    assert choice.gain.ratio == pytest.approx(0.5)
    assert choice.apart.is_chance
    assert not choice.is_sure
    noisy = made({"plain": [0.0] * 3, "a": [-1.0, 1.0, -0.5]})
    assert not judge.is_better("write_mean", judge.over(noisy.places, "a", "write_mean"))
    # A 99.9th percentile of too few requests says nothing.
    few = made({"plain": [0.0] * 3, "a": [-1.0, -1.1, -0.9]}, requests=99_999)
    assert judge.over(few.places, "a", "write_p999").is_chance
    assert not judge.over(few.places, "a", "write_mean").is_chance


def test_an_answer_rests_on_steady_runs():
    logs = {"plain": [0.0] * 5, "a": [-1.0, -1.1, -0.9, -1.0, -1.0], "b": [-0.1] * 5}
    sure = made(logs)
    choice = judge.choose(sure, sure.places, "write_mean")
    assert choice.is_settled
    assert choice.is_sure
    assert str(choice.steady) == "15 of 15 runs steady"
    assert judge.over(sure.places, "a", "lifetime").ratio == pytest.approx(0.5)
    # One in five may be noisy, of each scheme that is named.
    sure.places[0].cells["a"].steady = 4
    assert judge.choose(sure, sure.places, "write_mean").is_sure
    sure.places[0].cells["a"].steady = 3
    choice = judge.choose(sure, sure.places, "write_mean")
    assert (choice.is_settled, choice.is_sure) == (False, False)
    assert str(choice.gain) == "not known (8 of 10 runs steady)"
    for unsteady in ("plain", "a", "b"):
        drive = made(logs, unsteady=[unsteady])
        choice = judge.choose(drive, drive.places, "write_mean")
        assert not choice.is_settled, unsteady
        assert str(choice.steady) == "10 of 15 runs steady"
    # A lifetime is extrapolated: of runs that are not steady there is none.
    drive = made(logs, unsteady=["a"])
    assert judge.over(drive.places, "a", "lifetime") is None
    assert judge.over(drive.places, "b", "lifetime") is not None


def test_sentences_state_unknowns_and_number_of_runs(atlas):
    short = [s for drive in atlas.drives for s in findings.winners(drive)]
    assert len(short) == 2
    for drive, said in zip(atlas.drives, short, strict=True):
        runs = sum(place.cells[s].steadiness.runs for place in drive.places for s in drive.schemes)
        assert said == (
            f"On {drive.title} the scheme with the lowest mean write latency is not known: run "
            f"longer (0 of {runs:,} runs steady)."
        )
    assert any("lifetime is not known" in s for s in findings.sentences(atlas))
    for drive in settled(atlas).drives:
        [said] = findings.winners(drive)
        assert "not known" not in said
        counts = said.rpartition("(")[2].split()
        assert counts[0] == counts[2]


def test_sentences_claim_nothing_without_steady_runs(atlas):
    said = findings.sentences(atlas)
    assert len(said) == len(set(said))
    assert not any(s.startswith("Over all conditions") for s in said)
    for s in findings.papers(atlas):
        assert s.partition(": ")[2].startswith("where ")
        assert "is not known" in s
        assert "run longer (0 of " in s
    # Schemes are named that ran, and no others.
    assert "`hyssd:life`" not in "".join(findings.papers(settled(atlas)))
    [alone] = findings.winners(only_plain(atlas.drives[0]))
    assert "only the plain drive ran" in alone


def only_plain(drive: DriveCells) -> DriveCells:
    """A drive on which nothing but the baseline ran."""
    name = drive.baseline
    places = [replace(p, cells={name: p.cells[name]}) for p in drive.places]
    return replace(drive, schemes={name: drive.schemes[name]}, places=places)


def settled(atlas: Atlas) -> Atlas:
    """The same as if every run were steady."""
    found = deepcopy(atlas)
    for drive in found.drives:
        for place in drive.places:
            for cell in place.cells.values():
                cell.steady = cell.steadiness.runs
    return found


def changing(atlas: Atlas) -> Atlas:
    """The same as if something still changed at the end of every run."""
    found = deepcopy(atlas)
    for drive in found.drives:
        for place in drive.places:
            for cell in place.cells.values():
                cell.steady, cell.changing = 0, cell.steadiness.runs
    return found


def test_a_drive_that_still_changes_has_a_transient(atlas):
    of = changing(atlas)
    for drive in of.drives:
        choices = [judge.choose(drive, [place], "write_mean") for place in drive.places]
        assert all(choice.is_transient for choice in choices)
        assert not any(choice.is_sure for choice in choices)
        [said] = findings.winners(drive)
        count = len(drive.places)
        assert f"is known for 0 of {count} conditions (0 of " in said
        assert f"Under {count} the drive still changes at the end of the runs, after " in said
        assert "run longer" not in said
        better = sum(judge.is_better("write_mean", choice.gain) for choice in choices)
        rest = f"none significantly faster than the plain drive in {count - better}"
        assert said.endswith(f"{rest}." if better < count else ".")
    # Runs that are too short to tell are no transient.
    of.drives[0].places[0].cells["conventional"].changing = 0
    [said] = findings.winners(of.drives[0])
    assert said.endswith(" For the other 1, run longer.")


@pytest.mark.parametrize(("enough", "asked"), [(0.8, 2400), (0.0, 600)])
def test_runs_are_longer_if_too_few_are_stationary(tmp_path, monkeypatch, enough, asked):
    whole = small_atlas.design(longer=4)
    design = replace(whole, conditions=whole.conditions[:1], drives=whole.drives[1:])
    monkeypatch.setattr("wordline.steady.ENOUGH", enough)
    found = small_atlas.perform(tmp_path, design)
    [place] = found.drives[0].places
    assert place.asked == asked
    assert sum(place.requests) == 2 * asked
    reports.write(found, tmp_path, "wordline atlas")
    text = (tmp_path / "README.md").read_text()
    assert ("Under 1 of 1 conditions" in text and "4 times" in text) == (asked > 600)
    assert kept.from_json(found.to_json()).to_json() == found.to_json()


def test_longer_runs_judge_an_answer():
    def pair(*intervals: tuple[float, float]) -> length.Pair:
        return length.Pair("waf", *(judge.Over(log, half, 1) for log, half in intervals))

    same, off = pair((0.1, 0.02), (0.12, 0.01)), pair((0.1, 0.02), (0.2, 0.01))
    turned, unsure = pair((0.1, 0.02), (-0.1, 0.02)), pair((0.01, 0.02), (-0.1, 0.02))
    assert [p.is_within for p in (same, off, turned, unsure)] == [True, False, False, False]
    assert [p.turns for p in (same, off, turned, unsure)] == [False, False, True, False]
    said = length.text([replace(p, measure=m) for m in length.ASKED for p in (same, turned)])
    assert "| write amplification | 2 | 2 | 1 | 1 | " in said


def with_further(first: str, second: str, further: dict[str, list[float]]) -> DriveCells:
    """A drive with two schemes that are not apart, and further seeds of both."""
    drive = made({"plain": [0.0] * 3, "a": [-1.0, -1.3, -0.9], "b": [-1.0, -0.8, -1.1]})
    alone = made({"plain": [0.0] * 3, **further}).places[0]
    drive.places[0].again = {s: alone.cells[s].logs for s in (first, second)}
    return drive


@pytest.mark.parametrize(
    ("further", "best", "ratio", "chance"),
    [
        # They confirm the best, ...
        ({"a": [-1.0, -1.1, -0.9], "b": [-0.5, -0.6, -0.4]}, "a", 2**-0.5, False),
        # ... or say that the second is better, ...
        ({"a": [-0.5, -0.6, -0.4], "b": [-1.0, -1.1, -0.9]}, "b", 2**-0.5, False),
        # ... or do not tell, whatever the seeds say that have chosen the two.
        ({"a": [-1.0, -0.8, -1.1], "b": [-0.9, -1.0, -1.0]}, "a", None, True),
    ],
)
def test_further_seeds_decide_between_the_first_two(further, best, ratio, chance):
    drive = with_further("a", "b", further)
    choice = judge.choose(drive, drive.places, "write_mean")
    assert (choice.scheme, choice.apart.is_chance) == (best, chance)
    assert {choice.scheme, choice.second} == {"a", "b"}
    if ratio is not None:
        assert choice.apart.ratio == pytest.approx(ratio)
    # The figure over the plain drive stays that of the first seeds.
    assert choice.gain == judge.over(drive.places, best, "write_mean")
    # They say nothing of another pair, nor of several conditions.
    other = judge.choose(drive, drive.places, "write_mean", ["plain", "a"])
    assert other.apart == judge.between(drive.places, "a", "plain", "write_mean")
    both = [*drive.places, drive.places[0]]
    assert judge.choose(drive, both, "write_mean").apart.is_chance


def test_more_seeds_are_run_where_the_best_two_are_not_apart(folder, atlas):
    design = replace(small_atlas.design(), most_seeds=4)
    found = small_atlas.perform(folder, design)
    count = 0
    for drive, before in zip(found.drives, atlas.drives, strict=True):
        for place, first in zip(drive.places, before.places, strict=True):
            choice = judge.choose(before, [first], "write_mean")
            needed = choice is not None and choice.apart.is_chance and choice.apart.half > 0
            pair = {choice.scheme, choice.second} if needed else set()
            assert set(place.again) == pair
            count += needed
            assert all(np.shape(rows) == (len(MEASURES), 2) for rows in place.again.values())
            # What the first seeds came to stays as it is.
            assert all(
                np.array_equal(place.cells[s].logs, first.cells[s].logs, equal_nan=True)
                for s in drive.schemes
                if not first.cells[s].why
            )
    assert count
    # Of runs that are not steady there is no best.
    assert "the two schemes" not in "".join(findings.sentences(found))
    said = findings.sentences(settled(found))[-1]
    assert f"In {count} of 24 conditions the two schemes with the lowest" in said
    assert "with seeds 3 to 4 too" in said
    assert kept.from_json(found.to_json()).to_json() == found.to_json()
    # They are other seeds of the same runs.
    drive, place = next((d, p) for d in found.drives for p in d.places if p.again)
    scheme = next(s for s in place.again if s != drive.baseline)
    device, spelled = drive.schemes[scheme]
    cell = place.cells[scheme]
    settings = place.settings[device] if not cell.fixed else design.drives[0].settings
    run = {"workload": place.workload, "initial": place.initial, "seed": 4}
    run |= {"requests": design.requests[place.at[1]], "set": dict(settings)}
    own = wl.run(device=device, scheme=spelled, **run)
    plain = wl.run(
        device=drive.schemes[drive.baseline][0],
        scheme=drive.schemes[drive.baseline][1],
        **{**run, "set": dict(place.settings[drive.schemes[drive.baseline][0]])},
    )
    want = log2(
        max(own.latency_us.write.mean, LEAST_LATENCY_US)
        / max(plain.latency_us.write.mean, LEAST_LATENCY_US)
    )
    assert place.again[scheme][KEYS["write_mean"]][1] == pytest.approx(want, abs=6e-4)


def test_sentences_name_schemes_that_ran_and_hold_no_holes(atlas):
    said = findings.sentences(settled(atlas)) + findings.papers(settled(atlas))
    assert len(said) >= 8
    names = {s for drive in atlas.drives for s in drive.spelled}
    for sentence in said:
        assert not re.search(r"\bnan\b", sentence)
        assert "None" not in sentence
        assert "inf" not in sentence.split()
        quoted = sentence.split("`")[1::2]
        assert all(
            q in names or q in designs.LOADS or q in sum(findings.PAPERS.values(), ())
            for q in quoted
        )


# ---- Tuned schemes.


def test_tuned_schemes_run_but_no_choice_counts_them(folder, atlas):
    design = small_atlas.design()
    without = small_atlas.perform(folder, design.with_tuned({}))
    told = tuning_gains.sentences(atlas)
    assert told
    assert [s for s in findings.sentences(atlas, told) if s not in told] == findings.sentences(
        without
    )
    assert findings.papers(atlas) == findings.papers(without)
    assert tuning_gains.sentences(without) == []
    assert tuning_gains.section(without) == ""


def test_tuning_gain_is_relative_to_the_same_scheme(atlas):
    assert tuning_gains.gains(atlas, atlas.drives[0])[0].verdict == "not known"
    atlas = settled(atlas)
    drive = atlas.drives[0]
    gain, nothing = tuning_gains.gains(atlas, drive)
    logs = [
        place.cells["sector (tuned)"].logs - place.cells["sector"].logs for place in drive.places
    ]
    row = np.mean(logs, axis=0)[KEYS["write_mean"]]
    assert gain.own.log == pytest.approx(np.mean(row))
    assert set(gain.by_load) == {place.at[0] for place in drive.places}
    assert gain.verdict in tuning_gains.VERDICTS[:3]
    assert nothing.verdict == "nothing found"
    said = tuning_gains.section(atlas)
    assert f"| `sector` | writes | `static_blocks=14` | 0.900 | {gain.own.ratio:.3f} (" in said
    assert "of 2 schemes" in tuning_gains.sentences(atlas)[0]


def test_what_was_found_is_read_as_it_was_written(tmp_path):
    tuned.write(small_atlas.FOUND, tmp_path / "tuned.toml")
    assert list(tuned.read(tmp_path / "tuned.toml").values()) == small_atlas.FOUND


def test_schemes_were_tuned_on_unpublished_conditions():
    shown, searched = published.built_in(), tuning.design()
    assert not shown.workloads.keys() & searched.workloads.keys()
    assert not set(range(1, shown.seeds + 1)) & set(tuning.table()["seeds"])
    for factor in ("fill", "age", "cache"):
        assert {getattr(c, factor) for c in searched.conditions} == set(shown.levels[factor])
    for drive in shown.drives:
        alone = [s for s in drive.schemes if "+" not in s and s != drive.baseline]
        assert [t.of for t in shown.tuned[drive.name].values()] == alone


# ---- The command.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scheme", "sector"], "--scheme requires --workload and --device"),
        (
            ["--seeds", "4", "--most-seeds", "5"],
            "with 4 seeds it must be 4 (no further seeds), or 6 to",
        ),
        (["--only", "piecs"], "unknown part; allowed: pieces and twins"),
    ],
)
def test_wrong_input_ends_with_2(wordline, arguments, message):
    done = wordline("atlas", *arguments)
    assert done.code == 2
    assert message in done.err


def test_reproduce_atlas_names_the_command_of_the_atlas(wordline):
    done = wordline("reproduce", "atlas")
    assert done.code == 2
    assert "the atlas is a separate command: wordline atlas" in done.err


# ---- The page.


@pytest.fixture(scope="module")
def tab(folder):
    playwright = pytest.importorskip("playwright.sync_api")
    if browsers.CHROMIUM is None:
        pytest.skip("no chromium on PATH")
    page = small_atlas.page(folder)
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=browsers.CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.wrong = []
        tab.on("pageerror", lambda error: tab.wrong.append(str(error)))
        tab.goto(page.as_uri())
        yield tab
        browser.close()


@pytest.fixture(scope="module")
def settled_tab(tab, atlas, tmp_path_factory):
    """The page of the same atlas as if every run were steady."""
    page = tmp_path_factory.mktemp("settled") / "t.html"
    page.write_text(pages.to_html(settled(atlas), "wordline atlas", ["It is so."], []))
    other = tab.context.browser.new_page()
    other.wrong = []
    other.on("pageerror", lambda error: other.wrong.append(str(error)))
    other.goto(page.as_uri())
    yield other
    other.close()


def test_conditions_with_an_answer_are_offered(tab, atlas, tmp_path):
    partly = deepcopy(atlas)
    drive = partly.drives[0]
    drive.places[1] = settled(atlas).drives[0].places[1]
    (tmp_path / "t.html").write_text(pages.to_html(partly, "wordline atlas", ["It is so."], []))
    other = tab.context.browser.new_page()
    other.goto((tmp_path / "t.html").as_uri())
    answer = other.locator("#atlas-answer")
    assert f"It is known for 1 of {len(drive.places)} conditions:" in answer.inner_text()
    choice = judge.choose(drive, [drive.places[1]], "write_mean")
    is_better = judge.is_better("write_mean", choice.gain)
    [offer] = answer.locator("button.nearest").all()
    assert offer.inner_text().startswith(f"{choice.scheme if is_better else 'none better'}: ")
    offer.click()
    assert f"(one condition of {len(drive.places)} on" in answer.inner_text()
    assert "is not known" not in answer.inner_text()
    other.close()


def test_the_page_tells_how_long_a_transient_is(tab, atlas, tmp_path):
    of = changing(atlas)
    (tmp_path / "t.html").write_text(pages.to_html(of, "wordline atlas", ["It is so."], []))
    other = tab.context.browser.new_page()
    drive = of.drives[0]
    for place in drive.places:
        chosen = "&".join(f"{f}={at}" for f, at in zip(designs.FACTORS, place.at, strict=True))
        other.goto("about:blank")
        other.goto(f"{(tmp_path / 't.html').as_uri()}#drive=TLC&{chosen.replace('%', '%25')}")
        said = other.locator("#atlas-answer").inner_text()
        assert "while the drive still changes, " in said
        choice = judge.choose(drive, [place], "write_mean")
        better = judge.is_better("write_mean", choice.gain)
        assert (f"take {choice.scheme}:" if better else "nothing beats") in said
    # Over several conditions a transient has no one length.
    other.goto("about:blank")
    other.goto(f"{(tmp_path / 't.html').as_uri()}#drive=TLC")
    assert "is not known" in other.locator("#atlas-answer").inner_text()
    other.close()


def test_every_control_changes_what_is_said(settled_tab):
    tab = settled_tab
    for key in ("drive", "measure", *designs.FACTORS):
        select = tab.locator(f"#atlas-{key}")
        before = tab.locator("#atlas-answer").inner_text()
        values = select.evaluate("(s) => [...s.options].map((o) => o.value)")
        assert len(values) > 1, key
        select.select_option(values[-1])
        assert tab.locator("#atlas-answer").inner_text() != before, key
        assert f"{key}={values[-1]}".replace("%", "%25") in tab.url
        select.select_option(values[0])
    for key in ("columns", "pairs", "cost"):
        picture = "#atlas-frontier" if key == "cost" else "#atlas-map"
        select = tab.locator(f"#atlas-{key}")
        values = select.evaluate("(s) => [...s.options].map((o) => o.value)")
        before = tab.locator(picture).inner_html()
        chosen = "waf" if key == "cost" else values[-1]
        first = select.input_value()
        select.select_option(chosen)
        assert tab.locator(picture).inner_html() != before, key
        select.select_option(first)
    assert tab.wrong == []


@pytest.mark.parametrize("measure", ["write_mean", "throughput", "read_p99", "lifetime"])
def test_the_page_knows_nothing_of_runs_that_are_not_steady(tab, atlas, measure):
    tab.locator("#atlas-drive").select_option("TLC")
    tab.locator("#atlas-measure").select_option(measure)
    drive = atlas.drives[0]
    choice = judge.choose(drive, drive.places, measure)
    said = tab.locator("#atlas-answer").inner_text()
    assert "the best scheme by" in said
    assert "take " not in said
    found = re.search(r"since (?:only )?([\d,]+|none) of the ([\d,]+) runs that it rests on", said)
    share = f"{found[1].replace('none', '0')} of {found[2]} runs steady"
    assert share == str(choice.steady) if choice else found[1] == "none"
    # No condition of it has an answer, so that none is offered.
    assert "It is known for" not in said
    # The command can be pasted.
    command = tab.locator("#atlas-answer code").inner_text().split()
    needed = max(c.needed for d in atlas.drives for p in d.places for c in p.cells.values())
    assert needed > 600
    assert command == ["wordline", "atlas", "--requests", str(needed)]
    cells = tab.locator("#atlas-map tbody td").all_inner_texts()
    known = {c for c in cells if c != "–"}  # noqa: RUF001
    assert bool(known) == (measure != "lifetime")
    assert "Not known: run longer." in tab.locator("#atlas-frontier-list").inner_text()
    tab.locator("#atlas-measure").select_option("write_mean")


def test_missing_conditions_are_grey_and_link_the_nearest(tab, atlas):
    tab.locator("#atlas-drive").select_option("TLC")
    drive = atlas.drives[0]
    load, workload = (list(designs.FACTORS).index(f) for f in ("load", "workload"))
    for chosen in dict.fromkeys(p.at[load] for p in drive.places):
        tab.locator("#atlas-load").select_option(chosen)
        options = tab.locator("#atlas-workload").evaluate(
            "(s) => [...s.options].map((o) => [o.value, o.disabled, o.textContent])"
        )
        ran = {p.at[workload] for p in drive.places if p.at[load] == chosen}
        for value, disabled, text in options:
            assert disabled == (value != "any" and value not in ran), (chosen, value)
            assert disabled == ("(not run)" in text)
        # Whatever is not grey was run.
        for value in ran:
            tab.locator("#atlas-workload").select_option(value)
            assert "none was run" not in tab.locator("#atlas-answer").inner_text()
        tab.locator("#atlas-workload").select_option("any")
    # An address may ask for what was not run: the nearest that was is offered.
    missing = next(
        (a, b)
        for a in {p.at[load] for p in drive.places}
        for b in {p.at[workload] for p in drive.places}
        if not judge.where(drive, load=a, workload=b)
    )
    other = tab.context.browser.new_page()
    address = tab.url.partition("#")[0]
    other.goto(f"{address}#drive=TLC&load={missing[0]}&workload={missing[1]}")
    assert "none was run with all of these together" in other.locator("#atlas-answer").inner_text()
    other.locator("#atlas-answer button.nearest").first.click()
    assert "none was run" not in other.locator("#atlas-answer").inner_text()
    other.close()
    tab.locator("#atlas-load").select_option("any")


def frontier(drive: DriveCells, gain: str, cost: str) -> set[str]:
    """The schemes than which no other is as good in both measures and better in one."""
    signs = [-1 if MEASURES[KEYS[measure]].more else 1 for measure in (gain, cost)]
    points = {}
    for scheme in drive.schemes:
        found = [judge.over(drive.places, scheme, measure) for measure in (gain, cost)]
        if all(o is not None and o.is_settled for o in found):
            points[scheme] = [sign * o.log for sign, o in zip(signs, found, strict=True)]

    def beaten(own: list[float]) -> bool:
        return any(a <= own[0] and b <= own[1] and [a, b] != own for a, b in points.values())

    return {scheme for scheme, own in points.items() if not beaten(own)}


@pytest.mark.parametrize("measure", ["write_mean", "throughput", "read_p99"])
def test_the_page_says_what_the_data_say(settled_tab, atlas, measure):
    tab, atlas = settled_tab, settled(atlas)
    tab.locator("#atlas-drive").select_option("TLC")
    tab.locator("#atlas-measure").select_option(measure)
    tab.locator("#atlas-cost").select_option("energy")
    drive = atlas.drives[0]
    loads = ["all", *dict.fromkeys(p.at[0] for p in drive.places)]
    shown = tab.locator("#atlas-map").evaluate(
        """(t) => [...t.querySelectorAll("tbody tr")].map((r) =>
           [...r.querySelectorAll("th, td")].map((d) => d.innerText))"""
    )
    columns = tab.locator("#atlas-map thead th[data-level]")
    head = columns.evaluate_all("(all) => all.map((column) => column.dataset.level)")
    assert sorted(head) == sorted(loads)
    # A column is named in words.
    assert "open 30\u00a0%" in columns.all_inner_texts() or "open-30" not in loads
    # A tuned scheme stands below its own.
    for (own, *_), row in pairwise(shown):
        row[0] = f"{own} (tuned)" if row[0] == "tuned" else row[0]
    assert {row[0] for row in shown} == set(drive.spelled)
    for name, *cells in shown:
        for load, text in zip(head, cells, strict=True):
            places = drive.places if load == "all" else judge.where(drive, load=load)
            want = judge.over(places, name, measure)
            if want is None:
                assert text == "–"  # noqa: RUF001
            else:
                assert float(text.replace(",", "")) == pytest.approx(want.ratio, rel=0.051), (
                    name,
                    load,
                )
    # The best is the first row, and the sentence names it where it is beyond chance.
    choice = judge.choose(drive, drive.places, measure)
    assert shown[0][0] == choice.scheme
    said = tab.locator("#atlas-answer").inner_text()
    better = judge.is_better(measure, choice.gain)
    assert (f"take {choice.scheme}:" in said) == better
    assert str(choice.steady) in said
    # So is the frontier what the figures make it.
    cost = tab.locator("#atlas-cost").input_value()
    best = frontier(drive, measure, cost)
    listed = tab.locator("#atlas-frontier-list").inner_text()
    names = listed.partition("better in both): ")[2].partition(". ")[0].rstrip(".")
    assert set(names.split(", ")) == best


@pytest.mark.parametrize(("best", "second"), [("a", "b"), ("b", "a")])
def test_the_page_lets_further_seeds_decide(tab, tmp_path, best, second):
    further = {best: [-1.0, -1.1, -0.9], second: [-0.5, -0.6, -0.4]}
    drive = with_further("a", "b", further)
    levels = dict(zip(designs.FACTORS, ([level] for level in drive.places[0].at), strict=True))
    atlas = Atlas("t", 3, {"w": 9}, levels, {"w": ""}, [drive], fit="wrap")
    (tmp_path / "t.html").write_text(pages.to_html(atlas, "wordline", ["It is so."], []))
    other = tab.context.browser.new_page()
    other.goto((tmp_path / "t.html").as_uri())
    said = other.locator("#atlas-answer").inner_text()
    other.locator("button.cell").first.click()
    command = other.locator("#atlas-cell pre").inner_text()
    other.close()
    assert "--fit wrap --requests 9" in command
    choice = judge.choose(drive, drive.places, "write_mean")
    assert (choice.scheme, choice.second) == (best, second)
    assert f"take {best}:" in said
    assert f"Second is {second} at" in said
    assert "not apart" not in said


def test_a_cell_leads_to_the_command_that_runs_it_again(tab, wordline):
    tab.locator("#atlas-drive").select_option("TLC")
    tab.locator("#atlas-measure").select_option("write_mean")
    tab.locator("#atlas-columns").select_option("condition")
    row = tab.locator("#atlas-map tbody tr").filter(has=tab.locator("th", has_text="pa-ssd")).first
    cell = row.locator("button.cell").first
    shown = float(cell.inner_text())
    cell.click()
    detail = tab.locator("#atlas-cell")
    assert "pa-ssd" in detail.locator("h3").inner_text()
    command = detail.locator("pre").inner_text().split()
    assert command[:2] == ["wordline", "compare"]
    done = wordline(*command[1:], "--json", "out.json")
    assert done.code == 0, done.err
    again = wordline(*command[1:], "--json", "-").json["reports"]
    ratios = [
        log2(b["mean"] / a["mean"])
        for a, b in zip(*(means(report) for report in again), strict=True)
    ]
    assert 2 ** np.mean(ratios) == pytest.approx(shown, rel=0.051)
    tab.locator("#atlas-columns").select_option("load")


def means(report: dict) -> list[dict]:
    """The mean write latency of each replica."""
    return [{"mean": run["latency_us"]["write"]["mean"]} for run in report["replicas"]["runs"]]


def test_both_pages_can_be_read(tab, folder, tmp_path):
    for page in (folder / "index.html", small_atlas.page_of_traces(tmp_path)):
        browsers.is_readable(tab.context.browser, page)
