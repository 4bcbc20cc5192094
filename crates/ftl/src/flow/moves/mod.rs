//! Pages change their place: those that a scheme moves, those of a victim, and what idle time is used for.

pub(crate) mod idle;
pub(crate) mod moves;
pub(crate) mod relocate;
