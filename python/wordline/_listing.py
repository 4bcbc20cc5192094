"""Lists of devices, schemes and workloads, and the contents of traces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from wordline import _wordline
from wordline._figures import Figures
from wordline._wordline import UserError

if TYPE_CHECKING:
    from wordline.scheme import Scheme


class Entry(NamedTuple):
    """A name with a one-line description."""

    name: str
    description: str


def inspect(trace: str | os.PathLike[str]) -> Figures:
    """Inspect a trace: its format and contents.

    Parameters
    ----------
    trace
        Its path, perhaps with options as for `run`.

    Returns
    -------
    Figures
        ``format``, ``requests``, ``footprint_gib``, ``unusable`` and so on, with units in their
        names.

    Raises
    ------
    UserError
        The trace cannot be read or recognized.
    """
    return Figures(json.loads(_wordline.inspect(os.fspath(trace))))


def explain(name: str | type[Scheme]) -> str:
    """Explain a name, as ``wordline explain`` does.

    Parameters
    ----------
    name
        A device, scheme, workload, trace format, key of a device file, command, option, figure or
        term, such as ``"waf.total"`` or ``"over-provisioning"``; or a class of a file.

    Raises
    ------
    UserError
        Unknown name; the message lists similar ones.
    """
    if not isinstance(name, str):
        name = _spelled(name)
    if not name.strip():
        raise UserError('explain(""): the name is empty')
    command = [sys.executable, "-m", "wordline", "explain", "--", *name.split()]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise UserError(done.stderr.strip().removeprefix("error: "))
    return done.stdout.rstrip()


def _spelled(given: object) -> str:
    """Return how the command names a class, or raise why it cannot."""
    from wordline import spelling
    from wordline.scheme import Scheme

    if not (isinstance(given, type) and issubclass(given, Scheme)):
        raise UserError(f"explain({given!r}): pass a name as text, or a class of Scheme")
    typed = spelling.typed(given)
    if typed.startswith("py:#"):
        raise UserError(
            f"explain({given.__name__}): no other process finds this class; define it at the top "
            f"level of a file, or see help({given.__name__})"
        )
    return typed


def devices() -> list[Entry]:
    """Devices that come with Wordline."""
    return [Entry(*e) for e in _wordline.devices()]


def schemes() -> list[Entry]:
    """Schemes that `run` knows."""
    return [Entry(*e) for e in _wordline.schemes()]


def workloads() -> list[Entry]:
    """Built-in workloads."""
    return [Entry(*e) for e in _wordline.workloads()]


def formats() -> list[Entry]:
    """Trace formats that are recognized by their content."""
    return [Entry(*e) for e in _wordline.formats()]
