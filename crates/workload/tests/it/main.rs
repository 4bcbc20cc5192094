//! Traces, job files, synthetic workloads and twins: all integration tests of this crate, as one program.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod bad_input;
mod fio;
mod fio_examples;
mod fio_keys;
mod hints;
mod hostile;
mod jobs;
mod kinds;
mod loops;
mod memory;
mod sources;
mod support;
mod synthetic;
mod traces;
mod twin_files;
mod twins;
mod units;
