//! Measurements of a run's requests: latencies, throughput over time, and the result hash.

use crate::blocks::{Frame, Frames};
use crate::histogram::Histogram;
use serde::{Deserialize, Serialize};
use std::ops::Deref;
use wordline_counters::{Cause, IdleCounts, MultiplaneCounts, OpKind, RequestCounts};
use wordline_ftl::{Counters, Ftl, LatencyPart, LatencyParts, Outcome, Saved, saved_fields};
use wordline_units::{HostOp, SimDuration, SimTime};

/// Completions within one span of time.
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
    /// Minimum of the sampled free space; `None` in a bin without a sample.
    pub free: Option<Free>,
    /// Busy times of arrays and buses at the last sample.
    pub usage: Option<Usage>,
}

/// Busy times of arrays and buses since time 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// By when.
    pub at: SimTime,
    /// All arrays together, ns.
    pub arrays: u64,
    /// All buses together, ns.
    pub buses: u64,
}

/// Free space in the home region.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Free {
    /// Share of blocks that are erased.
    pub share: f64,
    /// Pages that can still be programmed, by page type; 0 where pages have no types.
    pub pages: [u64; 4],
    /// Current capacity of the drive in bytes, each block in its current mode.
    pub usable_bytes: u64,
}

impl Free {
    /// The less of each.
    fn least(self, other: Free) -> Free {
        let pages = std::array::from_fn(|bit| self.pages[bit].min(other.pages[bit]));
        let usable_bytes = self.usable_bytes.min(other.usable_bytes);
        Free { share: self.share.min(other.share), pages, usable_bytes }
    }
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
        sum.free = match (self.free, other.free) {
            (Some(a), Some(b)) => Some(a.least(b)),
            (a, b) => a.or(b),
        };
        sum.usage = other.usage.or(self.usage);
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
    fn begins(&self, time: SimTime) -> bool {
        (time.0 >> self.shift) as usize >= self.bins.len()
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

/// Totals of a run so far. The difference of two totals is exact for the interval between them.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Checkpoint {
    /// When.
    pub at: SimTime,
    /// Completed requests.
    pub ended: u64,
    /// Successful requests by kind: read, write.
    pub requests: [u64; 2],
    /// Bytes of them.
    pub bytes: [u64; 2],
    /// Sum of their latencies, ns.
    pub latency_ns: [u128; 2],
    /// Bytes programmed on flash for any reason.
    pub programmed: u64,
    /// Bytes of the mapping units that host writes touched.
    pub host_page_bytes: u64,
    /// Bytes of the erased blocks, each in its former mode.
    pub erased: u64,
    /// Erased blocks, over all planes.
    pub free_blocks: u64,
}

/// With this many checkpoints, every other one is dropped.
const CHECKPOINTS_MAX: usize = 512;

/// Totals after every so many requests. The distance doubles as the run grows, so that a long run
/// has from half of [`CHECKPOINTS_MAX`] to one less than all. It counts requests and not time, so
/// that an idle drive adds nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Checkpoints {
    every: u64,
    next: u64,
    taken: Vec<Checkpoint>,
}

/// What has been measured of a run's requests so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Operations suspended for host reads, by kind: read, program, erase.
    pub suspensions: [u64; OpKind::COUNT],
    /// Latencies by kind: read, write, trim, flush.
    pub latency: [Histogram; 4],
    /// The parts of the latencies of reads and of writes, ns, summed, in the order of [`LatencyPart::ALL`].
    pub parts: [[u128; LatencyPart::COUNT]; 2],
    /// Requests that ended, by kind, and their bytes.
    pub requests: RequestCounts,
    /// Requests that failed for lack of space.
    pub out_of_space: u64,
    /// Reads with more errors than could be corrected.
    pub uncorrectable: u64,
    /// Writes to a drive that had worn out.
    pub worn_out: u64,
    /// Writes by the last bit of their slowest page, where programs have page types.
    pub dominated: [u64; 4],
    /// When the last request completed.
    pub last: SimTime,
    /// Use and cost of idle time.
    pub idle: IdleCounts,
    /// Operations of several planes that ran as one multi-plane command.
    pub multiplane: MultiplaneCounts,
    /// Busy time of each array and bus at the last completion, ns, and the time of that completion.
    pub used: [Vec<u64>; 2],
    /// See `used`.
    pub used_at: SimTime,
}

/// What bins of time have been told so far, and when they were told last.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Told {
    programmed: u64,
    host_page_bytes: u64,
    at: SimTime,
}

/// All measurements of a run's requests: those of [`Measured`], which it derefs to, and those over time.
#[derive(Clone, Debug)]
pub struct Metrics {
    measured: Measured,
    frames: Frames,
    timeline: Timeline,
    checkpoints: Checkpoints,
    ended: u64,
    hash: u64,
    told: Told,
}

