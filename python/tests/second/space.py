"""What is free and what is live, counted anew each time; and which block to collect."""

from __future__ import annotations

from .config import Config, share_up
from .records import Block, Plane, Region
from .room import Room


class Space(Room):
    """What is free and what is live, counted anew each time; and which block to collect."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.map: dict[int, tuple[Block, int]] = {}
        self.closings = 0

    def live_slots(self, block: Block) -> list[int]:
        return sorted(s for s, lpn in block.holds.items() if self.map.get(lpn) == (block, s))

    def owned(self, region: Region, plane: Plane) -> int:
        return len(self.blocks_in(region, plane))

    def blocks_in(self, region: Region, plane: Plane) -> list[Block]:
        return [b for b in self.blocks_of[plane.number] if b.region is region]

    def free_blocks(self, region: Region, plane: Plane) -> int:
        left = region.quota - self.owned(region, plane)
        return min(len(plane.free[region.pool]), max(left, 0))

    def free_slots(self, region: Region, plane: Plane) -> int:
        left = sum(region.slots_per_block - b.programmed for b in plane.open[region])
        return left + self.free_blocks(region, plane) * region.slots_per_block

    def total_blocks(self, region: Region) -> int:
        return min(region.quota, region.pool.blocks)

    def is_desperate(self, region: Region, plane: Plane) -> bool:
        half = self.total_blocks(region) // 2
        reserve = max(min(self.config.hard_reserve, half), region.pool.reserve)
        if region.trigger[0] == "free_blocks":
            return self.free_blocks(region, plane) <= reserve
        return self.free_slots(region, plane) <= reserve * region.slots_per_block

    def is_short(self, region: Region, plane: Plane) -> bool:
        what, share = region.trigger
        total = self.total_blocks(region)
        if what == "free_blocks":
            below = self.free_blocks(region, plane) < share_up(share, total)
        else:
            all_slots = total * region.slots_per_block
            below = self.free_slots(region, plane) < share_up(share, all_slots)
        return below or self.is_desperate(region, plane)

    def gains(self, region: Region, block: Block) -> bool:
        """Whether emptying a block gives back more than the padding of one program may cost."""
        lost = self.units_per_page * region.pages_per_program
        return len(self.live_slots(block)) <= region.slots_per_block - lost

    def best_victim(self, region: Region, plane: Plane) -> Block | None:
        closed = [b for b in self.blocks_in(region, plane) if b.phase == "full" and b.writers == 0]
        if not closed:
            return None
        if self.config.victim == "greedy":
            return min(closed, key=lambda b: (len(self.live_slots(b)), b.number))
        closed.sort(key=lambda b: b.closed_at)
        return next((b for b in closed if self.gains(region, b)), closed[0])

    def close(self, block: Block) -> None:
        """The last program of a block has ended: it may be collected."""
        block.phase = "full"
        self.closings += 1
        block.closed_at = self.closings
