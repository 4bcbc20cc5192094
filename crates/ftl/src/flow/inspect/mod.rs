//! What can be asked of a drive, and whether its tables agree.

pub(crate) mod blocks;
pub(crate) mod check;
pub(crate) mod contents;
pub(crate) mod history;
pub(crate) mod pending;
pub(crate) mod wordline;
