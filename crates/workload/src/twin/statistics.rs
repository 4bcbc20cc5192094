//! What a stream of requests is like: the figures by which a twin is held to its original, taken in
//! one pass, of a twin and of a trace alike.

use super::addresses::UNIT;
use super::lru::PageStack;
use crate::pages::PageSet;
use rustc_hash::FxHashMap;
use wordline_units::{HostOp, HostRequest, LBA_BYTES};

/// Requests whose ends are remembered, to see whether one goes on from there.
const RECENT: usize = 64;
/// Bins of arrivals: as many, or half as many and twice as long.
const BINS: usize = 256;
const SECOND: u64 = 1_000_000_000;
/// Lengths of the windows in which arrivals are counted: 10 ms, 1 s and 60 s.
const WINDOWS: [u64; 3] = [SECOND / 100, SECOND, 60 * SECOND];

/// Whether the order of written pages is measured, which takes most of the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// All but the LRU curve and the distinct pages.
    Counts,
    /// All.
    Full,
}

/// Counts of arrivals in windows of one length.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    length: u64,
    at: u64,
    count: u64,
    sum: f64,
    squares: f64,
}

impl Windows {
    pub fn new(length: u64) -> Windows {
        Windows { length, at: 0, count: 0, sum: 0.0, squares: 0.0 }
    }

    #[inline]
    pub fn add(&mut self, time: u64) {
        let at = time / self.length;
        if at != self.at {
            let count = self.count as f64;
            self.sum += count;
            self.squares += count * count;
            (self.at, self.count) = (at, 0);
        }
        self.count += 1;
    }

    /// Variance of the count over its mean; none with fewer than ten whole windows.
    pub fn dispersion(&self) -> Option<f64> {
        // The last window is cut off, so it is left out.
        let windows = self.at as f64;
        let mean = self.sum / windows;
        (self.at >= 10 && mean > 0.0).then(|| (self.squares / windows - mean * mean) / mean)
    }
}

/// Requests of one kind.
#[derive(Clone, Default)]
pub(crate) struct Side {
    pub requests: u64,
    pub bytes: u64,
    /// Requests by size in blocks.
    pub sizes: FxHashMap<u32, u64>,
    /// Requests that begin where one of the last few ended, or rewrite its last 4 KiB.
    pub continued: u64,
    pub rewritten: u64,
    /// Streams of two requests or more.
    pub runs: u64,
    /// Requests at multiples of 4 KiB.
    pub aligned: u64,
    /// Where the last requests ended, and whether they continued others.
    ends: Vec<(u64, bool)>,
    at: usize,
}

impl Side {
    #[inline]
    fn add(&mut self, r: &HostRequest) {
        self.requests += 1;
        self.bytes += r.bytes();
        *self.sizes.entry(r.blocks).or_insert(0) += 1;
        self.aligned += u64::from(r.lba.0.is_multiple_of(UNIT) && (r.blocks as u64).is_multiple_of(UNIT));
        let end = r.lba.0 + r.blocks as u64;
        let goes_on = |e: u64| e == r.lba.0 || (e - 1) / UNIT * UNIT == r.lba.0;
        if let Some(before) = self.ends.iter_mut().find(|e| goes_on(e.0)) {
            self.continued += 1;
            self.rewritten += u64::from(before.0 != r.lba.0);
            self.runs += u64::from(!before.1);
            *before = (end, true);
        } else if self.ends.len() < RECENT {
            self.ends.push((end, false));
        } else {
            self.ends[self.at] = (end, false);
            self.at = (self.at + 1) % RECENT;
        }
    }

    /// Mean size in bytes; none without requests.
    pub fn mean(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.bytes as f64 / self.requests as f64)
    }
}

