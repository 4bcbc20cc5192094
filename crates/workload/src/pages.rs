//! Sets of pages over a sparse address space: bitmaps of 32,768 pages where anything was touched,
//! nothing elsewhere. They count distinct pages for statistics, and ranked they renumber touched
//! pages densely (`--fit compact`).

use rustc_hash::FxHashMap;
use std::ops::Range;

const CHUNK_BITS: u32 = 15;
const WORDS: usize = 1 << (CHUNK_BITS - 6);

/// A set of pages. A page's number is below 2^56.
#[derive(Clone, Default)]
pub(crate) struct PageSet {
    chunks: FxHashMap<u64, u32>,
    bits: Vec<[u64; WORDS]>,
    last: Option<(u64, u32)>,
}

impl PageSet {
    #[inline]
    fn chunk(&mut self, key: u64) -> &mut [u64; WORDS] {
        let at = match self.last {
            Some((k, at)) if k == key => at,
            _ => {
                let next = self.bits.len() as u32;
                let at = *self.chunks.entry(key).or_insert(next);
                if at == next {
                    self.bits.push([0; WORDS]);
                }
                self.last = Some((key, at));
                at
            }
        };
        &mut self.bits[at as usize]
    }

    /// Adds a range of pages.
    #[inline]
    pub fn insert(&mut self, pages: Range<u64>) {
        let mut page = pages.start;
        while page < pages.end {
            let key = page >> CHUNK_BITS;
            let end = pages.end.min((key + 1) << CHUNK_BITS);
            let chunk = self.chunk(key);
            let mut bit = (page & ((1 << CHUNK_BITS) - 1)) as usize;
            let mut left = (end - page) as usize;
            while left > 0 {
                let n = left.min(64 - bit % 64);
                chunk[bit / 64] |= (u64::MAX >> (64 - n)) << (bit % 64);
                bit += n;
                left -= n;
            }
            page = end;
        }
    }

    /// Whether a page is in the set.
    pub fn contains(&self, page: u64) -> bool {
        let at = self.chunks.get(&(page >> CHUNK_BITS));
        let bit = (page & ((1 << CHUNK_BITS) - 1)) as usize;
        at.is_some_and(|at| self.bits[*at as usize][bit / 64] >> (bit % 64) & 1 == 1)
    }

    /// How many pages are in the set.
    pub fn count(&self) -> u64 {
        self.bits.iter().flatten().map(|w| w.count_ones() as u64).sum()
    }

    fn keys(&self) -> Vec<(u64, u32)> {
        let mut keys: Vec<_> = self.chunks.iter().map(|(k, at)| (*k, *at)).collect();
        keys.sort_unstable();
        keys
    }

    /// The pages as ascending runs, adjoining ones joined.
    pub fn runs(&self) -> Vec<Range<u64>> {
        let mut runs: Vec<Range<u64>> = Vec::new();
        for (key, at) in self.keys() {
            for (w, word) in self.bits[at as usize].iter().enumerate() {
                let mut word = *word;
                let base = (key << CHUNK_BITS) + w as u64 * 64;
                while word != 0 {
                    let low = word.trailing_zeros();
                    let length = (!(word >> low)).trailing_zeros();
                    let start = base + low as u64;
                    match runs.last_mut() {
                        Some(run) if run.end == start => run.end += length as u64,
                        _ => runs.push(start..start + length as u64),
                    }
                    let done = low + length;
                    word = if done == 64 { 0 } else { word >> done << done };
                }
            }
        }
        runs
    }

    /// The set with every page's rank at hand.
    pub fn ranked(self) -> RankedPages {
        let keys = self.keys();
        let mut before = vec![0u64; self.bits.len()];
        let mut prefix = vec![[0u16; WORDS]; self.bits.len()];
        let mut count = 0;
        for (_, at) in &keys {
            before[*at as usize] = count;
            let mut inside = 0u16;
            for (w, word) in self.bits[*at as usize].iter().enumerate() {
                prefix[*at as usize][w] = inside;
                inside += word.count_ones() as u16;
            }
            count += inside as u64;
        }
        RankedPages { set: self, keys, before, prefix, count }
    }
}

/// A page set that tells how many of its pages lie below any page.
pub(crate) struct RankedPages {
    set: PageSet,
    keys: Vec<(u64, u32)>,
    before: Vec<u64>,
    prefix: Vec<[u16; WORDS]>,
    count: u64,
}

impl RankedPages {
    /// How many pages are in the set.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many pages of the set are below `page`.
    #[inline]
    pub fn rank(&self, page: u64) -> u64 {
        let key = page >> CHUNK_BITS;
        let Some(at) = self.set.chunks.get(&key) else {
            let next = self.keys.partition_point(|(k, _)| *k < key);
            return self.keys.get(next).map_or(self.count, |(_, at)| self.before[*at as usize]);
        };
        let at = *at as usize;
        let bit = (page & ((1 << CHUNK_BITS) - 1)) as usize;
        let below = self.set.bits[at][bit / 64] & ((1 << (bit % 64)) - 1);
        self.before[at] + self.prefix[at][bit / 64] as u64 + below.count_ones() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_page_set_agrees_with_a_plain_set(ranges in prop::collection::vec((0u64..200_000, 1u64..3_000), 0..40), far in 0u64..1 << 50) {
            let mut set = PageSet::default();
            let mut plain = BTreeSet::new();
            for (start, length) in ranges {
                for offset in [0, far] {
                    set.insert(start + offset..start + offset + length);
                    plain.extend(start + offset..start + offset + length);
                }
            }
            prop_assert_eq!(set.count(), plain.len() as u64);
            let listed: Vec<u64> = set.runs().into_iter().flatten().collect();
            prop_assert_eq!(&listed, &plain.iter().copied().collect::<Vec<_>>());
            for pair in set.runs().windows(2) {
                prop_assert!(pair[0].end < pair[1].start);
            }
            let ranked = set.ranked();
            for (i, page) in plain.iter().enumerate().step_by(97) {
                prop_assert_eq!(ranked.rank(*page), i as u64);
            }
            for page in [0, 100_000, 250_000, far, far + 100_000, 1 << 51] {
                prop_assert_eq!(ranked.rank(page), plain.range(..page).count() as u64);
            }
        }
    }
}
