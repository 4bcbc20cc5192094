"""Parts of reports: figures as attributes, series as NumPy arrays, means with intervals."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from wordline import _frame, _measures

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Figures(Mapping[str, Any]):
    """A part of a report, with its figures as attributes and as items.

    Numbers are Python numbers; a missing figure is ``None``. Lists of numbers are ``float64``
    arrays of shape ``(n,)`` or ``(n, 2)``, with ``nan`` for missing values.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        """Take a part of a report from its JSON; a shallow copy."""
        self._data = dict(data)

    def __getitem__(self, key: str) -> Any:
        """Return a figure, a list of numbers as an array, or the part of that name as `Figures`.

        Raises
        ------
        KeyError
            Unknown figure.
        """
        return _shown(self._data[key])

    def __iter__(self) -> Iterator[str]:
        """Give the names of the figures, in the order of the report."""
        return iter(self._data)

    def __len__(self) -> int:
        """Return how many figures and parts there are."""
        return len(self._data)

    def __getattr__(self, name: str) -> Any:
        """Return a figure as ``figures[name]`` does.

        Raises
        ------
        AttributeError
            Unknown figure; the message lists the known ones.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self._data)
            raise AttributeError(f"unknown figure {name!r}; allowed: {known}") from None

    def __dir__(self) -> list[str]:
        """Return the attributes with the names of the figures, for completion."""
        return [*super().__dir__(), *self._data]

    def __repr__(self) -> str:
        """Return the figures as JSON has them."""
        return f"Figures({self._data!r})"

    def _repr_html_(self) -> str:
        rows = list(_leaves(self._data))
        more = f", the first {_MOST_SHOWN} here" if len(rows) > _MOST_SHOWN else ""
        return _frame.html(["figure", "value"], rows[:_MOST_SHOWN], f"{len(rows)} figures{more}")

    def to_dict(self) -> dict[str, Any]:
        """Return a copy as plain dictionaries, lists and numbers."""
        return json.loads(json.dumps(self._data))


#: Figures that a notebook shows of a part of a report.
_MOST_SHOWN = 60


def _leaves(tree: Mapping[str, Any], path: str = "") -> Iterator[list[str]]:
    """Yield the path and value of every figure; for lists their lengths."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}{key}.")
        elif isinstance(value, list) and len(value) > 4:
            yield [path + key, f"{len(value)} values"]
        elif isinstance(value, float):
            yield [path + key, f"{value:.6g}"]
        else:
            yield [path + key, str(value)]


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return Figures(value)
    if isinstance(value, list) and value and all(_is_number(v) or _is_pair(v) for v in value):
        import numpy as np

        return np.array(value, dtype=np.float64)
    return value


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_number(v) for v in value)


class Timeline(Figures):
    """The run in bins of time: bin ``i`` covers ``i * bin_s`` to ``(i + 1) * bin_s`` seconds.

    Each series is an array of shape ``(bins,)`` with ``nan`` where nothing was measured, or of
    shape ``(0,)`` where it was not recorded.
    """

    def __getitem__(self, key: str) -> Any:
        """Return a series as an array of ``float64``, or a single figure such as ``bin_s``.

        Raises
        ------
        KeyError
            Unknown series.
        """
        value = self._data[key]
        if isinstance(value, list):
            import numpy as np

            return np.array(value, dtype=np.float64)
        return value


def current(data: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a report or comparison with ``followed`` of version 0.1 as ``metrics``."""
    for report in (data, *data.get("reports", ())):
        if "followed" in report:
            report["metrics"] = report.pop("followed")
    return data


class Metrics(Figures):
    """Metrics that a scheme records, by name.

    Each series is a ``float64`` array of shape ``(n, 2)``: host page writes, and the value from
    then on.
    """

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Return a series.

        Raises
        ------
        KeyError
            The scheme has no such metric.
        """
        import numpy as np

        return np.array(self._data[name], dtype=np.float64).reshape(-1, 2)

    def __repr__(self) -> str:
        """List the names."""
        return f"<Metrics: {', '.join(self) or 'none'}>"

    def to_frame(self, library: str | None = None) -> Any:
        """Return a row for each pair of each series, as `Report.to_frame` does.

        The columns are ``name``, ``host_page_writes`` and ``value``.
        """
        pairs = [(name, pages, value) for name in self for pages, value in self._data[name]]
        names = ("name", "host_page_writes", "value")
        return _frame.of_columns({n: [p[i] for p in pairs] for i, n in enumerate(names)}, library)


class LatencyCdf(NamedTuple):
    """Cumulative distributions of latency, arrays of shape ``(n, 2)``.

    The first column is a latency in microseconds, the second the fraction of requests at or below
    it. ``n`` is 0 if no such request completed.
    """

    read: NDArray[np.float64]
    write: NDArray[np.float64]


class Estimate(NamedTuple):
    """A mean with its interval, in the unit of the figure."""

    mean: float
    sd: float | None
    half_width_95: float | None

    def __str__(self) -> str:
        """Return the mean with half the width of its 95 % confidence interval."""
        return f"{self.mean:.6g} ± {self.half_width_95 or 0:.2g}"


class Estimates(Mapping[str, Estimate]):
    """Means with intervals by the path of their figure, such as ``latency_us.write.mean``."""

    def __init__(self, data: Mapping[str, Mapping[str, Any]]) -> None:
        """Take ``mean``, ``sd`` and ``half_width_95`` of each figure by its path."""
        self._data = data

    def __getitem__(self, path: str) -> Estimate:
        """Return the estimate of a figure.

        Raises
        ------
        KeyError
            Unknown figure; the message lists similar paths.
        """
        try:
            return Estimate(**self._data[path])
        except KeyError:
            near = difflib.get_close_matches(path, self._data, n=3)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise KeyError(f"no estimate of {path!r}{hint}") from None

    def __iter__(self) -> Iterator[str]:
        """Give the paths of the figures."""
        return iter(self._data)

    def __len__(self) -> int:
        """Return the number of figures with estimates."""
        return len(self._data)

    def __repr__(self) -> str:
        """Say how many figures there are."""
        return f"<Estimates of {len(self)} figures>"


class Replicas:
    """A run repeated with other seeds.

    Attributes
    ----------
    figures : Estimates
        Mean, standard deviation and half-width of the 95 % confidence interval by path; empty if
        all replicas have the same result.
    seeds : list of int
    result_hashes : list of str
    """

    def __init__(self, report: Mapping[str, Any]) -> None:
        """Take a report, of which this is the part ``replicas``."""
        data = report["replicas"]
        self._report, self._runs = report, data["runs"]
        self.figures = Estimates(data["figures"])
        self.seeds: list[int] = [r["seed"] for r in self._runs]
        self.result_hashes: list[str] = [r["result_hash"] for r in self._runs]

    def __len__(self) -> int:
        """Return how often the run was done."""
        return len(self._runs)

    def __repr__(self) -> str:
        """Say how many replicas there are, and with which seeds."""
        return f"<{len(self)} replicas, seeds {self.seeds[0]} to {self.seeds[-1]}>"

    def to_frame(self, library: str | None = None) -> Any:
        """Return a row for each seed, as `Report.to_frame` does."""
        return _frame.frame(list(_frame.rows_of(self._report, {})), library)

    def values(self, path: str) -> NDArray[np.float64]:
        """Return a figure of each replica by its path, shape ``(replicas,)``.

        ``nan`` for replicas without this figure.
        """
        import numpy as np

        return np.array([_measures.value(run, path) for run in self._runs], dtype=np.float64)
