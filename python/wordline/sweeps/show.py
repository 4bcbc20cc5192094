"""A sweep as output: in the terminal, and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table as Shown

from wordline import Report, Run, _wordline, steady
from wordline import page as pages
from wordline._measures import brief, change, measure, shown
from wordline.commands import message, naming
from wordline.runs import Runner, stand_ins
from wordline.sweeps import decision, heat
from wordline.sweeps.grid import Grid
from wordline.sweeps.table import Combination, Differences, Form, Table, traceback_there


class _Output(Console):
    """Standard output."""

    def on_broken_pipe(self) -> None:
        """Leave the error to the command, which has files to write; rich would exit."""
        raise


def terminal(table: Table, rests: steady.Steady, changes: Differences | None = None) -> None:
    """Print the table, how many runs are steady, the differences, and what was refused."""
    console = _Output(soft_wrap=False)
    if not console.is_terminal:
        console = _Output(width=max(100, 24 * (len(table.axes) + len(table.paths))))
    console.print(_printed(table, shown), highlight=False)
    if rests.runs:
        console.print(decision.certainty(table, rests), highlight=False, markup=False)
    if changes is not None:
        since = f"Change from {changes.over} {changes.baseline}, paired by seed"
        console.print(f"{since}, with 95 % intervals:", highlight=False, markup=False)
        console.print(_printed(changes, change, unit="\n%"), highlight=False)
    refused, failed = _without_figures(table)
    lines = [
        f"{', '.join(names)} {'were' if len(names) > 1 else 'was'} refused: {reason}"
        for reason, names in refused.items()
    ]
    lines += [f"{', '.join(names)} failed: {reason}" for reason, names in failed.items()]
    errors = (row.failed for row in table.rows if row.failed)
    if traceback := next((t for e in errors if (t := traceback_there(e))), None):
        lines.append(f"the first traceback:\n{traceback}")
    for line in lines:
        console.print(line, highlight=False, markup=False)


def _printed(of: Table | Differences, form: Form, unit: str = "") -> Shown:
    out = Shown(box=box.SIMPLE_HEAD, pad_edge=False)
    for axis in of.axes:
        out.add_column(axis, overflow="fold")
    for path in of.paths:
        out.add_column(path.replace(".", "\n") + unit, justify="right", no_wrap=True)
    for row in of.printed(form):
        out.add_row(*row)
    return out


def _without_figures(table: Table) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the rows that were refused, and those with a failed run and its seed, by reason."""
    refused: dict[str, list[str]] = {}
    failed: dict[str, list[str]] = {}
    for row in table.rows:
        name = row.name(table.axes)
        if row.refused:
            refused.setdefault(message(row.refused), []).append(name)
        if row.failed:
            typed = getattr(row.failed, "on_command_line", None) or row.why or ""
            failed.setdefault(typed, []).append(f"{name} (seed {row.failed_seed})")
    return refused, failed


class Front(NamedTuple):
    """Combinations that no other beats in both of two figures, and the name of their picture."""

    picture: str
    rows: Sequence[Combination]


def page(
    table: Table,
    grid: Grid,
    reports: Mapping[Run, Report],
    folder: Path,
    front: Front | None,
    changes: Differences | None = None,
) -> list[Path]:
    """Write the page of a sweep, with the frontier if it has one; return the files."""
    first = grid.points[0]
    fixed = {k: v for k, v in first.at.items() if k not in table.axes}
    seeds = [run.seed for run in first.runs]
    each = f"one run of each with the seed {seeds[0]}"
    if len(seeds) > 1:
        each = f"{len(seeds)} runs of each with the seeds {seeds[0]} to {seeds[-1]}"
    facts = [(key, str(value)) for key, value in fixed.items()]
    said = stand_ins(reports.values())
    facts += [("workloads", said)] if said else []
    about = "Gain against cost; joined: what nothing else beats in both"
    scatter = pages.body(f"![{about}]({front.picture})", folder) if front else ""
    if front:
        says = "Ringed and joined: the Pareto front (no other combination is better in both)."
        listed = ' Numbers: <a href="#pareto-front">Pareto front</a>.'
        if len(front.rows) == 1:
            says, listed = "Ringed: no other combination is better in either.", ""
        data = pages.body("[data as CSV](sweep.csv)", folder).replace("<p>", '<p class="caption">')
        scatter = f'<div>{scatter}<p class="caption">{says}{listed}</p>{data}</div>'
    lead = f"Varied: {', '.join(table.axes)}; {each}."
    rests = steady.of_reports(report.to_dict() for report in reports.values())
    written = _wordline.page(
        title=f"A sweep of {_combinations(len(grid.points))}",
        lead=f"{heat.verdict(table, rests)} {lead}".strip(),
        facts=facts,
        command=None,
        body=decision.block(table, scatter, rests)
        + _wordline.parts(_parts(table, grid, folder, front, changes), "Decision"),
    )
    path = folder / "index.html"
    with naming(path):
        path.write_text(written, encoding="utf-8")
    return [path]


def _parts(
    table: Table, grid: Grid, folder: Path, front: Front | None, changes: Differences | None
) -> list[pages.Part]:
    """Return the sections below the decision."""

    def part(title: str, text: str, finding: str) -> pages.Part:
        return pages.Part(title, pages.body(text, folder), finding)

    varied = ", ".join(table.axes)
    found = [
        pages.Part("Measures", heat.tables(table, runs_of(grid, folder)), f"Each by {varied}."),
    ]
    if front:
        axes = heat.effective(table).axes
        listed = "".join(
            f"{number}. {heat.called(row, axes)}\n" for number, row in enumerate(front.rows, 1)
        )
        said = "Combinations that nothing else beats in both."
        found.append(part("Pareto front", f"What nothing else beats in both:\n\n{listed}", said))
    right = len(table.paths)
    if changes is not None:
        said = f"From {changes.over} {changes.baseline}, in percent, paired by seed."
        text = "Percent, paired by seed, with 95 % intervals.\n\n"
        percent = (f"{measure(path)._replace(unit='').said()}, %" for path in table.paths)
        head = [*table.axes, *percent]
        text += pages.table(head, changes.printed(change), right)
        found.append(part("Differences", text, said))
    head = [*table.axes, *(measure(path).said() for path in table.paths)]
    text = pages.table(head, table.printed(brief), right)
    text += "\nTable: [sweep.csv](sweep.csv), [sweep.parquet](sweep.parquet). "
    text += "Reports of all runs: `runs/`.\n"
    found.append(part("All figures", text, f"{_combinations(len(table.rows))}."))
    refused, failed = _without_figures(table)
    for title, reasons in (("Refused", refused), ("Failed", failed)):
        if reasons:
            each = ((", ".join(names), " ".join(why.split())) for why, names in reasons.items())
            lines = "".join(f"- {names}: {why}\n" for names, why in each)
            count = sum(map(len, reasons.values()))
            found.append(part(title, lines, f"{_combinations(count)}."))
    text = pages.copied(heat.command(grid))
    found.append(pages.Part("Reproduce", text, "The command of all runs."))
    return found


def _combinations(count: int) -> str:
    return f"{count} combination{'' if count == 1 else 's'}"


def runs_of(grid: Grid, folder: Path) -> heat.Runs:
    """Return the report of the first run of each combination."""
    runner = Runner(folder / "runs")
    if not runner.folder.is_dir():
        return {}
    paths = ((heat.place_of(point.at), runner.path(point.runs[0])) for point in grid.points)
    return {at: f"runs/{path.name}" for at, path in paths if path.is_file()}
