//! The drive at work for its clients.

pub(crate) mod command;
pub(crate) mod core;
mod power;
mod steps;
mod told;
