//! Effects of invalidated data, ended reads and ended moves on the collection of their blocks.

use crate::ftl::Ftl;
use crate::plan::region::RegionId;
use crate::plan::span::{Dead, Invalidated};
use crate::state::block::Phase;
use crate::state::op::OpId;
use wordline_units::{BlockId, Lpn, Ppn};

impl Ftl {
    /// Sectors have died at places. All are already removed from the map; all are removed from their blocks
    /// before any collection starts.
    #[inline]
    pub(crate) fn invalidate(&mut self, dead: &Dead) {
        let mut programs_blocked = false;
        for invalidated in dead.iter() {
            programs_blocked |= self.take_off_block(invalidated);
        }
        if programs_blocked {
            self.collect_for_blocked(dead);
        }
    }

    /// Sectors of a block live no more. Returns whether its plane waits for space that it may give now.
    #[inline]
    fn take_off_block(&mut self, invalidated: Invalidated) -> bool {
        let block = self.state.geometry.block_of(invalidated.ppn);
        self.state.take_live(block, invalidated.sectors);
        let info = &self.state.blocks[block.index()];
        if info.is_listed() {
            let region = RegionId(info.region);
            let plane = self.state.geometry.plane_of(block);
            if self.state.has_superblocks(region) {
                self.state.lower_superblock(region, plane, block, invalidated.sectors);
            } else {
                let (position, relocation_cost) =
                    (self.state.position(region, plane, block), self.state.relocation_cost(block));
                self.state.at_mut(region, plane).victims.lower(position, relocation_cost);
            }
            return !self.state.planes.programs_blocked(plane).is_empty();
        }
        false
    }

    #[cold]
    fn collect_for_blocked(&mut self, dead: &Dead) {
        for invalidated in dead.iter() {
            let block = self.state.geometry.block_of(invalidated.ppn);
            let info = &self.state.blocks[block.index()];
            let (region, plane) = (RegionId(info.region), self.state.geometry.plane_of(block));
            if info.is_listed() && !self.state.planes.programs_blocked(plane).is_empty() {
                self.collect_for_waiting(region, plane);
            }
        }
    }

    /// Handle the end of a read of a block, or of a move out of it: the block may be erased if it was the
    /// last.
    #[inline]
    pub(crate) fn unpin(&mut self, block: BlockId) {
        let info = &mut self.state.blocks[block.index()];
        info.readers -= 1;
        if info.readers == 0 && info.phase == Phase::Collecting {
            let region = RegionId(info.region);
            self.step_job(region, self.state.geometry.plane_of(block));
        }
    }

    /// Handle the end of a move: its source may be erased, and operations that wait for it continue.
    pub(crate) fn end_move(&mut self, lpn: Lpn, from: Ppn, idle: bool, waits: OpId) {
        self.leave_move(lpn, from, idle, waits);
        self.unpin(self.state.geometry.block_of(from));
    }

    /// Handle the end of a move that did not pin its source. A die that moved a page in idle time may be
    /// offered idle work again.
    pub(crate) fn leave_move(&mut self, lpn: Lpn, from: Ppn, idle: bool, waits: OpId) {
        self.moves.under_way.remove(&lpn);
        if idle {
            self.end_idle_work(self.state.geometry.die_of(self.state.geometry.plane_at(from)));
        }
        if !waits.is_none() {
            self.awaited(waits);
        }
    }
}
