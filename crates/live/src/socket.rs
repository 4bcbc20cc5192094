//! A connection's socket, of either kind, unencrypted or with TLS.

use crate::certificates::{Certificates, Session};
use crate::protocol::handshake;
use crate::stream::Stream;
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A connection's socket. Several threads use it at once.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: Stream,
    /// Since the client has asked for it.
    session: OnceLock<Session>,
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Socket {
    pub(crate) fn new(stream: Stream) -> Socket {
        Socket { stream, session: OnceLock::new() }
    }

    /// From here on both sides speak TLS.
    pub(crate) fn begin_tls(&self, certificates: &Certificates) -> io::Result<()> {
        let session = certificates.begin()?;
        self.session.set(session).map_err(|_| io::Error::other("TLS has begun"))
    }

    /// Shut it down in both directions; blocked threads wake up.
    pub(crate) fn shut(&self) {
        if let Some(session) = self.session.get() {
            session.close(&self.stream);
        }
        self.stream.shut(Shutdown::Both);
    }

    /// Shut down reception.
    pub(crate) fn shut_read(&self) {
        self.stream.shut(Shutdown::Read);
    }

    /// Read what has come; nothing where that is to be waited for.
    pub(crate) fn try_read(&self, into: &mut [IoSliceMut<'_>]) -> io::Result<Option<usize>> {
        match self.session.get() {
            None => self.stream.try_read(into),
            Some(session) => session.try_read(&self.stream, into),
        }
    }

    /// Send what it takes at once.
    pub(crate) fn send(&self, parts: &[IoSlice<'_>]) -> Result<usize, Errno> {
        match self.session.get() {
            None => self.stream.send(parts),
            Some(session) => session.send(&self.stream, parts),
        }
    }

    /// Send on what it has taken. Returns whether all of that is gone.
    pub(crate) fn flush(&self) -> io::Result<bool> {
        self.session.get().map_or(Ok(true), |session| session.flush(&self.stream))
    }

    /// Sleep until something comes, at most for so long.
    pub(crate) fn wait(&self, most: Duration) -> io::Result<()> {
        self.stream.wait(PollFlags::IN, Some(most)).map(drop)
    }

    /// Sleep until more can be sent.
    pub(crate) fn wait_for_room(&self) {
        let _ = self.stream.wait(PollFlags::OUT, None);
    }

    /// How long a read and a write may take.
    pub(crate) fn patience(&self, most: Option<Duration>) -> io::Result<()> {
        self.stream.set_timeout(most)
    }

    /// Do something that may have to wait, as long as there is patience.
    fn patiently<T>(
        &self,
        what: PollFlags,
        mut done: impl FnMut() -> io::Result<Option<T>>,
    ) -> io::Result<T> {
        let until = self.stream.timeout()?.map(|most| Instant::now() + most);
        loop {
            if let Some(done) = done()? {
                return Ok(done);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if !self.stream.wait(what, left)? && left.is_some() {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

impl Read for &Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.read_vectored(&mut [IoSliceMut::new(into)])
    }

    fn read_vectored(&mut self, into: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match (self.session.get(), &self.stream) {
            (Some(_), _) => self.patiently(PollFlags::IN, || self.try_read(into)),
            (None, Stream::Unix(s)) => (&*s).read_vectored(into),
            (None, Stream::Tcp(s)) => (&*s).read_vectored(into),
        }
    }
}

impl Write for &Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (self.session.get(), &self.stream) {
            (Some(_), _) => self.patiently(PollFlags::OUT, || match self.send(&[IoSlice::new(bytes)]) {
                Err(Errno::AGAIN | Errno::INTR) => Ok(None),
                sent => Ok(Some(sent?)),
            }),
            (None, Stream::Unix(s)) => (&*s).write(bytes),
            (None, Stream::Tcp(s)) => (&*s).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.patiently(PollFlags::OUT, || Ok(Socket::flush(self)?.then_some(())))
    }
}

/// A client in the handshake, which may ask for TLS. All of its handshake has a deadline: with a limit for each read, a client that
/// sends a byte now and then would keep one of the few connections for hours.
pub(crate) struct Greeted<'a> {
    socket: &'a Socket,
    certificates: Option<&'a Certificates>,
    until: Instant,
}

impl<'a> Greeted<'a> {
    /// A client that has `most` for its handshake. It may ask for TLS if there are certificates.
    pub(crate) fn new(
        socket: &'a Socket,
        certificates: Option<&'a Certificates>,
        most: Duration,
    ) -> Greeted<'a> {
        Greeted { socket, certificates, until: Instant::now() + most }
    }

    /// The socket, which waits up to the deadline.
    fn in_time(&self) -> io::Result<&'a Socket> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.socket.patience(Some(left))?;
        Ok(self.socket)
    }
}

impl Read for Greeted<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.in_time()?.read(into)
    }
}

impl Write for Greeted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.in_time()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.in_time()?)
    }
}

impl handshake::Client for Greeted<'_> {
    fn begin_tls(&mut self) -> io::Result<()> {
        let certificates = self.certificates.ok_or(io::ErrorKind::Unsupported)?;
        self.socket.begin_tls(certificates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn handshake_ends_at_its_deadline_despite_more_data() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let socket = Socket::new(Stream::Unix(ours));
        theirs.write_all(&[7; 8]).unwrap();
        let (hour, mut byte) = (Duration::from_secs(3600), [0; 1]);
        let mut early = Greeted::new(&socket, None, hour);
        for _ in 0..4 {
            early.read_exact(&mut byte).unwrap();
            assert!(
                socket.stream.timeout().unwrap().is_some_and(|left| left <= hour),
                "never more than at first"
            );
        }
        let late = Greeted::new(&socket, None, Duration::ZERO).read(&mut byte).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    }
}
