"""What a scheme follows by itself: is it where a user looks?"""

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
    file = tmp_path_factory.mktemp("followed") / "follows.py"
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
    assert '<figure id="followed-hit-rate-b">' in page
    assert "<b>%" not in page
    assert "hit rate, &lt;b&gt;%" in page
    group = both.table(all=True).split("\nScheme metrics\n")[1]
    assert group.split("\n  hit rate, <b>%")[1].split("\n")[0].split() == ["\u2013", "0.750"]
    assert "Scheme metrics" in str(both[1])


def test_schemes_in_rust_have_theirs(both):
    names = {f.name for f in both.figures()}
    assert {"followed-cur-ratio", "followed-l1-share", "followed-all"} <= names


def test_files_have_it(scheme, tmp_path):
    script = Path(sys.executable).parent / "wordline"
    asked = ["--device", "fair-tlc", "--workload", "uniform", "--requests", "300"]
    command = [script, "run", *asked, "--scheme", scheme, "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Scheme metrics" in done.stdout
    with open(tmp_path / "figures" / "followed-hit-rate-b.csv") as file:
        rows = list(csv.DictReader(file))
    assert [(r["host_page_writes"], r["value"]) for r in rows] == [
        ("0", "0.25"), ("30", "0.5"), ("60", "0.75"),
    ]  # fmt: skip
    assert (tmp_path / "figures" / "followed-hit-rate-b.svg").exists()


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_it_is_a_frame(both, library):
    pytest.importorskip(library)
    followed = both[1].followed
    assert followed[NAME].shape == (3, 2)
    assert list(followed) == ["all", NAME]
    frame = followed.to_frame(library)
    assert list(frame.columns) == ["name", "host_page_writes", "value"]
    assert len(frame) == 3 + len(followed.all)
    assert frame["value"].max() == 0.75
    nothing = wl.run(device="fair-tlc", workload="uniform", scheme="conventional", requests=50)
    assert list(nothing.followed.to_frame(library).columns) == list(frame.columns)
    with pytest.raises(wl.UserError, match="library='csv'"):
        followed.to_frame("csv")
