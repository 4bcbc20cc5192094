//! Whether a run has settled, and what it measured after it had. The figures of the whole run stay
//! the report's own; these stand beside them.

use crate::schema::estimate::Estimate;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the criterion that the engine applies; see the crate `wordline-stats`.
pub const STEADY_CRITERION: &str = "mser5+mann-kendall";

/// Whether a run has reached a steady state, from where on, and why that is said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SteadyState {
    /// What came out.
    pub reached: Reached,
    /// How it was judged: `mser5+mann-kendall` cuts the warm-up by MSER-5 and asks the rest for a trend.
    pub criterion: String,
    /// Where the warm-up ends; null where no steady state was reached.
    pub from: Option<SteadyFrom>,
    /// One clause that says why.
    pub why: String,
    /// What was measured after the warm-up; null where no steady state was reached.
    pub after: Option<AfterWarmUp>,
}

/// Whether a run has reached a steady state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// From some point on nothing moves any more.
    Yes,
    /// Something still moves: the figures of this run depend on its length.
    No,
    /// There is too little to tell.
    #[default]
    TooShort,
}

/// Where a warm-up ends.
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

/// What was measured after the warm-up. Means are exact. Their intervals hold the mean of the same run if it continued,
/// with the same hot addresses; they are null where there are too few requests. Repeats show what another seed makes of
/// it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AfterWarmUp {
    /// Requests that ended.
    pub requests: u64,
    /// Simulated time, in seconds.
    pub simulated_s: f64,
    /// Mean latency of reads, in microseconds; null where there were none.
    pub read_latency_us: Option<Estimate>,
    /// Mean latency of writes, in microseconds; null where there were none.
    pub write_latency_us: Option<Estimate>,
    /// Megabytes (10^6 bytes) per second read.
    pub read_mb_per_s: Option<Estimate>,
    /// Megabytes (10^6 bytes) per second written.
    pub write_mb_per_s: Option<Estimate>,
    /// Write amplification; null where the host wrote nothing.
    pub waf: Option<Estimate>,
}
