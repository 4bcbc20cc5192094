//! Wear of blocks: the share of life of an erase, cycles, and the resulting retries.

use crate::plan::region::{PoolId, RegionId};
use crate::state::aging::{PageRead, Reading, cost_of_erase, lives};
use crate::state::block::{Block, Phase};
use crate::state::state::State;
use wordline_flash::Retries;
use wordline_units::{BlockId, CellMode, PlaneId, SimDuration};

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
        let is_over = self.wear.spec.enforce && used >= self.wear.life_of(block);
        is_over || self.wear.condemned.remove(&block)
    }

    /// The block with data at rest of a plane of a pool with the fewest cycles, if it lags too far.
    pub(crate) fn least_worn_at_rest(&self, pool: PoolId, plane: PlaneId, beyond: u32) -> Option<BlockId> {
        let p = &self.pools[pool.0 as usize];
        let first = self.geometry.first_block(plane) + p.offset;
        let blocks = || (first..first + p.blocks_per_plane).map(|b| (b, &self.blocks[b as usize]));
        let most = blocks().filter(|(_, b)| b.phase != Phase::Retired).map(|(_, b)| b.erases).max()?;
        let stays = |b: &Block| !self.regions[b.region as usize].region.evicts_to_other_pool;
        let region = |b: &Block| RegionId(b.region);
        let at_rest = blocks()
            .filter(|(at, b)| b.is_listed() && stays(b) && self.is_victim(region(b), plane, BlockId(*at)));
        let (block, info) = at_rest.min_by_key(|(_, b)| b.erases)?;
        (most - info.erases > beyond).then_some(BlockId(block))
    }

    /// Cycles that a block endures in a mode; 0 where that is not known.
    pub(crate) fn endurance(&self, block: BlockId, mode: CellMode) -> u32 {
        let medium = self.geometry.medium_of(self.geometry.plane_of(block));
        medium.mode(mode).map_or(0, |t| t.endurance)
    }

    /// Cycles of a block in whatever modes, counted in those of the densest that its flash offers by the share
    /// of a life that each has cost. Coefficients of all modes are fitted to these.
    pub(crate) fn cycles(&self, block: BlockId) -> f64 {
        let info = &self.blocks[block.index()];
        let densest = self.geometry.medium_of(self.geometry.plane_of(block)).densest();
        match self.endurance(block, densest) {
            0 => info.erases as f64,
            endurance => lives(info.life_used) * endurance as f64,
        }
    }

    /// All data on the drive were programmed this long ago.
    pub(crate) fn age_data(&mut self, before: SimDuration) {
        for b in 0..self.geometry.blocks {
            if self.blocks[b as usize].is_owned() {
                self.aging.opened(BlockId(b), self.now, before);
            }
        }
    }

    #[cold]
    fn look_up_errors(&mut self, block: BlockId) {
        let info = self.blocks[block.index()];
        let (cycles, pages) = (self.cycles(block), self.regions[info.region as usize].shape.pages());
        self.aging.look_up(block, info.mode(), Reading { pages, cycles, now: self.now });
    }

    /// A read begins of a page of a block whose wordline is in a mode now: how often must it be repeated?
    #[inline]
    pub(crate) fn sense(&mut self, block: BlockId, page: u32, mode: CellMode, bit: usize) -> Retries {
        let block_mode = self.blocks[block.index()].mode();
        if self.aging.is_stale(block, self.now) {
            self.look_up_errors(block);
        }
        // Each mode has its own number of bits, so that dividing by them is a shift, or a product.
        let wordline = match block_mode {
            CellMode::Slc => page,
            CellMode::Mlc => page / 2,
            CellMode::Tlc => page / 3,
            CellMode::Qlc => page / 4,
        };
        self.aging.read(PageRead { block, mode, is_own: mode == block_mode, wordline, bit })
    }
}
