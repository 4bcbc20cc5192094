//! Blocks and what they form: pools, regions, open blocks, victims, superblocks. Other modules read them, and change them
//! by the functions of this module alone, which keep the counts.

use crate::file::saved::{Saved, saved};
use crate::file::table::Table;
use crate::image::stripe::Stripe;
use crate::plan::region::RegionId;
use crate::state::backlog::Backlog;
use crate::state::block::{Block, Phase};
use crate::state::job::Job;
use crate::state::planes::Planes;
use crate::state::region::{PlaneProgramBuffer, PoolState, RegionPlane, RegionState, WriteStream};
use crate::state::superblocks::Superblocks;
use crate::state::superpage_parity::SuperpageParity;
use std::ops::Range;
use std::sync::Arc;
use wordline_flash::Geometry;
use wordline_units::{BlockId, CellMode, DieId, PlaneId};

pub(crate) mod admission;
pub(crate) mod at_rest;
pub(crate) mod block_wear;
pub(crate) mod capacity;
pub(crate) mod free_space;
pub(crate) mod frontier;
pub(crate) mod make;
pub(crate) mod superblock_members;
pub(crate) mod victims;

/// The blocks of a drive.
pub(crate) struct Blocks {
    geometry: Arc<Geometry>,
    /// Erased blocks of a plane at which collection is urgent, as the device file states it.
    hard_reserve: u32,
    stripe: Stripe,
    home: RegionId,
    pools: Vec<PoolState>,
    regions: Vec<RegionState>,
    all: Table<Block>,
    superblocks: Superblocks,
    planes: Planes,
    /// Bytes that the drive holds less now, and held less at most, since blocks are in a mode with fewer bits
    /// than their pool could give them.
    shrunk: u64,
    most_shrunk: u64,
    /// Whose turn it is among planes that are alike.
    turn: u32,
}

impl Saved for Blocks {
    saved! { Blocks,
        values: [planes, shrunk, most_shrunk, turn],
        parts: [pools, regions, all, superblocks],
        rebuilt: [geometry, hard_reserve, stripe, home],
    }
}

impl Blocks {
    #[inline(always)]
    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The region of data that no scheme places elsewhere.
    #[inline(always)]
    pub(crate) fn home(&self) -> RegionId {
        self.home
    }

    /// The stripe over the planes of the home region's medium.
    #[inline(always)]
    pub(crate) fn stripe(&self) -> &Stripe {
        &self.stripe
    }

    #[inline(always)]
    pub(crate) fn regions(&self) -> &[RegionState] {
        &self.regions
    }

    #[inline(always)]
    pub(crate) fn region(&self, region: RegionId) -> &RegionState {
        &self.regions[region.index()]
    }

    pub(crate) fn pools(&self) -> &[PoolState] {
        &self.pools
    }

    #[inline(always)]
    pub(crate) fn block(&self, block: BlockId) -> &Block {
        &self.all[block.index()]
    }

    /// All blocks, by number.
    pub(crate) fn all(&self) -> &Table<Block> {
        &self.all
    }

    /// What waits for each plane.
    #[inline(always)]
    pub(crate) fn planes(&self) -> &Planes {
        &self.planes
    }

    /// Which programs of superblocks are followed by parity.
    #[inline(always)]
    pub(crate) fn parity(&self) -> &SuperpageParity {
        &self.superblocks.parity
    }

    /// Bytes that the drive holds less now than in the densest modes, and held less at most.
    pub(crate) fn shrunk(&self) -> (u64, u64) {
        (self.shrunk, self.most_shrunk)
    }

    /// Whether blocks go from one region to the other.
    pub(crate) fn share_pool(&self, a: RegionId, b: RegionId) -> bool {
        self.regions[a.index()].region.pool == self.regions[b.index()].region.pool
    }

    /// Whether blocks of a region are like those of the home region, with which it shares the erased ones.
    #[inline]
    pub(crate) fn is_like_home(&self, region: RegionId) -> bool {
        // Usually it is the home region itself, which needs no lookup.
        region == self.home || {
            let [a, b] = [self.home, region].map(|r| &self.regions[r.index()].region);
            a.pool == b.pool && a.mode == b.mode
        }
    }

    #[inline(always)]
    pub(crate) fn pool_of(&self, region: RegionId) -> &PoolState {
        &self.pools[self.regions[region.index()].region.pool.0 as usize]
    }

    /// Position of a plane among those of a region's medium.
    #[inline(always)]
    pub(crate) fn local(&self, region: RegionId, plane: PlaneId) -> usize {
        (plane.0 - self.regions[region.index()].first_plane) as usize
    }

    /// Whether there is such a region and it has blocks in a plane.
    #[inline(always)]
    pub(crate) fn is_there(&self, region: RegionId, plane: PlaneId) -> bool {
        region.index() < self.regions.len() && self.reaches(region, plane)
    }

    /// Whether a region has blocks in a plane.
    pub(crate) fn reaches(&self, region: RegionId, plane: PlaneId) -> bool {
        let pool = self.pool_of(region);
        pool.has(plane)
    }

    #[inline]
    pub(crate) fn at(&self, region: RegionId, plane: PlaneId) -> &RegionPlane {
        let r = &self.regions[region.index()];
        &r.planes[(plane.0 - r.first_plane) as usize]
    }

    /// The region that owns a block, or owned it last; of one never opened, the first of its pool.
    #[inline]
    pub(crate) fn region_of(&self, block: BlockId) -> RegionId {
        let info = &self.all[block.index()];
        if info.was_opened() { RegionId(info.region) } else { self.first_region_of(block) }
    }

