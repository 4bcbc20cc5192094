"""What a paper takes: a figure of a sweep as a plot, tables as LaTeX."""

import itertools
import math
import re

import pytest

pytest.importorskip("matplotlib", reason="needs pip install '.[sweep]'")

import matplotlib.pyplot as plt

import wordline as wl
from wordline import _latex, _measures
from wordline.sweeps import plot
from wordline.sweeps.table import Combination, Table

MEAN, WAF, IOPS = "latency_us.write.mean", "waf.total", "throughput.iops"


def table(axes, figures) -> Table:
    paths = [MEAN, WAF]
    rows = [
        Combination(dict(zip(axes, at, strict=True)), dict(zip(paths, found, strict=True)), ())
        for at, found in figures.items()
    ]
    return Table(list(axes), paths, rows)


def swept(axes=("gc.trigger", "scheme"), values=("2%", "10%", "40%")) -> Table:
    rows = {}
    for number, (value, scheme) in enumerate(itertools.product(values, "ab")):
        rows[value, scheme] = ((100.0 * (number + 1), 5.0), (2.0, None))
    rows[values[1], "b"] = (None, None)
    return table(axes, rows)


def drawn(of, figure=None, over=None, where=None, width="page"):
    return plot.draw(of, figure, over, where or {}, (None, width))


def lines(at):
    """Name, places and heights of each line, with the ends of its intervals."""
    found = {}
    for container in at.containers:
        line, _, bars = container.lines
        ends = [segment.tolist() for bar in bars for segment in bar.get_segments()]
        found[container.get_label()] = (line.get_xdata(), line.get_ydata(), ends)
    return found


def test_numeric_sweep_is_drawn_with_intervals_and_gaps():
    at = drawn(swept())
    found = lines(at)
    assert list(found) == ["a", "b"]
    x, y, ends = found["a"]
    assert list(x) == pytest.approx([0.02, 0.1, 0.4])
    assert list(y) == [100, 300, 500]
    assert [(low[1], high[1]) for low, high in ends] == [(95, 105), (295, 305), (495, 505)]
    # What was refused is a gap, not a line over it.
    assert math.isnan(found["b"][1][1])
    assert at.get_xscale() == "log"
    assert [text.get_text() for text in at.get_xticklabels()] == ["2%", "10%", "40%"]
    assert at.get_ylabel() == "mean write latency, µs"
    assert at.get_ylim()[0] == 0
    shown = [c.lines[0] for c in at.containers]
    for look in ("get_color", "get_linestyle", "get_marker"):
        assert len({str(getattr(line, look)()) for line in shown}) == 2, look
    plt.close("all")


def test_other_values_are_drawn_side_by_side():
    at = drawn(swept(values=("greedy", "fifo", "oldest")), over="gc.trigger", width="column")
    assert [text.get_text() for text in at.get_xticklabels()] == ["greedy", "fifo", "oldest"]
    assert {c.lines[0].get_linestyle() for c in at.containers} == {"None"}
    (one, *_), (other, *_) = (lines(at)[name] for name in "ab")
    assert one[0] < other[0]
    at = drawn(swept(), over="scheme", where={"gc.trigger": ["2%", "40%"]})
    assert list(lines(at)) == ["2%", "40%"]
    one = drawn(swept(), where={"scheme": "a"})
    assert one.get_legend() is None
    plt.close("all")


def test_legends_cover_nothing_and_names_fit_the_width():
    for width, inches in (("column", 3.35), ("page", 7.0)):
        values = {(f"{n}", f"a-scheme-with-a-name-{s}"): ((1.0 + n, None), (2.0, None))
                  for n in (1, 2) for s in range(5)}  # fmt: skip
        at = drawn(table(("depth", "scheme"), values), width=width)
        figure = at.get_figure()
        assert figure.get_figwidth() == inches
        figure.canvas.draw()
        legend = at.get_legend().get_window_extent()
        assert legend.y0 >= at.get_window_extent().y1 - 1
        assert legend.x1 <= figure.bbox.x1 + 1
    plt.close("all")


def test_a_saved_plot_embeds_type_42_fonts(tmp_path):
    at = drawn(swept(), width="column")
    at.get_figure().savefig(tmp_path / "a.pdf")
    data = (tmp_path / "a.pdf").read_bytes()
    assert b"/Type3" not in data
    assert b"/CIDFontType2" in data
    plt.close("all")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"figure": "waf.totl"}, "did you mean waf.total?); it has latency_us.write.mean, waf"),
        ({"over": "qd"}, "over='qd' does not vary\n  allowed: gc.trigger, scheme"),
        ({"where": {"qd": "1"}}, "where: 'qd' does not vary here\n  allowed: gc.trigger, scheme"),
        ({"where": {"scheme": "c"}}, "where: scheme has no 'c'\n  allowed: a, b"),
        ({"where": {"scheme": []}}, "where: no combination is left"),
        ({"where": {"gc.trigger": "10%", "scheme": "b"}}, "no combination here has latency_us"),
        ({"width": "poster"}, "width='poster': allowed are column, page"),
    ],
)
def test_a_plot_that_is_asked_wrongly_says_what_is_allowed(asked, message):
    with pytest.raises(wl.UserError, match=re.escape(message)):
        drawn(swept(), **asked)
    plt.close("all")


