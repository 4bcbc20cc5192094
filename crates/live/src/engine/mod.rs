//! The drive at work for its clients.

pub(crate) mod command;
pub(crate) mod core;
pub(crate) mod power;
pub(crate) mod recovery;
pub(crate) mod status;
mod steps;
