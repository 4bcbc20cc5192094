//! Sets of pages in a sparse address space. A chunk of 32,768 pages has a bitmap if some of its pages are in
//! the set, a mark if all are, and nothing otherwise. Sets count distinct pages for statistics. Ranked sets
//! renumber touched pages densely (`--fit compact`).

use rustc_hash::FxHashMap;
use std::ops::Range;

const CHUNK_BITS: u32 = 15;
const CHUNK: u64 = 1 << CHUNK_BITS;
const WORDS: usize = 1 << (CHUNK_BITS - 6);
/// Marks a full chunk, in place of the number of a bitmap.
const FULL: u32 = u32::MAX;

/// A chunk of pages.
#[derive(Clone, Copy)]
struct Chunk {
    /// Number of its bitmap, or [`FULL`].
    bitmap: u32,
    count: u32,
}

/// A set of pages. Page numbers are below 2^56. A chunk of 128 MiB (of 4 KiB pages) takes 4 KiB while it is
/// partly in the set, and about 24 bytes when it is full, so the cost of a long request is limited to its two
/// ends.
#[derive(Clone, Default)]
pub struct PageSet {
    /// Chunk numbers, by position.
    places: FxHashMap<u64, u32>,
    chunks: Vec<Chunk>,
    bitmaps: Vec<[u64; WORDS]>,
    /// Free bitmaps, of chunks that became full.
    unused: Vec<u32>,
    last: Option<(u64, u32)>,
    count: u64,
}

/// Sets consecutive bits and returns how many were not set.
#[inline]
fn set(bitmap: &mut [u64; WORDS], mut bit: usize, mut left: usize) -> u32 {
    let mut fresh = 0;
    while left > 0 {
        let n = left.min(64 - bit % 64);
        let wanted = (u64::MAX >> (64 - n)) << (bit % 64);
        let word = &mut bitmap[bit / 64];
        fresh += (wanted & !*word).count_ones();
        *word |= wanted;
        bit += n;
        left -= n;
    }
    fresh
}

impl PageSet {
    #[inline]
    fn chunk(&mut self, key: u64) -> usize {
        let at = match self.last {
            Some((k, at)) if k == key => at,
            _ => {
                let next = self.chunks.len() as u32;
                let at = *self.places.entry(key).or_insert(next);
                if at == next {
                    let bitmap = self.unused.pop().unwrap_or_else(|| {
                        self.bitmaps.push([0; WORDS]);
                        self.bitmaps.len() as u32 - 1
                    });
                    self.chunks.push(Chunk { bitmap, count: 0 });
                }
                self.last = Some((key, at));
                at
            }
        };
        at as usize
    }

    /// Adds a range of pages.
    #[inline]
    pub fn insert(&mut self, pages: Range<u64>) {
        self.add(pages);
    }

    /// Adds a range of pages and returns how many of them were not in the set.
    #[inline]
    pub fn add(&mut self, pages: Range<u64>) -> u64 {
        let (mut page, mut all) = (pages.start, 0);
        while page < pages.end {
            let key = page >> CHUNK_BITS;
            let end = pages.end.min((key + 1) << CHUNK_BITS);
            let at = self.chunk(key);
            let chunk = &mut self.chunks[at];
            if chunk.bitmap != FULL {
                let bitmap = &mut self.bitmaps[chunk.bitmap as usize];
                let fresh = set(bitmap, (page % CHUNK) as usize, (end - page) as usize);
                chunk.count += fresh;
                all += fresh as u64;
                if chunk.count as u64 == CHUNK {
                    *bitmap = [0; WORDS];
                    self.unused.push(std::mem::replace(&mut chunk.bitmap, FULL));
                }
            }
            page = end;
        }
        self.count += all;
        all
    }

    fn bitmap(&self, chunk: Chunk) -> &[u64; WORDS] {
        static ALL: [u64; WORDS] = [u64::MAX; WORDS];
        self.bitmaps.get(chunk.bitmap as usize).unwrap_or(&ALL)
    }

    /// Whether a page is in the set.
    pub fn contains(&self, page: u64) -> bool {
        let chunk = self.places.get(&(page >> CHUNK_BITS)).map(|at| self.chunks[*at as usize]);
        let bit = (page % CHUNK) as usize;
        chunk.is_some_and(|c| self.bitmap(c)[bit / 64] >> (bit % 64) & 1 == 1)
    }

