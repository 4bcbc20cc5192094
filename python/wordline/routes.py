"""What a scheme in Python decides beforehand, so that the engine need not ask.

By size, by logical page, or as compiled code does, by numba where it is installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from wordline._wordline import Place, UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BySize(NamedTuple):
    """Places by size: ``(bytes, place)`` for data of at most so many, the least first; or above."""

    steps: Sequence[tuple[int, Place]]
    above: Place


class ByPage(NamedTuple):
    """Places by logical page: ``uint8``, shape ``(logical_pages,)``, each the number of a place."""

    classes: NDArray[np.uint8]
    places: Sequence[Place]


class Compiled(NamedTuple):
    """A decision that numba compiles, where it is installed; elsewhere Python decides the same.

    Attributes
    ----------
    decide
        A function of ``(memory, lpn, bytes, region, now)`` that returns the number of a place: of
        data of ``bytes`` from the logical page ``lpn`` on, which leave the region of that number in
        the layout, -1 for the host's, at ``now`` in nanoseconds. It uses what numba knows, and
        nothing outside it but constants.
    places
        The places.
    memory
        What it reads and learns: ``int64``, one dimension. Kept as a `State`, it is saved and
        copied for forks.
    """

    decide: Callable[[NDArray[np.int64], int, int, int, int], int]
    places: Sequence[Place]
    memory: NDArray[np.int64]

    def _parts(self) -> tuple[Any, memoryview, int, int, int | None]:
        import numpy as np

        memory: Any = self.memory
        if not (isinstance(memory, np.ndarray) and memory.dtype == np.int64 and memory.ndim == 1):
            raise UserError(
                f"the memory of a wl.Compiled is {memory!r}; allowed: a one-dimensional array "
                "of int64"
            )
        if not (memory.flags.c_contiguous and memory.flags.writeable):
            raise UserError("the memory of a wl.Compiled is not contiguous or not writable")
        # While the view is there, numpy leaves the memory in place.
        view = memoryview(cast(Any, memory))
        # The address of the decision's machine code, if there is to be any.
        compiled = None if _wants_python else _compiled(self.decide)
        entry = None if compiled is None else compiled.address
        return memory, view, memory.ctypes.data, len(memory), entry


#: Who wants Python to decide although numba is there: it can say what went wrong, and decides the
#: same. Shared by all threads, since the engine asks from threads of its own.
_wants_python: list[None] = []
#: Returned where a decision raises an exception.
FAILED = -(2**63)


@contextmanager
def interpreted() -> Iterator[None]:
    """Let Python decide."""
    _wants_python.append(None)
    try:
        yield
    finally:
        _wants_python.pop()


@cache
def _compiled(decide: Callable[..., Any]) -> Any:
    """Compile a decision, once."""
    try:
        numba: Any = importlib.import_module("numba")
    except ImportError:
        return None
    inner = numba.njit(boundscheck=True)(decide)
    number = numba.types.int64

    def call(memory, length, lpn, size, region, now):  # type: ignore[no-untyped-def]
        try:
            return inner(numba.carray(memory, (length,)), lpn, size, region, now)
        except Exception:
            return FAILED

    signature = number(numba.types.CPointer(number), number, number, number, number, number)
    try:
        return numba.cfunc(signature)(call)
    except numba.core.errors.NumbaError as e:
        raise UserError(
            f"numba cannot compile {decide.__name__}: {e}\n  hint: docs/python-schemes.md lists "
            "what a compiled decision may use"
        ) from e
