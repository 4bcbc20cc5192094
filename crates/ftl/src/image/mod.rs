//! What a drive holds at time 0, as arithmetic: which page lies where follows from its number, so that nothing
//! is stored for a page that has not changed since.

pub(crate) mod base;
pub(crate) mod permutation;
pub(crate) mod stripe;
