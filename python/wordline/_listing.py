"""Lists of devices, schemes and workloads, and the contents of traces."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from wordline import _wordline
from wordline._figures import Figures


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
    """Trace formats that are recognised by their content."""
    return [Entry(*e) for e in _wordline.formats()]
