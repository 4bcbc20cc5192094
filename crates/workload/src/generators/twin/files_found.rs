//! Files found among requests in one pass: sequences that follow the rules by which a twin continues a file.
//!
//! A request of 16 KiB or more belongs to an open file if it has the file's request size, if its distance
//! from the file's start is a multiple of that size, and if it is within 32 requests of the part already
//! touched. Parts of a file may be out of order and interleaved. At most 8 files are open; the least recently
//! used one is closed to open another. A file has at least 8 requests, covers at least half of its extent,
//! and hardly overlaps itself.

use crate::generators::twin::bursts::Recent;
use crate::generators::twin::files::NEAR;
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Maximum number of open files.
const OPEN: usize = 8;
/// Maximum distance of a request from the touched part of its file, in requests.
const REACH: u64 = 32;
/// Minimum size of requests of files, in blocks: 16 KiB. Sequences of shorter ones are logs, which rewrite
/// their last page.
const SHORTEST: u32 = 32;
/// Minimum number of requests of a file.
const LEAST: u64 = 8;
/// One in this many requests of a file may touch a part twice.
const TWICE: u64 = 16;
/// Maximum alignment recorded for the start of a file, in blocks: 64 KiB.
const GREATEST: u64 = 128;
/// Number of classes of gaps: sixteen per octave.
const GAPS: usize = 1024;

/// Requests that continue a stream of their kind, those among them that rewrite its last 4 KiB, and streams
/// of two requests or more.
#[derive(Clone, Copy, Default)]
pub(crate) struct Continued {
    pub continued: u64,
    pub rewritten: u64,
    pub runs: u64,
}

impl Continued {
    /// The counts outside a part.
    pub fn without(self, part: Continued) -> Continued {
        Continued {
            continued: self.continued - part.continued,
            rewritten: self.rewritten - part.rewritten,
            runs: self.runs - part.runs,
        }
    }
}

impl AddAssign for Continued {
    fn add_assign(&mut self, other: Continued) {
        self.continued += other.continued;
        self.rewritten += other.rewritten;
        self.runs += other.runs;
    }
}

#[derive(Clone)]
struct Open {
    from: u64,
    to: u64,
    size: u32,
    requests: u64,
    near: bool,
    streams: Continued,
    gaps: BTreeMap<u16, u64>,
}

impl Open {
    /// Whether this is a file: long enough, covers at least half of its extent, and hardly any of it twice.
    /// Repeated passes over the same blocks are not a file.
    fn is_file(&self) -> bool {
        let (touched, between) = (self.requests * self.size as u64, self.to - self.from);
        self.requests >= LEAST && 2 * touched >= between && touched <= between + between / TWICE
    }

    /// Counts it, if it is a file.
    fn count(&self, all: &mut Totals) {
        if !self.is_file() {
            return;
        }
        let n = self.requests;
        all.files += 1;
        all.requests += n;
        *all.sizes.entry(self.size).or_default() += n;
        let unit = if self.from == 0 { GREATEST } else { (1 << self.from.trailing_zeros()).min(GREATEST) };
        *all.begins.entry(unit as u32).or_default() += n;
        let length = all.lengths.entry(n.ilog2()).or_default();
        *length = (length.0 + 1, length.1 + n);
        all.near += u64::from(self.near);
        all.streams += self.streams;
        for (class, count) in &self.gaps {
            all.gaps[*class as usize] += count;
        }
    }
}

/// Totals over all files found.
#[derive(Clone)]
pub(crate) struct Totals {
    pub files: u64,
    pub requests: u64,
    /// Requests by size in blocks, and by the alignment of their file's start.
    pub sizes: BTreeMap<u32, u64>,
    pub begins: BTreeMap<u32, u64>,
    /// Files and their requests, by the binary logarithm of the number of requests.
    pub lengths: BTreeMap<u32, (u64, u64)>,
    /// Number of files that begin after the previous one.
    pub near: u64,
    pub streams: Continued,
    /// Requests by the class of the gap before them.
    pub gaps: Vec<u64>,
}

