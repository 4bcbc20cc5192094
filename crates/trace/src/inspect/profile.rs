//! A trace over time and in a cache: the data of the pictures of `trace inspect`. Requests are read in one
//! pass, each split into the 4 KiB pages that it touches. Pages are numbered by rank among all touched pages,
//! so that counting needs arrays instead of maps.

use crate::error::WorkloadError;
use crate::requests::pages::{PageSet, RankedPages};
use crate::trace::scan::PAGE_BLOCKS;
use crate::trace::trace::Trace;
use serde::Serialize;
use std::ops::{AddAssign, Range};
use wordline_hash::splitmix;
use wordline_reuse::LruStack;
use wordline_units::{HostOp, HostRequest};

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Number of time bins of the curves.
const TIME_BINS: usize = 240;
/// Bins of the heat map: time, then addresses.
const HEAT: (usize, usize) = (120, 64);
/// Maximum page touches for which all pages are tracked. Beyond that, a sample of pages is.
const EXACT: u64 = 1 << 24;
/// Windows in which arrivals are counted, in seconds.
const WINDOWS_S: [u64; 2] = [1, 60];
/// Minimum number of windows for an index of dispersion.
const FEWEST_WINDOWS: u64 = 10;

/// Behavior of a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    /// Width of a time bin in seconds.
    pub bin_s: f64,
    /// Reads of each bin.
    pub reads: Vec<u64>,
    /// Writes of each bin.
    pub writes: Vec<u64>,
    /// Distinct pages touched up to the end of each bin.
    pub touched: Vec<u64>,
    /// Distinct pages written up to the end of each bin.
    pub written: Vec<u64>,
    /// Times between arrivals: an upper limit in nanoseconds, and the number of gaps up to it.
    pub gaps: Vec<(u64, u64)>,
    /// Arrivals in fixed windows.
    pub arrivals: Arrivals,
    /// How pages are reused.
    pub reuse: Reuse,
    /// Page touches by time, then by address: rows from the lowest address up.
    pub heat: Vec<Vec<u64>>,
}

/// Index of dispersion of arrivals: the variance over the mean of their number in windows. It is 1 for a
/// Poisson process, and larger with bursts. Absent if the trace has fewer than ten windows.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Arrivals {
    /// In windows of one second.
    pub dispersion_1s: Option<f64>,
    /// In windows of one minute.
    pub dispersion_60s: Option<f64>,
}

/// Page touches of reads and of writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Hits {
    /// Of reads.
    pub reads: u64,
    /// Of writes.
    pub writes: u64,
}

impl Hits {
    /// Touches of an operation that is a read or a write.
    fn of(op: HostOp, n: u64) -> Hits {
        if op == HostOp::Read { Hits { reads: n, writes: 0 } } else { Hits { reads: 0, writes: n } }
    }

    /// Of both.
    pub fn all(&self) -> u64 {
        self.reads + self.writes
    }
}

impl AddAssign for Hits {
    fn add_assign(&mut self, other: Hits) {
        self.reads += other.reads;
        self.writes += other.writes;
    }
}

/// How often and how soon pages are accessed again.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reuse {
    /// The share of pages that were tracked; 1 if all were.
    pub sampled: f64,
    /// Total pages touched: tracked pages divided by their share.
    pub pages: u64,
    /// Touches of tracked pages, corrected to their share of all touches.
    pub touches: Hits,
    /// First touches of tracked pages.
    pub first: Hits,
    /// Repeated touches by reuse distance: an upper limit on the number of pages in between, and the number
    /// of touches.
    pub again: Vec<(u64, Hits)>,
}

/// The hit ratio of a cache.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct HitRatio {
    /// Its size in bytes.
    pub cache_bytes: u64,
    /// Share of the page touches of reads that hit. `None` without reads.
    pub reads: Option<f64>,
    /// The same for writes.
    pub writes: Option<f64>,
    /// The same for reads and writes.
    pub all: Option<f64>,
}

