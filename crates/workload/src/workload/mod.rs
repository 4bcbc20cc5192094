//! The union of traces and generators: a workload, by its text.

pub(crate) mod originals;
pub(crate) mod spelling;
pub(crate) mod workload;
