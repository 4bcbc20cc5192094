//! Timers of the device: each has a slot, whose number its event in the clock has.

use serde::{Deserialize, Serialize};
use wordline_ftl::Timer;

/// The purpose of a device timer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Alarm {
    /// The translation layer asked for it.
    Layer(Timer),
    /// The drive may have been without requests for long enough to be idle.
    Idle,
}

/// Timers that are set, by slot. A slot is free, or belongs to one timer until that rings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Timers {
    alarms: Vec<Alarm>,
    free: Vec<u32>,
}

impl Timers {
    /// Set a timer. Returns its slot.
    pub fn set(&mut self, alarm: Alarm) -> u32 {
        let slot = self.free.pop().unwrap_or(self.alarms.len() as u32);
        if slot as usize == self.alarms.len() {
            self.alarms.push(alarm);
        }
        self.alarms[slot as usize] = alarm;
        slot
    }

    /// The timer of a slot has fired; the slot is free again.
    pub fn fire(&mut self, slot: u32) -> Alarm {
        self.free.push(slot);
        self.alarms[slot as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_belongs_to_one_timer_until_that_rings() {
        let mut timers = Timers::default();
        let merge = |page| Alarm::Layer(Timer::Merge { page });
        assert_eq!([7, 8, 9].map(|at| timers.set(merge(at))), [0, 1, 2]);
        assert!(matches!(timers.fire(1), Alarm::Layer(Timer::Merge { page: 8 })));
        assert!(matches!(timers.fire(0), Alarm::Layer(Timer::Merge { page: 7 })));
        // The slot that came free last is taken first, and no more are made than ever ring at once.
        assert_eq!([10, 11, 12].map(|at| timers.set(merge(at))), [0, 1, 3]);
        assert!(matches!(timers.fire(2), Alarm::Layer(Timer::Merge { page: 9 })));
        assert!(matches!(timers.fire(0), Alarm::Layer(Timer::Merge { page: 10 })));
    }
}
