"""The page of a sweep: a table for each figure, and what it says of axes that change nothing."""

import re
from urllib.parse import unquote

import pytest

pytest.importorskip("markdown_it", reason="needs pip install '.[sweep]'")

from wordline import page
from wordline.sweeps import decision, heat
from wordline.sweeps.grid import grid
from wordline.sweeps.table import Row, Table

MEAN, WAF = "latency_us.write.mean", "waf.total"


def table(figures) -> Table:
    rows = [
        Row({"scheme": s, "depth": d}, {MEAN: (mean, 0.5), WAF: (waf, None)}, ())
        for (s, d), (mean, waf) in figures.items()
    ]
    return Table(["scheme", "depth"], [MEAN, WAF], rows)


def test_table_marks_the_best_and_shades_the_worse():
    swept = table(
        {("a", "1"): (10, 2), ("a", "2"): (20, 2), ("b", "1"): (30, 2), ("b", "2"): (40, 2)}
    )
    text = heat.tables(swept, {0: "runs/x.json"})
    shades = [float(found) for found in re.findall(r"--worse:([\d.]+)", text)]
    assert shades == sorted(shades)
    assert shades[0] == 0
    assert shades[-1] == 1
    assert text.count('class="best"') == 1
    assert '<a href="runs/x.json">▸ 10' in text
    assert "mean write latency, µs" in text
    assert MEAN not in re.sub(r'data-measure="[^"]*"', "", text)
    assert "The same of all: WAF 2" in text
    assert heat.verdict(swept).startswith("Of 4 different combinations, a · 1 has the lowest")


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
    text = decision.block(swept, "<figure></figure>")
    assert re.findall(r'data-measure="([^"]*)" data-best="([^"]*)"', text) == [
        (MEAN, "a · 1"),
        (WAF, "a · 2"),
    ]
    assert '<b class="run s0">a · 1</b><small>first</small>' in text
    assert text.index("</table>") < text.index("<figure>")
    x, y = decision.tradeoff(swept)
    assert (x.path, y.path) == (WAF, MEAN)
    assert decision.winner(swept).at == {"scheme": "a", "depth": "1"}
    alike = table({("a", "1"): (10, 2), ("b", "1"): (10, 2)})
    assert decision.tradeoff(alike) is None
    assert decision.block(alike, "") == ""


def test_long_axes_go_down_and_figures_have_one_unit():
    swept = table(
        {(s, str(d)): (1000.0 * d + i, d) for i, s in enumerate("ab") for d in range(1, 30)}
    )
    text = heat.tables(swept, {})
    assert text.count('<th scope="row">29</th>') == 2
    assert "mean write latency, ms" in text
    assert re.search(r">▸ 1 ", text)


def test_a_picture_has_its_data_beside_it(tmp_path):
    (tmp_path / "a.svg").write_text("<svg></svg>")
    assert "download" not in page.body("![A](a.svg)", tmp_path)
    (tmp_path / "a.csv").write_text('x,y\n1,"2 µs"\n', encoding="utf-8")
    text = page.body("![A](a.svg)", tmp_path)
    link = re.search(r'<a download="a.csv" href="data:text/csv;charset=utf-8,([^"]*)">', text)
    assert unquote(link[1]) == 'x,y\n1,"2 µs"\n'
