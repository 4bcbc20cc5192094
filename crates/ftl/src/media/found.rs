//! What is found on flash beside the data: of a page, a slot and a block.

use crate::plan::region::RegionId;
use crate::plan::span::Span;
use serde::{Deserialize, Serialize};
use wordline_units::CellMode;

/// The record of a stored span in a page's spare area.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Oob {
    /// The stored span.
    pub span: Span,
    /// Version of the host write of the data; relocation does not change it.
    pub version: u64,
    /// The order in which programs ended.
    pub sequence: u64,
}

/// Metadata in the first page of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockHeader {
    /// The region that opened it.
    pub region: RegionId,
    /// Its mode until the next erase.
    pub mode: CellMode,
    /// Its erase count.
    pub erases: u32,
    /// Its place in the order of programs.
    pub opened: u64,
}

/// State of a slot after a power cut.
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

/// State of a block after a power cut.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BlockFound {
    /// Its header; none if its first program was torn.
    pub header: Option<BlockHeader>,
    /// Its erase count, which the drive rewrites after each erase.
    pub erases: u32,
    /// Its slots, up to the last programmed one.
    pub slots: Vec<SlotFound>,
    /// Power failed during its erase: it must be erased again.
    pub half_erased: bool,
    /// Whether it still holds what the base image put there.
    pub base: bool,
}
