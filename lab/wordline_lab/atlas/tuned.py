"""Parameters found by a search (`wordline_lab.tuning`): the contents of ``tuned.toml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wordline import toml

FILE = Path(__file__).parent / "tuned.toml"

_HEAD = """\
# Written by `python -m wordline_lab.tuning atlas FOLDER`: of each scheme of the atlas alone the
# parameters that a search found, on what the table [search] of atlas.toml has. `seen` is the
# measure over that of the scheme's own, as the search saw it; where there are no parameters none
# were better.
"""


@dataclass(frozen=True)
class Tuned:
    """The result of a search for a scheme."""

    of: str  #: The scheme that was searched, as the atlas labels it.
    #: Where it runs, and how it is spelled with what was found.
    device: str
    scheme: str
    parameters: str  #: Those that were found, as a spelling has them; none where none were better.
    measure: str  #: What was to become smaller: ``write_mean`` or ``read_mean``.
    #: That over the scheme's own, a geometric mean over what the search saw; 1 where no parameters
    #: were better.
    seen: float

    @property
    def label(self) -> str:
        """Its name in the atlas."""
        return f"{self.of} (tuned)"


def run_of(found: Mapping[str, Tuned]) -> dict[str, tuple[str, str]]:
    """Return device and spelling, by label, of the schemes with found parameters."""
    return {label: (t.device, t.scheme) for label, t in found.items() if t.parameters}


def read(path: Path = FILE) -> dict[tuple[str, str], Tuned]:
    """Return the results, by device and label of the scheme.

    Raises
    ------
    UserError
        The file cannot be read.
    """
    found = [Tuned(**entry) for entry in toml.read(path)["found"]]
    return {(t.device, t.of): t for t in found}


def of_drive(schemes: Mapping[str, tuple[str, str]]) -> dict[str, Tuned]:
    """Return the results for the schemes of a drive, by label."""
    known = read()
    found = [known.get((device, of)) for of, (device, _) in schemes.items()]
    return {t.label: t for t in found if t is not None}


def write(found: Sequence[Tuned], path: Path = FILE) -> None:
    """Write the results."""
    parts = [
        f'[[found]]\nof = "{t.of}"\ndevice = "{t.device}"\nscheme = "{t.scheme}"\n'
        f'parameters = "{t.parameters}"\nmeasure = "{t.measure}"\nseen = {t.seen:.4f}\n'
        for t in found
    ]
    path.write_text("\n".join([_HEAD, *parts]), encoding="utf-8")