    /// The first region of a block's pool.
    #[inline(never)]
    fn first_region_of(&self, block: BlockId) -> RegionId {
        let pool = match self.pools.as_slice() {
            [_] => Some(0),
            pools => {
                let plane = self.geometry.plane_of(block);
                let medium = self.geometry.medium_index(plane);
                let at = block.0 - self.geometry.first_block(plane);
                let holds = |p: &PoolState| {
                    p.medium == medium && (p.offset..p.offset + p.blocks_per_plane).contains(&at)
                };
                pools.iter().position(holds)
            }
        };
        let first = self.regions.iter().position(|r| Some(r.region.pool.0 as usize) == pool);
        RegionId(first.unwrap_or(0) as u8)
    }

    /// The mode of a block; one never opened has the mode of the first region of its pool.
    pub(crate) fn mode_of(&self, block: BlockId) -> CellMode {
        let info = &self.all[block.index()];
        if info.was_opened() { info.mode() } else { self.regions[self.region_of(block).index()].region.mode }
    }

    pub(crate) fn owned(&self, region: RegionId, plane: PlaneId) -> u32 {
        self.at(region, plane).owned
    }

    /// Position of a block among those of its pool in its plane.
    #[inline]
    pub(crate) fn position(&self, region: RegionId, plane: PlaneId, block: BlockId) -> usize {
        (block.0 - self.geometry.first_block(plane) - self.pool_of(region).offset) as usize
    }
}

/// One plane of a region, to be changed.
#[inline]
fn at_mut(blocks: &mut Blocks, region: RegionId, plane: PlaneId) -> &mut RegionPlane {
    blocks.planes.changed(plane);
    let r = &mut blocks.regions[region.index()];
    &mut r.planes[(plane.0 - r.first_plane) as usize]
}

/// This many more sectors of a block of a plane are live.
#[inline]
pub(crate) fn add_live(blocks: &mut Blocks, plane: PlaneId, block: BlockId, sectors: u32) {
    let info = &mut blocks.all[block.index()];
    info.live += sectors;
    let region = RegionId(info.region);
    at_mut(blocks, region, plane).live += sectors as u64;
}

/// This many of them have died.
#[inline]
pub(crate) fn take_live(blocks: &mut Blocks, plane: PlaneId, block: BlockId, sectors: u32) {
    let info = &mut blocks.all[block.index()];
    info.live -= sectors;
    let region = RegionId(info.region);
    at_mut(blocks, region, plane).live -= sectors as u64;
}

/// Operations on their way to the planes of a die.
pub(crate) fn backlog_of_die(blocks: &Blocks, backlog: &Backlog, die: DieId) -> u32 {
    (0..blocks.geometry.planes)
        .filter(|p| blocks.geometry.die_of(PlaneId(*p)) == die)
        .map(|p| backlog.of(PlaneId(p)))
        .sum()
}

/// What waits for each plane, to be changed.
#[inline(always)]
pub(crate) fn planes_mut(blocks: &mut Blocks) -> &mut Planes {
    &mut blocks.planes
}

/// It is the turn of the next among planes that are alike. Returns the number of the turn.
#[inline(always)]
pub(crate) fn next_turn(blocks: &mut Blocks) -> u32 {
    blocks.turn = blocks.turn.wrapping_add(1);
    blocks.turn
}

/// It is the turn of the plane whose turn it was last.
#[inline(always)]
pub(crate) fn last_turn(blocks: &mut Blocks) {
    blocks.turn = blocks.turn.wrapping_sub(1);
}

/// The collection of a plane of a region.
#[inline]
pub(crate) fn job_mut(blocks: &mut Blocks, region: RegionId, plane: PlaneId) -> &mut Option<Job> {
    &mut at_mut(blocks, region, plane).job
}

/// The units of a stream that wait in a plane for others of their program.
#[inline]
pub(crate) fn program_buffer_mut(
    blocks: &mut Blocks,
    region: RegionId,
    plane: PlaneId,
    stream: WriteStream,
) -> &mut PlaneProgramBuffer {
    &mut at_mut(blocks, region, plane).program_buffers[stream as usize]
}

/// Whether a program is the last of a superpage but for its parity. It is counted.
#[inline]
pub(crate) fn completes_superpage(blocks: &mut Blocks, region: RegionId, group: &Range<u32>) -> bool {
    blocks.superblocks.parity.count_program(region, group)
}

/// A moved unit takes a place in the buffer of a region.
pub(crate) fn enter_buffer(blocks: &mut Blocks, region: RegionId) {
    blocks.regions[region.index()].buffered += 1;
}

/// It leaves its place.
pub(crate) fn leave_buffer(blocks: &mut Blocks, region: RegionId) {
    blocks.regions[region.index()].buffered -= 1;
}

/// A read is bound to a page of a block, which is not erased before it has ended.
#[inline(always)]
pub(crate) fn pin(blocks: &mut Blocks, block: BlockId) {
    blocks.all[block.index()].readers += 1;
}

/// Such a read has ended. Returns the region whose collection may go on, if it was the last of a victim.
#[inline(always)]
pub(crate) fn unpin(blocks: &mut Blocks, block: BlockId) -> Option<RegionId> {
    let info = &mut blocks.all[block.index()];
    info.readers -= 1;
    (info.readers == 0 && info.phase == Phase::Collecting).then_some(RegionId(info.region))
}

/// A collection takes a block, erases it, or leaves it.
pub(crate) fn set_phase(blocks: &mut Blocks, block: BlockId, phase: Phase) {
    blocks.all[block.index()].phase = phase;
}
