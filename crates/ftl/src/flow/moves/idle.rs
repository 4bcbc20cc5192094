//! Work in idle time: what its scheme is asked.

use crate::ftl::Ftl;
use crate::plan::decision::IdleWork;
use crate::plan::layout::Hooks;
use crate::state::job::{GcReason, MoveReason};
use crate::state::request::{Effect, Timer};
use crate::view::View;
use wordline_units::{DieId, PlaneId};

impl Ftl {
    /// A die is idle, or the drive drains: ask the scheme for one job, plane by plane in rotation. Returns
    /// whether it had one.
    pub fn idle(&mut self, die: DieId) -> bool {
        if !self.enabled_hooks.contains(Hooks::IDLE)
            || self.idle_jobs.of(die) > 0
            || self.is_kept_from_idle_work(die)
            || self.state.wear.over.is_some()
        {
            return false;
        }
        // The end of a run does not wait for the rate.
        if !self.state.draining && !self.idle_jobs.is_due(self.state.now) {
            if let Some(at) = self.idle_jobs.set_timer() {
                self.out.ask(Effect::Timer(at, Timer::IdlePace));
            }
            return false;
        }
        let has_superblocks = self.state.pools.iter().any(|pool| pool.planes_per_superblock > 1);
        let remembers = self.scheme.idle_is_local() && !has_superblocks && !self.state.draining;
        let planes = self.state.geometry.planes_of_die(die);
        if remembers && self.state.planes.have_no_idle_work(planes.clone()) {
            let mut again = planes.map(|plane| self.scheme.idle(PlaneId(plane), &View::of(&self.state)));
            debug_assert!(again.all(|work| work.is_none()), "die {die}");
            return false;
        }
        let (turn, count) = (self.idle_jobs.turn(die), planes.len() as u32);
        for i in 0..count {
            let plane = PlaneId(planes.start + (turn + i) % count);
            let work = self.scheme.idle(plane, &View::of(&self.state));
            if self.has_failed("idle") {
                return false;
            }
            let Some(work) = work else {
                if remembers {
                    self.state.planes.note_no_idle_work(plane);
                }
                continue;
            };
            self.idle_jobs.took(die, turn + i);
            let began = match work {
                IdleWork::Move(m) => {
                    let before = self.idle_jobs.under_way();
                    self.enqueue_move(m, MoveReason::Idleness);
                    let began = self.idle_jobs.under_way() > before;
                    if began {
                        let unit = self.state.geometry.unit;
                        self.idle_jobs.pace(die, self.layout.idle_rate.time_for(unit));
                    }
                    began
                }
                IdleWork::Collect(c, grain) => {
                    self.grant(c.region, plane)
                        || self.begin_asked_job(c.region, plane, c.block, GcReason::Idleness(grain))
                }
            };
            if began {
                return true;
            }
        }
        false
    }

    /// Whether the scheme wants to be asked for work on idle dies.
    pub fn works_when_idle(&self) -> bool {
        self.enabled_hooks.contains(Hooks::IDLE)
    }

    /// Active idle jobs of a die.
    pub fn idle_jobs(&self, die: DieId) -> u32 {
        self.idle_jobs.of(die)
    }
}
