"""Bars of tqdm, in a notebook or a terminal, for those who ask for one with ``progress=True``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wordline._wordline import UserError


def _tqdm() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without widgets a notebook gets a bar of text
            from tqdm.auto import tqdm
    except ImportError as e:
        raise UserError("progress=True needs tqdm, which is not installed; pip install tqdm") from e
    return tqdm


@contextmanager
def of_requests(
    progress: Callable[[int, int, float], object] | bool | None, total: int | None
) -> Iterator[Callable[[int, int, float], object] | None]:
    """Give the callback that counts the requests of runs: the caller's own, or that of a bar."""
    if progress is not True:
        yield progress or None
        return
    counts: dict[int, int] = {}
    with _tqdm()(total=total, unit=" requests", unit_scale=True) as bar:

        def see(run: int, completed: int, now: float) -> None:
            bar.update(completed - counts.get(run, 0))
            counts[run] = completed

        yield see
        if total is not None:
            bar.update(total - sum(counts.values()))


@contextmanager
def of_items(
    progress: Callable[[int, int], object] | bool | None, total: int, unit: str
) -> Iterator[Callable[[int, int], object]]:
    """Give the callback that counts runs or trials: the caller's own, or that of a bar."""
    if progress is not True:
        yield progress or (lambda done, of: None)
        return
    with _tqdm()(total=total, unit=f" {unit}") as bar:
        yield lambda done, of: bar.update(done - bar.n)
