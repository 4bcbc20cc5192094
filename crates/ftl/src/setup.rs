//! A drive outside of its operation: what it holds before its first request, how old it is, and how it starts anew.

use crate::flow::begin::contents::contents;
use crate::flow::begin::precondition::precondition;
use crate::flow::begin::steady::precondition_steady;
use crate::flow::history::forget_history;
use crate::initial::initial::{Initial, InitialError};
use crate::initial::steady_types::{Begun, Contents, Known, Law, SteadyError, Updates};
use crate::layer::Layer;
use crate::state::blocks::at_rest::forget_most_shrunk;
use crate::state::request::Timer;
use wordline_units::{BlockId, SimDuration, SimTime};

/// A drive that no operation is under way in. [`Ftl::setup`](crate::Ftl::setup) makes it.
pub struct Setup<'a> {
    layer: &'a mut Layer,
}

impl<'a> Setup<'a> {
    pub(crate) fn of(layer: &'a mut Layer) -> Setup<'a> {
        Setup { layer }
    }

    /// Precondition the drive before its first request.
    ///
    /// # Errors
    /// If the data do not fit; the drive must then be discarded.
    pub fn precondition(self, initial: &Initial, seed: u64) -> Result<(), InitialError> {
        precondition(self.layer, initial, seed)
    }

    /// Put the drive into the steady state of a workload. `initial` gives the pages that hold data, and the
    /// P/E cycles.
    ///
    /// # Errors
    /// If the scheme has several regions or a collection rule of its own, the map is not page-level, or data leave
    /// nothing to collect or fewer free blocks than the trigger requires; the drive must then be discarded.
    pub fn precondition_steady(
        self,
        initial: &Initial,
        updates: Updates,
        known: Known,
        seed: u64,
    ) -> Result<Begun, SteadyError> {
        precondition_steady(self.layer, initial, updates, known, seed)
    }

    /// Current contents of the blocks on a drive that started as `begun` states, under the same law. Data in flight
    /// count at their last committed place. Planes keep their shares of the data if `is_uneven`; otherwise all get
    /// equal shares.
    ///
    /// # Errors
    /// As [`Self::precondition_steady`].
    pub fn contents(
        self,
        initial: &Initial,
        law: &Law,
        begun: Begun,
        is_uneven: bool,
    ) -> Result<Contents, SteadyError> {
        contents(self.layer, initial, law, begun, is_uneven)
    }

    /// Reset all counters, at time 0, and keep the drive as it is. No operation may be pending.
    pub fn start_anew(self) {
        let Layer { state, requests, idle_jobs, .. } = self.layer;
        state.aging.age_by(state.now.since(SimTime(0)));
        state.refreshing.start_anew();
        state.now = SimTime(0);
        forget_most_shrunk(&mut state.blocks);
        state.draining = false;
        state.idle_gc_copies.clear();
        idle_jobs.start_anew();
        requests.pace_mut().start_anew();
        state.counters = state.counters.anew();
        if let Some(map) = &mut state.demand {
            map.start_anew();
        }
    }

    /// Age the data by this time, during which the drive is powered off.
    pub fn age_by(self, time: SimDuration) {
        self.layer.state.aging.age_by(time);
        self.layer.state.refreshing.start_anew();
    }

    /// Retire a block at its next erase, whatever its remaining endurance.
    pub fn condemn(self, block: BlockId) {
        self.layer.state.wear.condemned.insert(block);
    }

    /// Forget the history, which cannot affect the future. Versions that others keep are renumbered with those of the
    /// drive, and timers without effect are dropped. Time must be 0, errors and wear off, and no effect or completed
    /// request may be left.
    pub fn forget_history(self, versions: &mut [&mut u64], timers: &mut Vec<Timer>) {
        forget_history(self.layer, versions, timers);
    }
}
