"""The fixtures of all tests."""

from helpers import advice_is_known, binary, small, trace, wordline

__all__ = ["advice_is_known", "binary", "small", "trace", "wordline"]
