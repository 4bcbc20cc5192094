"""A mean and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def mean_and_half_width(samples: Sequence[float]) -> tuple[float, float]:
    """Return the mean and half of its 95 % interval by Student's t; at least two samples."""
    from scipy import special  # the base installation does without

    n = len(samples)
    error = float(np.std(samples, ddof=1)) / np.sqrt(n)
    return float(np.mean(samples)), float(special.stdtrit(n - 1, 0.975) * error)
