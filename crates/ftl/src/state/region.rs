//! Current state of pools and regions: erased and open blocks, victims, and waiting data in each plane.

use crate::file::saved::{Saved, saved};
use crate::plan::region::{FreeOrder, Region};
use crate::state::block::FreeBlocks;
use crate::state::job::Job;
use crate::state::program_buffer::{PlaneProgramBuffer, WriteStream};
use crate::state::victim::VictimIndex;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;
use wordline_flash::{BlockShape, Geometry, SlotClass};
use wordline_units::{BlockId, PlaneId};

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
