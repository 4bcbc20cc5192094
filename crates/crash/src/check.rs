//! A check of one crash state: an image in RAM, or a drive at an address, and the marks before the cut.

use crate::command::{Process, Template};
use crate::error::CrashError;
use crate::recording::scratch;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use wordline_live::Recorder;
use wordline_volatile::{Image, Interval, Log, State};

/// Bytes that are written to an image at once.
const TOGETHER: usize = 1 << 20;
/// Bytes of what a check says that are kept, from the end.
const SAID: u64 = 2000;

/// What a check said of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Exit code 0.
    Passed,
    /// Anything else: how it ended, and what it printed last.
    Failed {
        /// How it ended, in words.
        how: String,
        /// What it printed last.
        said: String,
    },
}

/// A check, in a folder of its own.
pub struct Check<'a> {
    template: &'a Template,
    log: &'a Log,
    most: Duration,
    folder: TempDir,
}

impl<'a> Check<'a> {
    /// A check of states of a log, which may take so long for each.
    ///
    /// # Errors
    /// When there is no folder for its files.
    pub fn new(template: &'a Template, log: &'a Log, most: Duration) -> Result<Check<'a>, CrashError> {
        Ok(Check { template, log, most, folder: scratch()? })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Check a state.
    ///
    /// # Errors
    /// When its files cannot be written, the check not be run, or `stops` says so.
    pub fn run(
        &self,
        interval: &Interval,
        state: &State,
        stops: &dyn Fn() -> bool,
    ) -> Result<Verdict, CrashError> {
        self.run_on(state.image(interval), interval.at(), stops)
    }

    /// Check an image with the marks of the first so many events.
    pub(crate) fn run_on(
        &self,
        image: Image,
        at: usize,
        stops: &dyn Fn() -> bool,
    ) -> Result<Verdict, CrashError> {
        let [path, acked, said, socket] =
            ["image", "acked", "said", "drive.sock"].map(|name| self.path(name));
        if self.template.has("image") {
            write_image(&path, &image).map_err(CrashError::machine("a crash state cannot be written"))?;
        }
        if self.template.has("acked") {
            let lines: String = self.log.marks(at).map(|mark| format!("{mark}\n")).collect();
            std::fs::write(&acked, lines).map_err(CrashError::machine("the marks cannot be written"))?;
        }
        let drive = if self.template.has("uri") || self.template.has("socket") {
            Some(Recorder::start(&socket, image, self.log.sector, None)?)
        } else {
            None
        };
        let output = File::create(&said).map_err(CrashError::machine("no file for what the check says"))?;
        let uri = drive.as_ref().map_or(String::new(), Recorder::uri);
        let text = |path: &Path| path.display().to_string();
        let values =
            [("image", &text(&path)), ("acked", &text(&acked)), ("uri", &uri), ("socket", &text(&socket))];
        let mut command = self.template.command(&values.map(|(name, value)| (name, value.as_str())));
        let errors = output.try_clone().map_err(CrashError::machine("--check"))?;
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let failed = CrashError::machine("--check: it cannot be started");
        let mut process = Process::start(command).map_err(failed)?;
        let status = process.wait(self.most, stops).map_err(CrashError::machine("--check"))?;
        let how = match status {
            Some(status) if status.success() => return Ok(Verdict::Passed),
            Some(status) if status.code() == Some(127) => {
                let what = tail(&said);
                return Err(CrashError::Input(format!("--check: command not found: {}", what.trim())));
            }
            Some(status) => status.to_string(),
            None if stops() => return Err(CrashError::Stopped),
            None => format!("no end after {} s", self.most.as_secs()),
        };
        Ok(Verdict::Failed { how, said: tail(&said) })
    }
}

/// The end of what a check said.
fn tail(path: &Path) -> String {
    let mut text = vec![];
    if let Ok(mut file) = File::open(path) {
        let length = file.metadata().map_or(0, |m| m.len());
        let _ = file.seek(SeekFrom::Start(length.saturating_sub(SAID)));
        let _ = file.read_to_end(&mut text);
    }
    String::from_utf8_lossy(&text).trim_end().to_string()
}

/// Write an image as a sparse file, anew, whatever a check has done to the one before.
fn write_image(path: &Path, image: &Image) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let file = File::create_new(path)?;
    file.set_len(image.size())?;
    let mut together: Vec<u8> = vec![];
    let mut from = 0;
    for (at, bytes) in image.runs() {
        if at != from + together.len() as u64 || together.len() >= TOGETHER {
            file.write_all_at(&together, from)?;
            together.clear();
            from = at;
        }
        together.extend(bytes);
    }
    file.write_all_at(&together, from)
}
