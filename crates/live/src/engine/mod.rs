//! The drive at work for its clients.

pub(crate) mod command;
pub(crate) mod core;
pub(crate) mod power;
pub(crate) mod recovery;
mod steps;
pub(crate) mod told;
