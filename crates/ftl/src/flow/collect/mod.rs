//! How space is made, and why else pages move.

pub(crate) mod idle;
pub(crate) mod job;
pub(crate) mod moves;
pub(crate) mod refresh;
