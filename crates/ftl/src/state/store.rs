//! Stored data: the media, bytes in transit, versions, and program order. A simulation has no media, and pays a branch:
//! what only other drives do is cold.

use crate::file::saved::{Saved, saved};
use crate::image::base::BaseImage;
use crate::media::boxed::BoxedMedia;
use crate::media::error::MediaError;
use crate::media::found::{BlockHeader, Oob};
use crate::media::page::PageData;
use crate::media::seam::Media;
use crate::plan::span::Span;
use crate::state::id::OpId;
use smallvec::{SmallVec, smallvec};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};

/// The stored data. It is notified of every completion, and is the only one that knows the media.
pub(crate) struct Store {
    media: BoxedMedia,
    /// Bytes of a sector.
    sector: usize,
    /// Whether the map knows sectors one by one, so that those of a page at a place may be of several versions.
    knows_sectors: bool,
    /// Data of operations in progress, by operation; if media keep bytes.
    pages: Vec<PageData>,
    /// Newest data in RAM, by staging entry; if media keep bytes.
    staged: Vec<PageData>,
    /// Counts the units programmed, where media keep metadata.
    sequence: u64,
    /// Contents of the flash at time 0, if media keep metadata.
    base: Option<Arc<BaseImage>>,
    /// Of programs whose sectors come from several host writes, the version of each, by operation; kept where
    /// media keep metadata.
    mixed: BTreeMap<u32, Vec<(SectorMask, u64)>>,
    /// Places whose bytes a newer write has replaced, with its place, or have moved; if media keep bytes.
    superseded: VecDeque<(Ppn, Ppn)>,
}

impl Saved for Store {
    saved! { Store,
        apart: [media],
        values: [pages, staged, sequence, base, mixed, superseded],
        parts: [],
        rebuilt: [sector, knows_sectors],
    }
}

/// The page of a number, made if there is none yet.
fn at(pages: &mut Vec<PageData>, number: usize) -> &mut PageData {
    if pages.len() <= number {
        pages.resize(number + 1, PageData::default());
    }
    &mut pages[number]
}

/// The versions of sectors of a page that lie at a place: 0 of those that have been there since before time 0.
#[cold]
fn versions_by_sector(media: &dyn Media, ppn: Ppn, lpn: Lpn, mask: SectorMask) -> Vec<(SectorMask, u64)> {
    let stored = media.stored(ppn).into_iter().filter(|(span, _)| span.lpn == lpn);
    let mut versions: Vec<_> = stored.map(|(span, version)| (span.mask.and(mask), version)).collect();
    let before = versions.iter().fold(mask, |left, (sectors, _)| left.minus(*sectors));
    versions.push((before, 0));
    versions.retain(|(sectors, _)| !sectors.is_empty());
    versions
}

impl Store {
    /// A store over empty media, or none, with this sector size in bytes.
    pub fn new(media: BoxedMedia, sector: u64, knows_sectors: bool) -> Store {
        Store {
            media,
            sector: sector as usize,
            knows_sectors,
            pages: vec![],
            staged: vec![],
            sequence: 0,
            base: None,
            mixed: BTreeMap::new(),
            superseded: VecDeque::new(),
        }
    }

    /// A store over media after a power cut, and this initial state.
    pub fn recover(&mut self, base: Option<Arc<BaseImage>>) {
        let pages = self.media.metadata().into_iter().flat_map(|metadata| metadata.pages());
        self.sequence = pages.flat_map(|(_, oobs)| oobs).map(|oob| oob.sequence).fold(0, u64::max);
        self.base = base;
    }

    /// The media and their contents at time 0, which survive a power cut.
    pub fn lose_power(self) -> (BoxedMedia, Option<Arc<BaseImage>>) {
        (self.media, self.base)
    }

    /// Whether versions are stored with pages: with any media.
    #[inline(always)]
    pub fn keeps_metadata(&self) -> bool {
        self.media.keeps_metadata()
    }

    /// Whether pages carry bytes.
    #[inline(always)]
    pub fn keeps_bytes(&self) -> bool {
        self.media.keeps_bytes()
    }

    /// The media.
    pub fn media(&self) -> &BoxedMedia {
        &self.media
    }

    /// The media, mutable.
    pub fn media_mut(&mut self) -> &mut BoxedMedia {
        &mut self.media
    }

    // Bytes in RAM.

    /// Where media keep metadata: an operation starts, under a number that may have been used before. It has no data yet.
    #[cold]
    pub fn enter(&mut self, op: OpId) {
        self.mixed.remove(&op.0); // of an operation that was given up, and had the number before
        if self.keeps_bytes() {
            *at(&mut self.pages, op.index()) = PageData::default();
        }
    }

