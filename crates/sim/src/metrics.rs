//! What a run measures of its requests: latencies, throughput over time, and the result hash.

use serde::{Deserialize, Serialize};
use wordline_ftl::{Counters, Outcome, Part, saved_fields};
use wordline_units::{HostOp, SimDuration, SimTime};

/// Latencies of one kind of request, in nanoseconds, to three digits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Recorded", from = "Recorded")]
pub struct Histogram {
    inner: hdrhistogram::Histogram<u64>,
    sum: u128,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        let inner = hdrhistogram::Histogram::new(3);
        let Ok(mut inner) = inner else { unreachable!("three digits are within the library's one to five") };
        inner.auto(true);
        Histogram { inner, sum: 0, max: 0 }
    }
}

/// A histogram as it is saved: each value that stands for its bucket, with its count.
#[derive(Serialize, Deserialize)]
struct Recorded {
    counts: Vec<(u64, u64)>,
    sum: u128,
    max: u64,
}

impl From<Histogram> for Recorded {
    fn from(h: Histogram) -> Recorded {
        let buckets = h.inner.iter_recorded();
        let counts = buckets.map(|v| (v.value_iterated_to(), v.count_at_value())).collect();
        Recorded { counts, sum: h.sum, max: h.max }
    }
}

impl From<Recorded> for Histogram {
    fn from(recorded: Recorded) -> Histogram {
        let mut h = Histogram { sum: recorded.sum, max: recorded.max, ..Histogram::default() };
        for (value, count) in recorded.counts {
            if h.inner.record_n(value, count).is_err() {
                h.inner.saturating_record_n(value, count);
            }
        }
        h
    }
}

impl Histogram {
    /// Take a latency in.
    #[inline]
    pub fn record(&mut self, latency: SimDuration) {
        // Grows as needed; what would not fit counts as the largest that does.
        if self.inner.record(latency.0).is_err() {
            self.inner.saturating_record(latency.0);
        }
        self.sum += latency.0 as u128;
        self.max = self.max.max(latency.0);
    }

    /// How many were taken in.
    pub fn count(&self) -> u64 {
        self.inner.len()
    }

    /// The mean in nanoseconds, exact; `None` where there is none.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The largest, exact.
    pub fn max(&self) -> SimDuration {
        SimDuration(self.max)
    }

    /// The latency that a share of the requests does not exceed, to three digits.
    pub fn quantile(&self, share: f64) -> Option<SimDuration> {
        (self.count() > 0).then(|| SimDuration(self.inner.value_at_quantile(share).min(self.max)))
    }

    /// Latency and the share of requests at or below it, for every distinct value recorded.
    pub fn cumulative(&self) -> Vec<(SimDuration, f64)> {
        let total = self.count().max(1) as f64;
        let mut below = 0;
        self.inner
            .iter_recorded()
            .map(|v| {
                below += v.count_since_last_iteration();
                (SimDuration(v.value_iterated_to().min(self.max)), below as f64 / total)
            })
            .collect()
    }
}

/// What completed within one span of time.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TimeBin {
    /// Requests by kind: read, write.
    pub requests: [u64; 2],
    /// Bytes by kind.
    pub bytes: [u64; 2],
    /// Sum of latencies by kind, ns.
    pub latency_ns: [u128; 2],
    /// Largest latency by kind, ns.
    pub max_ns: [u64; 2],
    /// Bytes programmed on flash for any reason, counted at the bin's completions.
    pub programmed: u64,
    /// Bytes of the mapping units that host writes touched, counted likewise.
    pub host_page_bytes: u64,
    /// Least share of erased blocks seen in the home region.
    pub free_share: Option<f64>,
}

impl TimeBin {
    fn merge(self, other: TimeBin) -> TimeBin {
        let mut sum = self;
        for k in 0..2 {
            sum.requests[k] += other.requests[k];
            sum.bytes[k] += other.bytes[k];
            sum.latency_ns[k] += other.latency_ns[k];
            sum.max_ns[k] = sum.max_ns[k].max(other.max_ns[k]);
        }
        sum.programmed += other.programmed;
        sum.host_page_bytes += other.host_page_bytes;
        sum.free_share = match (self.free_share, other.free_share) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        sum
    }
}

const BINS: usize = 512;

/// What completed over time, in at most [`BINS`] bins whose width doubles as the run grows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timeline {
    shift: u32,
    bins: Vec<TimeBin>,
}

