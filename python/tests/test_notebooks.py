"""The notebooks of the docs come to what they show."""

import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

FOLDER = Path(__file__).parents[2] / "docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def printed(notebook):
    """Give what each cell has printed, and what it has shown as text; pictures are their sizes."""
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        # A kernel may send what is printed in several pieces.
        stream = "".join(out["text"] for out in outputs if out["output_type"] == "stream")
        # How far a check is, which only slow machines print.
        stream = re.sub(r"(?m)^wordline\.check: .* \d+ s\n", "", stream)
        shown = [out["data"].get("text/plain") for out in outputs if "data" in out]
        yield cell["source"], stream, shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_comes_to_what_it_shows(path, tmp_path):
    was = nbformat.read(path, 4)
    assert was.cells[0].cell_type == "markdown"
    assert was.cells[0].source.startswith("# ")
    shown = list(printed(was))
    assert any(stream or results for _, stream, results in shown)
    again = nbformat.read(path, 4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(again, timeout=120, resources=resources).execute()
    assert list(printed(again)) == shown


def test_the_five_notebooks_are_there_and_listed():
    listed = (FOLDER / "README.md").read_text()
    assert [p.name in listed for p in NOTEBOOKS] == [True] * 5
