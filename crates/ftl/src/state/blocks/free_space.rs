//! Free space: how much a plane of a region has left, when that is too little, the gain of GC, and the plane with the
//! most.

use crate::plan::decision::ChannelSet;
use crate::plan::region::{MovedIn, RegionId};
use crate::state::backlog::Backlog;
use crate::state::blocks::Blocks;
use crate::state::region::{RegionPlane, WriteStream};
use std::cmp::Reverse;
use wordline_device::Trigger;
use wordline_units::{BlockId, PlaneId};

#[inline]
pub(crate) fn free_blocks(blocks: &Blocks, region: RegionId, plane: PlaneId) -> u32 {
    let r = &blocks.regions[region.index()];
    let local = (plane.0 - r.first_plane) as usize;
    let free = blocks.pools[r.region.pool.0 as usize].free[local].len() as u32;
    free.min(r.quota.saturating_sub(r.planes[local].owned))
}

pub(crate) fn free_slots(blocks: &Blocks, region: RegionId, plane: PlaneId) -> u64 {
    let r = &blocks.regions[region.index()];
    blocks.at(region, plane).open_slots + free_blocks(blocks, region, plane) as u64 * r.slots_per_block as u64
}

/// Blocks of a plane that a region may own.
pub(crate) fn total_blocks(blocks: &Blocks, region: RegionId) -> u32 {
    blocks.regions[region.index()].quota.min(blocks.pool_of(region).blocks_per_plane)
}

/// Blocks of a plane that a region may own, without those that are lost.
fn blocks_left(blocks: &Blocks, region: RegionId, plane: PlaneId) -> u32 {
    let pool = blocks.pool_of(region);
    let left = pool.blocks_per_plane - pool.free[blocks.local(region, plane)].lost();
    blocks.regions[region.index()].quota.min(left)
}

/// Whether a plane of a region is short of space by its trigger, or by the hard reserve.
pub(crate) fn is_short(blocks: &Blocks, region: RegionId, plane: PlaneId) -> bool {
    let share = match blocks.regions[region.index()].region.trigger {
        Trigger::Never => return false,
        Trigger::LastBlock => return has_opened_last(blocks, region, plane),
        Trigger::FreeBlocks(share) | Trigger::FreeSlots(share) => share,
    };
    let Some(free) = measure(blocks, region, plane) else { return false };
    let all = u64::from(blocks_left(blocks, region, plane)) * free.block;
    free.all <= free.reserve || share.exceeds(free.all, all)
}

/// Free space of a plane of a region, as its trigger counts it: in blocks or in slots.
struct Measured {
    all: u64,
    /// The hard reserve.
    reserve: u64,
    /// What a block is.
    block: u64,
}

/// The free space of a plane of a region; `None` for a trigger that has no reserve.
#[inline(always)]
fn measure(blocks: &Blocks, region: RegionId, plane: PlaneId) -> Option<Measured> {
    let r = &blocks.regions[region.index()];
    let (pool, local) = (&blocks.pools[r.region.pool.0 as usize], (plane.0 - r.first_plane) as usize);
    let at = &r.planes[local];
    let (open, block) = match r.region.trigger {
        Trigger::Never | Trigger::LastBlock => return None,
        Trigger::FreeBlocks(_) => (0, 1),
        Trigger::FreeSlots(_) => (at.open_slots, u64::from(r.slots_per_block)),
    };
    let free = (pool.free[local].len() as u32).min(r.quota.saturating_sub(at.owned));
    let total = r.quota.min(pool.blocks_per_plane);
    let reserve = blocks.hard_reserve.min(total / 2).max(pool.reserve);
    Some(Measured { all: open + u64::from(free) * block, reserve: u64::from(reserve) * block, block })
}

/// Whether a plane of a region is down to the hard reserve, so that GC is urgent.
#[inline(always)]
pub(crate) fn is_at_hard_reserve(blocks: &Blocks, region: RegionId, plane: PlaneId) -> bool {
    measure(blocks, region, plane).is_some_and(|free| free.all <= free.reserve)
}

/// Blocks of a plane of a region that are erased when a block has just been opened and a collection
/// begins: the most that are too few, by the trigger or by the hard reserve.
pub(crate) fn held_back(blocks: &Blocks, region: RegionId) -> u32 {
    let total = total_blocks(blocks, region);
    let by_trigger = match blocks.regions[region.index()].region.trigger {
        Trigger::Never | Trigger::LastBlock => 0,
        Trigger::FreeBlocks(share) | Trigger::FreeSlots(share) => {
            (share.of_ceil(total as u64) as u32).saturating_sub(1)
        }
    };
    by_trigger.max(hard_reserve(blocks, region))
}

/// Erased blocks of a plane at which collection becomes urgent.
pub(crate) fn hard_reserve(blocks: &Blocks, region: RegionId) -> u32 {
    blocks.hard_reserve.min(total_blocks(blocks, region) / 2).max(blocks.pool_of(region).reserve)
}

/// Whether a plane of a region has opened the last block that it may own, or has less than a block of
/// slots left.
fn has_opened_last(blocks: &Blocks, region: RegionId, plane: PlaneId) -> bool {
    let r = &blocks.regions[region.index()];
    let most = r.slot_quota;
    free_blocks(blocks, region, plane) == 0
        || (most < u64::MAX && r.used_slots(blocks.local(region, plane)) + r.slots_per_block as u64 > most)
}

