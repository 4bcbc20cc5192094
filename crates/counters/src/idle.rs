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
    /// Use of idle time, and its cost for requests that arrived meanwhile. Time in which the drive empties
    /// itself at the end of the run does not count.
    pub struct IdleCounts => IdleTime {
        /// Times that the drive was found idle.
        periods: u64,
        /// Total time from that moment to the next request, in seconds.
        idle_s: Nanoseconds => f64 = Nanoseconds::seconds,
        /// Total busy time of planes meanwhile, in seconds, by cause.
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
    requests: u64,
    /// Total duration.
    sum: Nanoseconds,
    /// The longest wait.
    longest: Nanoseconds,
}

/// The figures of a report.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct Delays {
    /// Requests that found such work in their way.
    pub delayed_requests: u64,
    /// Mean wait of these requests, in microseconds; null if there are none.
    pub delay_us_mean: Option<f64>,
    /// The longest such wait, in microseconds.
    pub delay_us_max: f64,
}

impl DelayCounts {
    /// A request completed that waited for idle work for this long.
    #[inline(always)]
    pub fn count(&mut self, wait: SimDuration) {
        if wait.0 > 0 {
            self.requests += 1;
            self.sum += wait;
            self.longest = self.longest.max(Nanoseconds(wait.0));
        }
    }

    /// Requests that waited.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The longest wait.
    pub fn longest(&self) -> SimDuration {
        SimDuration(self.longest.0)
    }

    fn figures(&self) -> Delays {
        Delays {
            delayed_requests: self.requests,
            delay_us_mean: (self.requests > 0).then(|| self.sum.0 as f64 / self.requests as f64 / 1e3),
            delay_us_max: self.longest.0 as f64 / 1e3,
        }
    }
}
