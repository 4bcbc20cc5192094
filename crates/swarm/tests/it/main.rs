//! The swarm over the schemes of the literature and its own, and over schemes of somebody else.

#![allow(clippy::disallowed_methods, reason = "a session has a budget of time")]
#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod kept;
mod own_scheme;
mod progress;
mod reach;
mod swarm;
