//! The seam behind which data are kept: the metadata of each page, or its bytes too. It is
//! called when an operation completes and never before, so that what it holds is what a power cut
//! would leave. What the cut itself spoils is told by [`Media::tear_program`] and [`Media::tear_erase`].
//!
//! Other pages of a wordline keep their bits when a program is cut, since only the slots of that
//! program are torn: a drive holds the old bits in protected RAM until the operation ends. A
//! reprogram will tear the slot of the page that it adds, and no other.
//!
//! Media are given to a drive from outside, and may fail: see [`MediaError`], and docs/engine/media.md.

use crate::file::saved::{Loader, Saver};
use crate::file::shared::SharedMap;
use crate::file::state_file::StateError;
use crate::media::error::MediaError;
use crate::media::found::{BlockFound, BlockHeader, Oob, SlotFound};
use crate::media::page::PageData;
use crate::plan::span::Span;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::any::Any;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};

/// Storage of programmed data. Methods that change or return bytes may fail; metadata are read from RAM.
pub trait Media: Any + Send + Sync {
    /// Whether pages carry bytes, always or never. Where not, none of their copies is made.
    fn keeps_bytes(&self) -> bool;
    /// A copy: what either holds now both share, and what is written to one from now on the other
    /// never sees.
    ///
    /// # Errors
    /// When there is no place for another.
    fn fork(&self) -> Result<Box<dyn Media>, MediaError>;
    /// A program completes.
    ///
    /// # Errors
    /// When it cannot be stored; nothing of it is then.
    fn program(&mut self, ppn: Ppn, oob: Oob, page: PageData) -> Result<(), MediaError>;
    /// What is stored for a logical page at a place.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&mut self, ppn: Ppn, lpn: Lpn) -> Result<PageData, MediaError>;
    /// Show what [`Media::read`] returns, for which media that hold it need no copy.
    ///
    /// # Errors
    /// When it cannot be read.
    fn show(&mut self, ppn: Ppn, lpn: Lpn, to: &mut dyn FnMut(&PageData)) -> Result<(), MediaError> {
        self.read(ppn, lpn).map(|page| to(&page))
    }
    /// The version stored for a logical page at a place; 0 for data older than the run.
    fn version(&self, ppn: Ppn, lpn: Lpn) -> u64;
    /// An erase completes.
    ///
    /// # Errors
    /// When the block cannot be emptied; it then holds what it held.
    fn erase(&mut self, block: BlockId, slot_shift: u32) -> Result<(), MediaError>;

    /// Newer writes have replaced sectors at the place `old`, and nobody reads it: the bytes of a logical page of which the
    /// places `by` have every sector in a newer version are never asked for again, after a power cut neither. Returns
    /// whether others stay.
    fn superseded(&mut self, _old: Ppn, _by: &[Ppn]) -> bool {
        false
    }

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
    fn protect(&mut self, _: Lpn, _: SectorMask, _: u64, _: &PageData) {}
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
    /// What a drive is recovered from after a power cut. Media that have none are lost with the power.
    fn metadata(&self) -> Option<&Metadata> {
        None
    }
    /// Power fails during a program: its slots can be neither read nor used until they are erased. A power cut is no time
    /// to fail: what it spoils is noted in RAM.
    fn tear_program(&mut self, _: BlockId, _: Range<u32>) {}
    /// Power fails during an erase: nothing in the block can be read.
    fn tear_erase(&mut self, _: BlockId, _: u32) {}
    /// Write what they hold into the state of their drive.
    ///
    /// # Errors
    /// When that cannot be written, or what they hold has a place of its own.
    fn save(&self, _: &mut Saver) -> io::Result<()> {
        Err(io::Error::other(format!("{} are stored separately; save the drive without them", self.name())))
    }
    /// Read it back.
    ///
    /// # Errors
    /// When the state is of other media, or damaged.
    fn load(&mut self, from: &mut Loader) -> Result<(), StateError> {
        Err(from.other("media"))
    }
    /// Their type, for errors.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

/// Media that keep the metadata of each page, from which a drive recovers after a power cut.
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

    /// Whether some places together have a newer version of every sector that a place has of a logical page.
    pub fn is_over(&self, old: Ppn, lpn: Lpn, by: &[Ppn]) -> bool {
        self.page(old).iter().filter(|oob| oob.span.lpn == lpn).all(|oob| {
            let newer = by.iter().flat_map(|by| self.page(*by));
            let newer = newer.filter(|n| n.span.lpn == lpn && n.version > oob.version);
            newer.fold(oob.span.mask, |left, n| left.minus(n.span.mask)).is_empty()
        })
    }

    /// Every stored page of the trim log, including superseded ones.
    pub fn trim_pages(&self) -> impl Iterator<Item = (Ppn, &[u64])> {
        self.trims.iter().map(|(ppn, record)| (Ppn(ppn), &record[..]))
    }

    /// A block, if it was ever used.
    pub fn block(&self, block: BlockId) -> Option<&BlockFound> {
        self.blocks.get(block.0)
    }

    /// Record a block as found.
    pub fn insert_block(&mut self, block: BlockId, found: BlockFound) {
        self.blocks.insert(block.0, found);
    }

    /// The slots torn by a power cut, by place.
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

/// The places of a block.
pub(crate) fn places_of(block: BlockId, slot_shift: u32) -> Range<u32> {
    block.0 << slot_shift..(block.0 + 1) << slot_shift
}

impl Media for Metadata {
    fn keeps_bytes(&self) -> bool {
        false
    }
    fn fork(&self) -> Result<Box<dyn Media>, MediaError> {
        Ok(Box::new(self.clone()))
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
    fn metadata(&self) -> Option<&Metadata> {
        Some(self)
    }
    fn tear_program(&mut self, block: BlockId, slots: Range<u32>) {
        self.mark(block, slots, SlotFound::Torn);
    }
    fn tear_erase(&mut self, block: BlockId, slot_shift: u32) {
        self.clear(block, slot_shift).half_erased = true;
    }
    fn save(&self, to: &mut Saver) -> io::Result<()> {
        to.value(self)
    }
    fn load(&mut self, from: &mut Loader) -> Result<(), StateError> {
        *self = from.value("media")?;
        Ok(())
    }
}
