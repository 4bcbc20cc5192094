//! When a plane of a region is collected, and which block is the victim. The scheme is asked if it wants to choose;
//! otherwise the region's own rule decides.

use crate::ftl::Ftl;
use crate::plan::decision::{Collect, Need};
use crate::plan::layout::Hooks;
use crate::plan::region::RegionId;
use crate::plan::span::Spans;
use crate::state::job::GcReason;
use crate::view::View;
use wordline_units::{BlockId, DieId, PlaneId};

impl Ftl {
    /// Start a collection if a region's trigger requires one.
    #[inline]
    pub(crate) fn collect_if_short(&mut self, region: RegionId, plane: PlaneId) {
        if self.state.at(region, plane).job.is_none_or(|job| job.idle) && self.state.is_short(region, plane) {
            self.collect_now(region, plane);
        }
    }

    /// Start a collection, or continue one that idle time started.
    fn collect_now(&mut self, region: RegionId, plane: PlaneId) {
        match self.state.at(region, plane).job {
            None => self.collect(region, plane),
            Some(job) if job.idle && !job.held => self.take_over(region, plane),
            Some(_) => {}
        }
    }

    /// A slot or a block of a region has been taken: all regions of its pool may now be short of blocks.
    pub(crate) fn collect_after_taking(&mut self, region: RegionId, plane: PlaneId) {
        for other in (0..self.state.regions.len() as u8).map(RegionId) {
            if self.state.share_pool(other, region) {
                self.collect_if_short(other, plane);
            }
        }
    }

    /// A program waits for a slot of a region: any region that shares the pool may free a block. If the pool has
    /// blocks, but the region owns its maximum, only its own collection helps.
    pub(crate) fn collect_for(&mut self, region: RegionId, plane: PlaneId) {
        let is_full = self.state.is_full_beside_free_blocks(region, plane);
        for other in (0..self.state.regions.len() as u8).map(RegionId) {
            if other == region || (!is_full && self.state.share_pool(other, region)) {
                self.collect_now(other, plane);
            }
        }
    }

    /// A block of a region in a plane where programs wait may now be a victim, or a better one.
    pub(crate) fn collect_for_waiting(&mut self, region: RegionId, plane: PlaneId) {
        for waited in self.state.planes.programs_blocked(plane).iter() {
            if self.state.share_pool(waited, region) {
                self.collect_for(waited, plane);
            }
        }
        self.collect_if_short(region, plane);
    }

    /// Start the collection of a plane of a region, if a block is worth it.
    fn collect(&mut self, region: RegionId, plane: PlaneId) {
        let mut chosen = None;
        if self.enabled_hooks.contains(Hooks::COLLECT) {
            let view = View::of(&self.state);
            chosen = self.scheme.collect(Need { region, plane }, &view);
            if self.has_failed("collect") {
                return;
            }
        }
        match chosen {
            Some(Collect { region, block }) => self.begin_asked_job(region, plane, block, GcReason::Shortage),
            None => self.begin_job(region, plane, None, GcReason::Shortage),
        };
    }

    /// Close a block with unused slots; they are lost until it is erased.
    pub(crate) fn close(&mut self, region: RegionId, plane: PlaneId, block: BlockId) {
        let (unused, state) = (self.state.unused_slots(block), self.state.blocks[block.index()].state);
        let at = self.state.at_mut(region, plane);
        at.open_slots -= unused as u64;
        at.open.iter_mut().for_each(|blocks| blocks.retain(|b| *b != block.0));
        let r = &mut self.state.regions[region.index()];
        if !r.region.rule.by_bit() {
            return;
        }
        let pages = r.region.rule.left(r.shape, &state);
        r.left.iter_mut().zip(pages).for_each(|(left, pages)| *left -= pages as u64);
    }

    pub(crate) fn has_job(&self, die: DieId) -> bool {
        let planes = self.state.geometry.planes_of_die(die).map(PlaneId);
        let regions = || (0..self.state.regions.len() as u8).map(RegionId);
        planes.into_iter().any(|plane| {
            regions().any(|r| self.state.reaches(r, plane) && self.state.at(r, plane).job.is_some())
        })
    }

    /// Whether a scheme places the collected pages of a region in another pool.
    pub(crate) fn evicts(&mut self, region: RegionId, plane: PlaneId, block: BlockId) -> bool {
        let slots = self.state.regions[region.index()].slots_per_block;
        let Some(slot) = self.state.map.next_live(block, 0, slots) else { return true };
        let mut spans = Spans::new();
        self.state.map.live_in(self.state.geometry.ppn(block, slot), &mut spans);
        let place = self.place_collected(region, &spans, plane);
        let Some(place) = place else { return false };
        let to = place.route.region();
        to.index() >= self.state.regions.len()
            || self.state.regions[to.index()].region.pool != self.state.regions[region.index()].region.pool
            || self.state.regions[to.index()].region.mode != self.state.regions[region.index()].region.mode
    }
}
