//! Writes of parts of pages that were written before.

use rustc_hash::FxHashMap;

/// Page size by which updates count as partial, in blocks: 16 KiB.
pub(crate) const UPDATED_PAGE: u64 = 32;

/// Writes of less than a page to pages that were written before.
#[derive(Clone, Default)]
pub(crate) struct Updates {
    /// By page: the blocks ever written, and those of the last write, one bit each.
    pages: FxHashMap<u64, (u64, u64)>,
    all: u64,
    /// Those that cover everything ever written in the page, and those to exactly the blocks of the previous
    /// write.
    covering: u64,
    same: u64,
}

impl Updates {
    /// Add a write of the blocks `begin..end` to pages of this many blocks, at most 64.
    pub(crate) fn add(&mut self, begin: u64, end: u64, page: u64) {
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

    /// Their number.
    pub(crate) fn count(&self) -> u64 {
        self.all
    }

    /// Shares of those that cover everything ever written in the page, and of those to exactly the blocks of
    /// the previous write. None without any.
    pub(crate) fn stable_shares(&self) -> Option<[f64; 2]> {
        (self.all > 0).then(|| [self.covering, self.same].map(|n| n as f64 / self.all as f64))
    }
}
