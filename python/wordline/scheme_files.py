"""The files beside a scheme's own: where its imports lead, and what is read of it with them.

A file in a folder without ``__init__.py`` imports its siblings as a script does, ``import helper``;
one in a package also ``from .helper import f``. Either way they are loaded under names that no
other folder has, so that two folders may each have a ``helper.py``.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

#: How the names of modules begin that are loaded here.
MODULE = "wordline_scheme_"
_INIT = "__init__.py"
_OWN = Path(__file__).resolve().parent
#: Where Python's own modules and installed packages are.
_INSTALLED = {
    Path(place).resolve()
    for key, place in sysconfig.get_paths().items()
    if key in ("stdlib", "platstdlib", "purelib", "platlib")
}


def root_of(folder: Path) -> Path:
    """Return the outermost package that a folder lies in, or the folder where it lies in none."""
    if not (folder / _INIT).is_file():
        return folder
    while (folder.parent / _INIT).is_file():
        folder = folder.parent
    return folder


def load(path: Path) -> ModuleType:
    """Load a file of classes with what it imports from beside it.

    Raises `Exception`: whatever the file raises.
    """
    path = path.resolve()
    root = root_of(path.parent)
    name = f"{MODULE}{hashlib.sha256(str(root).encode()).hexdigest()[:12]}"
    package = _package(root, name)
    for part in path.parent.relative_to(root).parts:
        name += f".{part}"
        package = _package(root.joinpath(*name.split(".")[1:]), name)
    if path.name == _INIT:
        return package
    return _executed(f"{name}.{path.stem.replace('.', '_')}", path)


def _package(folder: Path, name: str) -> ModuleType:
    """Return a folder as a package, whose ``__init__.py`` is run if it has one."""
    if (folder / _INIT).is_file():
        return _executed(name, folder / _INIT)
    module = ModuleType(name)
    module.__path__ = [str(folder)]
    return sys.modules.setdefault(name, module)


def _executed(name: str, path: Path) -> ModuleType:
    """Return the module of a file, which is run the first time."""
    if name in sys.modules:
        return sys.modules[name]
    places = [str(path.parent)] if path.name == _INIT else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=places)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _beside(path.parent):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def _beside(folder: Path) -> Iterator[None]:
    """Let imports find what is in a folder, and the package that it lies in.

    Modules of the same names from another folder are set aside meanwhile.
    """
    before = list(sys.path)
    # The caller's own path goes before the package, but not before the siblings.
    root = root_of(folder)
    package = [str(root.parent)] if (root / _INIT).is_file() else []
    sys.path[:] = [str(folder), *before, *package]
    aside = {
        name: module
        for name, module in sys.modules.items()
        if "." not in name and _is_other(name, module, folder)
    }
    aside |= {n: m for n, m in sys.modules.items() if n.partition(".")[0] in aside}
    for name in aside:
        del sys.modules[name]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        # A function that imports something later finds it behind all else.
        behind = [place for place in (str(folder), *package) if place not in before]
        sys.path[:] = [*before, *behind]
        sys.modules.update(aside)


def _is_other(name: str, module: ModuleType, folder: Path) -> bool:
    """Return whether a module that is not installed has the name of a sibling and is another."""
    if not ((folder / f"{name}.py").is_file() or (folder / name / _INIT).is_file()):
        return False
    file = getattr(module, "__file__", None)
    if file is None:
        return False
    place = Path(file).resolve()
    installed = name == "wordline" or any(place.is_relative_to(p) for p in _INSTALLED)
    return not installed and place.parent not in (folder, folder / name)


def read_with(path: Path) -> list[Path]:
    """Return the files beside a file that it imports, and that these import, in their order."""
    path = path.resolve()
    root = root_of(path.parent)
    if root == _OWN:
        return []  # this package, whose build is compared by itself
    found: dict[Path, None] = {}
    left = [path]
    while left:
        here = left.pop()
        new = [p for p in _imported(here, root, here.stat().st_mtime_ns) if p not in found]
        found |= dict.fromkeys(new)
        left += new
    return sorted(found.keys() - {path})


def read_with_all(paths: Iterable[Path]) -> list[Path]:
    """Return these files that are none of this package, and those read with each, once."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_file() and root_of(path.resolve().parent) != _OWN:
            found |= dict.fromkeys([*read_with(path), path.resolve()])
    return list(found)


class Constants:
    """What a file sets: names that it sets once, at its top, and others."""

    def __init__(self, tree: ast.Module) -> None:
        """Find them in a syntax tree."""
        every = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
        times = Counter(name.id for name in every if isinstance(name.ctx, ast.Store))
        once: dict[str, ast.expr] = {}
        for node in tree.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                first = node.targets[0] if isinstance(node, ast.Assign) else node.target
                names, values = [first], [node.value]
                if isinstance(first, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    names, values = first.elts, node.value.elts
                pairs = zip(names, values, strict=False)
                once |= {n.id: v for n, v in pairs if isinstance(n, ast.Name) and times[n.id] == 1}
        #: Names whose values differ from time to time.
        self.varying = times.keys() - once.keys()
        #: Values by name of those that are literals.
        self.literals: dict[str, Any] = {}
        for name, value in once.items():
            with suppress(ValueError, TypeError):
                self.literals[name] = ast.literal_eval(value)


def constants(path: Path) -> Constants:
    """Return what a file sets; nothing of one that is not there."""
    return _constants(path, path.stat().st_mtime_ns if path.is_file() else 0)


@cache
def _constants(path: Path, changed_ns: int) -> Constants:
    try:
        return Constants(ast.parse(path.read_bytes()))
    except (OSError, SyntaxError, ValueError):
        return Constants(ast.Module([], []))


@cache
def _imported(path: Path, root: Path, changed_ns: int) -> tuple[Path, ...]:
    """Return the files of a package or folder that a file of it imports."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ()
    return tuple(_of(tree, path, root))


def _of(tree: ast.AST, path: Path, root: Path) -> Iterator[Path]:
    """Give the files that the imports of a syntax tree lead to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(alias.name.split("."), (path.parent, root.parent), root)
        elif isinstance(node, ast.ImportFrom):
            words = node.module.split(".") if node.module else []
            up = path.parents[min(node.level, len(path.parents)) - 1]
            places = (up,) if node.level else (path.parent, root.parent)
            yield from _files(words, places, root)
            for alias in node.names:
                yield from _files([*words, alias.name], places, root)


def _files(words: list[str], places: tuple[Path, ...], root: Path) -> Iterator[Path]:
    """Give the file of a module below one of some folders, and those of its packages."""
    for place in places:
        found = []
        for n in range(1, len(words) + 1):
            at = place.joinpath(*words[:n])
            file = at.with_name(at.name + ".py")
            found += [f for f in (at / _INIT, file) if f.is_file()]
        if inside := [f for f in found if f.is_relative_to(root)]:
            yield from inside
            return
