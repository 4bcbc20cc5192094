"""What a run came to: figures by attribute, series as NumPy arrays, pictures as SVG."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from wordline import _frame, _latex, _measures, _wordline
from wordline._figures import (
    Estimate,
    Estimates,
    Figures,
    LatencyCdf,
    Metrics,
    Replicas,
    Timeline,
    current,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wordline._plot import Plot
    from wordline._table import Table


class Figure(NamedTuple):
    """A picture with its data."""

    name: str
    title: str
    caption: str
    svg: str
    csv: str

    def _repr_svg_(self) -> str:
        return self.svg


class _Kept(ABC):
    """What has JSON and a page, and can be written to files."""

    json: Any

    @abstractmethod
    def html(self) -> str:
        """Return the page for a browser, with nothing outside it."""

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        Path(path).write_text(self.html(), encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Return a copy as plain dictionaries, lists and numbers."""
        return current(json.loads(self.json))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON to a file."""
        Path(path).write_text(self.json, encoding="utf-8")


class _Shown(_Kept):
    """What a report and a comparison have in common: the ways to look at them."""

    @abstractmethod
    def _runs(self) -> list[Report]:
        """Give the report of each run that is shown."""

    def _texts(self) -> list[str]:
        return [report.json for report in self._runs()]

    def _refused(self) -> list[tuple[str, str]]:
        """Give the schemes that the device does not admit, each with the reason."""
        return []

    def __str__(self) -> str:
        """Return the table as the terminal shows it, 100 columns wide."""
        return self.table()

    def table(self, *, all: bool = False, width: int = 100) -> str:
        """Return the table as the terminal shows it.

        Several runs: the rows that decide, or all of them. One run: always all of it. `width` is
        in columns.
        """
        return _wordline.table(self._texts(), self._refused(), all, width)

    def _repr_html_(self) -> str:
        pictures = [f for f in self.figures() if f.name.endswith("latency-cdf")]
        return _frame.as_printed(str(self)) + "".join(f"<div>{f.svg}</div>" for f in pictures)

    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame with a row for each run: each scheme, with each of its seeds.

        Parameters
        ----------
        library
            ``"polars"`` or ``"pandas"``; if not given the first of them that is installed.

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            What was run, as it was spelled: columns ``device``, ``workload``, ``scheme`` (with its
            parameters; ``scheme_source`` is the hash of a class of Python), ``initial``, ``fit``,
            ``set``, ``requests``, ``seed``. Then ``result_hash``, and every figure of
            ``report.json`` that is a single number, named by its path, such as
            ``latency_us.write.p99`` or ``waf.total``: units are in the names. Null where a run has
            no such figure. Series are left out: see ``latency_cdf``, ``timeline`` and ``metrics``.

        Raises
        ------
        UserError
            The library is not installed, or is another.
        """
        found = (json.loads(text) for text in self._texts())
        return _frame.frame([row for data in found for row in _frame.rows_of(data, {})], library)

    @property
    def plot(self) -> Plot:
        """Pictures on matplotlib: ``plot.latency()``, ``plot.timeline()``, ``plot.waf()``."""
        from wordline._plot import Plot

        return Plot(self._runs())

    def figures(self) -> list[Figure]:
        """Return every picture for which there are data, as SVG with the data as CSV."""
        return [Figure(*f) for f in _wordline.figures(self._texts())]

    def html(self) -> str:
        """Return the report as one page for a browser, with nothing outside it."""
        return _wordline.html(self._texts(), self._refused())


if TYPE_CHECKING:
    from wordline._parts import Parts
else:

    class Parts:
        """What the parts of a report are, for type checkers."""


