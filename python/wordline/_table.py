"""Tables with a row for each request or block, which data frames take without copying."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from wordline import _frame, _wordline

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Rows that a notebook shows of a table's beginning and end.
_SHOWN = 5


class Table(Mapping[str, Any]):
    """Rows by column: a mapping from names to arrays, all of one length.

    Anything that takes Arrow's interface for Python takes it without copying, such as
    ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and ``duckdb``.
    """

    def __init__(self, columns: _wordline.Columns) -> None:
        """Take columns of the native half."""
        self._columns = columns

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule with the rows as Arrow's stream; a requested schema is not heeded."""
        return self._columns.stream()

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column: ``int64`` or ``float64``, or objects for words; shape ``(rows,)``.

        Raises
        ------
        UserError
            There is no column of that name; the message has those that there are.
        """
        import numpy as np

        values, kind = self._columns.values(name)
        if kind is None:
            return np.array(values, dtype=object)
        return np.frombuffer(values, dtype=kind)

    def __iter__(self) -> Iterator[str]:
        """Give the names of the columns."""
        return iter(self._columns.names)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._columns.names)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._columns)

    def to_frame(self, library: str | None = None) -> Any:
        """Return the table as a data frame.

        Parameters
        ----------
        library
            ``"polars"`` or ``"pandas"``; if not given the first of them that is installed. Polars
            takes the columns as they are, pandas copies words.

        Raises
        ------
        UserError
            The library is not installed, or is another.
        """
        found = _frame.library_of(library)
        module = importlib.import_module(found)
        return module.DataFrame(self if found == "polars" else dict(self))

    def __repr__(self) -> str:
        """Say how many rows there are, and which columns."""
        return f"<Table of {self.rows:,} rows: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        rows = self.rows
        at = list(range(min(rows, _SHOWN)))
        at += range(max(len(at), rows - _SHOWN), rows)
        shown = {name: self[name][at] for name in self}
        cells = [[str(shown[name][i]) for name in self] for i in range(len(at))]
        if rows > 2 * _SHOWN:
            cells.insert(_SHOWN, ["…"] * len(self))
        return _frame.html(list(self), cells, f"{rows:,} rows")
