//! The seam behind which data are kept: nothing, the metadata of each page, or its bytes too. It is
//! called when an operation completes and never before, so that what it holds is what a power cut
//! would leave. What the cut itself spoils is told by [`crate::Recorded::tear_program`] and
//! [`crate::Recorded::tear_erase`].
//!
//! Other pages of a wordline keep their bits when a program is cut, since only the slots of that
//! program are torn: a drive holds the old bits in protected RAM until the operation ends. A
//! reprogram will tear the slot of the page that it adds, and no other.
//!
//! Media are given to a drive from outside, and may fail: see [`MediaError`], and docs/engine/media.md.

use crate::media::error::MediaError;
use crate::media::page::PageData;
use crate::plan::region::RegionId;
use crate::plan::span::Span;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
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

/// Where programmed data go. What changes or brings bytes may fail; what is asked of metadata is answered from RAM.
pub trait Media: Sized {
    /// Whether pages carry bytes. Where not, none of their copies is made.
    const BYTES: bool;
    /// Whether the version of each page is wanted back from where it is stored.
    const METADATA: bool;

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
    fn program(&mut self, ppn: Ppn, oob: Oob, page: PageData) -> Result<(), MediaError>;
    /// What is stored for a logical page at a place.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&mut self, ppn: Ppn, lpn: Lpn) -> Result<PageData, MediaError>;
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
}

/// Keeps nothing: for simulation.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct NoMedia;

impl Media for NoMedia {
    const BYTES: bool = false;
    const METADATA: bool = false;

    fn fork(&self) -> Result<NoMedia, MediaError> {
        Ok(NoMedia)
    }
    #[inline(always)]
    fn program(&mut self, _: Ppn, _: Oob, _: PageData) -> Result<(), MediaError> {
        Ok(())
    }
    #[inline(always)]
    fn read(&mut self, _: Ppn, _: Lpn) -> Result<PageData, MediaError> {
        Ok(PageData::default())
    }
    fn version(&self, _: Ppn, _: Lpn) -> u64 {
        0
    }
    #[inline(always)]
    fn erase(&mut self, _: BlockId, _: u32) -> Result<(), MediaError> {
        Ok(())
    }
}
