"""Folders of real traces: ``--traces DIR``."""

from __future__ import annotations

from pathlib import Path

from wordline import UserError


def files(folder: str) -> list[Path]:
    """Return the files of a folder and of those in it, by name.

    Raises
    ------
    UserError
        There is no such folder.
    """
    if not Path(folder).is_dir():
        raise UserError(f"--traces {folder}: the folder does not exist; name one with traces")
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())
