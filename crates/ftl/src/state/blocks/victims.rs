//! Victims: the blocks that collection may take, and what emptying one costs.

use crate::map::Map;
use crate::plan::region::RegionId;
use crate::plan::span::Invalidated;
use crate::state::block::Phase;
use crate::state::blocks::free_space::unused_slots;
use crate::state::blocks::superblock_members::{first_of, has_superblocks, members, superblock_planes};
use crate::state::blocks::{Blocks, at_mut, take_live};
use crate::state::min_tree::ABSENT;
use wordline_units::{BlockId, PlaneId};

/// A block takes no more programs: it becomes a victim, or its superblock does if it was the last.
#[inline]
pub(crate) fn list(blocks: &mut Blocks, map: &Map, region: RegionId, plane: PlaneId, block: BlockId) {
    if has_superblocks(blocks, region) {
        return list_superblock(blocks, map, region, plane, block);
    }
    let (position, relocation_cost) =
        (blocks.position(region, plane, block), relocation_cost(blocks, map, block));
    at_mut(blocks, region, plane).victims.insert(position, relocation_cost);
}

#[inline(never)]
pub(crate) fn list_superblock(
    blocks: &mut Blocks,
    map: &Map,
    region: RegionId,
    plane: PlaneId,
    block: BlockId,
) {
    let (first_plane, first) = first_of(blocks, region, plane, block);
    let closed = |(_, b): (PlaneId, BlockId)| blocks.all[b.index()].is_listed();
    if blocks.superblocks.live[first.index()] != ABSENT || !members(blocks, region, plane, block).all(closed)
    {
        return;
    }
    let live = members(blocks, region, plane, block).map(|(_, b)| relocation_cost(blocks, map, b)).sum();
    blocks.superblocks.live[first.index()] = live;
    let position = blocks.position(region, first_plane, first);
    at_mut(blocks, region, first_plane).victims.insert(position, live);
}

/// A block, or its superblock, is a victim no more.
pub(crate) fn unlist(blocks: &mut Blocks, region: RegionId, plane: PlaneId, block: BlockId) {
    let (first_plane, first) = first_of(blocks, region, plane, block);
    if has_superblocks(blocks, region)
        && std::mem::replace(&mut blocks.superblocks.live[first.index()], ABSENT) == ABSENT
    {
        return;
    }
    let position = blocks.position(region, first_plane, first);
    at_mut(blocks, region, first_plane).victims.remove(position);
}

/// Whether a block, or its superblock, is among the victims.
pub(crate) fn is_victim(blocks: &Blocks, region: RegionId, plane: PlaneId, block: BlockId) -> bool {
    let (first_plane, first) = first_of(blocks, region, plane, block);
    if has_superblocks(blocks, region) {
        return blocks.superblocks.live[first.index()] != ABSENT;
    }
    blocks.at(region, first_plane).victims.contains(blocks.position(region, first_plane, first))
}

/// Sectors of a closed block of a superblock have died.
#[inline(never)]
pub(crate) fn lower_superblock(
    blocks: &mut Blocks,
    region: RegionId,
    plane: PlaneId,
    block: BlockId,
    sectors: u32,
) {
    let (first_plane, first) = first_of(blocks, region, plane, block);
    let live = &mut blocks.superblocks.live[first.index()];
    if *live == ABSENT {
        return;
    }
    *live -= sectors;
    let live = *live;
    let position = blocks.position(region, first_plane, first);
    at_mut(blocks, region, first_plane).victims.lower(position, live);
}

/// Sectors of a block live no more. Returns whether its plane waits for space that it may give now.
#[inline(always)]
pub(crate) fn take_off_block(blocks: &mut Blocks, map: &Map, invalidated: Invalidated) -> bool {
    let block = blocks.geometry.block_of(invalidated.ppn);
    let plane = blocks.geometry.plane_of(block);
    take_live(blocks, plane, block, invalidated.sectors);
    let info = &blocks.all[block.index()];
    if info.is_listed() {
        let region = RegionId(info.region);
        if has_superblocks(blocks, region) {
            lower_superblock(blocks, region, plane, block, invalidated.sectors);
        } else {
            let (position, relocation_cost) =
                (blocks.position(region, plane, block), relocation_cost(blocks, map, block));
            at_mut(blocks, region, plane).victims.lower(position, relocation_cost);
        }
        return !blocks.planes.programs_blocked(plane).is_empty();
    }
    false
}

/// What emptying a superblock costs, in sectors.
pub(crate) fn superblock_relocation_cost(
    blocks: &Blocks,
    map: &Map,
    region: RegionId,
    block: BlockId,
) -> u32 {
    let plane = blocks.geometry.plane_of(block);
    members(blocks, region, plane, block).map(|(_, b)| relocation_cost(blocks, map, b)).sum()
}

/// Whether emptying a block, or its superblock, within its pool frees at least one program: only the last program of what
/// it holds is padded, and parity goes with them. Otherwise GC could livelock.
pub(crate) fn gains(blocks: &Blocks, map: &Map, region: RegionId, block: BlockId) -> bool {
    let r = &blocks.regions[region.index()];
    let (together, program) =
        (blocks.pool_of(region).planes_per_superblock, r.units_per_page * r.pages_per_program);
    let cost = match together {
        1 => relocation_cost(blocks, map, block),
        _ => superblock_relocation_cost(blocks, map, region, block),
    };
    let programs = cost.div_ceil(blocks.geometry.sectors_per_unit).div_ceil(program);
    let parity = blocks.superblocks.parity.programs_beside(programs, together);
    (programs + parity) * program < r.slots_per_block * together
}

/// Cost of emptying a block, in sectors: data to program, and slots left unused. Victims are ranked by it, so
/// that the one with the most invalid sectors comes first.
#[inline]
pub(crate) fn relocation_cost(blocks: &Blocks, map: &Map, block: BlockId) -> u32 {
    let info = &blocks.all[block.index()];
    let unused = if info.phase == Phase::Standby { unused_slots(blocks, block) } else { 0 };
    let leaves = blocks.regions[info.region as usize].region.evicts_to_other_pool;
    // What goes to another pool may be packed again there; what stays takes a slot for a slot.
    let moves = if leaves { info.live } else { map.relocation_cost(block, info.live) };
    moves + unused * blocks.geometry.sectors_per_unit
}

pub(crate) fn best_victim(blocks: &Blocks, map: &Map, region: RegionId, plane: PlaneId) -> Option<BlockId> {
    let plane = PlaneId(superblock_planes(blocks, region, plane).start);
    let first = blocks.geometry.blocks_of(plane).start + blocks.pool_of(region).offset;
    let block = |at: usize| BlockId(first + at as u32);
    let victims = &blocks.at(region, plane).victims;
    let best = victims.best()?;
    if victims.has_best_first() || gains(blocks, map, region, block(best)) {
        return Some(block(best));
    }
    // The oldest block that gives something back, or just the oldest.
    let gaining = victims.in_order().find(|at| gains(blocks, map, region, block(*at)));
    Some(block(gaining.unwrap_or(best)))
}

/// The first block by the region's own rule, whether or not it frees space.
pub(crate) fn oldest_victim(blocks: &Blocks, region: RegionId, plane: PlaneId) -> Option<BlockId> {
    let plane = PlaneId(superblock_planes(blocks, region, plane).start);
    let first = blocks.geometry.blocks_of(plane).start + blocks.pool_of(region).offset;
    blocks.at(region, plane).victims.best().map(|at| BlockId(first + at as u32))
}