impl Reuse {
    /// Hit ratios under LRU of a cache for reads and writes, by cache size.
    pub fn hit_curve(&self) -> Vec<HitRatio> {
        let mut hits = Hits::default();
        let of = |hits: u64, touches: u64| (touches > 0).then(|| hits as f64 / touches as f64);
        let ratio = |(below, again): &(u64, Hits)| {
            hits += *again;
            HitRatio {
                cache_bytes: below * PAGE,
                reads: of(hits.reads, self.touches.reads),
                writes: of(hits.writes, self.touches.writes),
                all: of(hits.all(), self.touches.all()),
            }
        };
        self.again.iter().map(ratio).collect()
    }

    /// The ratio of the largest cache of the curve that is not above `bytes`.
    pub fn hits_at(&self, bytes: u64) -> HitRatio {
        let nothing = |touches: u64| (touches > 0).then_some(0.0);
        let none = HitRatio {
            cache_bytes: bytes,
            reads: nothing(self.touches.reads),
            writes: nothing(self.touches.writes),
            all: nothing(self.touches.all()),
        };
        let fits = self.hit_curve().into_iter().take_while(|h| h.cache_bytes <= bytes).last();
        fits.map_or(none, |h| HitRatio { cache_bytes: bytes, ..h })
    }
}

/// Counts by value in classes of an eighth of an octave, exact below 16.
#[derive(Clone, Default)]
struct Classes<T>(Vec<T>);

impl<T: Clone + Default> Classes<T> {
    /// The class of a value.
    fn of(value: u64) -> usize {
        if value < 16 {
            return value as usize;
        }
        let octave = value.ilog2();
        (octave as usize - 2) * 8 + (value >> (octave - 3) & 7) as usize
    }

    /// The first value above the class.
    fn past(class: usize) -> u64 {
        if class < 16 {
            return class as u64 + 1;
        }
        let (octave, eighth) = (class / 8 + 2, class % 8);
        ((eighth as u128 + 9) << (octave - 3)).min(u64::MAX as u128) as u64
    }

    fn at(&mut self, value: u64) -> &mut T {
        let class = Self::of(value);
        if class >= self.0.len() {
            self.0.resize(class + 1, T::default());
        }
        &mut self.0[class]
    }

    /// The classes up to the highest with a count.
    fn listed(self) -> Vec<(u64, T)> {
        self.0.into_iter().enumerate().map(|(class, n)| (Self::past(class), n)).collect()
    }
}

/// Arrivals in windows of one length.
struct Windows {
    length_ns: u64,
    window: u64,
    count: u64,
    /// Number of arrivals in all windows before the current one.
    sum: u128,
    squares: u128,
}

impl Windows {
    fn new(seconds: u64) -> Windows {
        Windows { length_ns: seconds * 1_000_000_000, window: 0, count: 0, sum: 0, squares: 0 }
    }

    fn add(&mut self, time: u64) {
        let window = time / self.length_ns;
        if window != self.window {
            self.sum += self.count as u128;
            self.squares += self.count as u128 * self.count as u128;
            (self.window, self.count) = (window, 0);
        }
        self.count += 1;
    }

    /// The dispersion over complete windows; the last window is left out.
    fn dispersion(&self) -> Option<f64> {
        if self.window < FEWEST_WINDOWS {
            return None;
        }
        let n = self.window as f64;
        let mean = self.sum as f64 / n;
        (mean > 0.0).then(|| (self.squares as f64 / n - mean * mean) / mean)
    }
}

/// The reuse of pages, or of a sample of them as in SHARDS (Waldspurger et al., FAST 2015).
struct Follower {
    stack: LruStack,
    /// The sampled pages, ascending. Empty if all are tracked.
    sample: Vec<u64>,
    one_in: u64,
    /// Touches of all pages, sampled or not.
    all: Hits,
    touches: Hits,
    first: Hits,
    again: Classes<Hits>,
}

impl Follower {
    fn new(pages: u64, touches: u64) -> Follower {
        let one_in = touches.div_ceil(EXACT).max(pages.div_ceil(EXACT)).max(1).next_power_of_two();
        Follower::of_one_in(one_in, pages)
    }

