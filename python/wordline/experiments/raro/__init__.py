"""RARO: its figures and tables, and what its claims are measured by."""

from wordline.experiments.raro.figures import FIGURES
from wordline.experiments.raro.measures import (
    bandwidth_lost,
    configured,
    iops_over_base,
    least_iops_over_base,
    loses_less,
    modes_in_order,
    most_retries_of_tlc,
    moved_elsewhere,
    over_form,
    principle,
    qlc_below_slc,
    saving,
    share_of_pages,
    stage_begins,
    steps_down,
)

__all__ = [
    "FIGURES",
    "bandwidth_lost",
    "configured",
    "iops_over_base",
    "least_iops_over_base",
    "loses_less",
    "modes_in_order",
    "most_retries_of_tlc",
    "moved_elsewhere",
    "over_form",
    "principle",
    "qlc_below_slc",
    "saving",
    "share_of_pages",
    "stage_begins",
    "steps_down",
]