/// The figures of a stream of requests.
#[derive(Clone)]
pub struct Statistics {
    page: u64,
    pub(crate) reads: Side,
    pub(crate) writes: Side,
    /// Writes that touch more than one page.
    large: u64,
    /// Parts of writes in pages, and those that are less than a page.
    parts: u64,
    partial: u64,
    small: u64,
    changes: u64,
    before: Option<(u64, HostOp)>,
    first: u64,
    pub(crate) same_time: u64,
    /// Sums of the gaps above 0 and of their squares, in seconds.
    pub(crate) gaps: (f64, f64),
    windows: [Windows; 3],
    bin: u64,
    bins: Vec<u64>,
    /// Trims and flushes.
    others: u64,
    full: Option<Full>,
}

/// Writes of less than a page to pages that were written before.
#[derive(Clone, Default)]
struct Updates {
    /// By page: the blocks ever written, and those of the last write, a bit each.
    pages: FxHashMap<u64, (u64, u64)>,
    all: u64,
    /// Those that cover all that was ever written there, and those to the very blocks of the write before.
    covering: u64,
    same: u64,
}

impl Updates {
    /// A write of some blocks, `begin..end`, to pages of so many; of more than 64 nothing is known.
    fn add(&mut self, begin: u64, end: u64, page: u64) {
        if page > 64 {
            return;
        }
        let whole = u64::MAX >> (64 - page);
        for number in begin / page..end.div_ceil(page) {
            let first = number * page;
            let (from, to) = (begin.max(first) - first, end.min(first + page) - first);
            let mask = (u64::MAX >> (64 - (to - from))) << from;
            let (ever, last) = self.pages.entry(number).or_default();
            if *ever != 0 && mask != whole {
                self.all += 1;
                self.covering += u64::from(mask & *ever == *ever);
                self.same += u64::from(mask == *last);
            }
            (*ever, *last) = (*ever | mask, mask);
        }
    }
}

#[derive(Clone, Default)]
struct Full {
    updates: Updates,
    stack: PageStack,
    /// Accesses by stack distance.
    distances: Vec<u32>,
    accesses: u64,
    touched: PageSet,
    read: PageSet,
    /// Pages of reads, and those of them that had been written.
    read_pages: u64,
    read_written: u64,
}

impl Statistics {
    /// Of no request yet; `page` bytes are what a write is large or partial by.
    pub fn new(page: u64, depth: Depth) -> Statistics {
        Statistics {
            page: (page / LBA_BYTES).max(1),
            reads: Side::default(),
            writes: Side::default(),
            large: 0,
            parts: 0,
            partial: 0,
            small: 0,
            changes: 0,
            before: None,
            first: 0,
            same_time: 0,
            gaps: (0.0, 0.0),
            windows: WINDOWS.map(Windows::new),
            bin: SECOND,
            bins: vec![],
            others: 0,
            full: (depth == Depth::Full).then(Full::default),
        }
    }

    /// Takes a request in. Trims and flushes are only counted.
    #[inline]
    pub fn add(&mut self, r: &HostRequest) {
        if !matches!(r.op, HostOp::Read | HostOp::Write) {
            self.others += 1;
            return;
        }
        match self.before {
            None => self.first = r.arrival.0,
            Some((before, op)) => {
                let gap = r.arrival.0.saturating_sub(before);
                self.same_time += u64::from(gap == 0);
                let seconds = gap as f64 / 1e9;
                self.gaps = (self.gaps.0 + seconds, self.gaps.1 + seconds * seconds);
                self.changes += u64::from(op != r.op);
            }
        }
        self.before = Some((r.arrival.0, r.op));
        let time = r.arrival.0 - self.first;
        self.windows.iter_mut().for_each(|w| w.add(time));
        self.arrived(time);
        let pages = r.lba.0 / UNIT..(r.lba.0 + r.blocks as u64).div_ceil(UNIT);
        if let Some(full) = &mut self.full {
            full.touched.insert(pages.clone());
        }
        if r.op == HostOp::Read {
            self.reads.add(r);
            if let Some(full) = &mut self.full {
                full.read.insert(pages.clone());
                for page in pages {
                    full.read_pages += 1;
                    full.read_written += u64::from(full.stack.contains(page));
                }
            }
            return;
        }
        self.writes.add(r);
        let (begin, end) = (r.lba.0, r.lba.0 + r.blocks as u64);
        let parts = end.div_ceil(self.page) - begin / self.page;
        self.large += u64::from(parts > 1);
        self.parts += parts;
        let cut = u64::from(!begin.is_multiple_of(self.page)) + u64::from(!end.is_multiple_of(self.page));
        self.partial += cut.min(parts);
        self.small += u64::from(r.bytes() <= 4096);
        if let Some(full) = &mut self.full {
            full.updates.add(begin, end, self.page);
            for page in pages {
                full.accesses += 1;
                if let Some(distance) = full.stack.access(page) {
                    let distance = distance as usize;
                    if distance >= full.distances.len() {
                        full.distances.resize((distance + 1).next_power_of_two(), 0);
                    }
                    full.distances[distance] += 1;
                }
            }
        }
    }

