//! Blocks of a drive that no operation is under way in, as data: for first states, recovery, and a search that forgets
//! the past. Who changes them here calls [`recount`] at the end.

use crate::map::Map;
use crate::plan::region::{FreeOrder, RegionId};
use crate::state::block::{Block, Phase, bits_of};
use crate::state::blocks::capacity::{bytes_of_block, change_pool, count_openable};
use crate::state::blocks::frontier::{enter_list, look_at_frontier};
use crate::state::blocks::{Blocks, at_mut};
use crate::state::job::Job;
use crate::state::region::{PoolState, RegionState};
use wordline_units::{BlockId, PlaneId};

/// A block.
pub(crate) fn block_mut(blocks: &mut Blocks, block: BlockId) -> &mut Block {
    &mut blocks.all[block.index()]
}

/// All blocks, by number.
pub(crate) fn all_mut(blocks: &mut Blocks) -> &mut [Block] {
    &mut blocks.all
}

/// All regions.
pub(crate) fn regions_mut(blocks: &mut Blocks) -> &mut [RegionState] {
    &mut blocks.regions
}

/// The most that the drive ever held less is what it holds less now.
pub(crate) fn forget_most_shrunk(blocks: &mut Blocks) {
    blocks.most_shrunk = blocks.shrunk;
}

/// Turns are counted modulo this many.
pub(crate) fn wrap_turn(blocks: &mut Blocks, turns: u32) {
    blocks.turn %= turns;
}

/// Assign to a region an erased block that already has this many slots programmed and sectors live. Who does so lists it if
/// it is full.
pub(crate) fn adopt(blocks: &mut Blocks, region: RegionId, block: BlockId, (programmed, live): (u32, u32)) {
    let plane = blocks.geometry.plane_of(block);
    let local = blocks.local(region, plane);
    let r = &mut blocks.regions[region.index()];
    blocks.pools[r.region.pool.0 as usize].free[local].remove(block);
    let info = &mut blocks.all[block.index()];
    info.region = region.0;
    info.bits = bits_of(r.region.mode);
    info.state = r.region.rule.filled(r.shape, programmed / r.units_per_page);
    info.live = live;
    let at = &mut r.planes[local];
    at.owned += 1;
    at.live += live as u64;
    if programmed == r.slots_per_block {
        info.phase = Phase::Full;
        return;
    }
    info.phase = Phase::Open;
    at.open_slots += (r.slots_per_block - programmed) as u64;
    let (rule, shape, state) = (r.region.rule, r.shape, info.state);
    for class in rule.classes(shape) {
        if rule.has_left(shape, &state, *class) {
            enter_list(blocks, region, plane, block, *class);
        }
    }
}

/// Only erased blocks stay on the lists of those that can be opened, and lost ones are counted.
pub(crate) fn keep_erased(blocks: &mut Blocks) {
    let all = &blocks.all;
    for pool in &mut blocks.pools {
        for free in &mut pool.free {
            let lost = free.count(|b| all[b.index()].phase == Phase::Retired);
            free.found_lost(lost);
            free.retain(|b| all[b.index()].phase == Phase::Free);
            if pool.order == FreeOrder::LeastErased {
                free.sort(|b| all[b as usize].erases);
            }
        }
    }
}

/// A region erases a block whose erase was cut, as the end of a collection.
pub(crate) fn erase_again(blocks: &mut Blocks, region: RegionId, plane: PlaneId, job: Job) {
    let r = &blocks.regions[region.index()];
    let info = &mut blocks.all[job.block.index()];
    info.region = region.0;
    info.bits = bits_of(r.region.mode);
    info.state = r.region.rule.filled(r.shape, r.shape.pages());
    let pool = r.region.pool;
    change_pool(blocks, pool, plane, |blocks| at_mut(blocks, region, plane).owned += 1);
    at_mut(blocks, region, plane).job = Some(job);
}

/// Recompute where and how much regions can still program, after many blocks have changed.
pub(crate) fn recount(blocks: &mut Blocks, map: &Map) {
    let owned = |r: &RegionState| r.planes.iter().map(|p| p.owned as u64).sum::<u64>();
    let lost = |p: &PoolState| p.free.iter().map(|f| f.lost() as u64).sum::<u64>();
    let gone = blocks.pools.iter().enumerate().map(|(i, p)| lost(p) * bytes_of_block(blocks, i));
    blocks.shrunk = blocks.regions.iter().map(|r| owned(r) * r.sparse_by).sum::<u64>() + gone.sum::<u64>();
    blocks.most_shrunk = blocks.shrunk;
    for index in 0..blocks.regions.len() {
        let region = RegionId(index as u8);
        count_openable(blocks, region);
        let r = &blocks.regions[index];
        if !r.region.rule.by_bit() {
            continue;
        }
        let mut left = [0; 4];
        for b in r.planes.iter().flat_map(|at| at.all_open()) {
            let pages = r.region.rule.left(r.shape, &blocks.all[b as usize].state);
            left.iter_mut().zip(pages).for_each(|(all, pages)| *all += pages as u64);
        }
        blocks.regions[index].left = left;
        let open: Vec<u32> = blocks.regions[index].planes.iter().flat_map(|at| at.all_open()).collect();
        for b in open {
            let plane = blocks.geometry.plane_of(BlockId(b));
            look_at_frontier(blocks, map, region, plane, BlockId(b));
        }
    }
}
