//! Statistics of a stream of requests, with which a twin is compared with its original. They are collected in
//! one pass over either.

use crate::generators::twin::addresses::UNIT;
use crate::generators::twin::lru::PageStack;
use crate::generators::twin::side::Side;
use crate::generators::twin::updates::{UPDATED_PAGE, Updates};
use crate::generators::twin::windows::{Variation, WINDOWS, Windows};
use wordline_trace::PageSet;
use wordline_units::{HostOp, HostRequest, LBA_BYTES};

/// Maximum number of bins of arrivals. When it is exceeded, pairs of bins are merged.
const BINS: usize = 256;
const SECOND: u64 = 1_000_000_000;
/// Whether the reuse of written pages is measured, which takes most of the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// Everything except the LRU curve and distinct pages.
    Counts,
    /// Everything.
    Full,
}

/// The figures of a stream of requests.
#[derive(Clone)]
pub struct Statistics {
    page: u64,
    reads: Side,
    writes: Side,
    /// Writes that touch more than one page.
    large: u64,
    /// Parts of writes in pages, and those that are less than a page.
    parts: u64,
    partial: u64,
    small: u64,
    changes: u64,
    before: Option<(u64, HostOp)>,
    first: u64,
    same_time: u64,
    /// Sums of the gaps above 0 and of their squares, in seconds.
    gaps: (f64, f64),
    windows: [Windows; WINDOWS.len()],
    bin: u64,
    bins: Vec<u64>,
    /// Trims and flushes.
    others: u64,
    full: Option<Full>,
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
    /// Empty statistics. `page` is the size in bytes by which writes count as large or partial.
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

    /// Add a request. Trims and flushes are only counted.
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
        self.windows.iter_mut().for_each(|w| w.add(time, r.op));
        self.arrived(time);
        let pages = r.lba.0 / UNIT..(r.lba.0 + r.blocks as u64).div_ceil(UNIT);
        if let Some(full) = &mut self.full {
            full.touched.insert(pages.clone());
        }
        if r.op == HostOp::Read {
            self.reads.add(r, time);
            if let Some(full) = &mut self.full {
                full.read.insert(pages.clone());
                for page in pages {
                    full.read_pages += 1;
                    full.read_written += u64::from(full.stack.contains(page));
                }
            }
            return;
        }
        self.writes.add(r, time);
        let (begin, end) = (r.lba.0, r.lba.0 + r.blocks as u64);
        let parts = end.div_ceil(self.page) - begin / self.page;
        self.large += u64::from(parts > 1);
        self.parts += parts;
        let cut = u64::from(!begin.is_multiple_of(self.page)) + u64::from(!end.is_multiple_of(self.page));
        self.partial += cut.min(parts);
        self.small += u64::from(r.bytes() <= 4096);
        if let Some(full) = &mut self.full {
            full.updates.add(begin, end, UPDATED_PAGE);
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

    /// The figures of reads or of writes.
    pub(crate) fn side(&self, op: HostOp) -> &Side {
        if op == HostOp::Write { &self.writes } else { &self.reads }
    }

    /// Number of reads and writes.
    pub fn requests(&self) -> u64 {
        self.reads.requests() + self.writes.requests()
    }

    /// Share of writes.
    pub fn write_share(&self) -> f64 {
        share(self.writes.requests(), self.requests())
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
        (self.reads.bytes(), self.writes.bytes())
    }

    /// Share of writes that touch more than one page.
    pub fn large_share(&self) -> f64 {
        share(self.large, self.writes.requests())
    }

    /// Share of the page-sized parts of writes that are less than a page.
    pub fn partial_share(&self) -> f64 {
        share(self.partial, self.parts)
    }

    /// Share of writes of at most 4 KiB.
    pub fn small_share(&self) -> f64 {
        share(self.small, self.writes.requests())
    }

    /// Mean number of consecutive requests of the same kind.
    pub fn run(&self) -> f64 {
        self.requests() as f64 / (self.changes + 1) as f64
    }

    /// Shares of reads and of writes that begin at the end of one of the last 64 of their kind, or at its
    /// last 4 KiB.
    pub fn continued_shares(&self) -> [f64; 2] {
        [&self.reads, &self.writes].map(|side| share(side.streams().continued, side.requests()))
    }

    /// Seconds from the first request to the last.
    pub fn span_s(&self) -> f64 {
        self.before.map_or(0.0, |(last, _)| (last - self.first) as f64 / 1e9)
    }

    /// Window lengths in nanoseconds, from 10 us to 100 s, with the variance over mean of the number of
    /// requests and the number of windows. Only lengths with at least ten windows are included.
    pub fn dispersion(&self) -> Vec<(u64, f64, u64)> {
        let known = self.variations().filter_map(|(length, v)| Some((length, v.dispersion()?, v.windows)));
        known.collect()
    }

    /// Dispersion in windows of each length with at least ten.
    pub(crate) fn variations(&self) -> impl Iterator<Item = (u64, Variation)> {
        self.windows.iter().filter_map(|w| Some((w.length(), w.variation()?)))
    }

    /// Trims and flushes, which no other figure counts.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Of writes smaller than a page of 16 KiB to a previously written page: the share that covers everything
    /// ever written there, and the share to exactly the blocks of the previous write. None without such
    /// writes or without full depth.
    pub fn stable_shares(&self) -> Option<[f64; 2]> {
        self.full.as_ref()?.updates.stable_shares()
    }

    /// Number of writes smaller than a page of 16 KiB to a previously written page.
    pub fn updates(&self) -> u64 {
        self.full.as_ref().map_or(0, |f| f.updates.count())
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

    /// Share of requests simultaneous with the previous one.
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
                side.sizes().iter().map(|(blocks, n)| (*blocks as u64 * LBA_BYTES, *n)).collect();
            sizes.sort_unstable();
            sizes
        })
    }

    /// Distinct bytes in pages of 4 KiB: touched, read, and written; none without full depth.
    pub fn footprints(&self) -> Option<[u64; 3]> {
        let full = self.full.as_ref()?;
        Some([full.touched.count(), full.read.count(), full.stack.pages()].map(|n| n * UNIT * LBA_BYTES))
    }

    /// Hit rates of written 4 KiB pages in LRU caches of written pages, for cache sizes in bytes, ascending.
    /// None without full depth or without writes.
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

    /// Six cache sizes for a curve, from 1/64 to one half of the written footprint. Fewer if there are only a
    /// few pages.
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
    fn partial_updates_compare_with_all_writes_of_the_page() {
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