    /// Tracks the pages with a small hash: one in `one_in`.
    fn of_one_in(one_in: u64, pages: u64) -> Follower {
        let last = u64::MAX / one_in;
        let sample: Vec<u64> =
            if one_in > 1 { (0..pages).filter(|p| splitmix(*p) <= last).collect() } else { Vec::new() };
        let followed = if one_in > 1 { sample.len() } else { pages as usize };
        let stack = LruStack::new(followed);
        let (all, touches, first) = (Hits::default(), Hits::default(), Hits::default());
        Follower { stack, sample, one_in, all, touches, first, again: Classes::default() }
    }

    /// Track consecutive pages, touched by one request.
    fn touch(&mut self, pages: &Range<u64>, op: HostOp) {
        self.all += Hits::of(op, pages.end - pages.start);
        let place = |page: u64| {
            if self.one_in == 1 { page as u32 } else { self.sample.partition_point(|p| *p < page) as u32 }
        };
        let followed = place(pages.start)..place(pages.end);
        self.touches += Hits::of(op, (followed.end - followed.start) as u64);
        for number in followed {
            match self.stack.touch(number) {
                None => self.first += Hits::of(op, 1),
                Some(distance) => *self.again.at(distance as u64 * self.one_in) += Hits::of(op, 1),
            }
        }
    }

    /// A sample with more or fewer hot pages than its share has too many or too few touches. Most of these
    /// are hits of short distance, so the difference is added there, as in SHARDS-adj.
    fn adjust(&mut self) {
        let counts: [fn(&mut Hits) -> &mut u64; 2] = [|h| &mut h.reads, |h| &mut h.writes];
        for count in counts {
            let expected = *count(&mut self.all) / self.one_in;
            let followed = std::mem::replace(count(&mut self.touches), expected);
            *count(self.again.at(0)) += expected.saturating_sub(followed);
            let mut over = followed.saturating_sub(expected);
            for class in &mut self.again.0 {
                let less = over.min(*count(class));
                *count(class) -= less;
                over -= less;
            }
            // The remainder can only be first touches.
            *count(&mut self.touches) += over;
        }
    }

    fn reuse(mut self, pages: u64) -> Reuse {
        if self.one_in > 1 {
            self.adjust();
        }
        Reuse {
            sampled: 1.0 / self.one_in as f64,
            pages,
            touches: self.touches,
            first: self.first,
            again: self.again.listed(),
        }
    }
}

impl Profile {
    /// Profiles an inspected trace. `None` without reads and writes.
    pub(crate) fn of(trace: &Trace) -> Result<Option<Profile>, WorkloadError> {
        let pages = trace.compacted(PAGE_BLOCKS)?;
        if pages.count() == 0 {
            return Ok(None);
        }
        let span = trace.span_ns().max(1);
        let bytes = trace.bytes_moved();
        let mut taking = Taking::new(&pages, span, bytes / PAGE);
        for request in trace.pass()? {
            taking.add(request?);
        }
        Ok(Some(taking.done()))
    }
}

struct Taking<'a> {
    pages: &'a RankedPages,
    span: u64,
    bin_ns: u64,
    last: Option<u64>,
    reads: Vec<u64>,
    writes: Vec<u64>,
    touched: Vec<u64>,
    written: Vec<u64>,
    marks: [PageSet; 2],
    gaps: Classes<u64>,
    windows: [Windows; 2],
    follower: Follower,
    heat: Vec<Vec<u64>>,
}

