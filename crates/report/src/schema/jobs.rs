//! Figures of the jobs of a job file, each without its `ramp_time`; also in the JSON format of fio, so that
//! tools for fio's output read Wordline's.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One job of a job file; one entry per copy of `numjobs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JobActivity {
    /// Its section's name.
    pub name: String,
    /// Its group by `stonewall`, from 0.
    pub group: u32,
    /// Its keys as given.
    pub options: BTreeMap<String, String>,
    /// Start of its figures, in seconds: its own start plus `ramp_time`.
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
    /// The share of reads, writes and trims in each of fio's latency bins, with upper bounds 2, 4, 10, 20,
    /// 50, 100, 250, 500, 750, 1000 ns, the same in µs and in ms, and 2000 ms; the last bin is above all
    /// bounds.
    pub latency_shares: Vec<f64>,
}

impl JobActivity {
    /// Duration of its figures, in seconds.
    pub fn span_s(&self) -> f64 {
        (self.until_s - self.from_s).max(0.0)
    }
}

/// One host queue, if there are several: of a volume of a trace, or of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct QueueActivity {
    /// Its volume or job; further copies of a job have a number appended.
    pub name: String,
    /// Its priority class: `urgent`, `high`, `medium`, `low`; null if queues have none.
    pub class: Option<String>,
    /// Requests of its class per round; null without weights.
    pub weight: Option<u32>,
    /// Maximum number of its requests in parallel; null if only the drive limits them.
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
    /// Requests of any kind that completed successfully.
    pub fn requests(&self) -> u64 {
        [&self.read, &self.write, &self.trim, &self.flush].into_iter().flatten().map(|r| r.requests).sum()
    }

    /// How long it was active, in seconds.
    pub fn span_s(&self) -> f64 {
        (self.until_s - self.from_s).max(0.0)
    }
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JobRequests {
    /// Requests that completed successfully.
    pub requests: u64,
    /// Requests that completed with an error.
    pub failed: u64,
    /// Bytes of the successful ones.
    pub bytes: u64,
    /// The shortest latency, in nanoseconds.
    pub min_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    /// The mean, in nanoseconds.
    pub mean_ns: f64,
    /// The standard deviation, in nanoseconds.
    pub deviation_ns: f64,
    /// The percentiles that fio prints: percent, and the latency in nanoseconds.
    pub percentiles_ns: Vec<(f64, u64)>,
}

impl JobRequests {
    /// A latency percentile in nanoseconds, if fio prints it.
    pub fn percentile_ns(&self, percent: f64) -> Option<u64> {
        self.percentiles_ns.iter().find(|(p, _)| *p == percent).map(|(_, ns)| *ns)
    }
}

const NS: u64 = 1;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// The bounds of fio's latency bins, in nanoseconds.
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

/// fio's default percentiles.
pub const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
