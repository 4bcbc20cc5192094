"""The source code of a scheme class in Python, its hash, and the values outside that it uses.

Runs in other processes read the class from its file, and results are kept under a hash of the
source. So that has whatever a run depends on: the file, the files that it imports, the classes that
it extends, and plain values of the function or the interpreter in which the class was made.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from abc import ABC
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wordline import scheme_files
from wordline.parameters import lost


def file_of(cls: type) -> str:
    """Return the file of a class; an empty text if it has none."""
    # Of a class made by `type(...)` Python takes the file of the metaclass for its own.
    if cls.__module__ == ABC.__module__:
        return ""
    try:
        return inspect.getsourcefile(cls) or ""
    except (OSError, TypeError):
        return ""


def plain(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the plain values among some of a class, a function or a module, as JSON.

    In place of an array it has its hash.
    """

    def hashed(array: Any) -> str:
        return f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"

    ours = ("_params", "_states", "_begun")
    own = {k: v for k, v in values.items() if k[:2] != "__" and k not in ours and lost(v) is None}
    return {k: json.dumps(v, default=hashed) for k, v in own.items()}


def _around(cls: type, *, has_file: bool) -> str:
    """Return the plain values beyond a class's source that its methods use.

    They are those of the function that made the class, and of an interpreter, a notebook or a file
    that sets them more than once.
    """
    found: dict[str, str] = {}
    for method in filter(inspect.isfunction, vars(cls).values()):
        around = inspect.getclosurevars(method)
        varying = scheme_files.constants(Path(file_of(cls))).varying if has_file else around.globals
        found |= plain(around.nonlocals)
        found |= {k: v for k, v in plain(around.globals).items() if k in varying}
    return "".join(f"\n# {name} = {value}" for name, value in sorted(found.items()))


def source(cls: type) -> tuple[str, str]:
    """Return the text of the file of a class, or of the class alone, and its hash.

    The files that it imports, and those of the classes that it extends, follow.
    """
    file = Path(file_of(cls))
    try:
        there = file.is_file()
        text = file.read_text(encoding="utf-8") if there else inspect.getsource(cls)
        bases = [file_of(c) for c in _extended(cls)]
        for other in scheme_files.read_with_all(Path(base) for base in bases if base):
            if other != file.resolve():
                text += f"\n# {other.name}\n{other.read_text(encoding='utf-8')}"
    except (OSError, TypeError):
        # Typed into an interpreter, or made by `type(...)`: what its methods do is what there is to
        # know it by.
        codes = [f.__code__ for f in vars(cls).values() if inspect.isfunction(f)]
        text = "\n".join(
            f"{c.co_name} {c.co_code.hex()} {c.co_consts!r} {c.co_names}" for c in codes
        )
        there = False
    text += _around(cls, has_file=there)
    return text, hashlib.sha256(text.encode()).hexdigest()


def changed(cls: type) -> str | None:
    """Return a plain value that a scheme class has not from its source, if there is one.

    It is one of its attributes, or one at the top of its file. Another process, which reads the
    source, would not have it.
    """
    for base in _extended(cls):
        begun, now = vars(base)["_begun"], plain(vars(base))
        if begun != now:
            name = next(k for k in {**begun, **now} if begun.get(k) != now.get(k))
            return f"{cls.__name__}.{name}"
        said = plain(scheme_files.constants(Path(file_of(base))).literals)
        for method in filter(inspect.isfunction, vars(base).values()):
            for name, value in plain(inspect.getclosurevars(method).globals).items():
                if said.get(name, value) != value:
                    return f"{name} of {Path(file_of(base)).name}"
    return None


def _extended(cls: type) -> list[type]:
    """Return a scheme class and those that it extends, without ``Scheme`` itself."""
    return [c for c in cls.__mro__ if "_begun" in vars(c)]
