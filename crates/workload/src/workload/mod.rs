//! Workloads: traces and generators, by their text.

pub(crate) mod originals;
pub(crate) mod spelling;
pub(crate) mod workload;
