//! Free space: how much a plane of a region has left, when that is too little, the gain of GC, and the plane with the
//! most.

use crate::plan::decision::ChannelSet;
use crate::plan::region::{MovedIn, RegionId};
use crate::state::block::Phase;
use crate::state::program_buffer::WriteStream;
use crate::state::region::RegionPlane;
use crate::state::state::State;
use std::cmp::Reverse;
use wordline_device::Trigger;
use wordline_units::{BlockId, Fraction, PlaneId};

impl State {
    #[inline]
    pub(crate) fn free_blocks(&self, region: RegionId, plane: PlaneId) -> u32 {
        let r = &self.regions[region.index()];
        let local = (plane.0 - r.first_plane) as usize;
        let free = self.pools[r.region.pool.0 as usize].free[local].len() as u32;
        free.min(r.quota.saturating_sub(r.planes[local].owned))
    }

    pub(crate) fn free_slots(&self, region: RegionId, plane: PlaneId) -> u64 {
        let r = &self.regions[region.index()];
        self.at(region, plane).open_slots + self.free_blocks(region, plane) as u64 * r.slots_per_block as u64
    }

    /// Blocks of a plane that a region may own.
    pub(crate) fn total_blocks(&self, region: RegionId) -> u32 {
        self.regions[region.index()].quota.min(self.pool_of(region).blocks_per_plane)
    }

    /// Blocks of a plane that a region may own, without those that are lost.
    fn blocks_left(&self, region: RegionId, plane: PlaneId) -> u32 {
        let pool = self.pool_of(region);
        let left = pool.blocks_per_plane - pool.free[self.local(region, plane)].lost();
        self.regions[region.index()].quota.min(left)
    }

    /// Whether a plane of a region is short of space by its trigger, or by the hard reserve.
    pub(crate) fn is_short(&self, region: RegionId, plane: PlaneId) -> bool {
        let total = self.blocks_left(region, plane);
        let slots = self.regions[region.index()].slots_per_block as u64;
        let below = |f: Fraction, free: u64, all: u64| free < f.of_ceil(all);
        let short = match self.regions[region.index()].region.trigger {
            Trigger::Never => return false,
            Trigger::LastBlock => return self.has_opened_last(region, plane),
            Trigger::FreeBlocks(f) => below(f, self.free_blocks(region, plane) as u64, total as u64),
            Trigger::FreeSlots(f) => below(f, self.free_slots(region, plane), total as u64 * slots),
        };
        short || self.is_at_hard_reserve(region, plane)
    }

    /// Whether a plane of a region is down to the hard reserve, so that GC is urgent.
    #[inline]
    pub(crate) fn is_at_hard_reserve(&self, region: RegionId, plane: PlaneId) -> bool {
        let r = &self.regions[region.index()];
        if matches!(r.region.trigger, Trigger::Never | Trigger::LastBlock) {
            return false;
        }
        let (pool, local) = (&self.pools[r.region.pool.0 as usize], (plane.0 - r.first_plane) as usize);
        let at = &r.planes[local];
        let free = (pool.free[local].len() as u32).min(r.quota.saturating_sub(at.owned));
        let total = r.quota.min(pool.blocks_per_plane);
        let reserve = self.config.gc.hard_reserve.min(total / 2).max(pool.reserve);
        match r.region.trigger {
            Trigger::FreeSlots(_) => {
                let slots = r.slots_per_block as u64;
                at.open_slots + free as u64 * slots <= reserve as u64 * slots
            }
            _ => free <= reserve,
        }
    }

    /// Blocks of a plane of a region that are erased when a block has just been opened and a collection
    /// begins: the most that are too few, by the trigger or by the hard reserve.
    pub(crate) fn held_back(&self, region: RegionId) -> u32 {
        let total = self.total_blocks(region);
        let by_trigger = match self.regions[region.index()].region.trigger {
            Trigger::Never | Trigger::LastBlock => 0,
            Trigger::FreeBlocks(share) | Trigger::FreeSlots(share) => {
                (share.of_ceil(total as u64) as u32).saturating_sub(1)
            }
        };
        by_trigger.max(self.hard_reserve(region))
    }

