//! The blocks with slots left: how one is opened, and which of them takes the next program of each class.

use crate::file::table::Table;
use crate::map::overlay::IsFirst;
use crate::plan::region::{FreeOrder, RegionId};
use crate::state::block::{Block, FreeBlocks, Phase, bits_of};
use crate::state::state::State;
use wordline_flash::{BlockState, SlotClass};
use wordline_units::{BlockId, PlaneId, SimDuration};

impl State {
    /// Position of a block among those of its pool in its plane.
    #[inline]
    pub(crate) fn position(&self, region: RegionId, plane: PlaneId, block: BlockId) -> usize {
        (block.0 - self.geometry.first_block(plane) - self.pool_of(region).offset) as usize
    }

    /// A region takes an erased block of a plane from its pool.
    pub(crate) fn take_block(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        take: impl FnOnce(&mut FreeBlocks, &Table<Block>) -> Option<BlockId>,
    ) -> Option<BlockId> {
        let local = self.local(region, plane);
        let pool = self.regions[region.index()].region.pool;
        self.change_pool(pool, plane, |state| {
            let block = take(&mut state.pools[pool.0 as usize].free[local], &state.blocks)?;
            state.regions[region.index()].planes[local].owned += 1;
            Some(block)
        })
    }

    /// A block that a region has taken is open: now it has its mode.
    pub(crate) fn open(&mut self, region: RegionId, plane: PlaneId, block: BlockId) {
        let local = self.local(region, plane);
        let r = &mut self.regions[region.index()];
        r.planes[local].open_slots += r.slots_per_block as u64;
        let (rule, shape) = (r.region.rule, r.shape);
        if rule.by_bit() {
            let pages = rule.left(shape, &Default::default());
            r.left.iter_mut().zip(pages).for_each(|(left, pages)| *left += pages as u64);
        }
        for class in rule.classes(shape) {
            if rule.has_left(shape, &Default::default(), *class) {
                self.enter_list(region, plane, block, *class);
            }
        }
        let r = &self.regions[region.index()];
        let info = &mut self.blocks[block.index()];
        self.map.open(block, region, IsFirst(!info.was_opened()));
        info.phase = Phase::Open;
        info.region = region.0;
        info.bits = bits_of(r.region.mode);
        info.state = Default::default();
        self.aging.opened(block, self.now, SimDuration::ZERO);
    }

    /// A block stands behind the others that offer a class, where wear counts among those erased as often
    /// or less; never before the frontier, which may be in the middle of something.
    pub(crate) fn enter_list(&mut self, region: RegionId, plane: PlaneId, block: BlockId, class: SlotClass) {
        let order = self.pool_of(region).order;
        let local = self.local(region, plane);
        let blocks = &self.blocks;
        let list = &mut self.regions[region.index()].planes[local].open[class as usize];
        let erases = |b: u32| blocks[b as usize].erases;
        let at = match order {
            FreeOrder::Fifo => list.len(),
            FreeOrder::LeastErased => list.partition_point(|b| erases(*b) <= erases(block.0)),
        };
        list.insert(at.max(1).min(list.len()), block.0);
    }

    /// A page of a block of windows has been taken: the block goes to the lists of what it offers now.
    pub(crate) fn change_lists(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        block: BlockId,
        before: BlockState,
    ) {
        let r = &self.regions[region.index()];
        let (rule, shape) = (r.region.rule, r.shape);
        let after = self.blocks[block.index()].state;
        for class in rule.classes(shape) {
            let stood = rule.has_left(shape, &before, *class);
            let stands = rule.has_left(shape, &after, *class);
            // A window that was written whole is done: its block takes its turn like any other.
            let again = stood && stands && before.direct > after.direct;
            if stood == stands && !again {
                continue;
            }
            let list = &mut self.at_mut(region, plane).open[*class as usize];
            let first = list.front().copied();
            if stood && let Some(at) = list.iter().position(|b| *b == block.0) {
                list.remove(at);
            }
            if stands {
                self.enter_list(region, plane, block, *class);
            }
            let now = self.at(region, plane).open[*class as usize].front().copied();
            if first != now {
                for b in [first, now].into_iter().flatten() {
                    self.look_at_frontier(region, plane, BlockId(b));
                }
            }
        }
        if rule.programmed(&after) == shape.pages() {
            self.blocks[block.index()].phase = Phase::Full;
        }
        self.look_at_frontier(region, plane, block);
    }

    /// A block may have become a frontier, or ceased to be one.
    pub(crate) fn look_at_frontier(&mut self, region: RegionId, plane: PlaneId, block: BlockId) {
        if !self.regions[region.index()].region.partial_victims {
            return;
        }
        let (at, position) = (self.at(region, plane), self.position(region, plane, block));
        let (frontier, before) = (at.is_frontier(block), self.blocks[block.index()]);
        let phase = if frontier { Phase::Open } else { Phase::Standby };
        if !before.is_open() || before.phase == phase {
            return;
        }
        self.blocks[block.index()].phase = phase;
        if before.is_listed() {
            self.at_mut(region, plane).victims.remove(position);
        } else if self.blocks[block.index()].is_listed() {
            let relocation_cost = self.relocation_cost(block);
            self.at_mut(region, plane).victims.insert(position, relocation_cost);
        }
    }
}
