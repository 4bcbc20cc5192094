"""The published atlas follows from its data: its pages are what the code of today writes of them.

``BLESS=1 pytest tests/test_atlas_published.py`` writes them again, without a run.
"""

import os
import shutil
from pathlib import Path

import pytest

from wordline.atlas import report
from wordline_lab import atlas
from wordline_lab.atlas import kept, pieces, words

FOLDER = Path(__file__).parents[1] / "results" / "atlas"


@pytest.mark.parametrize("part", atlas.PARTS)
def test_published_page_follows_from_its_data(part, tmp_path):
    of_traces = FOLDER / atlas.TRACES
    here, command, more = FOLDER, "wordline atlas", [pieces.section(of_traces)]
    if part == atlas.TRACES:
        here, command = of_traces, f"wordline atlas --only {atlas.TRACES} --traces DIR"
        more = []
    found = kept.data_of(here / "index.html")
    report.write(found, tmp_path, command, words.of(found, *more))
    published = [file for file in here.iterdir() if file.is_file()]
    assert len(published) > 6
    differing = [f.name for f in published if f.read_bytes() != (tmp_path / f.name).read_bytes()]
    if os.environ.get("BLESS"):
        for name in differing:
            shutil.copyfile(tmp_path / name, here / name)
    assert not differing or os.environ.get("BLESS"), f"{differing} of {here}"
