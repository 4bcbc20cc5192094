"""Schemes in Python: a class with a layout and a place for data, on the engine of all others.

    class SmallFirst(wl.Scheme):
        threshold = wl.Param(16 * wl.KiB, "largest write that goes to SLC")

        def layout(self, drive):
            return wl.Layout.slc_cache(drive, blocks=12)

        def place(self, p, view):
            small = p.is_host and p.bytes <= self.threshold
            return wl.to("slc", "dense") if small else wl.to("dense")

The hooks are those of the trait ``Scheme`` in ``crates/ftl/src/scheme.rs``, by the same names; the
engine calls only those that a class defines.
"""

from __future__ import annotations

import copy
import inspect
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from warnings import warn

from wordline import _wordline, scheme_source
from wordline._wordline import Parcel, Place, UserError, View
from wordline.layout import DriveInfo, Layout
from wordline.parameters import PLAIN, Param, State, differs, lost, read_back, written

if TYPE_CHECKING:
    from wordline.parts import Span
    from wordline.routes import ByPage, BySize, Compiled

#: A place is made once, so that the engine knows it again and reads it once.
_place = cache(_wordline.to)


def to(
    *regions: str,
    slot: str = "next",
    gather: str = "fill",
    plane: str = "home",
    avoid: Sequence[int] = (),
) -> Place:
    """Return a place: the first of up to four regions that has free space.

    The region is selected when the plane starts the program.

    Parameters
    ----------
    regions
        Region names of the layout. A slash adds a slot class: ``"windows/slc"``.
    slot
        ``next``, or ``lsb``, ``csb``, ``msb``, ``tsb`` under rules with page types, ``slc`` and
        ``reprogram`` in windows.
    gather
        How to treat missing sectors of a page: ``fill`` (read them first), ``as-is``, or ``whole``
        (GC only: gather all parts of the page).
    plane
        ``home``, ``any`` (the plane with the least work), ``next-channel`` (the plane at the
        position of the home plane on the next channel that is not avoided), or ``most-free``.
    avoid
        Channels to avoid if others have space, with ``plane="any"`` or ``plane="next-channel"``.

    Raises
    ------
    UserError
        An argument is unknown, or no region is given.
    """
    try:
        return _place(regions, slot, gather, plane, tuple(avoid) if avoid else ())
    except TypeError:
        _check_types(regions, {"slot": slot, "gather": gather, "plane": plane}, avoid)
        raise


#: What the words of `to` may be.
_WORDS = {
    "slot": "next, lsb, csb, msb, tsb, slc, reprogram",
    "gather": "fill, as-is, whole",
    "plane": "home, any, next-channel, most-free",
}


def _check_types(regions: tuple[Any, ...], words: dict[str, Any], avoid: Any) -> None:
    """Raise `UserError` for the first argument of `to` that has a wrong type."""
    for region in regions:
        if not isinstance(region, str):
            raise UserError(f"to({region!r}): name a region of the layout, in quotes")
    for name, value in words.items():
        if not isinstance(value, str):
            raise UserError(f"to({name}={value!r}): {name} is one of {_WORDS[name]}")
    raise UserError(f"to(avoid={avoid!r}): avoid is a list of channel numbers, such as [0, 3]")


#: Hooks that the engine asks only of a scheme that has them.
HOOKS = ("admit", "read", "collect", "idle", "on_trim", "make_room", "split_write", "tick")


class Move(NamedTuple):
    """A move of a logical page, with the place on flash in which the scheme saw it."""

    lpn: int
    seen: int
    to: Place


class Collect(NamedTuple):
    """A region, or one block of it, to collect.

    Idle work yields to requests after each ``page`` or after the ``block`` (``grain``).
    """

    region: str
    block: int | None = None
    grain: str = "page"

    @staticmethod
    def least_live(view: View, regions: Sequence[str], plane: int) -> Collect | None:
        """Return the victim of a plane with the least valid data over several regions.

        Ties go to the first region; ``None`` without a victim.
        """
        victims = [(name, view.best(name, plane)) for name in regions]
        found = [(view.live_sectors(b), name, b) for name, b in victims if b is not None]
        if not found:
            return None
        _, name, block = min(found, key=lambda victim: victim[0])
        return Collect(name, block)


