"""The command that holds the engine to theory, and what it does when something is off."""

import json

import pytest

from helpers import ROOT
from wordline_lab.validate.claims import BUILT_IN, read

LATENCY = """
[[claim]]
id = "mqsim"
group = "MQSim"
quantity = "{case}"
source = "MQSim"
experiment = "mqsim_unloaded"
over = { case = ["write 8 KiB"] }
theirs = { "write 8 KiB" = THEIRS }
tolerance = "exact"
why = "T0"
"""


@pytest.fixture
def claims(tmp_path):
    """Write a claims file; the true figure is 777,501 ns."""

    def write(theirs=777_501, more=""):
        path = tmp_path / "claims.toml"
        path.write_text(LATENCY.replace("THEIRS", str(theirs)) + more)
        return path

    return write


def test_every_quick_row_is_within_its_tolerance(wordline, tmp_path):
    done = wordline("validate", "--quick", "--out", tmp_path / "out", timeout=600)
    assert done.code == 0, done.out + done.err
    rows = json.loads((tmp_path / "out" / "validation.json").read_text())["rows"]
    assert len(rows) == len(read(BUILT_IN, quick=True).rows)
    # No reason is spent on the quick rows: they all hold.
    assert all(row["holds"] for row in rows)
    for name in ["validation.md", "validation-waf.svg", "validation-waf.csv"]:
        assert (tmp_path / "out" / name).stat().st_size > 0


def test_figure_outside_its_tolerance_exits_with_1(wordline, claims):
    assert wordline("validate", "--claims", claims()).code == 0
    done = wordline("validate", "--claims", claims(theirs=777_502))
    assert done.code == 1
    assert "FAILS" in done.out
    assert "mqsim-write-8-KiB" in done.out.splitlines()[-1]


def test_a_reason_beside_the_row_lets_it_pass_and_is_shown(wordline, claims):
    reason = 'reason = { "write 8 KiB" = "they round down" }\n'
    done = wordline("validate", "--claims", claims(theirs=777_502, more=reason))
    assert done.code == 0
    assert "they round down" in done.out
    assert "1 outside with the reason beside it" in done.out


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("tolerence = 0.1\n", "unknown key 'tolerence'"),
        ("[[claim]]\nid = 'x'\n", "'group' is missing"),
        ("[[claim\n", "claims.toml"),
    ],
)
def test_a_wrong_claims_file_ends_with_2_and_says_where(wordline, claims, more, says):
    done = wordline("validate", "--claims", claims(more=more))
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err


def test_a_pattern_that_matches_nothing_ends_with_2(wordline):
    done = wordline("validate", "--only", "nothing-like-it")
    assert done.code == 2
    assert "ids begin with waf, latency, " in done.err


def test_without_scipy_the_error_says_what_to_install(script, tmp_path):
    (tmp_path / "scipy").mkdir()
    (tmp_path / "scipy" / "__init__.py").write_text("raise ImportError('no', name='scipy')\n")
    done = script("validate", "--quick", env={"PYTHONPATH": str(tmp_path)})
    assert done.code == 2
    assert "pip install '.[sweep]'" in done.err


def test_the_page_of_the_docs_shows_every_claim_of_the_file():
    page = (ROOT / "lab" / "results" / "validation.md").read_text()
    rows = read(BUILT_IN, quick=False).rows
    data = json.loads((ROOT / "lab" / "results" / "validation.json").read_text())["rows"]
    assert [row.id for row in rows] == [row["id"] for row in data]
    for row in rows:
        assert f"| {row.quantity} |" in page
        assert row.why in page


def test_a_part_takes_the_place_of_no_page_of_everything(wordline, claims, tmp_path):
    done = wordline("validate", "--claims", claims(), "--out", "part")
    assert done.code == 0, done.err
    assert "(claims of another file)" in done.out
    assert "only claims of another file" in (tmp_path / "part" / "validation.md").read_text()
    # A part may follow a part.
    assert wordline("validate", "--claims", claims(), "--out", "part").code == 0
    whole = tmp_path / "whole"
    whole.mkdir()
    (whole / "validation.json").write_text('{"version": "0.1.0", "rows": []}')
    for words in (["--claims", claims()], ["--quick"], ["--only", "waf"]):
        done = wordline("validate", *words, "--out", "whole")
        assert done.code == 2
        assert "whole has a page of all rows" in done.err
