"""Runs on an existing Dask cluster, of which no worker sees a folder of the driver.

What a run reads travels to each worker once, by the hash of its content; reports, and states of
drives, come back by value. A worker with another build of the engine is refused by its name, since
its reports would be kept under the key of this one.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wordline import Fault, Refused, Run, UserError
from wordline.commands import need
from wordline.runs import engine, write_whole

#: How an address begins that is a cluster's.
SCHEME = "dask://"
#: Seconds until a scheduler must have answered.
_TIMEOUT = 10
#: How often a run may come down with its worker before it is given up.
_RETRIES = 3

#: Does a run: as `wordline.runs` has it.
Work = Callable[..., str]


def at(on: str | None, jobs: int | None = None) -> tuple[int | None, Executor | None]:
    """Return how many runs go at once on this machine, or the cluster on which they go.

    Parameters
    ----------
    on
        A number, or ``dask://HOST:PORT`` of a scheduler.
    jobs
        The number where nothing else is said.

    Raises
    ------
    UserError
        It is neither, or nobody answers there.
    """
    if on is None:
        return jobs, None
    if on.startswith(SCHEME):
        return None, Cluster.connect(on)
    if on.isascii() and on.isdigit() and int(on) > 0:
        return int(on), None
    raise UserError(
        f"--on {on}: give the number of runs that go at once on this machine, or {SCHEME}HOST:PORT "
        "of a dask scheduler"
    )


@dataclass(frozen=True)
class _Sent:
    """A file on its way: its name, and the hash of its content."""

    name: str
    sha256: str


@dataclass
class Cluster(Executor):
    """The workers of a Dask scheduler, in the shape of an executor that only does runs."""

    address: str
    client: Any
    _sent: dict[tuple[str, int, int], _Sent] = field(default_factory=dict)
    #: What the cluster has of contents, by their hashes.
    _contents: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def connect(on: str) -> Cluster:
        """Reach a scheduler, and see that its workers have this build of the engine.

        Raises
        ------
        UserError
            Dask is not installed, nobody answers, there is no worker, or one has another build.
        """
        need("cluster", ("distributed",))
        from distributed import Client

        address = "tcp://" + on.removeprefix(SCHEME)
        try:
            client = Client(  # type: ignore[no-untyped-call]
                address, timeout=_TIMEOUT, set_as_default=False
            )
        except (OSError, ValueError) as e:
            raise UserError(
                f"--on {on}: no dask scheduler answers there within {_TIMEOUT} s; dask scheduler "
                "starts one, and dask worker HOST:PORT a worker of it"
            ) from e
        found = Cluster(on, client)
        found._check()
        return found

    def _check(self) -> None:
        """Refuse workers that cannot do a run of this build."""
        begin = time.monotonic()
        while not (workers := self.client.run(_engine_of)):
            if time.monotonic() - begin > _TIMEOUT:
                raise UserError(f"--on {self.address}: the scheduler has no worker")
            time.sleep(0.1)
        for worker, found in workers.items():
            if found != engine():
                raise UserError(_other_build(worker, found))

    def submit(  # type: ignore[override]
        self, fn: Work, /, run: Run, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        """Send a run with what it reads; its report comes back, its state is put in its place.

        Parameters
        ----------
        fn
            `wordline.runs.do`, or what takes and returns the same.
        run, *args
            What it takes: parts to leave out, and the files of the states before and after.
        """
        leave_out, before, after = args
        paths = _inputs(run)
        sent = {str(path): [self._send(f) for f in files] for path, files in paths.items()}
        state = self._send(Path(before)) if before is not None else None
        needed = [file for files in sent.values() for file in files] + ([state] if state else [])
        contents = {file.sha256: self._contents[file.sha256] for file in needed}
        going = self.client.submit(
            _remote, fn, engine(), sent, state, contents, after is not None, run, leave_out,
            pure=False, retries=_RETRIES,
        )  # fmt: skip
        outer: Future[str] = Future()
        outer.set_running_or_notify_cancel()

        def ended(done: Any) -> None:
            try:
                report, bytes_of_state = done.result()
                if after is not None:
                    write_whole(Path(after), bytes_of_state)
            except BaseException as e:
                outer.set_exception(_told(e))
            else:
                outer.set_result(report)

        going.add_done_callback(ended)
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let go of the scheduler; what is under way there is dropped."""
        self.client.close()

    def _send(self, path: Path) -> _Sent:
        stat = path.stat()
        key = (str(path), stat.st_size, stat.st_mtime_ns)
        if key not in self._sent:
            content = path.read_bytes()
            sha256 = hashlib.sha256(content).hexdigest()
            if sha256 not in self._contents:
                # A task, which the scheduler does again if the worker that has it is lost.
                name = f"wordline-input-{sha256}"
                self._contents[sha256] = self.client.submit(bytes, content, key=name)
            self._sent[key] = _Sent(path.name, sha256)
        return self._sent[key]


