//! Whether a run is steady, and its figures after the warm-up. The figures of the whole run are the report's own; these
//! are additional.

use crate::schema::estimate::Estimate;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the criterion that the engine applies; see the crate `wordline-stats`.
pub const STEADY_CRITERION: &str = "mser5+mann-kendall";

/// Whether a run has reached a steady state, since when, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SteadyState {
    /// The verdict.
    pub reached: Reached,
    /// Whether every rule holds but, possibly, that on half-widths: nothing drifts any more, though a mean of this run
    /// alone may be imprecise. Enough for a figure over several seeds, whose interval shows its precision.
    #[serde(default)]
    pub stationary: bool,
    /// The criterion: `mser5+mann-kendall` cuts the warm-up by MSER-5 and tests the rest for a trend.
    pub criterion: String,
    /// End of the warm-up; null if no steady state was reached.
    pub from: Option<SteadyFrom>,
    /// The reason in a clause.
    pub why: String,
    /// Figures after the warm-up; null if no steady state was reached.
    pub after: Option<AfterWarmUp>,
}

/// Whether a run has reached a steady state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// From some point on nothing changes.
    Yes,
    /// Something still changes: the figures depend on the length of the run.
    No,
    /// The run is too short to tell.
    #[default]
    TooShort,
}

/// End of a warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SteadyFrom {
    /// Simulated time since the first arrival, in seconds.
    pub time_s: f64,
    /// Requests that had ended by then.
    pub requests: u64,
    /// The same as a fraction of all requests.
    pub share: f64,
}

/// Figures after the warm-up. Means are exact. The intervals contain the mean of the same run if it continued, with the
/// same hot addresses; null with too few requests. Replicas show the spread over seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AfterWarmUp {
    /// Requests that ended.
    pub requests: u64,
    /// Simulated time, in seconds.
    pub simulated_s: f64,
    /// Mean read latency, in microseconds; null without reads.
    pub read_latency_us: Option<Estimate>,
    /// Mean write latency, in microseconds; null without writes.
    pub write_latency_us: Option<Estimate>,
    /// Megabytes (10^6 bytes) per second read.
    pub read_mb_per_s: Option<Estimate>,
    /// Megabytes (10^6 bytes) per second written.
    pub write_mb_per_s: Option<Estimate>,
    /// Write amplification; null where the host wrote nothing.
    pub waf: Option<Estimate>,
}
