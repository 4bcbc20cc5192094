"""Run, compare and sweep schemes, and wear drives out."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from wordline import _bar, _wordline, spelling
from wordline._result import Comparison, Lifetimes, Report, reason
from wordline._run import Progress, Run, asked_of, counted, parallel_runs, whole
from wordline._wordline import UserError
from wordline.implausible import warn_of
from wordline.parameters import spelled
from wordline.scheme import Scheme

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from wordline.sweeps.result import Sweep

#: The spelling of a scheme, or a class or an instance of one in Python.
AnyScheme = str | Scheme | type[Scheme]
#: One name or path, or several.
Several = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def run(
    *,
    device: str | os.PathLike[str],
    scheme: AnyScheme,
    workload: str | os.PathLike[str],
    seed: int = _wordline.DEFAULT_SEED,
    replicas: int = 1,
    requests: int | None = None,
    set: Mapping[str, object] | None = None,
    initial: str = _wordline.DEFAULT_INITIAL,
    from_state: str | os.PathLike[str] | None = None,
    save_state: str | os.PathLike[str] | None = None,
    traces: str | os.PathLike[str] | None = None,
    fit: str | None = None,
    check: bool = False,
    threads: int | None = None,
    log: str | os.PathLike[str] | None = None,
    completions: str | os.PathLike[str] | None = None,
    timeline: str | os.PathLike[str] | None = None,
    window: str | None = None,
    around: int | None = None,
    progress: Progress | bool | None = None,
) -> Report:
    """Run one scheme on one device under one workload.

    Parameters
    ----------
    device
        Name of a built-in device (see `devices`) or path of a device file.
    scheme
        ``NAME`` or ``NAME:key=value,...`` (see `schemes`), ``py:FILE#CLASS[:key=value,...]``, or a
        class or an instance of `Scheme`.
    workload
        Path of a trace or name of a built-in workload (see `workloads`), perhaps with options:
        ``"zipf:theta=1.1,read=70%"``, ``"trace.csv:speedup=10"``, ``"twin:hm_0"``.
    seed
        Seed of every random stream, 0 to 2**64 - 1.
    replicas
        Number of runs, 1 to 1000, with consecutive seeds from ``seed``. The report is that of the
        first; ``report.replicas.figures`` has the means with their intervals.
    requests
        Number of requests; overrides ``requests=`` of the workload. A trace may end earlier.
    set
        Settings by dotted path: keys of the device (``{"gc.victim": "fifo"}``), ``workload.KEY``
        and ``scheme.KEY``. Quantities are strings with a unit, as in device files; sizes can also
        be computed from `wordline.KiB`, `MiB` and `GiB`, such as ``6 * wl.GiB``.
    initial
        State of the drive before the first request: ``fresh``, ``preload``,
        ``fill:90%[,order=seq|random][,valid=80%]``, ``steady[:90%]`` (the steady state of the
        workload), ``aged_invalid:70%``, ``aged_blocks:70%``, ``aged_windows``, ``pe:tlc=500``,
        several joined by ``+``.
    from_state
        State file written by `save_state`, instead of `initial`: the drive with its data and wear,
        for the same device and scheme. Time and counters start at zero.
    save_state
        File for the state of the drive after the run.
    traces
        Folder of original traces; an original replaces its twin.
    fit
        How to handle requests beyond the capacity: ``error``, ``wrap`` or ``compact``.
    check
        Recount every invariant of the drive after the run.
    threads
        Number of runs in parallel, by default the number of cores. Results do not depend on it.
    log
        File for every use of arrays and buses, times in nanoseconds; ``.gz`` and ``.zst`` compress
        it. ``pandas.read_csv(log, comment="#")`` reads it, and ``wordline check-log`` checks it.
    completions
        File with a row for each completed request: number, op, lba and blocks (512 bytes), arrival
        and completion in nanoseconds, outcome, and the parts of its latency in nanoseconds, which
        add up to it. ``.parquet`` selects Parquet, with the configuration of the run under the key
        ``wordline`` of its metadata; any other name is CSV, compressed as `log`.
    timeline
        File with requests and the uses of planes and buses for a trace viewer such as Perfetto
        (Chrome trace events as JSON); ``.gz`` compresses it.
    window
        Simulated time that `timeline` covers, such as ``"1.2s..1300ms"``.
    around
        Number of a request, from 0: `timeline` covers the time from its arrival to its completion.
    progress
        Callable that receives the number of the run (position of the scheme times ``replicas``,
        plus that of the replica), the completed requests and the simulated time in seconds. An
        exception that it raises ends the run. ``True`` shows a tqdm bar.

    Returns
    -------
    Report
        Every figure of the run; two runs with the same arguments have the same ``result_hash``.

    Raises
    ------
    UserError
        The input is wrong; the message says where, and what is allowed.
    Refused
        The scheme does not support the device.
    Fault
        An illegal decision of a scheme, or a bug of Wordline; the message has a command that
        reproduces it.
    OSError
        `log`, `completions` or `timeline` could not be written.

    Warns
    -----
    UserWarning
        A value of the device that no real part has, such as a program of 10 s.
    """
    files = (from_state, traces)
    run = described(scheme, device, workload, seed, requests, set, initial, files, fit, check)
    return run.do(
        replicas=replicas,
        save_state=save_state,
        threads=threads,
        log=log,
        completions=completions,
        timeline=timeline,
        window=window,
        around=around,
        progress=progress,
    )


def compare(
    *,
    device: str | os.PathLike[str],
    schemes: Sequence[AnyScheme],
    workload: str | os.PathLike[str],
    seed: int = _wordline.DEFAULT_SEED,
    replicas: int = 1,
    requests: int | None = None,
    set: Mapping[str, object] | None = None,
    initial: str = _wordline.DEFAULT_INITIAL,
    from_state: str | os.PathLike[str] | None = None,
    traces: str | os.PathLike[str] | None = None,
    fit: str | None = None,
    check: bool = False,
    strict: bool = False,
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Run several schemes on one device and workload.

    Parameters
    ----------
    device, workload, seed, replicas, requests, set, initial, from_state
        As for `run`. The n-th replica has the same seed under every scheme.
    traces, fit, check, threads, progress
        As for `run`.
    schemes
        Spellings of the schemes; the first is the baseline. ``all-compatible`` selects every scheme
        that supports the device; the others are in ``refused``.
    strict
        Raise the first exception of a scheme. By default the others are compared, with a warning,
        and ``failed`` has the exceptions.

    Returns
    -------
    Comparison
        A report for each scheme, in the order given. With replicas, ``differences_percent`` has the
        differences from the baseline, paired by seed.

    Raises
    ------
    UserError, Refused, Fault
        As for `run`; the last two, and what a scheme in Python raises, only if ``strict``, or if
        every scheme fails.
    """
    _no_text(schemes)
    files = (from_state, traces)
    first = next(iter(schemes), "")  # the engine refuses an empty list
    run = described(first, device, workload, seed, requests, set, initial, files, fit, check)
    wanted, named = asked_of(run, schemes, replicas)
    warn_of([(run.device, run.set)])
    if _wordline.ALL_COMPATIBLE not in named:
        keys = [key for key, _ in run.set]
        _warn_of_lacking(spelling.without_parameter(map(spelling.text, schemes), keys))
    refused: list[tuple[str, str]] = []
    if _wordline.ALL_COMPATIBLE in named:
        named, refused = _wordline.admitted(wanted, named)
    total = requests and requests * replicas * len(named)
    with _bar.of_requests(progress, total) as see:
        at_once = (parallel_runs(threads), strict)
        done, failed = _wordline.compare(wanted, named, at_once, see)
    for name, error in failed:
        why = reason(name, error)
        warnings.warn(f"scheme {name} failed and is not compared: {why}", stacklevel=2)
    return Comparison([Report(r) for r in done], dict(refused), dict(failed))


