"""One run: everything that determines its result, and its execution."""

from __future__ import annotations

import contextlib
import json
import operator
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wordline import _bar, _wordline, spelling
from wordline._result import Report
from wordline._wordline import UserError
from wordline.implausible import quiet, warn_of

Progress = Callable[[int, int, float], object]


@dataclass(frozen=True)
class Run:
    """One run: everything that determines its result, and nothing else.

    It is immutable plain data, so runs can be compared, used as dictionary keys and sent to other
    processes.

    Attributes
    ----------
    device, scheme, workload, seed, requests, initial, from_state, traces, fit, check
        As for `run`; paths are text, and a scheme in Python is ``py:FILE#CLASS[:key=value,...]``.
    set
        Changes as for `run`, in pairs of key and value, both text.
    after
        A run after which this one continues with its drive, instead of ``initial`` and
        ``from_state``.

    Examples
    --------
    >>> aging = wl.Run(device="demo-8gb", scheme="slc-cache", workload="uniform")
    >>> wl.Run(device="demo-8gb", scheme="slc-cache", workload="bursty", after=aging).do()
    """

    device: str
    scheme: str
    workload: str
    seed: int = _wordline.DEFAULT_SEED
    requests: int | None = None
    set: tuple[tuple[str, str], ...] = ()
    initial: str = _wordline.DEFAULT_INITIAL
    from_state: str | None = None
    traces: str | None = None
    fit: str | None = None
    check: bool = False
    after: Run | None = None

    def do(
        self,
        *,
        replicas: int = 1,
        save_state: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        log: str | os.PathLike[str] | None = None,
        completions: str | os.PathLike[str] | None = None,
        timeline: str | os.PathLike[str] | None = None,
        window: str | None = None,
        around: int | None = None,
        progress: Progress | bool | None = None,
    ) -> Report:
        """Execute the run, and before it the run in ``after``.

        Parameters
        ----------
        replicas, save_state, threads, log, completions, timeline, window, around, progress
            As for `run`. Of a run ``after`` another, only the last is recorded and repeated;
            `progress` is called for both.

        Returns
        -------
        Report
            As for `run`. The report of a run ``after`` another cannot be rerun, because its state
            is temporary; use ``save_state`` and ``from_state`` for that.

        Raises
        ------
        UserError, Refused, Fault, OSError
            As for `run`.

        Warns
        -----
        UserWarning
            As `run`.
        """
        warn_of([(self.device, self.set)])
        files = {"log": log, "completions": completions, "timeline": timeline}
        span: dict[str, Any] = {"window": window, "around": around}
        if self.after is not None:
            # What is wrong is found before anything is run.
            asked(self, replicas)
            with TemporaryDirectory(prefix="wordline-") as folder:
                state = Path(folder) / "before.state"
                self.after.do(save_state=state, threads=threads, progress=progress)
                how: dict[str, Any] = {"threads": threads, "progress": progress, **files, **span}
                run = beginning_with(self, os.fspath(state))
                return run.do(replicas=replicas, save_state=save_state, **how)
        wanted = asked(self, replicas, save_state)
        if timeline is None and not (window is None and around is None):
            raise UserError("window and around require timeline=FILE")
        if any(file is not None for file in files.values()):
            paths = {name: file and os.fspath(file) for name, file in files.items()}
            with _bar.of_requests(progress, self.requests) as see:
                return Report(_wordline.record(wanted, native(self), {**paths, **span}, see))
        total = self.requests and self.requests * replicas
        with _bar.of_requests(progress, total) as see:
            at_once = (parallel_runs(threads), True)
            return Report(_wordline.compare(wanted, [native(self)], at_once, see)[0][0])

    def kept(self, save_state: str | None, progress: Progress | None) -> str:
        """Do it in this thread; return as JSON what of it is kept. Raises as `do`."""
        with quiet():
            return self.do(save_state=save_state, threads=1, progress=progress).json

    def identity(self) -> dict[str, Any]:
        """Return everything that determines the result, without running anything.

        Returns
        -------
        dict
            As for `wordline.identity`. The initial drive of a run ``after`` another is not
            included.

        Raises
        ------
        UserError
            As for `run`.
        """
        return json.loads(_wordline.identity(asked(self), native(self)))


def native(run: Run) -> str:
    """Return a run's scheme as the native half spells it."""
    return spelling.resolved(run.scheme)[0]


def beginning_with(run: Run, state: str) -> Run:
    """Return a run that starts from a saved state instead of another run."""
    return replace(run, initial=_wordline.DEFAULT_INITIAL, from_state=state, after=None)


def whole(name: str, value: object) -> int:
    """Return an integral number as an int: 1000, ``1e3`` or a number of numpy.

    Raises `UserError`: it is not a whole number.
    """
    with contextlib.suppress(TypeError):
        return operator.index(value)  # type: ignore[arg-type]  # what has no index is refused
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise UserError(f"{name}={value!r} is not a whole number such as 1000 or 1_000_000")


def counted(name: str, value: object) -> int | None:
    """Return `whole` of a number that may be missing; raises as it."""
    return None if value is None else whole(name, value)


def parallel_runs(threads: int | None) -> int:
    """Return the number of runs in parallel, by default the number of cores."""
    return threads if threads is not None else os.cpu_count() or 1


def asked(
    run: Run, replicas: int = 1, save_state: str | os.PathLike[str] | None = None
) -> dict[str, Any]:
    """Return what the native half takes of a run, all but the scheme.

    Raises `UserError`: a number is out of range, or the run has two initial states.
    """
    run = replace(run, seed=whole("seed", run.seed), requests=counted("requests", run.requests))
    replicas = whole("replicas", replicas)
    if not 0 <= run.seed < 2**64:
        raise UserError(f"seed={run.seed} is not between 0 and 2**64 - 1")
    most = _wordline.REPLICAS_MAX
    if not 1 <= replicas <= most:
        raise UserError(f"replicas={replicas} is not between 1 and {most}")
    if run.requests is not None and run.requests < 1:
        raise UserError(f"requests={run.requests}: at least one request is needed")
    if run.requests is not None and run.requests >= 2**64:
        raise UserError(f"requests={run.requests} is not below 2**64")
    if run.after is not None and run.from_state is not None:
        raise UserError("after and from_state exclude each other; use one of them")
    own = ("device", "workload", "seed", "requests", "from_state", "traces", "fit", "check")
    return {
        **{key: getattr(run, key) for key in own},
        "replicas": replicas,
        "set": sorted(dict(run.set).items()),
        "initial": _wordline.DEFAULT_INITIAL if run.after else run.initial,
        "save_state": None if save_state is None else os.fspath(save_state),
        "classes": spelling.resolved(run.scheme)[1],
    }


def asked_of(run: Run, schemes: Iterable[Any], replicas: int) -> tuple[dict[str, Any], list[str]]:
    """Return what the native half takes of a run under several schemes; raises as `asked`."""
    names, classes = spelling.all_resolved(schemes)
    return {**asked(run, replicas), "classes": classes}, names
