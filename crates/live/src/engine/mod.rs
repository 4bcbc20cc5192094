//! The running drive, as its clients see it.

pub(crate) mod command;
pub(crate) mod core;
pub(crate) mod executor;
mod in_flight;
mod outbox;
pub(crate) mod recovery;
mod space;
pub(crate) mod status;
