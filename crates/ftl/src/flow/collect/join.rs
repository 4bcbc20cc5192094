//! Joins fragments of pages, each of which takes a slot: if slots run out before sectors do, a block whose pages have
//! fragments elsewhere is emptied, and these pages are programmed whole. That takes no more slots than the block has,
//! and frees one slot for each fragment elsewhere.

use crate::ftl::Ftl;
use crate::plan::map_kind::MapKind;
use crate::plan::region::RegionId;
use crate::plan::span::{Places, Spans};
use crate::state::job::GcReason;
use wordline_units::{BlockId, Lpn, PlaneId, SectorMask};

impl Ftl {
    /// Start to empty the block with the most pages that have fragments elsewhere, while programs wait. Any plane may
    /// have it: a slot freed there can take programs that may go to any plane, and fragments leave their planes.
    /// Returns whether there is one.
    pub(crate) fn begin_to_join(&mut self) -> bool {
        let MapKind::Overlay(shared, _) = self.state.map_kind() else { return false };
        if !self.state.planes.any_program_blocked() {
            return false;
        }
        let mut best: Option<(u32, RegionId, BlockId)> = None;
        for plane in (0..self.state.geometry.planes).map(PlaneId) {
            for region in (0..self.state.regions.len() as u8).map(RegionId).filter(|r| !shared.contains(*r)) {
                for block in self.victims_of(region, plane) {
                    let pieces = self.pieces_elsewhere(region, block);
                    if pieces > best.map_or(0, |(most, ..)| most) {
                        best = Some((pieces, region, block));
                    }
                }
            }
        }
        best.is_some_and(|(_, region, block)| {
            self.begin_job(region, self.state.geometry.plane_of(block), Some(block), GcReason::Joining)
        })
    }

    /// Blocks of a region in a plane that may be emptied now, if their pages stay in their pool.
    fn victims_of(&self, region: RegionId, plane: PlaneId) -> Vec<BlockId> {
        let leaves = self.state.regions[region.index()].region.evicts_to_other_pool;
        if leaves || !self.state.reaches(region, plane) || self.state.at(region, plane).job.is_some() {
            return vec![];
        }
        let blocks = self.state.geometry.blocks_of(plane).map(BlockId);
        blocks
            .filter(|block| self.state.region_of(*block) == region)
            .filter(|block| self.state.is_victim(region, plane, *block))
            .collect()
    }

    /// Number of slots of other blocks that hold fragments of the pages of a block.
    fn pieces_elsewhere(&mut self, region: RegionId, block: BlockId) -> u32 {
        let slots = self.state.regions[region.index()].slots_per_block;
        let mut spans = Spans::new();
        let (mut pieces, mut from) = (0, 0);
        while let Some(slot) = self.state.map.next_live(block, from, slots) {
            self.state.map.live_in(self.state.geometry.ppn(block, slot), &mut spans);
            pieces += spans.iter().map(|span| self.places_of(span.lpn) - 1).sum::<u32>();
            from = slot + 1;
        }
        pieces
    }

    /// Whether a page has several places on flash.
    pub(crate) fn lies_in_pieces(&mut self, lpn: Lpn) -> bool {
        self.places_of(lpn) > 1
    }

    fn places_of(&mut self, lpn: Lpn) -> u32 {
        let mut located = Places::new();
        self.state.map.resolve(lpn, SectorMask::first(self.state.geometry.sectors_per_unit), &mut located);
        located.len() as u32
    }
}
