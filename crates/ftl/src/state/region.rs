//! Current state of pools and regions: erased and open blocks, victims, and waiting data in each plane.

use crate::file::saved::{Saved, saved};
use crate::plan::region::{FreeOrder, Region};
use crate::state::block::FreeBlocks;
use crate::state::job::Job;
use crate::state::program_buffer::{PlaneProgramBuffer, WriteStream};
use crate::state::victim::VictimIndex;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use wordline_flash::{BlockShape, SlotClass};
use wordline_units::BlockId;

/// The erased blocks of a pool, by plane of its medium.
#[derive(Clone)]
pub(crate) struct PoolState {
    pub medium: usize,
    pub first_plane: u32,
    /// Position of the pool's first block among the blocks of its plane.
    pub offset: u32,
    pub blocks_per_plane: u32,
    pub free: Vec<FreeBlocks>,
    /// Erased blocks of each plane that only collection may take: one for each region that keeps what it
    /// collects in the pool, so that a job of each always finds room for the block it empties.
    pub reserve: u32,
    pub order: FreeOrder,
    /// Planes that hold a superblock together; 1 where blocks stand alone.
    pub planes_per_superblock: u32,
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
    /// Blocks with slots left, by class; the head takes the next program.
    pub open: [VecDeque<u32>; SlotClass::COUNT],
    pub victims: VictimIndex,
    pub owned: u32,
    /// Slots not yet programmed in open blocks.
    pub open_slots: u64,
    /// Live sectors in its blocks.
    pub live: u64,
    /// By [`WriteStream`].
    pub program_buffers: [PlaneProgramBuffer; WriteStream::COUNT],
    pub job: Option<Job>,
}

impl RegionPlane {
    /// Whether a block takes the next program of some class.
    pub fn is_frontier(&self, block: BlockId) -> bool {
        self.open.iter().any(|blocks| blocks.front() == Some(&block.0))
    }

    /// The blocks with slots left, each once.
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
    /// As its scheme laid it out.
    pub region: Region,
    /// The most blocks of each plane that it may have now, and the most slots of each that may be programmed in them.
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
    /// Planes of a die of its medium, and whether that copies pages of its mode within a plane by itself.
    pub planes_per_die: u32,
    pub copies_back: bool,
    pub planes: Vec<RegionPlane>,
    /// Its planes, counted from the first, in the order in which they take turns.
    pub turns: Vec<u32>,
    /// Pages of each bit that open blocks still have, under rules that tell bits apart.
    pub left: [u64; 4],
    /// Erased blocks that it could open, in all planes.
    pub openable: u64,
    /// Units on their way into it that have a place in its buffer, under [`MovedIn::Through`].
    pub buffered: u32,
    /// Bytes that a block of it holds less than one of the densest region of its pool.
    pub sparse_by: u64,
}

impl RegionState {
    /// Whether data wait for other data for as long as it takes, and are counted.
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