impl Deref for Metrics {
    type Target = Measured;

    fn deref(&self) -> &Measured {
        &self.measured
    }
}

impl Saved for Metrics {
    saved_fields! { Metrics,
        values: [measured, frames, timeline, checkpoints, ended, hash, told],
        parts: [],
        rebuilt: [],
    }
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics {
            measured: Measured::default(),
            frames: Frames::default(),
            timeline: Timeline::new(),
            checkpoints: Checkpoints { every: 1, next: 1, taken: vec![] },
            ended: 0,
            hash: 0x776f_7264_6c69_6e65,
            told: Told::default(),
        }
    }
}

#[inline(always)]
fn fold(hash: u64, word: u64) -> u64 {
    let product = (hash ^ word) as u128 * 0x9e37_79b9_7f4a_7c15_u128;
    (product >> 64) as u64 ^ product as u64
}

impl Metrics {
    /// The drive was found idle.
    pub(crate) fn begin_idle(&mut self) {
        self.measured.idle.periods += 1;
    }

    /// It is not any more, after so long.
    pub(crate) fn end_idle(&mut self, time: SimDuration) {
        self.measured.idle.idle_s += time;
    }

    /// A request completed that waited for idle work for this long.
    #[inline(always)]
    pub(crate) fn count_idle_delay(&mut self, wait: SimDuration) {
        self.measured.idle.delays.count(wait);
    }

    /// Count an operation of idle work that has ended; `bytes` are those of a program.
    pub(crate) fn count_idle_operation(&mut self, kind: OpKind, cause: Cause, bytes: u64) {
        match kind {
            OpKind::Program => self.measured.idle.program_bytes[cause as usize] += bytes,
            OpKind::Erase => self.measured.idle.erases += 1,
            OpKind::Read => {}
        }
    }

    /// A plane has worked for so long in idle time.
    pub(crate) fn count_idle_work(&mut self, cause: Cause, time: SimDuration) {
        self.measured.idle.worked_s[cause as usize] += time;
    }

    /// Count a multi-plane command, and its operations of a kind.
    pub(crate) fn count_together(&mut self, kind: OpKind, operations: u64) {
        self.measured.multiplane.commands[kind as usize] += 1;
        self.measured.multiplane.operations[kind as usize] += operations;
    }

    /// An operation is suspended for reads of the host.
    pub(crate) fn count_suspension(&mut self, kind: OpKind) {
        self.measured.suspensions[kind as usize] += 1;
    }

    /// Busy times of each array and each bus by a time, ns.
    pub(crate) fn note_usage(&mut self, at: SimTime, used: [Vec<u64>; 2]) {
        (self.measured.used, self.measured.used_at) = (used, at);
    }

    /// A write has got pages, the slowest of them this bit, counted from 1; 0 where bits do not tell.
    #[inline]
    pub(crate) fn dominated_by(&mut self, slowest_bit: u8) {
        if let Some(count) =
            slowest_bit.checked_sub(1).and_then(|bit| self.measured.dominated.get_mut(bit as usize))
        {
            *count += 1;
        }
    }

    /// A request has ended. Whether it is the first of its bin of time.
    #[inline]
    pub(crate) fn complete(
        &mut self,
        number: u64,
        op: HostOp,
        bytes: u64,
        span: (SimTime, SimTime),
        outcome: Outcome,
        parts: &LatencyParts,
    ) -> bool {
        let (arrival, at) = span;
        let latency = at.since(arrival);
        let kind = op as usize;
        self.measured.requests.ended[kind] += 1;
        self.ended += 1;
        self.measured.last = at;
        self.hash = fold(fold(self.hash, number << 8 | outcome as u64), at.0);
        match outcome {
            Outcome::Done => {}
            Outcome::OutOfSpace => {
                self.measured.out_of_space += 1;
                return false;
            }
            Outcome::Uncorrectable => {
                self.measured.uncorrectable += 1;
                return false;
            }
            Outcome::WornOut => {
                self.measured.worn_out += 1;
                return false;
            }
        }
        self.measured.latency[kind].record(latency);
        self.measured.requests.bytes[kind] += bytes;
        if kind >= 2 {
            return false;
        }
        for part in LatencyPart::ALL {
            self.measured.parts[kind][part as usize] += u128::from(parts[part]);
        }
        let (bin, fresh) = self.timeline.at(at);
        bin.requests[kind] += 1;
        bin.bytes[kind] += bytes;
        bin.latency_ns[kind] += latency.0 as u128;
        bin.max_ns[kind] = bin.max_ns[kind].max(latency.0);
        fresh
    }

    /// Whether nothing has been noted yet in the bin of a time.
    #[inline]
    pub(crate) fn begins_bin(&self, at: SimTime) -> bool {
        self.timeline.begins(at)
    }

