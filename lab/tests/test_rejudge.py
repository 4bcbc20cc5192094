"""Pages judged again from their figures, and readings that join a page later."""

import json
import shutil
from pathlib import Path

import pytest

import wordline as wl
from wordline_lab.reproduce import page, paper, registration, rejudge

RESULTS = Path(__file__).parents[1] / "results"
READING = "split=traditional"


@pytest.fixture
def ips(tmp_path):
    return shutil.copytree(RESULTS / "ips", tmp_path / "ips")


def data(folder):
    return json.loads((folder / "claims.json").read_text())


def reading(ips, folder, figures, **more):
    """Write what a reading's own evaluation has of these rows; the others were not run."""
    folder.mkdir()
    found = data(ips)
    for row in found["claims"]:
        row["came_out"] = figures.get(row["id"])
        row["verdict"] = "holds" if row["id"] in figures else "not-run"
    command = f"wordline reproduce ips --reading {READING}"
    found |= {"reading": [READING], "readings_run": {READING: True}, "command": command, **more}
    (folder / "claims.json").write_text(json.dumps(found))
    return folder


def test_published_pages_say_what_their_figures_do(tmp_path):
    for name in paper.papers():
        folder = shutil.copytree(RESULTS / name, tmp_path / name)
        rejudge.rejudge(name, folder)
        for file in sorted(path.name for path in (RESULTS / name).iterdir() if path.is_file()):
            assert (folder / file).read_bytes() == (RESULTS / name / file).read_bytes(), file


def test_a_reading_joins_a_page(ips, tmp_path):
    found = data(ips)
    found["readings_run"].pop(READING, None)
    found["readings_run"]["split=both-parts"] = False
    row = next(r for r in found["claims"] if r["verdict"] == "holds" and r["kind"] == "result")
    same = next(r for r in found["claims"] if r["kind"] == "result" and r is not row)
    for one in found["claims"]:
        one["readings"].pop(READING, None)
    (ips / "claims.json").write_text(json.dumps(found))
    worse = (row["least"] if row["least"] is not None else row["most"]) - 1000
    other = reading(ips, tmp_path / "other", {row["id"]: worse, same["id"]: same["came_out"]})
    rejudge.rejudge("ips", ips, [other])
    after = {r["id"]: r for r in data(ips)["claims"]}
    assert after[row["id"]]["verdict"] == "depends"
    assert after[row["id"]]["readings"][READING] == {
        **{"came_out": worse, "met": False, "counted": True}
    }
    # The reading has the same figure: the row does not turn on it.
    assert READING not in after[same["id"]]["readings"]
    assert data(ips)["readings_run"][READING]
    text = (ips / "README.md").read_text()
    assert f"`{READING}`" in text.partition("## What depends on a reading")[2].partition("##")[0]
    assert f"not run; `--reading {READING}`" not in text
    assert f"\nwordline reproduce ips --reading {READING}\n" in text
    # What was added stays when it is judged once more, and when other rows of the reading join.
    before = text
    rejudge.rejudge("ips", ips, [reading(ips, tmp_path / "rest", {same["id"]: same["came_out"]})])
    assert (ips / "README.md").read_text() == before
    assert f"{row['id']} depends" in (ips / "sentences.csv").read_text()


def test_a_page_of_all_readings_is_one_command(ips, tmp_path):
    found = data(ips)
    choices = paper.read("ips").readings.choices()
    found["readings_run"] = {choice.label: choice.label != READING for choice in choices}
    found["command"] = (
        "wordline reproduce ips --causes --finished\nwordline reproduce ips --reading a"
    )
    (ips / "claims.json").write_text(json.dumps(found))
    rejudge.rejudge("ips", ips, [reading(ips, tmp_path / "other", {})])
    assert (data(ips)["command"], data(ips)["read_as"]) == (
        "wordline reproduce ips --causes",
        "all",
    )


def test_what_is_no_reading_of_the_page_is_refused(ips, tmp_path):
    for at, (change, said) in enumerate(
        [
            ({"paper": "raro"}, "not of a reading of ips"),
            ({"reading": []}, "not of a reading of ips"),
            ({"scale": 8}, "at full scale"),
            ({"version": "9.9"}, r"made by Wordline 9.9, the page by \d"),
            ({"reading": ["old-data=nowhere", READING]}, "is no reading of the page"),
        ]
    ):
        other = reading(ips, tmp_path / f"other-{at}", {}, **change)
        before = (ips / "claims.json").read_bytes()
        with pytest.raises(wl.UserError, match=said):
            rejudge.rejudge("ips", ips, [other])
        assert (ips / "claims.json").read_bytes() == before
    with pytest.raises(wl.UserError, match=r"nowhere/claims.json: No such file"):
        rejudge.rejudge("ips", ips, [tmp_path / "nowhere"])


def test_a_page_of_other_runs_is_not_judged_again(ips, tmp_path, monkeypatch):
    with pytest.raises(wl.UserError, match=r"a page of ips, not of raro"):
        rejudge.rejudge("raro", ips)
    whole = data(ips)
    for change, said in [
        ({"registered": "0" * 64}, "was never registered"),
        ({"only": ["burst/*"]}, "not of a whole evaluation"),
        ({"scale": 2}, "not of a whole evaluation"),
    ]:
        (ips / "claims.json").write_text(json.dumps({**whole, **change}))
        with pytest.raises(wl.UserError, match=f"{said}.*; make the page anew"):
            rejudge.rejudge("ips", ips)
    rows = [{**row, "with": {"another": 1}} for row in whole["claims"]]
    (ips / "claims.json").write_text(json.dumps({**whole, "claims": rows}))
    with pytest.raises(wl.UserError, match=r"claim .*: measures .* its runs must be made again"):
        rejudge.rejudge("ips", ips)
    # Runs of today that differ from those of the page.
    (ips / "claims.json").write_text(json.dumps(whole))
    now = registration.registered(paper.papers()["ips"])[-1]
    files = {**now.files, "experiment.toml": "0" * 64}
    then = registration.Registration(now.date, now.why, files)
    changed = {**whole, "registered": then.hash}
    (ips / page.CLAIMS).write_text(json.dumps(changed))
    monkeypatch.setattr(registration, "registered", lambda folder: [then, now])
    with pytest.raises(wl.UserError, match=r"since its registration experiment\.toml changed"):
        rejudge.rejudge("ips", ips)
