"""The result of a sweep."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from wordline import Refused, Report, Run, _frame, _latex
from wordline._measures import FIGURES, listed
from wordline.runs import FAILURES, Runner, stand_ins
from wordline.sweeps import frontier as pareto
from wordline.sweeps import kept
from wordline.sweeps.grid import Grid
from wordline.sweeps.table import Combination, Differences, differences, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from wordline.steady import Steady

#: Axes that are columns of the same name in reports.
_OF_REPORTS = ("device", "workload", "initial", "scheme")


class Sweep(Sequence[Combination]):
    """Every combination of a grid, with its reports; a sequence of `Combination`.

    Attributes
    ----------
    axes : list of str
        The axes that vary.
    ran, found : int
        Number of runs that were executed, and of those whose reports already existed.
    table : Table
        The combinations as a table, with means and intervals.
    """

    def __init__(
        self,
        grid: Grid,
        reports: Mapping[Run, Report],
        refused: Mapping[Run, Exception],
        figures: Sequence[str],
    ) -> None:
        """Collect the results of `wordline.runs.Runner.run` for a grid into a table of figures.

        Raises `UserError`: no report has a figure with this path.
        """
        self._grid = grid
        self._reports = reports
        self.table = table(grid, reports, refused, figures)
        self.axes = list(grid.axes)
        self.ran = self.found = 0

    @overload
    def __getitem__(self, index: int) -> Combination: ...
    @overload
    def __getitem__(self, index: slice) -> list[Combination]: ...
    def __getitem__(self, index: int | slice) -> Combination | list[Combination]:
        """Return a combination by its position."""
        return self.table.rows[index]

    def __len__(self) -> int:
        """Return the number of combinations."""
        return len(self.table.rows)

    def __repr__(self) -> str:
        """Return a summary of what varies."""
        return f"<Sweep of {len(self)} combinations over {', '.join(self.axes)}>"

    def _repr_html_(self) -> str:
        refused = sum(row.refused is not None for row in self.table.rows)
        failed = sum(row.failed is not None for row in self.table.rows)
        about = f"{len(self)} combinations" + (f", {refused} refused" if refused else "")
        about += f", {failed} failed" if failed else ""
        return _frame.html([*self.axes, *self.table.paths], self.table.printed(), about)

    def __str__(self) -> str:
        """Return the table, followed by combinations that were refused or failed."""
        lines = [[*self.axes, *self.table.paths], *self.table.printed()]
        for i, column in enumerate(list(zip(*lines, strict=True))):
            turn, width = (str.ljust if i < len(self.axes) else str.rjust), max(map(len, column))
            for line in lines:
                line[i] = turn(line[i], width)
        found = ["  ".join(line).rstrip() for line in lines]
        for row in (row for row in self.table.rows if row.why):
            how = "is not supported" if row.refused else f"failed (seed {row.failed_seed})"
            found.append(f"{row.name(self.axes)} {how}: {row.why}")
        return "\n".join(found)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by column: one row per combination, mean and interval of each figure.

        Returns
        -------
        dict
            The axes; the figures of the table by path, as means over the seeds, with repeats also
            ``PATH.half_width_95`` in the same unit; ``replicas`` and ``result_hash``; ``refused``
            if a combination was refused, ``failed`` and ``failed_seed`` if a run of one failed. All
            lists have the same length; missing values are ``None``.
        """
        return self.table.columns()

    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame with a row for each run, that is, each seed of each combination.

        Library and exceptions are as for `Report.to_frame`.

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            The columns of `Report.to_frame`, and one for each key of ``set``. A combination that
            was refused or failed has a row without figures for each seed, with the reason in
            ``refused`` or ``failed``.
        """
        rows: list[dict[str, Any]] = []
        for row, point in zip(self, self._grid.points, strict=True):
            own = {key: value for key, value in row.at.items() if key not in _OF_REPORTS}
            for report in row.reports:
                rows += _frame.rows_of(report.to_dict(), own)
            if row.why:
                kind = "refused" if row.refused else "failed"
                rows += [{**row.at, "seed": run.seed, kind: row.why} for run in point.runs]
        return _frame.frame(rows, library)

    def differences(self, over: str | None = None, baseline: str | None = None) -> Differences:
        """Compare each combination with the one that differs in one axis only, paired by seed.

        Parameters
        ----------
        over
            The axis; ``scheme`` if that varies, else the first that does.
        baseline
            The value of that axis with which the others are compared; the first if not given.

        Returns
        -------
        Differences
            ``rows`` has one for each other combination, with percent by figure of the table; its
            ``columns()`` are lists of the same length, ``PATH.percent`` and
            ``PATH.percent.half_width_95``.

        Raises
        ------
        UserError
            The axis does not vary, or does not have this value.
        """
        return differences(self._grid, self._reports, self.table.paths, over, baseline)

    def frontier(self, x: str, y: str) -> list[Combination]:
        """Return the combinations that no other equals or beats in both figures, by increasing x.

        Parameters
        ----------
        x, y
            Paths of figures of the table. Less is better, unless a path begins with ``+``.

        Raises
        ------
        UserError
            A figure is not in the table.
        """
        axes = pareto.axes([x, y])
        self._need([axis.path for axis in axes])
        return pareto.frontier(self.table.rows, *axes)

    def plot(
        self,
        figure: str | None = None,
        *,
        over: str | None = None,
        where: Mapping[str, str | Sequence[str]] | None = None,
        ax: Axes | None = None,
        width: str = "page",
    ) -> Axes:
        """Draw a figure over one axis, with a line for each combination of the other axes.

        With several seeds, points are means with 95 % intervals. Values that are not numbers are
        not joined; a combination that was refused or failed leaves a gap. A PDF embeds Type 42
        fonts.

        Parameters
        ----------
        figure
            Path of a figure of the table; by default the first that any combination has.
        over
            The horizontal axis; by default the first with numeric values, or else the first.
        where
            Values of axes to draw, such as ``{"scheme": ["conventional", "sector"]}``.
        ax
            Axes to draw on; by default new ones.
        width
            Width of new axes: ``column`` (3.35 in) or ``page`` (7 in).

        Raises
        ------
        UserError
            Figure, axis or value does not exist, no combination has the figure, or matplotlib is
            missing: ``pip install '.[sweep]'``.
        """
        from wordline.sweeps import plot

        return plot.draw(self.table, figure, over, where or {}, (ax, width))

    def to_latex(
        self,
        figures: Sequence[str] | None = None,
        *,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""Return the table as LaTeX with booktabs: one row per combination, units in the heads.

        Parameters
        ----------
        figures
            Paths of figures of the table; by default those that any combination has.
        caption, label
            Put the ``tabular`` into a ``table``; the label is not escaped, all other text is.

        Raises
        ------
        UserError
            A figure is not in the table.
        """
        rows = self.table.rows
        if figures is None:
            figures = [p for p in self.table.paths if any(row.figures[p] for row in rows)]
        self._need(figures)
        named = [([row.at[axis] for axis in self.axes], row.figures) for row in rows]
        return _latex.table(self.axes, named, figures, caption=caption, label=label)

    def _need(self, paths: Sequence[str]) -> None:
        for path in listed(paths):
            if path not in self.table.paths:
                raise self.table.lacks(path)

    def save(
        self, folder: str | os.PathLike[str], frontier: Sequence[str] | None = None
    ) -> list[Path]:
        """Write the table as CSV and Parquet, and the page; return the files.

        Parameters
        ----------
        folder
            Created if missing.
        frontier
            Two figures to draw over each other, as for `frontier`.

        Raises
        ------
        UserError
            A package for drawing or writing is missing: ``pip install '.[sweep]'``.
        """
        from wordline.commands import SWEEP, need

        need("sweep", SWEEP)
        from wordline.sweeps import decision, heat, show
        from wordline.sweeps.table import write

        to = Path(folder)
        to.mkdir(parents=True, exist_ok=True)
        written = write(self.table, to)
        # An axis without effect would give each point several times.
        told = heat.effective(self.table)
        axes: tuple[pareto.Axis, pareto.Axis] | None = None
        if frontier:
            axes = pareto.axes(frontier)
            self._need([axis.path for axis in axes])
        scatter = axes or decision.tradeoff(told)
        front: show.Front | None = None
        if scatter:
            best = pareto.frontier(told.rows, *scatter)
            front = show.Front("frontier.svg" if frontier else "tradeoff.svg", best)
            winner = decision.winner(told) if self._rests().is_enough else None
            written.append(to / front.picture)
            pareto.draw(told, scatter, written[-1], stand_ins(self._reports.values()), winner)
        changes = self.changes()
        return written + show.page(self.table, self._grid, self._reports, to, front, changes)

    def _rests(self) -> Steady:
        """Return how many of the runs are steady."""
        from wordline import steady

        return steady.of_reports(report.to_dict() for report in self._reports.values())

    def changes(self) -> Differences | None:
        """Return `differences` with its defaults, if there are several seeds."""
        varies = any(len({p.at[axis] for p in self._grid.points}) > 1 for axis in self.axes)
        return self.differences() if varies and len(self._grid.points[0].runs) > 1 else None


