//! The native binary as a process: all integration tests of this crate, as one program.

#![allow(clippy::disallowed_methods, reason = "tests wait for processes and threads")]
#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod completions;
mod device;
mod interrupt;
mod live;
mod support;
mod trace;
mod tree;
mod twin;
