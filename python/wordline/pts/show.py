"""Results of a test, as a table in the terminal and as a page with plots."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from wordline.pts import procedure
from wordline.pts.measured import (
    RANGE,
    SLOPE,
    WINDOW,
    Cell,
    Load,
    Result,
    Steady,
    size_name,
)
from wordline.quantity import significant

#: Maximum number of sentences on steady state at the head of a page.
_SAID = 2
#: Factor between the largest and the smallest figure from which an axis is logarithmic.
DECADE = 10.0
#: Idle time after a cell, as a share of it, at which a line over time breaks.
GAP = 1e-6
#: Tests that repeat rounds until steady state; the limits of the specification.
UNTIL_STEADY = ("iops", "throughput", "latency", "hir")
ROUNDS, CELL_S = 25, 60
#: Factor between the largest and the smallest WAF from which rounds differ by collection.
UNEVEN = 1.1
#: A table: its caption, its heads, its rows.
Shown = tuple[str, list[str], list[list[str]]]


def terminal(results: Sequence[Result], advice: Advice | None = None) -> str:
    """Return titles, steady states, advice and tables of a test under several schemes."""
    from wordline._terminal import printed, table

    said = [line for result in results for line in states(result)]
    said += [] if advice is None else ["".join(advice)]
    shown = [table(heads, rows, title=caption) for caption, heads, rows in tables(results)]
    return printed(heading(results[0]), *said, *shown, about(results[0]), width=100)


def heading(result: Result) -> str:
    """Return the name of the test, the device and the schemes."""
    return f"{procedure.TESTS[result.test].title} of {result.device}, cells of {_time(result)}"


def about(result: Result) -> str:
    """Return which specification was followed, and what differs."""
    text = "After SNIA's PTS 2.0.2, in simulated time"
    if result.cell_s != CELL_S:
        text += f"; its cells last {CELL_S} s, these {_time(result)}"
    if result.test == "xsr" and result.cell_s < CELL_S:
        text += f", and a stimulus ends after {procedure.STIMULUS_DRIVE_WRITES:g} drive writes"
    most = f"a range of {100 * RANGE:g} % and a slope of {100 * SLOPE:g} % of the mean"
    return f"{text}. Steady state allows {most} over {WINDOW} rounds."


def states(result: Result) -> list[str]:
    """Return for each part whether the drive was in steady state."""
    found = []
    for stage, judged in result.steady.items():
        part = "" if stage == result.test else f", {stage}"
        written = max(c.drive_writes for c in result.cells if c.stage == stage)
        found.append(f"{result.scheme}{part}: {judged.says} after {written:.2g} drive writes")
    return found


#: A sentence, and a command that it ends with, if any.
Advice = tuple[str, str]


def advice(results: Sequence[Result], typed: Callable[..., str]) -> Advice | None:
    """Return why a test that goes on until steady state ended without it, and what to type next.

    ``typed`` spells the command with other options. None if all parts are steady.
    """
    unsteady = [
        (result, stage, judged)
        for result in results
        if result.test in UNTIL_STEADY
        for stage, judged in result.steady.items()
        if not judged.holds
    ]
    if not unsteady:
        return None
    causes = []
    for result, stage, judged in unsteady:
        part = result.scheme if stage == result.test else f"{result.scheme}, {stage}"
        wafs = _judged_wafs(result, stage, judged)
        if wafs:
            uneven = max(wafs) > UNEVEN * min(wafs)
            so = (
                "garbage collection falls unevenly on rounds" if uneven else "that is not the cause"
            )
            least, most = _number(min(wafs)), _number(max(wafs))
            part += f" (the WAF of its rounds was {least} to {most}: {so})"
        causes.append(part)
    said = f"Not steady: {'; '.join(causes)}"
    if any(judged.last < ROUNDS for _, _, judged in unsteady):
        return f"{said}. With more rounds: ", typed(rounds=ROUNDS)
    if results[0].cell_s < CELL_S:
        return f"{said}. With longer cells: ", typed(cell=f"{CELL_S}s")
    return f"{said}. PTS ends here, and such a result is reported as not steady.", ""


def _judged_wafs(result: Result, stage: str, judged: Steady) -> list[float]:
    """Return WAF in the rounds over which steady state was determined, of the writes it is for."""
    small = result.test in ("iops", "latency")
    return [
        cell.waf
        for cell in result.cells
        if cell.stage == stage and judged.first <= cell.round <= judged.last
        if cell.mix == "0/100" and (not small or cell.size == procedure.SATURATING.size)
        if cell.waf is not None
    ]


def tables(results: Sequence[Result]) -> list[Shown]:
    """Return the tables of a test: those of the specification."""
    return _TABLES[results[0].test](results)


def _time(result: Result) -> str:
    return f"{result.cell_s:g} s"


def _number(value: float | None) -> str:
    if value is None:
        return "–"  # noqa: RUF001
    return significant(value, 3)


def _mean(cells: Sequence[Cell], of: str) -> float | None:
    found = [v for c in cells if (v := getattr(c, of)) is not None]
    return fmean(found) if found else None


def _matrix(
    results: Sequence[Result],
    sizes: Sequence[int],
    mixes: Sequence[float],
    depth: int,
    figures: Sequence[tuple[str, str]],
) -> list[Shown]:
    """Return tables of size by mix, one for each scheme and figure."""
    found = []
    for result in results:
        for caption, of in figures:
            rows = []
            for size in sizes:
                cells = [result.last(Load(m, size, depth), result.test) for m in mixes]
                rows.append([size_name(size), *(_number(_mean(c, of)) for c in cells)])
            heads = ["read/write", *(Load(m, 0).mix for m in mixes)]
            found.append((f"{result.scheme}: {caption}", heads, rows))
    return found


def _iops(results: Sequence[Result]) -> list[Shown]:
    sizes, mixes = procedure.IOPS_SIZES, procedure.IOPS_MIXES
    return _matrix(results, sizes, mixes, 32, [("IOPS, QD 32", "iops")])


def _latency(results: Sequence[Result]) -> list[Shown]:
    figures = [
        ("mean latency, µs, QD 1", "mean_us"),
        ("p99.9 latency, µs, QD 1", "p999_us"),
        ("longest latency, µs, QD 1", "max_us"),
    ]
    return _matrix(results, procedure.LATENCY_SIZES, procedure.LATENCY_MIXES, 1, figures)


#: A row of a table: its name, and what it has of each result.
Line = tuple[str, Callable[[Result], float | None]]


def _by_scheme(
    results: Sequence[Result], caption: str, head: str, lines: Sequence[Line]
) -> list[Shown]:
    """Return a table with a column for each scheme."""
    rows = [[name, *(_number(of(result)) for result in results)] for name, of in lines]
    return [(caption, [head, *(result.scheme for result in results)], rows)]


def _of_stage(result: Result, stage: str) -> list[Cell]:
    return [cell for cell in result.cells if cell.stage == stage]


def _throughput(results: Sequence[Result]) -> list[Shown]:
    def line(size: int, read: float, what: str) -> Line:
        load, stage = Load(read, size, sequential=True), f"{size // 1024} KiB"
        return f"sequential {what}, {stage}", lambda r: _mean(r.last(load, stage), "mb_per_s")

    ways = ((1.0, "reads"), (0.0, "writes"))
    lines = [line(size, *way) for size in procedure.THROUGHPUT_SIZES for way in ways]
    return _by_scheme(results, "MB/s, QD 32", "load", lines)


def _wsat(results: Sequence[Result]) -> list[Shown]:
    def last(of: str) -> Callable[[Result], float | None]:
        return lambda result: _mean(result.cells[-5:], of)

    lines: list[Line] = [
        ("IOPS, first cell", lambda result: result.cells[0].iops),
        ("IOPS, last five cells", last("iops")),
        ("drive writes to half the first IOPS", lambda result: _cliff(result.cells)),
        ("WAF, last five cells", last("waf")),
        ("mean latency, µs, last five cells", last("mean_us")),
        ("p99.9 latency, µs, last five cells", last("p999_us")),
    ]
    return _by_scheme(results, "random 4 KiB writes, QD 32", "figure", lines)


def _cliff(cells: Sequence[Cell]) -> float | None:
    """Return the drive writes until a cell has less than half the IOPS of the first."""
    slow = next((i for i, c in enumerate(cells) if c.iops < cells[0].iops / 2), None)
    return None if slow is None else cells[slow - 1].drive_writes


def _hir(results: Sequence[Result]) -> list[Shown]:
    def line(stage: str) -> Line:
        return stage, lambda result: _mean(_of_stage(result, stage)[-5:], "iops")

    idle = [f"{idle:g} s idle" for idle in procedure.IDLE_S]
    lines = [line(stage) for at in idle for stage in (at, f"after {at}")]
    caption = "IOPS of random 4 KiB writes, QD 32, means of the last five measurements"
    return _by_scheme(results, caption, "part", [line("saturation"), *lines])


def _xsr(results: Sequence[Result]) -> list[Shown]:
    def line(stage: str, when: str, of: slice) -> Line:
        name = f"{stage}, {when} five cells"
        return name, lambda result: _mean(_of_stage(result, stage)[of], "mb_per_s")

    ends = (("first", slice(None, 5)), ("last", slice(-5, None)))
    lines = [line(stage, *end) for stage, _, _ in procedure.STIMULI for end in ends]
    return _by_scheme(results, "MB/s, QD 32", "part", lines)


_TABLES: dict[str, Callable[[Sequence[Result]], list[Shown]]] = {
    "iops": _iops,
    "throughput": _throughput,
    "latency": _latency,
    "wsat": _wsat,
    "hir": _hir,
    "xsr": _xsr,
}


def write(
    results: Sequence[Result], folder: Path, command: str, advice: Advice | None = None
) -> Path:
    """Write index.html, pts.csv and the plots of a test into a folder; return the page."""
    from wordline import page, plotting

    folder.mkdir(parents=True, exist_ok=True)
    rows = [row for result in results for row in result.to_rows()]
    with (folder / "pts.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    said = [line for result in results for line in states(result)]
    judged = [steady for result in results for steady in result.steady.values()]
    lead = f"{'; '.join(said)}."
    text = f"# {heading(results[0])}\n\n"
    if len(said) > _SAID:
        lead = f"{sum(steady.holds for steady in judged)} of {len(judged)} parts in steady state."
        text += "".join(f"- {line}\n" for line in said) + "\n"
    if advice is not None:
        sentence, then = advice
        text += f"{sentence}`{then}`\n\n" if then else f"{sentence}\n\n"
    text += f"{about(results[0])} Every measurement is in `pts.csv`.\n"
    section = ""
    for caption, heads, cells in tables(results):
        # The tables of a scheme share a section.
        scheme, _, figure = caption.rpartition(": ")
        title = scheme or caption
        text += "" if title == section else f"\n## {title}\n"
        section = title
        text += f"\n### {figure}\n" if scheme else ""
        text += f"\n{page.table(heads, cells, right=len(heads) - 1)}"
    for name, title, figure in _plots(results):
        plotting.save(figure, folder / f"{name}.svg")
        text += f"\n## {title}\n\n![{title}]({name}.svg)\n"
    return page.write(text, folder, lead=lead, command=command)


def _plots(results: Sequence[Result]) -> list[tuple[str, str, Any]]:
    """Return name, title and figure of each plot of a test."""
    test = results[0].test
    rates, iops, mean = ("mb_per_s", "MB/s"), ("iops", "IOPS"), ("mean_us", "mean latency, µs")
    judged = {"iops": iops, "latency": mean, "throughput": rates}
    if test in judged:
        title = f"Rounds to steady state, {judged[test][1]} of writes"
        return [("rounds", title, _over_rounds(results, *judged[test]))]
    over, label = "start_s", "simulated time of the test, s"
    if test == "wsat":
        over, label = "drive_writes", "drive writes"
    figures = [rates if test == "xsr" else iops, mean, ("waf", "WAF")]
    return [("over", f"Over {label}", _over(results, over, label, figures))]


def _over_rounds(results: Sequence[Result], of: str, what: str) -> Any:
    from matplotlib import pyplot
    from matplotlib.ticker import MaxNLocator, NullFormatter, StrMethodFormatter

    from wordline import plotting

    loads = dict.fromkeys(
        (c.stage, c.load, c.size) for r in results for c in r.cells if c.mix == "0/100"
    )
    with plotting.style():
        size_in = (4.2 * len(results), 3.2)
        figure, panels = pyplot.subplots(
            1, len(results), figsize=size_in, sharey=True, squeeze=False
        )
        for at, result in zip(panels[0], results, strict=True):
            for i, (stage, load, size) in enumerate(loads):
                own = [c for c in result.cells if (c.stage, c.load) == (stage, load)]
                # A logarithmic scale has no zero.
                figures = [getattr(c, of) or math.nan for c in own]
                look: dict[str, Any] = {
                    "color": plotting.SCHEMES[i % len(plotting.SCHEMES)],
                    "marker": plotting.MARKERS[i % len(plotting.MARKERS)],
                }
                rounds = [c.round for c in own]
                at.plot(rounds, figures, markersize=3.5, label=size_name(size), **look)
            at.set_title(result.scheme)
            at.set_xlabel("round")
            at.xaxis.set_major_locator(MaxNLocator(integer=True))
        # A logarithmic axis of less than a decade has hardly a labelled tick. The panels share it.
        first = panels[0][0]
        drawn = [y for at in panels[0] for line in at.lines for y in line.get_ydata() if y == y]
        if max(drawn, default=1.0) >= DECADE * min(drawn, default=1.0):
            first.set_yscale("log")
            first.yaxis.set_minor_formatter(NullFormatter())
        else:
            first.set_ylim(bottom=0)
        first.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        first.set_ylabel(what)
        panels[0][-1].legend(loc="center left", bbox_to_anchor=(1.01, 0.5), title="size")
        figure.tight_layout()
    return figure


def _over(
    results: Sequence[Result], over: str, label: str, figures: Sequence[tuple[str, str]]
) -> Any:
    from matplotlib import pyplot
    from matplotlib.ticker import StrMethodFormatter

    from wordline import plotting

    colours = plotting.colours([r.scheme for r in results])
    with plotting.style():
        size_in = (7.2, 1.9 * len(figures))
        figure, panels = pyplot.subplots(len(figures), 1, figsize=size_in, sharex=True)
        for at, (of, name) in zip(panels, figures, strict=True):
            for result in results:
                own = [c for c in result.cells if getattr(c, of) is not None]
                x, y = _steps(own, of, _begin(result))
                if over != "start_s":
                    x, y = ([getattr(cell, key) for cell in own] for key in (over, of))
                at.plot(x, y, color=colours[result.scheme], linewidth=1.1, label=result.scheme)
            at.set_ylabel(name)
            at.set_ylim(bottom=0)
            at.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
            if results[0].test == "xsr":
                _mark_stages(results, at, colours)
        panels[-1].set_xlabel(label)
        if len(results) > 1:
            panels[0].legend(ncols=min(4, len(results)), loc="lower left", bbox_to_anchor=(0, 1.0))
        figure.tight_layout()
    return figure


def _begin(result: Result) -> float:
    """Return when the measurements begin: schemes take different times to precondition."""
    return result.cells[0].start_s if result.cells else 0.0


def _steps(cells: Sequence[Cell], of: str, begin: float) -> tuple[list[float], list[float]]:
    """Return the line of a figure over time, level within a cell and broken at idle time."""
    x: list[float] = []
    y: list[float] = []
    for cell in cells:
        start = cell.start_s - begin
        if x and start > x[-1] + GAP * cell.seconds:
            x.append(math.nan)
            y.append(math.nan)
        x += [start, start + cell.seconds]
        y += [getattr(cell, of)] * 2
    return x, y


def _mark_stages(results: Sequence[Result], at: Any, colours: Mapping[str, str]) -> None:
    """Draw a line where a stimulus follows another."""
    for result in results:
        for before, cell in pairwise(result.cells):
            if cell.stage != before.stage:
                start = cell.start_s - _begin(result)
                at.axvline(start, color=colours[result.scheme], linewidth=0.8, linestyle=":")
