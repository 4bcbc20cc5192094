"""What a class of a scheme declares: parameters, and what it learns, which is saved and forked."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from wordline._wordline import UserError

if TYPE_CHECKING:
    from wordline.scheme import Scheme

__all__ = ["GiB", "KiB", "MiB", "Param", "State"]

KiB, MiB, GiB = 1 << 10, 1 << 20, 1 << 30


class Param:
    """A parameter of a scheme, set in its spelling or when an instance is made.

    Parameters
    ----------
    default
        Its default, of which it has the type: a whole number (also as a size such as ``8KiB``), a
        number, a truth value, or a text.
    about
        What it means, with its unit.
    choices
        The values that are allowed, if only a few are.
    """

    def __init__(
        self, default: float | bool | str, about: str, choices: Sequence[Any] = ()
    ) -> None:
        """Take the default and what the parameter means."""
        if not isinstance(default, (bool, int, float, str)):
            raise UserError(
                f"a parameter's default is {default!r}; give a number, a text or a bool"
            )
        self.default, self.about, self.choices = default, about, tuple(choices)
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name under which a class has it."""
        self.name = name

    def __get__(self, scheme: Scheme | None, owner: type) -> Any:
        """Return the value of an instance, or the parameter itself."""
        return self if scheme is None else scheme._values.get(self.name, self.default)

    def __set__(self, scheme: Scheme, value: Any) -> None:
        """Refuse: a parameter is given when the scheme is made."""
        raise AttributeError(f"{self.name} is a parameter; give it when the scheme is made")

    def checked(self, value: Any) -> Any:
        """Return a value of this parameter's type.

        Raises
        ------
        UserError
            It is none, or not one of the choices.
        """
        kind = type(self.default)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not kind:
            allowed = {bool: "True or False", int: "a whole number", float: "a number"}
            raise UserError(f"{value!r} is not {allowed.get(kind, 'a text')}")
        if self.choices and value not in self.choices:
            raise UserError(f"{value!r} is not one of {', '.join(map(repr, self.choices))}")
        return value

    def parse(self, text: str) -> Any:
        """Return the value that a text stands for, as `checked`."""
        value: Any = text
        if isinstance(self.default, bool):
            words = {"true": True, "on": True, "false": False, "off": False}
            value = words.get(text.lower(), text)
        elif isinstance(self.default, int):
            found = re.fullmatch(r"(-?\d+)(B|KiB|MiB|GiB)?", text)
            sizes = {"KiB": KiB, "MiB": MiB, "GiB": GiB}
            value = int(found[1]) * sizes.get(found[2] or "", 1) if found else text
        elif isinstance(self.default, float):
            try:
                value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
            except ValueError:
                value = text
        return self.checked(value)

    @property
    def meaning(self) -> str:
        """What it means, in a line, behind its choices if there are only a few."""
        about = " ".join(self.about.split())
        return f"{', '.join(map(self.text, self.choices))}: {about}" if self.choices else about

    def text(self, value: Any) -> str:
        """Return the text that stands for a value."""
        return str(value).lower() if isinstance(value, bool) else str(value)


class State:
    """What a scheme learns while it runs: saved with a drive's state, and copied for forks.

    Parameters
    ----------
    default
        What it is at first; each run begins with a copy. Whatever JSON holds: numbers, texts, truth
        values, lists, and dictionaries with keys of text; or an array of numpy by itself.
    """

    def __init__(self, default: Any = None) -> None:
        """Take what it is at first."""
        self.default = default
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name under which a class has it."""
        self.name = name

    def __get__(self, scheme: Scheme | None, owner: type) -> Any:
        """Return what an instance has learnt, or the declaration itself."""
        return self if scheme is None else scheme._learnt[self.name]

    def __set__(self, scheme: Scheme, value: Any) -> None:
        """Take what has been learnt."""
        scheme._learnt[self.name] = value


def lost(value: Any) -> str | None:
    """Say what of a value would not come back as it is; nothing if all does."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return None
    if isinstance(value, dict):
        key = next((key for key in value if not isinstance(key, str)), None)
        return f"has the key {key!r}" if key is not None else _first(map(lost, value.values()))
    if isinstance(value, (list, tuple)):
        return _first(map(lost, value))
    return None if written(value) is not value else f"holds {type(value).__name__}"


def _first(found: Iterable[str | None]) -> str | None:
    return next(filter(None, found), None)


def written(value: Any) -> Any:
    """Return what JSON holds in place of an array of numpy; anything else as it is."""
    np = sys.modules.get("numpy")  # nothing of it can be there without
    if np is None or not isinstance(value, np.ndarray) or value.dtype == object:
        return value
    packed = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    return {"array": packed, "dtype": value.dtype.str, "shape": value.shape}


def read_back(value: Any) -> Any:
    """Return what `written` has written."""
    if not (isinstance(value, dict) and set(value) == {"array", "dtype", "shape"}):
        return value
    import numpy as np

    flat = np.frombuffer(base64.b64decode(value["array"]), dtype=value["dtype"])
    return flat.reshape(value["shape"]).copy()
