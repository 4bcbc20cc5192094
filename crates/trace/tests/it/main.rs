//! Traces in every format, whole and damaged: all integration tests of this crate, as one program.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod bad_input;
mod hints;
mod hostile;
mod sources;
mod traces;
mod two_edits;
mod units;