    /// The data of an operation; none if the media keep no bytes.
    #[cold]
    pub fn page(&self, op: OpId) -> PageData {
        self.pages.get(op.index()).cloned().unwrap_or_default()
    }

    /// Sectors of a page become the newest data of a staging entry.
    #[cold]
    pub fn stage(&mut self, stage: u32, page: &PageData, mask: SectorMask) {
        at(&mut self.staged, stage as usize).copy(page, mask, self.sector);
    }

    /// The newest data of a staging entry.
    #[cold]
    pub fn staged(&self, stage: u32) -> PageData {
        self.staged.get(stage as usize).cloned().unwrap_or_default()
    }

    /// Where media keep bytes: a staging entry has no data in RAM any more.
    #[cold]
    pub fn unstage(&mut self, stage: u32) {
        if let Some(page) = self.staged.get_mut(stage as usize) {
            *page = PageData::default();
        }
    }

    /// Give a program the newest data in RAM for its sectors.
    #[cold]
    pub fn load(&mut self, op: OpId, stage: u32, mask: SectorMask) {
        let (mut page, none) = (PageData::default(), PageData::default());
        page.copy(self.staged.get(stage as usize).unwrap_or(&none), mask, self.sector);
        *at(&mut self.pages, op.index()) = page;
    }

    /// Give a program further sectors of a page.
    #[cold]
    pub fn add(&mut self, op: OpId, page: &PageData, mask: SectorMask) {
        at(&mut self.pages, op.index()).copy(page, mask, self.sector);
    }

    /// Give a program the stored data of a page at a place.
    ///
    /// # Errors
    /// When the media cannot read it.
    #[cold]
    pub fn bring(&mut self, op: OpId, ppn: Ppn, lpn: Lpn) -> Result<(), MediaError> {
        *at(&mut self.pages, op.index()) = self.read(ppn, lpn)?;
        Ok(())
    }

    // Versions.

    /// The sectors of a program by their versions: `version` for those of `mask`, unless they come from several writes.
    pub fn versions_of(&self, op: OpId, mask: SectorMask, version: u64) -> SmallVec<[(SectorMask, u64); 1]> {
        let Some(versions) = self.mixed.get(&op.0) else { return smallvec![(mask, version)] };
        versions.iter().map(|(m, version)| (m.and(mask), *version)).filter(|(m, _)| !m.is_empty()).collect()
    }

    /// Set the versions of a program's sectors.
    #[inline]
    pub fn set_versions(&mut self, op: OpId, versions: Vec<(SectorMask, u64)>) {
        if versions.len() > 1 {
            self.mixed.insert(op.0, versions);
        } else if self.keeps_metadata() {
            self.mixed.remove(&op.0);
        }
    }

    /// The versions of the sectors of a page at a place; empty without media.
    #[inline(always)]
    pub fn stored_versions(&self, ppn: Ppn, lpn: Lpn, mask: SectorMask) -> Vec<(SectorMask, u64)> {
        match self.media.as_deref() {
            Some(media) if self.knows_sectors => versions_by_sector(media, ppn, lpn, mask),
            Some(media) => vec![(mask, media.version(ppn, lpn))],
            None => vec![],
        }
    }

    /// All recorded versions.
    pub fn each_version(&mut self, note: &mut dyn FnMut(&mut u64)) {
        self.mixed.values_mut().flatten().for_each(|(_, version)| note(version));
    }

    // What the media are told.

    /// Return the next position in the order of programs.
    pub fn count_unit(&mut self) {
        self.sequence += 1;
    }

    /// The position of a block opened now in the order of programs.
    pub fn next_unit(&self) -> u64 {
        self.sequence + 1
    }

    /// Store the unit of a program with its spare area; the program has no data any more.
    ///
    /// # Errors
    /// When the media cannot store it.
    #[cold]
    pub fn program(&mut self, op: OpId, span: Span, version: u64, ppn: Ppn) -> Result<(), MediaError> {
        let (page, versions) = (self.page(op), self.versions_of(op, span.mask, version));
        let Some(media) = self.media.as_deref_mut() else { return Ok(()) };
        for (mask, version) in versions {
            let oob = Oob { span: Span { mask, ..span }, version, sequence: self.sequence };
            media.program(ppn, oob, page.clone())?;
        }
        if let Some(page) = self.pages.get_mut(op.index()) {
            *page = PageData::default();
        }
        self.mixed.remove(&op.0);
        Ok(())
    }

