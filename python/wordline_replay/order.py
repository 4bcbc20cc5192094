"""Program rules: what a block holds since its erase, and which page may be programmed next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from wordline_replay.drive import PAGES, Region
from wordline_replay.log import Use

#: Programs of its neighbors that a wordline bears between two of its own (In-place Switch, IV-D1).
MOST_INTERFERENCE = 12

Wrong = Callable[[str, str, str], None]


@dataclass(slots=True)
class Block:
    """A block that has been programmed."""

    region: Region
    programmed: int = 0  # slots, under rules that program whole wordlines
    pages: set[tuple[int, int]] = field(default_factory=set)  # wordline and bit, under BY_BIT rules
    direct: int | None = None  # the wordline that is being written with all its bits
    disturbed: dict[int, int] = field(default_factory=dict)  # wordline -> programs beside it since
    holds: dict[int, list[int]] = field(default_factory=dict)  # slot -> logical pages, where known

    @property
    def slots(self) -> int:
        """Slots that are programmed."""
        return self.programmed + len(self.pages) * self.region.slots_per_page

    def holds_slot(self, slot: int) -> bool:
        """Whether a slot is programmed."""
        page = slot // self.region.slots_per_page
        return slot < self.programmed or divmod(page, self.region.bits) in self.pages


def program(u: Use, region: Region, block: Block, wrong: Wrong) -> bool:
    """Check the place of a program in its block, and take its pages for programmed.

    Returns whether it is a reprogram, which adds a bit to those that its wordline holds.
    """
    if region.rule in ("sequential", "one-shot"):
        _in_turn(u, region, block, wrong)
    elif region.window:
        return _in_window(u, region, block, wrong)
    else:
        _by_bit(u, region, block, wrong)
    return False


def _in_turn(u: Use, region: Region, block: Block, wrong: Wrong) -> None:
    """Check slots that are programmed one after the other."""
    if u.slot < block.programmed:
        what = f"slot {u.slot} of block {u.block} is programmed again by operation {u.op}"
        wrong("programmed twice", what, f"slot {block.programmed}, or an erase")
    elif u.slot > block.programmed:
        what = f"slot {u.slot} of block {u.block} is programmed by operation {u.op}"
        wrong("program order", what, f"slot {block.programmed} next ({region.rule})")
    block.programmed = max(block.programmed, u.slot + u.slots)


def _page(u: Use, region: Region) -> tuple[int, int, str]:
    """Return wordline and bit of a program, and what it does in words."""
    wordline, bit = divmod(u.slot // region.slots_per_page, region.bits)
    name = f"{PAGES[bit].upper()} page of wordline {wordline} in block {u.block}"
    return wordline, bit, f"the {name} is programmed by operation {u.op}"


def _by_bit(u: Use, region: Region, block: Block, wrong: Wrong) -> None:
    """Check a page by the constraints between wordlines, page by page."""
    wordline, bit, what = _page(u, region)
    if (wordline, bit) in block.pages:
        wrong("programmed twice", what, "an erase before")
    elif region.rule == "strict-diagonal":
        following = next(page for page in region.diagonals() if page not in block.pages)
        if (wordline, bit) != following:
            first, of = PAGES[following[1]].upper(), following[0]
            wrong("program order", what, f"the {first} page of wordline {of}")
    else:
        beside = [(near, bit - 1) for near in (wordline - 1, wordline, wordline + 1) if bit > 0]
        for page in [(wordline - 1, bit), *beside]:
            if 0 <= page[0] < region.wordlines and page not in block.pages:
                first = f"the {PAGES[page[1]].upper()} page of wordline {page[0]}"
                wrong("program order", what, f"{first} before it")
    block.pages.add((wordline, bit))


def _in_window(u: Use, region: Region, block: Block, wrong: Wrong) -> bool:
    """Check a page by what a window may take, wordline by wordline.

    Returns whether it is a reprogram.
    """
    wordline, bit, what = _page(u, region)
    if (wordline, bit) in block.pages:
        wrong("programmed twice", what, "an erase before")
        return False
    first = wordline // region.window * region.window
    last = min(first + region.window, region.wordlines) - 1
    bits = range(region.bits)
    held = {w: sum((w, b) in block.pages for b in bits) for w in range(first, last + 1)}
    above = sorted(w for w, _ in block.pages if w > last)
    below = [w for w in range(first) for b in bits if (w, b) not in block.pages]
    if above or below:
        why = f"wordline {above[0]} holds data" if above else f"wordline {below[0]} lacks bits"
        wrong("window", f"{what}, but {why}", "the current window only")
    # With all bits at once: the wordlines before are whole, those behind are blank.
    reprograms = False
    begins = u.mode == region.mode and bit == 0
    if begins or block.direct is not None:
        fits = (
            held[wordline] == bit
            and all(held[w] == region.bits for w in range(first, wordline))
            and not any(held[w] for w in range(wordline + 1, last + 1))
            and u.mode == region.mode
        )
        done = wordline == last and bit == region.bits - 1
        block.direct = None if done else wordline + (bit == region.bits - 1)
    elif bit == 0:
        fits = (
            u.mode == "slc"
            and all(held[w] == 1 for w in range(first, wordline))
            and not any(held[w] for w in range(wordline, last + 1))
        )
    else:
        fits = (
            u.mode == region.mode
            and all(held[w] == bit + 1 for w in range(first, wordline))
            and all(held[w] == bit for w in range(wordline, last + 1))
        )
        reprograms = True
    if not fits:
        found = " ".join(f"{w}:{n}" for w, n in held.items())
        order = "SLC pages in turn, then a bit more in each, or all bits wordline by wordline"
        wrong("program order", f"{what} as {u.mode} over bits {found}", order)
    block.pages.add((wordline, bit))
    _disturb(block, wordline, what, wrong)
    return reprograms


def _disturb(block: Block, wordline: int, what: str, wrong: Wrong) -> None:
    """Count a program beside the neighbors of a wordline, and check that they bear it."""
    block.disturbed[wordline] = 0
    for near in (wordline - 1, wordline + 1):
        if near in block.disturbed:
            block.disturbed[near] += 1
            if block.disturbed[near] > MOST_INTERFERENCE:
                beside = f"{block.disturbed[near]} programs beside wordline {near}"
                wrong("interference", what, f"no more than {beside}")
