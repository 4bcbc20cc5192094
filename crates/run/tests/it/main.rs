//! Experiments from their options to their reports: all integration tests of this crate, as one program.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod advice;
mod combinations;
mod golden;
mod jobs;
mod lifetime;
mod options;
mod page_write_cost;
mod registered;
mod run;
mod run_end;
mod saved;
mod steady_state;
mod traces;
mod why;
