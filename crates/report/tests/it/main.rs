//! What reports say, in JSON, in the terminal and as a page: all integration tests of this crate, as one program.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod page;
mod sample;
mod schema;
mod terminal;
mod verdict;
