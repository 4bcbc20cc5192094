//! A plain drive in RAM that logs what its clients send, and serves a crash state to a check.
//!
//! It simulates no flash. A write is acknowledged 100 us after its arrival and a FLUSH after 2 ms, so that a
//! client that does not wait for a reply continues before it has one, as with a real drive. The lines that
//! the client prints are read before each request is taken and before each reply is sent, so that a mark is
//! in the log where it was printed. Session faults are injected here. The sectors that a client reads before
//! it writes them are recorded: the verdict of a check can depend on nothing else.

use crate::address::Address;
use crate::error::{Broken, ServeError};
use crate::lock;
use crate::protocol::handshake::{Agreed, Export, handshake};
use crate::protocol::numbers::{NbdError, flag};
use crate::protocol::reply::{Extent, Reply};
use crate::protocol::request::{self, HEAD, Request, Verb};
use crate::socket::{Greeted, Socket};
use crate::spec::Encryption;
use crate::stream::Stream;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::borrow::Cow;
use std::io::{IoSliceMut, PipeReader, Read, Write};
use std::ops::Range;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wordline_volatile::{Content, Event, Image, Kind, Log, Sectors, SessionFault, SessionFaults};

/// Service time of a write, a trim or a write of zeroes.
const WRITE: Duration = Duration::from_micros(100);
/// Service time of a FLUSH.
const FLUSH: Duration = Duration::from_millis(2);
/// Service time of a request that is slowed down.
const SLOW: Duration = Duration::from_millis(500);
/// How often a thread checks whether the server has stopped.
const LOOK: Duration = Duration::from_millis(20);
/// How long a client may take for the handshake, and to take a reply.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum bytes per read of a socket.
const READ: usize = 128 << 10;

/// A drive in RAM, served at a unix socket.
pub struct Recorder {
    shared: Arc<Shared>,
    path: PathBuf,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    drive: Mutex<Drive>,
    export: Export,
    stopping: AtomicBool,
    connections: AtomicU64,
}

/// What is recorded about a client.
pub struct Recording {
    /// What the client prints. Each line is a mark.
    pub printed: PipeReader,
    /// Session faults of the drive.
    pub faults: Option<SessionFaults>,
}

struct Drive {
    image: Image,
    log: Log,
    /// The lines that the client prints. None if no log is kept.
    marks: Option<Marks>,
    faults: Option<SessionFaults>,
    /// Sectors that are unreadable until they are written again.
    latent: Sectors,
    /// Sectors that were read before they were written.
    read: Sectors,
    written: Sectors,
    next: u64,
}

/// Reads what a client prints, line by line.
struct Marks {
    pipe: PipeReader,
    /// A line without its end.
    line: Vec<u8>,
}

/// A reply that is not due yet, and its entry in the log.
struct Pending {
    due: Instant,
    events: Vec<Event>,
    reply: Reply,
}

impl Recorder {
    /// Serve an image at a new socket, and keep a log if `recording` is given.
    ///
    /// # Errors
    /// When no socket can be created there.
    pub fn start(
        path: &Path,
        image: Image,
        sector: u64,
        recording: Option<Recording>,
    ) -> Result<Recorder, ServeError> {
        let failed = |what: String| ServeError::Machine(format!("{}: {what}", path.display()));
        let listener =
            UnixListener::bind(path).map_err(|e| failed(format!("cannot create a socket there: {e}")))?;
        listener.set_nonblocking(true).map_err(|e| failed(e.to_string()))?;
        let export = Export {
            name: "crash".to_string(),
            description: "A drive in RAM whose writes are recorded".to_string(),
            size: image.size(),
            preferred: u32::try_from(sector).unwrap_or(4096).max(512),
            read_only: false,
            encryption: Encryption::Off,
        };
        let log = Log { size: image.size(), sector, base: 0, events: vec![] };
        let (printed, faults) = recording.map_or((None, None), |of| (Some(of.printed), of.faults));
        let marks = printed.map(Marks::of).transpose().map_err(|e| failed(e.to_string()))?;
        let (latent, read, written) = Default::default();
        let drive = Mutex::new(Drive { image, log, marks, faults, latent, read, written, next: 1 });
        let (stopping, connections) = (AtomicBool::new(false), AtomicU64::new(1));
        let shared = Arc::new(Shared { drive, export, stopping, connections });
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("wordline-record".to_string());
        let thread = thread.spawn(move || accept(&serving, &listener));
        let thread = Some(thread.map_err(|e| failed(format!("cannot start a thread: {e}")))?);
        Ok(Recorder { shared, path: path.to_path_buf(), thread })
    }

    /// Its address, as an NBD URI.
    pub fn uri(&self) -> String {
        Address::Unix(self.path.clone()).to_string()
    }

