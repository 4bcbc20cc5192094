//! The end of life that is asked for.

use crate::end::EndOfLife;

/// The end that is asked for, and whether it has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub end: EndOfLife,
    pub least_bytes: u64,
    /// Blocks that had retired when this was last looked at: it changes with them only.
    pub retired: u32,
    pub short: bool,
}

impl Default for Watch {
    fn default() -> Watch {
        Watch { end: EndOfLife::OutOfSpace, least_bytes: 0, retired: 0, short: false }
    }
}
