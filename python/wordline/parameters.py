"""Declarations of a scheme class: parameters, and state that is saved and forked."""

from __future__ import annotations

import base64
import json
import operator
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from wordline import _wordline
from wordline._wordline import UserError


class Size(int):
    """Bytes.

    Products and quotients of a size are sizes too, so that settings keep their unit.
    """

    def __mul__(self, number: int) -> Size:
        """Return the size times a number."""
        return self._sized(int(self) * number)

    __rmul__ = __mul__

    def __add__(self, other: int) -> Size:
        """Return the sum."""
        return self._sized(int(self) + other)

    __radd__ = __add__

    def __sub__(self, other: int) -> Size:
        """Return the difference."""
        return self._sized(int(self) - other)

    def __floordiv__(self, number: int) -> Size:
        """Return a whole part of the size."""
        return self._sized(int(self) // number)

    def __truediv__(self, number: float) -> Any:
        """Return a fraction of the size: a size if it is whole bytes, else a number."""
        return self._sized(int(self) / number)

    @property
    def spelled(self) -> str:
        """As a setting takes it, such as ``16KiB``."""
        return _wordline.spelled_size(int(self))

    def _sized(self, number: Any) -> Any:
        whole = type(number) is float and number.is_integer()
        return Size(number) if whole or type(number) is int else number


def spelled(value: object) -> str:
    """Return the spelling of a setting; a size with its unit."""
    if isinstance(value, Size):
        return value.spelled
    return str(value).lower() if isinstance(value, bool) else str(value)


KiB: int = Size(1 << 10)
MiB: int = Size(1 << 20)
GiB: int = Size(1 << 30)

#: Types whose values are kept as they are; the first are the most frequent.
PLAIN = frozenset((int, float, bool, str, type(None)))

Value = TypeVar("Value")
Given = TypeVar("Given", bound=float | bool | str)


class _Named:
    """A declaration, which has the name under which a class has it."""

    name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name."""
        self.name = name


class Param(_Named, Generic[Given]):
    """A parameter of a scheme, set in its spelling or when an instance is made.

    Parameters
    ----------
    default
        Default, which also sets the type: an integer, a number, a bool, or a string. A size such as
        ``"8KiB"`` is an integer number of bytes wherever one is allowed. If the default is a size,
        a string needs a unit.
    about
        Its meaning, with its unit.
    choices
        Allowed values.
    minimum, maximum
        Least and greatest allowed number, inclusive.

    Raises
    ------
    UserError
        The default has another type, is not allowed, or has bounds but is not a number.
    """

    def __init__(
        self,
        default: Given,
        about: str,
        choices: Sequence[Any] = (),
        *,
        minimum: float | str | None = None,
        maximum: float | str | None = None,
    ) -> None:
        """Take the default and what the parameter means."""
        given: Any = default
        if not isinstance(given, (bool, int, float, str)):
            raise UserError(
                f"the default of a parameter is {given!r}; allowed: a number, a text or a bool"
            )
        if isinstance(given, str) and re.fullmatch(r"\d+[kKMGT]i?B", given):
            given = Size(_wordline.size(given))
        #: Whether it is a size: its texts have a unit.
        self.is_size = isinstance(given, Size)
        self.default: Any = int(given) if isinstance(given, Size) else given
        self.about = about
        self.choices: tuple[Any, ...] = ()
        self.minimum: Any = None
        self.maximum: Any = None
        if isinstance(self.default, (bool, str)) and not (minimum is None and maximum is None):
            raise UserError(
                f"a parameter with the default {default!r} has bounds, which only numbers can have"
            )
        self.minimum = None if minimum is None else self.checked(minimum)
        self.maximum = None if maximum is None else self.checked(maximum)
        self.choices = tuple(self.checked(choice) for choice in choices)
        try:
            self.checked(self.default)
        except UserError as e:
            raise UserError(f"a parameter's default is not allowed: {e}") from None

    @overload
    def __get__(self, scheme: None, owner: type) -> Param[Given]: ...
    @overload
    def __get__(self, scheme: object, owner: type) -> Given: ...
    def __get__(self, scheme: object | None, owner: type) -> Any:
        """Return the parameter itself: an instance has its value as an attribute of its own."""
        return self if scheme is None else self.default

    def checked(self, value: Any) -> Any:
        """Return a value of this parameter's type.

        Raises
        ------
        UserError
            It has another type, is not one of the choices, or is out of bounds.
        """
        if self.is_size and isinstance(value, str):
            value = _wordline.size(value)
        kind = type(self.default)
        value = self._read(value) if isinstance(value, str) and kind is not str else value
        if kind in (int, float) and type(value) is not bool:
            with suppress(TypeError, ValueError):  # told below
                value = operator.index(value) if kind is int else float(value)
        if type(value) is not kind:
            allowed = {
                bool: "True or False",
                int: 'a whole number, or a size such as "8KiB"',
                float: "a number",
            }
            raise UserError(f"{value!r} is not {allowed.get(kind, 'a text')}")
        if self.is_size and value < 0:
            raise UserError(f"{value!r} is not a size")
        if self.choices and value not in self.choices:
            raise UserError(f"{value!r} is not one of {', '.join(map(repr, self.choices))}")
        low, high = self.minimum, self.maximum
        if (low is not None and not value >= low) or (high is not None and not value <= high):
            raise UserError(f"{value!r} is out of bounds\n  allowed: {self._bounds()}")
        return value

    def parse(self, text: str) -> Any:
        """Return the value that a text stands for, as `checked`."""
        return self.checked(text)

    def _read(self, text: str) -> Any:
        """Return what a text stands for, or the text where it stands for nothing."""
        if isinstance(self.default, bool):
            words = {"true": True, "on": True, "false": False, "off": False}
            return words.get(text.lower(), text)
        try:
            if isinstance(self.default, float):
                return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
            return int(text) if re.fullmatch(r"-?\d+", text) else _wordline.size(text)
        except ValueError:
            return text

    def _bounds(self) -> str:
        """Say which numbers are allowed."""
        low, high = self.minimum, self.maximum
        if low is None or high is None:
            return f"at most {self.text(high)}" if low is None else f"at least {self.text(low)}"
        return f"{self.text(low)} to {self.text(high)}"

    @property
    def meaning(self) -> str:
        """What it means, in a line, behind its choices if there are only a few, or its bounds."""
        about = " ".join(self.about.split())
        if self.choices:
            return f"{', '.join(map(self.text, self.choices))}: {about}"
        is_free = self.minimum is None and self.maximum is None
        return about if is_free else f"{self._bounds()}: {about}"

    def text(self, value: Any) -> str:
        """Return the text that stands for a value."""
        return spelled(Size(value) if self.is_size else value)


class State(_Named, Generic[Value]):
    """State of a scheme that is saved with the drive and copied for forks.

    Parameters
    ----------
    default
        Initial value; each run starts with a copy. A JSON value: numbers, strings, bools, lists,
        and dictionaries with string keys; or a NumPy array.
    """

    @overload
    def __init__(self: State[Any], default: None = None) -> None: ...
    @overload
    def __init__(self: State[list[Any]], default: list[Any]) -> None: ...
    @overload
    def __init__(self: State[dict[str, Any]], default: dict[str, Any]) -> None: ...
    @overload
    def __init__(self, default: Value) -> None: ...
    def __init__(self, default: Any = None) -> None:
        """Take what it is at first."""
        self.default = default

    @overload
    def __get__(self, scheme: None, owner: type) -> State[Value]: ...
    @overload
    def __get__(self, scheme: object, owner: type) -> Value: ...
    def __get__(self, scheme: object | None, owner: type) -> Any:
        """Return the declaration: an instance has what it has learnt as an attribute of its own."""
        if scheme is not None:
            raise AttributeError(f"{self.name} is not set yet; call super().__init__() first")
        return self

    if TYPE_CHECKING:

        def __set__(self, scheme: object, value: Value) -> None:
            """Take what has been learnt: `Scheme.__setattr__` does."""


def lost(value: Any) -> str | None:
    """Return the part of a value that would not be restored unchanged, if any."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return None
    if isinstance(value, dict):
        key = next((key for key in value if not isinstance(key, str)), None)
        return f"has the key {key!r}" if key is not None else _first(map(_inside, value.values()))
    if isinstance(value, (list, tuple)):
        return None if PLAIN.issuperset(map(type, value)) else _first(map(_inside, value))
    return None if _is_array(value) else f"holds {type(value).__name__}"


def differs(one: Any, other: Any) -> bool:
    """Return whether two values of plain types, or arrays, differ; of others none is known to."""
    known = lost(one) is None and lost(other) is None
    return known and json.dumps(one, default=written) != json.dumps(other, default=written)


def _inside(value: Any) -> str | None:
    return f"holds {type(value).__name__}" if _is_array(value) else lost(value)


def _first(found: Iterable[str | None]) -> str | None:
    return next(filter(None, found), None)


def _is_array(value: Any) -> bool:
    np = sys.modules.get("numpy")  # nothing of it can be there without
    return np is not None and isinstance(value, np.ndarray) and value.dtype != object


def written(value: Any) -> Any:
    """Return what JSON holds in place of an array of numpy; anything else as it is."""
    if not _is_array(value):
        return value
    import numpy as np

    packed = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    return {"array": packed, "dtype": value.dtype.str, "shape": value.shape}


def read_back(value: Any) -> Any:
    """Return what `written` has written."""
    if not (isinstance(value, dict) and set(value) == {"array", "dtype", "shape"}):
        return value
    import numpy as np

    flat = np.frombuffer(base64.b64decode(value["array"]), dtype=value["dtype"])
    return flat.reshape(value["shape"]).copy()
