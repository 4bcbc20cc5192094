//! The end of blocks: each erase takes of a block's life, a block whose life is used up retires at its
//! erase, and a plane that can no longer take what the host stores ends the drive's. Static wear levelling
//! puts that off: data at rest leave the block that they keep young.

use crate::file::saved::{Saved, saved};
use crate::image::permutation::mix;
use crate::plan::region::{PoolId, RegionId};
use crate::state::aging::{LIFE, cost_of_erase};
use crate::state::block::{Block, Phase};
use crate::state::state::State;
use wordline_device::WearSpec;
use wordline_flash::standard_normal;
use wordline_units::{BlockId, CellMode, Fraction, PlaneId, SimTime};

/// What wear has done to a drive.
#[derive(Clone, Debug)]
pub(crate) struct Wear {
    pub spec: WearSpec,
    /// Draws the lives of blocks.
    pub seed: u64,
    /// Blocks that were bad from the beginning, and those that have retired since.
    pub bad: u32,
    pub retired: u32,
    /// When the first host write found no place that wear had left.
    pub over: Option<SimTime>,
    /// Blocks whose data moved so that the block would wear, too.
    pub levelled: u64,
}

impl Saved for Wear {
    saved! { Wear, values: [seed, bad, retired, over, levelled], parts: [], rebuilt: [spec] }
}

impl Wear {
    pub fn new(spec: WearSpec) -> Wear {
        Wear { spec, seed: 0, bad: 0, retired: 0, over: None, levelled: 0 }
    }

    /// A block's life, in the unit of [`cost_of_erase`].
    fn life_of(&self, block: BlockId) -> u32 {
        if self.spec.spread == Fraction::ZERO {
            return LIFE;
        }
        let off = self.spec.spread.as_f64() * standard_normal(mix(self.seed ^ mix(block.0 as u64))) as f64;
        (LIFE as f64 * (1.0 + off)).max(1.0) as u32
    }

    /// Erased blocks that each plane of a pool keeps besides those that collection needs anyway. The block
    /// that a collection counts on may retire at its erase; levelling moves a block that gives nothing back.
    pub fn further_reserve(&self) -> u32 {
        self.spec.enforce as u32 + self.spec.static_beyond.is_some() as u32
    }
}

impl State {
    /// An erase takes of a block's life. Whether it was the last: the one nearest to its end, since an erase
    /// may stand for many.
    pub(crate) fn wear_by_erase(&mut self, block: BlockId, mode: CellMode) -> bool {
        let each = self.wear.spec.acceleration;
        let cost = cost_of_erase(self.endurance(block, mode)).saturating_mul(each);
        let info = &mut self.blocks[block.index()];
        info.erases = info.erases.saturating_add(each);
        info.life_used = info.life_used.saturating_add(cost);
        let used = info.life_used.saturating_add(cost / 2);
        self.wear.spec.enforce && used >= self.wear.life_of(block)
    }

    /// Take erased blocks off the end of those of a plane of a pool that were never opened.
    pub(crate) fn lose_fresh(&mut self, pool: PoolId, plane: PlaneId, count: u32) {
        let lost = self.change_pool(pool, plane, |state| {
            let p = &mut state.pools[pool.0 as usize];
            p.free[(plane.0 - p.first_plane) as usize].lose(count)
        });
        for block in lost {
            self.blocks[block as usize].phase = Phase::Retired;
        }
        self.wear.bad += count;
    }

    /// Bytes that a pool loses with a block.
    pub(crate) fn bytes_of_block(&self, pool: usize) -> u64 {
        let regions = self.regions.iter().filter(|r| r.region.pool.0 as usize == pool);
        let medium = &self.geometry.media[self.pools[pool].medium];
        regions.map(|r| medium.block_bytes(r.region.mode)).max().unwrap_or(0)
    }

    /// Blocks of a plane of a pool that are lost.
    pub(crate) fn lost_in(&self, pool: PoolId, plane: PlaneId) -> u32 {
        let pool = &self.pools[pool.0 as usize];
        pool.free[(plane.0 - pool.first_plane) as usize].lost
    }

    /// The block of a plane of a pool that data at rest have kept youngest, if it is too far behind.
    pub(crate) fn left_behind(&self, pool: PoolId, plane: PlaneId, beyond: u32) -> Option<BlockId> {
        let p = &self.pools[pool.0 as usize];
        let first = self.geometry.first_block(plane) + p.offset;
        let blocks = || (first..first + p.blocks_per_plane).map(|b| (b, &self.blocks[b as usize]));
        let most = blocks().filter(|(_, b)| b.phase != Phase::Retired).map(|(_, b)| b.erases).max()?;
        let stays = |b: &Block| !self.regions[b.region as usize].region.leaves_pool;
        let region = |b: &Block| RegionId(b.region);
        let at_rest = blocks()
            .filter(|(at, b)| b.is_listed() && stays(b) && self.is_victim(region(b), plane, BlockId(*at)));
        let (block, info) = at_rest.min_by_key(|(_, b)| b.erases)?;
        (most - info.erases > beyond).then_some(BlockId(block))
    }
}
