"""What a sweep came to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from wordline import Report, Run, UserError, _frame
from wordline.runs import Runner, stand_ins
from wordline.sweeps import frontier as pareto
from wordline.sweeps.grid import Grid
from wordline.sweeps.table import FIGURES, Row, Table, shown, table


@dataclass(frozen=True)
class Combination:
    """One combination of a sweep.

    Attributes
    ----------
    at
        The value of each axis, those that do not vary too: ``device``, ``workload``, ``initial``,
        each key of ``set``, ``scheme``.
    reports
        A report for each seed; none where the device refuses the scheme.
    refused
        Why scheme and device do not go together; ``None`` where they do.
    """

    at: Mapping[str, str]
    reports: Sequence[Report]
    refused: Exception | None = None


class Sweep(Sequence[Combination]):
    """Every combination of a grid, with its reports; a sequence of `Combination`.

    Attributes
    ----------
    axes : list of str
        What varies.
    ran, found : int
        Runs that were done, and those whose reports were there from before.
    """

    def __init__(
        self,
        grid: Grid,
        reports: Mapping[Run, Report],
        refused: Mapping[Run, Exception],
        figures: Sequence[str],
    ) -> None:
        """Gather the runs of a grid.

        Parameters
        ----------
        grid
            All combinations.
        reports, refused
            What `wordline.runs.Runner.run` returns.
        figures
            The figures of the table by their paths.

        Raises
        ------
        UserError
            A path is that of no figure of any report.
        """
        self._grid = grid
        self._reports = reports
        self._table = table(grid, reports, refused, figures)
        self.axes = list(grid.axes)
        self.ran = self.found = 0
        self._combinations = [
            Combination(point.at, [reports[r] for r in point.runs if not row.refused], row.refused)
            for point, row in zip(grid.points, self._table.rows, strict=True)
        ]

    @overload
    def __getitem__(self, index: int) -> Combination: ...
    @overload
    def __getitem__(self, index: slice) -> list[Combination]: ...
    def __getitem__(self, index: int | slice) -> Combination | list[Combination]:
        """Return a combination by its place."""
        return self._combinations[index]

    def __len__(self) -> int:
        """Return how many combinations there are."""
        return len(self._combinations)

    def __repr__(self) -> str:
        """Say what varies."""
        return f"<Sweep of {len(self)} combinations over {', '.join(self.axes)}>"

    def _repr_html_(self) -> str:
        head, rows = self._printed()
        refused = sum(row.refused is not None for row in self._table.rows)
        about = f"{len(self)} combinations" + (f", {refused} refused" if refused else "")
        return _frame.html(head, rows, about)

    def _printed(self) -> tuple[list[str], list[list[str]]]:
        """Return the head and the rows of the table as people read them."""
        head = [*self.axes, *self._table.paths]
        rows = [
            [
                *(row.at[axis] for axis in self.axes),
                *(shown(row.figures[p]) for p in head[len(self.axes) :]),
            ]
            for row in self._table.rows
        ]
        return head, rows

    def __str__(self) -> str:
        """Return the table, and below it what was refused."""
        head, rows = self._printed()
        widths = [max(len(line[i]) for line in (head, *rows)) for i in range(len(head))]
        turned = [str.ljust] * len(self.axes) + [str.rjust] * len(self._table.paths)
        lines = (
            "  ".join(
                turn(text, width) for turn, text, width in zip(turned, line, widths, strict=True)
            )
            for line in (head, *rows)
        )
        refused = (
            f"{' · '.join(r.at[axis] for axis in self.axes)} was refused: {r.refused}"
            for r in self._table.rows
            if r.refused
        )
        return "\n".join((*(line.rstrip() for line in lines), *refused))

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by column: a row a combination, a mean and its interval a figure.

        Returns
        -------
        dict
            The axes; the figures of the table by their paths, means over the seeds, and with
            replicas ``PATH.half_width_95`` in the same unit; ``replicas`` and ``result_hash``;
            ``refused`` where a combination was. Lists of one length, ``None`` where there is
            nothing.
        """
        return self._table.columns()

    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame with a row for each run: each combination, with each seed.

        Parameters
        ----------
        library
            ``"polars"`` or ``"pandas"``; if not given the first of them that is installed.

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            The columns of `Report.to_frame`, and one for each key of ``set`` and for ``initial``
            where it varies; ``device``, ``workload`` and ``scheme`` as they were asked for. What
            was refused has no row.

        Raises
        ------
        UserError
            The library is not installed.
        """
        rows: list[dict[str, Any]] = []
        for combination in self:
            for report in combination.reports:
                rows += _frame.rows_of(report.to_dict(), self._columns_of(combination))
        return _frame.frame(rows, library)

    def _columns_of(self, combination: Combination) -> dict[str, str]:
        left_out = {"initial"} - set(self.axes)
        return {key: value for key, value in combination.at.items() if key not in left_out}

    def frontier(self, x: str, y: str) -> list[Combination]:
        """Return the combinations that no other equals or beats in both figures, by rising x.

        Parameters
        ----------
        x, y
            Paths of figures of the table; less is better, but for one that begins with ``+``.

        Raises
        ------
        UserError
            A figure is not in the table.
        """
        axes = pareto.axes([x, y])
        self._need([axis.path for axis in axes])
        best = pareto.frontier(self._table.rows, *axes)
        places = {id(row): place for place, row in enumerate(self._table.rows)}
        return [self[places[id(row)]] for row in best]

    def _need(self, paths: Sequence[str]) -> None:
        missing = [path for path in paths if path not in self._table.paths]
        if missing:
            raise UserError(
                f"{missing[0]} is not in the table of this sweep; it has "
                f"{', '.join(self._table.paths)}, and figures= chooses others"
            )

    def save(
        self, folder: str | os.PathLike[str], frontier: Sequence[str] | None = None
    ) -> list[Path]:
        """Write the table as CSV and Parquet and the page; return what was written.

        Parameters
        ----------
        folder
            It is made if it is not there.
        frontier
            Two figures to draw one over the other, as for `frontier`.

        Raises
        ------
        UserError
            A package that draws or writes is missing: ``pip install 'wordline[sweep]'``.
        """
        from wordline.commands import SWEEP, need
        from wordline.sweeps import show
        from wordline.sweeps.table import write

        need("sweep", SWEEP)
        to = Path(folder)
        to.mkdir(parents=True, exist_ok=True)
        written = write(self._table, to)
        best: list[Row] = []
        if frontier:
            axes = pareto.axes(frontier)
            self._need([axis.path for axis in axes])
            best = pareto.frontier(self._table.rows, *axes)
            written.append(to / "frontier.svg")
            pareto.draw(self._table, *axes, written[-1], stand_ins(self._reports.values()))
        return written + show.page(self._table, self._grid, self._reports, to, best)

    @property
    def table(self) -> Table:
        """The rows with means and intervals."""
        return self._table


def perform(grid: Grid, runner: Runner, figures: Sequence[str] = ()) -> Sweep:
    """Do the runs of a grid that are not there yet, and gather all.

    Parameters
    ----------
    grid
        All combinations.
    runner
        Does and keeps runs.
    figures
        The figures of the table by their paths; `FIGURES` if none is named.

    Raises
    ------
    UserError
        Something given is wrong, or a path is that of no figure.
    """
    ended = runner.ended
    counts = {True: 0, False: 0}

    def count(run: Run, found: bool) -> None:
        counts[found] += 1
        ended(run, found)

    runner.ended = count
    reports, refused = runner.run(grid.runs)
    done = Sweep(grid, reports, refused, list(figures) or list(FIGURES))
    done.found, done.ran = counts[True], counts[False]
    return done
