"""What an answer of the atlas is worth in longer runs: ``python -m wordline_lab.atlas.length DIR``.

Conditions of the published atlas whose runs are steady are run with ten times its first length and
other seeds. An answer that turns there rests on the length of the run; one that leaves
its interval by more than chance is off by what the interval, which is over seeds, does not show.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot
from pathlib import Path

import numpy as np

from wordline import page
from wordline.atlas.cells import KEYS, MEASURES
from wordline.atlas.execute import Performer
from wordline.atlas.judge import Over, over
from wordline.runs import Runner
from wordline_lab.atlas import published

#: Schemes on the drive of TLC; of the conditions every fourth, from the fourth on, since the rule
#: for reads beside rare writes was found on others; and how many times as long they run.
SCHEMES = ("slc-cache", "sector", "ips", "pa-ssd")
BEGIN, EVERY, TIMES = 3, 4, 10
OTHERS = range(6, 11)  #: The seeds of the longer runs; the atlas has those before them.
ASKED = ("write_mean", "read_mean", "write_p99", "waf")


@dataclass(frozen=True)
class Pair:
    """A figure over the plain drive's in short runs and in long ones."""

    measure: str
    short: Over
    long: Over

    @property
    def turns(self) -> bool:
        """Whether short and long runs say the opposite, both beyond chance."""
        is_known = not self.short.is_chance and not self.long.is_chance
        return is_known and self.short.log * self.long.log < 0

    @property
    def is_within(self) -> bool:
        """Whether the two differ by no more than chance."""
        return self.off <= hypot(self.short.half, self.long.half)

    @property
    def off(self) -> float:
        """By how much their logarithms to base 2 differ."""
        return abs(self.short.log - self.long.log)


def pairs(folder: Path) -> list[Pair]:
    """Run what is not there yet, and return all pairs; raises as `wordline.run`."""
    design = published.built_in()
    drive = design.drives[0]
    kept = {drive.baseline: drive.schemes[drive.baseline]}
    kept |= {scheme: drive.schemes[scheme] for scheme in SCHEMES}
    drive = replace(drive, schemes=kept, further={})
    design = replace(design, drives=[drive], conditions=design.conditions[BEGIN::EVERY])
    performer = Performer(design, Runner(folder / "runs"))
    [cells] = performer.perform().drives
    found: list[Pair] = []
    for condition, place in zip(design.conditions, cells.places, strict=True):
        steady = {scheme for scheme, cell in place.cells.items() if cell.steadiness.is_enough}
        if drive.baseline not in steady:
            continue
        longer = performer.place(drive, condition, OTHERS, TIMES)
        for scheme in sorted(steady - {drive.baseline}):
            for measure in ASKED:
                short, long = (over([of], scheme, measure) for of in (place, longer))
                if short and long:
                    found.append(Pair(measure, short, long))
    return found


def text(found: Sequence[Pair]) -> str:
    """Return what came out, as Markdown."""
    rows = []
    for measure in ASKED:
        of = [pair for pair in found if pair.measure == measure]
        median = 2 ** float(np.median([pair.off for pair in of])) - 1
        counts = (sum(not p.short.is_chance for p in of), sum(p.turns for p in of))
        within = sum(p.is_within for p in of)
        label = MEASURES[KEYS[measure]].label
        rows.append([label, str(len(of)), *map(str, counts), str(within), f"{median:.1%}"])
    head = ["figure over the plain drive's", "pairs", "significant at first", "of these turned"]
    head += ["within the intervals", "median difference"]
    return (
        "# Answers of the atlas in longer runs\n\n"
        "Written by `python -m wordline_lab.atlas.length DIR`: every fourth condition of the "
        f"published atlas on its drive of TLC, where the runs of {', '.join(SCHEMES)} and of the "
        f"plain drive are steady, and again with {TIMES} times its first length and other seeds."
        "\n\n"
        f"{page.table(head, rows)}\n"
        "The interval of an answer is over seeds; what the length of a run does it does not show.\n"
    )


if __name__ == "__main__":
    print(text(pairs(Path(sys.argv[1]))), end="")
