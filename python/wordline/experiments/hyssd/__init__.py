"""HySSD: its figures and tables, and what its claims are measured by."""

from wordline.experiments.hyssd.figures import FIGURES
from wordline.experiments.hyssd.measures import (
    breaks_of_a_mountain,
    breaks_of_a_valley,
    characteristic,
    cost_model,
    gain_less_loss,
    life_above_perf,
    life_gain,
    life_over_longest,
    life_over_perf,
    longest_lived,
    optimum,
    perf_over_best,
    specification,
    split_gb,
    u_deviation,
)

__all__ = [
    "FIGURES",
    "breaks_of_a_mountain",
    "breaks_of_a_valley",
    "characteristic",
    "cost_model",
    "gain_less_loss",
    "life_above_perf",
    "life_gain",
    "life_over_longest",
    "life_over_perf",
    "longest_lived",
    "optimum",
    "perf_over_best",
    "specification",
    "split_gb",
    "u_deviation",
]
