//! What the jobs of a job file asked and were given, each without its `ramp_time`; and the same in
//! the JSON form of fio, so that what reads fio's output reads Wordline's.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One job of a job file; of `numjobs` copies, each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JobActivity {
    /// Its section's name.
    pub name: String,
    /// Which of the groups that `stonewall` parts, from 0.
    pub group: u32,
    /// Its keys as given.
    pub options: BTreeMap<String, String>,
    /// When its figures begin, in seconds: when it began, and `ramp_time` behind that.
    pub from_s: f64,
    /// When it ended, in seconds.
    pub until_s: f64,
    /// Its reads; null where none ended.
    pub read: Option<JobRequests>,
    /// Its writes; null where none ended.
    pub write: Option<JobRequests>,
    /// Its trims; null where none ended.
    pub trim: Option<JobRequests>,
    /// Its flushes; null where none ended.
    pub flush: Option<JobRequests>,
    /// The share of reads, writes and trims below each of fio's bounds of latency and not below the one
    /// before, the last behind all: 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000 ns, the same in µs and in
    /// ms, and 2000 ms.
    pub latency_shares: Vec<f64>,
}

impl JobActivity {
    /// How long its figures were taken, in seconds.
    pub fn span_s(&self) -> f64 {
        (self.until_s - self.from_s).max(0.0)
    }
}

/// One queue of the host, where it has several: of a volume of a trace, or of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct QueueActivity {
    /// Its volume or job; of further copies of a job with their number behind.
    pub name: String,
    /// Its priority: `urgent`, `high`, `medium`, `low`; null where queues have none.
    pub class: Option<String>,
    /// Requests that are taken from its class in a round; null where nothing is weighed.
    pub weight: Option<u32>,
    /// How many of its requests the drive works on in parallel; null where nothing bounds them but the drive.
    pub depth: Option<u32>,
    /// When its first request arrived, in seconds.
    pub from_s: f64,
    /// When its last one ended, in seconds.
    pub until_s: f64,
    /// Its reads; null where none ended.
    pub read: Option<JobRequests>,
    /// Its writes; null where none ended.
    pub write: Option<JobRequests>,
    /// Its trims; null where none ended.
    pub trim: Option<JobRequests>,
    /// Its flushes; null where none ended.
    pub flush: Option<JobRequests>,
}

impl QueueActivity {
    /// Requests of any kind that came out with success.
    pub fn requests(&self) -> u64 {
        [&self.read, &self.write, &self.trim, &self.flush].into_iter().flatten().map(|r| r.requests).sum()
    }

    /// How long it was in use, in seconds.
    pub fn span_s(&self) -> f64 {
        (self.until_s - self.from_s).max(0.0)
    }
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JobRequests {
    /// Requests that came out with success.
    pub requests: u64,
    /// Requests that came out with an error.
    pub failed: u64,
    /// Bytes of those with success.
    pub bytes: u64,
    /// The shortest latency, in nanoseconds.
    pub min_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    /// The mean, in nanoseconds.
    pub mean_ns: f64,
    /// The standard deviation, in nanoseconds.
    pub deviation_ns: f64,
    /// Percentiles that fio shows: percent, and the latency in nanoseconds that this many do not exceed.
    pub percentiles_ns: Vec<(f64, u64)>,
}

impl JobRequests {
    /// The latency that a percentage of them do not exceed, in nanoseconds, where fio shows that one.
    pub fn percentile_ns(&self, percent: f64) -> Option<u64> {
        self.percentiles_ns.iter().find(|(p, _)| *p == percent).map(|(_, ns)| *ns)
    }
}

const NS: u64 = 1;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// The bounds by which fio counts latencies, in nanoseconds.
pub const LATENCY_BOUNDS_NS: [u64; 31] = {
    let steps = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
    let units = [NS, US, MS];
    let mut bounds = [2_000 * MS; 31];
    let mut i = 0;
    while i < 30 {
        bounds[i] = steps[i % 10] * units[i / 10];
        i += 1;
    }
    bounds
};

/// The percentiles that fio shows when nothing is said.
pub const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
