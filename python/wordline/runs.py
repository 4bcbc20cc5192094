"""Many runs: each described, run once, kept under the hash of its configuration, found again."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from wordline import Fault, Refused, Report, Run, UserError, _wordline
from wordline._result import read
from wordline._run import Progress, beginning_with
from wordline.forecast import Trial, rest, trials, words
from wordline.implausible import warn_of

#: Called with a run, the requests it has completed and the simulated time in seconds.
Watch = Callable[[Run, int, float], object]


#: Errors that can be kept, by their names.
KINDS: dict[str, type[Exception]] = {k.__name__: k for k in (Refused, UserError, Fault)}
#: Refusals that are kept: those that a run comes to again whenever it is asked. Others, such as a
#: machine's, may be over.
_KEPT = (Refused, UserError)


#: Requests by which a dry run sees whether a run begins at all.
_FIRST = 64

#: All that a run may come to but an end of everything.
FAILURES: tuple[type[Exception], ...] = (Exception,)


@cache
def engine() -> str:
    """Return the hash of the engine: a run of another build may come to something else."""
    return hashlib.sha256(Path(_wordline.__file__).read_bytes()).hexdigest()


@cache
def sources() -> str:
    """Return the hash of the package's files of Python."""
    folder = Path(__file__).parent
    files = sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".toml", ".fio"))
    found = hashlib.sha256()
    for path in files:
        found.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size}\n".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def build() -> dict[str, str]:
    """Return the hashes of what makes up this installation, by what each is of."""
    return {
        f"engine ({Path(_wordline.__file__).name})": engine(),
        "Python sources (wordline/**/*.py, *.toml, *.fio)": sources(),
    }


class _Known(NamedTuple):
    """A run whose configuration has been resolved."""

    key: str
    expected_requests: int


def _known(run: Run, found: dict[Run, _Known]) -> _Known:
    if run in found:
        return found[run]
    identity = run.identity()
    before = _known(run.after, found).key if run.after else None
    text = json.dumps([engine(), identity, run.check, before], sort_keys=True)
    key = hashlib.sha256(text.encode()).hexdigest()[:20]
    asked = identity["workload"].get("parameters", {}).get("requests")
    expected = run.requests or (asked if isinstance(asked, int) else 0)
    return found.setdefault(run, _Known(key, expected))


def stand_ins(reports: Iterable[Report]) -> str:
    """Say which workloads are synthetic twins, and which are originals in the place of one."""
    kinds: dict[str, set[str]] = {}
    for report in reports:
        kinds.setdefault(report.workload.get("source", ""), set()).add(report.workload.name)
    said = []
    if "twin" in kinds:
        names = sorted(name.removeprefix("twin:") for name in kinds["twin"])
        said.append(f"synthetic twins, not the traces themselves: {', '.join(names)}")
    if "original" in kinds:
        said.append(f"original traces: {', '.join(sorted(kinds['original']))}")
    return "; ".join(said)


def located(error: BaseException, run: Run) -> None:
    """Add to an error of which run it is; Python 3.10 has no notes."""
    if hasattr(error, "add_note"):
        changes = "".join(f", {key}={value}" for key, value in run.set)
        error.add_note(
            f"in the run of {run.scheme} on {run.device} under {run.workload}, initial "
            f"{run.initial}{changes}, seed {run.seed}"
        )


class Stopped(Exception):
    """Runs were broken off."""


