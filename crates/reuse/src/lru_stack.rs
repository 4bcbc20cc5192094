//! Pages in order of their last use, with exact stack distances: how many other pages were used since the
//! last use of a page. A cache of `n` pages under LRU holds a page exactly if its distance is below `n`, so
//! one pass yields the hits of every size (Mattson et al., IBM Systems Journal 9(2), 1970).
//!
//! A used page takes the next time slot and leaves its old one. A bitmap marks the occupied slots; they are
//! counted in groups of a cache line, and in blocks of groups by a Fenwick tree. A distance is then a walk up
//! a tree that fits the L1 cache, a short sum and some population counts: O(log n), with one access to
//! distant memory. When the slots are used up, the pages are compacted in order, which is O(1) per use.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Words of a group: 512 slots, a cache line.
const WORDS: usize = 8;
const GROUP: usize = WORDS * 64;
/// Groups of a block.
const GROUPS: usize = 64;
const BLOCK: usize = GROUPS * GROUP;

/// The order of last use of the pages below a number.
#[derive(Clone, Debug)]
pub struct LruStack {
    /// A bit for each page in the order: small enough for a near cache, unlike the slots.
    present: Vec<u64>,
    /// By page; undefined for a page that is not in the order.
    slots: Vec<u32>,
    /// By slot; undefined for a free slot.
    pages: Vec<u32>,
    /// A bit for each slot that is taken.
    taken: Vec<u64>,
    /// Taken slots by group.
    groups: Vec<u16>,
    /// Taken slots by block, as a Fenwick tree.
    tree: Vec<u32>,
    /// The first slot that was never taken.
    next: usize,
    /// No slot of a lower word is taken.
    low: usize,
    count: u32,
}

impl LruStack {
    /// An empty order of pages below `pages`, which is below 2^30.
    ///
    /// # Panics
    /// When `pages` is larger.
    pub fn new(pages: usize) -> LruStack {
        assert!(pages < 1 << 30, "{pages} pages do not fit in slots of 32 bits");
        // As many free slots as pages, so that moving together is rare.
        let groups = (2 * pages).div_ceil(GROUP).max(2);
        LruStack {
            present: vec![0; pages.div_ceil(64)],
            slots: vec![0; pages],
            pages: vec![0; groups * GROUP],
            taken: vec![0; groups * WORDS],
            groups: vec![0; groups],
            tree: vec![0; groups.div_ceil(GROUPS)],
            next: 0,
            low: 0,
            count: 0,
        }
    }

    /// Number of pages in the order.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Uses a page: it is the latest now. Returns its previous distance, or nothing if it was not in the
    /// order.
    ///
    /// # Panics
    /// If the page is not below the number given to [`LruStack::new`].
    #[inline]
    pub fn touch(&mut self, page: u32) -> Option<u32> {
        let distance = self.distance(page);
        self.renew(page);
        distance
    }

    /// The same without the distance, which is faster; returns whether it was in the order.
    ///
    /// # Panics
    /// As [`LruStack::touch`].
    #[inline]
    pub fn renew(&mut self, page: u32) -> bool {
        let slot = self.slots[page as usize] as usize;
        let was_here = self.contains(page);
        if was_here {
            self.free(slot);
        } else {
            self.present[page as usize / 64] |= 1 << (page % 64);
            self.count += 1;
        }
        if self.next == self.pages.len() {
            self.move_together();
        }
        let slot = self.next;
        self.next += 1;
        self.slots[page as usize] = slot as u32;
        self.pages[slot] = page;
        self.taken[slot / 64] |= 1 << (slot % 64);
        self.groups[slot / GROUP] += 1;
        self.add(slot / BLOCK, 1);
        was_here
    }

    /// Whether a page is in the order.
    #[inline]
    pub fn contains(&self, page: u32) -> bool {
        self.present.get(page as usize / 64).is_some_and(|word| word >> (page % 64) & 1 == 1)
    }

    /// Number of other pages used since this one; nothing if it is not in the order.
    #[inline]
    pub fn distance(&self, page: u32) -> Option<u32> {
        self.contains(page).then(|| self.above(self.slots[page as usize] as usize))
    }

    /// Removes a page; returns whether it was in the order.
    pub fn remove(&mut self, page: u32) -> bool {
        if !self.contains(page) {
            return false;
        }
        self.present[page as usize / 64] &= !(1 << (page % 64));
        self.free(self.slots[page as usize] as usize);
        self.count -= 1;
        true
    }

    /// The page whose last use is longest ago.
    pub fn coldest(&mut self) -> Option<u32> {
        while let Some(word) = self.taken.get(self.low) {
            if *word != 0 {
                return Some(self.pages[self.low * 64 + word.trailing_zeros() as usize]);
            }
            self.low += 1;
        }
        self.low = 0;
        None
    }