    /// How many pages are in the set.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn keys(&self) -> Vec<(u64, u32)> {
        let mut keys: Vec<_> = self.places.iter().map(|(k, at)| (*k, *at)).collect();
        keys.sort_unstable();
        keys
    }

    /// The pages as ascending runs, adjoining ones joined.
    pub fn runs(&self) -> Vec<Range<u64>> {
        let mut runs: Vec<Range<u64>> = Vec::new();
        for (key, at) in self.keys() {
            for (w, word) in self.bitmap(self.chunks[at as usize]).iter().enumerate() {
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

    /// Compute the rank of every page.
    pub fn ranked(self) -> RankedPages {
        let keys = self.keys();
        let mut before = vec![0u64; self.chunks.len()];
        let mut prefix = vec![[0u16; WORDS]; self.bitmaps.len()];
        let mut count = 0;
        for (_, at) in &keys {
            let chunk = self.chunks[*at as usize];
            before[*at as usize] = count;
            count += chunk.count as u64;
            let Some(prefix) = prefix.get_mut(chunk.bitmap as usize) else { continue };
            let mut inside = 0u16;
            for (place, word) in prefix.iter_mut().zip(self.bitmap(chunk)) {
                *place = inside;
                inside += word.count_ones() as u16;
            }
        }
        RankedPages { set: self, keys, before, prefix }
    }

    /// Memory of the set in bytes.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        // A map entry takes one more control byte, and a map is filled to seven eighths.
        self.places.capacity() * 8 / 7 * 17
            + self.chunks.capacity() * size_of::<Chunk>()
            + self.bitmaps.capacity() * size_of::<[u64; WORDS]>()
            + self.unused.capacity() * size_of::<u32>()
    }
}

/// A page set that can count its pages below any page.
pub struct RankedPages {
    set: PageSet,
    keys: Vec<(u64, u32)>,
    /// By chunk.
    before: Vec<u64>,
    /// By bitmap.
    prefix: Vec<[u16; WORDS]>,
}

impl RankedPages {
    /// How many pages are in the set.
    pub fn count(&self) -> u64 {
        self.set.count
    }

    /// How many pages of the set are below `page`.
    #[inline]
    pub fn rank(&self, page: u64) -> u64 {
        let key = page >> CHUNK_BITS;
        let Some(at) = self.set.places.get(&key) else {
            let next = self.keys.partition_point(|(k, _)| *k < key);
            return self.keys.get(next).map_or(self.count(), |(_, at)| self.before[*at as usize]);
        };
        let (before, chunk) = (self.before[*at as usize], self.set.chunks[*at as usize]);
        let bit = page % CHUNK;
        if chunk.bitmap == FULL {
            return before + bit;
        }
        let (bitmap, word) = (chunk.bitmap as usize, bit as usize / 64);
        let below = self.set.bitmaps[bitmap][word] & ((1 << (bit % 64)) - 1);
        before + self.prefix[bitmap][word] as u64 + below.count_ones() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Typical ranges of requests, and some that fill chunks.
    fn ranges() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((0u64..200_000, prop_oneof![8 => 1u64..3_000, 1 => 1u64..100_000]), 0..40)
    }

    #[test]
    fn hundred_4_gib_requests_over_16_tib_take_some_mib() {
        // Unaligned, so that each range ends within a chunk at both ends. One more page follows.
        const LONG: u64 = 1 << 20;
        let mut set = PageSet::default();
        for n in 0..100 {
            let start = n * (1 << 32) / 100 + n * 37;
            assert_eq!(set.add(start..start + LONG), LONG);
            assert_eq!(set.add(start..start + LONG + 1), 1);
        }
        assert_eq!(set.count(), 100 * (LONG + 1));
        assert!(set.bytes() < 2 << 20, "{} B", set.bytes());
        // The whole address space takes one number per chunk.
        (0..1 << 12).for_each(|n| set.insert(n * LONG..(n + 1) * LONG));
        assert_eq!(set.count(), 1 << 32);
        assert!(set.bytes() < 8 << 20, "{} B", set.bytes());
        assert!(set.runs().iter().eq([&(0..1 << 32)]));
        assert_eq!(set.ranked().rank(1 << 31), 1 << 31);
    }

    proptest! {
        #[test]
        fn a_page_set_agrees_with_a_plain_set(ranges in ranges(), far in 0u64..1 << 50) {
            let mut set = PageSet::default();
            let mut plain = BTreeSet::new();
            for (start, length) in ranges {
                for offset in [0, far] {
                    let known = plain.len() as u64;
                    let fresh = set.add(start + offset..start + offset + length);
                    plain.extend(start + offset..start + offset + length);
                    prop_assert_eq!(fresh, plain.len() as u64 - known);
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
