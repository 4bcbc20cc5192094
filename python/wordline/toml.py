"""TOML as it is on every Python that Wordline runs on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from wordline import UserError, _wordline

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read(path: Path) -> dict[str, Any]:
    """Read a file.

    Raises `UserError`: it cannot be read, or is no TOML.
    """
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as e:
        raise UserError(f"{path}: {e}") from e


def parse(text: str) -> dict[str, Any]:
    """Read a text."""
    return tomllib.loads(text)


def builtin(name: str) -> str | None:
    """Return the text of a file that comes with Wordline, such as ``devices/demo-8gb.toml``."""
    return _wordline.builtin_file(name)
