//! Large parts of a drive that are known to be empty. With them, the map of an empty drive is reported
//! without a look at each page.

use std::ops::Range;

/// Logical pages per part.
const PAGES: u64 = 1024;

/// The parts that are known to be empty.
#[derive(Clone, Debug)]
pub(crate) struct Holes {
    /// Size of a part in bytes.
    part: u64,
    /// One bit per part: whether it is known to be empty.
    empty: Vec<u64>,
}

impl Holes {
    /// Parts of a drive of `size` bytes with pages of `page` bytes. `is_empty` says of a range of pages whether it is known to be
    /// empty.
    pub(crate) fn new(size: u64, page: u64, is_empty: impl Fn(Range<u32>) -> bool) -> Holes {
        let part = page * PAGES;
        let parts = size.div_ceil(part);
        let mut holes = Holes { part, empty: vec![0; parts.div_ceil(64) as usize] };
        let pages = size.div_ceil(page);
        for number in 0..parts {
            let pages = number * PAGES..((number + 1) * PAGES).min(pages);
            if is_empty(pages.start as u32..pages.end as u32) {
                holes.found(&(number * part..(number + 1) * part));
            }
        }
        holes
    }

    /// Number of bytes, from the start of a range, that are known to be empty.
    pub(crate) fn from(&self, range: &Range<u64>) -> u64 {
        let mut at = range.start;
        while at < range.end && self.is_empty(at / self.part) {
            at = (at / self.part + 1) * self.part;
        }
        at.min(range.end) - range.start
    }

    /// The part that begins at an address, if one does.
    pub(crate) fn part_at(&self, at: u64) -> Option<Range<u64>> {
        at.is_multiple_of(self.part).then_some(at..at + self.part)
    }

    /// Note that a part was found to be empty.
    pub(crate) fn found(&mut self, part: &Range<u64>) {
        let number = part.start / self.part;
        if let Some(word) = self.empty.get_mut((number / 64) as usize) {
            *word |= 1 << (number % 64);
        }
    }

    /// Note that a range was written.
    pub(crate) fn write(&mut self, range: &Range<u64>) {
        for number in range.start / self.part..=range.end.saturating_sub(1) / self.part {
            if let Some(word) = self.empty.get_mut((number / 64) as usize) {
                *word &= !(1 << (number % 64));
            }
        }
    }

    fn is_empty(&self, part: u64) -> bool {
        self.empty.get((part / 64) as usize).is_some_and(|word| word >> (part % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_range_is_no_hole_until_found_to_be_one() {
        let part = 4 * PAGES;
        let mut holes = Holes::new(10 * part, 4, |_| true);
        assert_eq!(holes.from(&(3..10 * part)), 10 * part - 3);
        holes.write(&(2 * part - 1..2 * part + 1));
        assert_eq!(holes.from(&(0..10 * part)), part);
        assert_eq!(holes.from(&(2 * part..10 * part)), 0);
        assert_eq!(holes.part_at(part), Some(part..2 * part));
        holes.found(&(part..2 * part));
        assert_eq!((holes.from(&(0..10 * part)), holes.part_at(1)), (2 * part, None));
        let holes = Holes::new(3 * part - 4, 4, |pages| pages != (0..PAGES as u32));
        assert_eq!([0, part].map(|from| holes.from(&(from..3 * part - 4))), [0, 2 * part - 4]);
    }
}
