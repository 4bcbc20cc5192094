//! The pace of idle work: when the next page may move, so that pages move at a rate.

use serde::{Deserialize, Serialize};
use wordline_units::{DieId, SimDuration, SimTime};

/// When idle work may begin its next page, where the layout gives it a rate.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct IdlePace {
    /// Not before this time.
    next: SimTime,
    /// Whether a timer is set for it.
    rings: bool,
    /// The die that is asked first.
    turn: u32,
}

impl IdlePace {
    /// Whether the next page may begin.
    pub fn is_due(&self, now: SimTime) -> bool {
        now >= self.next
    }

    /// When a timer must fire for the next page; `None` if one is set.
    pub fn set_timer(&mut self) -> Option<SimTime> {
        (!std::mem::replace(&mut self.rings, true)).then_some(self.next)
    }

    /// The timer has fired.
    pub fn ring(&mut self) {
        self.rings = false;
    }

    /// An idle period begins; missed pages are not made up for.
    pub fn begin(&mut self, now: SimTime) {
        self.next = self.next.max(now);
    }

    /// A die begins one or several pages that take this long at the rate. A page that was late because all dies were
    /// busy does not delay the next.
    pub fn took(&mut self, die: DieId, time: SimDuration) {
        self.next = self.next + time;
        self.turn = die.0 + 1;
    }

    /// The die to ask first.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// Restart at time 0.
    pub fn start_anew(&mut self) {
        self.next = SimTime(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Time between idle periods is not made up for.
    #[test]
    fn idle_pace_starts_at_the_rate_and_banks_no_time() {
        let mut pace = IdlePace::default();
        let each = SimDuration(10);
        pace.begin(SimTime(50));
        assert!(pace.is_due(SimTime(50)));
        pace.took(DieId(2), each);
        assert_eq!((pace.is_due(SimTime(59)), pace.is_due(SimTime(60)), pace.turn()), (false, true, 3));
        assert_eq!([pace.set_timer(), pace.set_timer()], [Some(SimTime(60)), None]);
        pace.ring();
        assert_eq!(pace.set_timer(), Some(SimTime(60)));
        // One that is late, since all dies erase, keeps the times of those behind it.
        pace.took(DieId(0), each);
        assert!(pace.is_due(SimTime(70)) && !pace.is_due(SimTime(69)));
        // The next period begins with one page, not with those that were missed between them.
        pace.begin(SimTime(100));
        pace.took(DieId(0), each);
        assert!(!pace.is_due(SimTime(109)) && pace.is_due(SimTime(110)));
        // A period that begins before a page is due does not hasten it.
        pace.begin(SimTime(105));
        assert!(!pace.is_due(SimTime(109)));
    }
}
