"""The page of the atlas in a real browser."""

import re
from copy import deepcopy
from itertools import pairwise
from math import log2
from pathlib import Path

import numpy as np
import pytest

import browsers
import small_atlas
from wordline.atlas import design as designs
from wordline.atlas import judge
from wordline.atlas import page as pages
from wordline.atlas.cells import KEYS, MEASURES, Atlas, DriveCells

RESULTS = Path(__file__).parents[1] / "results"


@pytest.fixture(scope="module")
def tab(atlas_folder):
    playwright = pytest.importorskip("playwright.sync_api")
    if browsers.CHROMIUM is None:
        pytest.skip("no chromium on PATH")
    page = small_atlas.page(atlas_folder)
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
    page.write_text(pages.to_html(small_atlas.settled(atlas), "wordline atlas", ["It is so."], []))
    other = tab.context.browser.new_page()
    other.wrong = []
    other.on("pageerror", lambda error: other.wrong.append(str(error)))
    other.goto(page.as_uri())
    yield other
    other.close()


def test_conditions_with_an_answer_are_offered(tab, atlas, tmp_path):
    partly = deepcopy(atlas)
    drive = partly.drives[0]
    drive.places[1] = small_atlas.settled(atlas).drives[0].places[1]
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
    of = small_atlas.changing(atlas)
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
    found = (c for d in atlas.drives for p in d.places for c in p.cells.values())
    needed = max(cell.steadiness.needed for cell in found)
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
    tab, atlas = settled_tab, small_atlas.settled(atlas)
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
    drive = small_atlas.with_further("a", "b", further)
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


def test_both_pages_can_be_read(tab, atlas_folder, tmp_path):
    for page in (atlas_folder / "index.html", small_atlas.page_of_traces(tmp_path)):
        browsers.is_readable(tab.context.browser, page)


def test_scale_labels_of_the_published_page_do_not_overlap(tab):
    other = tab.context.browser.new_page()
    other.goto((RESULTS / "atlas" / "index.html").as_uri())
    drawn = 0
    for drive in ("TLC", "QLC", "pair"):
        other.locator("#atlas-drive").select_option(drive)
        for measure in ("write_mean", "write_p99", "read_mean"):
            other.locator("#atlas-measure").select_option(measure)
            boxes = other.locator("#atlas-frontier text.tick").evaluate_all(
                """(all) => all.map((t) => t.getBoundingClientRect())
                   .map((b) => [b.left, b.top, b.right, b.bottom])"""
            )
            drawn += len(boxes)
            for n, (left, top, right, bottom) in enumerate(boxes):
                for a, b, c, d in boxes[n + 1 :]:
                    assert left >= c or right <= a or top >= d or bottom <= b, (drive, measure)
    other.close()
    assert drawn > 20
