//! How a command ends badly.

use crate::interrupt;
use std::fmt;
use std::io;
use wordline_run::{Blame, RunError};

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The run.
    Run(RunError),
    /// User input other than that of a run.
    Input(String),
    /// The result of a rerun differs.
    Differs(String),
    /// A file could not be written.
    Output(String),
    /// A command that was run ended badly, with this exit code.
    #[cfg_attr(not(feature = "live"), allow(dead_code, reason = "only a served drive runs commands"))]
    Command(String, i32),
    /// A server could not keep something, whatever has ended it.
    #[cfg_attr(not(feature = "live"), allow(dead_code, reason = "nothing is served"))]
    Served(String),
    /// Stopped by a signal, with what was kept.
    Stopped(String),
    /// Standard output is closed: nobody listens any more.
    Closed,
}

impl Failure {
    pub(crate) fn exit_code(&self) -> i32 {
        match self {
            _ if self.interruption().is_some() => interrupt::exit_code(),
            Failure::Run(e) => e.exit_code(),
            Failure::Input(_) => 2,
            // What cannot be written is known before a run; later it is the machine's fault.
            Failure::Output(_) | Failure::Differs(_) | Failure::Served(_) => 1,
            Failure::Command(_, code) => *code,
            Failure::Stopped(_) => interrupt::exit_code(),
            Failure::Closed => 0,
        }
    }

    /// Whether a signal caused it, and what was saved nevertheless.
    pub(crate) fn interruption(&self) -> Option<&str> {
        match self {
            Failure::Stopped(kept) => Some(kept),
            Failure::Run(e) if e.blame() == Blame::Interrupted => Some("no results were kept"),
            // Whatever goes wrong then does so because of it.
            Failure::Run(_) | Failure::Input(_) | Failure::Output(_) if interrupt::is_asked() => {
                Some("no results were kept")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Run(e) => e.fmt(f),
            Failure::Input(text)
            | Failure::Output(text)
            | Failure::Differs(text)
            | Failure::Served(text)
            | Failure::Command(text, _)
            | Failure::Stopped(text) => f.write_str(text),
            Failure::Closed => f.write_str("standard output is closed"),
        }
    }
}

impl From<RunError> for Failure {
    fn from(e: RunError) -> Failure {
        Failure::Run(e)
    }
}

impl From<io::Error> for Failure {
    /// An error of standard output.
    fn from(e: io::Error) -> Failure {
        if e.kind() == io::ErrorKind::BrokenPipe {
            Failure::Closed
        } else {
            Failure::Output(format!("standard output cannot be written: {}", wordline_units::io_reason(&e)))
        }
    }
}
