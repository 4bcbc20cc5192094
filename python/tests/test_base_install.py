"""What works with NumPy alone, and how the rest says what it needs."""

import ast
import pkgutil
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import wordline as wl
from helpers import ROOT
from wordline import commands

# Everything that is neither Python's, NumPy's nor the package's own is not there.
BLOCKED = """
import importlib.abc, sys
ALLOWED = {"numpy", "wordline", "wordline_replay", "backports", *sys.stdlib_module_names}
OWN = ("_sysconfigdata",)

class Nothing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ALLOWED and not name.startswith(OWN):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nothing())
"""
USED = """
import inspect as inspection, pickle, pydoc
import wordline as wl
assert "tune" in pydoc.render_doc(wl)
exec("from wordline import *")
assert callable(wl.tune) and callable(wl.judge) and inspection.getmembers(wl)
for name in (n for n in wl.__all__ if n != "__version__"):
    pydoc.render_doc(getattr(wl, name))
small = dict(device="fair-tlc", workload="uniform", requests=300)
r = wl.run(scheme="slc-cache", **small)
assert r.requests.rows == 300 and pickle.loads(pickle.dumps(r)).result_hash == r.result_hash
found = wl.sweep(schemes=["slc-cache", "conventional"], replicas=2, **small)
assert found.differences().rows[0].seeds == 2
for needs, name in ((lambda: wl.tune("sector", device="fair-tlc", workloads=["uniform"],
                                     objectives=["waf.total"], space={"static_blocks": (4, 8)}),
                     "search"), (lambda: found.save("out"), "sweep")):
    try:
        needs()
    except wl.UserError as e:
        assert f"pip install '.[{name}]'" in str(e) and "WHEEL" in str(e), e
    else:
        raise AssertionError(name)
print("done")
"""


def test_the_package_is_whole_with_numpy_alone(tmp_path):
    words = [sys.executable, "-c", BLOCKED + USED]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


#: Prints the modules that a program has imported in the end, but for those of any interpreter.
IMPORTED = """
import sys
sys.stdin, before = None, {*sys.modules}
try:
    WHAT
except SystemExit as e:
    assert not e.code, e.code
print("", *({*sys.modules} - before), sep="\\n", file=sys.__stderr__)
"""
#: Modules of the package that every command imports.
EVERY = {"wordline", "wordline._cli", "wordline._wordline"}
COMMAND = "from wordline import _cli; sys.argv = {}; _cli.main()"
SWEEP = "sweep --device demo-8gb --workload bursty --requests 50 --scheme conventional"


#: What takes long to import, each for something of its own.
HEAVY = {"distributed", "matplotlib", "numba", "numpy", "optuna", "polars", "pyarrow", "scipy"}


@pytest.mark.parametrize(
    ("what", "most", "own", "heavy"),
    [
        ("import wordline", 35, {"wordline"}, set()),
        (COMMAND.format(["wordline", "--help"]), 50, EVERY, set()),
        (COMMAND.format(["wordline", "list", "schemes"]), 50, EVERY, set()),
        # It writes Parquet. Nothing is drawn, and there are no intervals.
        (COMMAND.format(["wordline", *SWEEP.split()]), 600, None, {"numpy", "pyarrow"}),
    ],
)
def test_little_is_imported(what, most, own, heavy, tmp_path):
    words = [sys.executable, "-c", IMPORTED.replace("WHAT", what)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    found = done.stderr.split("\n\n")[-1].split()
    assert len(found) <= most, found
    assert own is None or {name for name in found if name.startswith("wordline")} == own
    assert HEAVY & {*found} == heavy


def test_public_names_have_one_home():
    assert {name for name in wl.__all__ if not hasattr(wl, name)} == set()
    tree = ast.parse(Path(wl.__file__).with_suffix(".pyi").read_text())
    typed = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    seen = [(alias.asname, alias.name, node.module) for node in typed for alias in node.names]
    assert sorted(seen) == [(name, name, wl._HOMES[name]) for name in wl.__all__]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = wl.nothing


def test_modules_do_not_hide_functions():
    for name in ("wordline", "wordline.search", "wordline.sweeps", "wordline.atlas"):
        package = import_module(name)
        modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
        hidden = {n for n in modules if callable(vars(package).get(n))}
        assert not hidden, f"{name} has modules and functions called {hidden}"


def listed(extra):
    """Return the packages of an extra in pyproject.toml."""
    (found,) = re.findall(rf"^{extra} = \[(.*)\]", (ROOT / "pyproject.toml").read_text(), re.M)
    return set(re.findall(r'"([a-z0-9-]+)', found))


def test_extras_install_from_clone(monkeypatch):
    with pytest.raises(wl.UserError, match=r"pip install '\.\[sweep\]' in a clone"):
        commands.need("sweep", ("there_is_no_such_module",))
    # First a command for this very interpreter, with all that is missing, by the packages' names.
    monkeypatch.setattr(commands, "_is_installed", lambda module: module == "matplotlib")
    with pytest.raises(wl.UserError) as told:
        commands.need("pick", commands.SWEEP, "fit")
    said, install, _ = str(told.value).splitlines()
    assert said == "pick needs rich, pyarrow, markdown_it, which are not installed"
    program, *words = shlex.split(install.partition("install: ")[2])
    assert program == sys.executable
    assert words[:3] == ["-m", "pip", "install"]
    assert {"rich", "pyarrow", "markdown-it-py"} <= {*words[3:]} <= listed("sweep")
    texts = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md"), *ROOT.glob("python/**/*.py")]
    texts += [*ROOT.glob("python/*.md"), *ROOT.glob("crates/cli/src/**/*.rs")]
    said = [p for p in texts if "'wordline" + "[" in p.read_text(encoding="utf-8")]
    assert not [p for p in said if p.name != "CHANGELOG.md"]
