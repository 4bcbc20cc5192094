//! How long each die has worked in idle periods.

use serde::{Deserialize, Serialize};
use wordline_units::{DieId, SimTime};

/// By die, until when its idle work has been counted: what holds others up is counted once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct IdleWork {
    counted: Vec<SimTime>,
}

impl IdleWork {
    /// For this many dies.
    pub fn new(dies: u32) -> IdleWork {
        IdleWork { counted: vec![SimTime(0); dies as usize] }
    }

    /// Idle work has occupied a die since this time, until now. Returns the start of the part that was not counted yet.
    pub fn count(&mut self, die: DieId, began: SimTime, now: SimTime) -> SimTime {
        began.max(std::mem::replace(&mut self.counted[die.index()], now))
    }

    /// Restart at time 0 with nothing counted.
    pub fn start_anew(&mut self) {
        self.counted.fill(SimTime(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_a_die_is_counted_once() {
        let mut work = IdleWork::new(2);
        assert_eq!(work.count(DieId(1), SimTime(10), SimTime(30)), SimTime(10));
        // Began beside that, in another plane.
        assert_eq!(work.count(DieId(1), SimTime(20), SimTime(40)), SimTime(30));
        assert_eq!(work.count(DieId(0), SimTime(20), SimTime(40)), SimTime(20));
        // A drive that starts over has a time that comes before all that.
        work.start_anew();
        assert_eq!(work.count(DieId(1), SimTime(5), SimTime(7)), SimTime(5));
    }
}