impl Timeline {
    fn new() -> Timeline {
        Timeline { shift: 16, bins: vec![] } // 65 us to begin with
    }

    #[inline]
    fn at(&mut self, time: SimTime) -> (&mut TimeBin, bool) {
        let mut i = (time.0 >> self.shift) as usize;
        while i >= BINS {
            self.bins =
                self.bins.chunks(2).map(|p| p[0].merge(p.get(1).copied().unwrap_or_default())).collect();
            self.shift += 1;
            i = (time.0 >> self.shift) as usize;
        }
        let fresh = i >= self.bins.len();
        if fresh {
            self.bins.resize(i + 1, TimeBin::default());
        }
        (&mut self.bins[i], fresh)
    }
}

/// Everything measured of a run's requests.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Latencies by kind: read, write, trim, flush.
    pub latency: [Histogram; 4],
    /// Requests that ended, by kind.
    pub completed: [u64; 4],
    /// Requests that found no space.
    pub out_of_space: u64,
    /// Bytes of completed requests by kind.
    pub bytes: [u64; 4],
    /// When the last request completed.
    pub last: SimTime,
    pub(crate) timeline: Timeline,
    hash: u64,
    programmed: u64,
    host_page_bytes: u64,
}

impl Part for Metrics {
    saved_fields! { Metrics,
        values: [
            latency, completed, out_of_space, bytes, last, timeline, hash, programmed, host_page_bytes,
        ],
        parts: [],
        rebuilt: [],
    }
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics {
            latency: Default::default(),
            completed: [0; 4],
            out_of_space: 0,
            bytes: [0; 4],
            last: SimTime(0),
            timeline: Timeline::new(),
            hash: 0x776f_7264_6c69_6e65,
            programmed: 0,
            host_page_bytes: 0,
        }
    }
}

#[inline(always)]
fn fold(hash: u64, word: u64) -> u64 {
    let product = (hash ^ word) as u128 * 0x9e37_79b9_7f4a_7c15_u128;
    (product >> 64) as u64 ^ product as u64
}

impl Metrics {
    /// A request has ended. Whether it is the first of its bin of time.
    #[inline]
    pub(crate) fn complete(
        &mut self,
        number: u64,
        op: HostOp,
        bytes: u64,
        span: (SimTime, SimTime),
        outcome: Outcome,
    ) -> bool {
        let (arrival, at) = span;
        let latency = at.since(arrival);
        let kind = op as usize;
        self.completed[kind] += 1;
        self.last = at;
        self.hash = fold(fold(self.hash, number << 8 | outcome as u64), at.0);
        if outcome != Outcome::Done {
            self.out_of_space += 1;
            return false;
        }
        self.latency[kind].record(latency);
        self.bytes[kind] += bytes;
        if kind >= 2 {
            return false;
        }
        let (bin, fresh) = self.timeline.at(at);
        bin.requests[kind] += 1;
        bin.bytes[kind] += bytes;
        bin.latency_ns[kind] += latency.0 as u128;
        bin.max_ns[kind] = bin.max_ns[kind].max(latency.0);
        fresh
    }

    /// Note how much has been programmed and written so far, and how much is free, at a point in
    /// time.
    pub(crate) fn sample(&mut self, at: SimTime, counters: &Counters, free_share: f64) {
        let (programmed, pages) = (counters.programmed_bytes(), counters.host_bytes_page);
        let (bin, _) = self.timeline.at(at);
        bin.programmed += programmed - self.programmed;
        bin.host_page_bytes += pages - self.host_page_bytes;
        (self.programmed, self.host_page_bytes) = (programmed, pages);
        bin.free_share = Some(bin.free_share.map_or(free_share, |f| f.min(free_share)));
    }

    /// Width of a bin, and the bins.
    pub fn timeline(&self) -> (SimDuration, &[TimeBin]) {
        (SimDuration(1 << self.timeline.shift), &self.timeline.bins)
    }

    /// A hash over request number, completion time and outcome of every request, and the given
    /// counters: two runs that did the same have the same.
    pub fn result_hash(&self, counters: &[u64]) -> String {
        let hash = counters.iter().fold(self.hash, |h, c| fold(h, *c));
        format!("{:016x}", fold(hash, counters.len() as u64))
    }
}
