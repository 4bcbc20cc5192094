//! Errors of a served drive, by cause.

use std::io;
use std::time::Duration;
use thiserror::Error;
use wordline_run::RunError;

/// Why a drive cannot be served, or a session cannot be rerun.
#[derive(Debug, Error)]
pub enum ServeError {
    /// In the device, the scheme or the initial state.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Another invalid argument: where, what, what is allowed.
    #[error("{0}")]
    Input(String),
    /// An error of the system: a socket, a thread or a file.
    #[error("{0}")]
    Machine(String),
}

impl ServeError {
    /// The exit code of a command that fails with it: 2 for errors that the user can fix, 1 for the rest.
    pub fn exit_code(&self) -> i32 {
        match self {
            ServeError::Run(e) => e.exit_code(),
            ServeError::Input(_) => 2,
            ServeError::Machine(_) => 1,
        }
    }
}

/// Why a connection ends, unless the client disconnects. One line of the log.
#[derive(Debug, Error)]
pub(crate) enum Broken {
    /// The client violates the protocol.
    #[error("{what}: protocol error ({section}); connection closed")]
    Protocol {
        /// What it sent.
        what: String,
        /// The section of the protocol document.
        section: &'static str,
    },
    /// An error of the socket.
    #[error("connection lost: {0}")]
    Io(#[from] io::Error),
}

impl Broken {
    pub(crate) fn protocol(what: impl Into<String>, section: &'static str) -> Broken {
        Broken::Protocol { what: what.into(), section }
    }

    /// The reason for an end during the handshake, where the wait for a client is limited.
    pub(crate) fn in_handshake(self, patience: Duration) -> Broken {
        match self {
            Broken::Io(e) if [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut].contains(&e.kind()) => {
                let what = format!("handshake timed out after {} s", patience.as_secs());
                Broken::Io(io::Error::new(io::ErrorKind::TimedOut, what))
            }
            broken => broken,
        }
    }

    /// Whether the client merely disconnected, which is not logged.
    pub(crate) fn is_quiet(&self) -> bool {
        use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
        matches!(self, Broken::Io(e) if [BrokenPipe, ConnectionReset, UnexpectedEof].contains(&e.kind()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Duration = Duration::from_secs(10);

    // In the handshake.
    #[test]
    fn silent_client_differs_from_a_broken_socket() {
        let said = |kind: io::ErrorKind| Broken::Io(kind.into()).in_handshake(TEN).to_string();
        assert!(said(io::ErrorKind::WouldBlock).contains("handshake timed out after 10 s"));
        assert!(!said(io::ErrorKind::Other).contains("handshake"));
        assert!(Broken::Io(io::ErrorKind::BrokenPipe.into()).in_handshake(TEN).is_quiet());
    }
}
