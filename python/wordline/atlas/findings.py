"""What an atlas says, in sentences made from its figures."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from wordline.atlas import judge as j
from wordline.atlas.cells import KEYS, MEASURES, Atlas, DriveCells, Place
from wordline.atlas.design import FACTORS
from wordline.quantity import duration
from wordline.steady import NO_RUNS

#: The schemes of each paper, by what is common to their names.
PAPERS: dict[str, tuple[str, ...]] = {
    "Hierarchy": ("hierarchy",),
    "RARO": ("raro",),
    "HySSD": ("hyssd:perf", "hyssd:life"),
    "In-place Switch": ("ips", "ips-agc", "ips-cooperative"),
    "PA-SSD": ("pa-ssd",),
}
#: The least by which a best choice beats the plain drive and the second, in octaves: 2 %.
LEAST = 0.0286
#: What an architect asks for first.
ASKED = ("write_mean", "read_mean", "write_p99", "read_p99", "waf", "lifetime", "energy")


def sentences(atlas: Atlas, of_tuning: Sequence[str] = ()) -> list[str]:
    """Return what came out, the most general first, with what is said of tuned schemes."""
    said = [sentence for drive in atlas.drives for sentence in winners(drive)]
    said += of_tuning
    for about in (_loads, _fills, _ages, _costs):
        for drive in atlas.drives:
            said += about(drive)
    return said + _combined(atlas.drives) + _again(atlas)


def _is_of_two_media(drive: DriveCells) -> bool:
    """Whether some schemes run on another device than the baseline, so that the flash differs."""
    return len({device for device, _ in drive.schemes.values()}) > 1


def _name(scheme: str) -> str:
    return f"`{scheme}`"


def _label(measure: str) -> str:
    return MEASURES[KEYS[measure]].label


#: In place of a scheme in `best_by_condition`, where none is better than the plain drive.
NONE = ""


def best_by_condition(drive: DriveCells, places: Sequence[Place], measure: str) -> Counter[str]:
    """Count under how many conditions of a drive each scheme is best beyond chance."""
    found: Counter[str] = Counter()
    for place in places:
        choice = j.choose(drive, [place], measure)
        is_better = choice is not None and j.is_better(measure, choice.gain)
        found[choice.scheme if choice is not None and is_better else NONE] += 1
    return found


def by_state(drive: DriveCells, measure: str) -> tuple[list[Place], list[Place], list[Place]]:
    """Part the conditions of a drive by what its runs came to.

    Those that are steady, those at whose end the drive still changes, and those that are too short.
    """
    parts: tuple[list[Place], list[Place], list[Place]] = ([], [], [])
    for place in drive.places:
        choice = j.choose(drive, [place], measure)
        if choice is None or choice.is_settled:
            parts[0].append(place)
        else:
            parts[1 if choice.is_transient else 2].append(place)
    return parts


def steady_runs(drive: DriveCells) -> str:
    """Say how many runs of a drive are steady."""
    every = [j.steady(drive.places, scheme) for scheme in drive.schemes]
    return str(sum(every, NO_RUNS))


def winners(drive: DriveCells) -> list[str]:
    """Say which schemes write fastest under how many conditions of a drive."""
    if len(drive.places) < 2:
        return []
    if len(drive.schemes) < 2:
        return [
            f"On {drive.title} only the plain drive ran, so there is nothing to compare: give "
            f"two schemes or more ({steady_runs(drive)})."
        ]
    runs = steady_runs(drive)
    settled, changing, short = by_state(drive, "write_mean")
    begin = f"On {drive.title} the scheme with the lowest mean write latency"
    if not settled and not changing:
        return [f"{begin} is not known: run longer ({runs})."]
    of = best_by_condition(drive, settled, "write_mean")
    if len(of) == 1 and len(settled) == len(drive.places):
        [first] = of
        begin = f"On {drive.title} {_name(first)} has the lowest mean write latency"
        if first == NONE:
            begin = f"On {drive.title} no scheme writes significantly faster than the plain drive"
        every = "both" if len(settled) == 2 else f"all {len(settled)}"
        return [f"{begin} under {every} conditions ({runs})."]
    if changing or short:
        begin += f" is known for {len(settled)} of {len(drive.places)} conditions"
    else:
        begin += f" differs between the {len(settled)} conditions"
    said = [f"{begin}: {_counted(of)} ({runs})." if settled else f"{begin} ({runs})."]
    if changing:
        said.append(_of_transients(drive, changing))
    if short:
        said.append(f"For the other {len(short)}, run longer.")
    return [" ".join(said)]


def _counted(of: Counter[str], shown: int = 4) -> str:
    """List schemes with the number of conditions under which each is best."""
    named = Counter({scheme: count for scheme, count in of.items() if scheme != NONE})
    most = named.most_common(shown)
    listed = [f"{_name(scheme)} in {count}" for scheme, count in most]
    if others := named.total() - sum(count for _, count in most):
        listed.append(f"{len(named) - len(most)} others in {others}")
    if of[NONE]:
        listed.append(f"none significantly faster than the plain drive in {of[NONE]}")
    return ", ".join(listed)


def _of_transients(drive: DriveCells, places: Sequence[Place]) -> str:
    """Say for how long a drive still changes, and what is best over that time."""
    ends = [duration(of(place.seconds for place in places)) for of in (min, max)]
    best = _counted(best_by_condition(drive, places, "write_mean"))
    return (
        f"Under {len(places)} the drive still changes at the end of the runs, after "
        f"{' to '.join(dict.fromkeys(ends))}; over this transient it is: {best}."
    )


def _extremes(
    drive: DriveCells, factor: str, scheme: str, measure: str
) -> tuple[tuple[str, j.Over], tuple[str, j.Over]] | None:
    """Return the levels of a factor at which a scheme is best and worst, if runs are steady."""
    at = list(FACTORS).index(factor)
    levels = dict.fromkeys(p.at[at] for p in drive.places)
    each = [(level, j.over(j.where(drive, **{factor: level}), scheme, measure)) for level in levels]
    known = [(level, found) for level, found in each if found is not None]
    if len(known) < 2 or not all(found.is_settled for _, found in known):
        return None
    ordered = sorted(known, key=lambda item: item[1].log, reverse=MEASURES[KEYS[measure]].more)
    return ordered[0], ordered[-1]


def _loads(drive: DriveCells) -> list[str]:
    for scheme in _alone(drive, "turbo-write", "slc-cache"):
        if found := _extremes(drive, "load", scheme, "write_mean"):
            (best, one), (worst, other) = found
            return [
                f"Load decides what an SLC cache is worth: on {drive.title} the mean write latency "
                f"under {_name(scheme)} is {one} the plain drive's with `{best}`, and "
                f"{other} with `{worst}`."
            ]
    return []


def _alone(drive: DriveCells, *schemes: str) -> list[str]:
    """Return those of some schemes that ran on a drive, if all ran on the same flash."""
    return [] if _is_of_two_media(drive) else [s for s in schemes if s in drive.schemes]


def _fills(drive: DriveCells) -> list[str]:
    places = drive.places
    choice = j.choose(drive, places, "write_mean")
    if choice is None or len(places) < 2:
        return []
    if not choice.is_settled:
        # Where no condition has an answer, that has been said.
        if not by_state(drive, "write_mean")[0]:
            return []
        return [
            f"Over all conditions on {drive.title} the scheme with the lowest mean write latency "
            f"is not known: run longer ({choice.steady})."
        ]
    found = {
        fill: j.over(j.where(drive, fill=fill), choice.scheme, "write_mean")
        for fill in ("30%", "90%")
    }
    if None in found.values():
        return []
    return [
        f"Over all conditions on {drive.title} {_name(choice.scheme)} writes fastest, in "
        f"{choice.gain} the plain drive's time: {found['30%']} where 30 % of the "
        f"capacity holds data, {found['90%']} where 90 % does ({choice.steady})."
    ]


def _ages(drive: DriveCells) -> list[str]:
    for scheme in _alone(drive, "raro", "slc-cache"):
        new = j.over(j.where(drive, age="new"), scheme, "read_mean")
        old = j.over(j.where(drive, age="nine-tenths"), scheme, "read_mean")
        if new is not None and old is not None and new.is_settled and old.is_settled:
            return [
                f"Age: on {drive.title} the mean read latency under {_name(scheme)} is "
                f"{new} the plain drive's when new, and {old} with nine tenths of "
                "its life used."
            ]
    return []


def _costs(drive: DriveCells) -> list[str]:
    ranked = j.rank(drive, drive.places, "lifetime")
    if _is_of_two_media(drive):
        return []
    if len(ranked) < 3:
        if len(drive.schemes) < 3 or len(drive.places) < 2:
            return []
        return [
            f"What it costs: on {drive.title} the drive's lifetime is not known: run longer "
            f"({steady_runs(drive)})."
        ]
    (first, best), (last, worst) = ranked[0], ranked[-1]
    ends = [
        f"under {_name(scheme)}" + ("" if scheme == drive.baseline else f", {of}")
        for scheme, of in ((first, f"{best} the plain drive's bytes"), (last, worst))
    ]
    waf = None if last == drive.baseline else j.over(drive.places, last, "waf")
    with_waf = "" if waf is None else f", with {waf} the plain drive's write amplification"
    return [
        f"What it costs: on {drive.title} the drive lives longest {ends[0]}, and shortest "
        f"{ends[1]}{with_waf}."
    ]


def _combined(drives: Sequence[DriveCells]) -> list[str]:
    """Say which combinations write faster than each of their two parts alone."""
    gains: list[tuple[str, str, j.Over]] = []
    count = unknown = 0
    for drive in drives:
        for scheme in drive.schemes:
            front, _, dense = scheme.partition("+")
            if not dense or front not in drive.schemes or dense not in drive.schemes:
                continue
            count += 1
            over = [j.between(drive.places, scheme, part, "write_mean") for part in (front, dense)]
            known = [o for o in over if o is not None and o.is_settled]
            unknown += len(known) < len(over)
            if len(known) == 2 and all(j.is_better("write_mean", o) for o in known):
                gains.append((drive.title, scheme, max(known, key=lambda o: o.log)))
    if not count:
        return []
    rest = f" {unknown} of them need longer runs." if unknown else ""
    if unknown == count:
        return [
            f"Whether any of {count} combinations writes faster than both its parts is not known: "
            "run longer."
        ]
    if not gains:
        return [
            f"None of {count} combinations writes significantly faster than both its parts.{rest}"
        ]
    gains.sort(key=lambda g: g[2].log)
    title, scheme, least = gains[0]
    return [
        f"Over all conditions, {len(gains)} of {count} combinations (counted on each drive) write "
        f"significantly faster than both of their parts. The largest gain is that of "
        f"{_name(scheme)} on {title}: {least} the better part's time.{rest}"
    ]


def _again(atlas: Atlas) -> list[str]:
    """Say how many conditions were run with further seeds, and what those told apart.

    Conditions whose runs are not steady have no best two.
    """
    places = [(drive, place) for drive in atlas.drives for place in drive.places if place.again]
    found = [j.choose(drive, [place], "write_mean") for drive, place in places]
    choices = [choice for choice in found if choice is not None and choice.is_settled]
    if not choices:
        return []
    apart = sum(not choice.apart.is_chance for choice in choices)
    last = atlas.seeds + max(np.shape(rows)[1] for _, p in places for rows in p.again.values())
    every = sum(len(drive.places) for drive in atlas.drives)
    return [
        f"In {len(choices)} of {every} conditions the two schemes with the lowest mean write "
        f"latency do not differ significantly with {atlas.seeds} seeds. They were run with seeds "
        f"{atlas.seeds + 1} to {last} too, which alone decide between them: the difference is "
        f"significant in {apart}."
    ]


def best_places(
    drives: Sequence[DriveCells], schemes: Sequence[str], *, alone: bool
) -> list[tuple[DriveCells, Place, str, j.Choice]]:
    """Return the conditions in which one of the schemes is significantly best, clearest first.

    That is, better than the plain drive and than every other scheme beyond chance and by at least
    2 %; and if not `alone`, than every combination.
    """
    found = []
    for drive in drives:
        rivals = [s for s in drive.schemes if not (alone and "+" in s)]
        for place, measure in itertools.product(drive.places, ASKED):
            choice = j.choose(drive, [place], measure, rivals)
            if choice is None or choice.scheme not in schemes or not choice.is_sure:
                continue
            least = min(abs(choice.gain.log), abs(choice.apart.log))
            if j.is_better(measure, choice.gain) and least >= LEAST:
                found.append((drive, place, measure, choice))
    return sorted(found, key=lambda f: -abs(f[3].apart.log))


def papers(atlas: Atlas) -> list[str]:
    """Say of each paper's schemes where they are the best choice, or that they are nowhere."""
    said = []
    for paper, schemes in PAPERS.items():
        drives = [d for d in atlas.drives if any(s in d.schemes for s in schemes)]
        if not drives:
            continue
        ran = [s for s in schemes if any(s in d.schemes for d in drives)]
        found = best_places(drives, ran, alone=True)
        if not found:
            said.append(f"{paper}: {_nowhere(drives, ran)}")
            continue
        drive, place, measure, choice = found[0]
        cells = {(d.name, p.at) for d, p, _, _ in found}
        many = "one condition" if len(cells) == 1 else f"{len(cells)} conditions"
        of_all = {(d.name, p.at) for d, p, _, _ in best_places(drives, ran, alone=False)}
        said.append(
            f"{paper}: of the schemes that are not combined, {_or(ran)} is significantly the best "
            f"in at least one of {len(ASKED)} measures under {many}; of all "
            f"combinations, under {len(of_all) or 'none'}. The clearest is "
            f"{_name(choice.scheme)} on {drive.title} ({', '.join(place.at)}): {_label(measure)} "
            f"{choice.gain} the plain drive's, and {choice.apart} that of the second, "
            f"{_name(choice.second)}."
        )
    return said


