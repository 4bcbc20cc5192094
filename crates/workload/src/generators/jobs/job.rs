//! A job: the parsed keys of a section. All problems are reported together.

use crate::generators::jobs::policy::{
    Depth, ExitScope, FlowShare, LatencyTarget, Priorities, RateFloor, Steady, Streams, Stride, Verify,
    ZoneRule,
};
use crate::generators::jobs::spell::{Amount, DIRECTIONS};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wordline_units::{LBA_BYTES, LatencyHint, QueueClass};

pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const MICROSECOND: u64 = 1_000;

/// Maximum length of a request in bytes.
pub(crate) const LONGEST: u64 = 1 << 30;

/// Which kinds of requests a job issues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kinds {
    /// One kind only: 0 reads, 1 writes, 2 trims.
    Only(usize),
    /// Reads and writes.
    Mixed,
    /// Each range is trimmed, then written.
    TrimWrite,
}

impl Kinds {
    pub fn uses(self, direction: usize) -> bool {
        match self {
            Kinds::Only(d) => d == direction,
            Kinds::Mixed => direction < 2,
            Kinds::TrimWrite => direction > 0,
        }
    }
}

/// Sizes of one direction, in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sizes {
    pub min: u64,
    pub max: u64,
    /// Size and percentage; empty for a range.
    pub split: Vec<(u64, u32)>,
}

impl Sizes {
    pub(crate) const fn one(bytes: u64) -> Sizes {
        Sizes { min: bytes, max: bytes, split: vec![] }
    }
}

/// The distribution of random addresses.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Spread {
    /// Uniform.
    Even,
    /// Zipf's law: the exponent, and the position of the first rank as a share of the space.
    Zipf(f64, Option<f64>),
    /// fio's power law.
    Pareto(f64, Option<f64>),
    /// Normal distribution: deviation in percent, and center.
    Normal(f64, Option<f64>),
    /// For each direction, percentages of accesses and of the space.
    Zoned([Vec<(u32, u32)>; DIRECTIONS]),
    /// For each direction, percentages of accesses and bytes.
    ZonedAbs([Vec<(u32, u64)>; DIRECTIONS]),
}

/// What comes between the random requests of `rw=randread:8`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Between {
    Sequential,
    Identical,
}

/// What counts towards the next pause for thinking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ThinkAfter {
    Ended,
    Issued,
}

/// The intervals between requests at a limited rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Distances {
    Even,
    Poisson,
}

/// Outstanding requests that a request must not overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Overlap {
    OfThisJob,
    OfAllJobs,
}

/// One job, before the drive is known. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub name: String,
    pub place: String,
    pub kinds: Kinds,
    pub random: bool,
    /// A random address every this many requests.
    pub every: u64,
    /// Bytes that a sequential job skips after each request. If negative, it goes backwards.
    pub gap: i64,
    pub between: Between,
    pub mix_read: u64,
    pub sizes: [Sizes; DIRECTIONS],
    pub sizes_by_randomness: bool,
    pub align: [u64; DIRECTIONS],
    pub depth: Depth,
    pub clones: u32,
    pub size: Option<Amount>,
    pub io_size: Option<Amount>,
    pub number_ios: u64,
    pub offset: Amount,
    pub offset_increment: Amount,
    pub offset_align: u64,
    pub spread: Spread,
    pub shuffled: bool,
    pub map: bool,
    pub percent_random: [u64; DIRECTIONS],
    pub repeat: bool,
    pub seed: u64,
    pub rate: [u64; DIRECTIONS],
    pub rate_iops: [u64; DIRECTIONS],
    pub distances: Distances,
    pub hint: LatencyHint,
    pub class: QueueClass,
    pub streams: Streams,
    /// Whether its writes complete only when their data are on flash.
    pub fua: bool,
    /// Whether what fio counts as a write is a read for the drive.
    pub reads_for_writes: bool,
    pub priorities: Option<Priorities>,
    pub verify: Option<Verify>,
    pub flow: Option<FlowShare>,
    pub floor: Option<RateFloor>,
    /// A latency above this ends the job; 0 for no limit.
    pub max_latency: u64,
    pub target: Option<LatencyTarget>,
    pub steady: Option<Steady>,
    pub stride: Option<Stride>,
    pub zones: Option<ZoneRule>,
    /// Whether a request waits for outstanding requests that it overlaps: those of the job, or of all jobs.
    pub serialized: Option<Overlap>,
    /// The size of its file, from address 0 on.
    pub file_size: Option<u64>,
    pub wait_for: Option<String>,
    /// Which jobs end with this job, if it is the first to end.
    pub exits: Option<ExitScope>,
    pub new_group: bool,
    pub group_reporting: bool,
    pub think: u64,
    /// Whether requests that a rate would have issued during thinking are not caught up.
    pub think_is_free: bool,
    pub think_every: u64,
    /// Nanoseconds between pauses for thinking; 0 if only requests count.
    pub think_time: u64,
    pub think_after: ThinkAfter,
    pub runtime: Option<u64>,
    pub time_based: bool,
    pub ramp: u64,
    pub delay: (u64, u64),
    pub loops: u64,
    pub stonewall: bool,
    pub flush_every: u64,
    pub flush_at_end: bool,
    /// The keys as given, under their first names, for reports.
    pub options: BTreeMap<String, String>,
}

/// fio's names of write lifetimes, with their streams.
pub(crate) const WRITE_HINTS: [(&str, u8); 5] =
    [("none", 0), ("short", 1), ("medium", 2), ("long", 3), ("extreme", 4)];

/// The I/O priority level that Linux uses by default for best effort.
pub(crate) const USUAL_LEVEL: u64 = 4;

/// The latency hint of each I/O priority class.
pub(crate) const PRIORITY_CLASSES: [(&str, LatencyHint); 4] = [
    ("0", LatencyHint::None),
    ("1", LatencyHint::Short),
    ("2", LatencyHint::Medium),
    ("3", LatencyHint::Long),
];

impl Job {
    pub fn resolved(&self) -> Value {
        let sizes = |s: &Sizes| json!({ "min": s.min, "max": s.max, "split": s.split });
        json!({
            "name": self.name,
            "options": self.options,
            "numjobs": self.clones,
            "iodepth": self.depth.most,
            "sizes": self.sizes.iter().map(sizes).collect::<Vec<_>>(),
        })
    }

    /// The directions of its requests.
    pub fn directions(&self) -> impl Iterator<Item = usize> {
        let kinds = self.kinds;
        (0..DIRECTIONS).filter(move |d| kinds.uses(*d))
    }

    /// The smallest and the largest request in bytes.
    pub fn extremes(&self) -> (u64, u64) {
        let used = || self.directions().map(|d| &self.sizes[d]);
        (used().map(|s| s.min).min().unwrap_or(LBA_BYTES), used().map(|s| s.max).max().unwrap_or(LBA_BYTES))
    }
}
