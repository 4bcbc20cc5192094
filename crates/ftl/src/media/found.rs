//! What is found on flash beside the data: of a page, a slot and a block.

use crate::plan::region::RegionId;
use crate::plan::span::Span;
use serde::{Deserialize, Serialize};
use wordline_units::CellMode;

/// The record of a stored span in a page's spare area.
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