impl Totals {
    fn new() -> Totals {
        Totals {
            files: 0,
            requests: 0,
            sizes: BTreeMap::new(),
            begins: BTreeMap::new(),
            lengths: BTreeMap::new(),
            near: 0,
            streams: Continued::default(),
            gaps: vec![0; GAPS],
        }
    }

    /// Blocks moved by requests of files.
    pub fn blocks(&self) -> u64 {
        self.sizes.iter().map(|(size, n)| *size as u64 * n).sum()
    }
}

/// The class of a gap in nanoseconds.
pub(crate) fn class(gap: f64) -> u16 {
    let gap = gap as u64;
    if gap < 16 {
        return gap as u16;
    }
    let octave = gap.ilog2();
    (octave * 16 + ((gap >> (octave - 4)) & 15) as u32) as u16
}

/// Finds the files of one kind of request.
#[derive(Clone)]
pub(crate) struct Files {
    recent: Recent,
    /// All requests by the class of the gap before them.
    gaps: Vec<u64>,
    open: Vec<Open>,
    closed: Totals,
    /// Where the last used file continues.
    front: Option<u64>,
}

impl Default for Files {
    fn default() -> Files {
        Files {
            recent: Recent::default(),
            gaps: vec![0; GAPS],
            open: Vec::with_capacity(OPEN),
            closed: Totals::new(),
            front: None,
        }
    }
}

impl Files {
    /// Process a request.
    pub fn add(&mut self, time: u64, at: u64, size: u32, streams: Continued) {
        let gap = self.recent.gap(time).map_or(GAPS as u16 - 1, class);
        self.gaps[gap as usize] += 1;
        if size < SHORTEST {
            return;
        }
        let long = size as u64;
        let is_of = |f: &Open| {
            f.size == size
                && at + REACH * long >= f.from
                && at <= f.to + REACH * long
                && at.abs_diff(f.from).is_multiple_of(long)
        };
        let mut file = match self.open.iter().rposition(is_of) {
            Some(found) => self.open.remove(found),
            None => {
                if self.open.len() == OPEN {
                    self.open.remove(0).count(&mut self.closed);
                }
                let near = self.front.is_some_and(|front| (front..=front + NEAR * long).contains(&at));
                let (gaps, streams) = (BTreeMap::new(), Continued::default());
                Open { from: at, to: at, size, requests: 0, near, streams, gaps }
            }
        };
        (file.from, file.to) = (file.from.min(at), file.to.max(at + long));
        file.requests += 1;
        file.streams += streams;
        *file.gaps.entry(gap).or_default() += 1;
        if file.is_file() {
            self.front = Some(file.to);
        }
        self.open.push(file);
    }

    /// All requests by the class of the gap before them.
    pub fn gaps(&self) -> &[u64] {
        &self.gaps
    }

    /// All files found so far.
    pub fn totals(&self) -> Totals {
        let mut all = self.closed.clone();
        self.open.iter().for_each(|file| file.count(&mut all));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_found_out_of_order_among_other_requests() {
        let mut found = Files::default();
        let mut add = |at: u64, size: u32| found.add(0, at, size, Continued::default());
        for i in 0..40u64 {
            // Two interleaved parts of a file, and single requests far apart.
            add(8 + 128 * (i ^ 4), 128);
            add(1_000_000 + 999 * i * i, 8);
        }
        for i in 0..7 {
            add(5_000_000 + 64 * i, 64);
        }
        let totals = found.totals();
        assert_eq!((totals.files, totals.requests), (1, 40), "seven in a row are too few");
        assert_eq!((totals.sizes[&128], totals.begins[&8]), (40, 40));
        assert_eq!(totals.lengths[&5], (1, 40));
    }

    #[test]
    fn classes_of_gaps_ascend_with_the_gap() {
        let classes: Vec<u16> = (0..50).map(|i| class(libm::pow(1.9, i as f64))).collect();
        assert!(classes.windows(2).all(|c| c[0] <= c[1]), "{classes:?}");
        assert!((class(f64::MAX) as usize) < GAPS);
    }
}
