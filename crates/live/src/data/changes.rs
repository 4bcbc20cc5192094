//! Changes of media since the last commit to their folder.

use crate::data::lately::Copied;
use crate::data::row_id::row_id;
use std::collections::{BTreeMap, BTreeSet};
use wordline_ftl::PageData;
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};

/// A sector in protected RAM: its version, and the page that contains its bytes.
pub(crate) type Protected = (u64, PageData);

/// What has changed of media between two commits to their folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Blocks whose state has changed.
    pub blocks: BTreeSet<BlockId>,
    /// Blocks that were erased, and the slots of each as a shift.
    pub emptied: BTreeMap<BlockId, u32>,
    /// Programmed pages, and the first part of each that has not been written.
    pub pages: BTreeMap<Ppn, usize>,
    /// Parts of pages whose bytes newer writes have replaced, by row number.
    pub replaced: BTreeSet<u64>,
    /// Programmed pages whose bytes the folder has already, by row number.
    pub copied: BTreeMap<u64, Copied>,
    /// Programmed pages of the trim log.
    pub trim_pages: BTreeSet<Ppn>,
    /// Data added to protected RAM, by logical page and sector.
    pub writes: BTreeMap<u64, Protected>,
    /// Trims, by entry of the trim log.
    pub trims: BTreeMap<u64, u64>,
    /// Whether `trims` is the complete list, because a power cut has undone other trims.
    pub trims_are_all: bool,
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        let Changes { blocks, emptied, pages, replaced, copied, trim_pages, writes, trims, trims_are_all } =
            self;
        blocks.is_empty()
            && emptied.is_empty()
            && pages.is_empty()
            && replaced.is_empty()
            && copied.is_empty()
            && trim_pages.is_empty()
            && writes.is_empty()
            && trims.is_empty()
            && !trims_are_all
    }
}

/// Collects what has changed of media since the last commit to their folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uncommitted(Changes);

impl Uncommitted {
    /// Take the changes, because they are committed now.
    pub(crate) fn take(&mut self) -> Changes {
        std::mem::take(&mut self.0)
    }

    /// Number of changed pages and blocks.
    pub(crate) fn count(&self) -> usize {
        self.0.pages.len() + self.0.blocks.len()
    }

    /// Note that the state of a block has changed.
    pub(crate) fn change(&mut self, block: BlockId) {
        self.0.blocks.insert(block);
    }

    /// Note that a page was programmed from this part on.
    pub(crate) fn program(&mut self, ppn: Ppn, part: usize) {
        self.0.pages.entry(ppn).or_insert(part);
    }

    /// Note that the folder has the bytes of a page's part already.
    pub(crate) fn copy(&mut self, ppn: Ppn, part: usize, from: Copied) {
        self.0.copied.insert(row_id(ppn.0, part), from);
    }

    /// Note that newer writes have replaced the bytes of a page's part.
    pub(crate) fn replace(&mut self, ppn: Ppn, part: usize) {
        self.0.replaced.insert(row_id(ppn.0, part));
    }

    /// Note that a page of the trim log was programmed.
    pub(crate) fn record_trims(&mut self, ppn: Ppn) {
        self.0.trim_pages.insert(ppn);
    }

    /// Note that a block was erased. Its changes since the last commit are discarded with its contents.
    pub(crate) fn empty(&mut self, block: BlockId, slot_shift: u32) {
        let places = Ppn(block.0 << slot_shift)..Ppn((block.0 + 1) << slot_shift);
        let pages: Vec<Ppn> = self.0.pages.range(places.clone()).map(|(ppn, _)| *ppn).collect();
        for ppn in pages {
            self.0.pages.remove(&ppn);
        }
        let parts = row_id(places.start.0, 0)..row_id(places.end.0, 0);
        let replaced: Vec<u64> = self.0.replaced.range(parts.clone()).copied().collect();
        let copied: Vec<u64> = self.0.copied.range(parts).map(|(part, _)| *part).collect();
        for part in replaced.into_iter().chain(copied) {
            self.0.replaced.remove(&part);
            self.0.copied.remove(&part);
        }
        self.0.trim_pages.retain(|ppn| !places.contains(ppn));
        self.0.blocks.insert(block);
        self.0.emptied.insert(block, slot_shift);
    }

    /// Note that sectors of a page have entered protected RAM.
    pub(crate) fn protect(&mut self, lpn: Lpn, mask: SectorMask, version: u64, page: &PageData) {
        for sector in mask.iter() {
            let new = || (version, page.clone());
            let at = self.0.writes.entry(row_id(lpn.0, sector as usize)).or_insert_with(new);
            if at.0 <= version {
                *at = new();
            }
        }
    }

    /// Note that trims have entered protected RAM.
    pub(crate) fn protect_trims(&mut self, trims: &[(u64, u64)]) {
        for (entry, version) in trims {
            let newest = self.0.trims.entry(*entry).or_default();
            *newest = (*version).max(*newest);
        }
    }

    /// Note that protected RAM has exactly these trims, after a power cut.
    pub(crate) fn replace_trims(&mut self, trims: Vec<(u64, u64)>) {
        (self.0.trims, self.0.trims_are_all) = (trims.into_iter().collect(), true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::row_id::of_row_id;

    #[test]
    fn erase_drops_data_of_its_own_block_only() {
        let mut uncommitted = Uncommitted::default();
        for ppn in [7, 8, 11, 12] {
            uncommitted.program(Ppn(ppn), 0);
            uncommitted.record_trims(Ppn(ppn));
            uncommitted.replace(Ppn(ppn), 1);
        }
        uncommitted.empty(BlockId(2), 2);
        let changes = uncommitted.take();
        assert_eq!(changes.pages.keys().collect::<Vec<_>>(), [&Ppn(7), &Ppn(12)]);
        assert_eq!(changes.trim_pages.len(), 2);
        assert_eq!(changes.replaced, [row_id(7, 1), row_id(12, 1)].into());
        assert_eq!(changes.emptied.get(&BlockId(2)), Some(&2));
    }

    #[test]
    fn of_one_sector_the_newest_version_stays() {
        let mut uncommitted = Uncommitted::default();
        let page = |byte: u8| PageData::from(vec![byte; 8]);
        uncommitted.protect(Lpn(3), SectorMask(0b11), 5, &page(5));
        uncommitted.protect(Lpn(3), SectorMask(0b10), 4, &page(4));
        uncommitted.protect(Lpn(3), SectorMask(0b01), 6, &page(6));
        let writes = uncommitted.take().writes;
        let found: Vec<_> = writes.iter().map(|(at, (v, page))| (of_row_id(*at), *v, page[0])).collect();
        assert_eq!(found, [((3, 0), 6, 6), ((3, 1), 5, 5)]);
    }
}
