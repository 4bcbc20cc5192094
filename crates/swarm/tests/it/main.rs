//! The swarm over the schemes of the literature and its own, and over schemes of somebody else.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod kept;
mod own_scheme;
mod progress;
mod reach;
mod swarm;
