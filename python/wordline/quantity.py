"""Quantities with a unit, as in a resolved configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wordline import UserError

BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


def in_bytes(text: str) -> int:
    """Read a size such as ``8KiB``."""
    return round(_read(text, BYTES))


def in_us(text: str) -> float:
    """Read a time such as ``5.5ms``, in microseconds."""
    return _read(text, _MICROSECONDS)


def _read(text: str, units: Mapping[str, float]) -> float:
    found = re.fullmatch(r"([\d.]+)\s*([A-Za-z]+)", text)
    if not found or found[2] not in units:
        raise UserError(f"{text}: expected a number with one of the units {', '.join(units)}")
    return float(found[1]) * units[found[2]]


def significant(value: float, digits: int = 4) -> str:
    """Return a number to some significant digits, its whole part always whole: ``23,347``."""
    is_whole = abs(value) >= 10 ** (digits - 1) - 0.05
    return f"{value:,.0f}" if is_whole else f"{value:.{digits}g}"


def gigabytes(count: float) -> str:
    """Return a number of bytes as ``11,200 GB``, of 10^9 bytes."""
    return f"{significant(count / 1e9)} GB"


def duration(seconds: float) -> str:
    """Say how long something takes: ``0.4 s``, ``45 s``, ``12.3 min``, ``2.1 h``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
