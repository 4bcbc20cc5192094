//! Sums of time and energy in counters.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use wordline_units::{Energy, SimDuration};

/// A sum of durations, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Nanoseconds(pub u64);

impl Nanoseconds {
    /// In seconds.
    pub fn seconds(&self) -> f64 {
        SimDuration(self.0).as_secs()
    }
}

impl AddAssign<SimDuration> for Nanoseconds {
    #[inline(always)]
    fn add_assign(&mut self, more: SimDuration) {
        self.0 += more.0;
    }
}

/// A sum of energy, in picojoules.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Picojoules(pub u64);

impl AddAssign<Energy> for Picojoules {
    #[inline(always)]
    fn add_assign(&mut self, more: Energy) {
        self.0 += more.0;
    }
}

impl Picojoules {
    /// In joules.
    pub fn joules(&self) -> f64 {
        Energy(self.0).as_joules()
    }
}
