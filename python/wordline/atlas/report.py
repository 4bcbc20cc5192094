"""The folder of an atlas: its page, its data, and a text with pictures for people who only read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wordline import page as pages
from wordline import plotting
from wordline.atlas import findings as f
from wordline.atlas import judge as j
from wordline.atlas import page
from wordline.atlas.cells import EXTRAPOLATED, FEWEST_P999, KEYS, MEASURES, Atlas, DriveCells
from wordline.atlas.design import FACTORS

#: Pictures of each drive: what is shown by load.
_SHOWN = ("write_mean", "read_mean", "write_p99", "lifetime")
#: Wins and losses that are explained.
_EXPLAINED = 5

#: How the runs were made, as Markdown.
_HOW = Path(__file__).with_name("how.md")

_STEADY = """\
A run counts as steady if nothing drifts from some point on (`steady_state.stationary` of its
report): how precise its means are, the interval over the seeds shows. {longer}An answer over
several conditions is given where four in five runs of each scheme that it names are steady, and
with how many of them are. Under a single condition at whose end the drive still changes, the answer
is of the transient that was run, and says how long that is. A lifetime is extrapolated, and has no
figure there."""

_FINITE = """\
The workloads are as long as they are, so that an answer is of what these requests come to on such a
drive, not of a steady state. A lifetime is extrapolated from steady runs alone."""

_BALANCED = """\
Not every combination is run: every level of a factor is
there equally often, and every pair of levels of two factors as equally as so many rows allow."""


@dataclass(frozen=True)
class Words:
    """What is said of an atlas."""

    sentences: Sequence[str]  #: What came out, the most general first.
    sections: Sequence[tuple[str, str]] = ()  #: Titles and Markdown of what follows them.
    design: str = _BALANCED  #: How its conditions were chosen.
    #: The part of the atlas of which wins, losses and the papers' schemes are told.
    shown: Atlas | None = None


def write(atlas: Atlas, folder: Path, command: str, words: Words | None = None) -> list[Path]:
    """Write page, data, text and pictures of an atlas into a folder; return their paths.

    They have the command that makes it again, and its findings where no other words are given.
    """
    folder.mkdir(parents=True, exist_ok=True)
    words = words or Words(f.sentences(atlas))
    shown = words.shown or atlas
    of_papers = f.papers(shown)
    written = []

    def put(name: str, text: str) -> None:
        path = folder / name
        path.write_text(text, encoding="utf-8")
        written.append(path)

    put("atlas.json", atlas.to_json() + "\n")
    put("index.html", page.to_html(atlas, command, words.sentences, of_papers, words.sections))
    pictures = []
    for drive in atlas.drives:
        for measure in _SHOWN:
            name = f"{drive.name.lower()}-{measure.replace('_', '-')}.svg"
            with plotting.style():
                heat = _heat(drive, measure, atlas.by)
                if heat is None:
                    # A picture of an earlier atlas would show what is no longer known.
                    (folder / name).unlink(missing_ok=True)
                    continue
                plotting.save(heat, folder / name)
            written.append(folder / name)
            pictures.append((drive, measure, name))
    put("README.md", _readme(atlas, command, words, of_papers, _why(shown), pictures))
    return written


def longer(atlas: Atlas, command: str, sentences: Sequence[str]) -> str:
    """Return the command of runs long enough for an answer; nothing where each answer is known."""
    unknown = any("run longer" in sentence for sentence in sentences)
    return page.longer(command, atlas) if unknown else ""


def _readme(
    atlas: Atlas,
    command: str,
    words: Words,
    of_papers: Sequence[str],
    why: str,
    pictures: Sequence[tuple[DriveCells, str, str]],
) -> str:
    conditions = max(len(d.places) for d in atlas.drives)
    run_longer = longer(atlas, command, words.sentences)
    parts = [
        f"# {atlas.title}",
        "[The page](index.html) answers for conditions that you choose: one file, to be opened in "
        "a browser, without a network. Here is what came out, for people who only read.",
        f"Written by\n\n```\n{command}\n```",
        "## What came out",
        "\n".join(f"{i}. {sentence}" for i, sentence in enumerate(words.sentences, 1)),
        f"Longer runs\n\n```\n{run_longer}\n```" if run_longer else "",
        *[f"## {title}\n\n{text}" for title, text in words.sections],
        "## Where each paper's scheme is the best choice" if of_papers else "",
        "\n".join(f"- {sentence}" for sentence in of_papers),
        f"## The best choice by {atlas.by}",
        *[_choices(drive, atlas.by) for drive in atlas.drives],
        f"## By {atlas.by}",
        *[f"![{MEASURES[KEYS[m]].label}, {d.title}]({name})" for d, m, name in pictures],
        _undrawn(atlas, pictures),
        f"## Why\n\n{_WHY}" if why else "",
        why,
        "## How it was done",
        _HOW.read_text(encoding="utf-8")
        .rstrip()
        .format(
            conditions=conditions,
            seeds=atlas.seeds,
            few=FEWEST_P999,
            design=words.design,
            answers=_FINITE if atlas.is_finite else _STEADY.format(longer=_lengthened(atlas)),
        ),
        _refused(atlas),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _lengthened(atlas: Atlas) -> str:
    """Say under how many conditions runs were made longer."""
    every = [place for drive in atlas.drives for place in drive.places]
    longer = [p for p in every if p.asked > atlas.requests[p.at[1]]]
    if not longer:
        return ""
    times = longer[0].asked // atlas.requests[longer[0].at[1]]
    return (
        f"Under {len(longer)} of {len(every)} conditions (counted on each drive) fewer than four "
        f"in five were steady, so that all runs there are {times} times as long. "
    )


def _undrawn(atlas: Atlas, pictures: Sequence[tuple[DriveCells, str, str]]) -> str:
    """Say which measures have no picture, since no figure of theirs is known."""
    drawn = {(drive.name, measure) for drive, measure, _ in pictures}
    each = ((d, m) for d in atlas.drives for m in _SHOWN if (d.name, m) not in drawn)
    lacking = [f"{MEASURES[KEYS[m]].label} on {d.title}" for d, m in each]
    return f"Not drawn, since too few runs are steady: {', '.join(lacking)}." if lacking else ""


def _levels(drive: DriveCells, factor: str) -> list[str]:
    at = list(FACTORS).index(factor)
    return list(dict.fromkeys(p.at[at] for p in drive.places))


def _choices(drive: DriveCells, factor: str) -> str:
    measures = ("write_mean", "write_p99", "read_mean", "read_p99", "lifetime")
    rows = []
    for level in _levels(drive, factor):
        cells = []
        for measure in measures:
            choice = j.choose(drive, j.where(drive, **{factor: level}), measure)
            if choice is None:
                # There are no such requests, or a lifetime would rest on runs that are not steady.
                cells.append("not known" if measure in EXTRAPOLATED else "–")  # noqa: RUF001
            elif not choice.is_settled:
                cells.append(f"not known ({choice.steady})")
            elif not j.is_better(measure, choice.gain):
                cells.append("plain drive")
            else:
                tied = "" if not choice.apart.is_chance else f" or `{choice.second}`"
                low, high = choice.gain.interval
                ratio = f"{_short(choice.gain.ratio)} ({_short(low)} to {_short(high)})"
                cells.append(f"`{choice.scheme}`{tied} {ratio}")
        rows.append([level, *cells])
    head = [factor, *(MEASURES[KEYS[m]].label for m in measures)]
    return f"**{drive.title}**\n\n{pages.table(head, rows).rstrip()}"


_WHY = (
    "The largest wins and losses of mean write latency, one of each front and drive, and what "
    "differs most from the plain drive: parts of the mean latency of writes and of reads in "
    "microseconds, and programs by cause for each page that the host wrote."
)


def _why(atlas: Atlas) -> str:
    rows = []
    for drive, place, scheme, found in f.extremes(atlas, "write_mean", _EXPLAINED):
        parts = "; ".join(
            f"{name.replace('_', ' ').replace('.', ': ')} {_figure(before)}, {_figure(after)}"
            for name, (before, after) in f.explained(drive, place, scheme).items()
        )
        low, high = found.interval
        over = f"{_figure(found.ratio)} ({_figure(low)} to {_figure(high)})"
        rows.append([f"`{scheme}`", f"{drive.title}; {', '.join(place.at)}", over, parts])
    head = ["scheme", "drive and conditions", "write latency"]
    head.append("what differs: plain drive, scheme")
    return pages.table(head, rows).rstrip() if rows else ""


def _figure(value: float) -> str:
    """Write a figure with three digits and no exponent."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:g}"


