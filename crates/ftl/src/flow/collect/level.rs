//! Static wear leveling: data at rest are moved out of blocks with few erases. Also the end of life of a drive, as
//! callers see it.

use crate::ftl::Ftl;
use crate::inspect::pending::describe_room;
use crate::plan::region::PoolId;
use crate::state::job::GcReason;
use crate::state::op::{Op, Owner};
use crate::state::request::Outcome;
use wordline_units::{BlockId, PlaneId};

impl Ftl {
    /// A host write has no place and none can be freed: the drive is full or worn out.
    pub(crate) fn no_place(&mut self) -> Outcome {
        if self.state.wear.lost.retired == 0 {
            if self.out.first_full().is_none() {
                let how_full = format!("at {} ns: {}", self.state.now.0, describe_room(&self.state));
                self.out.note_full(how_full);
            }
            return Outcome::OutOfSpace;
        }
        self.state.wear.over.get_or_insert(self.state.now);
        Outcome::WornOut
    }

    /// When a write first found no place, and the utilization of the target region then.
    pub fn first_full(&self) -> Option<&str> {
        self.out.first_full()
    }

    /// Retire a block at its next erase, whatever its remaining endurance.
    pub fn condemn(&mut self, block: BlockId) {
        self.state.wear.condemned.insert(block);
    }

    /// Whether a program moves data at rest for static wear leveling.
    pub(crate) fn levels(&self, op: &Op) -> bool {
        let Owner::Job(region) = op.owner else { return false };
        self.state
            .at(region, self.state.geometry.plane_at(op.from))
            .job
            .is_some_and(|j| j.why == GcReason::Levelling)
    }

    /// Move data at rest out of a block of a plane that has too few erases.
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
