//! Why no crash state could be checked.

use std::io;
use thiserror::Error;
use wordline_live::ServeError;

/// Why no crash state could be checked.
#[derive(Debug, Error)]
pub enum CrashError {
    /// Invalid input: where, what, what is allowed.
    #[error("{0}")]
    Input(String),
    /// An error of the system: a socket, a file, a process.
    #[error("{0}")]
    Machine(String),
    /// The search was stopped.
    #[error("stopped")]
    Stopped,
}

impl From<ServeError> for CrashError {
    fn from(e: ServeError) -> CrashError {
        CrashError::Machine(e.to_string())
    }
}

impl CrashError {
    /// An error of a file or a process, with what was attempted.
    pub(crate) fn machine(what: &str) -> impl Fn(io::Error) -> CrashError + '_ {
        move |e| CrashError::Machine(format!("{what}: {e}"))
    }
}
