"""The page of a sweep: a table for each figure, and what it says of axes that change nothing."""

import re
from urllib.parse import unquote

import pytest

pytest.importorskip("markdown_it", reason="needs pip install '.[sweep]'")

import wordline as wl
from wordline import _wordline, page, plotting
from wordline._measures import brief, change
from wordline.steady import Steady, of_reports
from wordline.sweeps import decision, frontier, heat
from wordline.sweeps.grid import grid
from wordline.sweeps.table import Combination, Table

MEAN, WAF = "latency_us.write.mean", "waf.total"


def table(figures) -> Table:
    rows = [
        Combination({"scheme": s, "depth": d}, {MEAN: (mean, 0.5), WAF: (waf, None)}, ())
        for (s, d), (mean, waf) in figures.items()
    ]
    return Table(["scheme", "depth"], [MEAN, WAF], rows)


def test_table_marks_the_best_and_shades_the_worse():
    swept = table(
        {("a", "1"): (10, 2), ("a", "2"): (20, 2), ("b", "1"): (30, 2), ("b", "2"): (40, 2)}
    )
    text = heat.tables(swept, {("a", "1"): "runs/x.json"})
    shades = [float(found) for found in re.findall(r"--worse:([\d.]+)", text)]
    assert shades == sorted(shades)
    assert shades[0] == 0
    assert shades[-1] == 1
    assert text.count('class="best"') == 1
    assert '<a href="runs/x.json">▸ 10.0' in text
    assert "mean write latency, µs" in text
    assert MEAN not in re.sub(r'data-measure="[^"]*"', "", text)
    assert "The same in all combinations: WAF 2" in text
    said = heat.verdict(swept, Steady(7, 8))
    assert said.startswith("Of 4 different combinations, a · depth 1 has the lowest mean")
    assert said.endswith("(7 of 8 runs steady).")
    said = heat.verdict(swept, Steady(5, 8))
    assert said.startswith("The lowest mean write latency of 4 different combinations is not known")
    assert said.endswith(": 5 of 8 runs steady.")


def under_workloads(means) -> Table:
    rows = [
        Combination({"workload": w, "scheme": s}, {MEAN: (mean, None)}, ())
        for (w, s), mean in means.items()
    ]
    return Table(["workload", "scheme"], [MEAN], rows)


def test_workloads_are_no_choice():
    """The easiest workload once was the winner of a sweep over several."""
    swept = under_workloads({("w", "a"): 10, ("w", "b"): 12, ("v", "a"): 30, ("v", "b"): 35})
    said = heat.verdict(swept, Steady(4, 4))
    assert (
        said
        == "a has the lowest mean write latency under each of 2 conditions (4 of 4 runs steady)."
    )
    assert [(r.at["workload"], r.at["scheme"]) for r in heat.best(swept, MEAN)] == [
        ("w", "a"),
        ("v", "a"),
    ]
    text = decision.block(swept, "", Steady(4, 4))
    assert "best of 2 under each of 2 conditions" in text
    assert 'data-best="w · a, v · a"' in text
    assert decision.winner(swept) is None
    assert decision.tradeoff(swept) is None
    assert heat.tables(swept, {}).count('class="best"') == 2
    swept = under_workloads({("w", "a"): 10, ("w", "b"): 12, ("v", "a"): 35, ("v", "b"): 30})
    said = heat.verdict(swept, Steady(4, 4))
    assert said == "The lowest mean write latency: a under w; b under v (4 of 4 runs steady)."
    assert "is not known" in heat.verdict(swept, Steady(1, 4))
    # One scheme under several workloads: nothing is chosen.
    assert heat.verdict(under_workloads({("w", "a"): 10, ("v", "a"): 30}), Steady(2, 2)) == ""


def test_axis_that_changes_nothing_is_a_sentence():
    swept = table(
        {("a", "1"): (10, 2), ("a", "2"): (10, 2), ("b", "1"): (30, 3), ("b", "2"): (30, 3)}
    )
    assert heat.idle(swept) == ["depth"]
    text = heat.tables(swept, {})
    assert "depth changes no figure." in text
    assert text.count("<td") == 4
    alone = table({("a", "1"): (10, 2)})
    assert heat.idle(alone) == []
    assert "<td" in heat.tables(alone, {})


