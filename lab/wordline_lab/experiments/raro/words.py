"""Findings on RARO."""

from __future__ import annotations

import itertools
from contextlib import suppress

from wordline_lab.experiments.raro import fit
from wordline_lab.experiments.raro import measures as m
from wordline_lab.reproduce.paper import NotRun, Study


def findings(study: Study) -> list[str]:
    """Return the findings in Markdown sentences, without those whose runs are missing."""
    return study.sentences(_same, _older, _base, _stages)


def _range(found: list[float], form: str = ".2f") -> str:
    return f"{min(found):{form}} to {max(found):{form}}"


def reading(study: Study) -> str:
    """Describe the reading of heat by which the runs of Figure 13 classify a page."""
    given = m.parameters(study)
    place = {
        "physical": "with reads counted per physical page",
        "logical": "with reads counted per logical page",
    }[given.get("heat", "physical")]
    when = given.get("class", "read")
    if when == "period":
        pages = int(given["period"])
        return f"a page is classified at the end of every {pages:,} reads, {place}"
    if when == "distance":
        hot, warm = int(given["hot_within"]), int(given["warm_within"])
        within = f"hot within {hot:,} reads, warm within {warm:,}"
        return f"a page is classified by the distance of its last two reads ({within}), {place}"
    return f"a page is classified at the read that moves it, {place}"


def _same(study: Study) -> str:
    points = list(itertools.product(m.SKEWS, m.STAGES))
    over = [m.over_hotness(study, skew, stage) for skew, stage in points]
    saved = [m.saving(study, w, stage, 4) for w in m.GRID_SKEWS for stage in m.STAGES]
    return (
        f"If {reading(study)}, RARO has {_range(over)} of Hotness' IOPS at the {len(points)} "
        'points with four threads, which the paper calls "essentially the same", and saves '
        f"{_range(saved, '.0%')} of the capacity that Hotness loses (printed 53 to 78 %)."
    )


def _older(study: Study) -> str:
    """Compare the runs ``period`` and ``distance`` with those of Figure 13, young, four threads."""
    skew = "zipf 1.5"

    def both(group: str) -> str:
        iops = m.in_group(study, skew, group, "Hotness")
        return f"{iops:.2f} and {m.saving_in(study, skew, group):.0%}"

    older = {
        "period": "at the end of every 10,000 reads",
        "distance": "by the distance of its last two reads",
    }
    said = []
    for group, words in older.items():
        with suppress(NotRun):
            said.append(f"{both(group)} if a page is classified {words}")
    if not said:
        raise NotRun("neither period nor distance was run")
    if m.parameters(study).get("class", "read") == "read":
        said.insert(0, f"{both('young')} if it is classified at the read")
    return (
        "**An open point of the paper decides: RARO's IOPS over Hotness' and the capacity that it "
        f"saves ({skew}, young, four threads) are {'; '.join(said)}.** Classified at the read, a "
        "page becomes warm before it becomes hot, so RARO moves the hottest pages to TLC and keeps "
        "them there; an older class is already hot when RARO first checks the retries."
    )


def _base(study: Study) -> str:
    base = [m.iops_over_base(study, "zipf 1.5", stage, 4) for stage in m.STAGES]
    one = [m.saving(study, w, s, 1) for w in m.GRID_SKEWS for s in m.STAGES]
    return (
        f"In these runs RARO has {', '.join(f'{b:.1f}' for b in base)} times the IOPS of Base at "
        "zipf 1.5, young, middle and old (printed 13.5, 12.8, 13.2), and with one thread it saves "
        f"{_range(one, '.0%')} of the capacity that Hotness loses (printed 39 to 71 %)."
    )


def _stages(study: Study) -> str:
    most = [f"{m.share_with_most(study, stage):.2%}" for stage in m.STAGES]
    old, printed = fit.foretold()["old"], fit.PRINTED["old"][3]
    return (
        f"{', '.join(most)} of the pages take the most retries, young, middle and old (printed "
        "1.01, 1.04, 9.71 %). The error model is fitted to these shares. Fitted to the first two "
        f"only, the model with the power 2.05 predicts {old:.1%} for the third; {printed:.2%} are "
        "printed."
    )
