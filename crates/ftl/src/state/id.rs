//! Pending items, by number.

use serde::{Deserialize, Serialize};

/// The number of nothing.
pub(crate) const NONE: u32 = u32::MAX;

/// A request in the drive, by its index in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RequestId(pub u32);

impl RequestId {
    #[inline(always)]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operation, by its index in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OpId(pub u32);

impl OpId {
    /// No operation.
    pub const NONE: OpId = OpId(NONE);

    /// Whether this is [`Self::NONE`].
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.0 == NONE
    }

    #[inline(always)]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}
