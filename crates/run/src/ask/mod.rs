//! What was asked: names, files and numbers, resolved into the things of a run.

pub(crate) mod given_report;
pub(crate) mod initial;
pub(crate) mod length;
pub(crate) mod queues;
pub(crate) mod saved;
pub(crate) mod setup;
pub(crate) mod spec;
