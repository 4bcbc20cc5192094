//! Superblocks: they are erased when all their planes are ready, and a program that finds no slot in one plane goes to
//! another plane of its superblock.

use crate::ftl::Ftl;
use crate::plan::region::RegionId;
use crate::state::block::Phase;
use crate::state::request::Effect;
use wordline_units::{BlockId, PlaneId};

impl Ftl {
    /// Superblocks that were only partly opened or written: their erased blocks are open, too.
    pub(crate) fn complete_superblocks(&mut self) {
        for region in (0..self.state.regions.len() as u8).map(RegionId) {
            let together = self.state.pool_of(region).planes_per_superblock as usize;
            if together == 1 {
                continue;
            }
            for plane in self.state.pool_of(region).planes().step_by(together) {
                for block in self.state.pool_of(region).blocks_in(&self.state.geometry, plane).map(BlockId) {
                    self.state.complete_superblock(region, plane, block);
                }
            }
        }
    }

    /// Whether the jobs of all planes have emptied their blocks of a superblock.
    pub(crate) fn ready_to_erase(&self, region: RegionId, plane: PlaneId) -> bool {
        let mut jobs =
            self.state.superblock_planes(region, plane).filter_map(|p| self.state.at(region, PlaneId(p)).job);
        jobs.all(|j| j.exhausted && j.inflight == 0 && self.state.blocks[j.block.index()].readers == 0)
    }

    /// Power failed during the erase of a superblock, and some of its blocks still hold invalid data: the erased ones
    /// are open again.
    #[cold]
    pub(crate) fn open_again(&mut self, region: RegionId, members: impl Iterator<Item = (PlaneId, BlockId)>) {
        for (plane, block) in members {
            if self.state.blocks[block.index()].phase == Phase::Erasing {
                self.state.open(region, plane, block);
            }
            self.state.planes.wake_programs(plane);
            self.out.ask(Effect::Wake(plane)); // what waits there may go to a plane that has slots now
        }
    }

    /// The region that erases a half-erased block again: that of the rest of its superblock, if known.
    pub(crate) fn region_known(&self, block: BlockId) -> Option<RegionId> {
        let plane = self.state.geometry.plane_of(block);
        let region = self.state.region_of(block);
        if !self.state.has_superblocks(region) {
            return None;
        }
        self.state.members(region, plane, block).find_map(|(p, b)| {
            let info = &self.state.blocks[b.index()];
            let has_job = |r: &RegionId| self.state.is_emptied(*r, p, b);
            let erases = (0..self.state.regions.len() as u8).map(RegionId).find(has_job);
            erases.or(matches!(info.phase, Phase::Open | Phase::Full).then_some(RegionId(info.region)))
        })
    }
}
