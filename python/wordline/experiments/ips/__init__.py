"""In-place Switch: its figures and tables, and what its claims are measured by."""

from wordline.experiments.ips.figures import FIGURES
from wordline.experiments.ips.measures import (
    cliff_gib,
    configured,
    falling,
    greatest_ratio,
    latency_less_form,
    latency_over_form,
    mean_ratio,
    most_written_to_tlc,
    rank,
    ratio,
    reprogrammed_bytes,
    share_with_wa,
    slowest_stream,
    sustained_ratio,
    wa_full_off_by,
    wa_less_form,
    wa_over_form,
)

__all__ = [
    "FIGURES",
    "cliff_gib",
    "configured",
    "falling",
    "greatest_ratio",
    "latency_less_form",
    "latency_over_form",
    "mean_ratio",
    "most_written_to_tlc",
    "rank",
    "ratio",
    "reprogrammed_bytes",
    "share_with_wa",
    "slowest_stream",
    "sustained_ratio",
    "wa_full_off_by",
    "wa_less_form",
    "wa_over_form",
]