    /// Erased blocks of a plane at which collection becomes urgent.
    pub(crate) fn hard_reserve(&self, region: RegionId) -> u32 {
        self.config.gc.hard_reserve.min(self.total_blocks(region) / 2).max(self.pool_of(region).reserve)
    }

    /// Slots of a plane of a region that are programmed, live or not.
    pub(crate) fn used_slots(&self, region: RegionId, plane: PlaneId) -> u64 {
        let (r, at) = (&self.regions[region.index()], self.at(region, plane));
        at.owned as u64 * r.slots_per_block as u64 - at.open_slots
    }

    /// Whether more slots of a plane of a region can be programmed.
    #[inline]
    pub(crate) fn has_slots_left(&self, region: RegionId, plane: PlaneId) -> bool {
        let most = self.regions[region.index()].slot_quota;
        most == u64::MAX || self.used_slots(region, plane) < most
    }

    /// Whether a plane of a region has opened the last block that it may own, or has less than a block of
    /// slots left.
    fn has_opened_last(&self, region: RegionId, plane: PlaneId) -> bool {
        let r = &self.regions[region.index()];
        let most = r.slot_quota;
        self.free_blocks(region, plane) == 0
            || (most < u64::MAX && self.used_slots(region, plane) + r.slots_per_block as u64 > most)
    }

    /// Slots of a block that are not yet programmed.
    pub(crate) fn unused_slots(&self, block: BlockId) -> u32 {
        let info = &self.blocks[block.index()];
        let r = &self.regions[info.region as usize];
        (r.shape.pages() - r.region.rule.programmed(&info.state)) * r.units_per_page
    }

    /// Slots of a plane of a region without valid data, now or after the queued operations.
    pub(crate) fn spare_slots(&self, region: RegionId, plane: PlaneId) -> u64 {
        let r = &self.regions[region.index()];
        let slots = self.blocks_left(region, plane) as u64 * r.slots_per_block as u64;
        let queued = self.backlog.of(plane) as u64 * r.units_per_page as u64;
        slots.saturating_sub(self.at(region, plane).live / self.geometry.sectors_per_unit as u64 + queued)
    }

    /// The plane with the most slots that hold nothing live, and of about equals, within a sixteenth of a block, the
    /// one with the least to do.
    pub(crate) fn most_free(&self, region: RegionId) -> Option<PlaneId> {
        let r = &self.regions[region.index()];
        let step = (r.slots_per_block as u64 / 16).max(1);
        self.in_turn(region)
            .map(|local| PlaneId(r.first_plane + local as u32))
            .min_by_key(|p| (Reverse(self.spare_slots(region, *p) / step), self.backlog.before(*p)))
    }

    /// The plane with the least to do, and room, of those that are within a sixteenth of a block of the roomiest.
    pub(crate) fn level(&self, region: RegionId) -> Option<PlaneId> {
        let r = &self.regions[region.index()];
        let step = (r.slots_per_block as u64 / 16).max(1);
        let planes = || {
            let planes = self.in_turn(region).map(|local| PlaneId(r.first_plane + local as u32));
            planes.map(|p| (p, self.spare_slots(region, p)))
        };
        let most = planes().map(|(_, spare)| spare).max()?;
        let near = planes().filter(|(_, spare)| spare + step > most && (*spare > 0 || most == 0));
        near.map(|(p, _)| p).min_by_key(|p| self.backlog.before(*p))
    }

    /// The plane where a host write waits least: one that has room, then one on a channel that is not unwanted, then
    /// one where a group waits for other data, then the one whose array has the least to do, then whose channel has,
    /// then that has the fewest operations itself.
    #[inline]
    pub(crate) fn least_busy(&self, region: RegionId, unwanted: Option<ChannelSet>) -> Option<PlaneId> {
        let r = &self.regions[region.index()];
        let free = &self.pools[r.region.pool.0 as usize].free;
        // A loop, and numbers that are kept: every write passes here.
        let (mut best, mut least) = (None, (u32::MAX, (0, 0, 0)));
        for local in self.in_turn(region) {
            let (at, plane) = (&r.planes[local], PlaneId(r.first_plane + local as u32));
            let full = at.open_slots == 0 && (free[local].is_empty() || at.owned >= r.quota);
            let avoided = unwanted
                .is_some_and(|set| set.contains(self.geometry.channel_of(self.geometry.die_of(plane))));
            let alone = !at.program_buffers[WriteStream::Host as usize].holds_some();
            let kind = (full as u32) << 2 | (avoided as u32) << 1 | alone as u32;
            let waits = (kind, self.backlog.before(plane));
            if waits < least {
                (best, least) = (Some(plane), waits);
            }
        }
        best
    }

