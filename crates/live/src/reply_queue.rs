//! Replies of one client that are not yet sent. The thread that has a reply sends it without blocking. A
//! thread of the connection sends what the socket does not accept, so that a client that does not read its
//! replies delays no other client. The number of outstanding requests is limited: a client above the limit is
//! not read until it has taken some replies.

use crate::lock;
use crate::protocol::handshake::Agreed;
use crate::protocol::reply::Reply;
use crate::socket::Socket;
use crate::statistics::{Served, Statistics};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of outstanding requests of a connection.
const MOST_REQUESTS: usize = 1024;
/// Maximum bytes of data of outstanding requests. A single request may exceed what is left.
const MOST_BYTES: usize = 64 << 20;
/// Maximum number of replies per system call.
const TOGETHER: usize = 32;

/// The replies of a client.
pub(crate) struct ReplyQueue {
    pub agreed: Agreed,
    /// The number of power cuts before its connection began. The next power cut ends the connection.
    pub epoch: u64,
    /// The number of the connection.
    pub number: u64,
    socket: Arc<Socket>,
    /// Counts each reply that is sent.
    statistics: Arc<Mutex<Statistics>>,
    state: Mutex<State>,
    changed: Condvar,
}

/// A reply in the queue.
struct Leaving {
    reply: Reply,
    /// Bytes of its request that count towards the limit.
    bytes: usize,
    served: Served,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Leaving>,
    /// Bytes of the first reply that have been sent.
    sent: usize,
    /// The socket accepts no more data now.
    stuck: bool,
    closed: bool,
    /// The reading thread waits for room.
    full: bool,
    /// The client sends no more requests.
    leaving: bool,
    requests: usize,
    bytes: usize,
}

impl ReplyQueue {
    pub(crate) fn new(
        socket: Arc<Socket>,
        statistics: Arc<Mutex<Statistics>>,
        agreed: Agreed,
        (number, epoch): (u64, u64),
    ) -> ReplyQueue {
        ReplyQueue {
            agreed,
            epoch,
            number,
            socket,
            statistics,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Whether the client has disconnected.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).closed
    }

    /// Whether no request is outstanding, so that the client's next request comes next.
    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.state).requests == 0
    }

    /// Whether no more than one request is outstanding.
    pub(crate) fn is_last(&self) -> bool {
        lock(&self.state).requests <= 1
    }

    /// Admit a request with this many bytes if that needs no wait. Returns whether it was admitted; it then
    /// counts as outstanding.
    pub(crate) fn admits(&self, bytes: usize) -> bool {
        self.take(lock(&self.state), bytes)
    }

    /// Wait until a request with this many bytes can be admitted; it then counts as outstanding. Returns
    /// false if the connection has ended.
    pub(crate) fn admit(&self, bytes: usize) -> bool {
        let mut state = lock(&self.state);
        while !state.closed && !state.fits(bytes) {
            state.full = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.take(state, bytes)
    }

    /// The client sends no more requests: its connection ends after the last reply.
    pub(crate) fn leave(&self) {
        let mut state = lock(&self.state);
        state.leaving = true;
        if state.requests == 0 {
            self.socket.shut();
        }
    }

    fn take(&self, mut state: MutexGuard<'_, State>, bytes: usize) -> bool {
        let taken = !state.closed && state.fits(bytes);
        if taken {
            state.requests += 1;
            state.bytes += bytes;
        }
        taken
    }

    /// Queue the reply to a request whose data have this many bytes.
    pub(crate) fn push(&self, reply: Reply, bytes: usize, served: Served) {
        let mut state = lock(&self.state);
        if !state.closed {
            state.queue.push_back(Leaving { reply, bytes, served });
        }
    }

    /// Wait until all replies that a client may have received are counted in the statistics.
    pub(crate) fn settle(&self) {
        drop(lock(&self.state));
    }

    /// Send what the socket accepts.
    pub(crate) fn send(&self) {
        let mut state = lock(&self.state);
        if !state.stuck {
            self.send_some(&mut state);
        }
    }

    fn send_some(&self, state: &mut State) {
        state.stuck = false;
        let mut left = vec![];
        while !state.queue.is_empty() && !state.closed {
            let mut skip = state.sent;
            let mut parts = [IoSlice::new(&[]); TOGETHER * 2];
            let mut used = 0;
            for part in state.queue.iter().take(TOGETHER).flat_map(|leaving| leaving.reply.parts()) {
                let rest = part.get(skip..).unwrap_or(&[]);
                skip = skip.saturating_sub(part.len());
                if !rest.is_empty() {
                    parts[used] = IoSlice::new(rest);
                    used += 1;
                }
            }
            // A reply is sent when the system takes it. The system may then run the client before this
            // thread, so take the time first.
            let now = Instant::now();
            match self.socket.send(&parts[..used]) {
                Ok(sent) => state.has_sent(sent, |served| left.push((served, now))),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    state.stuck = true;
                    break;
                }
                Err(_) => {
                    state.close();
                    self.socket.shut();
                }
            }
        }
        // With TLS, data that the session has accepted may not have been sent yet.
        match self.socket.flush() {
            Ok(gone) => state.stuck |= !gone && !state.closed,
            Err(_) => {
                state.close();
                self.socket.shut();
            }
        }
        if !left.is_empty() {
            lock(&self.statistics).note(&left);
        }
        if state.leaving && state.requests == 0 {
            self.socket.shut();
        }
        // Wake the thread that sends the rest, or the one that waits for room, only if there is work for it.
        if state.stuck || state.closed || std::mem::take(&mut state.full) {
            self.changed.notify_all();
        }
    }

    /// Send what the socket did not accept before, until the connection is closed.
    pub(crate) fn send_on(&self) {
        let mut state = lock(&self.state);
        while !state.closed {
            if !state.stuck {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(state);
            self.socket.wait_for_room();
            state = lock(&self.state);
            self.send_some(&mut state);
        }
    }

    /// Wait until the queue has been sent, for at most this long.
    pub(crate) fn drain(&self, most: Duration) {
        let until = Instant::now() + most;
        let mut state = lock(&self.state);
        while !state.closed && !state.queue.is_empty() && Instant::now() < until {
            self.send_some(&mut state);
            if state.stuck {
                state = self.changed.wait_timeout(state, most / 10).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// Send nothing more.
    pub(crate) fn close(&self) {
        lock(&self.state).close();
        self.changed.notify_all();
        self.socket.shut();
    }
}

impl State {
    fn fits(&self, bytes: usize) -> bool {
        self.requests == 0 || self.requests < MOST_REQUESTS && self.bytes + bytes <= MOST_BYTES
    }

    /// Note that this many bytes of the queue were sent. Calls `tell` for each reply that is now complete.
    fn has_sent(&mut self, bytes: usize, mut tell: impl FnMut(Served)) {
        self.sent += bytes;
        while self.queue.front().is_some_and(|leaving| self.sent >= leaving.reply.len()) {
            let Some(leaving) = self.queue.pop_front() else { return };
            self.sent -= leaving.reply.len();
            self.requests = self.requests.saturating_sub(1);
            self.bytes = self.bytes.saturating_sub(leaving.bytes);
            tell(leaving.served);
        }
    }

    fn close(&mut self) {
        self.closed = true;
        self.queue.clear();
    }
}
