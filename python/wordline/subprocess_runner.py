"""Runs in processes of their own, so that schemes in Python go side by side."""

from __future__ import annotations

import base64
import concurrent.futures
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from wordline import _wordline, spelling
from wordline._wordline import Fault, Refused, UserError
from wordline.scheme import Scheme

#: How a process is begun. It imports nothing of the caller's script.
_PROGRAM = [sys.executable, "-m", __name__]
#: How often a process says that it is there, in seconds: then the caller may end it, and it finds
#: out that the caller is gone.
_BEAT = 0.2


def importable(classes: Sequence[type[Scheme]]) -> bool:
    """Return whether another process can import classes: each is in a file of its own.

    The caller's script would start again there.
    """
    if spelling.loading() is not None:
        return False
    return all(
        cls.__module__ != "__main__" and not spelling.typed(cls).startswith(f"{spelling.PREFIX}#")
        for cls in classes
    )


class Process:
    """A run of one seed, or a life, in a process of its own.

    It is what the native half takes of it, with ``life`` of a life, with ``report`` of a run that
    is done again; its scheme as the native half spells it, and classes with those of the scheme.
    """

    def __init__(
        self, asked: Mapping[str, Any], scheme: str, classes: Sequence[type[Scheme]]
    ) -> None:
        """Begin it, apart from signals of the terminal: the caller ends it."""
        self._last: tuple[float, ...] = (0.0, 0.0)
        self._process = subprocess.Popen(
            _PROGRAM,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        pickle.dump((dict(asked), spelling.of_classes(scheme, classes)), self._process.stdin)
        self._process.stdin.flush()

    def hear(self) -> tuple[float, ...] | str | BaseException:
        """Wait for what it says next.

        That is how many requests are completed at which simulated time in seconds, or of a life how
        many passes have ended, the drive writes in them, and the share of it that is used up; or in
        the end what it comes to as JSON, or what was raised.
        """
        assert self._process.stdout is not None
        word, _, rest = self._process.stdout.readline().decode().strip().partition(" ")
        if word == "is":
            found: str | BaseException = pickle.loads(base64.b64decode(rest))
            return found
        if word == "at":
            self._last = tuple(map(float, rest.split()))
        elif word != "beat":
            code = self._process.wait()
            return Fault(f"the process of a run ended with {code} without a message")
        return self._last

    def stop(self) -> None:
        """Ask a life to stop where it is, and to return the results so far."""
        assert self._process.stdin is not None
        if not self._process.stdin.closed:
            with suppress(BrokenPipeError):
                self._process.stdin.close()

    def end(self) -> None:
        """End it, whether it is done or not."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self.stop()


#: What `show` has printed.
shown: list[BaseException] = []


def show(error: BaseException) -> None:
    """Print an exception of a scheme with its traceback, be it from here or from a process."""
    if isinstance(error, KeyboardInterrupt):
        return  # A signal has interrupted the scheme, as the command line says.
    shown.append(error)
    told = getattr(error, "traceback_there", None) or traceback_of(error)
    if "\n  File " not in told:  # the error line has said the rest
        told = "\n".join(getattr(error, "__notes__", []))
    if told:
        print(told, file=sys.stderr)


def environment() -> dict[str, str]:
    """Return the environment in which a process finds what this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}


def _main() -> None:
    """Do the run that standard input has, and say on standard output what it comes to."""
    asked, scheme = pickle.load(sys.stdin.buffer)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a scheme prints is not ours
    lock, done, stopped = threading.Lock(), threading.Event(), threading.Event()

    def say(*words: object) -> None:
        try:
            with lock:
                print(*words, file=out, flush=True)
        except BrokenPipeError:
            os._exit(1)  # nobody listens any more

    def beat() -> None:
        while not done.wait(_BEAT):
            say("beat")

    def listen() -> None:
        os.read(0, 1)  # nothing comes any more, but that the other end is closed
        stopped.set()

    def life_at(*far: float) -> bool:
        say("at", *far)
        return stopped.is_set()

    for talks in (beat, listen):
        threading.Thread(target=talks, daemon=True).start()
    found: str | BaseException
    try:
        native, classes = spelling.resolved(scheme)
        life = asked.pop("life", None)
        wanted = {**asked, "classes": classes}

        def run_at(_: int, *far: float) -> None:
            say("at", *far)

        if "report" in asked:
            found = _wordline.rerun(asked["report"], asked["workload"], 1, run_at, classes)
        elif life is not None:
            found = _wordline.one_life(wanted, native, life, life_at)
        else:
            [found], _ = _wordline.compare(wanted, [native], (1, True), run_at)
    except BaseException as e:
        found = sendable(e)
    done.set()
    say("is", base64.b64encode(pickle.dumps(found)).decode())


def traceback_of(error: BaseException) -> str:
    """Return the traceback of an error from where it left this package, as Python prints it."""
    own = (os.path.dirname(__file__), os.path.dirname(concurrent.futures.__file__))
    left = error.__traceback__
    while left and left.tb_frame.f_code.co_filename.startswith(own):
        left = left.tb_next
    if left is None and not isinstance(error, (UserError, Refused, Fault)):
        left = error.__traceback__  # it is ours
    return "".join(traceback.format_exception(type(error), error, left)).rstrip()


def sendable(error: BaseException) -> BaseException:
    """Return an error as it can be sent, with its traceback as a note."""
    told: Any = error
    if type(error).__module__ not in ("builtins", "wordline"):
        told = Fault(f"{type(error).__name__}: {error}")  # the caller need not know its class
    of_scheme = getattr(error, "ended_by", None)
    if of_scheme is not None or not isinstance(error, (UserError, Refused)):
        there = traceback_of(error)
        told.traceback_there, told.ended_by = there, of_scheme
        if name := getattr(error, "of_scheme", None):
            told.of_scheme = name
        if hasattr(told, "add_note") and "\n  File " in there:
            told.add_note(there)
    return told


if __name__ == "__main__":
    _main()