def sweep(
    *,
    device: Several,
    schemes: Sequence[AnyScheme],
    workload: Several,
    seed: int = _wordline.DEFAULT_SEED,
    replicas: int = 1,
    requests: int | None = None,
    set: Mapping[str, object] | None = None,
    initial: str | Sequence[str] = _wordline.DEFAULT_INITIAL,
    traces: str | os.PathLike[str] | None = None,
    fit: str | None = None,
    check: bool = False,
    figures: Sequence[str] = (),
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], object] | bool | None = None,
) -> Sweep:
    """Run every combination of devices, workloads, initial states, schemes and settings.

    Parameters
    ----------
    device, workload, initial
        As for `run`, one or a list of them.
    schemes
        Spellings of the schemes. ``all-compatible`` selects every scheme; those that do not support
        a device have no reports but the reason.
    set
        As for `run`; a list or tuple has the values of its key.
    seed, replicas
        Each combination runs with the seeds ``seed`` to ``seed + replicas - 1``.
    requests, traces, fit, check
        As for `run`, the same in all runs.
    figures
        Figures of the table, by their paths in a report, such as ``latency_us.write.mean``; by
        default mean and p99.9 latency of writes and reads, WAF and IOPS.
    out
        Folder whose ``runs`` caches each report under the hash of its configuration. An interrupted
        sweep resumes, and one with more values runs only the new combinations. ``wordline sweep
        --out`` uses the same folder. Without it nothing is cached.
    threads
        Number of runs in parallel, by default the number of cores.
    executor
        A `concurrent.futures.Executor` instead of threads, such as a ``ProcessPoolExecutor``; its
        workers must have access to the files that the runs read. `wordline.cluster.Cluster.connect`
        returns one for a Dask scheduler, whose workers need no such access.
    progress
        Callable that receives the number of completed runs and their total after each run. An
        exception that it raises ends the sweep. ``True`` shows a bar of tqdm.

    Returns
    -------
    Sweep
        The combinations with their reports; ``to_frame()`` has a row per run, ``columns()`` means
        and intervals, ``frontier()`` the Pareto front.

    Raises
    ------
    UserError, Fault
        As for `run`.
    """
    from wordline.runs import Runner
    from wordline.sweeps import grid, result

    _no_text(schemes)
    requests, threads = counted("requests", requests), counted("threads", threads)
    for number, name in ((requests, "requests"), (threads, "threads")):
        if number is not None and number < 1:
            raise UserError(f"{name}={number} is not at least 1")
    wanted = grid.grid(
        devices=[os.fspath(d) for d in _several(device)],
        workloads=[os.fspath(w) for w in _several(workload)],
        schemes=[spelling.text(s) for s in schemes],
        initials=_several(initial),
        set={key: [spelled(v) for v in _several(found)] for key, found in _mapping(set).items()},
        seed=seed,
        replicas=replicas,
        requests=requests,
        fit=fit,
        traces=None if traces is None else os.fspath(traces),
        check=check,
    )
    ended = itertools.count(1)
    _warn_of_lacking(wanted.lacking)

    with ExitStack() as stack:
        see = stack.enter_context(_bar.of_items(progress, len(wanted.runs), "runs"))

        def count(*_: object) -> None:
            see(next(ended), len(wanted.runs))

        folder = out or stack.enter_context(TemporaryDirectory(prefix="wordline-"))
        runner = Runner(Path(folder) / "runs", jobs=threads, executor=executor, ended=count)
        return result.perform(wanted, runner, figures)