    /// Restart the log, with faults from now on. Returns the contents of the drive, which the log takes as durable.
    pub fn restart(&self, faults: Option<SessionFaults>) -> Image {
        let mut drive = lock(&self.shared.drive);
        drive.read_marks();
        drive.faults = faults;
        drive.log.events.clear();
        drive.image.clone()
    }

    /// Stop the log. Returns the log so far.
    pub fn take_log(&self) -> Log {
        let mut drive = lock(&self.shared.drive);
        drive.read_marks();
        (drive.marks, drive.faults) = (None, None);
        let empty = Log { events: vec![], ..drive.log };
        std::mem::replace(&mut drive.log, empty)
    }

    /// End all connections. Returns the log.
    pub fn end(mut self) -> Log {
        self.stop();
        self.take_log()
    }

    /// End all connections. Returns the sectors that clients read before they wrote them.
    pub fn end_with_reads(mut self) -> Sectors {
        self.stop();
        std::mem::take(&mut lock(&self.shared.drive).read)
    }

    fn stop(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Wake it.
            let _ = UnixStream::connect(&self.path);
            // The thread has reported its panic.
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Wait for bytes. Returns whether any can be read.
fn wait(on: &impl std::os::fd::AsFd, most: Duration) -> bool {
    let most = Timespec::try_from(most).ok();
    matches!(poll(&mut [PollFd::new(on, PollFlags::IN)], most.as_ref()), Ok(n) if n > 0)
}

/// The session faults that can apply to a request.
fn kind(verb: Verb) -> Option<Kind> {
    match verb {
        Verb::Read => Some(Kind::Read),
        Verb::Write => Some(Kind::Write),
        Verb::Flush => Some(Kind::Flush),
        Verb::Trim | Verb::WriteZeroes => Some(Kind::Zero),
        Verb::BlockStatus | Verb::Cache | Verb::Disconnect => None,
    }
}

fn accept(shared: &Arc<Shared>, listener: &UnixListener) {
    let mut clients: Vec<JoinHandle<()>> = vec![];
    while !shared.stopping.load(Ordering::Relaxed) {
        if !wait(listener, LOOK) {
            // Read the pipe of a client that prints and sends nothing, so that it does not fill up.
            lock(&shared.drive).read_marks();
            continue;
        }
        let Ok((stream, _)) = listener.accept() else { continue };
        if shared.stopping.load(Ordering::Relaxed) {
            break;
        }
        let _ = stream.set_nonblocking(false);
        let shared = Arc::clone(shared);
        let client = move || {
            let socket = Socket::new(Stream::Unix(stream));
            // A request that was received only in part does not count as sent.
            let _ = serve(&shared, &socket);
            socket.shut();
        };
        clients.extend(std::thread::Builder::new().name("wordline-client".to_string()).spawn(client));
        clients.retain(|client| !client.is_finished());
    }
    for client in clients {
        let _ = client.join();
    }
}

fn serve(shared: &Shared, socket: &Socket) -> Result<(), Broken> {
    let mut client = Greeted::new(socket, None, PATIENCE);
    let Some(agreed) = handshake(&mut client, &shared.export)? else { return Ok(()) };
    socket.patience(Some(PATIENCE))?;
    let number = shared.connections.fetch_add(1, Ordering::Relaxed);
    let mut bytes: Vec<u8> = vec![];
    let mut pending: Vec<Pending> = vec![];
    let mut leaves = false;
    while !(shared.stopping.load(Ordering::Relaxed) || leaves && pending.is_empty()) {
        let due = pending.iter().map(|p| p.due).min();
        let patience = due.map_or(LOOK, |due| due.saturating_duration_since(Instant::now()));
        if leaves {
            std::thread::sleep(patience);
        } else if wait(socket, patience) {
            let mut room = vec![0; READ];
            match socket.try_read(&mut [IoSliceMut::new(&mut room)])? {
                Some(0) => leaves = true,
                Some(read) => bytes.extend(&room[..read]),
                None => {}
            }
            leaves |= shared.take(&mut bytes, (agreed, number), &mut pending)?;
        }
        shared.answer(socket, &mut pending)?;
    }
    Ok(())
}

impl Shared {
    /// Take complete requests. Returns whether the client disconnects.
    fn take(
        &self,
        bytes: &mut Vec<u8>,
        (agreed, number): (Agreed, u64),
        pending: &mut Vec<Pending>,
    ) -> Result<bool, Broken> {
        let mut from = 0;
        while let Some((head, rest)) = bytes[from..].split_first_chunk::<HEAD>() {
            let asked = request::request(head)?;
            let Some(data) = rest.get(..asked.payload()) else { break };
            if asked.verb == Some(Verb::Disconnect) {
                return Ok(true);
            }
            pending.push(lock(&self.drive).ask(agreed, number, &asked, data));
            from += HEAD + data.len();
        }
        bytes.drain(..from);
        Ok(false)
    }

    /// Send the replies that are due. Each enters the log before the client gets it.
    fn answer(&self, mut socket: &Socket, pending: &mut Vec<Pending>) -> Result<(), Broken> {
        let now = Instant::now();
        let (mut due, rest): (Vec<Pending>, Vec<Pending>) = pending.drain(..).partition(|p| p.due <= now);
        *pending = rest;
        due.sort_by_key(|p| p.due);
        for Pending { events, reply, .. } in due {
            if !events.is_empty() {
                let mut drive = lock(&self.drive);
                drive.read_marks();
                events.into_iter().for_each(|event| drive.note(event));
            }
            for part in reply.parts() {
                socket.write_all(part)?;
            }
        }
        Ok(())
    }
}

impl Marks {
    fn of(pipe: PipeReader) -> std::io::Result<Marks> {
        fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
        Ok(Marks { pipe, line: vec![] })
    }

    /// The complete lines received since the last call.
    fn take(&mut self) -> Vec<String> {
        let mut room = [0; 4096];
        while let Ok(read @ 1..) = self.pipe.read(&mut room) {
            self.line.extend(&room[..read]);
        }
        let end = self.line.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let whole: Vec<u8> = self.line.drain(..end).collect();
        String::from_utf8_lossy(&whole).lines().map(str::to_string).collect()
    }
}

impl Drive {
    fn note(&mut self, event: Event) {
        if self.marks.is_some() {
            self.log.events.push(event);
        }
    }

    /// Append what the client has printed to the log.
    fn read_marks(&mut self) {
        let lines = self.marks.as_mut().map(Marks::take).unwrap_or_default();
        self.log.events.extend(lines.into_iter().map(Event::Mark));
    }

    fn ask(&mut self, agreed: Agreed, connection: u64, asked: &Request, data: &[u8]) -> Pending {
        self.read_marks();
        let now = Instant::now();
        match asked.check(self.image.size(), false, agreed) {
            Err((error, why)) => {
                Pending { due: now, events: vec![], reply: Reply::error(agreed, asked.cookie, error, &why) }
            }
            Ok(verb) => self.act(agreed, connection, (verb, asked), data, now),
        }
    }

    fn act(
        &mut self,
        agreed: Agreed,
        connection: u64,
        (verb, asked): (Verb, &Request),
        data: &[u8],
        now: Instant,
    ) -> Pending {
        let (offset, length) = (asked.offset, u64::from(asked.length));
        let fua = asked.has(flag::FUA);
        let fault = kind(verb).and_then(|kind| self.faults.as_mut()?.draw(kind));
        let (takes, ids) = match verb {
            Verb::Read => return self.read(agreed, asked, fault, now),
            Verb::Flush => {
                let id = self.number();
                self.note(Event::Flush { id, connection });
                (FLUSH, vec![id])
            }
            Verb::Write => {
                let (data, latent) = self.faulty(fault, offset, data);
                let id = self.write(connection, offset, &data, fua);
                self.latent.insert(latent);
                (WRITE, vec![id])
            }
            Verb::Trim | Verb::WriteZeroes => {
                (WRITE, self.zero(connection, offset..offset + length, verb == Verb::Trim, fua))
            }
            Verb::BlockStatus => {
                let extent = Extent { length: asked.length, state: 0 };
                let reply = Reply::extents(asked.cookie, &[extent]);
                return Pending { due: now, events: vec![], reply };
            }
            Verb::Disconnect | Verb::Cache => (Duration::ZERO, vec![]),
        };
        let takes = if fault == Some(SessionFault::Slow) { SLOW } else { takes };
        let mut events = vec![];
        if let (Some(fault), Some(id)) = (fault, ids.first()) {
            events.push(Event::Fault { id: *id, fault });
        }
        let fails = matches!(fault, Some(SessionFault::HalfWrite | SessionFault::FailedFlush));
        let reply = if fails {
            Reply::error(agreed, asked.cookie, NbdError::Io, "a planted fault")
        } else {
            events.extend(ids.into_iter().map(|id| Event::Done { id }));
            Reply::done(agreed, asked.cookie)
        };
        Pending { due: now + takes, events, reply }
    }

    /// Execute a read, which may meet a fault.
    fn read(
        &mut self,
        agreed: Agreed,
        asked: &Request,
        fault: Option<SessionFault>,
        now: Instant,
    ) -> Pending {
        let (offset, sector) = (asked.offset, self.log.sector);
        let sectors = offset / sector..(offset + u64::from(asked.length)).div_ceil(sector);
        self.read.insert_except(sectors.clone(), &self.written);
        let takes = if fault == Some(SessionFault::Slow) { SLOW } else { Duration::ZERO };
        let events: Vec<Event> = fault.iter().map(|fault| Event::Fault { id: 0, fault: *fault }).collect();
        let reply = if fault == Some(SessionFault::ReadError) || self.latent.meets(sectors) {
            Reply::error(agreed, asked.cookie, NbdError::Io, "a planted fault")
        } else {
            let mut body = vec![0; asked.length as usize];
            self.image.read(offset, &mut body);
            let whole = 0..body.len();
            Reply::data(agreed, asked.cookie, offset, body, whole)
        };
        Pending { due: now + takes, events, reply }
    }

    /// The part of a write that reaches the drive under a fault, and the sectors that become unreadable.
    fn faulty<'a>(
        &mut self,
        fault: Option<SessionFault>,
        offset: u64,
        data: &'a [u8],
    ) -> (Cow<'a, [u8]>, Range<u64>) {
        let sector = self.log.sector;
        let none = (Cow::Borrowed(data), 0..0);
        let Some(faults) = self.faults.as_mut() else { return none };
        match fault {
            Some(SessionFault::HalfWrite) => {
                // At least one byte, because a request that writes nothing would not be in the log.
                let sectors = (data.len() as u64).div_ceil(sector);
                let end = (faults.below(sectors) * sector).max(1).min(data.len() as u64);
                (Cow::Borrowed(&data[..end as usize]), 0..0)
            }
            Some(SessionFault::Corrupt) if !data.is_empty() => {
                let (at, bit) = (faults.below(data.len() as u64), faults.below(8));
                let mut data = data.to_vec();
                data[at as usize] ^= 1 << bit;
                (Cow::Owned(data), 0..0)
            }
            Some(SessionFault::LatentError) => {
                let at = (offset + faults.below(data.len() as u64)) / sector;
                (Cow::Borrowed(data), at..at + 1)
            }
            _ => none,
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Write bytes. Sectors that are covered in part are completed.
    fn write(&mut self, connection: u64, offset: u64, data: &[u8], fua: bool) -> u64 {
        let (sector, end) = (self.log.sector, offset + data.len() as u64);
        let outer = offset / sector * sector..end.next_multiple_of(sector);
        let sectors = outer.start / sector..outer.end / sector;
        // A sector that is written in part keeps the rest of its data.
        let torn = [(offset, sectors.start), (end, sectors.end.saturating_sub(1))];
        for (_, at) in torn.into_iter().filter(|(byte, _)| !byte.is_multiple_of(sector)) {
            self.read.insert_except(at..at + 1, &self.written);
        }
        self.written.insert(sectors.clone());
        self.latent.remove(sectors);
        let mut whole = vec![0; (outer.end - outer.start) as usize];
        self.image.read(outer.start, &mut whole);
        whole[(offset - outer.start) as usize..][..data.len()].copy_from_slice(data);
        let bytes: Arc<[u8]> = whole.as_slice().into();
        for (at, number) in (outer.start / sector..outer.end / sector).enumerate() {
            self.image.set(number, &Content::of(&bytes, at * sector as usize));
        }
        let id = self.number();
        self.note(Event::Write { id, connection, offset: outer.start, fua, data: whole });
        id
    }

    /// Zero bytes. Whole sectors are zeroed. Parts of sectors are written as zeroes, or left unchanged by a
    /// trim.
    fn zero(&mut self, connection: u64, range: Range<u64>, trim: bool, fua: bool) -> Vec<u64> {
        let sector = self.log.sector;
        let whole = range.start.next_multiple_of(sector)..range.end / sector * sector;
        let edges = if whole.start < whole.end {
            [range.start..whole.start, whole.end..range.end]
        } else {
            [range.clone(), range.end..range.end]
        };
        let mut ids = vec![];
        for edge in edges.into_iter().filter(|edge| !trim && edge.start < edge.end) {
            ids.push(self.write(connection, edge.start, &vec![0; (edge.end - edge.start) as usize], fua));
        }
        if whole.start < whole.end {
            let sectors = whole.start / sector..whole.end / sector;
            sectors.clone().for_each(|at| self.image.set(at, &Content::ZERO));
            self.written.insert(sectors.clone());
            self.latent.remove(sectors);
            let id = self.number();
            let (offset, length) = (whole.start, whole.end - whole.start);
            self.note(Event::Zero { id, connection, offset, length, fua, trim });
            ids.push(id);
        }
        ids
    }
}
