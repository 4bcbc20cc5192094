import ast
import inspect
from pathlib import Path
from types import ModuleType

import wordline
from wordline import _wordline

STUB = ast.parse(Path(wordline.__file__).with_name("_wordline.pyi").read_text(encoding="utf-8"))


def test_stub_has_exactly_the_native_names():
    named = set()
    for node in STUB.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            named.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            named.add(node.target.id)
    of_any_module = {"__all__", "__file__", *vars(ModuleType("any"))}
    assert named == set(dir(_wordline)) - of_any_module


def test_stub_has_all_parameters():
    functions = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
    for name, node in functions.items():
        native = inspect.signature(getattr(_wordline, name)).parameters.values()
        assert all(p.default is p.empty for p in native), name
        assert [a.arg for a in node.args.args] == [p.name for p in native], name
        assert not node.args.defaults, name


def test_the_stub_says_of_what_an_exception_is():
    for node in STUB.body:
        if isinstance(node, ast.ClassDef):
            bases = [base.__name__ for base in getattr(_wordline, node.name).__bases__]
            assert [ast.unparse(base) for base in node.bases] == bases, node.name
