//! Device files as they are written and read: all integration tests of this crate, as one program.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod devices;
mod import;
mod keys;
mod plausible;
mod problems;
