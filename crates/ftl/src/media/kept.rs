//! Media that a drive can be recovered from: those that keep metadata, or metadata and bytes, in RAM.

use crate::file::shared::SharedMap;
use crate::media::error::MediaError;
use crate::media::page::PageData;
use crate::media::seam::{BlockFound, BlockHeader, Media, Oob, SlotFound};
use crate::plan::span::Span;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use wordline_units::{BlockId, Lpn, Ppn};

/// Media that a drive can be recovered from. A power cut is no time to fail: what it spoils is noted in RAM.
pub trait Recorded: Media {
    /// What is stored beside the data.
    fn metadata(&self) -> &Metadata;
    /// Power fails during a program: its slots can be neither read nor used until they are erased.
    fn tear_program(&mut self, block: BlockId, slots: Range<u32>);
    /// Power fails during an erase: nothing in the block can be read.
    fn tear_erase(&mut self, block: BlockId, slot_shift: u32);
}

/// Keeps each page's metadata: what recovery after a power cut has to go by.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Metadata {
    pages: SharedMap<SmallVec<[Oob; 1]>>,
    trims: SharedMap<Arc<[u64]>>,
    blocks: SharedMap<BlockFound>,
}

impl Metadata {
    /// Everything stored, by place.
    pub fn pages(&self) -> impl Iterator<Item = (Ppn, &[Oob])> {
        self.pages.iter().map(|(ppn, oobs)| (Ppn(ppn), oobs.as_slice()))
    }

    /// What is stored at a place.
    pub fn page(&self, ppn: Ppn) -> &[Oob] {
        self.pages.get(ppn.0).map_or(&[], SmallVec::as_slice)
    }

    /// Every stored page of the trim log, superseded ones too.
    pub fn trim_pages(&self) -> impl Iterator<Item = (Ppn, &[u64])> {
        self.trims.iter().map(|(ppn, record)| (Ppn(ppn), &record[..]))
    }

    /// A block, if anything was ever done to it.
    pub fn block(&self, block: BlockId) -> Option<&BlockFound> {
        self.blocks.get(block.0)
    }

    /// Note a block as it was found.
    pub fn insert_block(&mut self, block: BlockId, found: BlockFound) {
        self.blocks.insert(block.0, found);
    }

    /// The slots that a power cut spoiled, by place.
    pub fn torn(&self, slot_shift: u32) -> Vec<Ppn> {
        let mut torn: Vec<Ppn> = (self.blocks.iter())
            .flat_map(|(block, found)| {
                let slots = found.slots.iter().enumerate();
                let torn = slots.filter(|(_, s)| **s == SlotFound::Torn);
                torn.map(move |(slot, _)| Ppn(block << slot_shift | slot as u32))
            })
            .collect();
        torn.sort_unstable();
        torn
    }

    fn mark(&mut self, block: BlockId, slots: Range<u32>, what: SlotFound) -> &mut BlockFound {
        let found = self.blocks.entry(block.0);
        if found.slots.len() < slots.end as usize {
            found.slots.resize(slots.end as usize, SlotFound::Blank);
        }
        found.slots[slots.start as usize..slots.end as usize].fill(what);
        found
    }

    fn clear(&mut self, block: BlockId, slot_shift: u32) -> &mut BlockFound {
        self.pages.remove(places_of(block, slot_shift));
        self.trims.remove(places_of(block, slot_shift));
        let found = self.blocks.entry(block.0);
        *found = BlockFound { erases: found.erases, ..BlockFound::default() };
        found
    }
}

fn places_of(block: BlockId, slot_shift: u32) -> Range<u32> {
    block.0 << slot_shift..(block.0 + 1) << slot_shift
}

impl Media for Metadata {
    const BYTES: bool = false;
    const METADATA: bool = true;

    fn fork(&self) -> Result<Metadata, MediaError> {
        Ok(self.clone())
    }
    fn program(&mut self, ppn: Ppn, oob: Oob, _: PageData) -> Result<(), MediaError> {
        self.pages.entry(ppn.0).push(oob);
        Ok(())
    }
    fn read(&mut self, _: Ppn, _: Lpn) -> Result<PageData, MediaError> {
        Ok(PageData::default())
    }
    fn version(&self, ppn: Ppn, lpn: Lpn) -> u64 {
        let oobs = self.pages.get(ppn.0);
        oobs.and_then(|o| o.iter().find(|o| o.span.lpn == lpn)).map_or(0, |o| o.version)
    }
    fn erase(&mut self, block: BlockId, slot_shift: u32) -> Result<(), MediaError> {
        self.clear(block, slot_shift).erases += 1;
        Ok(())
    }
    fn programmed(
        &mut self,
        block: BlockId,
        slots: Range<u32>,
        header: BlockHeader,
    ) -> Result<(), MediaError> {
        self.mark(block, slots, SlotFound::Programmed).header.get_or_insert(header);
        Ok(())
    }
    fn preload(&mut self, block: BlockId, slots: u32, header: BlockHeader) -> Result<(), MediaError> {
        let found = self.mark(block, 0..slots, SlotFound::Programmed);
        (found.header, found.base) = (Some(header), true);
        Ok(())
    }
    fn wear(&mut self, block: BlockId, erases: u32) -> Result<(), MediaError> {
        self.blocks.entry(block.0).erases = erases;
        Ok(())
    }
    fn record_trims(&mut self, ppn: Ppn, record: Arc<[u64]>) -> Result<(), MediaError> {
        self.trims.insert(ppn.0, record);
        Ok(())
    }
    fn holds_base(&self, block: BlockId) -> bool {
        self.blocks.get(block.0).is_some_and(|found| found.base)
    }
    fn stored(&self, ppn: Ppn) -> Vec<(Span, u64)> {
        self.page(ppn).iter().map(|oob| (oob.span, oob.version)).collect()
    }
    fn trims(&self, ppn: Ppn) -> Option<Arc<[u64]>> {
        self.trims.get(ppn.0).cloned()
    }
}

impl Recorded for Metadata {
    fn metadata(&self) -> &Metadata {
        self
    }
    fn tear_program(&mut self, block: BlockId, slots: Range<u32>) {
        self.mark(block, slots, SlotFound::Torn);
    }
    fn tear_erase(&mut self, block: BlockId, slot_shift: u32) {
        self.clear(block, slot_shift).half_erased = true;
    }
}

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

    /// The bytes of a logical page at a place, if they are here.
    pub fn page_at(&self, ppn: Ppn, lpn: Lpn) -> Option<&PageData> {
        self.slots.get(ppn.0)?.iter().find(|(l, _)| *l == lpn).map(|(_, page)| page)
    }

    /// Keep no bytes, since all of them lie elsewhere from now on.
    pub fn forget_bytes(&mut self) {
        self.slots = SharedMap::default();
    }
}

impl Media for Bytes {
    const BYTES: bool = true;
    const METADATA: bool = true;

    fn fork(&self) -> Result<Bytes, MediaError> {
        Ok(self.clone())
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
}

impl Recorded for Bytes {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }
    fn tear_program(&mut self, block: BlockId, slots: Range<u32>) {
        self.metadata.tear_program(block, slots);
    }
    fn tear_erase(&mut self, block: BlockId, slot_shift: u32) {
        self.slots.remove(places_of(block, slot_shift));
        self.metadata.tear_erase(block, slot_shift);
    }
}
