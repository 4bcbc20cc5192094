//! Stack distances of pages with sparse numbers. The number of pages is not known in advance: pages are
//! numbered as they appear, and the stack grows with them.

use rustc_hash::FxHashMap;
use wordline_reuse::LruStack;

/// Initial capacity in pages.
const FIRST: usize = 1 << 12;

/// Pages in the order of their last use.
#[derive(Clone)]
pub(crate) struct PageStack {
    numbers: FxHashMap<u64, u32>,
    stack: LruStack,
    room: usize,
}

impl Default for PageStack {
    fn default() -> PageStack {
        PageStack { numbers: FxHashMap::default(), stack: LruStack::new(FIRST), room: FIRST }
    }
}

impl PageStack {
    /// Access a page. Returns how many other pages were accessed since its last access. Nothing the first
    /// time.
    #[inline]
    pub fn access(&mut self, page: u64) -> Option<u32> {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(page).or_insert(next);
        if number as usize == self.room {
            self.grow();
        }
        self.stack.touch(number)
    }

    /// Whether the page has been accessed.
    #[inline]
    pub fn contains(&self, page: u64) -> bool {
        self.numbers.contains_key(&page)
    }

    /// Number of distinct pages so far.
    pub fn pages(&self) -> u64 {
        self.numbers.len() as u64
    }

    #[cold]
    fn grow(&mut self) {
        let latest_first: Vec<u32> = self.stack.iter().collect();
        self.room *= 2;
        self.stack = LruStack::new(self.room);
        for number in latest_first.into_iter().rev() {
            self.stack.touch(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_trace::RandomStream;

    #[test]
    fn distances_stay_right_while_the_stack_grows() {
        let (mut pages, mut whole) = (PageStack::default(), LruStack::new(20_000));
        let mut random = RandomStream::new(1, "test");
        for i in 0..60_000u64 {
            let page = random.below(1 + i / 3);
            assert_eq!(pages.access(page << 20), whole.touch(page as u32), "{i}");
        }
        assert!(pages.pages() == whole.len() as u64 && pages.pages() > 2 * FIRST as u64);
    }
}