    #[inline]
    fn arrived(&mut self, time: u64) {
        let mut at = (time / self.bin) as usize;
        while at >= BINS {
            for i in 0..self.bins.len().div_ceil(2) {
                self.bins[i] = self.bins[2 * i] + self.bins.get(2 * i + 1).copied().unwrap_or(0);
            }
            self.bins.truncate(self.bins.len().div_ceil(2));
            self.bin *= 2;
            at = (time / self.bin) as usize;
        }
        if at >= self.bins.len() {
            self.bins.resize(at + 1, 0);
        }
        self.bins[at] += 1;
    }

    /// Reads and writes.
    pub fn requests(&self) -> u64 {
        self.reads.requests + self.writes.requests
    }

    /// Share of writes.
    pub fn write_share(&self) -> f64 {
        share(self.writes.requests, self.requests())
    }

    /// Mean size of reads in bytes; none without any.
    pub fn read_mean(&self) -> Option<f64> {
        self.reads.mean()
    }

    /// Mean size of writes in bytes; none without any.
    pub fn write_mean(&self) -> Option<f64> {
        self.writes.mean()
    }

    /// Bytes read and bytes written.
    pub fn volumes(&self) -> (u64, u64) {
        (self.reads.bytes, self.writes.bytes)
    }

    /// Share of writes that touch more than one page.
    pub fn large_share(&self) -> f64 {
        share(self.large, self.writes.requests)
    }

    /// Share of the page-sized parts of writes that are less than a page.
    pub fn partial_share(&self) -> f64 {
        share(self.partial, self.parts)
    }

    /// Share of writes of at most 4 KiB.
    pub fn small_share(&self) -> f64 {
        share(self.small, self.writes.requests)
    }

    /// Requests of one kind in a row, on average.
    pub fn run(&self) -> f64 {
        self.requests() as f64 / (self.changes + 1) as f64
    }

    /// Shares of reads and of writes that begin where one of the last 64 of their kind ended, or at its last 4 KiB.
    pub fn continued_shares(&self) -> [f64; 2] {
        [&self.reads, &self.writes].map(|side| share(side.continued, side.requests))
    }

    /// Seconds from the first request to the last.
    pub fn span_s(&self) -> f64 {
        self.before.map_or(0.0, |(last, _)| (last - self.first) as f64 / 1e9)
    }

    /// Variance over mean of the number of requests in 10 ms, in a second, and in a minute; none where the
    /// requests cover less than ten of them.
    pub fn dispersion(&self) -> [Option<f64>; 3] {
        [&self.windows[0], &self.windows[1], &self.windows[2]].map(Windows::dispersion)
    }

    /// Trims and flushes, which no other figure counts.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Of writes of less than a page to a page that was written before: the share that covers all that was ever
    /// written there, and the share that goes to the very blocks of the write before; none without any, or without
    /// full depth.
    pub fn stable_shares(&self) -> Option<[f64; 2]> {
        let updates = self.full.as_ref().map(|f| &f.updates).filter(|u| u.all > 0)?;
        Some([share(updates.covering, updates.all), share(updates.same, updates.all)])
    }

