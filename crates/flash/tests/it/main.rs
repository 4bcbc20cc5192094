//! The rules and errors of chips: all integration tests of this crate, as one program.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod errors;
mod windows;