class _Read:
    """JSON whose parts are attributes."""

    def __init__(self, text: str) -> None:
        """Take a report of Wordline as JSON."""
        self.json = text

    @cached_property
    def _data(self) -> dict[str, Any]:
        return current(json.loads(self.json))

    def __getattr__(self, name: str) -> Any:
        """Return a part of the report, or a figure.

        Raises
        ------
        AttributeError
            There is none of that name; the message has those that there are.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(Figures(self._data), name)

    def __dir__(self) -> list[str]:
        """Return the attributes with the names of the parts, for completion."""
        return [*super().__dir__(), *self._data]

    def __getstate__(self) -> dict[str, str]:
        """Return what a pickle has: the JSON, from which all else is read again."""
        return {"json": self.json}


class Report(_Read, Parts, _Shown):
    """The result of one run.

    Its parts are attributes, as in ``report.json``: ``host``, ``latency_us``, ``throughput``,
    ``flash``, ``waf``, ``capacity``, ``wear``, ``memory``, ``speed``, ``config`` and so on; units
    are in the names.

    Attributes
    ----------
    json : str
        The report as JSON, schema ``wordline.report/1``.
    """

    def _runs(self) -> list[Report]:
        return [self]

    @cached_property
    def hints(self) -> list[str]:  # type: ignore[override]  # no part can be set
        """Advice, a sentence each, with options as keyword arguments of `run`.

        The JSON has them as options of the command.
        """
        return [_wordline.in_python(hint) for hint in self._data["hints"]]

    @cached_property
    def requests(self) -> Table:
        """Every request of the run, in the order in which they ended; of replicas of the first.

        The run is done once more for it, to the same bits; the report of a drive that is in memory
        only has none. A trace must be where it was, and of a class of Python its file.

        Returns
        -------
        Table
            Columns ``number``, ``lba`` and ``blocks`` (512 bytes), ``arrival_ns``,
            ``completion_ns``, the parts of the latency in nanoseconds, which add up to it, ``op``
            and ``outcome``.

        Raises
        ------
        UserError
            The run cannot be done again, or comes out otherwise.
        """
        return self.requests_with()

    def requests_with(self, *columns: str) -> Table:
        """Return every request of the run, with some of its columns only: they take less room.

        The run is done once more for it at each call; nothing of it is kept.

        Parameters
        ----------
        columns
            Names of columns of `requests`, in the order in which they are wanted; all if none is
            named.

        Returns
        -------
        Table
            As `requests`, of eight bytes a row at most for each column.

        Raises
        ------
        UserError
            There is no such column, the run cannot be done again, or comes out otherwise.
        """
        from wordline import spelling
        from wordline._table import Table

        classes = spelling.of_report(self._data)
        return Table(_wordline.requests(self.json, columns, None, None, classes))

    def __repr__(self) -> str:
        """Say of what the report is, with its ``result_hash``."""
        who = f"{self.scheme.name} on {self.device.name} under {self.workload.name}"
        return f"<Report: {who}, {self.host.completed} requests, {self.result_hash}>"

    @property
    def latency_cdf(self) -> LatencyCdf:
        """Distributions of latency, shape ``(n, 2)``: microseconds, fraction."""
        import numpy as np

        def points(kind: str) -> NDArray[np.float64]:
            return np.array(self._data["latency_cdf"][kind], dtype=np.float64).reshape(-1, 2)

        return LatencyCdf(points("read"), points("write"))

    @property
    def timeline(self) -> Timeline:
        """The run in bins of ``bin_s`` seconds; arrays of shape ``(bins,)``."""
        return Timeline(self._data["timeline"])

    @property
    def metrics(self) -> Metrics:
        """Metrics that the scheme records, by name; arrays of shape ``(n, 2)``."""
        return Metrics(self._data.get("metrics", {}))

    @property
    def followed(self) -> Metrics:
        """The `metrics`, under their name before version 0.2."""
        return self.metrics

    @property
    def replicas(self) -> Replicas | None:
        """The run repeated with other seeds, if it was; all else is of its own seed alone."""
        return Replicas(self._data) if self._data.get("replicas") else None


class Comparison(_Shown, Sequence[Report]):
    """Reports of several schemes on one device and workload, the baseline first.

    A sequence of reports; a text as index finds the report of that scheme.

    Attributes
    ----------
    refused : dict of str to str
        Schemes that the device does not admit, each with the reason, where ``all-compatible`` was
        asked for.
    """

    def __init__(self, reports: Sequence[Report], refused: Mapping[str, str] | None = None) -> None:
        """Take the reports, the baseline first, and the schemes refused with their reasons."""
        self.reports = list(reports)
        self.refused = dict(refused or {})

    def _refused(self) -> list[tuple[str, str]]:
        return list(self.refused.items())

    def _runs(self) -> list[Report]:
        return self.reports

    @overload
    def __getitem__(self, index: int | str) -> Report: ...
    @overload
    def __getitem__(self, index: slice) -> list[Report]: ...
    def __getitem__(self, index: int | str | slice) -> Report | list[Report]:
        """Return the report of a place, or of a scheme by its name; of a slice a list.

        Raises
        ------
        KeyError
            No scheme of that name is compared.
        IndexError
            There is no such place.
        """
        if isinstance(index, str):
            for report in self.reports:
                if report.scheme.name == index:
                    return report
            names = ", ".join(r.scheme.name for r in self.reports)
            raise KeyError(f"{index!r} is not compared here; there are {names}")
        return self.reports[index]

    def __len__(self) -> int:
        """Return how many reports there are."""
        return len(self.reports)

    def __repr__(self) -> str:
        """Say which schemes are compared."""
        return f"<Comparison of {', '.join(r.scheme.name for r in self.reports)}>"

    @property
    def differences_percent(self) -> dict[str, Estimates]:
        """By scheme, by how many per cent each figure differs from the baseline's.

        Means over the replicas, paired by seed; empty without replicas.
        """
        found = json.loads(self.json).get("differences_percent", [])
        names = (r.scheme.name for r in self.reports)
        return {name: Estimates(data) for name, data in zip(names, found, strict=False)}

    def to_latex(
        self,
        figures: Sequence[str] | None = None,
        *,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""Return a table as LaTeX with booktabs: a row a scheme, units in the heads.

        With replicas figures are means with half of their 95 % intervals.

        Parameters
        ----------
        figures
            Paths of numbers of ``report.json``, such as ``latency_us.write.p99``; means and p99.9
            of latencies, WAF and IOPS if not given, without those that no run has.
        caption, label
            Put the ``tabular`` into a ``table``; the label is not escaped, all other text is.

        Raises
        ------
        UserError
            A path is that of no number of any report.
        """
        data = [report.to_dict() for report in self.reports]
        estimates: list[Mapping[str, Estimate]] = [
            report.replicas.figures if report.replicas else {} for report in self.reports
        ]
        rows: list[tuple[list[str], dict[str, _latex.Figure | None]]] = []
        paths = list(_measures.FIGURES if figures is None else figures)
        for report, own, means in zip(self.reports, data, estimates, strict=True):
            found = {path: _measures.value(own, path) for path in paths}
            row: dict[str, _latex.Figure | None] = {}
            for path, value in found.items():
                row[path] = None if value is None else (value, None)
                if path in means:
                    row[path] = (means[path].mean, means[path].half_width_95)
            rows.append(([report.config.scheme.spelling], row))
        has = [path for path in paths if any(figures[path] for _, figures in rows)]
        if figures is None:
            paths = has
        elif wrong := next((path for path in paths if path not in has), None):
            known = {path for report in data for path, _ in _frame.numbers(report)}
            raise _measures.unknown(wrong, known)
        return _latex.table(["scheme"], rows, paths, caption=caption, label=label)

    @property
    def json(self) -> str:
        """The comparison as JSON, schema ``wordline.comparison/1``."""
        return _wordline.comparison_json(self._texts(), self._refused())


