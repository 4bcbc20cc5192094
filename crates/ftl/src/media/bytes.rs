//! Media that keep the bytes of each page beside its metadata, in RAM.

use crate::file::saved::{Loader, Saver};
use crate::file::shared::SharedMap;
use crate::file::state_file::StateError;
use crate::media::error::MediaError;
use crate::media::found::{BlockHeader, Oob};
use crate::media::page::PageData;
use crate::media::seam::{Media, Metadata, places_of};
use crate::plan::span::Span;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use wordline_units::{BlockId, Lpn, Ppn};

/// Logical pages at one place, with their bytes: mostly one.
type Stored = SmallVec<[(Lpn, PageData); 1]>;

/// Media that keep metadata and bytes by physical place, so that a mapping fault shows as wrong data. A whole page is
/// not copied on its way to its place, nor by a fork. Bytes that a newer write has replaced are dropped before their
/// block is erased, so that a drive needs memory for what the host has written and not for all of its flash.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Bytes {
    metadata: Metadata,
    slots: SharedMap<Stored>,
}

impl Bytes {
    /// Over metadata that were found, for pages whose bytes are stored elsewhere.
    pub fn over(metadata: Metadata) -> Bytes {
        Bytes { metadata, slots: SharedMap::default() }
    }

    /// The spare areas of the pages.
    pub fn spare_areas(&self) -> &Metadata {
        &self.metadata
    }

    /// The bytes of a logical page at a place, if they are stored here.
    pub fn page_at(&self, ppn: Ppn, lpn: Lpn) -> Option<&PageData> {
        self.slots.get(ppn.0)?.iter().find(|(l, _)| *l == lpn).map(|(_, page)| page)
    }

    /// The bytes that are stored at a place.
    pub fn pages_at(&self, ppn: Ppn) -> impl Iterator<Item = &PageData> {
        self.slots.get(ppn.0).into_iter().flatten().map(|(_, page)| page)
    }

    /// Drop the bytes of logical pages at a place if others have newer versions, sector by sector: recovery from
    /// a power cut takes the highest version. Returns them. The spare areas stay until the block is erased.
    pub fn drop_superseded(&mut self, old: Ppn, by: &[Ppn]) -> SmallVec<[PageData; 1]> {
        let stored = self.slots.get(old.0).into_iter().flatten();
        let over: SmallVec<[Lpn; 1]> = stored
            .filter(|(lpn, page)| !page.is_empty() && self.metadata.is_over(old, *lpn, by))
            .map(|(lpn, _)| *lpn)
            .collect();
        if over.is_empty() {
            return SmallVec::new();
        }
        let dropped = self.slots.entry(old.0).iter_mut().filter(|(lpn, _)| over.contains(lpn));
        dropped.map(|(_, page)| std::mem::take(page)).collect()
    }

    /// Drop all bytes; from now on they are stored elsewhere.
    pub fn forget_bytes(&mut self) {
        self.slots = SharedMap::default();
    }
}

