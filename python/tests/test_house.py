"""No files of Python import each other in a circle, as no files of Rust do."""

import ast
import sys

import imports
from helpers import ROOT

CHECKER = ROOT / "python" / "wordline_replay"
FOLDERS = [ROOT / "python" / "wordline", CHECKER, ROOT / "lab" / "wordline_lab"]


def test_no_files_import_each_other_in_a_circle():
    known = {}
    for folder in FOLDERS:
        known |= imports.modules(folder)
    assert len(known) > 100
    assert imports.circles(known) == []


def test_the_checker_of_logs_shares_nothing_with_the_engine():
    trees = imports.modules(CHECKER).values()
    roots = {module.partition(".")[0] for tree in trees for module, _ in imports.used(tree)}
    assert "wordline_replay" in roots
    # Two homes of zstd: Python's own, and its backport for what is older.
    zstd = {"compression", "backports"}
    assert roots <= {"wordline_replay", *zstd, *sys.stdlib_module_names}


def test_a_circle_is_found_however_a_name_is_imported():
    def parsed(**texts):
        return {name.replace("_", "."): ast.parse(text) for name, text in texts.items()}

    whole = "from p.b import f"
    for back in (
        "from p.a import g",
        "from p import g",
        "import p.a",
        "import p\np.g()",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a import g",
        "def f():\n    from p import a",
    ):
        known = parsed(p="from p.a import g", p_a=whole, p_b=back)
        assert imports.circles(known) == [["p.a", "p.b"]], back
    # What a package hands on is imported from where it is defined.
    for other in ("from p import h", "import p\np.h()", "import p_a", ""):
        known = parsed(p="from p.a import g\nfrom p.c import h", p_a=whole, p_b=other, p_c="")
        assert imports.circles(known) == [], other
