"""Gains of tuning: schemes with parameters that a search found, against published ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from wordline.atlas import judge as j
from wordline.atlas.cells import KEYS, MEASURES, DriveCells
from wordline_lab.atlas import tuning
from wordline_lab.atlas.published import PublishedAtlas
from wordline_lab.atlas.tuned import Tuned

#: What the section is called in every text.
TITLE = "Gains of tuning"
#: By what found parameters are judged, in the order in which it is told.
VERDICTS = ("better", "worse", "not significant", "not known", "nothing found")

_HOW = """\
The same search tuned the parameters of every scheme that is not combined: {trials} trials of
`wl.tune`, each under {conditions} conditions with {seeds} seeds and {requests:,} requests. It used
twins ({workloads}) and seeds that this atlas does not. It minimized the ratio of mean write latency
(RARO and its rival: read latency) to that with the published parameters. The column *in the search*
has the ratio that it reached; the columns to its right have the ratio under the conditions of this
atlas: over all of them with the 95 % interval over the seeds, at the loads where it is lowest and
highest, and the ratio of the drive's lifetimes. `python -m wordline_lab.tuning atlas FOLDER`
repeats the search.

Tuned schemes are shown, but the best choice is always among published parameters."""


@dataclass(frozen=True)
class Gain:
    """The result for a scheme, and its gain.

    Attributes
    ----------
    tuned
        What was found.
    own
        Its measure over that under the scheme's own parameters, over all conditions; none where no
        parameters were found, or no condition has the measure.
    by_load
        The same of each load.
    lifetime
        The drive's lifetime over that under the scheme's own parameters.
    """

    tuned: Tuned
    own: j.Over | None = None
    by_load: Mapping[str, j.Over] = field(default_factory=dict)
    lifetime: j.Over | None = None

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        if self.own is None:
            return "nothing found"
        if not self.own.is_settled:
            return "not known"
        if self.own.is_chance:
            return "not significant"
        return "better" if j.is_better(self.tuned.measure, self.own) else "worse"


def gains(atlas: PublishedAtlas, drive: DriveCells) -> list[Gain]:
    """Return the gain of tuning for each scheme of a drive."""
    loads = dict.fromkeys(p.at[0] for p in drive.places)
    found = []
    for label, tuned in atlas.tuned.get(drive.name, {}).items():
        if not tuned.parameters:
            found.append(Gain(tuned))
            continue
        over = partial(_over_own, drive, label, tuned.of)
        each = {load: over(tuned.measure, load=load) for load in loads}
        by_load = {load: o for load, o in each.items() if o is not None}
        found.append(Gain(tuned, over(tuned.measure), by_load, over("lifetime")))
    return found


def _over_own(
    drive: DriveCells, label: str, own: str, measure: str, **levels: str
) -> j.Over | None:
    return j.between(j.where(drive, **levels), label, own, measure)


def sentences(atlas: PublishedAtlas) -> list[str]:
    """Return the results: how many schemes gain, and which is fastest then."""
    every = [(drive, gain) for drive in atlas.drives for gain in gains(atlas, drive)]
    if not every:
        return []
    count = Counter(gain.verdict for _, gain in every)
    found = len(every) - count["nothing found"]
    unknown = count["not known"]
    text = (
        f"Tuning: a search on other workloads and seeds found better parameters for {found} of "
        f"{len(every)} schemes (counted on each drive)."
    )
    if found > unknown:
        text += (
            f" Under the conditions of the atlas {count['better']} of them are significantly "
            f"better than the published parameters, {count['worse']} are worse, and for "
            f"{count['not significant']} the difference is not significant."
        )
    if unknown:
        text += f" {unknown} of them cannot be judged, since their runs are not steady: run longer."
    for most, does, verdict in ((min, "gains", "better"), (max, "loses", "worse")):
        of = [(d, g.tuned, g.own) for d, g in every if g.own is not None and g.verdict == verdict]
        if of:
            drive, tuned, own = most(of, key=lambda item: item[2].log)
            text += (
                f" `{tuned.of}` on {drive.title} {does} most: "
                f"{MEASURES[KEYS[tuned.measure]].label} {own} that with the published parameters, "
                f"where the search reached {tuned.seen:.3g} times."
            )
    return [text, *(s for drive in atlas.drives for s in _fastest(drive))]


def _fastest(drive: DriveCells) -> list[str]:
    """Say which scheme alone writes fastest on a drive, with its own parameters and with others."""
    alone = [s for s in drive.schemes if "+" not in s]
    own = j.rank(drive, drive.places, "write_mean", alone)
    others = j.rank(drive, drive.places, "write_mean", list(drive.further))
    if not own or not others:
        return []
    (first, one), (best, other) = own[0], others[0]
    apart = j.between(drive.places, best, first, "write_mean")
    if apart is None or not (apart.is_settled and one.is_settled and other.is_settled):
        return []
    said = "the difference is not significant" if apart.is_chance else f"{apart} of that"
    return [
        f"On {drive.title}, of the schemes that are not combined, `{first}` writes fastest with "
        f"published parameters, in {one} the plain drive's time, and `{best}` with tuned ones, in "
        f"{other}: {said}."
    ]


def section(atlas: PublishedAtlas) -> str:
    """Return all results as Markdown; empty without tuned schemes."""
    if not any(atlas.tuned.values()):
        return ""
    table = tuning.table()
    how = _HOW.format(
        trials=table["trials"],
        conditions=len(table["conditions"]),
        seeds=len(table["seeds"]),
        requests=table["requests"],
        workloads=", ".join(f"`{w['name']}`" for w in table["workloads"]),
    )
    return "\n\n".join([how, *(_of_drive(atlas, d) for d in atlas.drives if d.further)])


def _of_drive(atlas: PublishedAtlas, drive: DriveCells) -> str:
    rows = [
        f"**{drive.title}**",
        "",
        "| scheme | latency | tuned parameters | in the search | all conditions | lowest | highest "
        "| lifetime | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for gain in gains(atlas, drive):
        t = gain.tuned
        kind = f"{t.measure.partition('_')[0]}s"
        if gain.own is None:
            cells = ["–"] * 6  # noqa: RUF001
        else:
            low, high = gain.own.interval
            by = sorted(gain.by_load.items(), key=lambda item: item[1].log)
            ends = [f"{over.ratio:.3f} ({load})" for load, over in (by[0], by[-1])]
            over = f"{gain.own.ratio:.3f} ({low:.3f} to {high:.3f})"
            life = "–" if gain.lifetime is None else f"{gain.lifetime.ratio:.3f}"  # noqa: RUF001
            cells = [f"`{t.parameters}`", f"{t.seen:.3f}", over, *ends, life]
        rows.append(f"| {' | '.join([f'`{t.of}`', kind, *cells, gain.verdict])} |")
    return "\n".join(rows)
