//! The live drive from outside: a client of the tests, and real ones where they are installed.

#![allow(clippy::disallowed_methods, reason = "tests wait for processes and threads")]
#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions
#![allow(clippy::print_stdout)] // which client is not installed

mod client;
mod clients;
mod control;
mod cuts;
mod damage;
mod environment;
mod failing;
mod folder;
mod forks;
mod hostile;
mod large;
mod ledger;
mod places;
mod reads;
mod recorder;
mod recovery;
mod session;
mod support;
mod tls;
mod volatile;
