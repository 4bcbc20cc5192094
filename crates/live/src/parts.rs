//! Trims of parts of logical pages. A page is trimmed once one or several requests have trimmed all of it;
//! until then, its trimmed sectors are recorded.

use rustc_hash::FxHashMap;
use std::ops::Range;

/// Maximum number of pages with recorded sectors, which limits memory. Partial trims of further pages have no
/// effect.
const MOST: usize = 1 << 20;

/// Which sectors of partly trimmed pages have been trimmed since they were written.
#[derive(Clone, Debug)]
pub(crate) struct PartTrims {
    /// Size of a sector in bytes.
    sector: u64,
    page: u64,
    /// One bit per sector of a page.
    trimmed: FxHashMap<u64, u64>,
}

impl PartTrims {
    pub(crate) fn new(sector: u64, page: u64) -> PartTrims {
        PartTrims { sector, page, trimmed: FxHashMap::default() }
    }

    /// The sectors of a page that lie entirely within a range.
    fn mask(&self, page: u64, range: &Range<u64>) -> u64 {
        let first = page * self.page;
        let begin = range.start.max(first).div_ceil(self.sector).saturating_sub(first / self.sector);
        let end = (range.end.min(first + self.page) / self.sector).saturating_sub(first / self.sector);
        let below = |n: u64| if n >= 64 { u64::MAX } else { (1 << n) - 1 };
        if begin < end { below(end) & !below(begin) } else { 0 }
    }

    fn all(&self) -> u64 {
        self.mask(0, &(0..self.page))
    }

    /// Trim a range of bytes. Returns the range to trim in whole pages; it includes the pages at its edges if
    /// all their sectors have now been trimmed.
    pub(crate) fn trim(&mut self, range: Range<u64>, size: u64) -> Range<u64> {
        let mut whole = range.clone();
        let (first, last) = (range.start / self.page, (range.end - 1) / self.page);
        for page in if first == last { vec![first] } else { vec![first, last] } {
            let mask = self.mask(page, &range);
            let all = self.all();
            if mask == all {
                self.trimmed.remove(&page);
                continue;
            }
            let trimmed = mask | self.trimmed.get(&page).copied().unwrap_or(0);
            if trimmed == all {
                self.trimmed.remove(&page);
                whole.start = whole.start.min(page * self.page);
                whole.end = whole.end.max((page + 1) * self.page).min(size);
            } else if mask != 0 && (self.trimmed.len() < MOST || self.trimmed.contains_key(&page)) {
                self.trimmed.insert(page, trimmed);
            }
        }
        whole
    }

    /// Note that a range was written.
    pub(crate) fn write(&mut self, range: &Range<u64>) {
        if self.trimmed.is_empty() || range.is_empty() {
            return;
        }
        for page in range.start / self.page..=(range.end - 1) / self.page {
            self.trimmed.remove(&page);
        }
    }

    /// Forget all recorded sectors, after a power cut.
    pub(crate) fn clear(&mut self) {
        self.trimmed.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1 << 20;

    #[test]
    fn parts_that_cover_a_page_together_trim_it() {
        let mut trims = PartTrims::new(4096, 16_384);
        for at in [4096, 8192, 12_288] {
            assert_eq!(trims.trim(at..at + 4096, SIZE), at..at + 4096);
        }
        assert_eq!(trims.trim(0..4096, SIZE), 0..16_384);
        assert_eq!(trims.trim(0..4096, SIZE), 0..4096, "it has been trimmed");
        trims.write(&(8192..8193));
        assert_eq!(trims.trim(4096..16_384, SIZE), 4096..16_384, "what was written since is another page");
        assert_eq!(trims.trim(0..1, SIZE), 0..1, "a part of a sector is none");
        assert_eq!(trims.trim(0..40_960, SIZE), 0..40_960);
        assert_eq!(trims.trim(40_960..65_536, SIZE), 32_768..65_536);
    }

    #[test]
    fn a_cut_forgets_them() {
        let mut trims = PartTrims::new(4096, 8192);
        trims.trim(0..4096, SIZE);
        trims.clear();
        assert_eq!(trims.trim(4096..8192, SIZE), 4096..8192);
    }
}
