//! Why no crash state could be checked.

use std::io;
use thiserror::Error;
use wordline_live::ServeError;

/// Why no crash state could be checked.
#[derive(Debug, Error)]
pub enum CrashError {
    /// What was given is wrong: where, what, what is allowed.
    #[error("{0}")]
    Input(String),
    /// The machine: a socket, a file, a process.
    #[error("{0}")]
    Machine(String),
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

impl From<ServeError> for CrashError {
    fn from(e: ServeError) -> CrashError {
        CrashError::Machine(e.to_string())
    }
}

impl CrashError {
    /// A file or a process that the machine does not give.
    pub(crate) fn machine(what: &str) -> impl Fn(io::Error) -> CrashError + '_ {
        move |e| CrashError::Machine(format!("{what}: {e}"))
    }
}
