//! The parts of a report that exist to be drawn: the distribution of latencies and the run over
//! time. They are bounded (about 400 points, 512 bins), so that a report stays small however long
//! the run was.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most bins that a [`Timeline`] should have.
pub const TIMELINE_BINS_MAX: usize = 512;
/// Most points that one curve of a [`LatencyCdf`] should have.
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

/// The run in bins of simulated time; bin `i` covers `i · bin_s` to `(i + 1) · bin_s`. Requests
/// are counted in the bin of their completion. All series are as long as the run, or empty where
/// they were not recorded.
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
    /// Mean latency of the reads of a bin, in microseconds; null where there were none.
    #[serde(default)]
    pub read_latency_us_mean: Vec<Option<f64>>,
    /// Mean latency of the writes of a bin, in microseconds; null where there were none.
    #[serde(default)]
    pub write_latency_us_mean: Vec<Option<f64>>,
    /// Longest latency of the reads of a bin, in microseconds; null where there were none.
    #[serde(default)]
    pub read_latency_us_max: Vec<Option<f64>>,
    /// Longest latency of the writes of a bin, in microseconds; null where there were none.
    #[serde(default)]
    pub write_latency_us_max: Vec<Option<f64>>,
    /// What the host wrote in a bin, in whole mapping pages as write amplification counts it, in MB/s
    /// (10^6 bytes).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_page_mb_per_s: Vec<f64>,
    /// What was programmed in a bin, whatever for, in MB/s (10^6 bytes).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programmed_mb_per_s: Vec<f64>,
    /// Write amplification of a bin; null where the host wrote nothing in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waf: Vec<Option<f64>>,
    /// Erased blocks over all blocks at the end of a bin, a fraction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub free_blocks: Vec<Option<f64>>,
    /// By page type (`lsb`, `csb`, ...), the least number of pages that could still be programmed in a
    /// bin, of the region to which host writes go first; null where it was not looked at. Absent where
    /// pages have no types.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub free_pages: BTreeMap<String, Vec<Option<f64>>>,
    /// Least bytes that the drive could hold in a bin, each block in the mode that it was in; null where it was
    /// not looked at. Absent where blocks do not change between modes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usable_bytes: Vec<Option<u64>>,
    /// Share of the time until a bin was looked at, from when one was before it, for which the arrays of dies were
    /// busy, their mean; null where nothing was looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub die_utilisation: Vec<Option<f64>>,
    /// Likewise of the channels' buses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bus_utilisation: Vec<Option<f64>>,
}
