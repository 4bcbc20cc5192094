"""Results of runs: figures as attributes, series as NumPy arrays, pictures as SVG."""

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
from wordline._wordline import Fault, Refused, UserError

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
    """A result with JSON and a page, which can be written to files."""

    json: Any

    @abstractmethod
    def html(self) -> str:
        """Return the page as self-contained HTML."""

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
    """Common interface of reports and comparisons."""

    @abstractmethod
    def _runs(self) -> list[Report]:
        """Yield the report of each displayed run."""

    def _texts(self) -> list[str]:
        return [report.json for report in self._runs()]

    def _without(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return schemes without a report, each with the reason: not supported, and failed."""
        return [], []

    def __str__(self) -> str:
        """Return the table as the terminal shows it, 100 columns wide."""
        return self.table()

    def table(self, *, all: bool = False, width: int = 100) -> str:
        """Return the table as the terminal shows it.

        With several runs, the decisive rows or all of them; with one run always all. `width` is in
        columns.
        """
        return _wordline.table(self._texts(), self._without(), all, width)

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
            The configuration as given: columns ``device``, ``workload``, ``scheme`` (with its
            parameters; ``scheme_source`` is the hash of a class of Python), ``initial``, ``fit``,
            ``set``, ``requests``, ``seed``. Then ``result_hash``, and every figure of
            ``report.json`` that is a single number, named by its path, such as
            ``latency_us.write.p99`` or ``waf.total``: units are in the names. Missing figures are
            null. Series are not included: see ``latency_cdf``, ``timeline`` and ``metrics``.

        Raises
        ------
        UserError
            The library is not installed or not supported.
        """
        found = (json.loads(text) for text in self._texts())
        return _frame.frame([row for data in found for row in _frame.rows_of(data, {})], library)

    @property
    def plot(self) -> Plot:
        """Pictures on matplotlib: ``plot.latency()``, ``plot.timeline()``, ``plot.waf()``."""
        from wordline._plot import Plot

        return Plot(self._runs())

    def figures(self) -> list[Figure]:
        """Return every picture that has data, as SVG with its data as CSV."""
        return [Figure(*f) for f in _wordline.figures(self._texts())]

    def html(self) -> str:
        """Return the report as self-contained HTML."""
        return _wordline.html(self._texts(), self._without())


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
            Unknown name; the message lists the known ones.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(Figures(self._data), name)

    def __dir__(self) -> list[str]:
        """Return the attributes with the names of the parts, for completion."""
        # `followed` is read for reports of version 0.1; `metrics` is its name.
        return sorted({*super().__dir__(), *self._data} - {"followed"})

    def __getstate__(self) -> dict[str, str]:
        """Return the JSON for a pickle."""
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
        """Advice, one sentence each, with options as keyword arguments of `run`.

        The JSON has them as options of the command.
        """
        return [_wordline.in_python(hint) for hint in self._data["hints"]]

    @cached_property
    def requests(self) -> Table:
        """Every request of the run in order of completion; of replicas, the first.

        This repeats the run to the same bits, so the trace and the file of a Python class must
        still exist. A report of a drive in memory has no requests.

        Returns
        -------
        Table
            Columns ``number``, ``lba`` and ``blocks`` (512 bytes), ``arrival_ns``,
            ``completion_ns``, the parts of the latency in nanoseconds, which add up to it, ``op``
            and ``outcome``.

        Raises
        ------
        UserError
            The run cannot be repeated, or its result differs.
        """
        return self.requests_with()

    def requests_with(self, *columns: str) -> Table:
        """Return every request of the run with selected columns, to save memory.

        Each call repeats the run; nothing is cached.

        Parameters
        ----------
        columns
            Columns of `requests`, in the desired order; by default all.

        Returns
        -------
        Table
            As `requests`, at most eight bytes per row and column.

        Raises
        ------
        UserError
            Unknown column, or the run cannot be repeated, or its result differs.
        """
        from wordline import spelling
        from wordline._table import Table

        classes = spelling.of_report(self._data)
        return Table(_wordline.requests(self.json, columns, None, None, classes))

    def __repr__(self) -> str:
        """Return device, scheme, workload and ``result_hash`` in a line."""
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
        """The repeats with other seeds, if any; all other figures are those of the first seed."""
        return Replicas(self._data) if self._data.get("replicas") else None


class Comparison(_Shown, Sequence[Report]):
    """Reports of several schemes on one device and workload, the baseline first.

    A sequence of reports; a string index selects the report of that scheme.

    Attributes
    ----------
    refused : dict of str to str
        With ``all-compatible``, the schemes that do not support the device, each with the reason.
    failed : dict of str to Exception
        The schemes whose runs failed, each with its exception.
    """

    def __init__(
        self,
        reports: Sequence[Report],
        refused: Mapping[str, str] | None = None,
        failed: Mapping[str, Exception] | None = None,
    ) -> None:
        """Take the reports, the baseline first, and the schemes that have none."""
        self.reports = list(reports)
        self.refused = dict(refused or {})
        self.failed = dict(failed or {})

    def _without(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        reasons = [(name, reason(name, e)) for name, e in self.failed.items()]
        return list(self.refused.items()), reasons

    def _runs(self) -> list[Report]:
        return self.reports

    @overload
    def __getitem__(self, index: int | str) -> Report: ...
    @overload
    def __getitem__(self, index: slice) -> list[Report]: ...
    def __getitem__(self, index: int | str | slice) -> Report | list[Report]:
        """Return the report at an index, of a scheme by name, or a list for a slice.

        Raises
        ------
        KeyError
            No scheme of that name was compared, or it failed.
        IndexError
            The index is out of range.
        """
        if isinstance(index, str):
            for report in self.reports:
                if report.scheme.name == index:
                    return report
            if index in self.failed:
                raise KeyError(f"{index!r} failed: {self.failed[index]}") from self.failed[index]
            names = ", ".join(r.scheme.name for r in self.reports)
            raise KeyError(f"{index!r} is not in this comparison; allowed: {names}")
        return self.reports[index]

    def __len__(self) -> int:
        """Return how many reports there are."""
        return len(self.reports)

    @property
    def decision(self) -> Figures:
        """The decision between the schemes, as ``comparison.json`` has it.

        ``verdict`` is a sentence, ``measures`` has for each measure that decides its ``path``,
        ``name``, ``unit``, ``better``, the ``values`` by scheme and the indices of the ``best``.
        """
        return Figures(json.loads(self.json)["decision"])

    def __repr__(self) -> str:
        """Say which schemes are compared."""
        return f"<Comparison of {', '.join(r.scheme.name for r in self.reports)}>"

    @property
    def differences_percent(self) -> dict[str, Estimates]:
        """By scheme, the difference of each figure from the baseline in percent.

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
        r"""Return a LaTeX table with booktabs: a row per scheme, units in the heads.

        With replicas, figures are means ± half-width of the 95 % confidence interval.

        Parameters
        ----------
        figures
            Paths of numbers of ``report.json``, such as ``latency_us.write.p99``; by default means
            and p99.9 of latencies, WAF and IOPS, as far as any run has them.
        caption, label
            Put the ``tabular`` into a ``table``; the label is not escaped, all other text is.

        Raises
        ------
        UserError
            No report has a number at this path.
        """
        data = [report.to_dict() for report in self.reports]
        rows: list[tuple[list[str], dict[str, _measures.Spread | None]]] = []
        paths = _measures.listed(_measures.FIGURES if figures is None else figures)
        for report, own in zip(self.reports, data, strict=True):
            means: Mapping[str, Estimate] = report.replicas.figures if report.replicas else {}
            row: dict[str, _measures.Spread | None] = {}
            for path in paths:
                value = _measures.value(own, path)
                row[path] = None if value is None else (value, None)
                if path in means:
                    row[path] = (means[path].mean, means[path].half_width_95)
            rows.append(([report.config.scheme.spelling], row))
        has = [path for path in paths if any(row[path] for _, row in rows)]
        if figures is None:
            paths = has
        elif wrong := next((path for path in paths if path not in has), None):
            raise _measures.unknown(wrong, {p for own in data for p, _ in _frame.numbers(own)})
        return _latex.table(["scheme"], rows, paths, caption=caption, label=label)

    @property
    def json(self) -> str:
        """The comparison as JSON, schema ``wordline.comparison/1``."""
        return _wordline.comparison_json(self._texts(), self._without())


class Lifetimes(_Read, _Kept):
    """A drive taken to wear-out under several schemes, the baseline first.

    Its parts are attributes, as in ``lifetime.json``: ``schemes``, ``logical_bytes``,
    ``acceleration``, ``shelf_s``, ``config`` and so on; units are in the names. Each of ``schemes``
    has ``scheme.name``, ``lives`` (one per seed, with ``total_bytes_written``, ``drive_writes``,
    ``years`` and ``phases``) and ``check``, the first life repeated at half the acceleration.

    Attributes
    ----------
    json : str
        All of it as JSON, schema ``wordline.lifetime/1``.
    """

    def __repr__(self) -> str:
        """Return device and schemes in a line."""
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
    found = _wordline.report_file(os.fspath(path))
    with open(found, encoding="utf-8") as file:
        text = file.read()
    try:
        return parsed(text)
    except UserError as e:
        raise UserError(
            f"{found}: cannot be read as a report: {e}\n"
            "  allowed: a report.json, comparison.json or sweep.json that Wordline wrote"
        ) from e


def parsed(text: str) -> Report | Comparison:
    """Return the report or comparison in a JSON text."""
    texts, (refused, failed) = _wordline.reports(text)
    reports = [Report(r) for r in texts]
    is_comparison = json.loads(text).get("schema", "").startswith("wordline.comparison/")
    if not is_comparison:
        return reports[0]
    return Comparison(reports, dict(refused), {name: Fault(why) for name, why in failed})


def reason(scheme: str, error: Exception) -> str:
    """Return the error of a scheme in a line, without its name."""
    led_to = getattr(error, "ended_by", error)
    first = str(led_to).partition("\n")[0] or type(error).__name__
    _, refused, why = first.partition(" does not support device ")
    if refused and isinstance(error, Refused):
        return f"it does not support the device: {why.partition(': ')[2]}"
    return first.removeprefix(f"scheme {scheme}: ")