    /// Note how much has been programmed and written so far, and how much is free, at a point in
    /// time.
    pub(crate) fn sample(&mut self, at: SimTime, counters: &Counters, free: Free, usage: Usage) {
        self.close(counters);
        self.told.at = at;
        let (bin, _) = self.timeline.at(at);
        bin.free = Some(bin.free.map_or(free, |f| f.least(free)));
        bin.usage = Some(usage);
    }

    /// Whether the map of blocks is to have another frame.
    pub(crate) fn wants_frame(&self) -> bool {
        self.frames.is_due(self.ended)
    }

    /// The map of blocks gets another frame.
    pub(crate) fn add_frame(&mut self, frame: Frame) {
        self.frames.add(frame, self.ended);
    }

    /// Block map over the run, from before its first request to after the last completion.
    pub fn frames(&self) -> &[Frame] {
        self.frames.taken()
    }

    /// Add what came since the last sample to the bin of that, since one is taken as a bin begins.
    pub(crate) fn close(&mut self, counters: &Counters) {
        let (programmed, pages) = (counters.programmed_bytes(), counters.host.write_page_bytes);
        let (bin, _) = self.timeline.at(self.told.at);
        bin.programmed += programmed - self.told.programmed;
        bin.host_page_bytes += pages - self.told.host_page_bytes;
        (self.told.programmed, self.told.host_page_bytes) = (programmed, pages);
    }

    /// Whether a checkpoint is to be taken now, after a request has ended.
    #[inline]
    pub(crate) fn checkpoint_is_due(&self) -> bool {
        self.ended >= self.checkpoints.next
    }

    /// Take a checkpoint.
    pub(crate) fn checkpoint(&mut self, at: SimTime, ftl: &Ftl) {
        let now = self.totals(at, ftl);
        let c = &mut self.checkpoints;
        c.taken.push(now);
        if c.taken.len() == CHECKPOINTS_MAX {
            let mut number = 0;
            c.taken.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            c.every *= 2;
        }
        c.next = now.ended + c.every;
    }

    /// The totals at a moment without later completions.
    pub fn totals(&self, at: SimTime, ftl: &Ftl) -> Checkpoint {
        let counters = ftl.counters();
        Checkpoint {
            at,
            ended: self.ended,
            requests: [0, 1].map(|kind: usize| self.measured.latency[kind].count()),
            bytes: self.measured.requests.moved(),
            latency_ns: [0, 1].map(|kind: usize| self.measured.latency[kind].sum()),
            programmed: counters.programmed_bytes(),
            host_page_bytes: counters.host.write_page_bytes,
            erased: ftl.inspect().erased_bytes(),
            free_blocks: ftl.inspect().erased_blocks(),
        }
    }

    /// Totals along the run, after each multiple of a number of requests.
    pub fn checkpoints(&self) -> &[Checkpoint] {
        &self.checkpoints.taken
    }

    /// Width of a bin, and the bins.
    pub fn timeline(&self) -> (SimDuration, &[TimeBin]) {
        (SimDuration(1 << self.timeline.shift), &self.timeline.bins)
    }

    /// A hash over number, completion time and outcome of every request, and the given counters: equal runs have equal
    /// hashes.
    pub fn result_hash(&self, counters: &[u64]) -> String {
        let mut hash = counters.iter().fold(self.hash, |h, c| fold(h, *c));
        if self.measured.multiplane != MultiplaneCounts::default() {
            let MultiplaneCounts { commands, operations } = &self.measured.multiplane;
            hash = commands.iter().chain(operations).fold(hash, |hash, count| fold(hash, *count));
        }
        format!("{:016x}", fold(hash, counters.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_ftl::RegionCounters;

    #[test]
    fn time_bin_counts_what_was_programmed_in_it() {
        let mut m = Metrics::default();
        let mut counters = Counters { regions: vec![RegionCounters::default()], ..Counters::default() };
        let width = 1 << m.timeline.shift;
        // Ten requests in each bin of time, each of 1 byte, amplified by the number of the bin.
        for bin in 0..5u64 {
            for i in 0..10 {
                let at = SimTime(bin * width + i);
                let fresh = m.complete(
                    bin * 10 + i,
                    HostOp::Write,
                    1,
                    (at, at),
                    Outcome::Done,
                    &LatencyParts::default(),
                );
                if fresh {
                    m.sample(at, &counters, Free::default(), Usage::default());
                }
                counters.host.write_page_bytes += 1;
                counters.regions[0].program_bytes[0] += bin;
            }
        }
        let (_, bins) = m.timeline();
        for (number, bin) in bins[..4].iter().enumerate() {
            assert_eq!((bin.host_page_bytes, bin.programmed), (10, 10 * number as u64));
        }
    }
}
