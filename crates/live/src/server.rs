//! The server: its listeners, its threads, and how it ends.

use crate::address::Address;
use crate::connection;
use crate::control;
use crate::data::flash::Flash;
use crate::data::folder::Folder;
use crate::data::found;
use crate::drive::Drive;
use crate::engine::core::Engine;
use crate::error::ServeError;
use crate::host;
use crate::image;
use crate::lock;
use crate::pace;
use crate::protocol::handshake::Export;
use crate::session::SessionLog;
use crate::session_data;
use crate::shared::{Log, Shared, Started};
use crate::socket::Socket;
use crate::spec::{Encryption, ServeSpec};
use crate::stall_detector;
use crate::stats_report::StatsReport;
use crate::stream::Stream;
use crate::syncing::Syncing;
use crate::volatile::Volatile;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use wordline_device::{Ack, Capacity};
use wordline_units::Bytes;
use wordline_volatile::Rules;

/// Sockets passed by a supervisor: the number of the first, and the maximum number of them.
const FIRST_PASSED: i32 = 3;
const MOST_PASSED: i32 = 64;
/// How often a listener checks whether the server has stopped.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A drive that is being served.
pub struct Server {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    places: Places,
}

/// Addresses of a drive, and their listeners.
#[derive(Default)]
struct Places {
    listeners: Vec<Listener>,
    addresses: Vec<Address>,
    /// Paths of sockets, which are removed at the end.
    paths: Vec<PathBuf>,
}

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
    Control(UnixListener),
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Unix(l) | Listener::Control(l) => l.as_fd(),
            Listener::Tcp(l) => l.as_fd(),
        }
    }
}

impl Places {
    /// Listen on all addresses of the drive, if it has any.
    fn of(spec: &ServeSpec) -> Result<Places, ServeError> {
        let mut places = Places::default();
        for address in &spec.addresses {
            match address {
                Address::Unix(path) => {
                    let listener = Listener::Unix(places.unix(path)?);
                    places.listeners.push(listener);
                    places.addresses.push(address.clone());
                }
                Address::Tcp(at) => {
                    let wrong = |e: io::Error| {
                        let allowed = "an address of this machine and a free port; 0 lets the system choose";
                        ServeError::Input(format!("{at}: cannot listen: {e}\n  allowed: {allowed}"))
                    };
                    let listener = TcpListener::bind(at).map_err(wrong)?;
                    places.addresses.push(Address::Tcp(listener.local_addr().map_err(wrong)?));
                    places.listeners.push(Listener::Tcp(listener));
                }
            }
        }
        if spec.activated {
            places.activated()?;
        }
        if let Some(path) = &spec.control {
            let listener = Listener::Control(places.unix(path)?);
            places.listeners.push(listener);
        }
        Ok(places)
    }

    /// Listen on the sockets that a supervisor has opened (sd_listen_fds(3)).
    fn activated(&mut self) -> Result<(), ServeError> {
        let number = |key: &str| std::env::var(key).ok().and_then(|text| text.parse::<i32>().ok());
        let ours = number("LISTEN_PID").is_some_and(|pid| pid == std::process::id() as i32);
        let count = number("LISTEN_FDS").filter(|count| ours && (1..=MOST_PASSED).contains(count));
        let Some(count) = count else {
            let what = "no sockets were passed (LISTEN_PID, LISTEN_FDS)";
            let allowed = "start it by systemd, or by systemd-socket-activate";
            return Err(ServeError::Input(format!("--listen-fds: {what}\n  allowed: {allowed}")));
        };
        for fd in FIRST_PASSED..FIRST_PASSED + count {
            // SAFETY: the process that started this one declares these sockets as passed to it, and nothing
            // else here takes them.
            let fd = unsafe { OwnedFd::from_raw_fd(fd) };
            let wrong = |e: io::Error| ServeError::Input(format!("--listen-fds: no listening socket: {e}"));
            let unix = UnixListener::from(fd.try_clone().map_err(wrong)?);
            match unix.local_addr() {
                Ok(at) => {
                    self.addresses
                        .push(Address::Unix(at.as_pathname().unwrap_or(Path::new("")).to_path_buf()));
                    self.listeners.push(Listener::Unix(unix));
                }
                Err(_) => {
                    let tcp = TcpListener::from(fd);
                    self.addresses.push(Address::Tcp(tcp.local_addr().map_err(wrong)?));
                    self.listeners.push(Listener::Tcp(tcp));
                }
            }
        }
        Ok(())
    }

