//! Work for a drive without requests: what its scheme is asked, and what goes on until nothing is left.

use crate::ftl::Ftl;
use crate::media::Media;
use crate::plan::decision::IdleWork;
use crate::plan::layout::Hooks;
use crate::plan::region::RegionId;
use crate::state::job::{GcReason, MoveReason};
use crate::view::View;
use wordline_device::GcClass;
use wordline_units::{DieId, PlaneId};

impl<M: Media> Ftl<M> {
    /// A die has nothing to do, or the drive drains: ask the scheme for one job, plane by plane in
    /// turn. Returns whether it had one.
    pub fn idle(&mut self, die: DieId) -> bool {
        if !self.enabled_hooks.contains(Hooks::IDLE)
            || self.idle_jobs.of(die) > 0
            || self.worn_out().is_some()
        {
            return false;
        }
        let planes = self.state.geometry.planes_of_die(die);
        let (turn, count) = (self.idle_jobs.turn(die), planes.len() as u32);
        for i in 0..count {
            let plane = PlaneId(planes.start + (turn + i) % count);
            let view = View::of(&self.state);
            let work = self.scheme.idle(plane, &view);
            if self.has_failed("idle") {
                return false;
            }
            let Some(work) = work else { continue };
            self.idle_jobs.took(die, turn + i);
            let began = match work {
                IdleWork::Move(m) => {
                    let before = self.idle_jobs.under_way();
                    self.enqueue_move(m, MoveReason::Idleness);
                    self.idle_jobs.under_way() > before
                }
                IdleWork::Collect(c, grain) => {
                    self.grant(c.region, plane)
                        || self.begin_job(c.region, plane, c.block, GcReason::Idleness(grain))
                }
            };
            if began {
                return true;
            }
        }
        false
    }

    /// What idle time has begun cannot wait for the next: it goes on like any collection.
    pub(crate) fn take_over(&mut self, region: RegionId, plane: PlaneId) {
        let alone = self.state.gc.class == GcClass::Foreground;
        let Some(job) = &mut self.state.at_mut(region, plane).job else { return };
        let granted = std::mem::replace(&mut job.granted, true);
        job.idle = false;
        job.held = alone;
        if alone {
            self.hold(plane);
        }
        self.end_grant(plane, granted);
        self.step_job(region, plane);
    }

    /// A job of idle time goes on by a page, or its erase. Returns whether one was at rest.
    pub(crate) fn grant(&mut self, region: RegionId, plane: PlaneId) -> bool {
        if region.index() >= self.state.regions.len() || !self.state.reaches(region, plane) {
            return false;
        }
        let Some(job) = self.state.at_mut(region, plane).job.as_mut().filter(|job| job.is_paused()) else {
            return false;
        };
        job.granted = true;
        self.idle_jobs.begin(self.state.geometry.die_of(plane));
        self.step_job(region, plane);
        true
    }

    /// What idle time had granted a job of a plane, if it had, is used up.
    pub(crate) fn end_grant(&mut self, plane: PlaneId, granted: bool) {
        if granted {
            self.idle_jobs.end(self.state.geometry.die_of(plane));
        }
    }

    /// Whether the scheme wants to be asked for work on idle dies.
    pub fn works_when_idle(&self) -> bool {
        self.enabled_hooks.contains(Hooks::IDLE)
    }

    /// Idle jobs under way on a die.
    pub fn idle_jobs(&self, die: DieId) -> u32 {
        self.idle_jobs.of(die)
    }

    /// The run is over: pad what waits for company, and let [`Self::idle`] empty what it likes.
    pub fn drain(&mut self) {
        self.state.draining = true;
        self.seal_merged();
        self.empty_to(0);
        self.seal(true);
    }
}