impl Taking<'_> {
    fn new(pages: &RankedPages, span: u64, touches: u64) -> Taking<'_> {
        // The last request ends the last bin.
        let bin_ns = span / TIME_BINS as u64 + 1;
        let bins = (span / bin_ns + 1) as usize;
        let count = pages.count();
        Taking {
            pages,
            span,
            bin_ns,
            last: None,
            reads: vec![0; bins],
            writes: vec![0; bins],
            touched: vec![0; bins],
            written: vec![0; bins],
            marks: Default::default(),
            gaps: Classes::default(),
            windows: WINDOWS_S.map(Windows::new),
            follower: Follower::new(count, touches),
            heat: vec![vec![0; HEAT.0]; HEAT.1.min(count as usize)],
        }
    }

    fn add(&mut self, r: HostRequest) {
        let time = r.arrival.0;
        if let Some(last) = self.last {
            *self.gaps.at(time.saturating_sub(last)) += 1;
        }
        self.last = Some(time);
        self.windows.iter_mut().for_each(|w| w.add(time));
        let bin = ((time / self.bin_ns) as usize).min(self.reads.len() - 1);
        match r.op {
            HostOp::Read => self.reads[bin] += 1,
            HostOp::Write => self.writes[bin] += 1,
            HostOp::Trim | HostOp::Flush => return,
        }
        let first = r.lba.0 / PAGE_BLOCKS;
        let pages = (r.lba.0 + r.blocks as u64).div_ceil(PAGE_BLOCKS) - first;
        // The pages of a request have consecutive ranks.
        let first = self.pages.rank(first);
        let column = (time as u128 * HEAT.0 as u128 / (self.span as u128 + 1)) as usize;
        let (rows, count) = (self.heat.len() as u64, self.pages.count());
        let touched = first..first + pages;
        self.touched[bin] += self.marks[0].add(touched.clone());
        if r.op == HostOp::Write {
            self.written[bin] += self.marks[1].add(touched.clone());
        }
        self.follower.touch(&touched, r.op);
        // Row n begins with the first page that is at least n times as many pages as a row has.
        let begin = |row: u64| (row as u128 * count as u128).div_ceil(rows as u128) as u64;
        let mut row = (first as u128 * rows as u128 / count as u128) as u64;
        while begin(row) < touched.end {
            let part = touched.start.max(begin(row))..touched.end.min(begin(row + 1));
            self.heat[row as usize][column.min(HEAT.0 - 1)] += part.end - part.start;
            row += 1;
        }
    }

    fn done(self) -> Profile {
        let summed = |mut bins: Vec<u64>| {
            let mut sum = 0;
            bins.iter_mut().for_each(|n| {
                sum += *n;
                *n = sum;
            });
            bins
        };
        let [one, sixty] = self.windows.map(|w| w.dispersion());
        Profile {
            bin_s: self.bin_ns as f64 / 1e9,
            reads: self.reads,
            writes: self.writes,
            touched: summed(self.touched),
            written: summed(self.written),
            gaps: self.gaps.listed(),
            arrivals: Arrivals { dispersion_1s: one, dispersion_60s: sixty },
            reuse: self.follower.reuse(self.pages.count()),
            heat: self.heat,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_eighth_octaves_and_hold_their_values() {
        let mut before = 0;
        for class in 0..400 {
            let past = Classes::<u64>::past(class);
            assert!(past > before || past == u64::MAX, "{class}");
            if past < u64::MAX {
                assert_eq!((Classes::<u64>::of(before), Classes::<u64>::of(past - 1)), (class, class));
                assert!(past - before <= (before / 8).max(1));
            }
            before = past;
        }
    }

    #[test]
    fn regular_arrivals_have_no_dispersion_and_bursts_do() {
        let (mut regular, mut bursts) = (Windows::new(1), Windows::new(1));
        for n in 0..10_000u64 {
            regular.add(n * 10_000_000);
            bursts.add(n / 1_000 * 10_000_000_000);
        }
        assert!(regular.dispersion().unwrap() < 1e-9);
        assert!(bursts.dispersion().unwrap() > 800.0);
        assert_eq!(Windows::new(60).dispersion(), None);
    }

    #[test]
    fn a_sample_of_pages_has_nearly_the_hits_of_all() {
        let mut random = crate::random::RandomStream::new(3, "profile");
        let mut all = Follower::new(1 << 16, 1);
        let mut some = Follower::of_one_in(8, 1 << 16);
        for _ in 0..1_000_000 {
            let page = random.below(1 << 16) & random.below(1 << 16);
            all.touch(&(page..page + 1), HostOp::Read);
            some.touch(&(page..page + 1), HostOp::Read);
        }
        let (all, some) = (all.reuse(1 << 16), some.reuse(1 << 16));
        for bytes in [4 << 20, 16 << 20, 64 << 20] {
            let (a, b) = (all.hits_at(bytes).reads.unwrap(), some.hits_at(bytes).reads.unwrap());
            assert!((a - b).abs() < 0.03, "{bytes}: {a} and {b}");
        }
        assert_eq!(all.hits_at(1 << 40).reads, Some((1_000_000 - all.first.reads) as f64 / 1e6));
    }
}