@dataclass
class Runner:
    """Runs what is not there yet, several at once, and keeps every report and every refusal."""

    #: Where reports are kept, one file a run, named by the hash of its configuration and of the
    #: engine; of a run that was refused the reason, in a file of that name. A run that is broken
    #: off leaves nothing; all that have ended are found again.
    folder: Path
    jobs: int | None = None  #: Runs that go at once; as many as there are cores if not given.
    #: Anything of the shape of `concurrent.futures.Executor` in place of threads of this process,
    #: such as `wordline.cluster.Cluster`. Reports come back by value.
    executor: Executor | None = None
    #: Parts of a report that are not kept, by their keys, such as ``timeline``.
    leave_out: Sequence[str] = ()
    #: Errors of a run by which that run is refused; any other breaks all off. With `FAILURES`
    #: nothing does but an interruption, and what `watch` raises.
    refusals: tuple[type[Exception], ...] = (Refused,)
    watch: Watch | None = None  #: Told how far a run is, with threads of this process only.
    #: Told of each run that has ended, and whether it was found (``True``) or done.
    ended: Callable[[Run, bool], object] = lambda run, found: None
    _known: dict[Run, _Known] = field(default_factory=dict, init=False)
    _wrong: dict[Run, Exception] = field(default_factory=dict, init=False)
    _watched: list[BaseException] = field(default_factory=list, init=False)

    def key(self, run: Run) -> str:
        """Return the name under which a run is kept, without the suffix of its file.

        Raises `UserError`: something of the run is wrong.
        """
        return _known(run, self._known).key

    def path(self, run: Run) -> Path:
        """Return the file of a run's report."""
        return self._file(run, "json")

    def run(self, runs: Iterable[Run]) -> tuple[dict[Run, Report], dict[Run, Exception]]:
        """Run what has no report yet.

        Returns
        -------
        reports, refused
            The report of each run, and why those that have none were refused: scheme and device do
            not go together.

        Raises
        ------
        UserError
            Something of a run is wrong. Nothing was run.
        Fault
            A run came upon a bug; those under way are broken off.
        """
        asked = list(dict.fromkeys(runs))
        refused = self.do(asked)
        return {run: self._report(run) for run in asked if run not in refused}, refused

    def finished(self, runs: Iterable[Run]) -> tuple[dict[Run, Report], dict[Run, Exception]]:
        """Return what `run` returns of the runs that have finished, and run nothing.

        Raises as `run`.
        """
        asked = list(dict.fromkeys(runs))
        self.wrong(asked)
        refused = self._refused(asked)
        there = [run for run in asked if run not in refused and self.path(run).exists()]
        for run in (*there, *refused):
            self.ended(run, True)
        return {run: self._report(run) for run in there}, refused

    def do(self, runs: Iterable[Run]) -> dict[Run, Exception]:
        """Run what has no report yet, and read none of them: `path` says where each is.

        Returns why those that have none were refused. Raises as `run`.
        """
        asked = list(dict.fromkeys(runs))
        warn_of((run.device, run.set) for run in asked)
        made = [f for f in (self.folder, *self.folder.parents) if not f.exists()]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise UserError(f"{self.folder}: cannot create the folder of the runs: {e}") from e
        try:
            self.wrong(asked)
            refused = self._refused(asked)
            missing = self._missing(asked)
            for run in asked:
                if run not in missing:
                    self.ended(run, run not in self._wrong)
            refused |= self._perform(missing)
        except BaseException:
            # Of the folders that were made for it those stay that hold something.
            for folder in made:
                with suppress(OSError):
                    folder.rmdir()
            raise
        for run in self._known:
            self._file(run, "state").unlink(missing_ok=True)
        return refused

    def wrong(self, runs: Iterable[Run]) -> dict[Run, Exception]:
        """Return the runs that can be told to fail without being run, and why.

        Raises `UserError`: one of them does, and that is no refusal here.
        """
        asked = dict.fromkeys(runs)
        for run in asked:
            try:
                if run not in self._wrong:
                    self.key(run)
            except self.refusals as e:
                self._wrong[run] = e
        return {run: self._wrong[run] for run in asked if run in self._wrong}

    def begun_wrong(self, runs: Iterable[Run]) -> dict[Run, Exception]:
        """Return the runs that fail with their first requests, and why; none of it is kept.

        Of runs that differ in their seeds only the first is begun.
        """
        first: dict[Run, Run] = {}
        runs = list(runs)
        for run in self._missing(runs):
            if run.after is None:
                first.setdefault(replace(run, seed=0), run)

        def begin(run: Run) -> Exception | None:
            try:
                few = min(run.requests or _FIRST, _FIRST)
                _do(replace(run, requests=few), ("timeline",), None, None)
            except Exception as e:
                return e
            return None

        with ThreadPoolExecutor(self._at_once()) as pool:
            why = dict(zip(first, pool.map(begin, first.values()), strict=True))
        found = {run: why.get(replace(run, seed=0)) for run in runs}
        return {run: error for run, error in found.items() if error is not None}

    def forecast(self, runs: Iterable[Run]) -> str:
        """Say how many runs there are and how many are kept, and about how long the rest takes.

        A few are tried on this machine, for some ten seconds in all; those that end are kept. What
        is known to fail is counted apart.

        Raises as `run`.
        """
        asked = list(dict.fromkeys(runs))
        wrong = self.wrong(asked)
        missing = list(self._missing(asked))
        kept = len(asked) - len(missing) - len(wrong)
        to_do = f"{len(missing):,}" if missing else "none"
        what = "run" if len(asked) == 1 else "runs"
        counted = f"{len(asked):,} {what}: {kept:,} are kept, {to_do} to do"
        counted += f", {len(wrong):,} cannot be done" if wrong else ""
        if not missing:
            return counted
        begin = time.perf_counter()
        tried = self.try_out(run for run in missing if run.after is None)
        spent = time.perf_counter() - begin
        refused = [t.refused for t in tried if t.refused is not None]
        if tried and len(refused) == len(tried):
            return f"{counted}; those that were tried are refused: {refused[0]}"
        done = {t.run for t in tried if t.report is not None}
        left = [run for run in missing if run not in done]
        return f"{counted}; {words(tried, spent, rest(tried, left, self._at_once()))}"

    def try_out(self, runs: Iterable[Run]) -> list[Trial]:
        """Try a few runs for a limited time, and keep those that end.

        Raises as `run`.
        """
        runs = list(runs)
        for run in runs:
            self.key(run)
        self.folder.mkdir(parents=True, exist_ok=True)
        tried = trials(
            runs,
            lambda run: self._known[run].expected_requests,
            lambda run, progress: _do(run, tuple(self.leave_out), None, None, progress),
            jobs=self._at_once(),
            refusals=self.refusals,
        )
        for trial in tried:
            if trial.report is not None:
                write_whole(self.path(trial.run), trial.report.encode())
            if trial.refused is not None:
                self._keep_refusal(trial.run, trial.refused)
        with suppress(OSError):
            self.folder.rmdir()
        return tried

    def _at_once(self) -> int:
        return self.jobs or os.cpu_count() or 1

    def _report(self, run: Run) -> Report:
        found = read(self.path(run))
        if not isinstance(found, Report):
            raise UserError(f"{self.path(run)}: not the report of a single run")
        return found

    def _file(self, run: Run, suffix: str) -> Path:
        return self.folder / f"{self.key(run)}.{suffix}"

    def _refusal(self, run: Run) -> Exception | None:
        """Return why a run, or one that it comes after, was refused when it was asked before."""
        if run in self._wrong:
            return self._wrong[run]
        if run.after is not None and (before := self._refusal(run.after)) is not None:
            return before
        if not self._file(run, "refused").exists():
            return None
        why = read_error(json.loads(self._file(run, "refused").read_text(encoding="utf-8")))
        return why if isinstance(why, self.refusals) else None

    def _refused(self, runs: Iterable[Run]) -> dict[Run, Exception]:
        return {run: why for run in runs if (why := self._refusal(run)) is not None}

    def _keep_refusal(self, run: Run, why: Exception) -> None:
        if type(why) in _KEPT:
            write_whole(self._file(run, "refused"), json.dumps(written_error(why)).encode())

    def _missing(self, runs: Sequence[Run]) -> dict[Run, bool]:
        """Return the runs to do, and of each whether its drive is needed afterwards."""
        missing: dict[Run, bool] = {}

        def need(run: Run, state: bool) -> None:
            there = self._file(run, "state" if state else "json").exists()
            known = missing.get(run, False) or (run in missing and not state)
            if there or known or self._refusal(run) is not None:
                return
            missing[run] = state
            if run.after:
                need(run.after, True)

        for run in runs:
            need(run, False)
        return missing

    def _perform(self, missing: Mapping[Run, bool]) -> dict[Run, Exception]:
        """Do runs, the longest first, each as soon as the one before it has ended."""
        refused: dict[Run, Exception] = {}
        waiting = sorted(missing, key=lambda run: -self._known[run].expected_requests)
        jobs = self._at_once()
        stop = threading.Event()
        pool = self.executor or ThreadPoolExecutor(jobs)
        going: dict[Future[str], Run] = {}
        ended: set[Run] = set()

        def ready(run: Run) -> bool:
            return run.after is None or run.after not in missing or run.after in ended

        try:
            while waiting or going:
                for run in [r for r in waiting if ready(r)]:
                    if self.executor is None and len(going) >= jobs:
                        break
                    waiting.remove(run)
                    if run.after in refused:
                        refused[run] = refused[run.after]
                        ended.add(run)
                        continue
                    going[self._submit(pool, run, missing[run], stop)] = run
                for future in wait(going, return_when=FIRST_COMPLETED).done:
                    run = going.pop(future)
                    ended.add(run)
                    try:
                        write_whole(self.path(run), future.result().encode())
                    except Stopped:
                        raise self._watched[0] if self._watched else Stopped from None
                    except self.refusals as e:
                        if not isinstance(e, Refused):
                            located(e, run)
                        refused[run] = e
                        self._keep_refusal(run, e)
                    except Exception as e:
                        located(e, run)
                        raise
                    self.ended(run, False)
        finally:
            # After an error what is under way has nobody to wait for it.
            stop.set()
            if self.executor is None:
                pool.shutdown(cancel_futures=True)
        return refused

    def _submit(self, pool: Executor, run: Run, keep: bool, stop: threading.Event) -> Future[str]:
        before = str(self._file(run.after, "state")) if run.after else None
        after = str(self._file(run, "state")) if keep else None
        how = (tuple(self.leave_out), before, after)
        if self.executor is not None:
            return pool.submit(_do, run, *how)

        def progress(_: int, completed: int, now: float) -> None:
            if stop.is_set():
                raise Stopped
            try:
                if self.watch:
                    self.watch(run, completed, now)
            except BaseException as e:
                self._watched.append(e)  # not the run's, which has not failed
                raise Stopped from None

        return pool.submit(_do, run, *how, progress)


def written_error(why: Exception) -> dict[str, Any]:
    """Return one of `KINDS` as JSON has it."""
    typed = getattr(why, "on_command_line", None)
    return {"kind": type(why).__name__, "text": str(why), "on_command_line": typed}


def read_error(kept: Mapping[str, Any]) -> Exception:
    """Return the error that `written_error` has written."""
    why: Any = KINDS[kept["kind"]](kept["text"])
    if kept["on_command_line"]:
        why.on_command_line = kept["on_command_line"]
    return why


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all, whoever else writes it at the same time."""
    part = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as e:
        part.unlink(missing_ok=True)
        raise OSError(e.errno, e.strerror, str(path)) from None


def _do(
    run: Run,
    leave_out: Sequence[str],
    before: str | None,
    after: str | None,
    progress: Progress | None = None,
) -> str:
    """Do one run; return its report as JSON, without some of its parts."""
    begun = run if before is None else beginning_with(run, before)
    report = begun.kept(after, progress)
    if not leave_out:
        return report
    return json.dumps({key: v for key, v in json.loads(report).items() if key not in leave_out})
