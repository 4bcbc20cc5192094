//! Generators of requests: synthetic workloads, fio job files, twins.

pub(crate) mod jobs;
pub(crate) mod synthetic;
pub(crate) mod twin;