def test_command_of_a_grid_makes_it_again():
    asked = grid(
        devices=["d.toml"], workloads=["bursty:hot=60%"], schemes=["a", "b"], seed=7, replicas=2,
        requests=100, set={"gc.victim": ["greedy", "fifo"]},
    )  # fmt: skip
    assert heat.command(asked) == (
        "wordline sweep --device d.toml --workload bursty:hot=60% --set gc.victim=greedy,fifo "
        "--scheme a --scheme b --seed 7 --replicas 2 --requests 100"
    )


def test_sweep_starts_with_measures_and_costs():
    swept = table(
        {("a", "1"): (10, 4), ("a", "2"): (20, 2), ("b", "1"): (30, 3), ("b", "2"): (40, 3)}
    )
    text = decision.block(swept, "<figure></figure>", Steady(8, 8))
    assert re.findall(r'data-measure="([^"]*)" data-best="([^"]*)"', text) == [
        (MEAN, "a · depth 1"),
        (WAF, "a · depth 2"),
    ]
    assert '<b class="run s0">a<br>depth 1</b><small>first</small>' in text
    assert "8 of 8 runs steady." in text
    assert text.count('class="run s1"') == 2
    # Of what is not known nothing has the winner's color.
    unknown = decision.block(swept, "", Steady(0, 8, 3000, options=[{"": 3000}]))
    assert 'class="run s1"' not in unknown
    assert "--requests 3000" in unknown
    trace = Steady(0, 8, 3000, options=[{"workload.loops": 7}])
    assert "Run longer: with --set workload.loops=7 all may be." in decision.block(swept, "", trace)
    assert text.index("</table>") < text.index("<figure>")
    x, y = decision.tradeoff(swept)
    assert (x.path, y.path) == (WAF, MEAN)
    assert decision.winner(swept).at == {"scheme": "a", "depth": "1"}
    alike = table({("a", "1"): (10, 2), ("b", "1"): (10, 2)})
    assert decision.tradeoff(alike) is None
    assert decision.block(alike, "", Steady(1, 1)) == ""


def test_an_axis_that_changes_nothing_is_in_no_name():
    swept = table(
        {("a", "1"): (10, 2), ("a", "2"): (10, 2), ("b", "1"): (30, 3), ("b", "2"): (30, 3)}
    )
    text = decision.block(swept, "", Steady(4, 4))
    assert "depth" not in text
    assert "best of 2" in text
    row = Combination({"host.queue_depth": "8", "dram.queue_depth": "2", "scheme": "a"}, {}, ())
    assert heat.called(row, ["host.queue_depth", "scheme"]) == "queue depth 8 · a"
    assert heat.called(row, ["host.queue_depth", "dram.queue_depth"]) == (
        "host.queue_depth 8 · dram.queue_depth 2"
    )


def test_page_figures_have_only_significant_digits():
    found = [brief(f) for f in [(30.14, 26), (698.5412, 0.11), (399_518.0, 12_345.0), (0.0, 0.0)]]
    assert found == ["30 ± 26", "698.54 ± 0.11", "400,000 ± 12,000", "0"]
    found = [brief((value, None)) for value in (6_312.4, 0.07182, 22_130.0, 2.0)]
    assert found == ["6,310", "0.0718", "22,100", "2.00"]
    found = [change(f) for f in [(-99.4486, 0.0057), (11.28, 6.01), (0.001199, 0.0052), (-100, 0)]]
    assert found == ["−99.449 ± 0.006", "+11.3 ± 6.0", "+0.0012 ± 0.0052", "−100"]  # noqa: RUF001


def test_figures_within_half_a_per_cent_are_equal():
    swept = table({("a", "1"): (632.1, 2), ("b", "1"): (632.2, 3), ("c", "1"): (632.0, 4)})
    text = heat.tables(swept, {})
    assert "The same in all combinations: mean write latency, µs 632.1" in text
    assert not heat.best(swept, MEAN)
    near = table({("a", "1"): (10.01, 2), ("b", "1"): (10.0, 3), ("c", "1"): (30.0, 4)})
    assert [row.at["scheme"] for row in heat.best(near, MEAN)] == ["b", "a"]


def test_one_axis_has_one_table():
    swept = table({("a", "1"): (10, 2), ("b", "1"): (20, 3)})
    text = heat.tables(heat.effective(swept), {("b", "1"): "runs/x.json"})
    assert text.count("<table") == 1
    assert re.findall(r'<th [^>]*data-measure="([^"]*)"', text) == [MEAN, WAF]
    assert '<a href="runs/x.json">20.0' in text


