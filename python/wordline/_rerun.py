"""Load reports, rerun them, and explain their slow requests."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordline import _wordline, spelling
from wordline._result import Comparison, Report, parsed, read
from wordline._run import Progress, parallel_runs
from wordline._wordline import UserError
from wordline.scheme import Scheme

if TYPE_CHECKING:
    from wordline.sweeps.result import Sweep


def rerun(
    report: Report | str,
    *,
    workload: str | os.PathLike[str] | None = None,
    classes: Sequence[type[Scheme]] = (),
    threads: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Run a report again from its own configuration.

    Parameters
    ----------
    report
        A report, or its JSON.
    workload
        Current path of the trace, if it has moved. Its SHA-256 must be the same.
    classes
        Python classes of its scheme. A class whose source has changed is refused.
    threads, progress
        As for `run`.

    Returns
    -------
    Report
        The new report; its ``result_hash`` equals the old one if nothing has changed.

    Raises
    ------
    UserError, Refused, Fault
        As for `run`.
    """
    text = report.json if isinstance(report, Report) else report
    if not text.lstrip().startswith("{"):
        raise UserError(
            f"rerun({text[:80]!r}): not the JSON of a report; pass the text, not the path of a file"
        )
    where = None if workload is None else os.fspath(workload)
    spelling.check_sources(json.loads(text), classes)
    return Report(_wordline.rerun(text, where, parallel_runs(threads), progress, list(classes)))


def why(
    report: Report | Comparison | str | os.PathLike[str],
    numbers: Sequence[int] = (),
    *,
    slowest: int | str = "0.1%",
    stories: int | None = None,
    op: str | None = None,
    scheme: str | None = None,
    workload: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Explain slow requests: rerun a report with tracing and show where the time went.

    Parameters
    ----------
    report
        A report or a comparison, its JSON, or a path as for `load`. Of replicas, the first is
        rerun.
    numbers
        Numbers of requests, from 0, as in `completions`.
    slowest
        Without `numbers`, how many of the slowest reads and writes to summarize: a number, or a
        share such as ``"0.1%"``; at most 100,000.
    stories
        How many of the slowest requests to explain one by one; by default the number in ``slowest``
        if it is at most 1000, else 3.
    op
        Consider only ``"read"``, ``"write"``, ``"trim"`` or ``"flush"``.
    scheme
        Run of a comparison, by its scheme as in the report.
    workload, progress
        As for `rerun`.

    Returns
    -------
    dict
        ``summaries`` has one for reads and one for writes, or that of ``op``: their number
        (``slowest``, out of ``of``), the least latency among them (``over_ns``), and shares of
        their time, 0 to 1, by latency part (``parts``) and by cause of waiting (``ways``), each
        with the share of all requests. ``causes`` has the root causes, largest first: for a wait
        for write buffer or queue, what the planes did meanwhile, with the region, its victims and
        the migration rate. ``stories`` has one for each request: its times in nanoseconds, the
        parts of its latency (``parts_ns``), the operation that ended last (``last``), and
        ``stretches`` of its time from arrival to completion, each with what stood in its way
        (``behind``) or what the planes did (``meanwhile``). The operations are those of the run's
        ``log`` and ``timeline``. ``wordline why`` prints it as text.

    Raises
    ------
    UserError
        The run has no such request, or its result differs from the report.
    Refused, Fault
        As for `run`.
    """
    where = None if workload is None else os.fspath(workload)
    text = _one_report(report, scheme).json
    wanted = {"numbers": list(numbers), "slowest": str(slowest), "stories": stories, "op": op}
    return json.loads(_wordline.why(text, wanted, where, progress))


def check_arguments(arguments: Sequence[str], classes: Sequence[type[Scheme]]) -> None:
    """Refuse a command that does reports again with classes whose source has changed.

    Raises `UserError`: the source of one has changed.
    """
    for path in arguments[2:]:
        if not (path.endswith(".json") and Path(path).is_file()):
            continue
        try:
            found = read(path)
        except UserError:
            continue  # The command says what is wrong with the file.
        for report in found if isinstance(found, Comparison) else [found]:
            spelling.check_sources(report.to_dict(), classes, all_given=False)


def _one_report(report: Report | Comparison | str | os.PathLike[str], scheme: str | None) -> Report:
    """Return the report; of a comparison, that of a scheme."""
    if isinstance(report, (Report, Comparison)):
        found: Report | Comparison | Sweep = report
    elif isinstance(report, str) and report.lstrip().startswith("{"):
        found = parsed(report)
    else:
        found = load(report)
    if not isinstance(found, (Report, Comparison)):
        raise UserError(
            f"{report}: a sweep has many reports; pass one of them, wl.load(...)[0].reports[0]"
        )
    if isinstance(found, Report):
        if scheme in (None, found.scheme.name):
            return found
        raise UserError(f"scheme={scheme!r}: the report is of {found.scheme.name}")
    names = [r.scheme.name for r in found]
    if scheme is None or scheme not in names:
        given = "which run is meant" if scheme is None else f"no run of {scheme!r} is in it"
        raise UserError(f"{given}: pass scheme= with one of {', '.join(names)}")
    return found[scheme]


def load(path: str | os.PathLike[str]) -> Report | Comparison | Sweep:
    """Read a ``report.json``, a ``comparison.json``, or a ``sweep.json`` with its reports.

    Parameters
    ----------
    path
        The file, its folder, or the page next to it.

    Raises
    ------
    UserError
        The file does not exist, or is not a Wordline report.
    OSError
        The file cannot be read.
    """
    given = Path(path)
    folder = given.parent if given.name == "index.html" else given
    of_sweep = given if given.name == "sweep.json" else folder / "sweep.json"
    if of_sweep.is_file():
        others = [n for n in ("report.json", "comparison.json") if of_sweep.with_name(n).is_file()]
        if others and given != of_sweep:
            raise UserError(f"{path}: sweep.json and {others[0]} exist; name one of them")
        from wordline.sweeps import result

        return result.load(of_sweep)
    return read(path)
