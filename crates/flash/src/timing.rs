//! How long a die is busy with an operation, by cell mode and page type.

use serde::{Deserialize, Serialize};
use wordline_units::SimDuration;

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
