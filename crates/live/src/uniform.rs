//! Large parts of a drive that are known to be empty, or to hold data everywhere. With them, the map of an empty or a full
//! drive is reported without a look at each page.

use std::ops::Range;

/// Logical pages per part.
const PAGES: u64 = 1024;

/// The parts that are known to be uniform.
#[derive(Clone, Debug)]
pub(crate) struct Uniform {
    /// Size of a part in bytes.
    part: u64,
    /// One bit per part: whether it is known to be empty.
    empty: Bits,
    /// One bit per part: whether it is known to hold data in each sector.
    full: Bits,
}

#[derive(Clone, Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn none(bits: u64) -> Bits {
        Bits(vec![0; bits.div_ceil(64) as usize])
    }

    fn get(&self, at: u64) -> bool {
        self.0.get((at / 64) as usize).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn set(&mut self, at: u64, to: bool) {
        if let Some(word) = self.0.get_mut((at / 64) as usize) {
            *word = *word & !(1 << (at % 64)) | u64::from(to) << (at % 64);
        }
    }
}

impl Uniform {
    /// Parts of a drive of `size` bytes with pages of `page` bytes. `has_data` says of a range of pages whether all hold data, or
    /// none does, where that is known.
    pub(crate) fn new(size: u64, page: u64, has_data: impl Fn(Range<u32>) -> Option<bool>) -> Uniform {
        let part = page * PAGES;
        let parts = size.div_ceil(part);
        let mut uniform = Uniform { part, empty: Bits::none(parts), full: Bits::none(parts) };
        let pages = size.div_ceil(page);
        for number in 0..parts {
            let pages = number * PAGES..((number + 1) * PAGES).min(pages);
            if let Some(has_data) = has_data(pages.start as u32..pages.end as u32) {
                uniform.found(&(number * part..(number + 1) * part), has_data);
            }
        }
        uniform
    }

    /// Number of bytes, from the start of a range, that are known to be uniform, and whether they hold data. None if that is
    /// not known.
    pub(crate) fn from(&self, range: &Range<u64>) -> Option<(u64, bool)> {
        let first = range.start / self.part;
        let has_data = self.full.get(first);
        let bits = if has_data { &self.full } else { &self.empty };
        let mut at = range.start;
        while at < range.end && bits.get(at / self.part) {
            at = (at / self.part + 1) * self.part;
        }
        let bytes = at.min(range.end) - range.start;
        (bytes > 0).then_some((bytes, has_data))
    }

    /// The part that begins at an address, if one does.
    pub(crate) fn part_at(&self, at: u64) -> Option<Range<u64>> {
        at.is_multiple_of(self.part).then_some(at..at + self.part)
    }

    /// Note that a part was found to be empty, or to hold data everywhere.
    pub(crate) fn found(&mut self, part: &Range<u64>, has_data: bool) {
        let number = part.start / self.part;
        self.empty.set(number, !has_data);
        self.full.set(number, has_data);
    }

    /// Note that a range was written.
    pub(crate) fn write(&mut self, range: &Range<u64>) {
        self.parts(range).for_each(|number| self.empty.set(number, false));
    }

    /// Note that a range was trimmed.
    pub(crate) fn trim(&mut self, range: &Range<u64>) {
        self.parts(range).for_each(|number| self.full.set(number, false));
    }

    fn parts(&self, range: &Range<u64>) -> Range<u64> {
        range.start / self.part..range.end.div_ceil(self.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_range_is_no_hole_until_found_to_be_one() {
        let part = 4 * PAGES;
        let mut uniform = Uniform::new(10 * part, 4, |_| Some(false));
        assert_eq!(uniform.from(&(3..10 * part)), Some((10 * part - 3, false)));
        uniform.write(&(2 * part - 1..2 * part + 1));
        assert_eq!(uniform.from(&(0..10 * part)), Some((part, false)));
        assert_eq!(uniform.from(&(2 * part..10 * part)), None);
        assert_eq!(uniform.part_at(part), Some(part..2 * part));
        uniform.found(&(part..2 * part), false);
        assert_eq!((uniform.from(&(0..10 * part)), uniform.part_at(1)), (Some((2 * part, false)), None));
        let uniform = Uniform::new(3 * part - 4, 4, |pages| (pages != (0..PAGES as u32)).then_some(false));
        assert_eq!(
            [0, part].map(|from| uniform.from(&(from..3 * part - 4))),
            [None, Some((2 * part - 4, false))]
        );
    }

    #[test]
    fn trimmed_range_is_not_full_until_found_to_be() {
        let part = 4 * PAGES;
        let is_low = |pages: Range<u32>| Some(pages.end <= 5 * PAGES as u32);
        let mut uniform = Uniform::new(10 * part, 4, is_low);
        assert_eq!(uniform.from(&(7..10 * part)), Some((5 * part - 7, true)));
        assert_eq!(uniform.from(&(5 * part..10 * part)), Some((5 * part, false)));
        uniform.write(&(0..10 * part));
        assert_eq!(uniform.from(&(0..10 * part)), Some((5 * part, true)), "still full");
        assert_eq!(uniform.from(&(5 * part..10 * part)), None);
        uniform.trim(&(part..part + 1));
        assert_eq!(uniform.from(&(0..10 * part)), Some((part, true)));
        uniform.trim(&(0..0));
        assert_eq!(uniform.from(&(part..10 * part)), None);
        uniform.found(&(part..2 * part), true);
        assert_eq!(uniform.from(&(0..10 * part)), Some((5 * part, true)));
        uniform.found(&(0..part), false);
        assert_eq!(uniform.from(&(0..10 * part)), Some((part, false)));
    }
}
