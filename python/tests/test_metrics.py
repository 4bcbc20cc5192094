"""Metrics that a scheme records: are they in page, table, files, frame and picture?"""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

import wordline as wl

NAME = "hit rate, <b>%"
SCHEME = f'''
import wordline as wl


class Follows(wl.Scheme):
    """Follows how many of its pages were the host's."""

    seen = wl.State([])

    def layout(self, drive):
        return wl.Layout.slc_cache(drive)

    def place(self, p, view):
        self.seen.append([len(self.seen), 0.5])
        return wl.to("slc", "dense")

    def metrics(self):
        return {{{NAME!r}: [[0, 0.25], [30, 0.5], [60, 0.75]], "all": self.seen}}
'''


@pytest.fixture(scope="module")
def scheme(tmp_path_factory) -> str:
    file = tmp_path_factory.mktemp("metrics") / "follows.py"
    file.write_text(SCHEME)
    return f"py:{file}#Follows"


@pytest.fixture(scope="module")
def both(scheme) -> wl.Comparison:
    return wl.compare(
        device="fair-tlc", workload="uniform", schemes=["hierarchy", scheme], requests=2000
    )


def test_the_page_and_the_table_have_it(both):
    page = both.html()
    assert "<h2>Scheme metrics</h2>" in page
    assert '<figure id="metrics-hit-rate-b">' in page
    assert "<b>%" not in page
    assert "hit rate, &lt;b&gt;%" in page
    group = both.table(all=True).split("\nScheme metrics\n")[1]
    assert group.split("\n  hit rate, <b>%")[1].split("\n")[0].split() == ["\u2013", "0.750"]
    assert "Scheme metrics" in str(both[1])


def test_schemes_in_rust_have_theirs(both):
    names = {f.name for f in both.figures()}
    assert {"metrics-cur-ratio", "metrics-l1-share", "metrics-all"} <= names


def test_files_have_it(scheme, tmp_path):
    script = Path(sys.executable).parent / "wordline"
    asked = ["--device", "fair-tlc", "--workload", "uniform", "--requests", "300"]
    command = [script, "run", *asked, "--scheme", scheme, "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Scheme metrics" in done.stdout
    with open(tmp_path / "figures" / "metrics-hit-rate-b.csv") as file:
        rows = list(csv.DictReader(file))
    assert [(r["host_page_writes"], r["value"]) for r in rows] == [
        ("0", "0.25"), ("30", "0.5"), ("60", "0.75"),
    ]  # fmt: skip
    assert (tmp_path / "figures" / "metrics-hit-rate-b.svg").exists()


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_it_is_a_frame(both, library):
    pytest.importorskip(library)
    metrics = both[1].metrics
    assert metrics[NAME].shape == (3, 2)
    assert list(metrics) == ["all", NAME]
    frame = metrics.to_frame(library)
    assert list(frame.columns) == ["name", "host_page_writes", "value"]
    assert len(frame) == 3 + len(metrics.all)
    assert frame["value"].max() == 0.75
    nothing = wl.run(device="fair-tlc", workload="uniform", scheme="conventional", requests=50)
    assert list(nothing.metrics.to_frame(library).columns) == list(frame.columns)
    with pytest.raises(wl.UserError, match="library='csv'"):
        metrics.to_frame("csv")


def test_reports_with_the_old_key_are_read(both, tmp_path):
    assert '"followed"' not in both[1].json
    old = tmp_path / "report.json"
    old.write_text(both[1].json.replace('"metrics":', '"followed":'))
    read = wl.load(old)
    assert list(read.metrics) == list(both[1].metrics)
    assert "followed" not in read.to_dict()
    assert (read.followed[NAME] == both[1].metrics[NAME]).all()
    assert {f.name for f in read.figures()} == {f.name for f in both[1].figures()}
    both_old = both.json.replace('"metrics":', '"followed":')
    (tmp_path / "comparison.json").write_text(both_old)
    assert wl.load(tmp_path / "comparison.json").to_dict() == both.to_dict()
