//! Numbers by logical page: a hash table with open addressing. Each write of the host enters it and leaves it, and a page
//! is found in one look in most cases.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wordline_units::Lpn;

/// Slots of an empty table, a power of two.
const LEAST_SLOTS: usize = 16;

/// A page and its number.
#[derive(Clone, Copy, Debug)]
struct Slot {
    page: Lpn,
    number: u32,
}

const FREE: Slot = Slot { page: Lpn::NONE, number: 0 };

/// Where a page stands once it is entered, if nothing changes before.
pub(crate) struct Vacant {
    page: Lpn,
    at: usize,
}

/// The table. A page stands in the slot of its hash, or in one behind it with no free one between.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "BTreeMap<u32, u32>", from = "BTreeMap<u32, u32>")]
pub(crate) struct PageIndex {
    /// A power of two of them, of which at most a quarter is in use.
    slots: Vec<Slot>,
    used: usize,
}

impl Default for PageIndex {
    fn default() -> PageIndex {
        PageIndex { slots: vec![FREE; LEAST_SLOTS], used: 0 }
    }
}

impl From<PageIndex> for BTreeMap<u32, u32> {
    fn from(index: PageIndex) -> BTreeMap<u32, u32> {
        index.iter().map(|(page, number)| (page.0, number)).collect()
    }
}

impl From<BTreeMap<u32, u32>> for PageIndex {
    fn from(numbers: BTreeMap<u32, u32>) -> PageIndex {
        let mut index = PageIndex::default();
        for (page, number) in numbers {
            if let Err(vacant) = index.look(Lpn(page)) {
                index.put(vacant, number);
            }
        }
        index
    }
}

impl PageIndex {
    /// Number of pages.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Whether it has no page.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// All pages with their numbers, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (Lpn, u32)> + '_ {
        self.slots.iter().filter(|slot| !slot.page.is_none()).map(|slot| (slot.page, slot.number))
    }

    /// The slot of a page's hash.
    #[inline(always)]
    fn home(&self, page: Lpn) -> usize {
        const SPREAD: u32 = 0x9e37_79b1; // 2^32 by the golden ratio
        let bits = self.slots.len().trailing_zeros();
        (page.0.wrapping_mul(SPREAD) >> (u32::BITS - bits)) as usize
    }

    #[inline(always)]
    fn behind(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    /// The slot in which a page stands, or the free one where it would.
    #[inline(always)]
    fn slot_of(&self, page: Lpn) -> usize {
        let mut at = self.home(page);
        while self.slots[at].page != page && !self.slots[at].page.is_none() {
            at = self.behind(at);
        }
        at
    }

    /// The number of a page.
    #[inline]
    pub fn find(&self, page: Lpn) -> Option<u32> {
        let slot = self.slots[self.slot_of(page)];
        (!slot.page.is_none()).then_some(slot.number)
    }

    /// The number of a page, or the place where [`Self::put`] enters it if it has none.
    #[inline(always)]
    pub fn look(&self, page: Lpn) -> Result<u32, Vacant> {
        let at = self.slot_of(page);
        let slot = self.slots[at];
        if slot.page.is_none() { Err(Vacant { page, at }) } else { Ok(slot.number) }
    }

    /// Enter a page where it was looked for, with its number.
    #[inline(always)]
    pub fn put(&mut self, Vacant { page, at }: Vacant, number: u32) {
        self.slots[at] = Slot { page, number };
        self.used += 1;
        if 4 * self.used > self.slots.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let more = vec![FREE; 2 * self.slots.len()];
        for slot in std::mem::replace(&mut self.slots, more) {
            if !slot.page.is_none() {
                let at = self.slot_of(slot.page);
                self.slots[at] = slot;
            }
        }
    }

    /// Remove a page, if it is there. Pages behind it move up, so that none stands behind a free slot.
    #[inline]
    pub fn remove(&mut self, page: Lpn) {
        let mut hole = self.slot_of(page);
        if self.slots[hole].page.is_none() {
            return;
        }
        let mut at = self.behind(hole);
        while !self.slots[at].page.is_none() {
            let last = self.slots.len() - 1;
            let off = at.wrapping_sub(self.home(self.slots[at].page)) & last;
            if off >= at.wrapping_sub(hole) & last {
                self.slots[hole] = self.slots[at];
                hole = at;
            }
            at = self.behind(at);
        }
        self.slots[hole] = FREE;
        self.used -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_hash::SplitMix64;

    #[test]
    fn index_agrees_with_an_ordered_map_at_each_step() {
        let (mut index, mut map) = (PageIndex::default(), BTreeMap::new());
        let mut random = SplitMix64::new(3);
        for step in 0..20_000 {
            // First it grows to some hundred pages, then it shrinks.
            let (bits, most) = (random.bits(), if step < 10_000 { 10 } else { 6 });
            let page = Lpn((bits >> 40) as u32 % 700);
            if bits % 16 < most {
                let number = index.look(page);
                assert_eq!(number.as_ref().ok(), map.get(&page.0));
                if let Err(vacant) = number {
                    index.put(vacant, step);
                    map.insert(page.0, step);
                }
            } else {
                index.remove(page);
                map.remove(&page.0);
            }
            let other = Lpn((bits >> 20) as u32 % 700);
            assert_eq!(index.find(other), map.get(&other.0).copied());
            assert_eq!((index.len(), index.is_empty()), (map.len(), map.is_empty()));
        }
        assert_eq!(BTreeMap::from(index.clone()), map);
        assert_eq!(BTreeMap::from(PageIndex::from(map.clone())), map);
        map.keys().for_each(|page| index.remove(Lpn(*page)));
        assert!(index.is_empty() && index.iter().next().is_none());
    }
}