    /// The planes of a region, counted from its first, in their order from the one whose turn it is.
    #[inline(always)]
    fn in_turn(&self, region: RegionId) -> impl Iterator<Item = usize> {
        let turns = &self.regions[region.index()].turns;
        let (before, from) = turns.split_at(self.turn as usize % turns.len());
        from.iter().chain(before).map(|local| *local as usize)
    }

    /// The plane of a region where moved units wait for other data.
    pub(crate) fn waiting_plane(&self, region: RegionId) -> Option<PlaneId> {
        let r = &self.regions[region.index()];
        let waits = |at: &RegionPlane| !at.program_buffers[WriteStream::Moved as usize].page.is_none();
        let local = r.planes.iter().position(waits)?;
        Some(PlaneId(r.first_plane + local as u32))
    }

    /// Whether a move for which the host waits must wait for space in the buffer of its region.
    pub(crate) fn has_full_buffer(&self, region: RegionId) -> bool {
        let r = &self.regions[region.index()];
        matches!(r.region.moved_in, MovedIn::Through(units) if r.buffered >= units)
    }

    /// Whether emptying a block, or its superblock, within its pool frees more than the maximum padding of a group in
    /// each plane, and the parity of what is written again; otherwise GC could livelock.
    pub(crate) fn gains(&self, region: RegionId, block: BlockId) -> bool {
        let r = &self.regions[region.index()];
        let (together, program) =
            (self.pool_of(region).planes_per_superblock, r.units_per_page * r.pages_per_program);
        let cost = match together {
            1 => self.relocation_cost(block),
            _ => self.superblock_relocation_cost(region, block),
        };
        let taken = cost.div_ceil(self.geometry.sectors_per_unit) + (program - 1) * together;
        let parity = self.superblocks.parity.slots_beside(taken, program, together);
        taken + parity < r.slots_per_block * together
    }

    /// Cost of emptying a block, in sectors: data to program, and slots left unused. Victims are ranked by it, so
    /// that the one with the most invalid sectors comes first.
    #[inline]
    pub(crate) fn relocation_cost(&self, block: BlockId) -> u32 {
        let info = &self.blocks[block.index()];
        let unused = if info.phase == Phase::Standby { self.unused_slots(block) } else { 0 };
        let leaves = self.regions[info.region as usize].region.evicts_to_other_pool;
        // What goes to another pool may be packed again there; what stays takes a slot for a slot.
        let moves = if leaves { info.live } else { self.map.relocation_cost(block, info.live) };
        moves + unused * self.geometry.sectors_per_unit
    }

    pub(crate) fn best_victim(&self, region: RegionId, plane: PlaneId) -> Option<BlockId> {
        let plane = PlaneId(self.superblock_planes(region, plane).start);
        let first = self.geometry.blocks_of(plane).start + self.pool_of(region).offset;
        let block = |at: usize| BlockId(first + at as u32);
        let victims = &self.at(region, plane).victims;
        let best = victims.best()?;
        if victims.has_best_first() || self.gains(region, block(best)) {
            return Some(block(best));
        }
        // The oldest block that gives something back, or just the oldest.
        let gaining = victims.in_order().find(|at| self.gains(region, block(*at)));
        Some(block(gaining.unwrap_or(best)))
    }

    /// The first block by the region's own rule, whether or not it frees space.
    pub(crate) fn oldest_victim(&self, region: RegionId, plane: PlaneId) -> Option<BlockId> {
        let plane = PlaneId(self.superblock_planes(region, plane).start);
        let first = self.geometry.blocks_of(plane).start + self.pool_of(region).offset;
        self.at(region, plane).victims.best().map(|at| BlockId(first + at as u32))
    }
}
