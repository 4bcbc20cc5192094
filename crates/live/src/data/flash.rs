//! The media of a live drive: bytes in RAM, or older bytes in a folder.

use crate::data::changes::{Changes, Uncommitted};
use crate::data::lately::Lately;
use crate::data::pages::{self, Pages};
use crate::data::row_id::row_id;
use crate::page_memory::PageMemory;
use std::ops::Range;
use std::sync::Arc;
use wordline_ftl::{BlockHeader, Bytes, Media, MediaError, Metadata, Oob, PageData, Span};
use wordline_sim::{Device, NoProbe};
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};
use wordline_volatile::Content;

/// Bytes that are dropped from RAM together, once they are in the folder.
const FORGOTTEN: u64 = 1 << 20;

/// The media of a live drive. Metadata are in RAM. Bytes of pages are in RAM too, but with a folder the newest
/// only, and until they are written to it. A fork reads older bytes from the folder, as of the fork's creation.
#[derive(Default)]
pub(crate) struct Flash {
    bytes: Bytes,
    /// Where bytes that are not in RAM are read. Because of this, a state is only saved without its media.
    pages: Option<Arc<Pages>>,
    /// Changes to be written to the folder, on the drive that owns the folder.
    changes: Option<Box<Uncommitted>>,
    /// Sectors of logical pages that were read and differ from what was written, and where, in words.
    damaged: Vec<(Span, String)>,
    /// Bytes of pages in RAM, those that have been written to the folder not counted.
    in_ram: u64,
    written: u64,
    /// Pages whose memory is free once they are written to the folder.
    programmed: Vec<PageData>,
    /// Pages that were read from the folder lately.
    lately: Lately,
    /// Memory of pages that were overwritten, for those that are received next.
    memory: Arc<PageMemory>,
}

impl Flash {
    /// Media of a folder, with the metadata found there.
    pub(crate) fn of(metadata: Metadata, pages: Arc<Pages>) -> Flash {
        Flash {
            bytes: Bytes::over(metadata),
            pages: Some(pages),
            changes: Some(Box::default()),
            damaged: vec![],
            in_ram: 0,
            written: 0,
            programmed: vec![],
            lately: Lately::default(),
            memory: Arc::default(),
        }
    }

    /// Bytes of pages in RAM; those shared with a fork count for both.
    pub(crate) fn in_ram(&self) -> u64 {
        self.in_ram
    }

    /// Memory of pages that were overwritten.
    pub(crate) fn page_memory(&self) -> Arc<PageMemory> {
        Arc::clone(&self.memory)
    }

    /// Bytes of a block's pages in RAM.
    fn in_block(&self, block: BlockId, slot_shift: u32) -> u64 {
        if self.pages.is_some() {
            return 0;
        }
        let pages = (block.0 << slot_shift..(block.0 + 1) << slot_shift).map(Ppn);
        pages.flat_map(|ppn| self.bytes.pages_at(ppn)).map(|page| page.len() as u64).sum()
    }

    /// Metadata of the pages.
    pub(crate) fn spare_areas(&self) -> &Metadata {
        self.bytes.spare_areas()
    }

    /// Changes since the last call.
    pub(crate) fn take_changes(&mut self) -> Changes {
        self.changes.as_deref_mut().map(Uncommitted::take).unwrap_or_default()
    }

    /// Set the trims in protected RAM, after a power cut.
    pub(crate) fn set_trims(&mut self, trims: Vec<(u64, u64)>) {
        self.changed(|c| c.replace_trims(trims));
    }

    /// Damage found since the last call.
    pub(crate) fn take_damaged(&mut self) -> Vec<(Span, String)> {
        std::mem::take(&mut self.damaged)
    }

    /// Number of pages changed since the last write to the folder.
    pub(crate) fn unwritten(&self) -> usize {
        self.changes.as_ref().map_or(0, |changes| changes.count())
    }

    /// All bytes in RAM have been written to the folder: drop them if they are many. Their memory is used again.
    pub(crate) fn forget_bytes(&mut self) {
        self.written += std::mem::take(&mut self.in_ram);
        if self.written < FORGOTTEN {
            return;
        }
        self.written = 0;
        self.bytes.forget_bytes();
        self.programmed.drain(..).for_each(|page| self.memory.put(page));
    }

