"""The fixtures of all tests."""

from cliff_tables import small_caches
from exits import pytest_sessionfinish
from helpers import advice_is_known, binary, interpreter, script, small, trace, wordline

__all__ = [
    "advice_is_known",
    "binary",
    "interpreter",
    "pytest_sessionfinish",
    "script",
    "small",
    "small_caches",
    "trace",
    "wordline",
]