    /// Distinct bytes touched in whole pages; none without full depth.
    pub fn touched_in_pages(&self) -> Option<u64> {
        let touched = &self.full.as_ref()?.touched;
        let each = (self.page / UNIT).max(1);
        let (mut past, mut pages) = (0, 0);
        for run in touched.runs() {
            let (from, to) = ((run.start / each).max(past), run.end.div_ceil(each));
            pages += to.saturating_sub(from);
            past = to;
        }
        Some(pages * each * UNIT * LBA_BYTES)
    }

    /// Share of requests that come at the time of the one before.
    pub fn group_share(&self) -> f64 {
        share(self.same_time, self.requests())
    }

    /// Squared coefficient of variation of the gaps above 0; none without two of them.
    pub fn gap_variation(&self) -> Option<f64> {
        let n = self.requests().checked_sub(1 + self.same_time).filter(|n| *n > 1)? as f64;
        let mean = self.gaps.0 / n;
        Some((self.gaps.1 / n - mean * mean) / (mean * mean))
    }

    /// Requests in equal parts of the time, and the length of a part in seconds.
    pub fn arrivals(&self) -> (&[u64], f64) {
        (&self.bins, self.bin as f64 / 1e9)
    }

    /// Sizes in bytes with the number of requests, ascending: of reads, of writes.
    pub fn sizes(&self) -> [Vec<(u64, u64)>; 2] {
        [&self.reads, &self.writes].map(|side| {
            let mut sizes: Vec<(u64, u64)> =
                side.sizes.iter().map(|(blocks, n)| (*blocks as u64 * LBA_BYTES, *n)).collect();
            sizes.sort_unstable();
            sizes
        })
    }

    /// Distinct bytes in pages of 4 KiB: touched, read, and written; none without full depth.
    pub fn footprints(&self) -> Option<[u64; 3]> {
        let full = self.full.as_ref()?;
        Some([full.touched.count(), full.read.count(), full.stack.pages()].map(|n| n * UNIT * LBA_BYTES))
    }

    /// Shares of written 4 KiB pages that LRU caches of written pages hold, of sizes in bytes,
    /// ascending; none without full depth or without writes.
    pub fn hits(&self, caches: &[u64]) -> Option<Vec<f64>> {
        let full = self.full.as_ref().filter(|f| f.accesses > 0)?;
        let mut hits = Vec::with_capacity(caches.len());
        let (mut sum, mut at) = (0u64, 0usize);
        for cache in caches {
            let pages = ((cache / (UNIT * LBA_BYTES)) as usize).min(full.distances.len());
            while at < pages {
                sum += full.distances[at] as u64;
                at += 1;
            }
            hits.push(sum as f64 / full.accesses as f64);
        }
        Some(hits)
    }

    /// Share of the pages read that had been written before; none without full depth.
    pub fn read_written_share(&self) -> Option<f64> {
        self.full.as_ref().map(|f| share(f.read_written, f.read_pages))
    }

    /// Six cache sizes for a curve: from a sixty-fourth of the written footprint to half of it; of a few pages fewer.
    pub fn six_caches(&self) -> Option<Vec<u64>> {
        let [.., written] = self.footprints()?;
        let unit = UNIT * LBA_BYTES;
        let mut caches: Vec<u64> = (1..=6).rev().map(|k| (written >> k).max(unit) / unit * unit).collect();
        caches.dedup();
        Some(caches)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_of_a_part_of_a_page_are_held_against_all_that_was_written_there() {
        let mut s = Statistics::new(16 << 10, Depth::Full);
        let mut write = |lba: u64, blocks: u32| s.add(&HostRequest::new(HostOp::Write, lba, blocks));
        write(0, 8); // the first
        write(0, 8); // covers it, and is the same
        write(8, 8); // neither
        write(0, 16); // covers, another
        write(0, 32); // the whole page: not counted
        write(32, 8); // another page
        assert_eq!(s.stable_shares(), Some([2.0 / 3.0, 1.0 / 3.0]));
        assert_eq!(s.touched_in_pages(), Some(32 << 10));
    }
}
