//! Counters of idle time.

use crate::amounts::Nanoseconds;
use crate::by::{by_cause, seconds_by_cause};
use crate::cause::Cause;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wordline_units::SimDuration;

counters! {
    /// What idle time was used for, and what that cost the requests that came meanwhile. The time in which the
    /// drive empties itself at the end of the run does not count.
    pub struct IdleCounts => IdleTime {
        /// Times that the drive was found idle.
        periods: u64,
        /// How long it then was until the next request, in seconds, summed.
        idle_s: Nanoseconds => f64 = Nanoseconds::seconds,
        /// How long planes worked meanwhile, in seconds, summed, by cause.
        worked_s: [Nanoseconds; Cause::COUNT] => BTreeMap<String, f64> = seconds_by_cause,
        /// Bytes programmed, by cause.
        program_bytes: [u64; Cause::COUNT] => BTreeMap<String, u64> = by_cause,
        /// Blocks erased.
        erases: u64,
        /// Requests that waited for such work.
        delays: DelayCounts => Delays = DelayCounts::figures [flatten],
    }
}

/// Waits for idle work.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DelayCounts {
    /// Requests that waited.
    pub requests: u64,
    /// How long, in all.
    pub sum: Nanoseconds,
    /// The longest wait.
    pub longest: Nanoseconds,
}

/// What a report says of them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct Delays {
    /// Requests that found such work in their way.
    pub delayed_requests: u64,
    /// How long these waited for it, in microseconds; null where there are none.
    pub delay_us_mean: Option<f64>,
    /// The longest such wait, in microseconds.
    pub delay_us_max: f64,
}

impl DelayCounts {
    /// A request has ended of which a part stood behind idle work for this long.
    #[inline(always)]
    pub fn count(&mut self, wait: SimDuration) {
        if wait.0 > 0 {
            self.requests += 1;
            self.sum += wait;
            self.longest = self.longest.max(Nanoseconds(wait.0));
        }
    }

    fn figures(&self) -> Delays {
        Delays {
            delayed_requests: self.requests,
            delay_us_mean: (self.requests > 0).then(|| self.sum.0 as f64 / self.requests as f64 / 1e3),
            delay_us_max: self.longest.0 as f64 / 1e3,
        }
    }
}
