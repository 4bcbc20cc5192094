//! Schemes as their registry shows them: all integration tests of this crate, as one program, so that it is compiled
//! for them once.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod capacity;
mod defaults;
mod hooks;
mod pages;
mod sample;
mod support;
