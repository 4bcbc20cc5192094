//! Traces, job files, synthetic workloads and twins: all integration tests of this crate, as one program.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod fio;
mod fio_examples;
mod fio_keys;
mod footprints;
mod jobs;
mod kinds;
mod loops;
mod memory;
mod names;
mod support;
mod synthetic;
mod twin_files;
mod twins;
