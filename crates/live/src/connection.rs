//! One client: its handshake, then its requests. All requests that one read of the socket brings are parsed
//! and submitted together.

use crate::client::Client;
use crate::engine::command::weight;
use crate::error::Broken;
use crate::lock;
use crate::pace;
use crate::pacer::Watch;
use crate::payload::{Receiving, gathered};
use crate::protocol::handshake::{Agreed, handshake};
use crate::protocol::request::{self, HEAD, Request, Verb};
use crate::reply_queue::ReplyQueue;
use crate::shared::Shared;
use crate::socket::{Greeted, Socket};
use std::io::{self, IoSliceMut, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wordline_ftl::HeldData;

/// How long a client may take for the handshake.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait at shutdown for a client that does not read its last replies.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// Maximum bytes per read of a socket.
const READ: usize = 128 << 10;
/// Data of at least this many bytes are received directly into their final buffer instead of the socket
/// buffer. Also the number of bytes read after them.
const LARGE: usize = 32 << 10;
const LITTLE: usize = 4 << 10;
/// Maximum bytes of data that are received, if the client has sent them, before they are submitted together.
const GATHERED: usize = 256 << 10;
/// Maximum while another thread is in the drive, for which this one would have to wait.
const GATHERED_MEANWHILE: usize = 8 << 20;
/// Data of at least this many bytes are simulated on another thread, while this one receives the next.
const APART: usize = 512 << 10;

/// Serve a client until it disconnects or its connection is ended.
pub(crate) fn serve(shared: &Arc<Shared>, socket: Socket, from: &str) {
    let socket = Arc::new(socket);
    let number = shared.next_connection.fetch_add(1, Ordering::Relaxed);
    // If the power is cut during the handshake, the connection counts as older than the cut.
    let epoch = shared.epoch();
    {
        let mut connections = lock(&shared.connections);
        if shared.is_stopping() {
            return;
        }
        let most = shared.most_connections();
        if connections.len() >= most {
            drop(connections);
            shared.log_often(&format!(
                "connection {number} from {from} refused: {most} connections are open; `wordline serve --connections N` allows \
                 more"
            ));
            return;
        }
        connections.push(Client { number, epoch, socket: Arc::clone(&socket), reply_queue: None });
    }
    // Log before the connection ends: whoever sees the end then finds the reason in the log.
    let tell = |broken: &Broken| {
        if !broken.is_quiet() && !shared.is_stopping() {
            shared.log_often(&format!("connection {number} from {from}: {broken}"));
        }
    };
    talk(shared, &socket, (number, epoch), &tell);
    socket.shut();
    lock(&shared.connections).retain(|c| c.number != number);
}

fn talk(shared: &Arc<Shared>, socket: &Arc<Socket>, (number, epoch): (u64, u64), tell: &dyn Fn(&Broken)) {
    let agreed = match shake(shared, socket) {
        Ok(Some(agreed)) => agreed,
        Ok(None) => return,
        Err(broken) => return tell(&broken),
    };
    let reply_queue = Arc::new(ReplyQueue::new(
        Arc::clone(socket),
        Arc::clone(&shared.statistics),
        agreed,
        (number, epoch),
    ));
    if let Some(connection) = lock(&shared.connections).iter_mut().find(|c| c.number == number) {
        connection.reply_queue = Some(Arc::clone(&reply_queue));
    }
    // A stop or a power cut that ended all connections earlier has missed this one.
    if shared.is_stopping() || shared.epoch() != epoch {
        return;
    }
    std::thread::scope(|scope| {
        let sender = std::thread::Builder::new().name("wordline-send".to_string());
        let listened =
            sender.spawn_scoped(scope, || reply_queue.send_on()).map_err(Broken::from).and_then(|_| {
                let mut watch = Watch::new(number);
                let listened = listen(shared, &mut watch, &reply_queue, socket);
                pace::hand_over(shared, &mut watch);
                listened
            });
        if let Err(broken) = listened {
            tell(&broken);
        }
        if shared.is_stopping() {
            reply_queue.drain(LAST_WORDS);
        }
        reply_queue.close();
    });
}

fn shake(shared: &Shared, socket: &Arc<Socket>) -> Result<Option<Agreed>, Broken> {
    let mut client = Greeted::new(socket, shared.certificates(), PATIENCE);
    let agreed = handshake(&mut client, &shared.export).map_err(|broken| broken.in_handshake(PATIENCE))?;
    // With TLS, the last reply may not have been sent.
    client.flush()?;
    socket.patience(None)?;
    Ok(agreed)
}

/// Received bytes that are not yet parsed.
struct Incoming {
    bytes: Box<[u8]>,
    from: usize,
    to: usize,
    /// Whether the data of the last write were long.
    is_large: bool,
}

/// Requests of a client that have been received, and are submitted together.
#[derive(Default)]
struct Batch {
    requests: Vec<(Request, HeldData)>,
    /// Bytes of their data.
    bytes: usize,
}

/// Receives the requests of a client, and submits them.
struct Listener<'a> {
    shared: &'a Shared,
    watch: &'a mut Watch,
    reply_queue: &'a Arc<ReplyQueue>,
    socket: &'a Socket,
    incoming: Incoming,
    batch: Batch,
}

