//! Checks one crash state, given as an image in RAM, a drive at an address or a mounted file system, with the
//! marks before the cut.

use crate::command::{Process, Template};
use crate::error::CrashError;
use crate::lock;
use crate::persistent::{Answer, Persistent};
use crate::recording::scratch;
use crate::spec::SearchSpec;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use tempfile::TempDir;
use wordline_live::Recorder;
use wordline_volatile::{Image, Interval, Log, Sectors, State};

/// Maximum bytes per write to an image.
const TOGETHER: usize = 1 << 20;
/// Bytes of a check's output that are kept, from its end.
const SAID: u64 = 2000;

/// The verdict of a check on a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The check exited with code 0.
    Passed,
    /// Anything else.
    Failed {
        /// How the check ended, in words.
        how: String,
        /// The end of its output.
        said: String,
    },
}

/// What a check found, and which sectors it read if it saw the drive only over NBD.
pub(crate) struct Checked {
    pub verdict: Verdict,
    pub read: Option<Sectors>,
}

/// A check with a folder of its own.
pub struct Check<'a> {
    template: &'a Template,
    log: &'a Log,
    spec: &'a SearchSpec,
    folder: TempDir,
    /// The check that runs, if it is one for all states.
    running: Mutex<Option<Persistent>>,
}