impl Media for Bytes {
    fn keeps_bytes(&self) -> bool {
        true
    }
    fn fork(&self) -> Result<Box<dyn Media>, MediaError> {
        Ok(Box::new(self.clone()))
    }
    fn program(&mut self, ppn: Ppn, oob: Oob, page: PageData) -> Result<(), MediaError> {
        self.metadata.program(ppn, oob, PageData::default())?;
        // What several writes have put together comes once for each of them.
        let is_there = |(lpn, there): &(Lpn, PageData)| *lpn == oob.span.lpn && there.is_same(&page);
        let stored = self.slots.entry(ppn.0);
        if !stored.iter().any(is_there) {
            stored.push((oob.span.lpn, page));
        }
        Ok(())
    }
    fn read(&mut self, ppn: Ppn, lpn: Lpn) -> Result<PageData, MediaError> {
        Ok(self.page_at(ppn, lpn).cloned().unwrap_or_default())
    }
    fn show(&mut self, ppn: Ppn, lpn: Lpn, to: &mut dyn FnMut(&PageData)) -> Result<(), MediaError> {
        to(self.page_at(ppn, lpn).unwrap_or(&PageData::default()));
        Ok(())
    }
    fn version(&self, ppn: Ppn, lpn: Lpn) -> u64 {
        self.metadata.version(ppn, lpn)
    }
    fn superseded(&mut self, old: Ppn, by: &[Ppn]) -> bool {
        self.drop_superseded(old, by);
        self.pages_at(old).any(|page| !page.is_empty())
    }
    fn erase(&mut self, block: BlockId, slot_shift: u32) -> Result<(), MediaError> {
        self.slots.remove(places_of(block, slot_shift));
        self.metadata.erase(block, slot_shift)
    }
    fn programmed(
        &mut self,
        block: BlockId,
        slots: Range<u32>,
        header: BlockHeader,
    ) -> Result<(), MediaError> {
        self.metadata.programmed(block, slots, header)
    }
    fn preload(&mut self, block: BlockId, slots: u32, header: BlockHeader) -> Result<(), MediaError> {
        self.metadata.preload(block, slots, header)
    }
    fn wear(&mut self, block: BlockId, erases: u32) -> Result<(), MediaError> {
        self.metadata.wear(block, erases)
    }
    fn record_trims(&mut self, ppn: Ppn, record: Arc<[u64]>) -> Result<(), MediaError> {
        self.metadata.record_trims(ppn, record)
    }
    fn holds_base(&self, block: BlockId) -> bool {
        self.metadata.holds_base(block)
    }
    fn stored(&self, ppn: Ppn) -> Vec<(Span, u64)> {
        self.metadata.stored(ppn)
    }
    fn trims(&self, ppn: Ppn) -> Option<Arc<[u64]>> {
        self.metadata.trims(ppn)
    }
    fn metadata(&self) -> Option<&Metadata> {
        Some(&self.metadata)
    }
    fn tear_program(&mut self, block: BlockId, slots: Range<u32>) {
        self.metadata.tear_program(block, slots);
    }
    fn tear_erase(&mut self, block: BlockId, slot_shift: u32) {
        self.slots.remove(places_of(block, slot_shift));
        self.metadata.tear_erase(block, slot_shift);
    }
    fn save(&self, to: &mut Saver) -> io::Result<()> {
        to.value(self)
    }
    fn load(&mut self, from: &mut Loader) -> Result<(), StateError> {
        *self = from.value("media")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::SectorMask;

    const SECTOR: usize = 512;

    fn program(media: &mut Bytes, ppn: u32, lpn: u32, mask: SectorMask, version: u64) {
        let span = Span { lpn: Lpn(lpn), mask, offset: 0 };
        let page = PageData::of(&[version as u8; 4 * SECTOR], mask, SECTOR);
        media.program(Ppn(ppn), Oob { span, version, sequence: version }, page).unwrap();
    }

    fn first_byte(media: &mut Bytes, ppn: u32, lpn: u32) -> Option<u8> {
        media.read(Ppn(ppn), Lpn(lpn)).unwrap().first().copied()
    }

    #[test]
    fn bytes_drop_only_if_every_sector_has_a_newer_copy() {
        let all = SectorMask::first(4);
        let mut media = Bytes::default();
        program(&mut media, 1, 7, all, 5);
        program(&mut media, 2, 7, all, 5); // moved: after a power cut either copy may count
        program(&mut media, 3, 7, SectorMask::first(3), 6);
        program(&mut media, 4, 8, all, 6);
        program(&mut media, 5, 7, all, 6);
        for by in [1, 2, 3, 4, 9] {
            assert!(media.drop_superseded(Ppn(1), &[Ppn(by)]).is_empty(), "{by}");
        }
        assert_eq!(first_byte(&mut media, 1, 7), Some(5));
        assert_eq!(media.drop_superseded(Ppn(1), &[Ppn(5)])[0][0], 5);
        assert_eq!(first_byte(&mut media, 1, 7), None);
        assert!(media.drop_superseded(Ppn(1), &[Ppn(5)]).is_empty(), "once");
        assert_eq!(media.spare_areas().page(Ppn(1)).len(), 1, "recovery finds it as before");
        assert_eq!([2, 5].map(|ppn| first_byte(&mut media, ppn, 7)), [Some(5), Some(6)]);
    }

    #[test]
    fn bytes_of_several_writes_are_stored_once() {
        let mut media = Bytes::default();
        let page = PageData::of(&[1; 4 * SECTOR], SectorMask::first(4), SECTOR);
        for (sector, version) in [(0, 3), (1, 5), (2, 7), (3, 4)] {
            let span = Span { lpn: Lpn(7), mask: SectorMask::span(sector, sector + 1), offset: 0 };
            media.program(Ppn(1), Oob { span, version, sequence: 1 }, page.clone()).unwrap();
        }
        program(&mut media, 1, 8, SectorMask::first(4), 2);
        assert_eq!(media.pages_at(Ppn(1)).map(|page| page[0]).collect::<Vec<_>>(), [1, 2]);
        // Several places have newer versions of its sectors, at last all of them.
        program(&mut media, 2, 7, SectorMask::span(0, 2), 8);
        program(&mut media, 3, 7, SectorMask::span(2, 4), 7); // of sector 2 either copy may count
        program(&mut media, 4, 7, SectorMask::span(2, 3), 9);
        for by in [&[2][..], &[2, 3], &[3, 4], &[2, 4]] {
            let by: Vec<Ppn> = by.iter().copied().map(Ppn).collect();
            assert!(media.drop_superseded(Ppn(1), &by).is_empty(), "{by:?}");
        }
        assert!(media.superseded(Ppn(1), &[Ppn(2), Ppn(3), Ppn(4)]), "another page stays");
        assert_eq!([7, 8].map(|lpn| first_byte(&mut media, 1, lpn)), [None, Some(2)]);
    }

    #[test]
    fn a_fork_keeps_the_bytes_that_are_dropped_after_it() {
        let mut media = Bytes::default();
        program(&mut media, 1, 7, SectorMask::first(4), 5);
        program(&mut media, 2, 7, SectorMask::first(4), 6);
        let mut fork = media.clone();
        let mut dropped = media.drop_superseded(Ppn(1), &[Ppn(2)]);
        assert!(dropped[0].get_mut().is_none(), "the fork shares them");
        assert_eq!(first_byte(&mut fork, 1, 7), Some(5));
        drop(fork);
        assert!(dropped[0].get_mut().is_some());
    }
}
