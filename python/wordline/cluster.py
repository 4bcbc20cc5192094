"""Runs on an existing Dask cluster, whose workers need no access to local folders.

Input files, including those of Python classes, are sent to each worker once, by the hash of their
content; reports and drive states are returned by value. A worker with another build of Wordline is
refused, because its reports would be cached under the key of this one; a worker that joins later
gets no runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import main_thread
from typing import Any

from wordline import Fault, Refused, Run, UserError, runs, scheme_files, spelling
from wordline.commands import need
from wordline.runs import build, write_whole
from wordline.subprocess_runner import sendable

#: How an address begins that is a cluster's.
SCHEME = "dask://"
#: Seconds until a scheduler must have answered.
_TIMEOUT = 10

#: Does a run: as `wordline.runs` has it.
Work = Callable[..., str]


def at(on: str | None, jobs: int | None = None) -> tuple[int | None, Executor | None]:
    """Return the number of parallel runs on this machine, or the cluster.

    ``on`` is a number, or ``dask://HOST:PORT`` of a scheduler; without it there are `jobs`. Raises
    `UserError`: invalid value, or no reply from the scheduler.
    """
    if on is None:
        return jobs, None
    if on.startswith(SCHEME):
        return None, Cluster.connect(on)
    if on.isascii() and on.isdigit() and int(on) > 0:
        return int(on), None
    raise UserError(
        f"--on {on}: allowed: the number of runs in parallel on this machine, or {SCHEME}HOST:PORT "
        "of a dask scheduler"
    )


@dataclass(frozen=True)
class _Sent:
    """A file on its way: its name below the folder it is put in, and the hash of its content."""

    name: str
    sha256: str


class OtherBuild(Exception):
    """A worker has another build of Wordline: its address, and what differs."""

    def __init__(self, worker: str, differs: str) -> None:
        """Take the worker's address and what differs, in words."""
        super().__init__(worker, differs)
        self.worker, self.differs = worker, differs

    def __str__(self) -> str:
        """Say which worker it is, what differs, and what to do."""
        return (
            f"worker {self.worker} has another build of Wordline than this machine: "
            f"{self.differs}; install the same package on both"
        )


