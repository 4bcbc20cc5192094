//! A client, run once, and the log of what it sent.

use crate::command::{Process, Template};
use crate::error::CrashError;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use wordline_live::Recorder;
use wordline_volatile::{Image, Log};

/// The drive that a client is run on.
#[derive(Clone, Copy, Debug)]
pub struct RecordSpec {
    /// Bytes of it.
    pub size: u64,
    /// Bytes of a sector, which is never torn.
    pub sector: u64,
    /// How long the client may take.
    pub most: Duration,
}

/// What a client did.
#[derive(Debug)]
pub struct Recorded {
    /// What it sent.
    pub log: Log,
    /// How it ended.
    pub status: ExitStatus,
}

/// Run a client on a new drive, and keep what it sends. Each line that it prints is a mark.
///
/// # Errors
/// When it cannot be run, takes too long, or `stops` says so.
pub fn record(client: &Template, spec: RecordSpec, stops: &dyn Fn() -> bool) -> Result<Recorded, CrashError> {
    let folder = scratch()?;
    let path = folder.path().join("drive.sock");
    let recorder = Recorder::start(&path, Image::new(spec.size, spec.sector), spec.sector, true)?;
    let (uri, socket) = (recorder.uri(), path.display().to_string());
    let mut command = client.command(&[("uri", &uri), ("socket", &socket)]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut process =
        Process::start(command).map_err(CrashError::machine("--run: the client cannot be started"))?;
    let lines = process.child().stdout.take();
    let status = std::thread::scope(|scope| {
        scope.spawn(|| {
            for line in
                lines.into_iter().flat_map(|lines| BufReader::new(lines).lines()).map_while(Result::ok)
            {
                recorder.mark(&line);
            }
        });
        let ended = process.wait(spec.most, stops);
        // What it started, too, so that nobody holds its standard output.
        drop(process);
        ended
    });
    let status = status.map_err(CrashError::machine("--run"))?;
    match status {
        Some(status) => Ok(Recorded { log: recorder.end(), status }),
        None if stops() => Err(CrashError::Stopped),
        None => Err(CrashError::Input(format!(
            "--run: the client has not ended after {} s\n  allowed: a client that ends by itself; --timeout allows more",
            spec.most.as_secs()
        ))),
    }
}

/// A folder in RAM, where there is one.
pub(crate) fn scratch() -> Result<tempfile::TempDir, CrashError> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("wordline-crash-");
    let ram = Path::new("/dev/shm");
    let made = if ram.is_dir() { builder.tempdir_in(ram) } else { builder.tempdir() };
    made.or_else(|_| builder.tempdir()).map_err(CrashError::machine("no folder for crash states can be made"))
}
