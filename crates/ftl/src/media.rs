//! The seam behind which data are kept: nothing, the metadata of each page, or its bytes too. It is
//! called when an operation completes and never before, so that what it holds is what a power cut
//! would leave. What the cut itself spoils is told by [`Recorded::tear_program`] and
//! [`Recorded::tear_erase`].
//!
//! Other pages of a wordline keep their bits when a program is cut, since only the slots of that
//! program are torn: a drive holds the old bits in protected RAM until the operation ends. A
//! reprogram will tear the slot of the page that it adds, and no other.
//!
//! Media are given to a drive from outside, and may fail: see [`MediaError`], and docs/engine/media.md.

use crate::file::shared::SharedMap;
use crate::plan::region::RegionId;
use crate::plan::span::Span;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;
use wordline_units::{BlockId, CellMode, Lpn, Ppn, SectorMask};

/// What a page's spare area says of a span stored in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Oob {
    /// What is stored.
    pub span: Span,
    /// The host write that the data come from; travels unchanged with relocation.
    pub version: u64,
    /// The order in which programs ended.
    pub sequence: u64,
}

/// What is written beside a block's first page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockHeader {
    /// The region that opened it.
    pub region: RegionId,
    /// Its mode until it is erased.
    pub mode: CellMode,
    /// How often it had been erased.
    pub erases: u32,
    /// Its place in the order of programs.
    pub opened: u64,
}

/// What a slot is found to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum SlotFound {
    /// Erased.
    #[default]
    Blank,
    /// Programmed, with data or as padding.
    Programmed,
    /// Power failed during its program: unreadable, and not to be used until it is erased.
    Torn,
}

/// What is found in a block when the power comes back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BlockFound {
    /// Its header; none where the first program was cut.
    pub header: Option<BlockHeader>,
    /// How often it has been erased, which a drive writes back after each erase.
    pub erases: u32,
    /// Its slots as far as any was programmed.
    pub slots: Vec<SlotFound>,
    /// Power failed during its erase: it must be erased again.
    pub half_erased: bool,
    /// Whether it still holds what the base image put there.
    pub base: bool,
}