    /// Note in which parts of a page newer writes have replaced the bytes, as [`Bytes::drop_superseded`] does it. Returns
    /// whether others stay.
    fn replace(&mut self, old: Ppn, by: &[Ppn]) -> bool {
        let areas = self.bytes.spare_areas();
        let parts = areas.page(old);
        let is_first = |part: &usize| parts[..*part].iter().all(|oob| oob.span.lpn != parts[*part].span.lpn);
        let is_over = |part: &usize| areas.is_over(old, parts[*part].span.lpn, by);
        let (over, rest): (Vec<usize>, Vec<usize>) = (0..parts.len()).filter(is_first).partition(is_over);
        self.changed(|changes| over.into_iter().for_each(|part| changes.replace(old, part)));
        !rest.is_empty()
    }

    /// Data to be written for a part of a page: its spare area and, with the first part of a logical page, its bytes.
    pub(crate) fn part(&self, ppn: Ppn, part: usize) -> (Oob, Option<&PageData>) {
        let parts = self.bytes.spare_areas().page(ppn);
        let lpn = parts[part].span.lpn;
        let is_first = parts[..part].iter().all(|p| p.span.lpn != lpn);
        let page = self.bytes.page_at(ppn, lpn).filter(|_| is_first);
        (parts[part], page)
    }

    fn changed(&mut self, change: impl FnOnce(&mut Uncommitted)) {
        if let Some(changes) = &mut self.changes {
            change(changes);
        }
    }
}

