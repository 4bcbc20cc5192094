//! Policies of a job other than drawing requests: queue depth, what is read back, which jobs wait for each
//! other, and when measurements change or end the job. Times are in nanoseconds.

use crate::generators::jobs::spell::DIRECTIONS;
use serde::Serialize;
use wordline_units::LatencyHint;

/// How a job keeps its requests outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Depth {
    /// Maximum number of outstanding requests.
    pub most: u32,
    /// Number of requests submitted together.
    pub batch: u32,
    /// Number of requests that must complete before a job at full depth issues more.
    pub reap: u32,
    /// Number of outstanding requests down to which a job at full depth waits.
    pub low: u32,
}

/// How writes are read back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Verify {
    /// Whether each loop reads back what it wrote.
    pub at_end: bool,
    /// Number of writes after which some are read back; 0 for never.
    pub backlog: u64,
    /// Number of reads at that point.
    pub batch: u64,
    /// Whether writes are drawn but not issued.
    pub only: bool,
    /// Whether writes are read back in order of address.
    pub sorted: bool,
    /// Which writes are trimmed before they are read back.
    pub trims: Option<TrimBacklog>,
}

/// Which of the writes to be read back are trimmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TrimBacklog {
    pub percent: u64,
    /// Number of writes after which some are trimmed, and how many are trimmed then.
    pub every: u64,
    pub batch: u64,
    /// Whether trimmed ranges are still read back.
    pub keeps: bool,
}

/// The share of a job in a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FlowShare {
    pub flow: u64,
    pub weight: u64,
    pub sleep: u64,
}

/// The latency target for which a queue depth is searched.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LatencyTarget {
    pub most: u64,
    pub window: u64,
    /// Percentage of requests that must meet the target.
    pub percent: f64,
    /// Whether the search continues after a result.
    pub again: bool,
}

/// When a rate is steady enough to end a job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Steady {
    /// Whether the rate is in bytes instead of requests.
    pub bytes: bool,
    /// Whether its slope is checked instead of the largest deviation.
    pub slope: bool,
    pub limit: f64,
    /// Whether the limit is a percentage of the mean.
    pub percent: bool,
    /// Number of seconds in the window.
    pub seconds: u64,
    pub ramp: u64,
}

/// A minimum rate. Below it the job ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RateFloor {
    pub bytes: [u64; DIRECTIONS],
    pub requests: [u64; DIRECTIONS],
    pub cycle: u64,
}

/// Strided zones: bytes moved per zone, size of a zone, and bytes skipped after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stride {
    pub size: u64,
    pub range: u64,
    pub skip: u64,
}

/// Zones that are written in order, which fio emulates on a drive without zones. Sizes are in bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ZoneRule {
    pub size: u64,
    /// The writable part of a zone.
    pub capacity: u64,
    /// Bytes between the zones of a sequential job.
    pub skip: u64,
    /// Whether reads may go beyond the written part.
    pub reads_beyond: bool,
    /// Maximum number of open zones of all jobs, and of this job; 0 for no limit.
    pub most_open: usize,
    pub most_open_of_job: usize,
    pub reset: Option<ZoneReset>,
}

/// When zones are reset before they are full.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ZoneReset {
    /// The share of a job's addresses that must be written.
    pub threshold: f64,
    /// Number of writes between resets.
    pub every: u64,
}

/// Which jobs end with the first that ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExitScope {
    Group,
    Begun,
    All,
}

/// The latency hints of single requests, by size if given, with percentages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Priorities(pub [Vec<(Option<u64>, u32, LatencyHint)>; 2]);

/// The streams of a job's writes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct Streams {
    /// The stream numbers; empty for none.
    pub numbers: Vec<u8>,
    /// Whether a stream is drawn for each write, instead of round robin.
    pub drawn: bool,
}
