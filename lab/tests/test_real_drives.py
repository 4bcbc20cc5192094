"""The tables of docs/real-drives.md: built-in drives held to measurements of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from wordline.real import fit, steady_model
from wordline_lab import real_drives as judged

DEVICES = Path(__file__).parents[2] / "devices"
PAGE = DEVICES.parent / "docs" / "real-drives.md"
SIZES = fit.SIZE, fit.CACHE


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a smaller part of a drive than a user does, for the time of a test."""
    monkeypatch.setattr(fit, "SIZE", 4e9)
    monkeypatch.setattr(fit, "CACHE", 0.8e9)
    monkeypatch.setattr(steady_model, "WRITES", 2.2)


def test_a_named_drive_has_the_cliff_of_its_review() -> None:
    (found,) = judged.cliffs(["kingston-a2000-1tb"])
    for cell in found[1:4]:
        error = float(cell.partition("(")[2].partition(" %")[0])
        assert abs(error) < 5, found


def test_page_has_the_caches_of_drives_with_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "SIZE", SIZES[0])
    monkeypatch.setattr(fit, "CACHE", SIZES[1])
    page = PAGE.read_text(encoding="utf-8").replace("*", "")
    for cells in judged.states(files=judged.folder(DEVICES)):
        assert f"| {' | '.join(cells)} |" in page


def test_page_has_the_random_iops_of_rated_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "SIZE", SIZES[0])
    monkeypatch.setattr(fit, "CACHE", SIZES[1])
    table, known = judged._table("cliffs.csv", judged.folder(DEVICES))
    lines, far = PAGE.read_text(encoding="utf-8").splitlines(), []
    for row in table.rows:
        cells = judged.random(known[row["model"]], (DEVICES / f"{row['device']}.toml").read_text())
        (line,) = (line for line in lines if line.startswith(f"| {row['device']} | *"))
        assert line.endswith(f" | {' | '.join(cells)} |")
        errors = [float(c.partition("(")[2].partition(" %")[0]) for c in cells if c]
        far += [row["device"] for error in errors if abs(error) > 5]
    # Its review wrote less with one thread than its maker rates.
    assert far == ["crucial-t500-2tb"]


def test_judged_table_has_rows_of_drive() -> None:
    files = judged.folder(DEVICES)
    (drive,) = judged.steady(["mp0"], files)
    assert [d.name for d in judged.steady([drive.device], files)] == ["mp0"]
    # Part and whole of the drive; the first is judged and the second fitted.
    part, whole = drive.writes()[:2]
    assert part[:2] == ["micron-7450-max-800gb", "OP02, mp0, 50 % used"]
    assert whole[5].startswith("*653.5 → ")
    assert not part[5].startswith("*")
    for cells in (part, whole):
        for at in (3, 5, 6):
            error = float(cells[at].partition("(")[2].partition(" %")[0])
            assert abs(error) < 5, cells


def test_a_drive_that_no_table_has_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert judged.main(["--devices", str(DEVICES), "--drive", "sony"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: unknown drive sony\n  allowed: a name in the column device")
