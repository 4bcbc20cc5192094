//! Operation times of a die, by cell mode and page type.

use serde::{Deserialize, Serialize};
use wordline_units::{Energy, SimDuration};

/// The most bits a cell can hold.
pub const MAX_BITS: usize = 4;

/// Array times of a block in one cell mode.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModeTiming {
    /// Time to sense a page, by page type (LSB first); entries beyond the mode's bits are unused.
    pub read: [SimDuration; MAX_BITS],
    /// Time to program, by page type; a one-shot program uses the LSB entry.
    pub program: [SimDuration; MAX_BITS],
    /// Time to erase a block.
    pub erase: SimDuration,
    /// Copy-back time of a page within its plane, if supported: a read and a program without a transfer.
    pub copy_back: Option<SimDuration>,
    /// Endurance in P/E cycles in this mode; 0 if unknown.
    pub endurance: u32,
    /// Pages of a wordline that one program writes together: 1, or the mode's bits (one-shot).
    pub pages_per_program: u8,
}

/// Energy of the operations of a medium.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MediumEnergy {
    /// Per byte transferred over the bus, at both ends.
    pub byte: Energy,
    /// Of the array by mode, [`CellMode::index`]; `None` if the flash does not support the mode.
    pub modes: [Option<ModeEnergy>; 4],
}

/// Energy of array operations in one cell mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModeEnergy {
    /// To sense a page, by page type (LSB first); entries beyond the mode's bits are unused.
    pub read: [Energy; MAX_BITS],
    /// To program, by page type; a one-shot program uses the LSB entry.
    pub program: [Energy; MAX_BITS],
    /// To erase a block.
    pub erase: Energy,
}

/// Command time, besides array and data: on the die for a read and an erase, on the bus before the data for a
/// program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CommandOverhead {
    /// Of a read.
    pub read: SimDuration,
    /// Of a program.
    pub program: SimDuration,
    /// Of an erase.
    pub erase: SimDuration,
}

/// Use of the second register of a plane, between page register and bus: it holds data while the array works
/// on the next page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheRegister {
    /// Unused: a plane has one operation at a time.
    #[default]
    Off,
    /// Cache read: the next page is sensed during a transfer out.
    Read,
    /// Cache program: the next page is transferred in during a program.
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

    /// Whether the next page is sensed during a transfer out.
    pub fn reads(self) -> bool {
        matches!(self, CacheRegister::Read | CacheRegister::On)
    }

    /// Whether the next page is transferred in during a program.
    pub fn programs(self) -> bool {
        matches!(self, CacheRegister::Program | CacheRegister::On)
    }
}
