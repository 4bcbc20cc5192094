//! The host's side of a device: arrivals, completions, and timers. Each file has a struct with its own state, and
//! knows no other.

pub(crate) mod admission;
pub(crate) mod idle;
pub(crate) mod link;
pub(crate) mod timers;
