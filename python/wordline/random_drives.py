"""Schemes in Python on random drives, with every check of the engine."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from warnings import warn

from wordline import _wordline
from wordline._wordline import Fault, UserError
from wordline.routes import interpreted
from wordline.scheme import HOOKS, Scheme


class Checked(NamedTuple):
    """Result of `check`.

    Drives that passed, the first seed, unsuitable drives that were skipped, power cuts on further
    drives, and explored states of a small drive.
    """

    cases: int
    seed: int
    refused: int
    power_cuts: int
    states: int


#: Seconds between two lines that say how far a check is.
_EVERY = 10.0


@contextmanager
def _told(
    progress: Callable[[str, int, int], object] | bool,
) -> Iterator[Callable[[str, int, int], object]]:
    """Return the progress callback; ``True`` prints progress every ten seconds."""
    if not isinstance(progress, bool):
        yield progress
        return
    at: tuple[str, int, int] = ("", 0, 0)
    ended, begin = threading.Event(), time.monotonic()

    def see(*now: Any) -> None:
        nonlocal at
        at = now

    def say() -> None:
        while not ended.wait(_EVERY):
            what, done, total = at
            far = f"{done} of {total} {what}" if done else f"{total} {what}"
            seconds = time.monotonic() - begin
            print(f"wordline.check: {far}, {seconds:.0f} s", file=sys.stderr, flush=True)

    if progress:
        threading.Thread(target=say, daemon=True).start()
    try:
        yield see
    finally:
        ended.set()


#: How the engine says that a run came to something else when it was repeated.
_DIFFERS = "the result hash is "
_DETERMINISTIC = (
    "draw numbers from a generator that seed(seed) makes, such as random.Random(seed); decide by "
    "no clock, no id() or hash(), no order of a set, and nothing that a class keeps of other runs"
)


def check(
    scheme: type[Scheme] | Scheme,
    *,
    cases: int = 200,
    power_cuts: int = 50,
    states: int = 20_000,
    seed: int = 1,
    progress: Callable[[str, int, int], object] | bool = True,
) -> Checked:
    """Run a scheme on random drives under random workloads, with every check of the engine.

    Each case has its own small drive of a few hundred pages, options, initial state, and up to some
    hundred requests: partial pages, trims, flushes, full drives, idle time. Every read is compared
    with a plain array and every program and erase with a ledger of the flash; all counters are
    recounted at the end.

    Further drives have power cuts: programs and erases are torn, unprotected data are lost, and the
    drive recovers from flash. Acknowledged or flushed data must survive, no torn page may be read,
    and the map must equal the committed one. The scheme starts afresh each time.

    Finally, the smallest drive that the scheme supports is explored without a clock: every possible
    next event from every reached state, breadth first. No read may return old data, and neither
    deadlock nor livelock may occur.

    Parameters
    ----------
    scheme
        The class, with the defaults of its parameters, or an instance with others.
    cases
        Number of drives.
    power_cuts
        Number of drives with power cuts, several each.
    states
        Number of states of the smallest drive to explore, including the state of the scheme.
    seed
        Seed of the first drive of each kind; the others are consecutive.
    progress
        Callable that receives the kind of check, the number done and the total before each drive;
        an exception that it raises ends the check. ``True`` prints progress on standard error every
        ten seconds, ``False`` prints nothing.

    Raises
    ------
    Fault
        A wrong read, a broken rule, lost data, or no progress; with the seed that replays it, or
        the events that lead to it. If a write found no space, the message has the ignored scheme
        actions by reason. An exception of the scheme is passed on with the seed as a note.
    UserError
        The scheme supports none of the random drives.

    Warns
    -----
    UserWarning
        A hook of the class was never called.
    """
    cls = scheme if isinstance(scheme, type) else type(scheme)
    counts = {"cases": cases, "power_cuts": power_cuts, "states": states}
    if min(counts.values()) < 0 or not any(counts.values()) or not 0 <= seed < 2**64:
        told = ", ".join(f"{name}={count}" for name, count in {**counts, "seed": seed}.items())
        raise UserError(
            f"{told}: at least one of the first three must be above 0, and the seed below 2**64"
        )
    with interpreted(), _told(progress) as see:
        try:
            *found, asked = _wordline.check(scheme, seed, cases, power_cuts, states, see)
        except Fault as e:
            if not str(e).startswith(_DIFFERS):
                raise
            raise Fault(
                f"{cls.__name__} is not deterministic: runs of the same requests with the same "
                f"seed differ\n  hint: {_DETERMINISTIC}\n  {e}"
            ) from e
    # Of a class that decides beforehand `place` need not be asked, and a trim comes without a view.
    for hook in (h for h in HOOKS if h != "on_trim" and hasattr(cls, h) and h not in asked):
        warn(
            f"{cls.__name__}.{hook} was never called on these small drives and is not checked; "
            "also check the class with settings under which it is called",
            stacklevel=2,
        )
    return Checked(cases, seed, *found)
