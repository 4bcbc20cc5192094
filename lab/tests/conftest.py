"""The fixtures of all tests: those of the package's."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "tests"))

import pytest

import small_atlas
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


@pytest.fixture(scope="session")
def atlas_folder(tmp_path_factory):
    """Where the small atlas keeps its runs and its page."""
    return tmp_path_factory.mktemp("atlas")


@pytest.fixture(scope="session")
def atlas(atlas_folder):
    """The small atlas, run once for all tests of it."""
    return small_atlas.perform(atlas_folder)
