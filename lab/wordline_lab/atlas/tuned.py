"""Parameters that a search has found (`wordline_lab.tuning`): what ``tuned.toml`` has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from wordline import toml
from wordline.atlas.design import Tuned

FILE = Path(__file__).parent / "tuned.toml"

_HEAD = """\
# Written by `python -m wordline_lab.tuning atlas FOLDER`: of each scheme of the atlas alone the
# parameters that a search found, on what the table [search] of atlas.toml has. `seen` is the
# measure over that of the scheme's own, as the search saw it; where there are no parameters none
# were better.
"""


def read(path: Path = FILE) -> dict[tuple[str, str], Tuned]:
    """Return what was found, by device and label of the scheme.

    Raises
    ------
    UserError
        The file cannot be read.
    """
    found = [Tuned(**entry) for entry in toml.read(path)["found"]]
    return {(t.device, t.of): t for t in found}


def of_drive(schemes: Mapping[str, tuple[str, str]]) -> dict[str, Tuned]:
    """Return what was found for the schemes of a drive, by its label."""
    known = read()
    found = [known.get((device, of)) for of, (device, _) in schemes.items()]
    return {t.label: t for t in found if t is not None}


def write(found: Sequence[Tuned], path: Path = FILE) -> None:
    """Write what was found."""
    parts = [
        f'[[found]]\nof = "{t.of}"\ndevice = "{t.device}"\nscheme = "{t.scheme}"\n'
        f'parameters = "{t.parameters}"\nmeasure = "{t.measure}"\nseen = {t.seen:.4f}\n'
        for t in found
    ]
    path.write_text("\n".join([_HEAD, *parts]), encoding="utf-8")