impl<'a> Check<'a> {
    /// A check of crash states of a log.
    ///
    /// # Errors
    /// If its folder cannot be created, or its file system cannot be mounted.
    pub fn new(template: &'a Template, log: &'a Log, spec: &'a SearchSpec) -> Result<Check<'a>, CrashError> {
        match (&spec.mount, template.has("mnt")) {
            (Some(system), true) => system.check()?,
            (None, true) => {
                let what = "--check: {mnt} is a mounted file system, and none is given";
                return Err(CrashError::Input(format!(
                    "{what}\n  allowed: {{mnt}} with a file system to mount, ext4 or xfs"
                )));
            }
            (_, false) => {}
        }
        let folder = scratch(spec.mount.is_some())?;
        Ok(Check { template, log, spec, folder, running: Mutex::new(None) })
    }

    /// Number of marks by which this check can tell two states apart.
    pub(crate) fn marks(&self, interval: &Interval) -> usize {
        if self.template.has("acked") { interval.marks() } else { 0 }
    }

    /// Whether it sees the drive only over NBD, so that all of its reads are known.
    pub(crate) fn is_served(&self) -> bool {
        self.is_over_nbd() && !self.template.has("image") && !self.template.has("mnt")
    }

    fn is_over_nbd(&self) -> bool {
        self.template.has("uri") || self.template.has("socket")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Check a state.
    ///
    /// # Errors
    /// If its files cannot be written, the check cannot be run, or `stops` is set.
    pub fn run(
        &self,
        interval: &Interval,
        state: &State,
        stops: &dyn Fn() -> bool,
    ) -> Result<Verdict, CrashError> {
        self.run_on(state.image(interval), (interval, state), stops).map(|checked| checked.verdict)
    }

    /// Check the image of a state, or what a simulated drive holds after its recovery from that state.
    pub(crate) fn run_on(
        &self,
        mut image: Image,
        (interval, state): (&Interval, &State),
        stops: &dyn Fn() -> bool,
    ) -> Result<Checked, CrashError> {
        if let Some(through) = &self.spec.through {
            let failed =
                |how: String| Checked { verdict: Verdict::Failed { how, said: String::new() }, read: None };
            let recovered = match through.recovered(interval, state) {
                Ok(recovered) => recovered,
                Err(what) => return Ok(failed(format!("recovery of the drive: {what}"))),
            };
            if let Some(first) = recovered.changed.first() {
                let (count, at) = (recovered.changed.len(), first * self.log.sector);
                return Ok(failed(format!(
                    "recovery of the drive: {count} durable sectors have changed, the first at byte {at}"
                )));
            }
            image = recovered.image;
        }
        let [path, acked, said, socket, mnt] =
            ["image", "acked", "said", "drive.sock", "mnt"].map(|name| self.path(name));
        if self.template.has("image") || self.template.has("mnt") {
            write_image(&path, &image).map_err(CrashError::machine("cannot write a crash state"))?;
        }
        if self.template.has("acked") {
            let lines: String = self.log.marks(interval.at()).map(|mark| format!("{mark}\n")).collect();
            std::fs::write(&acked, lines).map_err(CrashError::machine("cannot write the marks"))?;
        }
        let drive = if self.is_over_nbd() {
            Some(Recorder::start(&socket, image, self.log.sector, None)?)
        } else {
            None
        };
        let mounted = match &self.spec.mount {
            Some(system) if self.template.has("mnt") => match system.mount_image(&path, &mnt) {
                Ok(point) => Some(point),
                Err(said) => {
                    let how = format!("{} that cannot be mounted", system.kind());
                    return Ok(Checked { verdict: Verdict::Failed { how, said }, read: None });
                }
            },
            _ => None,
        };
        let output = OpenOptions::new().create(true).append(true).open(&said);
        let output =
            output.map_err(CrashError::machine("cannot create a file for the output of the check"))?;
        output
            .set_len(0)
            .map_err(CrashError::machine("cannot empty the file for the output of the check"))?;
        let uri = drive.as_ref().map_or(String::new(), Recorder::uri);
        let [path, acked, socket, mnt] = [path, acked, socket, mnt].map(|path| path.display().to_string());
        let values = [("image", &path), ("acked", &acked), ("uri", &uri), ("socket", &socket), ("mnt", &mnt)];
        let mut command = self.template.command(&values.map(|(name, value)| (name, value.as_str())));
        let errors = output.try_clone().map_err(CrashError::machine("--check"))?;
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let verdict = if self.spec.is_persistent {
            self.ask(command, &said, stops)?
        } else {
            let failed = CrashError::machine("--check: cannot be started");
            let mut process = Process::start(command).map_err(failed)?;
            let status = process.wait(self.spec.most, stops).map_err(CrashError::machine("--check"))?;
            // End what is left of the check before its file system and its drive.
            drop(process);
            self.verdict(status, &said, stops)?
        };
        drop(mounted);
        let read = drive.filter(|_| self.is_served()).map(Recorder::end_with_reads);
        Ok(Checked { verdict, read })
    }

    /// The verdict of a check that runs, or is started now.
    fn ask(&self, command: Command, said: &Path, stops: &dyn Fn() -> bool) -> Result<Verdict, CrashError> {
        let mut running = lock(&self.running);
        let mut check = match running.take() {
            Some(check) => check,
            None => Persistent::start(command).map_err(CrashError::machine("--check: cannot be started"))?,
        };
        match check.ask(self.spec.most, stops).map_err(CrashError::machine("--check"))? {
            Answer::Line(line) => {
                *running = Some(check);
                if line == "ok" {
                    return Ok(Verdict::Passed);
                }
                let said = format!("{line}\n{}", tail(said)).trim_end().to_string();
                Ok(Verdict::Failed { how: "a reply other than ok".to_string(), said })
            }
            Answer::Ended(status) if status.success() => Err(CrashError::Input(
                "--check: the check ended without a reply\n  allowed: a check that writes one line for each \
                 line of standard input"
                    .to_string(),
            )),
            Answer::Ended(status) => self.verdict(Some(status), said, stops),
            Answer::None => self.verdict(None, said, stops),
        }
    }

    /// The verdict, from the exit status of the process.
    fn verdict(
        &self,
        status: Option<ExitStatus>,
        said: &Path,
        stops: &dyn Fn() -> bool,
    ) -> Result<Verdict, CrashError> {
        let how = match status {
            Some(status) if status.success() => return Ok(Verdict::Passed),
            Some(status) if status.code() == Some(127) => {
                let what = tail(said);
                return Err(CrashError::Input(format!("--check: command not found: {}", what.trim())));
            }
            Some(status) => status.to_string(),
            None if stops() => return Err(CrashError::Stopped),
            None => format!("did not end within {} s", self.spec.most.as_secs()),
        };
        Ok(Verdict::Failed { how, said: tail(said) })
    }
}

/// The end of a check's output.
fn tail(path: &Path) -> String {
    let mut text = vec![];
    if let Ok(mut file) = File::open(path) {
        let length = file.metadata().map_or(0, |m| m.len());
        let _ = file.seek(SeekFrom::Start(length.saturating_sub(SAID)));
        let _ = file.read_to_end(&mut text);
    }
    String::from_utf8_lossy(&text).trim_end().to_string()
}

/// Write an image to a new sparse file. A previous check may have changed the old file.
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
