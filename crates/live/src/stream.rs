//! A connection's socket.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, recvmsg, sendmsg};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A connected socket, Unix or TCP.
#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    /// Read what has been received. Nothing if the read would block.
    pub(crate) fn try_read(&self, into: &mut [IoSliceMut<'_>]) -> io::Result<Option<usize>> {
        match recvmsg(self, into, &mut RecvAncillaryBuffer::default(), RecvFlags::DONTWAIT) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            done => Ok(Some(done?.bytes)),
        }
    }

    /// Send what the socket accepts without blocking.
    pub(crate) fn send(&self, parts: &[IoSlice<'_>]) -> Result<usize, Errno> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        sendmsg(self, parts, &mut SendAncillaryBuffer::default(), flags)
    }

    /// Shut the connection down in one or both directions.
    pub(crate) fn shut(&self, how: Shutdown) {
        let _ = match self {
            Stream::Unix(s) => s.shutdown(how),
            Stream::Tcp(s) => s.shutdown(how),
        };
    }

    /// Limit the time of a blocking read or write.
    pub(crate) fn set_timeout(&self, most: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(s) => s.set_read_timeout(most).and_then(|()| s.set_write_timeout(most)),
            Stream::Tcp(s) => s.set_read_timeout(most).and_then(|()| s.set_write_timeout(most)),
        }
    }

    /// The current time limit.
    pub(crate) fn timeout(&self) -> io::Result<Option<Duration>> {
        match self {
            Stream::Unix(s) => s.read_timeout(),
            Stream::Tcp(s) => s.read_timeout(),
        }
    }

    /// Wait until the socket is ready, for at most this long. Returns whether it is.
    pub(crate) fn wait(&self, what: PollFlags, most: Option<Duration>) -> io::Result<bool> {
        let most = most.and_then(|most| Timespec::try_from(most).ok());
        match poll(&mut [PollFd::new(self, what)], most.as_ref()) {
            Err(Errno::INTR) => Ok(true),
            done => Ok(done? > 0),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Unix(s) => s.as_fd(),
            Stream::Tcp(s) => s.as_fd(),
        }
    }
}