fn listen(
    shared: &Shared,
    watch: &mut Watch,
    reply_queue: &Arc<ReplyQueue>,
    socket: &Socket,
) -> Result<(), Broken> {
    let incoming = Incoming { bytes: vec![0; READ].into(), from: 0, to: 0, is_large: false };
    let mut listener = Listener { shared, watch, reply_queue, socket, incoming, batch: Batch::default() };
    while listener.take_next()? {}
    Ok(())
}

impl Listener<'_> {
    /// Receive one more request, or the next bytes of the client. Returns whether there may be more.
    fn take_next(&mut self) -> Result<bool, Broken> {
        let (shared, reply_queue, socket) = (self.shared, self.reply_queue, self.socket);
        let next = self.incoming.request();
        if next.is_err() {
            self.submit();
        }
        let Some(request) = next? else {
            if self.incoming.is_large && self.may_gather(LARGE) && !self.batch.requests.is_empty() {
                let read = self.socket.try_read(&mut [self.incoming.room()]);
                if let Ok(Some(read @ 1..)) = read {
                    return self.incoming.fill(read);
                }
            }
            if !self.submit() {
                return Ok(false);
            }
            // A client without outstanding requests may send the next one soon. Looking for it needs no
            // wake-up, which matters little beside the transfer of much data.
            let looks = !self.incoming.is_large;
            let room = &mut [self.incoming.room()];
            let read = pace::read(shared, self.watch, socket, room, || looks && reply_queue.is_idle())?;
            return self.incoming.fill(read);
        };
        if request.verb == Some(Verb::Disconnect) {
            // "The server MUST handle all outstanding requests [...] and close".
            if self.submit() {
                reply_queue.leave();
                let rest = &mut self.incoming.bytes;
                while pace::read(shared, self.watch, socket, &mut [IoSliceMut::new(rest)], || false)? > 0 {}
            }
            return Ok(false);
        }
        let bytes = weight(&request);
        // If there is no room, submit first: room is freed when requests complete.
        if !reply_queue.admits(bytes) {
            if !self.submit() {
                return Ok(false);
            }
            pace::hand_over(shared, self.watch);
            if !reply_queue.admit(bytes) {
                return Ok(false);
            }
        }
        if request.skipped() > 0 && (!self.submit() || !self.skip(request.skipped())?) {
            return Ok(false);
        }
        let payload = request.payload();
        let is_whole = payload <= self.incoming.left();
        if !is_whole && !self.may_gather(payload) && !self.submit() {
            return Ok(false);
        }
        // Earlier requests do not wait for the allocation of much memory.
        if payload > READ {
            pace::hand_over(shared, self.watch);
        }
        let data = match self.incoming.take(payload) {
            Some(data) => gathered(&request, data, shared.units),
            None => match self.receive(&request)? {
                Some(data) => data,
                None => return Ok(false),
            },
        };
        self.batch.bytes += payload;
        self.batch.requests.push((request, data));
        Ok(true)
    }

    /// Receive data and drop them. Returns false at the end of the stream.
    fn skip(&mut self, bytes: usize) -> Result<bool, Broken> {
        pace::hand_over(self.shared, self.watch);
        let mut left = bytes - self.incoming.drop(bytes);
        while left > 0 {
            let room = &mut [self.incoming.room()];
            let read = pace::read(self.shared, self.watch, self.socket, room, || false)?;
            if !self.incoming.fill(read)? {
                return Ok(false);
            }
            left -= self.incoming.drop(left);
        }
        Ok(true)
    }

    /// Submit what has been received. Returns whether the connection still exists.
    fn submit(&mut self) -> bool {
        if self.batch.requests.is_empty() {
            return true;
        }
        let apart = std::mem::take(&mut self.batch.bytes) >= APART;
        self.shared.submit((self.watch, apart), self.reply_queue, &mut self.batch.requests)
    }

    /// Whether the data of another request may be received before earlier requests are submitted. If the drive
    /// takes time, the arrival of a request counts, and none is delayed.
    fn may_gather(&self, payload: usize) -> bool {
        let bytes = self.batch.bytes + payload;
        self.shared.is_untimed()
            && (bytes <= GATHERED || bytes <= GATHERED_MEANWHILE && self.shared.is_busy())
    }

    /// Receive the data of a request into their final buffer, followed by the next bytes of the client. The
    /// client may take long to send them: earlier requests are submitted before this thread waits. Nothing if
    /// the connection has ended.
    fn receive(&mut self, request: &Request) -> Result<Option<HeldData>, Broken> {
        let shared = self.shared;
        let mut receiving = Receiving::new(request, shared.units, &shared.page_memory);
        self.incoming.give(&mut receiving);
        while !receiving.is_whole() {
            let left = receiving.left();
            let mut room = receiving.room();
            let here: usize = room.iter().map(|room| room.len()).sum();
            if here == left {
                room.push(self.incoming.room());
            }
            let read = if self.batch.requests.is_empty() {
                // The client is sending the data: one wake-up when they arrive is enough.
                pace::read(shared, self.watch, self.socket, &mut room, || false)?
            } else if let Ok(Some(read @ 1..)) = self.socket.try_read(&mut room) {
                read
            } else {
                if !self.submit() {
                    return Ok(None);
                }
                continue;
            };
            if read == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            receiving.fill(read.min(here));
            self.incoming.to += read.saturating_sub(here);
        }
        Ok(Some(receiving.end()))
    }
}

