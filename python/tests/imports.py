"""Which file of Python imports from which: names are followed to the file that defines them."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path


def modules(folder: Path) -> dict[str, ast.Module]:
    """The modules of a package by name, each parsed."""
    found = {}
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.pyi")]):
        *parts, last = path.relative_to(folder.parent).with_suffix("").parts
        name = ".".join(parts if last == "__init__" else [*parts, last])
        # A stub says what another language defines: it imports nothing. That of a package, which
        # comes behind its file, says what the package hands on.
        is_empty = path.suffix == ".pyi" and last != "__init__"
        found[name] = ast.parse("" if is_empty else path.read_text(encoding="utf-8"))
    return found


def used(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Modules with the names that code takes of them, wherever it imports them; ``*`` for all."""
    whole: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from [(alias.name, "*")] if "." in alias.name and not alias.asname else []
                whole[alias.asname or alias.name] = alias.name
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=taken) if name in whole:
                yield whole[name], taken


def home(module: str, name: str, known: Mapping[str, ast.Module]) -> str:
    """The module that defines a name which another module has: itself, one below it, or neither."""
    if f"{module}.{name}" in known:
        return f"{module}.{name}"
    if module in known and (found := _taken_from(known[module]).get(name)):
        return home(*found, known)
    return module


@cache
def _taken_from(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """The names that code takes of modules, each with its module and what it is called there."""
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, (node.module or "", alias.name))
    return found


def circles(known: Mapping[str, ast.Module]) -> list[list[str]]:
    """The sets of modules each of which imports, by way of others, all of its set."""
    below = {
        m: {home(*of, known) for of in used(tree)} & (known.keys() - {m})
        for m, tree in known.items()
    }
    reached = {m: _reached(m, below) for m in known}
    found = {
        tuple(sorted(n for n in reached[m] if m in reached[n])) for m in known if m in reached[m]
    }
    return [list(circle) for circle in sorted(found)]


def _reached(module: str, below: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = [*below[module]]
    while ahead:
        if (at := ahead.pop()) not in found:
            found.add(at)
            ahead += below[at]
    return found


def taken(tree: ast.Module, known: Mapping[str, ast.Module]) -> set[tuple[str, str]]:
    """The names that code takes of modules of a package, those of a module that it names, too.

    A module itself is no name: ``from wordline import toml`` and ``toml.read`` is `read` of
    `wordline.toml`, and so is ``wordline.toml.read``.
    """
    found: set[tuple[str, str]] = set()
    whole: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if f"{node.module}.{alias.name}" in known:
                    whole[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                elif node.module in known:
                    found.add((node.module, alias.name))
    for node in ast.walk(tree):
        root, *parts = _chain(node)
        module = whole.get(root, "")
        while parts and f"{module}.{parts[0]}" in known:
            module = f"{module}.{parts.pop(0)}"
        if parts and module in known:
            found.add((module, parts[0]))
    return found


def _chain(node: ast.AST) -> list[str]:
    """The parts of ``a.b.c``; of anything else one that is empty."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=value, attr=attribute) if (before := _chain(value)) != [""]:
            return [*before, attribute]
    return [""]
