//! Moves of pages: those of a scheme, those of a victim, and work in idle time.

pub(crate) mod idle;
pub(crate) mod moves;
pub(crate) mod relocate;
