//! The end of blocks: each erase takes of a block's life, a block whose life is used up retires at its
//! erase, and a plane that can no longer take what the host stores ends the drive's. Static wear levelling
//! puts that off: data at rest leave the block that they keep young.

use crate::file::saved::{Saved, saved};
use crate::flow::begin::precondition::stream;
use crate::ftl::Ftl;
use crate::image::permutation::{Permutation, mix};
use crate::media::Media;
use crate::plan::region::{PoolId, RegionId};
use crate::state::aging::{LIFE, cost_of_erase};
use crate::state::block::{Block, Phase};
use crate::state::job::Occasion;
use crate::state::op::{Op, Owner};
use crate::state::region::PoolState;
use crate::state::request::Outcome;
use crate::state::state::State;
use std::collections::BTreeMap;
use wordline_device::WearSpec;
use wordline_flash::standard_normal;
use wordline_units::{BlockId, CellMode, Fraction, PlaneId, SimTime};

/// What wear has done to a drive.
#[derive(Clone, Debug)]
pub(crate) struct Wear {
    pub spec: WearSpec,
    /// Draws the lives of blocks.
    seed: u64,
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
    fn lose_fresh(&mut self, pool: PoolId, plane: PlaneId, count: u32) {
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
    fn left_behind(&self, pool: PoolId, plane: PlaneId, beyond: u32) -> Option<BlockId> {
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

impl<M: Media> Ftl<M> {
    /// Draw the lives of blocks, and those that are bad from the beginning. Which of a plane's they are
    /// makes no difference, so they are its last.
    pub(crate) fn begin_wear(&mut self, seed: u64) {
        self.state.wear.seed = stream(seed, "ftl/wear", "lives", 0);
        let share = self.state.wear.spec.bad_blocks;
        let mut lost: BTreeMap<(u8, u32), u32> = BTreeMap::new();
        for medium in 0..self.state.geometry.media.len() {
            let planes = self.state.geometry.planes_of_medium(medium);
            let each = self.state.geometry.media[medium].blocks_per_plane;
            let all = planes.len() as u32 * each;
            let drawn = Permutation::keyed(all, stream(seed, "ftl/wear", "bad blocks", medium as u64));
            for bad in (0..share.of(all as u64) as u32).map(|i| drawn.forward(i)) {
                let holds = |p: &PoolState| {
                    p.medium == medium && (p.offset..p.offset + p.blocks_per_plane).contains(&(bad % each))
                };
                if let Some(pool) = self.state.pools.iter().position(holds) {
                    *lost.entry((pool as u8, planes.start + bad / each)).or_default() += 1;
                }
            }
        }
        for ((pool, plane), count) in lost {
            self.state.lose_fresh(PoolId(pool), PlaneId(plane), count);
        }
    }

    /// A host write has no place and none can be made: the drive is full, or has worn out.
    pub(crate) fn no_place(&mut self) -> Outcome {
        if self.state.wear.retired == 0 {
            return Outcome::OutOfSpace;
        }
        self.state.wear.over.get_or_insert(self.state.now);
        Outcome::WornOut
    }

    /// When the drive wore out, if it has: it takes no more writes, and is read as before.
    pub fn worn_out(&self) -> Option<SimTime> {
        self.state.wear.over
    }

    /// Blocks that were bad from the beginning, and those that have retired since.
    pub fn lost_blocks(&self) -> (u32, u32) {
        (self.state.wear.bad, self.state.wear.retired)
    }

    /// Blocks whose data were moved by static wear levelling.
    pub fn levelled_blocks(&self) -> u64 {
        self.state.wear.levelled
    }

    /// Whether a program moves data at rest out of a block that they have kept young.
    pub(crate) fn levels(&self, op: &Op) -> bool {
        let job = || self.state.at(RegionId(op.owner as u8), self.plane_of(op.from)).job;
        op.owned_by == Owner::Job && job().is_some_and(|j| j.levels)
    }

    /// Data at rest that keep a block of a plane too young for the others leave it.
    pub(crate) fn level(&mut self, pool: PoolId, plane: PlaneId) {
        let Some(beyond) = self.state.wear.spec.static_beyond else { return };
        let Some(block) = self.state.left_behind(pool, plane, beyond) else { return };
        let region = self.state.region_of(block);
        if !self.state.is_short(region, plane)
            && self.begin_job(region, plane, Some(block), Occasion::Levelling)
        {
            self.state.wear.levelled += 1;
        }
    }
}
