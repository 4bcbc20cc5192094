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
from wordline._wordline import UserError
from wordline.routes import interpreted
from wordline.scheme import HOOKS, Scheme

__all__ = ["Checked", "check"]


class Checked(NamedTuple):
    """What `check` came to.

    How many drives went well, the first seed, and how many drives were refused before those; how
    often the power was cut on others; and through how many states of a small drive the search went.
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
    """Give what is called with how far a check is; of ``True`` it says so now and then."""
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

    Each case is a drive of a few hundred pages with a shape, options and first state of its own,
    and up to some hundred requests: parts of pages, trims, flushes, full drives, idle time. Every
    read is compared with a plain array, every program and erase with a ledger of the flash by its
    rules, and all counts are taken again in the end.

    Then drives with power cuts now and then: programs, erases and requests are torn where they
    stand, what is not protected is lost, and the drive starts again from what the flash holds. What
    was acknowledged or flushed must be there, no torn page may be found, and the map must be the
    one that was committed. The scheme begins anew each time, as after a start of the firmware.

    At last the smallest drive that the scheme takes, without a clock: whatever may happen next
    does, each in turn, from every state that was come to, breadth first. No read may find old data,
    and nothing may stop or go round in a circle.

    Parameters
    ----------
    scheme
        The class, with the defaults of its parameters, or an instance with others.
    cases
        How many drives.
    power_cuts
        How many drives with power cuts, each some times.
    states
        Through how many states of the smallest drive to go; what a scheme learns is part of one.
    seed
        Of the first of either; the others follow.
    progress
        Called before each drive with what is checked now, how many have been, and how many will
        be; what it raises ends the check. ``True`` says so on standard error every ten seconds,
        ``False`` says nothing.

    Raises
    ------
    Fault
        A read was wrong, a rule was broken, data were lost, or the drive did not go on; with the
        seed that replays it, or with the events that lead there. Where a write found no place it
        has the scheme's moves and collections that came to nothing, by why. What the scheme raises
        itself comes as it is, with the seed as a note.
    UserError
        The scheme takes none of the drives that are drawn.

    Warns
    -----
    UserWarning
        A hook that the class has was never asked.
    """
    counts = {"cases": cases, "power_cuts": power_cuts, "states": states}
    if min(counts.values()) < 0 or not any(counts.values()) or not 0 <= seed < 2**64:
        told = ", ".join(f"{name}={count}" for name, count in {**counts, "seed": seed}.items())
        raise UserError(
            f"{told}: at least one of the first three must be above 0, and the seed below 2**64"
        )
    with interpreted(), _told(progress) as see:
        *found, asked = _wordline.check(scheme, seed, cases, power_cuts, states, see)
    cls = scheme if isinstance(scheme, type) else type(scheme)
    # Of a class that decides beforehand `place` need not be asked, and a trim comes without a view.
    for hook in (h for h in HOOKS if h != "on_trim" and hasattr(cls, h) and h not in asked):
        warn(
            f"{cls.__name__}.{hook} was never called on these small drives and is not checked; "
            "also check the class with settings under which it is called",
            stacklevel=2,
        )
    return Checked(cases, seed, *found)
