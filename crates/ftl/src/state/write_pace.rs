//! The pace of host writes: while garbage collection works and erased blocks run short, writes are admitted at a rate
//! that falls with the free space, through the rate at which collection frees pages.
//!
//! After a write of `n` pages the next waits for
//!
//! ```text
//! n * 2x * T,    x = (pace_below - free blocks) / (pace_below - hard reserve), from 0 to 1
//! ```
//!
//! where `T` is the mean time in which collections of all planes free a page. So half-way the host gets what is freed,
//! above that more, and below it less. Free blocks are the mean over the planes, with the free pages of open blocks.

use crate::plan::region::RegionId;
use crate::state::blocks::free_space::{free_slots, hard_reserve};
use crate::state::job::{GcReason, Job, Paces};
use crate::state::state::State;
use serde::{Deserialize, Serialize};
use wordline_units::{BlockId, HostRequest, PlaneId, SimDuration, SimTime};

/// When the next host write goes in, and what collections have freed in what time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WritePace {
    /// No write goes in before this time while a collection is under way.
    next: SimTime,
    /// Whether a timer is set for it, or for an earlier one.
    rings: bool,
    /// Collections under way.
    under_way: u32,
    /// Sum of the times that collections took, each in its plane, ns.
    time: u64,
    /// Slots that they freed.
    freed: u64,
}

/// Free space between the two ends of the zone in which writes are paced, in slots over all planes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shortage {
    /// How much is missing to the upper end, at most all of the zone.
    lacking: u64,
    /// Size of the zone.
    zone: u64,
    planes: u64,
}

impl Shortage {
    /// The shortage of a drive. `below` is `gc.pace_below`, in free blocks per plane.
    fn of(state: &State, below: u32) -> Shortage {
        let home = state.blocks.home();
        let r = &state.blocks.region(home);
        let planes = r.planes.len() as u64;
        let blocks = |n: u32| u64::from(n) * u64::from(r.slots_per_block) * planes;
        let zone = blocks(below.saturating_sub(hard_reserve(&state.blocks, home)).max(1));
        let first = r.first_plane;
        let free: u64 =
            (first..first + planes as u32).map(|plane| free_slots(&state.blocks, home, PlaneId(plane))).sum();
        Shortage { lacking: blocks(below).saturating_sub(free).min(zone), zone, planes }
    }
}

impl WritePace {
    /// Whether a write has to wait.
    #[inline(always)]
    pub fn holds_back(&self, now: SimTime) -> bool {
        now < self.next && self.under_way > 0
    }

    /// When a timer must fire for the next write; `None` if one is set.
    pub fn set_timer(&mut self) -> Option<SimTime> {
        (!std::mem::replace(&mut self.rings, true)).then_some(self.next)
    }

    /// The timer has fired.
    pub fn ring(&mut self) {
        self.rings = false;
    }

    /// Admit a write of `pages` logical pages and set the time of the next one. `below` is `gc.pace_below`, in free blocks
    /// per plane. Returns whether pacing delayed the write.
    pub fn admit(&mut self, state: &State, below: u32, write: &HostRequest, pages: u64) -> bool {
        let waited = self.next.min(state.now) > write.arrival;
        if self.under_way > 0 {
            let gap = self.gap(pages, Shortage::of(state, below));
            self.next = self.next.max(state.now) + gap;
        }
        waited
    }

    /// How long the next write waits after one of this many pages.
    fn gap(&self, pages: u64, shortage: Shortage) -> SimDuration {
        let Shortage { lacking, zone, planes } = shortage;
        let below = u128::from(zone) * u128::from(self.freed) * u128::from(planes);
        let above = 2 * u128::from(pages) * u128::from(lacking) * u128::from(self.time);
        SimDuration(above.checked_div(below).unwrap_or(0).min(u128::from(u64::MAX >> 8)) as u64)
    }

    /// A collection begins. Writes are paced by collections of the region with the data, which run because it is short
    /// of free blocks.
    pub fn begin(&mut self, state: &State, region: RegionId, block: BlockId, why: GcReason) -> Option<Paces> {
        state.config.gc.pace_below?;
        if why != GcReason::Shortage || !state.blocks.is_like_home(region) {
            return None;
        }
        self.under_way += 1;
        let live = state.blocks.block(block).live.div_ceil(state.geometry.sectors_per_unit);
        let slots = state.blocks.region(region).slots_per_block;
        Some(Paces { began: state.now, frees: slots.saturating_sub(live) })
    }

    /// A collection ends: its block is erased, or it was given up.
    pub fn end(&mut self, state: &State, job: &Job) {
        let Some(Paces { began, frees }) = job.paces else { return };
        self.under_way -= 1;
        if job.erasing {
            let r = &state.blocks.region(state.blocks.home());
            let memory = 2 * r.planes.len() as u64 * u64::from(r.slots_per_block);
            self.learn(state.now.since(began), frees, memory);
        }
    }

    /// Count `frees` slots that a collection freed in `time`. Both sums are halved whenever `memory` slots are exceeded, so
    /// that recent collections count most.
    fn learn(&mut self, time: SimDuration, frees: u32, memory: u64) {
        self.time = self.time.saturating_add(time.0);
        self.freed += u64::from(frees);
        if self.freed > memory {
            self.time /= 2;
            self.freed /= 2;
        }
    }

    /// Restart at time 0.
    pub fn start_anew(&mut self) {
        (self.next, self.rings) = (SimTime(0), false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two planes; four collections have freed 10 slots each in 1,000 ns: 50 ns a slot.
    fn known() -> WritePace {
        let mut pace = WritePace::default();
        for _ in 0..4 {
            pace.learn(SimDuration(1_000), 10, 1_000);
        }
        pace.under_way = 1;
        pace
    }

    fn shortage(lacking: u64) -> Shortage {
        Shortage { lacking, zone: 100, planes: 2 }
    }

    #[test]
    fn write_pace_is_the_gc_rate_halfway_through_the_zone() {
        let pace = known();
        let gaps = [0, 25, 50, 100].map(|lacking| pace.gap(1, shortage(lacking)).0);
        assert_eq!(gaps, [0, 25, 50, 100]);
        assert_eq!(pace.gap(8, shortage(50)).0, 8 * pace.gap(1, shortage(50)).0);
    }

    #[test]
    fn no_write_waits_without_data_or_without_gc() {
        let pace = WritePace { under_way: 1, ..WritePace::default() };
        assert_eq!(pace.gap(1, shortage(100)), SimDuration::ZERO);
        let mut pace = known();
        pace.next = SimTime(500);
        assert!(pace.holds_back(SimTime(499)) && !pace.holds_back(SimTime(500)));
        pace.under_way = 0;
        assert!(!pace.holds_back(SimTime(0)), "no collection is under way, so none would let it in");
    }

    #[test]
    fn what_is_known_follows_the_last_collections() {
        let mut pace = known();
        for _ in 0..200 {
            pace.learn(SimDuration(4_000), 10, 100);
        }
        let gap = pace.gap(100, shortage(50)).0;
        assert!((19_900..=20_100).contains(&gap), "{gap}: 200 ns a slot");
        assert!(pace.freed <= 100);
    }

    #[test]
    fn one_timer_is_set_at_a_time() {
        let mut pace = known();
        pace.next = SimTime(70);
        assert_eq!([pace.set_timer(), pace.set_timer()], [Some(SimTime(70)), None]);
        pace.ring();
        pace.next = SimTime(90);
        assert_eq!(pace.set_timer(), Some(SimTime(90)));
    }
}