def _refused(atlas: Atlas) -> str:
    cells = ((drive, c) for drive in atlas.drives for p in drive.places for c in p.cells.items())
    found = Counter((f"`{s}` on {drive.title}", cell.why) for drive, (s, cell) in cells if cell.why)
    if not found:
        return "No scheme was refused under any condition."
    rows = [f"- {who}, {n} conditions: {why}" for (who, why), n in found.items()]
    return "Refused:\n\n" + "\n".join(rows)


def _heat(drive: DriveCells, measure: str, factor: str) -> Any:
    """Draw a scheme a row and a level a column, in the page's colors; None if none is known."""
    import matplotlib.pyplot as plt

    levels = _levels(drive, factor)
    ranked = [s for s, _ in j.rank(drive, drive.places, measure)]
    schemes = ranked + [s for s in drive.schemes if s not in ranked]
    places = {level: j.where(drive, **{factor: level}) for level in levels}
    found = {(s, at): j.over(places[at], s, measure) for s in schemes for at in levels}
    if not any(o is not None for o in found.values()):
        return None
    sign = -1 if MEASURES[KEYS[measure]].more else 1

    def shade(of: j.Over | None) -> float:
        return np.nan if of is None else 0 if _is_open(of) else sign * of.log

    values = np.array([[shade(found[s, level]) for level in levels] for s in schemes])
    picture, at = plt.subplots(
        figsize=(0.62 * len(levels) + 2.8, 0.245 * len(schemes) + 1.6), layout="constrained"
    )
    at.imshow(values, cmap=plotting.gain_and_loss(), vmin=-2.5, vmax=2.5, aspect="auto")
    at.set_xticks(range(len(levels)), levels, rotation=50, ha="right")
    at.set_yticks(range(len(schemes)), schemes)
    at.grid(visible=False)
    for i, scheme in enumerate(schemes):
        for k, level in enumerate(levels):
            if (o := found[scheme, level]) is not None:
                ink = "#777777" if _is_open(o) else plotting.ON_LIGHT
                at.text(k, i, _short(o.ratio), ha="center", va="center", fontsize=7.5, color=ink)
    at.set_title(
        f"{drive.title}: {MEASURES[KEYS[measure]].label} over the plain drive's", fontsize=10
    )
    return picture


def _short(ratio: float) -> str:
    """Return a ratio in two digits, or all of its whole ones: no exponent."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2g}"


def _is_open(found: j.Over) -> bool:
    """Whether a figure says nothing: chance may have made it, or its runs are not steady."""
    return found.is_chance or not found.is_settled
