//! What the slowest requests of a run have in common: shares of their time by latency part and by cause of waiting,
//! compared with all requests.

use serde::{Deserialize, Serialize};

/// Latency breakdown of the slowest requests of a kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhySummary {
    /// `read`, `write`, `trim` or `flush`.
    pub op: String,
    /// The requested selection: `0.1%` or `10`.
    pub asked: String,
    /// Number of requests summarized as the slowest.
    pub slowest: u64,
    /// Number of requests of this kind that ended.
    pub of: u64,
    /// The least latency among the slowest, in nanoseconds.
    pub over_ns: u64,
    /// Sum of the latencies of the slowest, in nanoseconds.
    pub slowest_ns: u64,
    /// Sum of the latencies of all of them, in nanoseconds.
    pub all_ns: u64,
    /// Number of requests sampled for causes of waiting.
    pub looked_at: u64,
    /// Root causes, largest share first: for a wait for write buffer or queue, what the planes did meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<RootCause>,
    /// Shares by latency part, in path order.
    pub parts: Vec<PartShare>,
    /// Shares by cause of waiting, largest first.
    pub ways: Vec<WayShare>,
}

/// A root cause of the slowest requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RootCause {
    /// `host`, `gc`, `migrate`, `refresh`, `levelling`, `pad`, `metadata`, `rmw` or `parity`: work of the planes. `own` for the
    /// requests' own operations, `group` for other pages of a one-shot program, `link`, and `other` if no work was
    /// observed.
    pub cause: String,
    /// The region that was emptied, or that the work was in; empty where there is none.
    pub region: String,
    /// The mode of its cells.
    pub mode: String,
    /// Its share of the time of the slowest, 0 to 1.
    pub share: f64,
    /// The plane with more than half of it; null if there is none.
    pub plane: Option<u32>,
    /// Mean share of valid data in the emptied blocks, by time, 0 to 1; null if there were none.
    pub valid: Option<f64>,
    /// Since when the region was short of free blocks as the slowest request waited, in nanoseconds of simulated time.
    pub short_since_ns: Option<u64>,
    /// Rate at which data left the region, in bytes per second of simulated time, mean by time.
    pub bytes_per_s: Option<f64>,
}

/// A latency part, as shares of the time of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartShare {
    /// The part, as reports and completions have it.
    pub part: String,
    /// Its share of the time of the slowest, 0 to 1.
    pub slowest: f64,
    /// Its share of the time of all.
    pub all: f64,
}

/// A cause of waiting or processing, as shares of the time of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WayShare {
    /// `behind` an operation; `queue_full`, `buffer_full`, `map_miss`, `in_ram`, `no_space` before one could be done;
    /// `array`, `bus` and `link` for its own work; `other` for a wait without an observed cause.
    pub way: String,
    /// The operation ahead: `read`, `program` or `erase`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its cause: `host`, `gc`, `migrate`, `pad`, `metadata`, `rmw` or `parity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Its share of the time of the slowest, 0 to 1.
    pub slowest: f64,
    /// Its share of the time of all sampled requests.
    pub all: f64,
}
