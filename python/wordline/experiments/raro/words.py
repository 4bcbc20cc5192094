"""What came out of RARO, in words."""

from __future__ import annotations

import itertools
from contextlib import suppress

from wordline.experiments.raro import fit
from wordline.experiments.raro import measures as m
from wordline.reproduce.paper import NotRun, Study


def findings(study: Study) -> list[str]:
    """Return what came out in three sentences, Markdown, without those whose runs are missing."""
    return study.sentences(_parity, _base, _stages)


def _range(found: list[float], form: str = ".2f") -> str:
    return f"{min(found):{form}} to {max(found):{form}}"


def _parity(study: Study) -> str:
    points = list(itertools.product(m.SKEWS, m.STAGES))
    over = [m.over_hotness(study, skew, stage) for skew, stage in points]
    said = (
        f"RARO has {_range(over)} of Hotness' IOPS at the {len(points)} points with four threads, "
        'of which the paper says "essentially the same" and "the highest"'
    )
    with suppress(NotRun):
        skew, shares = "zipf 1.5", (0, 50, 100)
        iops = [f"{m.in_group(study, skew, f'tlc-{n}', 'Hotness'):.2f}" for n in shares]
        saved = [f"{m.saving_in(study, skew, f'tlc-{n}'):.0%}" for n in shares]
        said += (
            ". Within its model that and the savings of 67 to 78 % exclude each other: with 0, 50 "
            "and 100 % of the TLC pages taking one retry (zipf 1.5, young) it has "
            f"{', '.join(iops)} of Hotness' IOPS and saves {', '.join(saved)} of the capacity that "
            "Hotness loses"
        )
    return f"**{said}.**"


def _base(study: Study) -> str:
    base = [m.iops_over_base(study, "zipf 1.5", stage, 4) for stage in m.STAGES]
    four, one = ([m.saving(study, w, s, n) for w in m.GRID_SKEWS for s in m.STAGES] for n in (4, 1))
    return (
        f"At zipf 1.5 RARO has {', '.join(f'{b:.1f}' for b in base)} times the IOPS of Base, "
        "young, middle and old (printed 13.5, 12.8, 13.2), and it saves "
        f"{_range(four, '.0%')} of the capacity that Hotness loses with four threads (printed 53 "
        f"to 78 %), {_range(one, '.0%')} with one (printed 39 to 71 %)."
    )


def _stages(study: Study) -> str:
    most = [f"{m.share_with_most(study, stage):.2%}" for stage in m.STAGES]
    old, printed = fit.foretold()["old"], fit.PRINTED["old"][3]
    return (
        f"{', '.join(most)} of the pages take the most retries, young, middle and old (printed "
        "1.01, 1.04, 9.71 %), to which the error model is fitted; fitted to the first two alone it "
        f"foretells {old:.1%} for the third, where {printed:.2%} are printed."
    )
