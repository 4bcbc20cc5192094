"""The fixtures of all tests."""

from exits import pytest_sessionfinish
from helpers import advice_is_known, binary, small, trace, wordline

__all__ = ["advice_is_known", "binary", "pytest_sessionfinish", "small", "trace", "wordline"]
