//! Current state of pools and regions: erased and open blocks, victims, and waiting data in each plane.

use crate::file::saved::{Saved, saved};
use crate::plan::region::{FreeOrder, Region};
use crate::state::job::Job;
use crate::state::op::{Op, OpId};
use crate::state::victim::VictimIndex;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;
use wordline_flash::{BlockShape, Geometry, SlotClass};
use wordline_units::{BlockId, PlaneId, SimTime};

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

    #[inline(always)]
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

/// The erased blocks of a pool, by plane of its medium.
#[derive(Clone)]
pub(crate) struct PoolState {
    pub medium: usize,
    pub first_plane: u32,
    /// Position of the pool's first block among the blocks of its plane.
    pub offset: u32,
    pub blocks_per_plane: u32,
    pub free: Vec<FreeBlocks>,
    /// Erased blocks of each plane that only GC may take: one per region whose GC stays in the pool, so that each job
    /// finds room for the block that it empties.
    pub reserve: u32,
    pub order: FreeOrder,
    /// Number of planes of a superblock; 1 without superblocks.
    pub planes_per_superblock: u32,
}

impl PoolState {
    /// The planes of its medium.
    pub fn planes(&self) -> impl Iterator<Item = PlaneId> + use<> {
        (self.first_plane..self.first_plane + self.free.len() as u32).map(PlaneId)
    }

    /// Whether a plane is one of its medium.
    #[inline(always)]
    pub fn has(&self, plane: PlaneId) -> bool {
        (self.first_plane..self.first_plane + self.free.len() as u32).contains(&plane.0)
    }

    /// Its blocks in a plane, lost ones too.
    pub fn blocks_in(&self, geometry: &Geometry, plane: PlaneId) -> Range<u32> {
        let first = geometry.blocks_of(plane).start + self.offset;
        first..first + self.blocks_per_plane
    }
}

impl Saved for PoolState {
    saved! { PoolState,
        values: [free],
        parts: [],
        rebuilt: [medium, first_plane, offset, blocks_per_plane, reserve, order, planes_per_superblock],
    }
}

/// Units waiting for a program that writes several at once, in one plane of one region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlaneProgramBuffer {
    /// Units that do not fill a page yet, and the slots that they take, or the sectors if these are packed. Host units
    /// wait here if they share pages (`mapping.packing`).
    pub page: OpId,
    pub page_slots: u8,
    /// Pages that do not fill a program yet.
    pub group: OpId,
    pub group_pages: u8,
    /// Logical host pages in the group, if these wait without limit.
    pub group_units: u16,
    /// Counts programs, so that a timer knows whether its group is still there.
    pub generation: u32,
    /// When it is padded, if ever.
    pub pad_at: SimTime,
}

impl PlaneProgramBuffer {
    /// Whether any data wait.
    #[inline(always)]
    pub fn holds_some(&self) -> bool {
        !(self.group.is_none() && self.page.is_none())
    }

    /// Whether this many units join what waits, in pages and programs of this size, and begin no program of their own: a
    /// whole page joins a group, less than one also part of a page, if all of it has room.
    #[inline(always)]
    pub fn joins(&self, units: u32, (units_per_page, pages_per_program): (u32, u32)) -> bool {
        if units >= units_per_page {
            return !self.group.is_none();
        }
        let waiting = u32::from(self.group_pages) * units_per_page + u32::from(self.page_slots);
        self.holds_some() && waiting + units <= pages_per_program * units_per_page
    }

    /// Whether what waits draws this many units to its plane: they join it and leave no part of a page behind. What is left
    /// behind would draw more, and the plane would take them all.
    #[inline(always)]
    pub fn draws(&self, units: u32, (units_per_page, pages_per_program): (u32, u32)) -> bool {
        let leaves_some = units >= units_per_page
            && !self.page.is_none()
            && u32::from(self.group_pages) + 1 >= pages_per_program;
        !leaves_some && self.joins(units, (units_per_page, pages_per_program))
    }
}

impl Default for PlaneProgramBuffer {
    fn default() -> PlaneProgramBuffer {
        PlaneProgramBuffer {
            page: OpId::NONE,
            page_slots: 0,
            group: OpId::NONE,
            group_pages: 0,
            generation: 0,
            group_units: 0,
            pad_at: SimTime::NEVER,
        }
    }
}

/// Data that may share a program. In a plane of a region each kind waits separately: a group may use the slots that its
/// most privileged page may use, and the reserve is for GC alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum WriteStream {
    /// Of the host.
    Host,
    /// Moved into the pool from another, or by a scheme's own wish: these take what is free, and give
    /// nothing back to the pool.
    Moved,
    /// Collected within the pool: these may open its reserve, which the block that they leave makes
    /// up for.
    Collected,
}

