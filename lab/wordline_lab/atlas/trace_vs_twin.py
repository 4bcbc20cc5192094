"""How well twins predict the results of their real traces, by mean write latency.

The best scheme on a twin and on its trace are each chosen by the figures of that workload; the loss
by the twin's choice is then measured on the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wordline.atlas import findings as f
from wordline.atlas import judge as j
from wordline.atlas.cells import DriveCells, Place
from wordline_lab.atlas.published import PublishedAtlas

#: By what the two are compared.
MEASURE = "write_mean"
#: What the section is called in every text.
TITLE = "Real traces and their twins"


@dataclass(frozen=True)
class Pair:
    """A real trace and its twin, on a drive, over the conditions that both have.

    Attributes
    ----------
    trace, twin, akin
        Their names, and how the two are akin.
    own, of_twin
        The best choice of each.
    came
        What the twin's choice came to on the trace, over the plain drive's; the twin says what
        `of_twin` gains.
    lost
        The same over the trace's own choice.
    alike
        Spearman's rank correlation of the figures of all schemes that both have; none where all
        schemes of either come to the same.
    """

    trace: str
    twin: str
    akin: str
    own: j.Choice
    of_twin: j.Choice
    came: j.Over
    lost: j.Over
    alike: float | None

    @property
    def agrees(self) -> bool:
        """Whether the two choices are equal, or do not differ significantly on the trace."""
        return self.own.scheme == self.of_twin.scheme or self.lost.is_chance


def only_real(atlas: PublishedAtlas) -> PublishedAtlas:
    """Return an atlas without the results of the twins."""
    drives = [
        replace(drive, places=[p for p in drive.places if p.at[1] in atlas.beside])
        for drive in atlas.drives
    ]
    return replace(atlas, drives=drives)


def pairs(atlas: PublishedAtlas, drive: DriveCells) -> list[Pair]:
    """Return each real trace with its twin, without pairs in which either has no best scheme."""
    found = []
    for trace, (twin, akin) in atlas.beside.items():
        on_trace, on_twin = _conditions(drive, trace, twin)
        own, of_twin = j.choose(drive, on_trace, MEASURE), j.choose(drive, on_twin, MEASURE)
        if own is None or of_twin is None:
            continue
        came = j.over(on_trace, of_twin.scheme, MEASURE)
        lost = j.between(on_trace, of_twin.scheme, own.scheme, MEASURE)
        if came is not None and lost is not None:
            alike = _alike(drive, on_trace, on_twin)
            found.append(Pair(trace, twin, akin, own, of_twin, came, lost, alike))
    return found


def _conditions(drive: DriveCells, trace: str, twin: str) -> tuple[list[Place], list[Place]]:
    """Return the conditions of a trace, and those of the twin that are the same but for it."""
    on_trace = j.where(drive, workload=trace)
    same = {(p.at[0], *p.at[2:]) for p in on_trace}
    return on_trace, [p for p in j.where(drive, workload=twin) if (p.at[0], *p.at[2:]) in same]


def _alike(drive: DriveCells, one: Sequence[Place], other: Sequence[Place]) -> float | None:
    from scipy.stats import spearmanr

    logs = [
        (a.log, b.log)
        for s in drive.schemes
        if (a := j.over(one, s, MEASURE)) is not None
        and (b := j.over(other, s, MEASURE)) is not None
    ]
    by_workload = list(zip(*logs, strict=True))
    if any(len(set(of)) < 2 for of in by_workload):
        return None
    return float(spearmanr(*by_workload).statistic)


def sentences(atlas: PublishedAtlas) -> list[str]:
    """Return the results, first over all drives, then for each drive."""
    of = {drive.name: pairs(atlas, drive) for drive in atlas.drives}
    every = [pair for found in of.values() for pair in found]
    said = []
    if every:
        agree = sum(pair.agrees for pair in every)
        said.append(
            f"{agree} of {len(every)} pairs of a real trace and a twin (counted on each drive) "
            "agree on which scheme writes fastest: it is the same, or the two do not differ "
            "significantly on the trace."
        )
    for drive in atlas.drives:
        if found := of[drive.name]:
            said += [_lost(drive, found), _promised(drive, found)]
    for drive in only_real(atlas).drives:
        said += f.winners(drive)
    return said


def _lost(drive: DriveCells, found: Sequence[Pair]) -> str:
    others = [pair for pair in found if pair.own.scheme != pair.of_twin.scheme]
    if not others:
        return f"On {drive.title} every twin names the scheme that writes fastest with its trace."
    worst = max(others, key=lambda pair: pair.lost.log)
    return (
        f"On {drive.title} the scheme that the twin recommends has at most {worst.lost} the write "
        f"latency of the trace's best scheme (`{worst.of_twin.scheme}` on `{worst.trace}`)."
    )


def _promised(drive: DriveCells, found: Sequence[Pair]) -> str:
    """Say how far the figure of a twin's choice is from that of the trace, and all others."""
    most = max(found, key=lambda pair: abs(pair.came.log - pair.of_twin.gain.log))
    ranks = [pair.alike for pair in found if pair.alike is not None]
    order = (
        f" The order of all {len(drive.schemes)} schemes correlates with {min(ranks):.2f} to "
        f"{max(ranks):.2f} (Spearman)."
        if ranks
        else ""
    )
    return (
        f"The gain itself differs more: on {drive.title} the write latency under "
        f"`{most.of_twin.scheme}` is {most.came} the plain drive's on `{most.trace}`, but "
        f"{most.of_twin.gain} on `{most.twin}`, the largest difference of all pairs.{order}"
    )


def table(atlas: PublishedAtlas) -> str:
    """Return all pairs as a table of Markdown for each drive."""
    parts = [
        "Ratios of mean write latency to the plain drive's: the best scheme on each real trace, "
        "the best on its twin under the same conditions, and how the twin's best does on the "
        "trace. Then the latency of the twin's best over that of the trace's best, and Spearman's "
        "rank correlation over all schemes."
    ]
    for drive in atlas.drives:
        found = pairs(atlas, drive)
        rows = [
            f"**{drive.title}**",
            "",
            "| real trace | twin | best on the trace | best on the twin | twin's best on the trace "
            "| over the trace's best | rank correlation |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for pair in found:
            cells = [
                f"`{pair.trace}`",
                f"`{pair.twin}`, {pair.akin}",
                _chosen(pair.own),
                _chosen(pair.of_twin),
                _ratio(pair.came),
                "the same" if pair.own.scheme == pair.of_twin.scheme else _ratio(pair.lost),
                _correlation(pair),
            ]
            rows.append(f"| {' | '.join(cells)} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def _correlation(pair: Pair) -> str:
    return "–" if pair.alike is None else f"{pair.alike:.2f}"  # noqa: RUF001


def _chosen(choice: j.Choice) -> str:
    if not j.is_better(MEASURE, choice.gain):
        return "plain drive"
    second = f" or `{choice.second}`" if choice.apart.is_chance else ""
    return f"`{choice.scheme}`{second} {_ratio(choice.gain)}"


def _ratio(found: j.Over) -> str:
    low, high = found.interval
    return f"{found.ratio:.3g} ({low:.3g} to {high:.3g})"
