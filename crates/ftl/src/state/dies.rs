//! Dies that a collection holds for itself, and those that work in idle time.

use crate::state::idle_pace::IdlePace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use wordline_units::{DieId, SimDuration, SimTime};

/// Held dies, on which only the holder's operations run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HeldDies {
    /// Jobs that hold a die, by die.
    by_die: Vec<u32>,
    /// Jobs that hold any.
    jobs: u32,
}

impl HeldDies {
    pub fn new(dies: u32) -> HeldDies {
        HeldDies { by_die: vec![0; dies as usize], jobs: 0 }
    }

    /// A job takes a die.
    pub fn hold(&mut self, die: DieId) {
        self.by_die[die.index()] += 1;
        self.jobs += 1;
    }

    /// A job releases its die.
    pub fn let_go(&mut self, die: DieId) {
        self.by_die[die.index()] -= 1;
        self.jobs -= 1;
    }

    #[inline(always)]
    pub fn is_held(&self, die: DieId) -> bool {
        self.any() && self.by_die[die.index()] > 0
    }

    #[inline(always)]
    pub fn any(&self) -> bool {
        self.jobs > 0
    }
}

/// Work that idle time has begun: collections that may continue, and moves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct IdleJobs {
    /// How many a die has under way.
    by_die: Vec<u32>,
    /// How many all have.
    under_way: u32,
    /// The plane of a die that its scheme is asked about next, counted on and on.
    turns: Vec<u32>,
    /// Dies whose idle work holds what the layout says; empty where it holds nothing.
    holders: BTreeSet<u32>,
    /// When the next page may begin, where idle work has a rate.
    pace: IdlePace,
}

impl IdleJobs {
    pub fn new(dies: u32) -> IdleJobs {
        let none = || vec![0; dies as usize];
        IdleJobs {
            by_die: none(),
            under_way: 0,
            turns: none(),
            holders: BTreeSet::new(),
            pace: IdlePace::default(),
        }
    }

    pub fn begin(&mut self, die: DieId) {
        self.by_die[die.index()] += 1;
        self.under_way += 1;
    }

    pub fn end(&mut self, die: DieId) {
        self.by_die[die.index()] -= 1;
        self.under_way -= 1;
    }

    /// Idle jobs of a die.
    pub fn of(&self, die: DieId) -> u32 {
        self.by_die[die.index()]
    }

    /// Idle jobs of all dies.
    pub fn under_way(&self) -> u32 {
        self.under_way
    }

    /// The idle work of a die holds what the layout demands, unless it already does.
    pub fn hold(&mut self, die: DieId) -> bool {
        self.holders.insert(die.0)
    }

    /// The idle work of a die releases what it holds, if anything.
    pub fn let_go(&mut self, die: DieId) -> bool {
        self.holders.remove(&die.0)
    }

    /// The first of some dies whose idle work holds something.
    pub fn holder_of(&self, dies: Range<u32>) -> Option<DieId> {
        self.holders.range(dies).next().map(|die| DieId(*die))
    }

    pub fn turn(&self, die: DieId) -> u32 {
        self.turns[die.index()]
    }

    /// Restart the rotation, with this many turns per round.
    pub fn forget_history(&mut self, round: u32) {
        self.turns.iter_mut().for_each(|turn| *turn %= round);
    }

    /// Whether the next page may begin.
    pub fn is_due(&self, now: SimTime) -> bool {
        self.pace.is_due(now)
    }

    /// When a timer must fire for the next page; `None` if one is set.
    pub fn set_timer(&mut self) -> Option<SimTime> {
        self.pace.set_timer()
    }

    /// That timer has fired.
    pub fn ring(&mut self) {
        self.pace.ring();
    }

    /// An idle period begins in which pages move at a limited rate.
    pub fn begin_period(&mut self, now: SimTime) {
        self.pace.begin(now);
    }

    /// A die begins to read pages that take this long at the rate, if there is one.
    pub fn pace(&mut self, die: DieId, time: SimDuration) {
        if time > SimDuration::ZERO {
            self.pace.took(die, time);
        }
    }

    /// The die to ask first.
    pub fn first_die(&self) -> u32 {
        self.pace.turn()
    }

    /// Restart at time 0.
    pub fn start_anew(&mut self) {
        self.pace.start_anew();
    }

    /// The scheme had work for the plane of this turn, so the next plane is asked first.
    pub fn took(&mut self, die: DieId, turn: u32) {
        self.turns[die.index()] = turn + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_die_is_held_until_all_who_took_it_have_let_go() {
        let mut held = HeldDies::new(2);
        held.hold(DieId(1));
        held.hold(DieId(1));
        held.let_go(DieId(1));
        assert!(held.is_held(DieId(1)) && !held.is_held(DieId(0)) && held.any());
        held.let_go(DieId(1));
        assert!(!held.is_held(DieId(1)) && !held.any());
    }

    #[test]
    fn idle_work_is_counted_by_die_and_in_all() {
        let mut jobs = IdleJobs::new(3);
        jobs.begin(DieId(0));
        jobs.begin(DieId(2));
        jobs.begin(DieId(2));
        jobs.end(DieId(2));
        assert_eq!([0, 1, 2].map(|die| jobs.of(DieId(die))), [1, 0, 1]);
        assert_eq!(jobs.under_way(), 2);
        jobs.took(DieId(2), 4);
        assert_eq!((jobs.turn(DieId(2)), jobs.turn(DieId(0))), (5, 0));
        assert!(jobs.hold(DieId(1)) && !jobs.hold(DieId(1)), "it holds already");
        assert_eq!([0..1, 0..2, 2..3].map(|dies| jobs.holder_of(dies)), [None, Some(DieId(1)), None]);
        assert!(jobs.let_go(DieId(1)) && !jobs.let_go(DieId(1)));
    }
}