def _told(error: BaseException) -> BaseException:
    """Return what became of a run, with a cluster's loss of workers as a fault of the run."""
    if isinstance(error, (UserError, Refused, Fault, KeyboardInterrupt)):
        return error
    return Fault(f"a run on the cluster did not end: {type(error).__name__}: {error}")


def _inputs(run: Run) -> dict[str, list[Path]]:
    """Return the files that a run reads, by the path that it names."""
    found: dict[str, list[Path]] = {}
    parts = run.workload.split(":")
    heads = (":".join(parts[:n]) for n in range(len(parts), 0, -1))
    named = [
        run.device,
        next((h for h in heads if Path(h).exists()), ""),
        run.traces,
        run.from_state,
    ]
    for name in named:
        if not name:
            continue
        path = Path(name)
        if path.is_file():
            found[name] = [path]
        elif path.is_dir():
            found[name] = sorted(p for p in path.rglob("*") if p.is_file())
    return found


def _engine_of() -> str:
    return engine()


def _other_build(worker: str, found: str) -> str:
    return (
        f"worker {worker} has another build of Wordline ({found[:12]}) than this machine "
        f"({engine()[:12]}); install the same package on both"
    )


def _remote(
    work: Work,
    build: str,
    sent: dict[str, list[_Sent]],
    state: _Sent | None,
    contents: dict[str, bytes],
    keep: bool,
    run: Run,
    leave_out: Sequence[str],
) -> tuple[str, bytes]:
    """Do a run on a worker: put what it reads beside it, and give back what came out."""
    if engine() != build:
        from distributed import get_worker

        # No property of the run, which is not refused: nothing goes on with such a worker.
        raise Fault(_other_build(get_worker().address, engine()))
    with tempfile.TemporaryDirectory(prefix="wordline-") as scratch:
        names = {}
        for path, files in sent.items():
            whole = hashlib.sha256("".join(f.sha256 for f in files).encode()).hexdigest()
            folder = Path(tempfile.gettempdir()) / f"wordline-inputs-{os.getuid()}" / whole[:32]
            for file in files:
                _put(folder / file.name, contents[file.sha256])
            is_file = len(files) == 1 and files[0].name == Path(path).name
            names[path] = str(folder / files[0].name if is_file else folder)
        here = replace(
            run,
            device=names.get(run.device, run.device),
            traces=names.get(run.traces or "", run.traces),
            from_state=names.get(run.from_state or "", run.from_state),
            workload=_renamed(run.workload, names),
        )
        before = None
        if state is not None:
            before = f"{scratch}/before.state"
            Path(before).write_bytes(contents[state.sha256])
        after = f"{scratch}/after.state" if keep else None
        try:
            report = work(here, leave_out, before, after)
        except (UserError, Refused, Fault) as e:
            raise type(e)(_back(str(e), names)) from None
        told = _back(report, {json.dumps(p)[1:-1]: json.dumps(n)[1:-1] for p, n in names.items()})
        return told, Path(after).read_bytes() if after else b""


def _put(path: Path, content: bytes) -> None:
    """Write a file of a worker's store, whole or not at all."""
    if path.exists() and path.stat().st_size == len(content):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)


def _renamed(workload: str, names: dict[str, str]) -> str:
    head = max((n for n in names if workload.startswith(n)), key=len, default="")
    return names[head] + workload[len(head) :] if head else workload


def _back(text: str, names: dict[str, str]) -> str:
    """Return a text with the names that the driver gave its files."""
    for path, name in names.items():
        text = text.replace(name, path)
    return text