    /// A program over these slots of a block has ended.
    ///
    /// # Errors
    /// When the media cannot record it.
    pub fn programmed(
        &mut self,
        block: BlockId,
        slots: Range<u32>,
        header: BlockHeader,
    ) -> Result<(), MediaError> {
        self.media.as_deref_mut().map_or(Ok(()), |media| media.programmed(block, slots, header))
    }

    /// A block of the initial state has this many slots.
    ///
    /// # Errors
    /// When the media cannot record it.
    pub fn preload(&mut self, block: BlockId, slots: u32, header: BlockHeader) -> Result<(), MediaError> {
        self.media.as_deref_mut().map_or(Ok(()), |media| media.preload(block, slots, header))
    }

    /// Set the erase count of a block.
    ///
    /// # Errors
    /// When the media cannot record it.
    pub fn wear(&mut self, block: BlockId, erases: u32) -> Result<(), MediaError> {
        self.media.as_deref_mut().map_or(Ok(()), |media| media.wear(block, erases))
    }

    /// A block has been erased.
    ///
    /// # Errors
    /// When the media cannot erase it.
    pub fn erase(&mut self, block: BlockId, slot_shift: u32) -> Result<(), MediaError> {
        self.media.as_deref_mut().map_or(Ok(()), |media| media.erase(block, slot_shift))
    }

    /// Places with bytes that newer writes have replaced or that have moved; and the media that have them.
    pub fn superseded(&mut self) -> (&mut VecDeque<(Ppn, Ppn)>, Option<&mut dyn Media>) {
        (&mut self.superseded, self.media.as_deref_mut())
    }

    /// Store a page of the trim log.
    ///
    /// # Errors
    /// When the media cannot store it.
    pub fn record_trims(&mut self, ppn: Ppn, record: Arc<[u64]>) -> Result<(), MediaError> {
        self.media.as_deref_mut().map_or(Ok(()), |media| media.record_trims(ppn, record))
    }

    /// Sectors of a page have arrived in protected RAM, and may be nowhere else.
    pub fn protect(&mut self, lpn: Lpn, mask: SectorMask, version: u64, page: &PageData) {
        if let Some(media) = self.media.as_deref_mut() {
            media.protect(lpn, mask, version, page);
        }
    }

    /// Trims have arrived in protected RAM.
    pub fn protect_trims(&mut self, trims: &[(u64, u64)]) {
        if let Some(media) = self.media.as_deref_mut() {
            media.protect_trims(trims);
        }
    }

    /// The power fails during a program of slots of a block.
    pub fn tear_program(&mut self, block: BlockId, slots: Range<u32>) {
        if let Some(media) = self.media.as_deref_mut() {
            media.tear_program(block, slots);
        }
    }

    /// The power fails during an erase of a block.
    pub fn tear_erase(&mut self, block: BlockId, slot_shift: u32) {
        if let Some(media) = self.media.as_deref_mut() {
            media.tear_erase(block, slot_shift);
        }
    }

    // What the media hold.

    /// The stored data of a page at a place; without bytes if the media keep none.
    ///
    /// # Errors
    /// When the media cannot read it.
    #[cold]
    pub fn read(&mut self, ppn: Ppn, lpn: Lpn) -> Result<PageData, MediaError> {
        self.media.as_deref_mut().map_or(Ok(PageData::default()), |media| media.read(ppn, lpn))
    }

    /// The stored span at a place, with its version.
    pub fn stored(&self, ppn: Ppn) -> Vec<(Span, u64)> {
        self.media.as_deref().map_or(vec![], |media| media.stored(ppn))
    }

    /// The page of the trim log at a place.
    pub fn trims(&self, ppn: Ppn) -> Option<Arc<[u64]>> {
        self.media.as_deref().and_then(|media| media.trims(ppn))
    }

    /// The initial state has been written to flash.
    pub fn set_base(&mut self, image: &BaseImage) {
        self.base = self.keeps_metadata().then(|| Arc::new(image.clone()));
    }

    /// Contents of the flash at time 0.
    pub fn base(&self) -> Option<&Arc<BaseImage>> {
        self.base.as_ref()
    }

    /// The same, if a block still holds it.
    pub fn base_in(&self, block: BlockId) -> Option<&Arc<BaseImage>> {
        self.base.as_ref().filter(|_| self.media.as_deref().is_some_and(|media| media.holds_base(block)))
    }