LATEX = r"""% needs \usepackage{booktabs}
\begin{table}
\centering
\caption{50\% of it \& more}
\label{tab:it}
\begin{tabular}{llrrr}
\toprule
& & \multicolumn{2}{c}{write latency (ms)} & \\
\cmidrule(lr){3-4}
gc.victim & scheme & mean & p99.9 & WAF \\
\midrule
a\_b & x & 12.0 $\pm$ 1.5 & 40 & 2 \\
a\_b & y\{1\} & -- & -- & -- \\
\bottomrule
\end{tabular}
\end{table}
"""


def test_table_has_units_and_is_safe_for_latex():
    paths = [MEAN, "latency_us.write.p999", WAF]
    rows = [
        (
            ["a_b", "x"],
            dict(zip(paths, [(12_000.0, 1_500.0), (40_000.0, None), (2.0, None)], strict=True)),
        ),
        (["a_b", "y{1}"], dict.fromkeys(paths)),
    ]
    found = _latex.table(
        ["gc.victim", "scheme"], rows, paths, caption="50% of it & more", label="tab:it"
    )
    assert found == LATEX.strip()
    plain = _latex.table(["s"], [(["x"], {WAF: (2.0, None)})], [WAF])
    assert "table}" not in plain
    assert r"\cmidrule" not in plain
    escaped = _latex.escape('\\{}~^<>|"&%$#_µ±')
    assert not re.search(r"(?<!\\)[&%#_~^]", escaped.replace(r"\textbackslash{}", ""))
    # As many decimals in every row.
    figures = [(3.2851, None), (28.2, None), None, (4.0, None)]
    column = _latex.table(["s"], [(["x"], {WAF: figure}) for figure in figures], [WAF])
    assert re.findall(r"x & (\S+)", column) == ["3.29", "28.20", "--", "4.00"]
    far = _latex.table(["s"], [(["x"], {WAF: (mean, None)}) for mean in (0.0125, 28.2)], [WAF])
    assert re.findall(r"x & (\S+)", far) == ["0.0125", "28.2"]
    # As many cells in every row.
    body = [
        line for line in found.splitlines() if line.endswith(r"\\") and "multicolumn" not in line
    ]
    assert {line.count(" & ") for line in body} == {4}


def test_comparisons_and_sweeps_have_the_same_figures():
    how = {"device": "demo-8gb", "workload": "bursty", "requests": 300, "replicas": 2}
    schemes = ["conventional", "slc-cache"]
    compared = wl.compare(schemes=schemes, **how)
    swept = wl.sweep(schemes=schemes, progress=False, **how)
    assert compared.to_latex() == swept.to_latex()
    assert r"$\pm$" in compared.to_latex()
    assert "write latency" in compared.to_latex([MEAN])
    with pytest.raises(wl.UserError, match=r"waf\.totl: unknown figure; similar: waf\.total"):
        compared.to_latex(["waf.totl"])
    with pytest.raises(wl.UserError, match=r"flash\.reads\.gc is not in the table of this sweep"):
        swept.to_latex(["flash.reads.gc"])
    for one in (compared, swept):
        with pytest.raises(wl.UserError, match=r"figures is the text 'waf\.total'; pass a list"):
            one.to_latex("waf.total")
    at = compared.plot.latency("write", width="column")
    # From the ground up, with the interval of a quantile over the replicas.
    assert all(line.get_ydata()[0] == 0 for line in at.lines[:2])
    p999 = compared[0].replicas.figures["latency_us.write.p999"]
    ends = [bar.get_segments()[0][:, 0] for c in at.containers for bar in c.lines[2]]
    wanted = [p999.mean - p999.half_width_95, p999.mean + p999.half_width_95]
    assert any(list(found) == pytest.approx(wanted) for found in ends)
    at = swept.plot(WAF, width="column")
    assert [text.get_text() for text in at.get_xticklabels()] == schemes
    plt.close("all")


def test_measures_scale_to_what_can_be_read():
    assert _measures.scaled(MEAN, [5.0])[0].said() == "mean write latency, µs"
    assert _measures.scaled(MEAN, [20_000.0]) == (_measures.measure(MEAN)._replace(unit="ms"), 1e3)
    assert _measures.measure(IOPS).better == "higher"
    assert _measures.measure("a.b").said() == "a.b"
