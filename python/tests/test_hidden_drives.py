"""Drives of hidden values come back from a probe and a fit."""

from __future__ import annotations

from pathlib import Path

import pytest

import recovery
from wordline.real import fit, steady_fit


@pytest.mark.usefixtures("small_caches")
@pytest.mark.parametrize("seed", range(len(recovery.RATED)))
def test_hidden_times_of_a_controller_come_back(seed: int) -> None:
    for key, (hidden, found) in recovery.recovered_controller(seed).items():
        assert found == pytest.approx(hidden, rel=0.05), key


def test_a_hidden_drive_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "SHARE", 0.004)
    monkeypatch.setattr(steady_fit, "SIZES", ())
    for key, (hidden, found) in recovery.recovered(1, tmp_path).items():
        assert found == pytest.approx(hidden, rel=recovery.BARS.get(key, 0.05)), key


def test_a_hidden_l2p_cache_without_slc_cache_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "SHARE", 0.006)
    for hidden, found in recovery.recovered_table(2, tmp_path).values():
        assert found == pytest.approx(hidden, rel=0.05)


def test_a_hidden_cache_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "CACHED_SHARE", 0.006)
    # The fit simulates 3.7 GB of 6.
    monkeypatch.setattr(fit, "SIZE", 2e9)
    monkeypatch.setattr(fit, "CACHE", 0.4e9)
    for key, (hidden, found) in recovery.recovered_cache(1, tmp_path).items():
        assert found == pytest.approx(hidden, rel=0.05), key
