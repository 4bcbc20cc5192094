//! Contents of a drive at time 0, as arithmetic: the place of a page follows from its number, so that nothing
//! is stored for unchanged pages.

pub(crate) mod base;
pub(crate) mod permutation;
mod residents;
pub(crate) mod stripe;
