"""What is known of a block since its last erase."""

from __future__ import annotations

from dataclasses import dataclass, field

from wordline.replay.drive import Region


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
