//! Static wear levelling: data at rest leave the block that they keep young. And the end of a drive that has worn out,
//! as those who ask see it.

use crate::ftl::Ftl;
use crate::plan::region::PoolId;
use crate::state::job::GcReason;
use crate::state::op::{Op, Owner};
use crate::state::request::Outcome;
use wordline_counters::LostCounts;
use wordline_units::{BlockId, PlaneId, SimTime};

impl Ftl {
    /// A host write has no place and none can be made: the drive is full, or has worn out.
    pub(crate) fn no_place(&mut self) -> Outcome {
        if self.state.wear.lost.retired == 0 {
            if self.out.first_full().is_none() {
                let how_full = format!("at {} ns: {}", self.state.now.0, self.room_told());
                self.out.note_full(how_full);
            }
            return Outcome::OutOfSpace;
        }
        self.state.wear.over.get_or_insert(self.state.now);
        Outcome::WornOut
    }

    /// When a write first found no place, and how full the drive was where programs wanted to go.
    pub fn first_full(&self) -> Option<&str> {
        self.out.first_full()
    }

    /// When the drive wore out, if it has: it takes no more writes, and is read as before.
    pub fn worn_out(&self) -> Option<SimTime> {
        self.state.wear.over
    }

    /// Let a block retire at its next erase, whatever is left of its life.
    pub fn condemn(&mut self, block: BlockId) {
        self.state.wear.condemned.insert(block);
    }

    /// Blocks that were bad from the beginning, and those that have retired since.
    pub fn lost_blocks(&self) -> (u32, u32) {
        (self.state.wear.lost.bad, self.state.wear.lost.retired)
    }

    /// The same, with the blocks whose data static wear levelling moved.
    pub fn lost_counts(&self) -> &LostCounts {
        &self.state.wear.lost
    }

    /// Whether a program moves data at rest out of a block that they have kept young.
    pub(crate) fn levels(&self, op: &Op) -> bool {
        let Owner::Job(region) = op.owner else { return false };
        self.state
            .at(region, self.state.geometry.plane_at(op.from))
            .job
            .is_some_and(|j| j.why == GcReason::Levelling)
    }

    /// Data at rest that keep a block of a plane too young for the others leave it.
    pub(crate) fn level(&mut self, pool: PoolId, plane: PlaneId) {
        let Some(beyond) = self.state.wear.spec.static_beyond else { return };
        let Some(block) = self.state.least_worn_at_rest(pool, plane, beyond) else { return };
        let region = self.state.region_of(block);
        if !self.state.is_short(region, plane)
            && self.begin_job(region, plane, Some(block), GcReason::Levelling)
        {
            self.state.wear.lost.levelled += 1;
        }
    }
}