def _nowhere(drives: Sequence[DriveCells], schemes: Sequence[str]) -> str:
    """Say that schemes are the best nowhere, or that no runs say where they are."""
    places = [(drive, place) for drive in drives for place in drive.places]
    choices = [j.choose(drive, [place], "write_mean") for drive, place in places]
    count = sum(choice is not None and choice.is_settled for choice in choices)
    if not count:
        runs = sum((j.steady([p], s) for d, p in places for s in d.schemes), NO_RUNS)
        return f"where {_or(schemes)} is the best is not known: run longer ({runs})."
    among = "" if count == len(places) else f" with steady runs ({count} of {len(places)})"
    return (
        f"{_or(schemes)} is significantly the best of the schemes that are not combined under no "
        f"condition{among}."
    )


def _or(schemes: Sequence[str]) -> str:
    *others, last = [_name(s) for s in schemes]
    return f"{', '.join(others)} or {last}" if others else last


def extremes(atlas: Atlas, measure: str, count: int) -> list[tuple[DriveCells, Place, str, j.Over]]:
    """Return the largest wins and losses of steady runs, one of a scheme and drive, wins first."""
    found = []
    for drive in atlas.drives:
        for place, scheme in itertools.product(drive.places, drive.schemes):
            o = j.over([place], scheme, measure)
            if scheme != drive.baseline and o is not None and o.is_settled:
                found.append((drive, place, scheme, o))
    chosen: list[tuple[DriveCells, Place, str, j.Over]] = []
    for sign in (1, -1):
        seen: set[tuple[str, str]] = set()
        for item in sorted(found, key=lambda f: sign * f[3].log):
            who = (item[0].name, item[2].partition("+")[0])
            if who not in seen and len(seen) < count:
                seen.add(who)
                chosen.append(item)
    return chosen


def explained(drive: DriveCells, place: Place, scheme: str) -> dict[str, Any]:
    """Return the parts that explain a cell, of the baseline and of the scheme.

    Parts of latencies are in microseconds, programs for each page that the host wrote.
    """
    rows: dict[str, Any] = {}
    for kind in ("write", "read", "programs"):
        for name, difference in list(j.parts(place, scheme, drive.baseline, kind).items())[:3]:
            own = place.cells[scheme].parts.get(kind, {}).get(name, 0.0)
            rows[f"{kind}.{name}"] = (own - difference, own)
    return rows
