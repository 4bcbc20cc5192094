//! Stubs for certificates and sessions in a build without TLS.

use crate::error::ServeError;
use crate::stream::Stream;
use rustix::io::Errno;
use std::io::{self, IoSlice, IoSliceMut};
use std::path::Path;

/// A build without TLS has no certificates.
#[derive(Clone, Debug)]
pub enum Certificates {}

/// A build without TLS has no sessions.
#[derive(Debug)]
pub(crate) enum Session {}

impl Certificates {
    /// Return an error: this build has no TLS.
    ///
    /// # Errors
    /// Always.
    pub fn load(folder: &Path, _: bool) -> Result<Certificates, ServeError> {
        let allowed = "a build with the feature tls of wordline-live, which is on by default";
        Err(ServeError::Input(format!(
            "--tls-certificates {}: this build has no TLS\n  allowed: {allowed}",
            folder.display()
        )))
    }

    pub(crate) fn begin(&self) -> io::Result<Session> {
        match *self {}
    }
}

impl Session {
    pub(crate) fn try_read(&self, _: &Stream, _: &mut [IoSliceMut<'_>]) -> io::Result<Option<usize>> {
        match *self {}
    }

    pub(crate) fn send(&self, _: &Stream, _: &[IoSlice<'_>]) -> Result<usize, Errno> {
        match *self {}
    }

    pub(crate) fn flush(&self, _: &Stream) -> io::Result<bool> {
        match *self {}
    }

    pub(crate) fn close(&self, _: &Stream) {
        match *self {}
    }
}
