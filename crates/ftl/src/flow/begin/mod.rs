//! Initial states of a drive.

pub(crate) mod contents;
pub(crate) mod precondition;
pub(crate) mod steady;
