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

/// Keeps metadata and bytes by physical place, so that a wrong map shows as wrong data. Of bytes nothing is copied from
/// a whole page on its way to where it is stored, nor by a fork.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Bytes {
    metadata: Metadata,
    slots: SharedMap<Stored>,
}

impl Bytes {
    /// Over what was found beside pages whose bytes lie elsewhere.
    pub fn over(metadata: Metadata) -> Bytes {
        Bytes { metadata, slots: SharedMap::default() }
    }

    /// The spare areas of the pages.
    pub fn spare_areas(&self) -> &Metadata {
        &self.metadata
    }

    /// The bytes of a logical page at a place, if they are here.
    pub fn page_at(&self, ppn: Ppn, lpn: Lpn) -> Option<&PageData> {
        self.slots.get(ppn.0)?.iter().find(|(l, _)| *l == lpn).map(|(_, page)| page)
    }

    /// Drop all bytes, which are stored elsewhere after this.
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
        self.slots.entry(ppn.0).push((oob.span.lpn, page));
        Ok(())
    }
    fn read(&mut self, ppn: Ppn, lpn: Lpn) -> Result<PageData, MediaError> {
        Ok(self.page_at(ppn, lpn).cloned().unwrap_or_default())
    }
    fn version(&self, ppn: Ppn, lpn: Lpn) -> u64 {
        self.metadata.version(ppn, lpn)
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
