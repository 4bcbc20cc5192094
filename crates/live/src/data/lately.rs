//! Pages that were read from the folder lately. Of a page that the drive stores at another place as it was read, the folder has
//! the bytes already: the new place shares them.

use crate::data::places::{Place, Source};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use wordline_ftl::PageData;

/// Most bytes of pages that are remembered.
const MOST: u64 = 4 << 20;

/// The bytes of a page's part, as they were found.
#[derive(Clone, Debug)]
pub(crate) struct Copied {
    /// Its row number.
    pub id: u64,
    pub place: Place,
}

/// Pages that were read lately. As long as one is remembered, nobody changes its bytes: whoever has the same memory has the same
/// bytes.
#[derive(Default)]
pub(crate) struct Lately {
    pages: VecDeque<PageData>,
    by_memory: FxHashMap<usize, Copied>,
    bytes: u64,
}

impl Lately {
    /// Remember a page. Returns one that is forgotten.
    pub(crate) fn note(&mut self, page: &PageData, id: u64, place: Place) -> Option<PageData> {
        if page.is_empty() || !matches!(place.source, Source::Pages(_)) {
            return None;
        }
        self.by_memory.insert(page.as_ptr() as usize, Copied { id, place });
        self.pages.push_back(page.clone());
        self.bytes += page.len() as u64;
        let forgotten = if self.bytes > MOST { self.pages.pop_front() } else { None }?;
        self.bytes -= forgotten.len() as u64;
        self.by_memory.remove(&(forgotten.as_ptr() as usize));
        Some(forgotten)
    }

    /// Where the bytes of a page are, if they are those that were read.
    pub(crate) fn find(&self, page: &PageData) -> Option<&Copied> {
        if page.is_empty() { None } else { self.by_memory.get(&(page.as_ptr() as usize)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::places::Extent;

    #[test]
    fn a_page_is_known_by_its_memory_until_it_is_forgotten() {
        let place =
            |at| Place { source: Source::Pages(1), extent: Extent { at, length: 1 << 20 }, checksum: 0 };
        let mut lately = Lately::default();
        let pages: Vec<PageData> = (0..5).map(|_| PageData::blank(1 << 20)).collect();
        for (at, page) in pages.iter().enumerate() {
            let forgotten = lately.note(page, at as u64, place(at as u64));
            assert_eq!(forgotten.is_some(), at == 4, "{at}");
        }
        let ids: Vec<_> = pages.iter().map(|page| lately.find(page).map(|copied| copied.id)).collect();
        assert_eq!(ids, [None, Some(1), Some(2), Some(3), Some(4)]);
        assert!(lately.find(&PageData::blank(1 << 20)).is_none(), "the same bytes in other memory");
        assert!(lately.find(&PageData::default()).is_none());
        let mut own = pages[1].clone();
        assert!(own.get_mut().is_none(), "nobody changes it");
    }
}
