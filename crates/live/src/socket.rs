//! A connection's socket, of either kind, in the clear or with TLS.

use crate::certificates::{Certificates, Session};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, recvmsg, sendmsg};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A connection's socket. Several threads use it at once.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: Stream,
    /// Since the client has asked for it.
    session: OnceLock<Session>,
    /// Nanoseconds that a read may take with TLS; 0 for as long as it takes.
    patience: AtomicU64,
}

/// What the system has of it.
#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    /// Read what has come; nothing where that is to be waited for.
    pub(crate) fn try_read(&self, into: &mut [IoSliceMut<'_>]) -> io::Result<Option<usize>> {
        match recvmsg(self, into, &mut RecvAncillaryBuffer::default(), RecvFlags::DONTWAIT) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            done => Ok(Some(done?.bytes)),
        }
    }

    /// Send what it takes at once.
    pub(crate) fn send(&self, parts: &[IoSlice<'_>]) -> Result<usize, Errno> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        sendmsg(self, parts, &mut SendAncillaryBuffer::default(), flags)
    }

    fn shut(&self, how: Shutdown) {
        let _ = match self {
            Stream::Unix(s) => s.shutdown(how),
            Stream::Tcp(s) => s.shutdown(how),
        };
    }

    /// Wait until something can be done, at most for so long. Returns whether it can.
    fn wait(&self, what: PollFlags, most: Option<Duration>) -> io::Result<bool> {
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

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Socket {
    pub(crate) fn new(stream: Stream) -> Socket {
        Socket { stream, session: OnceLock::new(), patience: AtomicU64::new(0) }
    }

    /// From here on both sides speak TLS.
    pub(crate) fn begin_tls(&self, certificates: &Certificates) -> io::Result<()> {
        let session = certificates.begin()?;
        self.session.set(session).map_err(|_| io::Error::other("TLS has begun"))
    }

    /// End it for both sides; whoever waits for it wakes up.
    pub(crate) fn shut(&self) {
        if let Some(session) = self.session.get() {
            session.close(&self.stream);
        }
        self.stream.shut(Shutdown::Both);
    }

    /// Hear nothing more from the other side than what it has sent.
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
        self.patience.store(most.map_or(0, |most| most.as_nanos() as u64), Ordering::Relaxed);
        match &self.stream {
            Stream::Unix(s) => s.set_read_timeout(most).and_then(|()| s.set_write_timeout(most)),
            Stream::Tcp(s) => s.set_read_timeout(most).and_then(|()| s.set_write_timeout(most)),
        }
    }

    /// Do something that may have to wait, as long as there is patience.
    fn patiently<T>(
        &self,
        what: PollFlags,
        mut done: impl FnMut() -> io::Result<Option<T>>,
    ) -> io::Result<T> {
        let most = Some(Duration::from_nanos(self.patience.load(Ordering::Relaxed)));
        let until = most.filter(|most| !most.is_zero()).map(|most| Instant::now() + most);
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