impl Incoming {
    /// The header of the next request, if all of it has been received.
    fn request(&mut self) -> Result<Option<Request>, Broken> {
        let Some(head) = self.bytes[self.from..self.to].first_chunk::<HEAD>() else { return Ok(None) };
        let request = request::request(head)?;
        self.from += HEAD;
        Ok(Some(request))
    }

    /// Buffer for the next bytes. It is small after data that were received directly, since more of these may
    /// follow.
    fn room(&mut self) -> IoSliceMut<'_> {
        self.bytes.copy_within(self.from..self.to, 0);
        self.to -= self.from;
        self.from = 0;
        let end = if self.is_large { (self.to + LITTLE).min(READ) } else { READ };
        IoSliceMut::new(&mut self.bytes[self.to..end])
    }

    /// Count received bytes. Returns false at the end of the stream: the client has disconnected.
    fn fill(&mut self, read: usize) -> Result<bool, Broken> {
        if read == 0 && self.to > 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        self.to += read;
        Ok(read > 0)
    }

    /// Number of received bytes that are not yet taken.
    fn left(&self) -> usize {
        self.to - self.from
    }

    /// Take `bytes` bytes if all of them have been received.
    fn take(&mut self, bytes: usize) -> Option<&[u8]> {
        self.is_large = if bytes > 0 { bytes >= LARGE } else { self.is_large };
        let taken = self.bytes[..self.to].get(self.from..self.from + bytes)?;
        self.from += bytes;
        Some(taken)
    }

    /// Drop received bytes, at most this many. Returns how many.
    fn drop(&mut self, most: usize) -> usize {
        let dropped = most.min(self.left());
        self.from += dropped;
        dropped
    }

    /// Move received bytes into the data of a write.
    fn give(&mut self, to: &mut Receiving<'_>) {
        self.from += to.take(&self.bytes[self.from..self.to]);
    }
}
