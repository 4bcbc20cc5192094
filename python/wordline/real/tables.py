"""The drives of tables, whose rows state an SLC cache or a steady state."""

from __future__ import annotations

from wordline import UserError
from wordline.real import measurements, steady_rows
from wordline.real.measurements import CLIFF, Drive, Table


def drives(given: list[Table]) -> dict[str, Drive]:
    """Return the drives of tables by name, with the values of their rows.

    A drive with an SLC cache is named by its model, followed by its capacity if a model has
    several. A drive in steady state is named by the column ``drive``. Raises `UserError`: no table
    states either, or a cell is invalid.
    """
    found: dict[str, Drive] = {}
    for table in given:
        if table.has(CLIFF):
            measurements.cliffs(table, found)
        if table.has(steady_rows.COLUMNS):
            steady_rows.read(table, found)
    if not found and given:
        raise UserError(
            f"{given[0].name}:1: its columns are {', '.join(given[0].columns) or 'none'}\n"
            f"  allowed: rows with the columns {', '.join(CLIFF)}, "
            f"or {', '.join(steady_rows.COLUMNS)}"
        )
    return found
