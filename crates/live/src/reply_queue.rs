//! Replies on their way to one client. Whoever has a reply sends it without waiting; what the socket does not take at once a
//! thread of the connection sends on, so that a client which does not read holds up nobody else. What is asked and not
//! answered is bounded: a client that asks for more is not read until it has taken some.

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

/// Requests of one connection that may be under way.
const MOST_REQUESTS: usize = 1024;
/// Bytes of their data. One request may be longer than what is left of it.
const MOST_BYTES: usize = 64 << 20;
/// Replies that go in one call.
const TOGETHER: usize = 32;

/// One client's replies.
pub(crate) struct ReplyQueue {
    pub agreed: Agreed,
    /// The number of power cuts at which its connection began: it does not outlive the next.
    pub epoch: u64,
    /// The number of the connection.
    pub number: u64,
    socket: Arc<Socket>,
    /// Told of each answer that leaves.
    statistics: Arc<Mutex<Statistics>>,
    state: Mutex<State>,
    changed: Condvar,
}

/// A reply on its way.
struct Leaving {
    reply: Reply,
    /// Bytes that its request counts for.
    bytes: usize,
    served: Served,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Leaving>,
    /// Bytes of the first that have been sent.
    sent: usize,
    /// The socket takes no more now.
    stuck: bool,
    closed: bool,
    /// The reading thread waits for room.
    full: bool,
    /// The client asks nothing more.
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

    /// Whether the client is gone.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).closed
    }

    /// Whether nothing is under way: what comes next, the client asks.
    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.state).requests == 0
    }

    /// Whether a request with so many bytes can be taken without waiting; it then counts as under way.
    pub(crate) fn admits(&self, bytes: usize) -> bool {
        self.take(lock(&self.state), bytes)
    }

    /// Wait until a request with so many bytes can be taken, which then counts as under way. Returns whether the connection
    /// still is.
    pub(crate) fn admit(&self, bytes: usize) -> bool {
        let mut state = lock(&self.state);
        while !state.closed && !state.fits(bytes) {
            state.full = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.take(state, bytes)
    }

    /// The client asks nothing more: its connection ends with the last answer.
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

    /// Put the reply in the queue of a request that counts for so many bytes.
    pub(crate) fn push(&self, reply: Reply, bytes: usize, served: Served) {
        let mut state = lock(&self.state);
        if !state.closed {
            state.queue.push_back(Leaving { reply, bytes, served });
        }
    }

    /// What a client may have been told by now is in the statistics when this returns.
    pub(crate) fn settle(&self) {
        drop(lock(&self.state));
    }

    /// Send what the socket takes.
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
            // An answer leaves when the system is given it: it may then let the client go first, and this thread wait.
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
        // With TLS the socket may owe some of what it has taken.
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
        // The thread that sends on, or the one that waits for room: neither is woken for nothing.
        if state.stuck || state.closed || std::mem::take(&mut state.full) {
            self.changed.notify_all();
        }
    }

    /// Send on what the socket did not take at once, until the connection is closed.
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

    /// Wait until what is in the queue has been sent, at most for so long.
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

    /// No more is sent.
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

    /// So many bytes of the queue have been sent; whose last are among them, `tell` is told of.
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