    /// The pages, the latest first.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let slots = (0..self.next).rev().filter(|s| self.taken[s / 64] >> (s % 64) & 1 == 1);
        slots.map(|s| self.pages[s])
    }

    /// The pages, the coldest first.
    pub fn coldest_first(&self) -> impl Iterator<Item = u32> {
        let words = (self.low..self.taken.len()).filter(|at| self.taken[*at] != 0);
        words.flat_map(move |at| {
            let bits = (0..64).filter(move |bit| self.taken[at] >> bit & 1 == 1);
            bits.map(move |bit| self.pages[at * 64 + bit])
        })
    }

    /// Pages in slots above this one.
    #[inline]
    fn above(&self, slot: usize) -> u32 {
        let (block, group, word) = (slot / BLOCK, slot / GROUP, slot / 64);
        let mut through: u32 = self.groups[block * GROUPS..group].iter().map(|n| *n as u32).sum();
        let mut at = block;
        while at > 0 {
            through += self.tree[at - 1];
            at &= at - 1;
        }
        for w in &self.taken[group * WORDS..word] {
            through += w.count_ones();
        }
        let upto = u64::MAX >> (63 - slot % 64);
        through += (self.taken[word] & upto).count_ones();
        self.count - through
    }

    #[inline]
    fn free(&mut self, slot: usize) {
        self.taken[slot / 64] &= !(1 << (slot % 64));
        self.groups[slot / GROUP] -= 1;
        self.add(slot / BLOCK, u32::MAX);
    }

    /// Adds to the count of a block, modulo 2^32.
    #[inline]
    fn add(&mut self, block: usize, n: u32) {
        let mut at = block;
        while let Some(sum) = self.tree.get_mut(at) {
            *sum = sum.wrapping_add(n);
            at |= at + 1;
        }
    }

    #[cold]
    fn move_together(&mut self) {
        let mut next = 0;
        for word in 0..self.taken.len() {
            let mut bits = std::mem::take(&mut self.taken[word]);
            while bits != 0 {
                let page = self.pages[word * 64 + bits.trailing_zeros() as usize];
                self.pages[next] = page;
                self.slots[page as usize] = next as u32;
                next += 1;
                bits &= bits - 1;
            }
        }
        self.taken[..next / 64].fill(u64::MAX);
        if !next.is_multiple_of(64) {
            self.taken[next / 64] = (1 << (next % 64)) - 1;
        }
        self.tree.fill(0);
        for (group, count) in self.groups.iter_mut().enumerate() {
            *count = next.saturating_sub(group * GROUP).min(GROUP) as u16;
        }
        for block in 0..self.tree.len() {
            let count = next.saturating_sub(block * BLOCK).min(BLOCK) as u32;
            self.tree[block] += count;
            let (sum, parent) = (self.tree[block], block | (block + 1));
            if let Some(parent) = self.tree.get_mut(parent) {
                *parent += sum;
            }
        }
        (self.next, self.low) = (next, 0);
    }
}

/// As the pages below the number in order, from which slots follow.
impl Serialize for LruStack {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (self.slots.len(), self.coldest_first().collect::<Vec<u32>>()).serialize(to)
    }
}

impl<'de> Deserialize<'de> for LruStack {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<LruStack, D::Error> {
        let (pages, order) = <(usize, Vec<u32>)>::deserialize(from)?;
        if pages >= 1 << 30 || order.iter().any(|page| *page as usize >= pages) {
            return Err(serde::de::Error::custom(format!("an order of {pages} pages names a later one")));
        }
        let mut stack = LruStack::new(pages);
        for page in order {
            stack.touch(page);
        }
        Ok(stack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn distances_and_order_are_those_of_a_plain_list(
            uses in prop::collection::vec((0u8..10, 0u32..700), 1..6_000),
            pages in 1u32..700,
        ) {
            let mut stack = LruStack::new(pages as usize);
            // The latest first.
            let mut list: Vec<u32> = Vec::new();
            for (what, page) in uses {
                let page = page % pages;
                let at = list.iter().position(|p| *p == page);
                prop_assert_eq!(stack.distance(page), at.map(|at| at as u32));
                if what == 0 {
                    prop_assert_eq!(stack.remove(page), at.is_some());
                } else {
                    prop_assert_eq!(stack.touch(page), at.map(|at| at as u32));
                }
                if let Some(at) = at {
                    list.remove(at);
                }
                if what > 0 {
                    list.insert(0, page);
                }
                prop_assert_eq!((stack.len(), stack.coldest()), (list.len(), list.last().copied()));
            }
            let written = serde_json::to_string(&stack).unwrap();
            let read: LruStack = serde_json::from_str(&written).unwrap();
            prop_assert_eq!(read.iter().collect::<Vec<_>>(), stack.iter().collect::<Vec<_>>());
            prop_assert_eq!(stack.coldest_first().collect::<Vec<_>>(), list.iter().rev().copied().collect::<Vec<_>>());
            prop_assert_eq!(stack.iter().collect::<Vec<_>>(), list);
            prop_assert_eq!(stack.distance(pages), None);
        }
    }

    #[test]
    fn distances_hold_over_many_blocks() {
        // Each page is used after all others, twice as many times as there are slots.
        let pages = 3 * BLOCK as u32;
        let mut stack = LruStack::new(pages as usize);
        for use_of in 0..6 * pages {
            let distance = stack.touch(use_of % pages);
            assert_eq!(distance, (use_of >= pages).then_some(pages - 1));
        }
        assert_eq!((stack.coldest(), stack.distance(pages / 2)), (Some(0), Some(pages / 2 - 1)));
    }

    #[test]
    fn one_page_used_for_ever_and_no_page_at_all() {
        let mut stack = LruStack::new(1);
        assert_eq!(stack.touch(0), None);
        assert!((0..5_000).all(|_| stack.touch(0) == Some(0)));
        let mut none = LruStack::new(0);
        assert!(none.is_empty() && none.coldest().is_none() && none.distance(0).is_none() && !none.remove(0));
    }
}
