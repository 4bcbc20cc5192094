"""Warnings of values of a device that no real part has."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from wordline import _wordline

#: The device of a run, and the settings of the run.
Asked = tuple[str, tuple[tuple[str, str], ...]]


class Implausible(UserWarning):
    """A value of a device that no real part has: possible, but most often a mistake."""


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def quiet() -> Iterator[None]:
    """Do not warn: the values were warned of, or are none of the user's."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def warn_of(asked: Iterable[Asked]) -> None:
    """Warn of each implausible value of the devices of runs, at the caller of the package.

    An invalid device is left to the runs, which refuse it.
    """
    if _quiet.get():
        return
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith(
        "wordline."
    ):
        frame, level = frame.f_back, level + 1
    lines: dict[str, None] = {}
    for device, changes in dict.fromkeys(asked):
        with suppress(_wordline.UserError):
            lines |= dict.fromkeys(_wordline.implausible(device, changes))
    for line in lines:
        warnings.warn(line, Implausible, stacklevel=level)
