//! Blocks: where each is in its life, and those of a pool that are erased.

use crate::plan::region::FreeOrder;
use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use wordline_flash::BlockState;
use wordline_units::{BlockId, CellMode};

/// Lifecycle phase of a block.
///
/// A number with names rather than an enum, because blocks are read back from files, and an enum
/// must never hold a number that none of its names has.
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Phase(u8);

#[allow(non_upper_case_globals, reason = "they are used as the names of an enum are")]
impl Phase {
    /// Erased, in its pool.
    pub const Free: Phase = Phase(0);
    /// Owned by a region, with slots left.
    pub const Open: Phase = Phase(1);
    /// Owned by a region, every slot taken.
    pub const Full: Phase = Phase(2);
    /// Being emptied.
    pub const Collecting: Phase = Phase(3);
    /// Its erase is under way.
    pub const Erasing: Phase = Phase(4);
    /// Owned by a region, with free slots, and open for none of its classes: it can be a victim if the region
    /// allows that.
    pub const Standby: Phase = Phase(5);
    /// Lost: bad from the beginning, or worn out.
    pub const Retired: Phase = Phase(6);
}

impl fmt::Debug for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["Free", "Open", "Full", "Collecting", "Erasing", "Standby", "Retired"];
        f.write_str(names.get(self.0 as usize).unwrap_or(&"unknown"))
    }
}

/// State of a block; half a cache line. A block never opened is all zeros.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(32))]
pub(crate) struct Block {
    pub erases: u32,
    /// Live sectors.
    pub live: u32,
    /// Reads bound to it that have not ended.
    pub readers: u32,
    /// Share of life used by its erases, in the unit of [`cost_of_erase`].
    pub life_used: u32,
    /// Programs bound to it that have not ended.
    pub writers: u16,
    pub state: BlockState,
    pub phase: Phase,
    pub region: u8,
    /// Bits of a cell ([`bits_of`]); 0 for a block never opened, which has no region either.
    pub bits: u8,
    /// Up to half a cache line: plain data have no gaps.
    rest: [u8; 1],
}

impl Block {
    /// Whether it is in the victim index.
    #[inline(always)]
    pub fn is_listed(&self) -> bool {
        matches!(self.phase, Phase::Full | Phase::Standby) && self.writers == 0
    }

    /// Whether it has programmable slots left.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open | Phase::Standby)
    }

    /// Whether a region owns it.
    pub fn is_owned(&self) -> bool {
        !matches!(self.phase, Phase::Free | Phase::Retired)
    }

    pub fn was_opened(&self) -> bool {
        self.bits > 0
    }

    /// Its cell mode, or that before its erase.
    #[inline(always)]
    pub fn mode(&self) -> CellMode {
        CellMode::ALL[(self.bits as usize).saturating_sub(1) & 3]
    }
}

/// A cell mode as a block has it.
pub(crate) fn bits_of(mode: CellMode) -> u8 {
    mode.bits() as u8
}

/// The erased blocks of a plane of a pool in the order in which they are opened. Those that were never
/// opened are a range, so that a fresh drive costs nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FreeBlocks {
    fresh: Range<u32>,
    erased: VecDeque<u32>,
    /// Lost blocks of the plane.
    lost: u32,
}

impl FreeBlocks {
    pub fn new(fresh: Range<u32>) -> FreeBlocks {
        FreeBlocks { fresh, erased: VecDeque::new(), lost: 0 }
    }

    /// Lost blocks of the plane.
    #[inline(always)]
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Retire another block.
    pub fn lose_worn(&mut self) {
        self.lost += 1;
    }

    /// Number of lost blocks at the power cut.
    pub fn found_lost(&mut self, lost: u32) {
        self.lost = lost;
    }

    /// Remove this many of the last blocks that were never opened.
    pub fn lose(&mut self, count: u32) -> Range<u32> {
        let end = self.fresh.end;
        self.fresh.end = end.saturating_sub(count).max(self.fresh.start);
        self.lost += end - self.fresh.end;
        self.fresh.end..end
    }

    /// Number of blocks that were never opened.
    pub fn count(&self, is: impl Fn(BlockId) -> bool) -> u32 {
        self.fresh.clone().chain(self.erased.iter().copied()).filter(|b| is(BlockId(*b))).count() as u32
    }

    pub fn len(&self) -> usize {
        self.fresh.len() + self.erased.len()
    }

    pub fn is_empty(&self) -> bool {
        self.fresh.is_empty() && self.erased.is_empty()
    }

    /// The block to be opened next.
    pub fn first(&self) -> Option<BlockId> {
        let fresh = (!self.fresh.is_empty()).then_some(self.fresh.start);
        fresh.or(self.erased.front().copied()).map(BlockId)
    }

    pub fn take(&mut self) -> Option<BlockId> {
        self.fresh.next().or_else(|| self.erased.pop_front()).map(BlockId)
    }

    /// Remove the block with the most erases.
    pub fn take_most_worn(&mut self, erases: impl Fn(u32) -> u32) -> Option<BlockId> {
        let most = (0..self.erased.len()).max_by_key(|i| erases(self.erased[*i]));
        let worn = most.and_then(|i| self.erased.remove(i));
        worn.or_else(|| self.fresh.next()).map(BlockId)
    }

    /// Return an erased block, behind those with as many or fewer erases if the order depends on these.
    pub fn put_back(&mut self, block: BlockId, order: FreeOrder, erases: impl Fn(u32) -> u32) {
        let at = match order {
            FreeOrder::Fifo => self.erased.len(),
            FreeOrder::LeastErased => self.erased.partition_point(|b| erases(*b) <= erases(block.0)),
        };
        self.erased.insert(at, block.0);
    }

    /// The blocks that were opened before, in another order.
    pub fn sort(&mut self, erases: impl Fn(u32) -> u32) {
        self.erased.make_contiguous().sort_by_key(|b| erases(*b));
    }

    pub fn contains(&self, block: BlockId) -> bool {
        self.fresh.contains(&block.0) || self.erased.contains(&block.0)
    }

    /// Keep only some blocks, in their order.
    pub fn retain(&mut self, keep: impl Fn(BlockId) -> bool) {
        let all = std::mem::take(&mut self.fresh).chain(std::mem::take(&mut self.erased));
        self.erased = all.filter(|b| keep(BlockId(*b))).collect();
    }

    /// Remove a certain block.
    pub fn remove(&mut self, block: BlockId) {
        if self.fresh.start == block.0 && !self.fresh.is_empty() {
            self.fresh.next();
            return;
        }
        if self.fresh.contains(&block.0) {
            self.erased.extend(std::mem::take(&mut self.fresh));
            self.erased.make_contiguous().sort_unstable();
        }
        self.erased.retain(|b| *b != block.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Among equals the first one.
    #[test]
    fn least_worn_erased_block_opens_next() {
        let erases = [3, 1, 2, 1, 3, 2];
        let order = |order: FreeOrder| {
            let mut free = FreeBlocks::new(0..0);
            (0..6).for_each(|b| free.put_back(BlockId(b), order, |b| erases[b as usize]));
            std::iter::from_fn(|| free.take()).map(|b| b.0).collect::<Vec<_>>()
        };
        assert_eq!(order(FreeOrder::LeastErased), [1, 3, 2, 5, 0, 4]);
        assert_eq!(order(FreeOrder::Fifo), [0, 1, 2, 3, 4, 5]);
    }
}
