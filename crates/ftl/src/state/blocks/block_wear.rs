//! Wear of blocks: the share of life of an erase, cycles, and the resulting retries.

use crate::plan::region::{PoolId, RegionId};
use crate::state::aging::{Aging, cost_of_erase, lives};
use crate::state::block::{Block, Phase};
use crate::state::blocks::Blocks;
use crate::state::blocks::victims::is_victim;
use crate::state::wear::Wear;
use wordline_units::{BlockId, CellMode, PlaneId, SimDuration, SimTime};

/// An erase takes of a block's life. Whether it was the last: the one nearest to its end, since an erase
/// may stand for many.
pub(crate) fn wear_by_erase(blocks: &mut Blocks, wear: &mut Wear, block: BlockId, mode: CellMode) -> bool {
    let each = wear.spec.acceleration;
    let cost = cost_of_erase(endurance(blocks, block, mode)).saturating_mul(each);
    let info = &mut blocks.all[block.index()];
    info.erases = info.erases.saturating_add(each);
    info.life_used = info.life_used.saturating_add(cost);
    let used = info.life_used.saturating_add(cost / 2);
    let is_over = wear.spec.enforce && used >= wear.life_of(block);
    is_over || wear.condemned.remove(&block)
}

/// The block with data at rest of a plane of a pool with the fewest cycles, if it lags too far.
pub(crate) fn least_worn_at_rest(
    blocks: &Blocks,
    pool: PoolId,
    plane: PlaneId,
    beyond: u32,
) -> Option<BlockId> {
    let p = &blocks.pools[pool.0 as usize];
    let first = blocks.geometry.first_block(plane) + p.offset;
    let candidates = || (first..first + p.blocks_per_plane).map(|b| (b, &blocks.all[b as usize]));
    let most = candidates().filter(|(_, b)| b.phase != Phase::Retired).map(|(_, b)| b.erases).max()?;
    let stays = |b: &Block| !blocks.regions[b.region as usize].region.evicts_to_other_pool;
    let region = |b: &Block| RegionId(b.region);
    let at_rest = candidates()
        .filter(|(at, b)| b.is_listed() && stays(b) && is_victim(blocks, region(b), plane, BlockId(*at)));
    let (block, info) = at_rest.min_by_key(|(_, b)| b.erases)?;
    (most - info.erases > beyond).then_some(BlockId(block))
}

/// Cycles that a block endures in a mode; 0 where that is not known.
pub(crate) fn endurance(blocks: &Blocks, block: BlockId, mode: CellMode) -> u32 {
    let medium = blocks.geometry.medium_of(blocks.geometry.plane_of(block));
    medium.mode(mode).map_or(0, |t| t.endurance)
}

/// Cycles of a block in whatever modes, counted in those of the densest that its flash offers by the share
/// of a life that each has cost. Coefficients of all modes are fitted to these.
pub(crate) fn cycles(blocks: &Blocks, block: BlockId) -> f64 {
    let info = &blocks.all[block.index()];
    let densest = blocks.geometry.medium_of(blocks.geometry.plane_of(block)).densest();
    match endurance(blocks, block, densest) {
        0 => info.erases as f64,
        endurance => lives(info.life_used) * endurance as f64,
    }
}

/// All data on the drive were programmed this long ago.
pub(crate) fn age_data(blocks: &Blocks, aging: &mut Aging, now: SimTime, before: SimDuration) {
    for b in 0..blocks.geometry.blocks {
        if blocks.all[b as usize].is_owned() {
            aging.opened(BlockId(b), now, before);
        }
    }
}