class Lifetimes(_Read, _Kept):
    """A drive taken to wear-out under several schemes, the baseline first.

    Its parts are attributes, as in ``lifetime.json``: ``schemes``, ``logical_bytes``,
    ``acceleration``, ``shelf_s``, ``config`` and so on; units are in the names. Each of ``schemes``
    has ``scheme.name``, ``lives`` (one a seed, with ``total_bytes_written``, ``drive_writes``,
    ``years`` and ``phases``) and ``check``, the first life again at half the acceleration.

    Attributes
    ----------
    json : str
        All of it as JSON, schema ``wordline.lifetime/1``.
    """

    def __repr__(self) -> str:
        """Say which drive lived under which schemes."""
        names = ", ".join(s["scheme"]["name"] for s in self._data["schemes"])
        return f"<Lifetimes of {self._data['device']['name']} under {names}>"

    def __str__(self) -> str:
        """Return the table as the terminal shows it, 100 columns wide."""
        return _wordline.lifetime_table(self.json, 100)

    def _repr_html_(self) -> str:
        return f"{_frame.as_printed(str(self))}<div>{self.figures()[0].svg}</div>"

    def figures(self) -> list[Figure]:
        """Return every picture for which there are data, as SVG with the data as CSV."""
        return [Figure(*f) for f in _wordline.lifetime_figures(self.json)]

    def csv(self) -> str:
        """Return every phase of every life as CSV, one row each."""
        return _wordline.lifetime_csv(self.json)

    def html(self) -> str:
        """Return the page for a browser, with nothing outside it."""
        return _wordline.lifetime_html(self.json)


def read(path: str | os.PathLike[str]) -> Report | Comparison:
    """Read a ``report.json`` or a ``comparison.json``; as `wordline.load`, but for sweeps."""
    with open(_wordline.report_file(os.fspath(path)), encoding="utf-8") as file:
        return parsed(file.read())


def parsed(text: str) -> Report | Comparison:
    """Return what a text of JSON is, a report or a comparison."""
    texts, refused = _wordline.reports(text)
    reports = [Report(r) for r in texts]
    is_comparison = json.loads(text).get("schema", "").startswith("wordline.comparison/")
    return Comparison(reports, dict(refused)) if is_comparison else reports[0]
