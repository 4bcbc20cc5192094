//! Dies reserved by collections and idle work, on which host operations must wait.

use crate::ftl::Ftl;
use crate::plan::layout::IdleHold;
use crate::plan::region::RegionId;
use crate::state::request::Effect;
use std::ops::Range;
use wordline_units::{DieId, PlaneId};

impl Ftl {
    /// Reserve the die of a plane for a job.
    pub(crate) fn hold(&mut self, plane: PlaneId) {
        self.hold_die(self.state.geometry.die_of(plane));
    }

    /// A job releases the die that it held.
    pub(crate) fn let_go(&mut self, plane: PlaneId) {
        self.let_go_of(self.state.geometry.die_of(plane));
    }

    fn hold_die(&mut self, die: DieId) {
        self.held_dies.hold(die);
        self.out.ask(Effect::Hold(die));
    }

    fn let_go_of(&mut self, die: DieId) {
        self.held_dies.let_go(die);
        self.out.ask(Effect::Hold(die));
    }

    /// Nothing is pending, and collections that reserve their dies wait for space: let host operations pass,
    /// which may free space or need none. Returns whether a die was held.
    pub(crate) fn let_go_of_dies(&mut self) -> bool {
        if !self.holds_a_die() {
            return false;
        }
        let mut any = false;
        for index in 0..self.state.regions.len() {
            let region = RegionId(index as u8);
            let first = self.state.pool_of(region).first_plane;
            for plane in (0..self.state.regions[index].planes.len() as u32).map(|i| PlaneId(first + i)) {
                let job = &mut self.state.at_mut(region, plane).job;
                if job.as_mut().is_some_and(|job| std::mem::take(&mut job.held)) {
                    self.let_go(plane);
                    any = true;
                }
            }
        }
        while let Some(die) = self.idle_jobs.holder_of(0..self.state.geometry.dies) {
            any |= self.let_go_in_idle_time(die);
        }
        any
    }

    /// Start a unit of idle work on a die.
    pub(crate) fn begin_idle_work(&mut self, die: DieId) {
        self.idle_jobs.begin(die);
        if self.layout.idle_hold != IdleHold::Grain && self.idle_jobs.hold(die) {
            self.reach_of(die).for_each(|die| self.hold_die(DieId(die)));
        }
    }

    /// A unit of idle work is over.
    pub(crate) fn end_idle_work(&mut self, die: DieId) {
        self.idle_jobs.end(die);
        if self.idle_jobs.of(die) == 0 {
            self.let_go_in_idle_time(die);
        }
    }

    /// Release the layout reservation of a die's idle work. Returns whether it held anything.
    pub(crate) fn let_go_in_idle_time(&mut self, die: DieId) -> bool {
        let held = self.idle_jobs.let_go(die);
        if held {
            self.reach_of(die).for_each(|die| self.let_go_of(DieId(die)));
        }
        held
    }

    /// Dies that the idle work of a die blocks for the host.
    fn reach_of(&self, die: DieId) -> Range<u32> {
        match self.layout.idle_hold {
            IdleHold::Grain => 0..0,
            IdleHold::Die => die.0..die.0 + 1,
            IdleHold::Channel => self.state.geometry.dies_of_channel(self.state.geometry.channel_of(die)),
        }
    }

    /// Whether idle work of another die prevents idle work of this die.
    pub(crate) fn is_kept_from_idle_work(&self, die: DieId) -> bool {
        self.layout.idle_hold == IdleHold::Channel && self.idle_jobs.holder_of(self.reach_of(die)).is_some()
    }

    /// Whether a die has no idle work and may have been prevented from it until now.
    pub(crate) fn may_work_again(&self, die: DieId) -> bool {
        self.layout.idle_hold == IdleHold::Channel
            && self.idle_jobs.of(die) == 0
            && !self.is_kept_from_idle_work(die)
    }
}
