"""Lists of devices, schemes and workloads, and the contents of traces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import NamedTuple

from wordline import _wordline
from wordline._figures import Figures
from wordline._wordline import UserError


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


def explain(name: str) -> str:
    """Explain a name, as ``wordline explain`` does.

    Parameters
    ----------
    name
        A device, scheme, workload, trace format, key of a device file, command, option, figure or
        term, such as ``"waf.total"`` or ``"over-provisioning"``.

    Raises
    ------
    UserError
        Unknown name; the message lists similar ones.
    """
    if not name.strip():
        raise UserError('explain(""): the name is empty')
    command = [sys.executable, "-m", "wordline", "explain", "--", *name.split()]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise UserError(done.stderr.strip().removeprefix("error: "))
    return done.stdout.rstrip()


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
