//! What the slowest requests of a run have in common: shares of their time, by the parts of their latency and by
//! what was in the way, beside the same of all requests.

use serde::{Deserialize, Serialize};

/// Where the time of the slowest requests of a kind went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhySummary {
    /// `read`, `write`, `trim` or `flush`.
    pub op: String,
    /// What was asked for: `0.1%`, or `10`.
    pub asked: String,
    /// How many requests are summed up as the slowest.
    pub slowest: u64,
    /// Out of so many that ended.
    pub of: u64,
    /// The least latency among the slowest, in nanoseconds.
    pub over_ns: u64,
    /// The sum of the latencies of the slowest, in nanoseconds.
    pub slowest_ns: u64,
    /// The same of all.
    pub all_ns: u64,
    /// How many of all were looked at for what was in their way: every so-manieth of a long run.
    pub looked_at: u64,
    /// What was in the way in the end, the largest share first: of a wait for the write buffer or the queue, what the planes
    /// did meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<RootCause>,
    /// Shares by the parts of the latency, in the order of a request's way.
    pub parts: Vec<PartShare>,
    /// Shares by what was in the way, the largest first.
    pub ways: Vec<WayShare>,
}

/// What kept the slowest requests waiting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RootCause {
    /// `host`, `gc`, `migrate`, `refresh`, `levelling`, `pad`, `metadata` or `rmw`: work of the planes. `own` for the
    /// requests' own operations, `group` for other pages of a one-shot program, `link`, and `other` where nothing was seen.
    pub cause: String,
    /// The region that was emptied, or that the work was in; empty where there is none.
    pub region: String,
    /// The mode of its cells.
    pub mode: String,
    /// Its share of the time of the slowest, 0 to 1.
    pub share: f64,
    /// The plane that had more than half of it; null where none had.
    pub plane: Option<u32>,
    /// How much of the blocks that were emptied was valid, a mean by time, 0 to 1; null where none was.
    pub valid: Option<f64>,
    /// Since when the region was short of free blocks as the slowest request waited, in nanoseconds of simulated time.
    pub short_since_ns: Option<u64>,
    /// The pace at which data left the region, in bytes a second of simulated time, a mean by time.
    pub bytes_per_s: Option<f64>,
}

/// A part of the latency, as shares of the time of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartShare {
    /// The part, as reports and completions have it.
    pub part: String,
    /// Its share of the time of the slowest, 0 to 1.
    pub slowest: f64,
    /// Its share of the time of all.
    pub all: f64,
}

/// What requests spent their time on or behind, as shares of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WayShare {
    /// `behind` an operation; `queue_full`, `buffer_full`, `map_miss`, `in_ram`, `no_space` before one could be
    /// done; `array`, `bus` and `link` for its own work; `other` for a wait in which nothing was seen.
    pub way: String,
    /// The operation that was in the way: `read`, `program` or `erase`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What that was done for: `host`, `gc`, `migrate`, `pad`, `metadata` or `rmw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Its share of the time of the slowest, 0 to 1.
    pub slowest: f64,
    /// Its share of the time of all that were looked at.
    pub all: f64,
}
