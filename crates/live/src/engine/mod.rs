//! The running drive, as its clients see it.

pub(crate) mod command;
pub(crate) mod core;
pub(crate) mod power;
pub(crate) mod recovery;
pub(crate) mod status;
mod steps;
