//! What a job does beside drawing its requests: how it fills its depth, what it reads back, whom it
//! waits for, and when what was measured changes or ends it. Times are in nanoseconds.

use crate::generators::jobs::spell::DIRECTIONS;
use serde::Serialize;
use wordline_units::LatencyHint;

/// How a job keeps its requests outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Depth {
    /// Most requests outstanding.
    pub most: u32,
    /// Requests that are submitted together.
    pub batch: u32,
    /// Requests that must have ended before a full job asks again.
    pub reap: u32,
    /// Outstanding requests down to which a full job waits.
    pub low: u32,
}

/// What is read back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Verify {
    /// Whether a loop reads what it wrote.
    pub at_end: bool,
    /// Writes after which some are read; 0 for never.
    pub backlog: u64,
    /// How many then.
    pub batch: u64,
    /// Whether writes are drawn and not issued.
    pub only: bool,
    /// Whether what is read goes by addresses.
    pub sorted: bool,
    /// What of it is trimmed before it is read.
    pub trims: Option<TrimBacklog>,
}

/// What of the writes that are to be read back is trimmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TrimBacklog {
    pub percent: u64,
    /// Writes after which some are trimmed, and how many then.
    pub every: u64,
    pub batch: u64,
    /// Whether what was trimmed is read back, too.
    pub keeps: bool,
}

/// The share of a job among those that share a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FlowShare {
    pub flow: u64,
    pub weight: u64,
    pub sleep: u64,
}

/// The latency for which a depth is sought.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LatencyTarget {
    pub most: u64,
    pub window: u64,
    /// Percentage of requests that must keep it.
    pub percent: f64,
    /// Whether it goes on seeking.
    pub again: bool,
}

/// When seconds of a rate are steady enough to end a job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Steady {
    /// Of bytes, not of requests.
    pub bytes: bool,
    /// By the slope, not by the largest deviation.
    pub slope: bool,
    pub limit: f64,
    /// Whether the limit is a percentage of the mean.
    pub percent: bool,
    /// Seconds that are looked at.
    pub seconds: u64,
    pub ramp: u64,
}

/// A rate below which a job ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RateFloor {
    pub bytes: [u64; DIRECTIONS],
    pub requests: [u64; DIRECTIONS],
    pub cycle: u64,
}

/// Strided zones: bytes moved in one, its addresses, and those left out behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stride {
    pub size: u64,
    pub range: u64,
    pub skip: u64,
}

/// Zones that are written in order, as fio makes them on a drive that has none. Bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ZoneRule {
    pub size: u64,
    /// What of a zone is written.
    pub capacity: u64,
    /// Addresses between the zones of a sequential job.
    pub skip: u64,
    /// Whether reads go beyond what is written.
    pub reads_beyond: bool,
    /// Most open zones of all jobs, and of this one; 0 for any.
    pub most_open: usize,
    pub most_open_of_job: usize,
    pub reset: Option<ZoneReset>,
}

/// When zones start over before they are full.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ZoneReset {
    /// The share of a job's addresses that must be written.
    pub threshold: f64,
    /// Writes from one such zone to the next.
    pub every: u64,
}

/// Which jobs end with the first that ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExitScope {
    Group,
    Begun,
    All,
}

/// Which class single requests have, by their size where it is given, in percent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Priorities(pub [Vec<(Option<u64>, u32, LatencyHint)>; 2]);

/// The streams of what a job writes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct Streams {
    /// Those it takes; empty for none.
    pub numbers: Vec<u8>,
    /// Whether one is drawn each time, or each comes in turn.
    pub drawn: bool,
}
