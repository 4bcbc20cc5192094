"""A table of drives with an SLC cache, and smaller simulations of them, for several tests."""

from __future__ import annotations

import pytest

from wordline.real import fit, measurements, steady_rows

HEAD = "model,capacity_GB,nand,interface,slc_cache_GB,speed_in_cache_MBps,speed_after_cache_MBps"


def table(text: str) -> dict[str, measurements.Drive]:
    return steady_rows.drives([measurements.Table("cliffs.csv", text)])


@pytest.fixture
def small_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a smaller part of a drive than a user does, for the time of a test."""
    monkeypatch.setattr(fit, "SIZE", 4e9)
    monkeypatch.setattr(fit, "CACHE", 0.8e9)
