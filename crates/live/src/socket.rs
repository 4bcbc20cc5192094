//! A connection's socket, of either kind.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A connection's socket. Several threads use it at once.
#[derive(Debug)]
pub(crate) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// End it for both sides; whoever waits for it wakes up.
    pub(crate) fn shut(&self) {
        let _ = match self {
            Socket::Unix(s) => s.shutdown(Shutdown::Both),
            Socket::Tcp(s) => s.shutdown(Shutdown::Both),
        };
    }

    /// Hear nothing more from the other side than what it has sent.
    pub(crate) fn shut_read(&self) {
        let _ = match self {
            Socket::Unix(s) => s.shutdown(Shutdown::Read),
            Socket::Tcp(s) => s.shutdown(Shutdown::Read),
        };
    }

    /// Read what has come; nothing where that is to be waited for.
    pub(crate) fn try_read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match recv(self, into, RecvFlags::DONTWAIT) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            done => Ok(Some(done?.1)),
        }
    }

    /// Sleep until something comes, at most for so long.
    pub(crate) fn wait(&self, most: Duration) -> io::Result<()> {
        let most = Timespec::try_from(most).ok();
        match poll(&mut [PollFd::new(self, PollFlags::IN)], most.as_ref()) {
            Err(Errno::INTR) => Ok(()),
            done => Ok(done.map(drop)?),
        }
    }

    /// How long a read and a write may take.
    pub(crate) fn patience(&self, most: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Unix(s) => s.set_read_timeout(most).and_then(|()| s.set_write_timeout(most)),
            Socket::Tcp(s) => s.set_read_timeout(most).and_then(|()| s.set_write_timeout(most)),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Unix(s) => s.as_fd(),
            Socket::Tcp(s) => s.as_fd(),
        }
    }
}

impl Read for &Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(s) => (&*s).read(into),
            Socket::Tcp(s) => (&*s).read(into),
        }
    }
}

impl Write for &Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(s) => (&*s).write(bytes),
            Socket::Tcp(s) => (&*s).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
