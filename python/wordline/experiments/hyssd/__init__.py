"""HySSD: its figures and tables, what its claims are measured by, what came out."""

from wordline.experiments.hyssd.figures import FIGURES
from wordline.experiments.hyssd.findings import findings
from wordline.experiments.hyssd.measures import (
    breaks_of_a_mountain,
    breaks_of_a_valley,
    characteristic,
    cost_model,
    gain_less_loss,
    life_above_perf,
    life_gain,
    life_over_perf,
    longest_lived,
    optima_apart,
    optimum,
    over_longest,
    perf_over_best,
    sensitivity,
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
    "findings",
    "gain_less_loss",
    "life_above_perf",
    "life_gain",
    "life_over_perf",
    "longest_lived",
    "optima_apart",
    "optimum",
    "over_longest",
    "perf_over_best",
    "sensitivity",
    "specification",
    "split_gb",
    "u_deviation",
]
