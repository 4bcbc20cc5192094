//! How space is made, and why else pages move.

pub(crate) mod idle;
pub(crate) mod job;
pub(crate) mod level;
pub(crate) mod moves;
pub(crate) mod refresh;
pub(crate) mod relocate;
pub(crate) mod superblock;
pub(crate) mod victim;