def lifetime(
    *,
    device: str | os.PathLike[str],
    schemes: Sequence[AnyScheme],
    workload: str | os.PathLike[str],
    acceleration: int | None = None,
    shelf: str | None = None,
    end: str = "capacity",
    seed: int = _wordline.DEFAULT_SEED,
    replicas: int = 1,
    requests: int | None = None,
    set: Mapping[str, object] | None = None,
    initial: str = _wordline.DEFAULT_INITIAL,
    from_state: str | os.PathLike[str] | None = None,
    traces: str | os.PathLike[str] | None = None,
    fit: str | None = None,
    check: bool = False,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Lifetimes:
    """Repeat a workload on a drive until the drive wears out, under each scheme.

    Parameters
    ----------
    device, workload, seed, replicas, requests, set, initial, from_state, traces, fit, check
        As for `run`; ``requests`` applies to one pass of the workload. The device file must state
        the endurance of its flash.
    schemes
        Spellings of the schemes; the first is the baseline.
    acceleration
        P/E cycles that each simulated erase counts as; by default ``wear.acceleration`` of the
        device. The first seed is repeated at half of it.
    shelf
        Power-off time after each pass, such as ``"30d"``, by which the data age.
    end
        End condition besides a write that finds no space: ``"capacity"`` (the remaining blocks hold
        less than the capacity), ``"usable:80%"``, ``"spare:10%"``, ``"uncorrectable"``, or
        ``"out-of-space"`` for no other condition.
    progress
        Callable that receives the position of a scheme, the seed, and the drive writes so far. An
        exception that it raises ends the runs.

    Returns
    -------
    Lifetimes
        Host writes of each drive until the end, and how it aged.

    Raises
    ------
    UserError, Refused, Fault
        As for `run`.
    """
    _no_text(schemes)
    from wordline import lifetime_runs
    from wordline.runs import Runner

    life = lifetime_runs.asked_life(acceleration, shelf, end, checks_acceleration=True)
    files = (from_state, traces)
    first = next(iter(schemes), "")  # the engine refuses an empty list
    run = described(first, device, workload, seed, requests, set, initial, files, fit, check)
    if out is not None or executor is not None:
        spelled = [spelling.text(scheme) for scheme in schemes]
        with ExitStack() as stack:
            folder = out or stack.enter_context(TemporaryDirectory(prefix="wordline-"))
            kept = Path(folder) / "runs"
            runner = Runner(kept, jobs=threads, executor=executor, refusals=())
            return lifetime_runs.live(run, replicas, spelled, life, runner)
    wanted, named = asked_of(run, schemes, replicas)
    warn_of([(run.device, run.set)])
    return Lifetimes(_wordline.lifetime(wanted, named, life, parallel_runs(threads), progress))


def identity(
    *,
    device: str | os.PathLike[str],
    scheme: AnyScheme,
    workload: str | os.PathLike[str],
    seed: int = _wordline.DEFAULT_SEED,
    requests: int | None = None,
    set: Mapping[str, object] | None = None,
    initial: str = _wordline.DEFAULT_INITIAL,
    from_state: str | os.PathLike[str] | None = None,
    traces: str | os.PathLike[str] | None = None,
    fit: str | None = None,
    check: bool = False,
) -> dict[str, Any]:
    """Return everything that determines the result of a run, without running it.

    Parameters
    ----------
    device, scheme, workload, seed, requests, set, initial, from_state, traces, fit, check
        As for `run`.

    Returns
    -------
    dict
        The configuration with every default filled in, and the hash of each file that is read. With
        the same build of Wordline, runs with equal identities have equal results.

    Raises
    ------
    UserError
        As for `run`.
    """
    files = (from_state, traces)
    run = described(scheme, device, workload, seed, requests, set, initial, files, fit, check)
    return run.identity()


def _warn_of_lacking(lacking: Mapping[str, Sequence[str]]) -> None:
    """Warn at the caller of a function of each parameter that only some of its schemes have."""
    for line in spelling.lines_of_lacking(lacking):
        warnings.warn(line, stacklevel=3)


def _no_text(schemes: Sequence[AnyScheme]) -> None:
    if isinstance(schemes, str):
        raise UserError(f"schemes is the text {schemes!r}; pass a list of spellings")


def _several(given: object) -> list[Any]:
    """Return a list unchanged, and any other value as a list of one."""
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _mapping(changes: Any) -> Mapping[str, Any]:
    """Return changes by key; raises `UserError` for what is no mapping, such as a list."""
    if changes is None or isinstance(changes, Mapping):
        return changes or {}
    given = [changes] if isinstance(changes, str) else list(changes)
    meant = dict(pair.partition("=")[::2] for pair in given if isinstance(pair, str))
    raise UserError(
        f"set={changes!r} is not a dict\n  allowed: set={meant or {'gc.victim': 'fifo'}!r}"
    )


def described(
    scheme: AnyScheme,
    device: str | os.PathLike[str],
    workload: str | os.PathLike[str],
    seed: int,
    requests: int | None,
    changes: Mapping[str, object] | None,
    initial: str,
    files: tuple[str | os.PathLike[str] | None, str | os.PathLike[str] | None],
    fit: str | None,
    check: bool,
) -> Run:
    """Return a run as it is described with paths and mappings; the files are a state and traces."""
    from_state, traces = (None if f is None else os.fspath(f) for f in files)
    return Run(
        device=os.fsdecode(device),
        scheme=spelling.text(scheme),
        workload=os.fsdecode(workload),
        seed=whole("seed", seed),
        requests=counted("requests", requests),
        set=tuple((key, spelled(value)) for key, value in _mapping(changes).items()),
        initial=initial,
        from_state=from_state,
        traces=traces,
        fit=fit,
        check=check,
    )
