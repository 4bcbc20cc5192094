//! Refresh and read reclaim: a block whose data are too old, or that has been read too often, is emptied and erased
//! like any victim, even if all its pages are valid. The scheme places its pages like collected ones. Due blocks
//! are detected when a request arrives and when a read ends, so an idle drive sets no timer for them; the work is
//! done in the background, one block per plane, and never uses a plane's last erased blocks.

use crate::ftl::Ftl;
use crate::plan::region::RegionId;
use crate::state::block::Phase;
use crate::state::job::GcReason;
use crate::state::op::OpId;
use wordline_counters::Due;
use wordline_flash::Stress;
use wordline_units::{BlockId, PlaneId, SimDuration};

/// Retention is counted in hours, so blocks are checked no more often.
const HOUR: SimDuration = SimDuration(3_600_000_000_000);

impl Ftl {
    /// Handle the arrival of a request: blocks may have become too old.
    #[inline(always)]
    pub(crate) fn scan_for_old(&mut self) {
        if self.state.refreshing.is_scan_due(self.state.now) {
            self.scan_ages();
        }
    }

    #[cold]
    fn scan_ages(&mut self) {
        let (now, most) = (self.state.now, self.state.refreshing.rule().age.unwrap_or(SimDuration::ZERO));
        // What is written from now on is due no sooner.
        let mut next = now + most;
        for block in 0..self.state.geometry.blocks {
            if matches!(
                self.state.blocks[block as usize].phase,
                Phase::Free | Phase::Retired | Phase::Erasing
            ) {
                continue;
            }
            let age = self.state.aging.age(BlockId(block), now);
            if age >= most {
                self.state.refreshing.note_due(BlockId(block), Due::Age);
            } else {
                next = next.min(now + SimDuration(most.0 - age.0));
            }
        }
        self.state.refreshing.scan_at(next.max(now + HOUR));
        for plane in 0..self.state.geometry.planes {
            self.refresh(PlaneId(plane));
        }
    }

    /// Handle the end of a page read: its block may be due.
    pub(crate) fn check_after_read(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let (block, retries) = (self.state.geometry.block_of(op.ppn), op.retries.count);
        let rule = self.state.refreshing.rule();
        let due = if rule.reads.is_some_and(|most| self.state.aging.reads(block) >= most) {
            Due::Reads
        } else if rule.retries.is_some_and(|most| retries >= most) && self.would_gain(id) {
            Due::Retries
        } else {
            return;
        };
        self.state.refreshing.note_due(block, due);
    }

    /// Whether the page of a read would need fewer retries than the limit if it had just been written.
    fn would_gain(&self, id: OpId) -> bool {
        let op = &self.state.ops[id];
        let block = self.state.geometry.block_of(op.ppn);
        let fresh = Stress { cycles: self.state.cycles(block), ..Stress::default() };
        let units = self.state.geometry.units_per_page(self.state.geometry.medium_index(op.plane));
        let (page, mode) =
            (self.state.geometry.slot_of(op.ppn) / units, self.state.blocks[block.index()].mode());
        let (wordline, bit) = (page / mode.bits(), page % mode.bits());
        let retries = self.state.aging.retries_at(fresh, (block, mode), wordline, bit as usize);
        self.state.refreshing.rule().retries.is_none_or(|most| retries < most)
    }

    /// Start with a due block of a plane, if the plane has room for its pages.
    #[inline(always)]
    pub(crate) fn refresh(&mut self, plane: PlaneId) {
        if !self.state.refreshing.is_empty() && !self.state.draining {
            self.refresh_one_of(plane);
        }
    }

    #[inline(never)]
    fn refresh_one_of(&mut self, plane: PlaneId) {
        let blocks = self.state.geometry.blocks_of(plane);
        for (block, due) in self.state.refreshing.due_in(blocks) {
            let info = self.state.blocks[block as usize];
            let region = self.state.region_of(BlockId(block));
            // A block that is in several lists, by windows or types of pages, waits until it is in none, and one of
            // a superblock until all of them are full.
            let rule = self.state.regions[region.index()].region.rule;
            let in_lists = rule.reprograms() || rule.by_bit() || self.state.has_superblocks(region);
            let is_frontier = info.phase == Phase::Open && info.writers == 0 && !in_lists;
            let can_begin =
                is_frontier || (info.is_listed() && self.state.is_victim(region, plane, BlockId(block)));
            let mut regions = (0..self.state.regions.len() as u8).map(RegionId);
            let has_job =
                regions.any(|r| self.state.reaches(r, plane) && self.state.at(r, plane).job.is_some());
            if can_begin
                && !has_job
                && self.state.grants_refresh(region, plane)
                && self.begin_job(region, plane, Some(BlockId(block)), GcReason::Due)
            {
                self.state.counters.refresh.blocks[due as usize] += 1;
                self.state.refreshing.forget(BlockId(block));
                return;
            }
        }
    }
}