/// Why media could not do what was asked of them. One pointer, so that the way without an error stays short.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}: {}; {}", .0.place, .0.what, .0.mend)]
pub struct MediaError(Box<MediaFailure>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct MediaFailure {
    place: String,
    what: String,
    mend: String,
}

impl MediaError {
    /// Where it happened (the file, and the page or block), what happened, and how it is mended.
    #[cold]
    pub fn new(place: impl Into<String>, what: impl Into<String>, mend: impl Into<String>) -> MediaError {
        MediaError(Box::new(MediaFailure { place: place.into(), what: what.into(), mend: mend.into() }))
    }

    /// Where it happened.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// What happened.
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// How it is mended.
    pub fn mend(&self) -> &str {
        &self.0.mend
    }
}

/// Where programmed data go. What changes or brings bytes may fail; what is asked of metadata is answered from RAM.
pub trait Media: Sized {
    /// The sectors of a logical page on their way, in RAM. Copied often, so that a copy shares its bytes.
    type Page: Clone + Default;
    /// Whether pages carry bytes. Where not, none of their copies is made.
    const BYTES: bool;
    /// Whether the version of each page is wanted back from where it is stored.
    const METADATA: bool;

    /// A page holding the host's bytes for the sectors of a mask, one sector after another.
    fn page(data: &[u8], mask: SectorMask, sector: usize) -> Self::Page;
    /// Copy the sectors of a mask from one page onto another.
    fn copy(into: &mut Self::Page, from: &Self::Page, mask: SectorMask, sector: usize);
    /// The bytes of a sector, if the page has them.
    fn sector(page: &Self::Page, sector: u32, bytes: usize) -> &[u8];
    /// The same once more: what either holds now both share, and what is written to one from now on the other
    /// never sees.
    ///
    /// # Errors
    /// When there is no place for another.
    fn fork(&self) -> Result<Self, MediaError>;
    /// A program completes.
    ///
    /// # Errors
    /// When it cannot be stored; nothing of it is then.
    fn program(&mut self, ppn: Ppn, oob: Oob, page: Self::Page) -> Result<(), MediaError>;
    /// What is stored for a logical page at a place.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&mut self, ppn: Ppn, lpn: Lpn) -> Result<Self::Page, MediaError>;
    /// The version stored for a logical page at a place; 0 for data older than the run.
    fn version(&self, ppn: Ppn, lpn: Lpn) -> u64;
    /// An erase completes.
    ///
    /// # Errors
    /// When the block cannot be emptied; it then holds what it held.
    fn erase(&mut self, block: BlockId, slot_shift: u32) -> Result<(), MediaError>;

    /// A program over these slots of a block has completed, padding included. Comes before what is stored in them.
    ///
    /// # Errors
    /// When it cannot be noted.
    fn programmed(&mut self, _: BlockId, _: Range<u32>, _: BlockHeader) -> Result<(), MediaError> {
        Ok(())
    }
    /// A block of the initial state holds so many slots.
    ///
    /// # Errors
    /// When it cannot be noted.
    fn preload(&mut self, _: BlockId, _: u32, _: BlockHeader) -> Result<(), MediaError> {
        Ok(())
    }
    /// A block has been erased so often before time 0.
    ///
    /// # Errors
    /// When it cannot be noted.
    fn wear(&mut self, _: BlockId, _: u32) -> Result<(), MediaError> {
        Ok(())
    }
    /// A page of the trim log is stored: the newest trim of each of its entries.
    ///
    /// # Errors
    /// When it cannot be stored.
    fn record_trims(&mut self, _: Ppn, _: Arc<[u64]>) -> Result<(), MediaError> {
        Ok(())
    }
    /// Sectors of a page stand in protected RAM, and may stand nowhere else: written by the host and to be answered from
    /// there, or moved from flash. They are of a version, and nothing of the page beside them counts.
    fn protect(&mut self, _: Lpn, _: SectorMask, _: u64, _: &Self::Page) {}
    /// Trims stand in protected RAM: entries of the trim log, and their versions.
    fn protect_trims(&mut self, _: &[(u64, u64)]) {}
    /// Whether a block still holds what the base image put there.
    fn holds_base(&self, _: BlockId) -> bool {
        false
    }
    /// What is stored at a place, with its version.
    fn stored(&self, _: Ppn) -> Vec<(Span, u64)> {
        vec![]
    }
    /// The page of the trim log that is stored at a place.
    fn trims(&self, _: Ppn) -> Option<Arc<[u64]>> {
        None
    }
}

/// Media that a drive can be recovered from. A power cut is no time to fail: what it spoils is noted in RAM.
pub trait Recorded: Media {
    /// What is stored beside the data.
    fn metadata(&self) -> &Metadata;
    /// Power fails during a program: its slots can be neither read nor used until they are erased.
    fn tear_program(&mut self, block: BlockId, slots: Range<u32>);
    /// Power fails during an erase: nothing in the block can be read.
    fn tear_erase(&mut self, block: BlockId, slot_shift: u32);
}

/// Keeps nothing: for simulation.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct NoMedia;

impl Media for NoMedia {
    type Page = ();
    const BYTES: bool = false;
    const METADATA: bool = false;

    fn page(_: &[u8], _: SectorMask, _: usize) {}
    fn copy(_: &mut (), _: &(), _: SectorMask, _: usize) {}
    fn sector(_: &(), _: u32, _: usize) -> &[u8] {
        &[]
    }
    fn fork(&self) -> Result<NoMedia, MediaError> {
        Ok(NoMedia)
    }
    #[inline(always)]
    fn program(&mut self, _: Ppn, _: Oob, _: ()) -> Result<(), MediaError> {
        Ok(())
    }
    #[inline(always)]
    fn read(&mut self, _: Ppn, _: Lpn) -> Result<(), MediaError> {
        Ok(())
    }
    fn version(&self, _: Ppn, _: Lpn) -> u64 {
        0
    }
    #[inline(always)]
    fn erase(&mut self, _: BlockId, _: u32) -> Result<(), MediaError> {
        Ok(())
    }
}

/// Keeps each page's metadata: what recovery after a power cut has to go by.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Metadata {
    pages: SharedMap<Vec<Oob>>,
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
        self.pages.get(ppn.0).map_or(&[], Vec::as_slice)
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

/// How many sectors a page has that ends with the last of a mask.
fn sectors_to(mask: SectorMask) -> usize {
    32 - mask.0.leading_zeros() as usize
}

fn places_of(block: BlockId, slot_shift: u32) -> Range<u32> {
    block.0 << slot_shift..(block.0 + 1) << slot_shift
}

impl Media for Metadata {
    type Page = ();
    const BYTES: bool = false;
    const METADATA: bool = true;

    fn page(_: &[u8], _: SectorMask, _: usize) {}
    fn copy(_: &mut (), _: &(), _: SectorMask, _: usize) {}
    fn sector(_: &(), _: u32, _: usize) -> &[u8] {
        &[]
    }
    fn fork(&self) -> Result<Metadata, MediaError> {
        Ok(self.clone())
    }
    fn program(&mut self, ppn: Ppn, oob: Oob, _: ()) -> Result<(), MediaError> {
        self.pages.entry(ppn.0).push(oob);
        Ok(())
    }
    fn read(&mut self, _: Ppn, _: Lpn) -> Result<(), MediaError> {
        Ok(())
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

/// Keeps metadata and bytes by physical place, so that a wrong map shows as wrong data. Of bytes nothing is copied from
/// a whole page on its way to where it is stored, nor by a fork.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Bytes {
    metadata: Metadata,
    slots: SharedMap<Vec<(Lpn, Arc<[u8]>)>>,
}

impl Bytes {
    /// Over what was found beside pages whose bytes lie elsewhere.
    pub fn over(metadata: Metadata) -> Bytes {
        Bytes { metadata, slots: SharedMap::default() }
    }

    /// The bytes of a logical page at a place, if they are here.
    pub fn page_at(&self, ppn: Ppn, lpn: Lpn) -> Option<&Arc<[u8]>> {
        self.slots.get(ppn.0)?.iter().find(|(l, _)| *l == lpn).map(|(_, page)| page)
    }

    /// Keep no bytes, since all of them lie elsewhere from now on.
    pub fn forget_bytes(&mut self) {
        self.slots = SharedMap::default();
    }
}

impl Media for Bytes {
    type Page = Arc<[u8]>;
    const BYTES: bool = true;
    const METADATA: bool = true;

    fn page(data: &[u8], mask: SectorMask, sector: usize) -> Arc<[u8]> {
        let mut page = vec![0; sectors_to(mask) * sector];
        for (chunk, s) in data.chunks(sector).zip(mask.iter()) {
            page[s as usize * sector..][..chunk.len()].copy_from_slice(chunk);
        }
        page.into()
    }
    fn copy(into: &mut Arc<[u8]>, from: &Arc<[u8]>, mask: SectorMask, sector: usize) {
        let end = sectors_to(mask) * sector;
        if into.is_empty() && from.len() == end && mask == SectorMask::first(sectors_to(mask) as u32) {
            *into = Arc::clone(from);
            return;
        }
        if into.len() < end {
            let mut longer = vec![0; end];
            longer[..into.len()].copy_from_slice(into);
            *into = longer.into();
        }
        let bytes = Arc::make_mut(into);
        for s in mask.iter() {
            bytes[s as usize * sector..][..sector].copy_from_slice(Bytes::sector(from, s, sector));
        }
    }
    fn sector(page: &Arc<[u8]>, sector: u32, bytes: usize) -> &[u8] {
        static ZEROS: [u8; 65_536] = [0; 65_536];
        page.get(sector as usize * bytes..(sector as usize + 1) * bytes)
            .unwrap_or(&ZEROS[..bytes.min(65_536)])
    }
    fn fork(&self) -> Result<Bytes, MediaError> {
        Ok(self.clone())
    }
    fn program(&mut self, ppn: Ppn, oob: Oob, page: Arc<[u8]>) -> Result<(), MediaError> {
        self.metadata.program(ppn, oob, ())?;
        self.slots.entry(ppn.0).push((oob.span.lpn, page));
        Ok(())
    }
    fn read(&mut self, ppn: Ppn, lpn: Lpn) -> Result<Arc<[u8]>, MediaError> {
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