def load(path: Path) -> Sweep:
    """Read a sweep from its ``sweep.json``, with the reports of its runs.

    Raises `UserError`: the file does not describe a sweep, or one of its reports is missing.
    """
    done = Sweep(*kept.read(path))
    done.found = sum(len(combination.reports) for combination in done)
    return done


def check_values(grid: Grid, runner: Runner) -> dict[Run, Exception]:
    """Return the runs that will certainly fail, before any run starts.

    Raises `UserError`: a value of an axis is invalid in every combination that has it.
    """
    runner.refusals = FAILURES
    wrong = runner.wrong(grid.runs)
    for axis in grid.points[0].at:
        for value in dict.fromkeys(point.at[axis] for point in grid.points):
            runs = [run for p in grid.points if p.at[axis] == value for run in p.runs]
            if all(run in wrong for run in runs):
                raise wrong[runs[0]]
    return wrong


def perform(
    grid: Grid,
    runner: Runner,
    figures: Sequence[str] = (),
    ended: Callable[[Sweep], None] = lambda _: None,
) -> Sweep:
    """Execute the runs of a grid that have no report yet, and collect the figures of a table.

    ``ended`` is called before anything is written about the whole, which a full disk may prevent.
    Raises `UserError`: a value of an axis is invalid in every combination that has it, or no report
    has a figure with this path; `Exception`: the first failure, if no run has a report.
    """
    check_values(grid, runner)
    each_ended = runner.ended
    counts = {True: 0, False: 0}

    def count(run: Run, found: bool) -> None:
        counts[found] += 1
        each_ended(run, found)

    runner.ended = count
    reports, refused = runner.run(grid.runs)
    failed = [why for why in refused.values() if not isinstance(why, Refused)]
    if failed and len(failed) == len(grid.runs):
        raise failed[0]
    paths = list(figures) or list(FIGURES)
    done = Sweep(grid, reports, refused, paths)
    done.found, done.ran = counts[True], counts[False]
    ended(done)
    kept.write(grid, refused, paths, runner)
    return done
