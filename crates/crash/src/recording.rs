//! Runs a client once, and returns the log of what it sent.

use crate::command::{Process, Template};
use crate::error::CrashError;
use crate::mount::{DriveFile, FileSystem, Mounted};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use wordline_live::{Recorder, Recording};
use wordline_volatile::{Content, Event, Image, Log, SessionFaults};

/// The drive on which a client is run.
#[derive(Clone, Debug)]
pub struct RecordSpec {
    /// Size of the drive in bytes.
    pub size: u64,
    /// Size of a sector in bytes. Sectors are never torn.
    pub sector: u64,
    /// A file with the initial contents of the drive.
    pub image: Option<PathBuf>,
    /// Time limit of the client.
    pub most: Duration,
    /// A file system to mount for the client. Without an image, it is created with these options of mkfs.
    pub mount: Option<(FileSystem, Vec<String>)>,
    /// Session faults of the drive.
    pub faults: Option<SessionFaults>,
}

/// The result of a client's run.
#[derive(Debug)]
pub struct Recorded {
    /// The log of its requests.
    pub log: Log,
    /// Its exit status.
    pub status: ExitStatus,
}

/// Run a client on a new drive, and record what it sends. Each line that it prints is a mark.
///
/// # Errors
/// If it cannot be run or takes too long, or `stops` is set.
pub fn record(
    client: &Template,
    spec: &RecordSpec,
    stops: &dyn Fn() -> bool,
) -> Result<Recorded, CrashError> {
    if client.has("image") {
        DriveFile::check()?;
    }
    let folder = scratch(spec.mount.is_some())?;
    let path = folder.path().join("drive.sock");
    let pipe = CrashError::machine("cannot create a pipe for the output of the client");
    let (printed, out) = std::io::pipe().map_err(pipe)?;
    let mut image = begin(spec, folder.path())?;
    // The faults are for the client, not for mount.
    let faults = if spec.mount.is_some() { None } else { spec.faults.clone() };
    let recording = Recording { printed, faults };
    let recorder = Recorder::start(&path, image.clone(), spec.sector, Some(recording))?;
    let mounted = spec.mount.as_ref().map(|(system, _)| Mounted::start(system, &path, folder.path()));
    let mounted = mounted.transpose()?;
    let mnt = match &mounted {
        None => String::new(),
        Some(mounted) => {
            mounted.sync()?;
            image = recorder.restart(spec.faults.clone());
            mounted.at().display().to_string()
        }
    };
    let file = client.has("image").then(|| DriveFile::start(&path, folder.path())).transpose()?;
    let disk = file.as_ref().map_or(String::new(), |file| file.path().display().to_string());
    let (uri, socket) = (recorder.uri(), path.display().to_string());
    let values = [("uri", &uri), ("socket", &socket), ("image", &disk), ("mnt", &mnt)];
    let mut command = client.command(&values.map(|(name, value)| (name, value.as_str())));
    command.stdin(Stdio::null()).stdout(out);
    let mut process =
        Process::start(command).map_err(CrashError::machine("--run: the client cannot be started"))?;
    let status = process.wait(spec.most, stops);
    drop(process);
    drop(file);
    let status = status.map_err(CrashError::machine("--run"))?;
    match status {
        Some(status) => {
            let mut log = match mounted {
                None => recorder.end(),
                Some(mounted) => {
                    // What the file system has not written by now is lost by a cut at the end of the client, and not by a later
                    // one. A drive with faults may have stopped the file system.
                    let synced = mounted.sync();
                    if spec.faults.is_none() {
                        synced?;
                    }
                    // The unmount does not belong to the client's requests.
                    let log = recorder.take_log();
                    drop(mounted);
                    log
                }
            };
            let base = events_of(&image);
            log.base = base.len();
            log.events.splice(..0, base);
            Ok(Recorded { log, status })
        }
        None if stops() => Err(CrashError::Stopped),
        None => Err(CrashError::Input(format!(
            "--run: the client has not ended after {} s\n  allowed: a client that ends by itself; --timeout allows more",
            spec.most.as_secs()
        ))),
    }
}

/// The initial contents of the drive.
fn begin(spec: &RecordSpec, folder: &Path) -> Result<Image, CrashError> {
    let mut image = Image::new(spec.size, spec.sector);
    let made = spec.mount.as_ref().filter(|_| spec.image.is_none()).map(|(system, options)| {
        let path = folder.join("made");
        system.make(&path, spec.size, options).map(|()| path)
    });
    let made = made.transpose()?;
    let Some(path) = made.as_ref().or(spec.image.as_ref()) else { return Ok(image) };
    let wrong = |what: String| CrashError::Input(format!("--image {}: {what}", path.display()));
    let mut file = std::fs::File::open(path).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    let length = file.metadata().map_err(|e| wrong(format!("cannot be read: {e}")))?.len();
    if length > spec.size {
        let allowed = format!("at most the {} bytes of --size", spec.size);
        return Err(wrong(format!("the file has {length} bytes\n  allowed: {allowed}")));
    }
    let mut sector = 0;
    loop {
        let mut part = vec![];
        let read = (&mut file)
            .take(1 << 20)
            .read_to_end(&mut part)
            .map_err(|e| wrong(format!("cannot be read: {e}")))?;
        if read == 0 {
            return Ok(image);
        }
        part.resize(read.next_multiple_of(spec.sector as usize), 0);
        let bytes: Arc<[u8]> = part.into();
        for at in (0..bytes.len()).step_by(spec.sector as usize) {
            if bytes[at..at + spec.sector as usize].iter().any(|byte| *byte != 0) {
                image.set(sector, &Content::of(&bytes, at));
            }
            sector += 1;
        }
    }
}

/// The contents of an image as durable writes.
fn events_of(image: &Image) -> Vec<Event> {
    let write = |(offset, bytes): (u64, &[u8])| {
        [
            Event::Write { id: 0, connection: 0, offset, fua: true, data: bytes.to_vec() },
            Event::Done { id: 0 },
        ]
    };
    image.runs().flat_map(write).collect()
}

/// A folder in RAM if possible. For a file system, other users can enter it, because its files may belong to
/// them.
pub(crate) fn scratch(has_mount: bool) -> Result<tempfile::TempDir, CrashError> {
    let mode = std::fs::Permissions::from_mode(if has_mount { 0o711 } else { 0o700 });
    let mut builder = tempfile::Builder::new();
    builder.prefix("wordline-crash-").permissions(mode);
    let ram = Path::new("/dev/shm");
    let made = if ram.is_dir() { builder.tempdir_in(ram) } else { builder.tempdir() };
    made.or_else(|_| builder.tempdir())
        .map_err(CrashError::machine("cannot create a folder for crash states"))
}
