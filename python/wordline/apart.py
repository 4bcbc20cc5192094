"""Runs in processes of their own, so that schemes in Python go side by side."""

from __future__ import annotations

import base64
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from pathlib import Path
from typing import Any

from wordline import spelling
from wordline._run import Progress, Run
from wordline._wordline import Fault, Refused, UserError

#: How a process is begun. It imports nothing of the caller's script.
_PROGRAM = [sys.executable, "-m", __name__]


def goes_apart(runs: Sequence[Run], at_once: int) -> bool:
    """Return whether runs are worth processes of their own, and can have them.

    They are of schemes in Python, of which only one goes at a time in a process. Each class must
    be in a file of its own: the caller's script would begin once more in each process.
    """
    if len(runs) < 2 or at_once < 2:
        return False
    spellings = dict.fromkeys(run.scheme for run in runs)
    classes = [cls for text in spellings for cls in spelling.resolved(text)[1]]
    files = [
        part.partition("#")[0] for text in spellings for part in text.split(spelling.PREFIX)[1:]
    ]
    importable = all(
        c.__module__ != "__main__" and "<locals>" not in c.__qualname__ for c in classes
    )
    return bool(classes) and importable and all(Path(file).is_file() for file in files)


def reports(runs: Sequence[Run], at_once: int, progress: Progress | None) -> list[str]:
    """Do runs, each in a process of its own.

    Parameters
    ----------
    runs
        Of which each comes after none.
    at_once
        Processes at once.
    progress
        As of a run; what it raises ends all.

    Returns
    -------
    list of str
        The reports as JSON, in the order of the runs.

    Raises
    ------
    UserError, Refused, Fault
        As of a run. What a scheme raises comes as it is, with its traceback as a note.
    """
    lock = threading.Lock()
    going: set[subprocess.Popen[bytes]] = set()
    stopped = False

    def tell(number: int, completed: int, now: float) -> None:
        if progress is not None:
            with lock:
                progress(number, completed, now)

    def one(number: int) -> str:
        with lock:
            if stopped:
                return ""
            process = subprocess.Popen(
                _PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment()
            )
            going.add(process)
        try:
            return _result(process, runs[number], lambda *how: tell(number, *how))
        finally:
            process.kill()
            process.wait()
            going.discard(process)

    with ThreadPoolExecutor(min(at_once, len(runs))) as pool:
        futures = [pool.submit(one, number) for number in range(len(runs))]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            with lock:
                stopped = True
                for process in going:
                    process.kill()
            wait(futures)
            raise
    return [future.result() for future in futures]


def _environment() -> dict[str, str]:
    """Return the environment in which a process finds what this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}


def _result(
    process: subprocess.Popen[bytes], run: Run, tell: Callable[[int, float], object]
) -> str:
    """Give a process its run, and take what it says."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(pickle.dumps(run))
    process.stdin.close()
    for line in process.stdout:
        word, _, rest = line.decode().strip().partition(" ")
        if word == "at":
            completed, now = rest.split()
            tell(int(completed), float(now))
            continue
        found = pickle.loads(base64.b64decode(rest))
        if isinstance(found, BaseException):
            raise found
        return str(found)
    code = process.wait()
    raise Fault(
        f"the process of a run ended with {code} and said nothing: {run.scheme}, {run.seed}"
    )


def _main() -> None:
    """Do the run that standard input has, and say on standard output what it comes to."""
    run: Run = pickle.load(sys.stdin.buffer)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a scheme prints is not ours

    def at(_: int, completed: int, now: float) -> None:
        print("at", completed, now, file=out, flush=True)

    found: Any
    try:
        found = run.kept(None, at)
    except BaseException as e:
        found = _told(e)
    print("is", base64.b64encode(pickle.dumps(found)).decode(), file=out, flush=True)


def _told(error: BaseException) -> BaseException:
    """Return an error as it can be sent, with its traceback as a note."""
    told = error
    if type(error).__module__ not in ("builtins", "wordline"):
        told = Fault(f"{type(error).__name__}: {error}")  # the caller need not know its class
    if hasattr(told, "add_note") and not isinstance(error, (UserError, Refused)):
        told.add_note("".join(traceback.format_exception(error)).rstrip())
    return told


if __name__ == "__main__":
    _main()
