"""Tables with a row per request or block, which data frames use without a copy."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from wordline import _frame, _wordline

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Rows that a notebook shows of a table's beginning and end.
_SHOWN = 5


class _Stream:
    """Rows for Arrow's interface, without the methods of a dictionary."""

    def __init__(self, columns: _wordline.Columns) -> None:
        """Take columns of the native half."""
        self._columns = columns

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule with the rows as an Arrow stream; a requested schema is ignored."""
        return self._columns.stream()


class Table(_Stream, dict[str, Any]):
    """Rows by column: an immutable mapping of names to arrays of equal length.

    Libraries that use Arrow's Python interface accept it, such as ``pyarrow.table(table)`` and
    ``duckdb``. ``pandas.DataFrame(table)`` and ``polars.DataFrame(table)`` accept it as a mapping;
    `to_frame` is faster. Numbers are stored in four bytes if they fit, and words in one; columns
    are returned as 8-byte numbers and strings.
    """

    # Pandas tells a dictionary of columns by its type. Nothing is ever in this one itself.

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column: ``int64`` or ``float64``, or objects for words; shape ``(rows,)``.

        Raises
        ------
        UserError
            Unknown column; the message lists the known ones.
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

    def __contains__(self, name: object) -> bool:
        """Return whether a column of that name exists."""
        return name in self._columns.names

    def __eq__(self, other: object) -> bool:
        """Return whether another table has the same columns and rows."""
        if not isinstance(other, Table):
            return NotImplemented
        return self._columns.written() == other._columns.written()

    __hash__ = None

    # Of the names and columns of this mapping, not of the dictionary, which is empty.
    keys: Any = Mapping.keys
    values: Any = Mapping.values
    items: Any = Mapping.items

    def get(self, name: str, default: Any = None) -> Any:
        """Return a column, or a default if it does not exist."""
        try:
            return self[name]
        except _wordline.UserError:
            return default

    def copy(self) -> Table:
        """Return the table, which does not change."""
        return self

    def _refuse(self, *_: object, **__: object) -> Any:
        """Refuse a change, by a `TypeError`."""
        raise TypeError(
            "a table is read-only; dict(table) returns a dictionary that you can change"
        )

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self._columns)

    @property
    def nbytes(self) -> int:
        """Memory of the table in bytes."""
        return self._columns.nbytes

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor call for a pickle."""
        return _read_back, (type(self), self._columns.written())

    def to_frame(self, library: str | None = None) -> Any:
        """Return the table as a data frame, of a library as for `Report.to_frame`."""
        found = _frame.library_of(library)
        module = importlib.import_module(found)
        return module.DataFrame(_Stream(self._columns) if found == "polars" else self)

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


def _read_back(kind: type[Table], written: Any) -> Table:
    return kind(_wordline.Columns(written))
