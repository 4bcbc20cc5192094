"""The atlas: what it asks for, what it makes of it."""

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import log2

import numpy as np
import pytest

import small_atlas
import wordline as wl
from wordline.atlas import design as designs
from wordline.atlas import findings, judge
from wordline.atlas import report as reports
from wordline.atlas.cells import KEYS, LEAST_LATENCY_US, MEASURES, DriveCells
from wordline_lab.atlas import kept, length, published, tuned, tuning, tuning_gains

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


def test_what_is_kept_is_found_again(atlas_folder, atlas):
    seen = []
    from wordline.atlas.execute import SERIES, Performer
    from wordline.runs import Runner

    def ended(run, found):
        seen.append(found)

    refusals = (wl.Refused, wl.UserError)
    runner = Runner(atlas_folder / "runs", leave_out=SERIES, refusals=refusals, ended=ended)
    design = small_atlas.design()
    again = design.came_to(Performer(design, runner).perform())
    assert seen.count(True) > 200
    assert again.to_json() == atlas.to_json()


def test_json_holds_all_of_it(atlas):
    text = atlas.to_json()
    assert kept.from_json(text).to_json() == text


def test_a_choice_is_sure_only_beyond_chance():
    drive = small_atlas.made({"plain": [0.0] * 3, "a": [-1.0, -1.1, -0.9], "b": [-1.0, -0.8, -1.1]})
    choice = judge.choose(drive, drive.places, "write_mean")
    assert choice.scheme == "a"
    assert choice.second == "b"
    assert judge.is_better("write_mean", choice.gain)
    assert choice.gain.ratio == pytest.approx(0.5)
    assert choice.apart.is_chance
    assert not choice.is_sure
    noisy = small_atlas.made({"plain": [0.0] * 3, "a": [-1.0, 1.0, -0.5]})
    assert not judge.is_better("write_mean", judge.over(noisy.places, "a", "write_mean"))
    # A 99.9th percentile of too few requests says nothing.
    few = small_atlas.made({"plain": [0.0] * 3, "a": [-1.0, -1.1, -0.9]}, requests=99_999)
    assert judge.over(few.places, "a", "write_p999").is_chance
    assert not judge.over(few.places, "a", "write_mean").is_chance


def test_an_answer_rests_on_steady_runs():
    logs = {"plain": [0.0] * 5, "a": [-1.0, -1.1, -0.9, -1.0, -1.0], "b": [-0.1] * 5}
    sure = small_atlas.made(logs)
    choice = judge.choose(sure, sure.places, "write_mean")
    assert choice.is_settled
    assert choice.is_sure
    assert str(choice.steady) == "15 of 15 runs steady"
    assert judge.over(sure.places, "a", "lifetime").ratio == pytest.approx(0.5)
    # One in five may be noisy, of each scheme that is named.
    cell = sure.places[0].cells["a"]
    cell.steadiness = replace(cell.steadiness, steady=4)
    assert judge.choose(sure, sure.places, "write_mean").is_sure
    cell.steadiness = replace(cell.steadiness, steady=3)
    choice = judge.choose(sure, sure.places, "write_mean")
    assert (choice.is_settled, choice.is_sure) == (False, False)
    assert str(choice.gain) == "not known (8 of 10 runs steady)"
    for unsteady in ("plain", "a", "b"):
        drive = small_atlas.made(logs, unsteady=[unsteady])
        choice = judge.choose(drive, drive.places, "write_mean")
        assert not choice.is_settled, unsteady
        assert str(choice.steady) == "10 of 15 runs steady"
    # A lifetime is extrapolated: of runs that are not steady there is none.
    drive = small_atlas.made(logs, unsteady=["a"])
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
    for drive in small_atlas.settled(atlas).drives:
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
    assert "`hyssd:life`" not in "".join(findings.papers(small_atlas.settled(atlas)))
    [alone] = findings.winners(only_plain(atlas.drives[0]))
    assert "only the plain drive ran" in alone


def only_plain(drive: DriveCells) -> DriveCells:
    """A drive on which nothing but the baseline ran."""
    name = drive.baseline
    places = [replace(p, cells={name: p.cells[name]}) for p in drive.places]
    return replace(drive, schemes={name: drive.schemes[name]}, places=places)


def test_a_drive_that_still_changes_has_a_transient(atlas):
    of = small_atlas.changing(atlas)
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
    alone = of.drives[0].places[0].cells["conventional"]
    alone.steadiness = replace(alone.steadiness, changing=0)
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
    drive = small_atlas.with_further("a", "b", further)
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


def test_more_seeds_are_run_where_the_best_two_are_not_apart(atlas_folder, atlas):
    design = replace(small_atlas.design(), most_seeds=4)
    found = small_atlas.perform(atlas_folder, design)
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
    said = findings.sentences(small_atlas.settled(found))[-1]
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
    said = findings.sentences(small_atlas.settled(atlas)) + findings.papers(
        small_atlas.settled(atlas)
    )
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


def test_tuned_schemes_run_but_no_choice_counts_them(atlas_folder, atlas):
    design = small_atlas.design()
    without = small_atlas.perform(atlas_folder, design.with_tuned({}))
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
    atlas = small_atlas.settled(atlas)
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