impl Media for Flash {
    fn keeps_bytes(&self) -> bool {
        true
    }
    fn fork(&self) -> Result<Box<dyn Media>, MediaError> {
        // For bytes that are not in RAM, a fork needs the folder as it is now; a fork of a fork needs it as
        // it was for that fork.
        let pages = match (&self.pages, &self.changes) {
            (Some(pages), Some(_)) => Some(Arc::new(pages.as_now()?)),
            (pages, _) => pages.clone(),
        };
        Ok(Box::new(Flash {
            bytes: self.bytes.clone(),
            pages,
            changes: None,
            damaged: vec![],
            in_ram: self.in_ram,
            written: 0,
            programmed: vec![],
            lately: Lately::default(),
            memory: Arc::default(),
        }))
    }
    fn program(&mut self, ppn: Ppn, oob: Oob, page: PageData) -> Result<(), MediaError> {
        let part = self.bytes.spare_areas().page(ppn).len();
        self.changed(|c| c.program(ppn, part));
        // What several writes have put together comes once for each of them.
        if !self.bytes.page_at(ppn, oob.span.lpn).is_some_and(|there| there.is_same(&page)) {
            self.in_ram += page.len() as u64;
        }
        if let Some(changes) = &mut self.changes {
            if let Some(from) = self.lately.find(&page) {
                changes.copy(ppn, part, from.clone());
            }
            self.programmed.push(page.clone());
        }
        self.bytes.program(ppn, oob, page)
    }
    fn read(&mut self, ppn: Ppn, lpn: Lpn) -> Result<PageData, MediaError> {
        if let Some(page) = self.bytes.page_at(ppn, lpn) {
            return Ok(page.clone());
        }
        let part = self.bytes.spare_areas().page(ppn).iter().position(|oob| oob.span.lpn == lpn);
        let (Some(pages), Some(part)) = (&self.pages, part) else { return Ok(PageData::default()) };
        match pages.read(ppn, part, &self.memory)? {
            pages::Bytes::Whole(page, place) => {
                if self.changes.is_some() {
                    let forgotten = self.lately.note(&page, row_id(ppn.0, part), place);
                    forgotten.into_iter().for_each(|page| self.memory.put(page));
                }
                Ok(page)
            }
            // The drive continues with zeroes. No read returns them: reads of these sectors fail.
            pages::Bytes::Damaged(place) => {
                let spans = self.bytes.spare_areas().page(ppn).iter().map(|oob| oob.span);
                let found = spans.filter(|span| span.lpn == lpn).map(|span| (span, place.clone()));
                self.damaged.extend(found);
                Ok(PageData::default())
            }
        }
    }
    fn show(&mut self, ppn: Ppn, lpn: Lpn, to: &mut dyn FnMut(&PageData)) -> Result<(), MediaError> {
        match self.bytes.page_at(ppn, lpn) {
            Some(page) => to(page),
            None => to(&self.read(ppn, lpn)?),
        }
        Ok(())
    }
    fn version(&self, ppn: Ppn, lpn: Lpn) -> u64 {
        self.bytes.version(ppn, lpn)
    }
    fn superseded(&mut self, old: Ppn, by: &[Ppn]) -> bool {
        // With a folder, bytes are in RAM only until they are written to it. A fork reads it, and changes nothing.
        if self.pages.is_some() {
            return self.changes.is_some() && self.replace(old, by);
        }
        for page in self.bytes.drop_superseded(old, by) {
            self.in_ram = self.in_ram.saturating_sub(page.len() as u64);
            self.memory.put(page);
        }
        self.bytes.pages_at(old).any(|page| !page.is_empty())
    }
    fn erase(&mut self, block: BlockId, slot_shift: u32) -> Result<(), MediaError> {
        self.changed(|c| c.empty(block, slot_shift));
        self.in_ram = self.in_ram.saturating_sub(self.in_block(block, slot_shift));
        self.bytes.erase(block, slot_shift)
    }
    fn programmed(
        &mut self,
        block: BlockId,
        slots: Range<u32>,
        header: BlockHeader,
    ) -> Result<(), MediaError> {
        self.changed(|c| c.change(block));
        self.bytes.programmed(block, slots, header)
    }
    fn preload(&mut self, block: BlockId, slots: u32, header: BlockHeader) -> Result<(), MediaError> {
        self.changed(|c| c.change(block));
        self.bytes.preload(block, slots, header)
    }
    fn wear(&mut self, block: BlockId, erases: u32) -> Result<(), MediaError> {
        self.changed(|c| c.change(block));
        self.bytes.wear(block, erases)
    }
    fn record_trims(&mut self, ppn: Ppn, record: Arc<[u64]>) -> Result<(), MediaError> {
        self.changed(|c| c.record_trims(ppn));
        self.bytes.record_trims(ppn, record)
    }
    fn protect(&mut self, lpn: Lpn, mask: SectorMask, version: u64, page: &PageData) {
        self.changed(|c| c.protect(lpn, mask, version, page));
    }
    fn protect_trims(&mut self, trims: &[(u64, u64)]) {
        self.changed(|c| c.protect_trims(trims));
    }
    fn holds_base(&self, block: BlockId) -> bool {
        self.bytes.holds_base(block)
    }
    fn stored(&self, ppn: Ppn) -> Vec<(Span, u64)> {
        self.bytes.stored(ppn)
    }
    fn trims(&self, ppn: Ppn) -> Option<Arc<[u64]>> {
        self.bytes.trims(ppn)
    }
    fn metadata(&self) -> Option<&Metadata> {
        self.bytes.metadata()
    }
    fn tear_program(&mut self, block: BlockId, slots: Range<u32>) {
        self.changed(|c| c.change(block));
        self.bytes.tear_program(block, slots);
    }
    fn tear_erase(&mut self, block: BlockId, slot_shift: u32) {
        self.changed(|c| c.empty(block, slot_shift));
        self.in_ram = self.in_ram.saturating_sub(self.in_block(block, slot_shift));
        self.bytes.tear_erase(block, slot_shift);
    }
}

/// The newest contents of a sector as flash has them. What the media cannot read is zeroes.
pub(crate) fn newest(
    device: &mut Device<NoProbe>,
    sector: u64,
    (bytes, sectors_of_page): (u64, u64),
) -> Content {
    let (lpn, at) = (Lpn((sector / sectors_of_page) as u32), sector % sectors_of_page);
    let page = device.ftl_mut().tables().newest_page(lpn, at as u32).unwrap_or_default();
    let end = (at + 1) * bytes;
    if (page.len() as u64) < end { Content::ZERO } else { Content::of(&page.into(), (at * bytes) as usize) }
}
