//! How long a die is busy with an operation, by cell mode and page type.

use serde::{Deserialize, Serialize};
use wordline_units::{Energy, SimDuration};

/// The most bits a cell can hold.
pub const MAX_BITS: usize = 4;

/// Array times of a block in one cell mode.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModeTiming {
    /// Time to sense a page, by page type (LSB first); entries past the mode's bits are unused.
    pub read: [SimDuration; MAX_BITS],
    /// Time to program, by page type; a one-shot program takes the entry of the LSB.
    pub program: [SimDuration; MAX_BITS],
    /// Time to erase a block.
    pub erase: SimDuration,
    /// Time to copy a page within its plane, where the flash offers that: a read and a program without a
    /// transfer.
    pub copy_back: Option<SimDuration>,
    /// Program/erase cycles a block endures in this mode; 0 where not known.
    pub endurance: u32,
    /// Pages of a wordline that one program writes together: 1, or the mode's bits (one-shot).
    pub pages_per_program: u8,
}

/// What the operations of a medium take from the supply.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MediumEnergy {
    /// To move a byte over the bus, at both ends.
    pub byte: Energy,
    /// Of the array by mode, [`CellMode::index`]; `None` where the flash does not offer the mode.
    pub modes: [Option<ModeEnergy>; 4],
}

/// What the operations of an array take in one cell mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModeEnergy {
    /// To sense a page, by page type (LSB first); entries past the mode's bits are unused.
    pub read: [Energy; MAX_BITS],
    /// To program, by page type; a one-shot program takes the entry of the LSB.
    pub program: [Energy; MAX_BITS],
    /// To erase a block.
    pub erase: Energy,
}

/// Time that a command itself takes, besides array and data: for a read and an erase on the die,
/// for a program on the bus, ahead of the data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CommandOverhead {
    /// Of a read.
    pub read: SimDuration,
    /// Of a program.
    pub program: SimDuration,
    /// Of an erase.
    pub erase: SimDuration,
}

/// What the second register of a plane, between its page register and the bus, is used for: data are in it
/// while the array works on the next page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheRegister {
    /// Nothing: a plane has one operation at a time.
    #[default]
    Off,
    /// Cache read: the next page is sensed while one is brought out.
    Read,
    /// Cache program: the next page is brought in while one is programmed.
    Program,
    /// Both.
    On,
}

impl CacheRegister {
    /// The words of device files.
    pub const WORDS: [(&'static str, CacheRegister); 4] = [
        ("off", CacheRegister::Off),
        ("read", CacheRegister::Read),
        ("program", CacheRegister::Program),
        ("on", CacheRegister::On),
    ];

    /// The word for it in device files and reports.
    pub fn key(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// Whether it is not used.
    pub fn is_off(&self) -> bool {
        *self == CacheRegister::Off
    }

    /// Whether the next page is sensed while one is brought out.
    pub fn reads(self) -> bool {
        matches!(self, CacheRegister::Read | CacheRegister::On)
    }

    /// Whether the next page is brought in while one is programmed.
    pub fn programs(self) -> bool {
        matches!(self, CacheRegister::Program | CacheRegister::On)
    }
}
