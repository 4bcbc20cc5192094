"""Partial pages: sectors, and the merge buffer in which they wait for others."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from wordline import _wordline
from wordline._wordline import Place

_into_buffer = cache(_wordline.into_buffer)


@lru_cache(maxsize=1 << 16)
def _sectors(mask: int) -> tuple[int, ...]:
    return tuple(sector for sector in range(mask.bit_length()) if mask >> sector & 1)


class Span(NamedTuple):
    """Some sectors of a logical page: the bits of ``mask``, the lowest for the first sector.

    ``offset`` is the first sector within their place on flash, under a sector map.
    """

    lpn: int
    mask: int
    offset: int = 0


def sectors(mask: int) -> list[int]:
    """Return the numbers of the sectors whose bits are set, in increasing order."""
    return list(_sectors(mask))


def into_buffer(key: int = 0, *, gather: str = "as-is", plane: str = "home") -> Place:
    """Return a place in the merge buffer of `Layout.merges`, for parts of pages.

    They wait there for others, and are placed again as ``sealed`` when their page is full or has
    waited long enough. A page that the host completes part by part under the same key is placed
    again as host data.

    Parameters
    ----------
    key
        0 to 255; its meaning depends on the layout's ``merges``.
    gather, plane
        As for `to`.

    Raises
    ------
    UserError
        A word is not known.
    OverflowError
        The key is not between 0 and 255.
    """
    return _into_buffer(key, gather, plane)
