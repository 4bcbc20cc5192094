"""Matplotlib plots of reports in the colors of the pages; each returns its axes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wordline import _style, _wordline
from wordline._wordline import UserError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What programs are for, in words, as they are stacked; any other comes behind.
_CAUSES = {
    "host": "host",
    "gc": "GC",
    "migration": "migration",
    "reprogram": "reprogram",
    "metadata": "mapping table",
    "pad": "padding",
    "parity": "parity",
}
#: What takes less stands here on a logarithmic scale.
_LEAST_US = 1.0
#: Shares of requests that have a tick, in percent.
_SHARES = (0, 25, 50, 90, 99, 99.9, 99.99)
#: The scale of shares is even up to here, in percent, and has half of the height there.
_EVEN = 90.0
_UNITS = {"us": "µs", "mb_per_s": "MB/s", "requests": "requests a bin", "blocks": "blocks"}


class Plot:
    """Plots of one report, or of several.

    Every method takes ``ax``, matplotlib axes to draw on; new ones are made if it is not given,
    ``width`` wide: ``column`` (3.35 in) or ``page`` (7 in). Saved as PDF they embed Type 42 fonts.
    """

    def __init__(self, reports: Sequence[Any]) -> None:
        """Take reports, the baseline first."""
        self._reports = list(reports)

    def latency(self, op: str = "write", *, ax: Axes | None = None, width: str = "page") -> Axes:
        """Draw the cumulative distribution of latencies, in microseconds on a logarithmic scale.

        The scale is linear up to 90 %; above, each step is ten times rarer, up to p99.99, as on the
        pages. Of several replicas, the curve is that of the first; bars at p50, p99, p99.9 and
        p99.99 are the 95 % intervals of the means over all.

        Parameters
        ----------
        op
            ``read`` or ``write``.

        Raises
        ------
        UserError
            Unknown request type, or no run completed any.
        """
        if op not in ("read", "write"):
            raise UserError(f"op={op!r}: allowed are read, write")
        found = [(name, getattr(r.latency_cdf, op)) for name, r in self._named()]
        if not any(len(cdf) for _, cdf in found):
            raise UserError(f"no {op} has completed, so no latency can be plotted")
        at = _style.axes(ax, width)
        looks = self._looks()
        for name, cdf in (pair for pair in found if len(pair[1])):
            us, share = cdf.T
            # What takes no time has no place on the scale: it stands at the left edge.
            us = us.clip(min=_LEAST_US)
            # From the ground up, so that a curve of a single time is seen, too.
            at.plot(
                [us[0], *us],
                [0, *(100 * share).clip(max=_SHARES[-1])],
                drawstyle="steps-post",
                markevery=0.12,
                label=name,
                **looks[name],
            )
        for name, report in self._named():
            _spreads(at, report, op, looks[name]["color"])
        at.set_yscale("function", functions=(_height, _share))
        at.set_yticks(_SHARES, [f"{share:g}" for share in _SHARES])
        at.set(xscale="log", xlabel=f"{op} latency, µs", ylabel=f"share of {op}s, %")
        at.set_ylim(0, _SHARES[-1])
        return self._legend(at)

    def timeline(
        self, series: str = "write_mb_per_s", *, ax: Axes | None = None, width: str = "page"
    ) -> Axes:
        """Draw a series of the timeline over simulated seconds.

        Parameters
        ----------
        series
            Its name in ``report.timeline``.

        Raises
        ------
        UserError
            Unknown series; the message lists the known ones.
        """
        import numpy as np

        known = [n for n in self._reports[0].timeline if n != "bin_s"]
        if series not in known:
            raise UserError(f"series={series!r}: allowed are {', '.join(known)}")
        at = _style.axes(ax, width)
        looks = self._looks(marked=False)
        for name, report in self._named():
            values = report.timeline[series]
            seconds = (np.arange(len(values)) + 0.5) * report.timeline.bin_s
            at.plot(seconds, values, label=name, **looks[name])
        at.set(xlabel="simulated time, s", ylabel=_label(series))
        at.set_ylim(bottom=0)
        return self._legend(at)

    def metrics(self, name: str, *, ax: Axes | None = None, width: str = "page") -> Axes:
        """Draw a scheme metric over host page writes.

        Parameters
        ----------
        name
            Name of the metric; schemes without it are left out.

        Raises
        ------
        UserError
            No scheme has this metric; the message lists the known ones.
        """
        of = [(label, report.metrics) for label, report in self._named()]
        known = dict.fromkeys(n for _, metrics in of for n in metrics)
        if name not in known:
            allowed = ", ".join(known) or "none: no scheme here has metrics"
            raise UserError(f"name={name!r}: allowed are {allowed}")
        at = _style.axes(ax, width)
        looks = self._looks(marked=False)
        for label, metrics in of:
            if name in metrics:
                pages, values = metrics[name].T
                at.step(pages, values, where="post", label=label, **looks[label])
        at.set(xlabel="pages that the host wrote", ylabel=name)
        return self._legend(at)

    def followed(self, name: str, *, ax: Axes | None = None, width: str = "page") -> Axes:
        """Draw `metrics`, under its name before version 0.2."""
        return self.metrics(name, ax=ax, width=width)

    def waf(self, *, ax: Axes | None = None, width: str = "page") -> Axes:
        """Draw write amplification by cause, with the 95 % interval of the total over replicas."""
        at = _style.axes(ax, width)
        names, left = [name for name, _ in self._named()], [0.0] * len(self._reports)
        parts: list[Mapping[str, Any]] = [r.to_dict()["waf"]["parts"] for r in self._reports]
        causes = dict.fromkeys([*_CAUSES, *(cause for p in parts for cause in p)])
        for cause in causes:
            widths = [sum(p.get(cause, {}).values()) for p in parts]
            if any(widths):
                ink, label = _wordline.cause_colour(cause), _CAUSES.get(cause, cause)
                at.barh(names, widths, left=left, color=ink, label=label, height=0.62)
                left = [a + b for a, b in zip(left, widths, strict=True)]
        for place, report in enumerate(self._reports):
            found = report.replicas.figures.get("waf.total") if report.replicas else None
            if found is not None and found.half_width_95:
                grey, half = at.xaxis.label.get_color(), found.half_width_95
                at.errorbar(left[place], place, xerr=half, color=grey, capsize=2.5, elinewidth=0.9)
        at.set(xlabel="bytes programmed per host byte")
        at.invert_yaxis()
        at.grid(axis="y", visible=False)
        # Above the axes it covers nothing, in as many columns as the width has room for.
        inches = at.get_figure(root=True).get_figwidth()  # type: ignore[union-attr]
        ncols = 3 if inches < 5 else 6
        at.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=ncols, frameon=False, fontsize=8)
        return at

    def _named(self) -> list[tuple[str, Any]]:
        """Return the reports with distinct names."""
        names = [r.config.scheme.spelling for r in self._reports]
        return list(zip(names, self._reports, strict=True))

    def _looks(self, marked: bool = True) -> dict[str, dict[str, Any]]:
        """Return color, line and marker of each report."""
        return _style.looks([name for name, _ in self._named()], marked)

    def _legend(self, at: Axes) -> Axes:
        names = [name for name, _ in self._named()]
        return _style.legend(at, len(names), max(map(len, names)))


#: Quantiles that have an interval over the replicas, with their shares in percent.
_QUANTILES = {"p50": 50.0, "p99": 99.0, "p999": 99.9, "p9999": 99.99}


def _spreads(at: Axes, report: Any, op: str, ink: str) -> None:
    """Draw the intervals of the quantiles over the replicas of a report, if it has several."""
    figures = report.replicas.figures if report.replicas else {}
    for key, share in _QUANTILES.items():
        found = figures.get(f"latency_us.{op}.{key}")
        # One that holds zero has no end on a logarithmic scale.
        if found is None or not 0 < found.half_width_95 < found.mean - _LEAST_US:
            continue
        half = found.half_width_95
        at.errorbar(found.mean, share, xerr=half, color=ink, fmt="none", capsize=2, elinewidth=0.9)


def _height(share: Any) -> Any:
    """Return the position of a share in percent, from 0 to 1."""
    import numpy as np

    share = np.asarray(share, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        rarer = -np.log10(np.clip(1 - share / 100, 1e-9, None))
    return np.where(share <= _EVEN, share / _EVEN / 2, 0.5 + (rarer - 1) / 6)


def _share(height: Any) -> Any:
    """Return the share in percent at a position."""
    import numpy as np

    height = np.asarray(height, dtype=float)
    return np.where(
        height <= 0.5, height * 2 * _EVEN, 100 * (1 - 10.0 ** -(1 + 6 * (height - 0.5)))
    )


def _label(series: str) -> str:
    """Return the name of a series in words, followed by its unit."""
    for key, unit in _UNITS.items():
        if found := re.fullmatch(rf"(.*?)_?{key}(?:_(mean|max))?", series):
            words = " ".join(w for w in (found[2], found[1].replace("_", " ")) if w)
            return f"{words}, {unit}" if words else unit
    return series.replace("_", " ")