    fn unix(&mut self, path: &Path) -> Result<UnixListener, ServeError> {
        let listener = unix(path)?;
        self.paths.push(path.to_path_buf());
        Ok(listener)
    }

    /// Remove the sockets from the file system.
    fn remove(&mut self) {
        for path in self.paths.drain(..) {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Create a socket at a path. A socket on which nothing listens is replaced.
fn unix(path: &Path) -> Result<UnixListener, ServeError> {
    let wrong = |what: String| {
        let allowed = "a path of at most 107 bytes in an existing folder, where no file exists";
        ServeError::Input(format!("{}: {what}\n  allowed: {allowed}", path.display()))
    };
    if path.as_os_str().is_empty() {
        return Err(wrong("the path is empty".to_string()));
    }
    if let Ok(found) = std::fs::symlink_metadata(path) {
        if !found.file_type().is_socket() {
            return Err(wrong("a file of this name exists and is not a socket".to_string()));
        }
        match UnixStream::connect(path) {
            Ok(_) => return Err(wrong("address already in use".to_string())),
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => {}
            // It is no such socket, or belongs to another user, and may be in use.
            Err(e) => return Err(wrong(format!("cannot connect to the existing socket: {e}"))),
        }
        std::fs::remove_file(path).map_err(|e| wrong(format!("cannot remove the stale socket: {e}")))?;
    }
    UnixListener::bind(path).map_err(|e| wrong(format!("cannot create the socket: {e}")))
}

/// The volatile write cache of a new drive.
fn volatile(spec: &ServeSpec, drive: &mut Drive, folder: Option<&Folder>) -> Result<Volatile, ServeError> {
    let rules = Rules { sector: drive.setup().device.sector.0, atomic: spec.atomic };
    let (left, damaged) = folder.map(found::left).transpose()?.unwrap_or_default();
    if !damaged.is_empty() {
        drive.add_damaged(damaged);
    }
    Ok(Volatile::new(spec.write_cache, rules, spec.power_loss, spec.run.seed).with_left(left.into_iter()))
}

/// What a power cut can lose on a drive without a volatile write cache that acknowledges data before they are
/// on flash.
fn early_acknowledgement(spec: &ServeSpec, drive: &Drive) -> Option<String> {
    let device = &drive.setup().device;
    let held = match device.ack {
        _ if spec.write_cache > 0 => return None,
        Ack::Program => return None,
        Ack::Merge => "its merge buffer".to_string(),
        Ack::Buffer(pages) => format!("its write buffer of {}", Bytes(u64::from(pages) * device.unit.0)),
    };
    Some(format!(
        "{} acknowledges writes from {held}, which is protected in the device file: a power cut loses no \
         acknowledged write; --write-cache SIZE adds a volatile cache, which can lose some",
        device.name
    ))
}

impl Server {
    /// Create a drive and serve it until [`Self::stop`].
    ///
    /// # Errors
    /// When the drive cannot be made, or not be served there.
    pub fn start(spec: &ServeSpec, log: Log) -> Result<Server, ServeError> {
        let folder = spec.data.as_deref().map(Folder::open);
        let mut folder = folder.transpose()?;
        let is_new = folder.as_ref().map(found::identity).transpose()?.flatten().is_none();
        let mut drive = match &mut folder {
            None => Drive::over(&spec.run, Flash::default())?,
            Some(folder) => Drive::in_folder(&spec.run, folder)?,
        };
        let volatile = volatile(spec, &mut drive, folder.as_ref())?;
        *drive.volatile_mut() = volatile;
        folder.as_mut().map(Folder::take_notes).unwrap_or_default().iter().for_each(|line| log(line));
        let places = Places::of(spec)?;
        let session = spec
            .session
            .as_deref()
            .map(|session| SessionLog::create(session, &spec.run, folder.as_ref().filter(|_| !is_new)));
        drive.record(session.transpose()?);
        let device = &drive.setup().device;
        let (most, page) = (device.logical_bytes(), device.unit.0);
        if let Capacity::Logical(Bytes(asked)) = device.capacity
            && asked != most
        {
            log(&format!(
                "{}: capacity.logical = {asked} bytes is not a multiple of the mapping unit ({page} bytes); the drive serves \
                 {most} bytes",
                device.name
            ));
        }
        if let Some(size) =
            spec.size.filter(|size| *size > most || *size == 0 || !size.is_multiple_of(device.sector.0))
        {
            let allowed = format!(
                "multiples of {} up to {most}; --set capacity.logical=SIZE makes a larger drive",
                device.sector.0
            );
            return Err(ServeError::Input(format!(
                "--size: {} cannot be served from this drive of {}\n  allowed: {allowed}",
                Bytes(size),
                Bytes(most)
            )));
        }
        if let Some(most) = spec.memory.filter(|most| *most < page) {
            let (most, page) = (Bytes(most), Bytes(page));
            let what = format!("--memory: {most} has no room for a mapping unit\n  allowed: {page} and more");
            return Err(ServeError::Input(what));
        }
        if let Some(path) = &spec.image {
            if !is_new {
                let what = "the folder already holds a drive with data";
                return Err(ServeError::Input(format!(
                    "--image {}: {what}\n  allowed: a new folder",
                    path.display()
                )));
            }
            image::load(&mut drive, folder.as_mut(), (path, spec.size.unwrap_or(most)))?;
        }
        if spec.session_data {
            session_data::keep(&mut drive, spec.size.unwrap_or(most), is_new && spec.image.is_none())?;
        }
        if let Some(folder) = folder.as_ref().filter(|_| is_new) {
            folder.complete().map_err(|e| ServeError::Machine(e.why))?;
        }
        early_acknowledgement(spec, &drive).iter().for_each(|line| log(line));
        Server::over(drive, folder, spec, places, log)
    }

    /// Serve an existing drive until [`Self::stop`].
    fn over(
        drive: Drive,
        folder: Option<Folder>,
        spec: &ServeSpec,
        mut places: Places,
        log: Log,
    ) -> Result<Server, ServeError> {
        host::keep_memory();
        let granted = host::ask();
        let name = spec.export.clone().unwrap_or_else(|| drive.setup().device.name.clone());
        let description = format!("{} under {}", drive.setup().device.description, drive.scheme());
        let syncing = folder.as_ref().map(|folder| Syncing::new(folder.log(), spec.always_sync));
        let engine = Engine::new(drive, folder, spec);
        let preferred = u32::try_from(engine.executor().space().units().sector).unwrap_or(4096).max(512);
        let export = Export {
            name,
            description,
            size: engine.executor().space().size(),
            preferred,
            read_only: spec.read_only,
            encryption: spec.encryption,
        };
        let shared = Arc::new(Shared::new(engine, syncing, export, granted, (spec, Server::forked), log));
        let listeners = std::mem::take(&mut places.listeners);
        let mut server = Server { shared, threads: vec![], places };
        let shared = Arc::clone(&server.shared);
        server.spawn("wordline-pace", move || pace::pace(&shared))?;
        let shared = Arc::clone(&server.shared);
        server.spawn("wordline-sync", move || shared.sync())?;
        let shared = Arc::clone(&server.shared);
        server.spawn("wordline-stalls", move || stall_detector::watch(&shared))?;
        for listener in listeners {
            let shared = Arc::clone(&server.shared);
            server.spawn("wordline-accept", move || accept(&shared, &listener))?;
        }
        Ok(server)
    }

    /// Serve a fork until the returned server is dropped.
    fn forked(drive: Drive, spec: &ServeSpec, log: Log) -> Result<Started, ServeError> {
        let server = Server::over(drive, None, spec, Places::of(spec)?, log)?;
        let uri = server.uris().first().cloned().unwrap_or_default();
        Ok((uri, Box::new(server)))
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), ServeError> {
        let thread = std::thread::Builder::new().name(name.to_string()).spawn(work);
        self.threads.push(thread.map_err(|e| ServeError::Machine(format!("cannot start a thread: {e}")))?);
        Ok(())
    }

    /// The addresses for clients. A TCP port of 0 is replaced by the one that the system chose.
    pub fn addresses(&self) -> &[Address] {
        &self.places.addresses
    }

    /// The addresses as URIs.
    pub fn uris(&self) -> Vec<String> {
        let encrypted = self.shared.export.encryption == Encryption::Require;
        self.places.addresses.iter().map(|address| address.uri(encrypted)).collect()
    }

    /// Why the drive cannot be served any longer, such as a folder that is gone.
    pub fn failure(&self) -> Option<String> {
        lock(&self.shared.engine).gone().map(str::to_string)
    }

    /// The name of the export, and its size in bytes.
    pub fn export(&self) -> (&str, u64) {
        (&self.shared.export.name, self.shared.export.size)
    }

    /// End all connections, drain the drive, and write the session. Returns the statistics of clients, the
    /// result hash, and why the session could not be written, if so.
    ///
    /// # Errors
    /// None so far.
    pub fn stop(mut self) -> Result<StatsReport, ServeError> {
        self.end();
        let mut report = self.shared.to_json();
        let (hash, session) = self.shared.with_engine(|engine| {
            let ended = engine.executor_mut().drive_mut().end();
            engine.close();
            if let Some(why) = engine.unwritten() {
                report["folder_failed"] = why.into();
            }
            ended
        });
        match hash {
            Ok(hash) => report["result_hash"] = hash.into(),
            Err(why) => report["stopped"] = why.into(),
        }
        if let Some(session) = session
            && let Err(e) = session.end(&report)
        {
            report["session_failed"] = e.to_string().into();
        }
        Ok(StatsReport(report))
    }

    fn end(&mut self) {
        self.shared.stop();
        for thread in self.threads.drain(..) {
            // The thread has reported its panic.
            let _ = thread.join();
        }
        self.places.remove();
        // Dropping a fork ends it.
        lock(&self.shared.forks).clear();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Accept connections, with one thread each, until the server stops.
fn accept(shared: &Arc<Shared>, listener: &Listener) {
    let mut clients: Vec<JoinHandle<()>> = vec![];
    while !shared.is_stopping() {
        let mut fds = [PollFd::new(listener, PollFlags::IN)];
        if !matches!(poll(&mut fds, Some(&LOOK)), Ok(n) if n > 0) {
            continue;
        }
        let work: io::Result<Box<dyn FnOnce() + Send>> = match listener {
            Listener::Unix(l) => l
                .accept()
                .map(|(s, _)| client(shared, Socket::new(Stream::Unix(s)), "the unix socket".to_string())),
            Listener::Tcp(l) => l.accept().map(|(s, from)| {
                // Without this, small replies would wait until the client acknowledges earlier ones.
                let _ = s.set_nodelay(true);
                client(shared, Socket::new(Stream::Tcp(s)), from.to_string())
            }),
            Listener::Control(l) => l.accept().map(|(s, _)| {
                let shared = Arc::clone(shared);
                let work: Box<dyn FnOnce() + Send> = Box::new(move || {
                    // An error means that the client left before the reply.
                    let _ = control::serve(&shared, s);
                });
                work
            }),
        };
        let spawned =
            work.and_then(|work| std::thread::Builder::new().name("wordline-client".to_string()).spawn(work));
        match spawned {
            Ok(thread) => clients.push(thread),
            Err(e) => {
                (shared.log)(&format!("cannot accept a connection: {e}"));
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        clients.retain(|c| !c.is_finished());
    }
    for client in clients {
        let _ = client.join();
    }
}

fn client(shared: &Arc<Shared>, socket: Socket, from: String) -> Box<dyn FnOnce() + Send> {
    let shared = Arc::clone(shared);
    Box::new(move || connection::serve(&shared, socket, &from))
}
