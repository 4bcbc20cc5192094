//! Memory of pages that newer writes have replaced, kept for the next ones: a client that overwrites its data needs no new
//! memory of the system, and its data are received into pages that need not be cleared first.

use crate::lock;
use std::collections::VecDeque;
use std::sync::Mutex;
use wordline_ftl::PageData;

/// Maximum bytes that are kept. What is above it returns to the allocator.
const MOST: usize = 16 << 20;

/// Pages of one length that nobody uses, with whatever bytes they have.
#[derive(Default)]
pub(crate) struct PageMemory {
    state: Mutex<Unused>,
}

#[derive(Default)]
struct Unused {
    /// Bytes of each page; 0 until one is asked for.
    length: usize,
    pages: VecDeque<PageData>,
}

impl PageMemory {
    /// Pages of this many bytes, of which the caller overwrites all. Nobody else has them.
    pub(crate) fn take(&self, count: usize, bytes: usize) -> Vec<PageData> {
        let mut state = lock(&self.state);
        if state.length != bytes {
            *state = Unused { length: bytes, pages: VecDeque::new() };
        }
        let found = count.min(state.pages.len());
        let mut taken: Vec<PageData> = state.pages.drain(..found).collect();
        drop(state);
        // No page is in the CPU cache: looked at together, they are fetched in parallel.
        taken.retain(|page| !page.is_shared());
        taken.resize_with(count, || PageData::blank(bytes));
        taken
    }

    /// A page of this many bytes, of which the caller overwrites all; it is not shared.
    pub(crate) fn one(&self, bytes: usize) -> PageData {
        let found = {
            let mut state = lock(&self.state);
            if state.length == bytes { state.pages.pop_front() } else { None }
        };
        found.filter(|page| !page.is_shared()).unwrap_or_else(|| PageData::blank(bytes))
    }

    /// Keep a page that is no longer used here. An older copy on flash or another drive may still share it; whether
    /// that is so is looked at when it is taken, the longest kept first.
    pub(crate) fn put(&self, page: PageData) {
        let mut state = lock(&self.state);
        if page.len() == state.length && (state.pages.len() + 1) * state.length <= MOST {
            state.pages.push_back(page);
        }
    }

    /// Give up what is above this many bytes.
    pub(crate) fn keep_at_most(&self, bytes: u64) {
        let mut state = lock(&self.state);
        let most = bytes.checked_div(state.length as u64).unwrap_or(0);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        state.pages.truncate(most);
    }

    /// Bytes that are kept.
    pub(crate) fn bytes(&self) -> u64 {
        let state = lock(&self.state);
        (state.pages.len() * state.length) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unshared_page_is_reused_and_no_other() {
        let memory = PageMemory::default();
        let page = memory.take(1, 4096).remove(0);
        let at = page.as_ptr();
        let fork = page.clone();
        memory.put(page);
        assert!(memory.one(512).len() == 512 && memory.bytes() == 4096, "of another length");
        let taken = memory.take(1, 4096);
        assert!(taken[0].as_ptr() != at && memory.bytes() == 0, "a fork has it");
        memory.put(PageData::blank(512));
        assert_eq!(memory.bytes(), 0, "of another length");
        memory.put(fork.clone());
        drop(fork);
        assert_eq!(memory.bytes(), 4096);
        let taken = memory.take(2, 4096);
        assert_eq!((taken[0].as_ptr(), taken[1].len(), memory.bytes()), (at, 4096, 0));
        let other = taken[1].clone();
        taken.into_iter().for_each(|page| memory.put(page));
        assert_eq!(memory.one(4096).as_ptr(), at);
        assert!(memory.one(4096).as_ptr() != other.as_ptr() && memory.bytes() == 0, "shared");
    }

    #[test]
    fn no_more_is_kept_than_the_maximum() {
        let memory = PageMemory::default();
        let pages = memory.take(MOST / (1 << 20) + 3, 1 << 20);
        pages.into_iter().for_each(|page| memory.put(page));
        assert_eq!(memory.bytes(), MOST as u64);
        memory.keep_at_most((3 << 20) + 5);
        assert_eq!(memory.bytes(), 3 << 20);
        memory.take(1, 4096);
        assert_eq!(memory.bytes(), 0, "pages of another length are given up");
    }
}