    /// Forget the history; numbers of operations end before `end`.
    pub fn forget_history(&mut self, end: usize) {
        self.sequence = 0;
        self.pages.truncate(end);
        self.mixed.retain(|op, _| (*op as usize) < end);
        if !self.keeps_bytes() {
            self.pages.clear();
            self.staged.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::bytes::Bytes;
    use crate::media::seam::Metadata;

    const SECTOR: u64 = 512;
    const ALL: SectorMask = SectorMask(0b1111);

    fn keeping_bytes() -> Store {
        Store::new(Bytes::default().into(), SECTOR, true)
    }

    fn page(byte: u8) -> PageData {
        PageData::of(&[byte; 4 * SECTOR as usize], ALL, SECTOR as usize)
    }

    fn span(lpn: u32) -> Span {
        Span { lpn: Lpn(lpn), mask: ALL, offset: 0 }
    }

    #[test]
    fn program_stores_staged_sectors_and_frees_their_bytes() {
        let mut store = keeping_bytes();
        let op = OpId(3);
        store.enter(op);
        store.stage(7, &page(1), ALL);
        store.stage(7, &page(2), SectorMask(0b0010));
        store.load(op, 7, SectorMask(0b0011));
        store.unstage(7);
        assert!(store.staged(7).is_empty());
        store.count_unit();
        store.program(op, span(5), 9, Ppn(8)).unwrap();
        assert!(store.page(op).is_empty());
        let read = store.read(Ppn(8), Lpn(5)).unwrap();
        assert_eq!([0, 1, 2].map(|s| read.sector(s, 512)[0]), [1, 2, 0]);
        let oobs = store.media().metadata().unwrap().page(Ppn(8));
        assert_eq!(oobs, [Oob { span: span(5), version: 9, sequence: 1 }]);
    }

    #[test]
    fn program_of_several_writes_keeps_each_version() {
        let mut store = keeping_bytes();
        let op = OpId(0);
        store.enter(op);
        store.set_versions(op, vec![(SectorMask(0b0011), 4), (SectorMask(0b1100), 6)]);
        let cut = SectorMask(0b0110);
        assert_eq!(store.versions_of(op, cut, 6)[..], [(SectorMask(0b0010), 4), (SectorMask(0b0100), 6)]);
        store.program(op, span(1), 6, Ppn(2)).unwrap();
        assert_eq!(store.versions_of(op, cut, 7)[..], [(cut, 7)], "they go with the program");
        let stored = store.stored_versions(Ppn(2), Lpn(1), ALL);
        assert_eq!(stored, [(SectorMask(0b0011), 4), (SectorMask(0b1100), 6)]);
        store.set_versions(op, vec![(SectorMask(0b0011), 4), (SectorMask(0b1100), 6)]);
        store.enter(op);
        assert_eq!(store.versions_of(op, ALL, 8)[..], [(ALL, 8)], "the number is another operation's");
    }

    #[test]
    fn sectors_in_place_since_time_0_have_version_0() {
        let mut store = Store::new(Metadata::default().into(), SECTOR, true);
        let op = OpId(0);
        store.enter(op);
        store.program(op, Span { mask: SectorMask(0b0001), ..span(1) }, 3, Ppn(2)).unwrap();
        let stored = store.stored_versions(Ppn(2), Lpn(1), SectorMask(0b0011));
        assert_eq!(stored, [(SectorMask(0b0001), 3), (SectorMask(0b0010), 0)]);
        assert!(store.page(op).is_empty() && store.staged(0).is_empty(), "these media keep no bytes");
    }

    #[test]
    fn recovery_continues_behind_the_newest_unit() {
        let mut store = keeping_bytes();
        for ppn in [4, 5] {
            store.count_unit();
            store.program(OpId(0), span(ppn), 1, Ppn(ppn)).unwrap();
        }
        let (media, base) = store.lose_power();
        let mut store = Store::new(media, SECTOR, true);
        assert_eq!(store.next_unit(), 1);
        store.recover(base);
        assert_eq!(store.next_unit(), 3);
    }

    #[test]
    fn a_simulation_keeps_nothing() {
        let mut store = Store::new(BoxedMedia::none(), SECTOR, true);
        let op = OpId(90);
        store.enter(op);
        store.protect(Lpn(1), ALL, 1, &PageData::default());
        store.program(op, span(1), 1, Ppn(2)).unwrap();
        store.erase(BlockId(0), 3).unwrap();
        assert!(store.stored_versions(Ppn(2), Lpn(1), ALL).is_empty());
        assert!(store.pages.is_empty() && store.staged.is_empty() && store.mixed.is_empty());
    }
}
