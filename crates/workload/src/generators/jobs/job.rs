//! A job as understood: the lines of a section, each read by its key, every problem at once.

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

/// Longest request.
pub(crate) const LONGEST: u64 = 1 << 30;

/// What a job asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kinds {
    /// One kind only: 0 reads, 1 writes, 2 trims.
    Only(usize),
    /// Reads and writes.
    Mixed,
    /// Each place is trimmed, then written.
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

/// How random addresses are spread.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Spread {
    /// All alike.
    Even,
    /// By Zipf's law: exponent, and the share of the space at which the first rank is put.
    Zipf(f64, Option<f64>),
    /// By fio's power law.
    Pareto(f64, Option<f64>),
    /// Around the middle: deviation in percent, centre.
    Normal(f64, Option<f64>),
    /// For each direction, percentages of accesses and of the space.
    Zoned([Vec<(u32, u32)>; DIRECTIONS]),
    /// For each direction, percentages of accesses and bytes.
    ZonedAbs([Vec<(u32, u64)>; DIRECTIONS]),
}

/// What stands between the random requests of `rw=randread:8`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Between {
    Sequential,
    Identical,
}

/// When a thinking job thinks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ThinkAfter {
    Ended,
    Issued,
}

/// The distances of a limited rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Distances {
    Even,
    Poisson,
}

/// Which outstanding requests one must not overlap.
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
    /// A random address every so many requests.
    pub every: u64,
    /// Bytes that a sequential job leaves out behind each request; below 0 it goes backwards.
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
    /// Whether its writes wait for their data to be on flash.
    pub fua: bool,
    /// Whether what fio counts as a write makes the drive read.
    pub reads_for_writes: bool,
    pub priorities: Option<Priorities>,
    pub verify: Option<Verify>,
    pub flow: Option<FlowShare>,
    pub floor: Option<RateFloor>,
    /// The longest latency before it ends; 0 for any.
    pub max_latency: u64,
    pub target: Option<LatencyTarget>,
    pub steady: Option<Steady>,
    pub stride: Option<Stride>,
    pub zones: Option<ZoneRule>,
    /// Whether a request waits for those outstanding that it overlaps, and for those of other jobs.
    pub serialized: Option<Overlap>,
    /// The bytes from address 0 on that it works in.
    pub file_size: Option<u64>,
    pub wait_for: Option<String>,
    /// Which jobs end with it, if it is the first to end.
    pub exits: Option<ExitScope>,
    pub new_group: bool,
    pub group_reporting: bool,
    pub think: u64,
    /// Whether what a rate would have asked for while thinking is not caught up.
    pub think_is_free: bool,
    pub think_every: u64,
    /// Nanoseconds between two thoughts; 0 where requests alone count.
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
    /// The keys as given, by their first names: for reports.
    pub options: BTreeMap<String, String>,
}

/// The streams of lifetimes that fio names.
pub(crate) const WRITE_HINTS: [(&str, u8); 5] =
    [("none", 0), ("short", 1), ("medium", 2), ("long", 3), ("extreme", 4)];

/// The level of I/O priority that Linux takes for best effort.
pub(crate) const USUAL_LEVEL: u64 = 4;

/// What the classes of I/O priority ask of a drive.
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

    /// The directions that it uses.
    pub fn directions(&self) -> impl Iterator<Item = usize> {
        let kinds = self.kinds;
        (0..DIRECTIONS).filter(move |d| kinds.uses(*d))
    }

    /// The smallest and the largest request.
    pub fn extremes(&self) -> (u64, u64) {
        let used = || self.directions().map(|d| &self.sizes[d]);
        (used().map(|s| s.min).min().unwrap_or(LBA_BYTES), used().map(|s| s.max).max().unwrap_or(LBA_BYTES))
    }
}
