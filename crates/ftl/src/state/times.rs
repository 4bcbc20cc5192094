//! How long an array works, by mode and type of page: looked up for each operation, and so kept as plain numbers.

use wordline_units::SimDuration;

/// How long an array works on an operation.
#[derive(Clone, Copy, Debug)]
pub struct ArrayTime {
    /// In all.
    pub all: SimDuration,
    /// Of it, reading again.
    pub again: SimDuration,
}

/// Array times of every medium, mode and page type.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub read: [u64; 4],
    pub program: [u64; 4],
    pub copy_back: u64,
    pub erase: u64,
}
