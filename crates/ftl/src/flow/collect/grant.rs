//! A job started in idle time: it advances one granted page at a time, until collection takes it over.

use crate::ftl::Ftl;
use crate::plan::region::RegionId;
use crate::state::job::{GcReason, Job};
use wordline_device::GcClass;
use wordline_units::PlaneId;

impl Ftl {
    /// A job started in idle time cannot wait for the next idle period: it continues like any collection.
    pub(crate) fn take_over(&mut self, region: RegionId, plane: PlaneId) {
        let alone = self.state.gc.class == GcClass::Foreground;
        let Some(Job { block, granted, .. }) = self.state.at(region, plane).job else { return };
        let paces = self.requests.pace_mut().begin(&self.state, region, block, GcReason::Shortage);
        if let Some(job) = &mut self.state.at_mut(region, plane).job {
            (job.granted, job.idle, job.held, job.paces) = (true, false, alone, paces);
        }
        if alone {
            self.hold(plane);
        }
        self.end_grant(plane, granted);
        self.step_job(region, plane);
    }

    /// Advance a job of idle time by a page, or by its erase. Returns whether one was at rest.
    pub(crate) fn grant(&mut self, region: RegionId, plane: PlaneId) -> bool {
        if region.index() >= self.state.regions.len() || !self.state.reaches(region, plane) {
            return false;
        }
        let Some(job) = self.state.at_mut(region, plane).job.as_mut().filter(|job| job.is_paused()) else {
            return false;
        };
        job.granted = true;
        self.begin_idle_work(self.state.geometry.die_of(plane));
        self.step_job(region, plane);
        true
    }

    /// The grant of idle time to a job of a plane, if it had one, is used.
    pub(crate) fn end_grant(&mut self, plane: PlaneId, granted: bool) {
        if granted {
            self.end_idle_work(self.state.geometry.die_of(plane));
        }
    }
}
