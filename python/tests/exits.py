"""Ends the process of a session of tests soon after its last test, and says what would hold it."""

import atexit
import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable

import pytest

#: Seconds that are enough for all threads, clients and browsers of a session to end.
_PATIENCE = 60.0

#: What is called as the interpreter ends: registered first, called last.
_ends: list[Callable[[], None]] = []
atexit.register(lambda: [end() for end in _ends])


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """End the process with the status of the session, once its threads and clients have ended.

    If they do not, what each thread does is printed, and the process ends all the same. The
    libraries of a dozen authors that are loaded by then need not take themselves down. A worker of
    several is ended by the process that began it.
    """
    if hasattr(session.config, "workerinput"):
        return

    def end() -> None:
        session.config.get_terminal_writer().flush()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(exitstatus))

    def wait() -> None:
        time.sleep(_PATIENCE)
        print(f"\nthe session ended {_PATIENCE:.0f} s ago, its process did not:", file=sys.stderr)
        faulthandler.dump_traceback(file=sys.__stderr__, all_threads=True)
        end()

    threading.Thread(target=wait, name="patience", daemon=True).start()
    _ends.append(end)
