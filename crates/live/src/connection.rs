//! One client: its handshake, then its requests. All requests that one read of the socket brings are parsed
//! and submitted together.

use crate::client::Client;
use crate::engine::command::weight;
use crate::error::Broken;
use crate::lock;
use crate::pacer::Watch;
use crate::payload::{Receiving, gathered};
use crate::protocol::handshake::{Agreed, handshake};
use crate::protocol::numbers::MAX_PAYLOAD;
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
/// Maximum number of connections.
const MOST: usize = 64;
/// Maximum bytes per read of a socket.
const READ: usize = 128 << 10;
/// Data of at least this many bytes are received directly into their final buffer instead of the socket
/// buffer. Also the number of bytes read after them.
const LARGE: usize = 32 << 10;
const LITTLE: usize = 4 << 10;

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
        if connections.len() >= MOST {
            drop(connections);
            shared.log_often(&format!(
                "connection {number} from {from} refused: limit of {MOST} connections \
                                   reached"
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
                shared.hand_over(&mut watch);
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

fn listen(
    shared: &Shared,
    watch: &mut Watch,
    reply_queue: &Arc<ReplyQueue>,
    socket: &Socket,
) -> Result<(), Broken> {
    let mut incoming = Incoming { bytes: vec![0; READ].into(), from: 0, to: 0, is_large: false };
    let mut batch: Vec<(Request, HeldData)> = vec![];
    loop {
        let Some(request) = incoming.request()? else {
            if !batch.is_empty() && !shared.submit(watch, reply_queue, &mut batch) {
                return Ok(());
            }
            // A client without outstanding requests may send the next one soon. Looking for it needs no
            // wake-up.
            let read = shared.read(watch, socket, &mut [incoming.room()], || reply_queue.is_idle())?;
            if !incoming.fill(read)? {
                return Ok(());
            }
            continue;
        };
        if request.verb == Some(Verb::Disconnect) {
            // "The server MUST handle all outstanding requests [...] and close".
            if shared.submit(watch, reply_queue, &mut batch) {
                reply_queue.leave();
                while shared.read(watch, socket, &mut [IoSliceMut::new(&mut incoming.bytes)], || false)? > 0 {
                }
            }
            return Ok(());
        }
        let bytes = weight(&request).min(MAX_PAYLOAD as usize);
        // If there is no room, submit first: room is freed when requests complete.
        if !reply_queue.admits(bytes) {
            if !shared.submit(watch, reply_queue, &mut batch) {
                return Ok(());
            }
            shared.hand_over(watch);
            if !reply_queue.admit(bytes) {
                return Ok(());
            }
        }
        // The client may take long to send the rest. Its earlier requests do not wait for that.
        let is_whole = request.payload() <= incoming.left();
        if !is_whole && !batch.is_empty() && !shared.submit(watch, reply_queue, &mut batch) {
            return Ok(());
        }
        // Nor do they wait for the allocation of much memory.
        if request.payload() > READ {
            shared.hand_over(watch);
        }
        let payload = match incoming.take(request.payload()) {
            Some(data) => gathered(&request, data, shared.units),
            None => receive(shared, watch, socket, (&mut incoming, &request))?,
        };
        batch.push((request, payload));
    }
}

/// Receive the data of a request into their final buffer, followed by the next bytes of the client.
fn receive(
    shared: &Shared,
    watch: &mut Watch,
    socket: &Socket,
    (incoming, request): (&mut Incoming, &Request),
) -> Result<HeldData, Broken> {
    let mut receiving = Receiving::new(request, shared.units, &shared.page_memory);
    incoming.give(&mut receiving);
    while !receiving.is_whole() {
        let left = receiving.left();
        let mut room = receiving.room();
        let here: usize = room.iter().map(|room| room.len()).sum();
        if here == left {
            room.push(incoming.room());
        }
        // The client is sending the data: one wake-up when they arrive is enough.
        match shared.read(watch, socket, &mut room, || false)? {
            0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            read => {
                receiving.fill(read.min(here));
                incoming.to += read.saturating_sub(here);
            }
        }
    }
    Ok(receiving.end())
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

    /// Move received bytes into the data of a write.
    fn give(&mut self, to: &mut Receiving<'_>) {
        self.from += to.take(&self.bytes[self.from..self.to]);
    }
}
