"""The result of an experiment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """Our figure and the reference.

    Attributes
    ----------
    ours
        The figure of the engine.
    half_width
        Half of its 95 % interval; ``None`` where it has no error.
    theirs
        What the formula gives; ``None`` where the claim records a figure.
    ends
        The two figures between which the recorded one must lie, for a tolerance ``"within"``.
    wrong
        What else must have held and did not, in words.
    data
        What pictures and files need besides.
    """

    ours: float
    half_width: float | None = None
    theirs: float | None = None
    ends: tuple[float, float] | None = None
    wrong: str = ""
    data: dict[str, Any] = field(default_factory=dict)
