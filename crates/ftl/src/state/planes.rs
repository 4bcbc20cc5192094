//! What waits for a plane, and whether a scheme need be asked for idle work there.

use crate::plan::region::{RegionId, RegionSet};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use wordline_units::PlaneId;

#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
struct PlaneState {
    /// The regions for a slot of which programs wait.
    programs_blocked: RegionSet,
    /// Whether a moved page waits for a slot.
    gc_blocked: bool,
    /// Whether the scheme had no idle work here, and nothing of the plane has changed since. Not saved: a loaded drive asks
    /// once more.
    #[serde(skip)]
    no_idle_work: bool,
}

/// The planes of the drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Planes {
    by_number: Vec<PlaneState>,
}

impl Planes {
    pub fn new(planes: u32) -> Planes {
        Planes { by_number: vec![PlaneState::default(); planes as usize] }
    }

    /// A program waits in a plane for a slot of a region.
    pub fn block_program(&mut self, plane: PlaneId, region: RegionId) {
        let blocked = &mut self.by_number[plane.index()].programs_blocked;
        *blocked = blocked.and(region);
    }

    /// The regions of a plane for a slot of which programs wait.
    #[inline(always)]
    pub fn programs_blocked(&self, plane: PlaneId) -> RegionSet {
        self.by_number[plane.index()].programs_blocked
    }

    /// Whether a program waits in any plane.
    pub fn any_program_blocked(&self) -> bool {
        self.by_number.iter().any(|plane| !plane.programs_blocked.is_empty())
    }

    /// The programs of a plane retry, until one of them is blocked again.
    pub fn wake_programs(&mut self, plane: PlaneId) {
        self.by_number[plane.index()].programs_blocked = RegionSet::default();
    }

    /// A moved page waits in a plane for a slot.
    pub fn block_gc(&mut self, plane: PlaneId) {
        self.by_number[plane.index()].gc_blocked = true;
    }

    #[inline(always)]
    pub fn is_gc_blocked(&self, plane: PlaneId) -> bool {
        self.by_number[plane.index()].gc_blocked
    }

    /// The moved pages of a plane retry.
    pub fn wake_gc(&mut self, plane: PlaneId) {
        self.by_number[plane.index()].gc_blocked = false;
    }

    /// The scheme has no idle work for a plane, until the plane changes.
    pub fn note_no_idle_work(&mut self, plane: PlaneId) {
        self.by_number[plane.index()].no_idle_work = true;
    }

    /// Whether none of these planes has changed since the scheme had no idle work for it.
    pub fn have_no_idle_work(&self, planes: Range<u32>) -> bool {
        self.by_number[planes.start as usize..planes.end as usize].iter().all(|plane| plane.no_idle_work)
    }

    /// A plane has changed.
    #[inline(always)]
    pub fn changed(&mut self, plane: PlaneId) {
        self.by_number[plane.index()].no_idle_work = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plane_without_idle_work_is_asked_after_a_change() {
        let mut planes = Planes::new(2);
        planes.note_no_idle_work(PlaneId(0));
        planes.note_no_idle_work(PlaneId(1));
        planes.changed(PlaneId(1));
        assert_eq!([0..1, 1..2, 0..2].map(|some| planes.have_no_idle_work(some)), [true, false, false]);
    }

    #[test]
    fn programs_and_moved_pages_wait_apart() {
        let mut planes = Planes::new(2);
        planes.block_program(PlaneId(0), RegionId(1));
        planes.block_gc(PlaneId(0));
        planes.wake_programs(PlaneId(0));
        assert!(!planes.any_program_blocked() && planes.is_gc_blocked(PlaneId(0)));
        planes.wake_gc(PlaneId(0));
        assert!(!planes.is_gc_blocked(PlaneId(0)));
    }
}
