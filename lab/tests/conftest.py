"""The fixtures of all tests: those of the package's."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "tests"))

from exits import pytest_sessionfinish
from helpers import advice_is_known, binary, interpreter, script, small, trace, wordline

__all__ = [
    "advice_is_known",
    "binary",
    "interpreter",
    "pytest_sessionfinish",
    "script",
    "small",
    "trace",
    "wordline",
]
