//! The specification of a run: names, files and numbers, resolved.

pub(crate) mod initial;
pub(crate) mod length;
pub(crate) mod queues;
pub(crate) mod report_path;
pub(crate) mod saved;
pub(crate) mod setup;
pub(crate) mod spec;