def test_all_sections_but_the_first_are_folded():
    found = [
        page.Part("A", "<p>x</p>"),
        page.Part("Why it is <slow>", "", "said"),
        page.Part("A", ""),
    ]
    text = _wordline.parts(found, "Decision")
    assert re.findall(r'<details class="part" id="([^"]*)"( open)?>', text) == [
        ("a", " open"), ("why-it-is-slow", ""), ("a-2", ""),
    ]  # fmt: skip
    assert re.findall(r'<a href="#([^"]*)">', text) == ["top", "a", "why-it-is-slow", "a-2"]
    assert "Why it is &lt;slow&gt;" in text


def test_only_many_sections_are_folded(tmp_path):
    written = "# Title\n\nBefore.\n" + "".join(f"\n## Part {i}\n\nText {i}.\n" for i in range(4))
    text = page.to_html(written, tmp_path, command="wordline x")
    assert text.count('<details class="part"') == 5
    assert text.index("Before.") < text.index('class="contents"') < text.index("wordline x")
    headless = page.body("| | a |\n|---|---|\n| b | 1 |\n")
    assert "<th></th>" not in headless
    assert "<td></td>" in headless
    few = page.to_html("# Title\n\n## One\n\nText.\n", tmp_path, command="wordline x")
    assert '<details class="part"' not in few
    assert few.index("Text.") < few.index("wordline x")


def test_long_axes_go_down_and_figures_have_one_unit():
    swept = table(
        {(s, str(d)): (1000.0 * d + i, d) for i, s in enumerate("ab") for d in range(1, 30)}
    )
    text = heat.tables(swept, {})
    assert text.count('<th scope="row">29</th>') == 2
    assert "mean write latency, ms" in text
    assert re.search(r">▸ 1\.0000 ", text)


def test_a_picture_has_its_data_beside_it(tmp_path):
    (tmp_path / "a.svg").write_text("<svg></svg>")
    assert "download" not in page.body("![A](a.svg)", tmp_path)
    (tmp_path / "a.csv").write_text('x,y\n1,"2 µs"\n', encoding="utf-8")
    text = page.body("![A](a.svg)", tmp_path)
    link = re.search(r'<a download="a.csv" href="data:text/csv;charset=utf-8,([^"]*)">', text)
    assert unquote(link[1]) == 'x,y\n1,"2 µs"\n'


def test_data_are_held_by_the_page_and_linked_once(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("x\n1\n", encoding="utf-8")
    (tmp_path / "a.svg").write_text("<svg></svg>")
    text = page.body("![A](a.svg)\n\nData: [a.csv](a.csv)\n\nData: [b.csv](b.csv)\n", tmp_path)
    assert text.count("download=") == 2
    assert "a.csv</a>" not in text
    assert '<a download="b.csv" href="data:text/csv' in text
    assert page.body("[c.csv](c.csv)", tmp_path) == '<p><a href="c.csv">c.csv</a></p>\n'


def test_frontier_has_bars_only_where_there_are_intervals(tmp_path, monkeypatch):
    swept = table({("a", "1"): (10, 4), ("a", "2"): (20, 2), ("b", "1"): (30, 3)})
    drawn = []
    monkeypatch.setattr(plotting, "save", lambda figure, path: drawn.append(figure))
    axes = frontier.axes([WAF, MEAN])
    frontier.draw(swept, axes, tmp_path / "f.svg", "", swept.rows[1])
    # The means have intervals over the seeds, the WAF has none.
    (at,) = drawn[0].axes
    assert len(at.containers) == len(at.get_legend().get_texts()) == 3
    assert {(bars.has_xerr, bars.has_yerr) for bars in at.containers} == {(False, True)}


def test_longer_bursty_runs_have_more_bursts_too():
    asked = {"device": "demo-8gb", "scheme": "conventional", "workload": "bursty"}
    short = of_reports([wl.run(**asked, requests=3000).to_dict()])
    ((requests, bursts),) = (options.values() for options in short.options)
    assert (requests, short.options[0].keys()) == (short.needed, {"", "workload.bursts"})
    assert short.longer == f"with --requests {requests} --set workload.bursts={bursts} all may be"
    assert bursts > 6
    # More requests make no run longer that ended with its last burst.
    on = {**asked, "device": "fair-tlc", "scheme": "slc-cache"}
    ended = wl.run(**on, requests=10**6)
    (options,) = of_reports([ended.to_dict()]).options
    assert options.keys() == {"workload.bursts"}
    other = {**asked, "workload": "uniform"}
    (options,) = of_reports([wl.run(**other, requests=3000).to_dict()]).options
    assert options.keys() == {""}
    assert Steady(0, 1, ways=["raise bytes="]).longer == "raise bytes="
