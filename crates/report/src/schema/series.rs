//! The series of a report: latency distributions, and the run over time. They are bounded (about 400 points, 512
//! bins), so that a report stays small for any run.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most bins that a [`Timeline`] should have.
pub const TIMELINE_BINS_MAX: usize = 512;
/// Maximum number of points of a curve of a [`LatencyCdf`].
pub const CDF_POINTS_MAX: usize = 400;

/// Cumulative distributions of latency. A point is `[latency in microseconds, fraction of requests
/// at or below it]`, both increasing, spaced evenly in the logarithm; the last fraction is 1. Empty
/// where no such request completed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LatencyCdf {
    /// Of reads.
    #[serde(default)]
    pub read: Vec<[f64; 2]>,
    /// Of writes.
    #[serde(default)]
    pub write: Vec<[f64; 2]>,
}

/// The run in bins of simulated time; bin `i` covers `i · bin_s` to `(i + 1) · bin_s`. Requests are counted in the
/// bin of their completion. All series have the length of the run, or are empty if not recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Timeline {
    /// Width of a bin, in seconds.
    pub bin_s: f64,
    /// Reads that completed.
    #[serde(default)]
    pub read_requests: Vec<u64>,
    /// Writes that completed.
    #[serde(default)]
    pub write_requests: Vec<u64>,
    /// Megabytes (10^6 bytes) per second read.
    #[serde(default)]
    pub read_mb_per_s: Vec<f64>,
    /// Megabytes (10^6 bytes) per second written.
    #[serde(default)]
    pub write_mb_per_s: Vec<f64>,
    /// Mean read latency of a bin, in microseconds; null without reads.
    #[serde(default)]
    pub read_latency_us_mean: Vec<Option<f64>>,
    /// Mean write latency of a bin, in microseconds; null without writes.
    #[serde(default)]
    pub write_latency_us_mean: Vec<Option<f64>>,
    /// Maximum read latency of a bin, in microseconds; null without reads.
    #[serde(default)]
    pub read_latency_us_max: Vec<Option<f64>>,
    /// Maximum write latency of a bin, in microseconds; null without writes.
    #[serde(default)]
    pub write_latency_us_max: Vec<Option<f64>>,
    /// Host writes of a bin, in whole mapping pages as WAF counts them, in MB/s (10^6 bytes).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_page_mb_per_s: Vec<f64>,
    /// Media writes of a bin for any cause, in MB/s (10^6 bytes).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programmed_mb_per_s: Vec<f64>,
    /// WAF of a bin; null if the host wrote nothing in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waf: Vec<Option<f64>>,
    /// Erased blocks over all blocks at the end of a bin, a fraction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub free_blocks: Vec<Option<f64>>,
    /// By page type (`lsb`, `csb`, ...), the minimum number of programmable pages in a bin, in the region of host
    /// writes; null if not sampled. Absent where pages have no types.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub free_pages: BTreeMap<String, Vec<Option<f64>>>,
    /// Minimum capacity of the drive in a bin, in bytes, each block in its current mode; null if not sampled.
    /// Absent where blocks do not change between modes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usable_bytes: Vec<Option<u64>>,
    /// Mean busy share of the die arrays between two samples; null if not sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub die_utilisation: Vec<Option<f64>>,
    /// Likewise of the channels' buses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bus_utilisation: Vec<Option<f64>>,
}
