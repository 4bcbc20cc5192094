//! The read cache: which sectors of which pages the drive holds in RAM, least recently read dropped first. It only
//! determines timing; the data come from the map, since every change of a sector drops it here.

use lru::LruCache;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use wordline_units::{Lpn, SectorMask};

/// Pages by the last read, none where the drive has no such cache.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(into = "Saved", from = "Saved")]
pub(crate) struct ReadCache(Option<LruCache<u32, SectorMask, FxBuildHasher>>);

/// Its size, and its pages from the least recently read on.
#[derive(Clone, Serialize, Deserialize)]
struct Saved(usize, Vec<(u32, SectorMask)>);

impl From<ReadCache> for Saved {
    fn from(cache: ReadCache) -> Saved {
        let Some(pages) = cache.0 else { return Saved(0, vec![]) };
        Saved(pages.cap().get(), pages.iter().rev().map(|(lpn, mask)| (*lpn, *mask)).collect())
    }
}

impl From<Saved> for ReadCache {
    fn from(Saved(size, pages): Saved) -> ReadCache {
        let mut cache = ReadCache::of(size);
        pages.into_iter().for_each(|(lpn, mask)| cache.keep(Lpn(lpn), mask));
        cache
    }
}

impl ReadCache {
    /// A cache of this many pages.
    pub fn of(pages: usize) -> ReadCache {
        ReadCache(NonZeroUsize::new(pages).map(|pages| LruCache::with_hasher(pages, FxBuildHasher)))
    }

    /// Whether the drive has one.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// What of the wanted sectors of a page it holds; the page is then the most recently read.
    pub(crate) fn find(&mut self, lpn: Lpn, wanted: SectorMask) -> SectorMask {
        self.0.as_mut().and_then(|pages| pages.get(&lpn.0)).map_or(SectorMask::EMPTY, |held| held.and(wanted))
    }

    /// Sectors of a page have been read.
    pub(crate) fn keep(&mut self, lpn: Lpn, sectors: SectorMask) {
        if let Some(pages) = &mut self.0 {
            let held = pages.get_or_insert_mut(lpn.0, || SectorMask::EMPTY);
            *held = held.union(sectors);
        }
    }

    /// Sectors of a page have changed.
    #[inline(always)]
    pub fn drop(&mut self, lpn: Lpn, sectors: SectorMask) {
        if self.is_on() {
            self.invalidate(lpn, sectors);
        }
    }

    #[inline(never)]
    fn invalidate(&mut self, lpn: Lpn, sectors: SectorMask) {
        let Some(pages) = &mut self.0 else { return };
        let Some(held) = pages.peek_mut(&lpn.0) else { return };
        *held = held.minus(sectors);
        if held.is_empty() {
            pages.pop(&lpn.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: SectorMask = SectorMask(0b1111);

    // Sectors that change are dropped, too.
    #[test]
    fn least_recently_read_page_leaves_the_cache() {
        let mut cache = ReadCache::of(2);
        cache.keep(Lpn(1), SectorMask(0b0011));
        cache.keep(Lpn(1), SectorMask(0b0100));
        cache.keep(Lpn(2), ALL);
        assert_eq!(cache.find(Lpn(1), SectorMask(0b1100)), SectorMask(0b0100));
        cache.keep(Lpn(3), ALL);
        assert_eq!(
            (cache.find(Lpn(2), ALL), cache.find(Lpn(1), ALL)),
            (SectorMask::EMPTY, SectorMask(0b0111))
        );
        cache.drop(Lpn(1), SectorMask(0b0110));
        assert_eq!(cache.find(Lpn(1), ALL), SectorMask(1));
        // Saved and loaded it drops the same page next.
        let mut again = ReadCache::from(Saved::from(cache));
        again.keep(Lpn(4), ALL);
        assert_eq!((again.find(Lpn(3), ALL), again.find(Lpn(1), ALL)), (SectorMask::EMPTY, SectorMask(1)));
    }

    #[test]
    fn a_drive_without_one_finds_nothing() {
        let mut cache = ReadCache::of(0);
        cache.keep(Lpn(1), ALL);
        cache.drop(Lpn(1), ALL);
        assert!(!cache.is_on() && cache.find(Lpn(1), ALL).is_empty());
    }
}
