"""A mean and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence

from wordline import _wordline


def mean_and_half_width(samples: Sequence[float]) -> tuple[float, float]:
    """Return the mean and half of its 95 % interval by Student's t; at least two finite samples."""
    return _wordline.estimate(samples)