@dataclass
class Cluster(Executor):
    """The workers of a Dask scheduler, as an executor for runs only."""

    address: str
    client: Any
    _sent: dict[tuple[str, int, int], _Sent] = field(default_factory=dict)
    #: What the cluster has of contents, by their hashes.
    _contents: dict[str, Any] = field(default_factory=dict)
    #: Workers that get no runs, and why.
    _others: dict[str, OtherBuild] = field(default_factory=dict)

    @staticmethod
    def connect(on: str) -> Cluster:
        """Connect to a scheduler, and verify that its workers have this build.

        Raises
        ------
        UserError
            Dask is not installed, the scheduler does not reply, it has no worker, a worker has
            another build, or a worker is loading this script for its classes.
        """
        if loading := spelling.loading():
            raise UserError(
                f"{loading}: its top level starts runs on a cluster while its classes "
                'are loaded\n  allowed: such runs below `if __name__ == "__main__":`'
            )
        need("cluster", ("distributed",))
        from distributed import Client

        connect: Any = Client  # it comes without types
        try:
            client = connect(
                "tcp://" + on.removeprefix(SCHEME), timeout=_TIMEOUT, set_as_default=False
            )
        except (OSError, ValueError) as e:
            raise UserError(
                f"--on {on}: no dask scheduler replied within {_TIMEOUT} s; dask scheduler "
                "starts one, and dask worker HOST:PORT a worker of it"
            ) from e
        try:
            begin = time.monotonic()
            while not (workers := client.run(runs.build)):
                if time.monotonic() - begin > _TIMEOUT:
                    raise UserError(f"--on {on}: the scheduler has no worker")
                time.sleep(0.1)
            for worker, found in workers.items():
                if differs := _differs(build(), found):
                    raise UserError(str(OtherBuild(worker, differs)))
        except BaseException:
            client.close()
            raise
        return Cluster(on, client)

    def submit(  # type: ignore[override]
        self, fn: Work, /, run: Run, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        """Submit a run with its input files; returns its report and stores its state.

        ``fn`` takes what `wordline.runs` gives it: parts to leave out, and the files of the states
        before and after.
        """
        leave_out, before, after = args
        paths = _inputs(run)
        sent = {str(path): [self._send(f) for f in files] for path, files in paths.items()}
        for path, files in _files_of_classes(run).items():
            sent[path] = [self._send(f, name) for f, name in files.items()]
        state = self._send(Path(before)) if before is not None else None
        needed = [file for files in sent.values() for file in files] + ([state] if state else [])
        contents = {file.sha256: self._contents[file.sha256] for file in needed}
        asked = (fn, build(), sent, state, contents, after is not None, run, leave_out)
        outer: Future[str] = Future()
        outer.set_running_or_notify_cancel()

        def ended(done: Any) -> None:
            try:
                report, bytes_of_state = done.result()
                if after is not None:
                    write_whole(Path(after), bytes_of_state)
            except OtherBuild as e:
                # Do the run on a worker that has this build, if there is one.
                try:
                    self._leave_out(e)
                    begin()
                except BaseException as none_left:
                    outer.set_exception(none_left)
            except BaseException as e:
                outer.set_exception(_told(e))
            else:
                outer.set_result(report)

        def begin() -> None:
            where = {"workers": self._own()} if self._others else {}
            # A run that raises would raise again; one that loses its worker is begun again anyway.
            going = self.client.submit(_remote, *asked, pure=False, **where)
            going.add_done_callback(ended)

        begin()
        return outer

    def _leave_out(self, other: OtherBuild) -> None:
        """Stop using a worker, and report that once."""
        if other.worker not in self._others:
            self._others[other.worker] = other
            print(f"warning: {other}; it gets no runs", file=sys.stderr, flush=True)

    def _own(self) -> list[str]:
        """Return the workers that are not known to have another build.

        Raises `UserError`: none is left.
        """
        found = [w for w in self.client.nthreads() if w not in self._others]
        if not found:
            raise UserError(str(next(iter(self._others.values()))))
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnect from the scheduler; runs in progress are dropped."""
        self.client.close()

    def _send(self, path: Path, name: str | None = None) -> _Sent:
        stat = path.stat()
        key = (str(path), stat.st_size, stat.st_mtime_ns)
        if key not in self._sent:
            content = path.read_bytes()
            sha256 = hashlib.sha256(content).hexdigest()
            if sha256 not in self._contents:
                # A task, which the scheduler does again if the worker that has it is lost.
                key_there = f"wordline-input-{sha256}"
                self._contents[sha256] = self.client.submit(bytes, content, key=key_there)
            self._sent[key] = _Sent(path.name, sha256)
        return self._sent[key] if name is None else replace(self._sent[key], name=name)


def _told(error: BaseException) -> BaseException:
    """Return the result of a run; lost workers are a fault of the run."""
    if hasattr(error, "traceback_there") or isinstance(
        error, (UserError, Refused, Fault, KeyboardInterrupt)
    ):
        return error  # the run's own
    return Fault(f"a run on the cluster did not finish: {type(error).__name__}: {error}")


def _inputs(run: Run) -> dict[str, list[Path]]:
    """Return the files that a run reads, by the path that it names."""
    found: dict[str, list[Path]] = {}
    parts = run.workload.split(":")
    heads = (":".join(parts[:n]) for n in range(len(parts), 0, -1))
    workload = next((h for h in heads if Path(h).exists()), "")
    for name in filter(None, (run.device, workload, run.traces, run.from_state)):
        path = Path(name)
        if path.is_file():
            found[name] = [path]
        elif path.is_dir():
            found[name] = sorted(p for p in path.rglob("*") if p.is_file())
    return found


def _files_of_classes(run: Run) -> dict[str, dict[Path, str]]:
    """Return the files of a run's classes of Python by the path that it names.

    For each class, its file first and then the files it imports, relative to their common folder.
    """
    found: dict[str, dict[Path, str]] = {}
    for file in spelling.files(run.scheme):
        path = Path(file).resolve()
        if path.is_file():
            root = scheme_files.root_of(path.parent)
            top = root.parent if (root / "__init__.py").is_file() else root
            inits = [p / "__init__.py" for p in path.parents if p.is_relative_to(root)]
            whole = [path, *scheme_files.read_with(path), *(p for p in inits if p.is_file())]
            found[file] = {p: p.relative_to(top).as_posix() for p in whole}
    return found


def _differs(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """Return the differences of two builds, with shortened hashes; empty if equal."""
    return ", ".join(
        f"SHA-256 of its {what} begins with {there.get(what, 'nothing')[:12]}, here with {own[:12]}"
        for what, own in here.items()
        if there.get(what) != own
    )


def _remote(
    work: Work,
    own: dict[str, str],
    sent: dict[str, list[_Sent]],
    state: _Sent | None,
    contents: dict[str, bytes],
    keep: bool,
    run: Run,
    leave_out: Sequence[str],
) -> tuple[str, bytes]:
    """Execute a run on a worker: write its input files and return its result."""
    from distributed import get_worker

    here_is = get_worker()
    worker = here_is.address
    if differs := _differs(own, build()):
        raise OtherBuild(worker, differs)
    with tempfile.TemporaryDirectory(prefix="wordline-") as scratch:
        names = {}
        for path, files in sent.items():
            whole = hashlib.sha256("".join(f.sha256 for f in files).encode()).hexdigest()
            folder = Path(tempfile.gettempdir()) / f"wordline-inputs-{os.getuid()}" / whole[:32]
            for file in files:
                here_at, content = folder / file.name, contents[file.sha256]
                if not here_at.exists() or here_at.stat().st_size != len(content):
                    here_at.parent.mkdir(parents=True, exist_ok=True)
                    write_whole(here_at, content)
            is_class = files[0].name.endswith(".py")
            is_file = is_class or (len(files) == 1 and files[0].name == Path(path).name)
            names[path] = str(folder / files[0].name if is_file else folder)
        head = max((n for n in names if run.workload.startswith(n)), key=len, default="")
        here = replace(
            run,
            device=names.get(run.device, run.device),
            traces=names.get(run.traces or "", run.traces),
            from_state=names.get(run.from_state or "", run.from_state),
            workload=names.get(head, head) + run.workload[len(head) :],
            scheme=spelling.with_files(run.scheme, names),
        )
        before = None
        if state is not None:
            before = f"{scratch}/before.state"
            Path(before).write_bytes(contents[state.sha256])
        after = f"{scratch}/after.state" if keep else None
        try:
            report = work(here, leave_out, before, after, _while_it_serves(here_is))
        except _Leaves:
            from distributed import Reschedule

            raise Reschedule from None
        except Exception as e:
            raise _named_back(sendable(e), names, worker) from None
        told = _back(report, {json.dumps(p)[1:-1]: json.dumps(n)[1:-1] for p, n in names.items()})
        return told, Path(after).read_bytes() if after else b""


class _Leaves(Exception):
    """The worker is about to end."""


def _while_it_serves(worker: Any) -> Callable[..., None]:
    """Return a callable that aborts a run when its worker is asked to stop."""
    from distributed.core import Status

    def progress(*_: object) -> None:
        serves = worker.status in (Status.running, Status.paused)
        if not serves or worker.loop.asyncio_loop.is_closed() or not main_thread().is_alive():
            raise _Leaves

    return progress


def _named_back(error: Any, names: dict[str, str], worker: str) -> BaseException:
    """Return an error with the names that the driver gave its files, and its worker."""
    if isinstance(error, (UserError, Refused, Fault)):
        error.args = (_back(str(error), names), *error.args[1:])
    for key in ("on_command_line", "traceback_there"):
        if isinstance(text := getattr(error, key, None), str):
            setattr(error, key, _back(text, names))
    notes = [_back(note, names) for note in getattr(error, "__notes__", [])]
    error.__notes__ = [*notes, f"on the worker {worker}"]
    return error


def _back(text: str, names: dict[str, str]) -> str:
    """Return a text with the names that the driver gave its files."""
    for path, name in names.items():
        text = text.replace(name, path)
    return text