class SetQuota(NamedTuple):
    """New limit of a region: blocks per plane that it can own, or slots that it can program."""

    region: str
    blocks: int | None = None
    slots: int | None = None


class Request(NamedTuple):
    """A host request: its kind, its first block of 512 bytes, its bytes, its arrival in ns.

    Also its attributes: latency hint (``none``, ``short``, ``medium``, ``long``), FUA, stream (0
    for none), and the number of its volume or job.
    """

    op: str
    is_write: bool
    lba: int
    bytes: int
    arrival: int
    hint: str = "none"
    is_fua: bool = False
    stream: int = 0
    volume: int = 0

    @property
    def blocks(self) -> int:
        """Its length in blocks of 512 bytes."""
        return self.bytes // 512


class ReadSeen(NamedTuple):
    """A completed host read of a page: its place, cell mode and number of retries."""

    lpn: int
    ppn: int
    mode: str
    retries: int


class Scheme(ABC):
    """A scheme: where host data and collected pages go, and when pages move.

    A class has `layout` and `place`; the other hooks are optional: ``admit``, ``make_room``,
    ``split_write``, ``read``, ``collect``, ``idle``, ``tick``, ``on_trim``; and ``seed``, which
    seeds its own random numbers before the first request. The view that a hook receives is valid
    for that call only.

    ``routes`` decides in advance: it returns a dictionary with a place, a `BySize`, a `ByPage` or a
    `Compiled` for ``host``, ``sealed``, ``collected`` or ``moved`` data, and `place` is called only
    for missing origins. It is called after the layout and after each ``tick``. ``metrics``
    returns the scheme's metrics for the report: for each name, pairs of host page writes and the
    value from then on.

    A scheme keeps what it learns in attributes declared as `State`; other attributes are rejected
    after `layout`.
    """

    #: The name in tables and reports; made of the class's if not given.
    name: ClassVar[str] = ""

    #: What the class declares, by name; made once, when the class is.
    _params: ClassVar[Mapping[str, Param[Any]]] = {}
    _states: ClassVar[Mapping[str, State[Any]]] = {}
    #: Its own plain attributes when it was made, which its source says.
    _begun: ClassVar[Mapping[str, str]]

    _values: dict[str, Any]
    _is_laid_out = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Find what the class declares."""
        super().__init_subclass__(**kwargs)
        cls._params, cls._states = cls._declared(Param), cls._declared(State)
        cls._begun = scheme_source.plain(vars(cls))

    def __init__(self, **parameters: Any) -> None:
        """Take parameters by their names.

        Raises
        ------
        UserError
            Unknown parameter, or invalid value.
        """
        known = self._params
        self._values = {}
        for key, value in parameters.items():
            if key not in known:
                listed = ", ".join(known) or "none"
                raise UserError(f"{type(self).__name__} has no parameter {key!r}; it has {listed}")
            try:
                self._values[key] = known[key].checked(value)
            except UserError as e:
                raise UserError(f"{type(self).__name__}({key}=...): {e}") from None
        # Values are plain attributes, which are read at no cost.
        own = self.__dict__
        own.update({name: param.default for name, param in known.items()} | self._values)
        own.update({name: copy.deepcopy(s.default) for name, s in self._states.items()})

    @abstractmethod
    def layout(self, drive: DriveInfo) -> Layout:
        """Divide the drive into pools and regions.

        Raises
        ------
        Refused
            The scheme does not support the drive, with the reason.
        """

    @abstractmethod
    def place(self, p: Parcel, view: View) -> Place:
        """Return the place of host data or of a page that GC copies, made by `to`."""

    if TYPE_CHECKING:
        # For type checkers alone: the engine asks only the hooks that a class has.

        def admit(self, request: Request, view: View, /) -> int:
            """Return a tag for the data of a write, 0 to 255."""

        def make_room(self, p: Parcel, view: View, /) -> Sequence[Move]:
            """Return moves to perform before host data are placed."""

        def split_write(self, span: Span, view: View, /) -> int:
            """Return the sectors of a partial page that go to one place, as bits."""

        def read(self, seen: ReadSeen, view: View, /) -> Move | None:
            """Return a move of a page that the host has read."""

        def collect(self, region: str, plane: int, view: View, /) -> Collect | None:
            """Return the victim when a region runs short in a plane."""

        def idle(self, plane: int, view: View, /) -> Move | Collect | None:
            """Return work for an idle die."""

        def tick(self, view: View, /) -> Sequence[SetQuota | Move]:
            """Return quotas and moves, every ``Layout.tick_every_writes`` host write requests."""

        def on_trim(self, lpn: int, /) -> None:
            """Note that a page was trimmed."""

        def seed(self, seed: int, /) -> None:
            """Begin random numbers."""

        def metrics(self) -> Mapping[str, Sequence[Sequence[float]]]:
            """Return the metrics of the scheme."""

        def routes(self) -> Mapping[str, Place | ByPage | BySize | Compiled]:
            """Return places by origin of the data."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Reject attributes that would be lost when the drive is saved or forked."""
        if name in self._states:
            if type(value) not in PLAIN:
                self._keeps(name, value)
        elif name in self._params:
            raise AttributeError(f"{name} is a parameter; set it when the scheme is created")
        elif self._is_laid_out and not name.startswith("_"):
            raise AttributeError(
                f"{type(self).__name__}.{name} is set after layout and would be lost when the "
                f"drive is saved or forked; declare it: {name} = wl.State(...)"
            )
        object.__setattr__(self, name, value)

    def _set_apart(self) -> str | None:
        """Return an attribute that a new scheme of the same parameters has not so.

        Runs create a new one, as other processes do.
        """
        if "_values" not in self.__dict__:
            raise UserError(
                f"{type(self).__name__}.__init__ does not call super().__init__(); call it first"
            )
        try:
            again = type(self)(**self._values)
        except TypeError as e:
            raise UserError(
                f"{type(self).__name__} cannot be created from its parameters: {e}"
            ) from e
        if self._is_laid_out:
            return None
        mine, others = self.__dict__, again.__dict__
        return next((k for k, v in mine.items() if k not in others or differs(v, others[k])), None)

    def __repr__(self) -> str:
        """Return the call that makes it."""
        given = ", ".join(f"{key}={value!r}" for key, value in self._values.items())
        return f"{type(self).__name__}({given})"

    @property
    def spelling(self) -> str:
        """Its spelling in runs and reports: the name with the given parameters."""
        known = self._params
        given = ",".join(f"{k}={known[k].text(v)}" for k, v in self._values.items())
        return self._name() + (f":{given}" if given else "")

    @classmethod
    def _name(cls) -> str:
        own = cls.__dict__.get("name")
        return own or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower().replace("_", "-")

    @classmethod
    def _declared(cls, kind: type) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            found.update(vars(base))
        return {name: value for name, value in found.items() if isinstance(value, kind)}

    # --- What the native half asks of a class and an instance.

    @classmethod
    def _about(cls) -> dict[str, Any]:
        if missing := sorted(cls.__abstractmethods__):
            raise UserError(f"{cls.__name__} has no method {missing[0]}(), which is required")
        text, sha256 = scheme_source.source(cls)
        params = [(p.name, p.text(p.default), p.meaning) for p in cls._params.values()]
        return {
            "name": cls._name(),
            "title": (inspect.getdoc(cls) or "a scheme in Python").split("\n")[0].rstrip("."),
            "docs": text,
            "described": cls._described(),
            "parameters": [*params, ("source", sha256[:16], "hash of the class's source")],
            "hooks": [hook for hook in HOOKS if hasattr(cls, hook)],
        }

    @classmethod
    def _described(cls) -> str:
        """Return the docstring, and methods that the engine does not know."""
        says = "\n".join(inspect.cleandoc(cls.__doc__ or "").split("\n")[1:]).strip("\n")
        own = {
            "routes": "It decides beforehand, by origin, size or page (routes).",
            "seed": "It draws random numbers (seed).",
            "metrics": "It reports metrics of its own (metrics).",
        }
        more = [line for hook, line in own.items() if hasattr(cls, hook)]
        if learns := ", ".join(cls._states):
            more.append(f"It learns: {learns}.")
        return "\n".join([*([says, ""] if says else []), *more])

    @classmethod
    def _parse(cls, key: str, text: str) -> Any:
        if key == "source":
            own = scheme_source.source(cls)[1][:16]
            if text != own:
                raise UserError(f"the class was {text} and is {own} now: its source has changed")
            return text
        return cls._params[key].parse(text)

    @classmethod
    def _made(cls, values: dict[str, Any]) -> Scheme:
        values.pop("source", None)
        return cls(**values)

    def _lay_out(self, drive: DriveInfo) -> Layout:
        for name, meant in _misspelt(type(self)):
            warn(
                f"{type(self).__name__}.{name} is not a hook and is never "
                f"called; did you mean {meant}?",
                stacklevel=2,
            )
        laid_out = self.layout(drive)
        if not isinstance(laid_out, Layout):
            raise UserError(f"layout() returned {laid_out!r}; return a wordline.Layout")
        self._is_laid_out = True
        return laid_out

    def _seed(self, seed: int) -> None:
        if hasattr(self, "seed"):
            self.seed(seed)

    def _metrics(self) -> list[tuple[str, list[tuple[float, float]]]]:
        followed = self.metrics() if hasattr(self, "metrics") else {}
        try:
            found = [(name, [(float(x), float(y)) for x, y in s]) for name, s in followed.items()]
            numbers = (number for _, series in found for pair in series for number in pair)
            if all(isinstance(name, str) for name, _ in found) and all(map(isfinite, numbers)):
                return found
        except (AttributeError, TypeError, ValueError):
            pass
        raise UserError(
            f"metrics() returned {followed!r}\n  allowed: a dictionary with lists of pairs of "
            "finite numbers"
        )

    def _copy(self) -> Scheme:
        other = copy.copy(self)
        if self._states:
            other.__dict__.update(copy.deepcopy(self._learnt()))
        return other

    def _learnt(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self._states}

    def _keeps(self, name: str, value: Any) -> None:
        """Reject a value of a `State` that a saved or forked drive would lose."""
        if what := lost(value):
            raise UserError(
                f"{type(self).__name__}.{name} {what}, which would be lost when the drive is saved "
                "or forked\n  allowed: JSON values with text keys, or a NumPy array by itself"
            )

    def _check_learnt(self) -> None:
        """Look at what has been learnt, which a list or a dictionary takes unseen."""
        for name, value in self._learnt().items():
            self._keeps(name, value)

    def _saved(self) -> str:
        # A search of states asks so often that nothing must take no time.
        if not self._states:
            return "{}"
        self._check_learnt()
        return json.dumps({k: written(v) for k, v in self._learnt().items()}, sort_keys=True)

    def _restore(self, text: str) -> bool:
        if not self._states:
            return text == "{}"
        found = json.loads(text)
        if set(found) != set(self._states):
            return False
        self.__dict__.update({name: read_back(value) for name, value in found.items()})
        return True


def _misspelt(cls: type[Scheme]) -> list[tuple[str, str]]:
    """Return methods whose names nearly match a missing hook, with that hook."""
    hooks = [h for h in (*HOOKS, "seed", "metrics", "routes") if not hasattr(cls, h)]
    own = [n for n, f in vars(cls).items() if inspect.isfunction(f) and not n.startswith("_")]
    plain = {name: name.removeprefix("on_").removesuffix("_hook") for name in own}

    def near(word: str) -> list[str]:
        # Two letters in the wrong order count much in a name as short as "idle".
        mixed = [hook for hook in hooks if sorted(hook) == sorted(word)]
        return mixed or get_close_matches(word, hooks, 1, 0.85)

    close = {name: near(name) or near(word) for name, word in plain.items()}
    return [(name, found[0]) for name, found in close.items() if found]
