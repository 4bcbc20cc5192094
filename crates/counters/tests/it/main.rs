//! Counters and what reports say of them.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod figures;
mod three_edits;