/// Slots of a block that are not yet programmed.
pub(crate) fn unused_slots(blocks: &Blocks, block: BlockId) -> u32 {
    let info = &blocks.all[block.index()];
    let r = &blocks.regions[info.region as usize];
    (r.shape.pages() - r.region.rule.programmed(&info.state)) * r.units_per_page
}

/// Slots of a plane of a region without valid data, now or after the queued operations.
pub(crate) fn spare_slots(blocks: &Blocks, backlog: &Backlog, region: RegionId, plane: PlaneId) -> u64 {
    let r = &blocks.regions[region.index()];
    let slots = blocks_left(blocks, region, plane) as u64 * r.slots_per_block as u64;
    let queued = backlog.of(plane) as u64 * r.units_per_page as u64;
    slots.saturating_sub(blocks.at(region, plane).live / blocks.geometry.sectors_per_unit as u64 + queued)
}

/// The plane with the most slots that hold nothing live, and of about equals, within a sixteenth of a block, the
/// one with the least to do.
pub(crate) fn most_free(blocks: &Blocks, backlog: &Backlog, region: RegionId) -> Option<PlaneId> {
    let r = &blocks.regions[region.index()];
    let step = (r.slots_per_block as u64 / 16).max(1);
    in_turn(blocks, region)
        .map(|local| PlaneId(r.first_plane + local as u32))
        .min_by_key(|p| (Reverse(spare_slots(blocks, backlog, region, *p) / step), backlog.before(*p)))
}

/// The plane with the least to do, and room, of those that are within a sixteenth of a block of the roomiest.
pub(crate) fn level(blocks: &Blocks, backlog: &Backlog, region: RegionId) -> Option<PlaneId> {
    let r = &blocks.regions[region.index()];
    let step = (r.slots_per_block as u64 / 16).max(1);
    let planes = || {
        let planes = in_turn(blocks, region).map(|local| PlaneId(r.first_plane + local as u32));
        planes.map(|p| (p, spare_slots(blocks, backlog, region, p)))
    };
    let most = planes().map(|(_, spare)| spare).max()?;
    let near = planes().filter(|(_, spare)| spare + step > most && (*spare > 0 || most == 0));
    near.map(|(p, _)| p).min_by_key(|p| backlog.before(*p))
}

/// The plane where a host write waits least: one that has room, then one on a channel that is not unwanted, then
/// one where other data wait for it, then the one whose array has the least to do, then whose channel
/// has, then that has the fewest operations itself.
#[inline]
pub(crate) fn least_busy(
    blocks: &Blocks,
    backlog: &Backlog,
    region: RegionId,
    unwanted: Option<ChannelSet>,
    units: usize,
) -> Option<PlaneId> {
    let r = &blocks.regions[region.index()];
    let free = &blocks.pools[r.region.pool.0 as usize].free;
    // A loop, and numbers that are kept: every write passes here. The state of a plane that has more to do than
    // the best is looked at only where it could still be of a better kind.
    let best_kind = !(r.packs_host || r.pages_per_program > 1) as u32;
    let (mut best, mut least) = (None, (u32::MAX, (u64::MAX, u32::MAX, u32::MAX)));
    for local in in_turn(blocks, region) {
        let plane = PlaneId(r.first_plane + local as u32);
        let before = backlog.before(plane);
        if least.0 <= best_kind && before >= least.1 {
            continue;
        }
        let at = &r.planes[local];
        let full = at.open_slots == 0 && (free[local].is_empty() || at.owned >= r.quota);
        let avoided = unwanted
            .is_some_and(|set| set.contains(blocks.geometry.channel_of(blocks.geometry.die_of(plane))));
        let alone = !r.draws(local, units);
        let kind = (full as u32) << 2 | (avoided as u32) << 1 | alone as u32;
        let waits = (kind, before);
        if waits < least {
            (best, least) = (Some(plane), waits);
        }
    }
    best
}

/// The plane of a host write whose turn it is, or where other data wait for it. It need not have free
/// slots: all planes of a log fill alike.
pub(crate) fn next_in_log(blocks: &Blocks, region: RegionId, units: usize) -> Option<PlaneId> {
    let r = &blocks.regions[region.index()];
    let draws = |local: &usize| r.draws(*local, units);
    let has_groups = r.packs_host || r.pages_per_program > 1;
    let mut planes = in_turn(blocks, region);
    let next = planes.next()?;
    let local = if has_groups && !draws(&next) { planes.find(draws).unwrap_or(next) } else { next };
    Some(PlaneId(r.first_plane + local as u32))
}

/// The planes of a region, counted from its first, in their order from the one whose turn it is.
#[inline(always)]
fn in_turn(blocks: &Blocks, region: RegionId) -> impl Iterator<Item = usize> {
    let turns = &blocks.regions[region.index()].turns;
    let (before, from) = turns.split_at(blocks.turn as usize % turns.len());
    from.iter().chain(before).map(|local| *local as usize)
}

/// The plane of a region where moved units wait for other data.
pub(crate) fn waiting_plane(blocks: &Blocks, region: RegionId) -> Option<PlaneId> {
    let r = &blocks.regions[region.index()];
    let waits = |at: &RegionPlane| !at.program_buffers[WriteStream::Moved as usize].page.is_none();
    let local = r.planes.iter().position(waits)?;
    Some(PlaneId(r.first_plane + local as u32))
}

/// Whether a move for which the host waits must wait for space in the buffer of its region.
pub(crate) fn has_full_buffer(blocks: &Blocks, region: RegionId) -> bool {
    let r = &blocks.regions[region.index()];
    matches!(r.region.moved_in, MovedIn::Through(units) if r.buffered >= units)
}