impl WriteStream {
    /// How many kinds there are.
    pub(crate) const COUNT: usize = 3;
    /// All but the host's.
    pub(crate) const WITHIN: [WriteStream; 2] = [WriteStream::Moved, WriteStream::Collected];

    pub(crate) fn of(op: &Op) -> WriteStream {
        match op {
            op if op.owner.is_host() => WriteStream::Host,
            op if op.privileged => WriteStream::Collected,
            _ => WriteStream::Moved,
        }
    }
}

/// One plane of a region.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct RegionPlane {
    /// Blocks with free slots, by class; the head takes the next program.
    pub open: [VecDeque<u32>; SlotClass::COUNT],
    pub victims: VictimIndex,
    pub owned: u32,
    /// Slots not yet programmed in open blocks.
    pub open_slots: u64,
    /// Valid sectors in its blocks.
    pub live: u64,
    /// By [`WriteStream`].
    pub program_buffers: [PlaneProgramBuffer; WriteStream::COUNT],
    pub job: Option<Job>,
}

impl RegionPlane {
    /// Whether a block takes the next program of any class.
    pub fn is_frontier(&self, block: BlockId) -> bool {
        self.open.iter().any(|blocks| blocks.front() == Some(&block.0))
    }

    /// The blocks with free slots, each once.
    pub fn all_open(&self) -> impl Iterator<Item = u32> {
        let mut blocks: Vec<u32> = self.open.iter().flatten().copied().collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks.into_iter()
    }
}

/// A region.
#[derive(Clone)]
pub(crate) struct RegionState {
    /// As defined by its scheme.
    pub region: Region,
    /// Current maximum of its blocks in each plane, and of the programmed slots in them.
    pub quota: u32,
    pub slot_quota: u64,
    pub shape: BlockShape,
    /// First plane of its medium.
    pub first_plane: u32,
    pub units_per_page: u32,
    /// Whether host data share its pages with those of other writes.
    pub packs_host: bool,
    pub pages_per_program: u32,
    pub slots_per_block: u32,
    /// Planes per die of its medium, and whether the die copies pages of this mode within a plane.
    pub planes_per_die: u32,
    pub copies_back: bool,
    pub planes: Vec<RegionPlane>,
    /// Its planes, counted from the first, in order of rotation.
    pub turns: Vec<u32>,
    /// Free pages of each bit in open blocks, under rules with page types.
    pub left: [u64; 4],
    /// Erased blocks that it can open, in all planes.
    pub openable: u64,
    /// Units in transit to it that occupy its buffer, under [`MovedIn::Through`].
    pub buffered: u32,
    /// Difference in bytes between a block of the densest region of its pool and a block of this one.
    pub sparse_by: u64,
}

impl RegionState {
    /// Whether its blocks have slots of a class at all.
    pub fn has_slots_of(&self, class: SlotClass) -> bool {
        self.region.rule.classes(self.shape).contains(&class)
    }

    /// Slots of a plane, counted from its first one, that are programmed, live or not.
    pub fn used_slots(&self, local: usize) -> u64 {
        let at = &self.planes[local];
        u64::from(at.owned) * u64::from(self.slots_per_block) - at.open_slots
    }

    /// Whether more slots of a plane can be programmed.
    #[inline]
    pub fn has_slots_left(&self, local: usize) -> bool {
        self.slot_quota == u64::MAX || self.used_slots(local) < self.slot_quota
    }

    /// Whether this many units of the host join what waits in a plane, counted from the first one.
    #[inline(always)]
    pub fn joins(&self, local: usize, units: usize) -> bool {
        self.host_buffer(local).joins(units as u32, (self.units_per_page, self.pages_per_program))
    }

    /// Whether what waits in a plane, counted from the first one, draws this many units of the host there.
    #[inline(always)]
    pub fn draws(&self, local: usize, units: usize) -> bool {
        self.host_buffer(local).draws(units as u32, (self.units_per_page, self.pages_per_program))
    }

    #[inline(always)]
    fn host_buffer(&self, local: usize) -> &PlaneProgramBuffer {
        &self.planes[local].program_buffers[WriteStream::Host as usize]
    }

    /// Whether data wait for others without limit, and are counted.
    pub fn waits_on(&self, stream: WriteStream) -> bool {
        stream == WriteStream::Host && self.region.pad_after.is_none()
    }
}

impl Saved for RegionState {
    saved! { RegionState,
        values: [quota, slot_quota, planes, left, openable, buffered],
        parts: [],
        rebuilt: [
            region, shape, first_plane, units_per_page, packs_host, pages_per_program, slots_per_block, planes_per_die,
            copies_back, turns, sparse_by,
        ],
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
