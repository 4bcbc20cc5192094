//! A session as files: all requests in the drive's time and order, all power cuts, and the results.
//!
//! `session.txt`: a line of JSON that says what was served, then one line per event. `submit AT ARRIVAL OP
//! LBA BLOCKS ATTRIBUTES` is a request (times in nanoseconds of the drive; addresses and lengths in blocks of
//! 512 bytes). `cut AT`, `slow AT DIE FACTOR` and `retire AT BLOCK` are what they say. `order AT WORDS` is a
//! command of the control socket; a rerun repeats only its effects, which have lines of the other kinds.
//! `drain AT`: the service ended, and the drive began to drain. `end` is the last line. `report.json`: the statistics, and the result hash. `trace.iolog`: the requests as
//! a fio log of version 3, to be read as a trace. `writes.log`, on request: the writes with their data. `drive/`: for a drive that had been served before, the
//! folder as it was then, without the bytes of its pages.

use crate::data::folder::Folder;
use crate::error::ServeError;
use crate::write_log::WriteLog;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use wordline_run::RunSpec;
use wordline_units::{Attributes, BlockId, DieId, HostOp, HostRequest, LBA_BYTES, Lba, SimTime};

/// The name of the format.
const SCHEMA: &str = "wordline-session/1";
/// The file of requests and cuts.
const EVENTS: &str = "session.txt";
/// The requests as a trace.
const TRACE: &str = "trace.iolog";
/// The writes with their data, if they are kept.
const WRITES: &str = "writes.log";
/// The last line of the file of events.
const END: &str = "end";
/// The file of results.
const REPORT: &str = "report.json";

/// The folder of a drive that had been served before, as it was when the session began, without the bytes of
/// its pages.
const DRIVE: &str = "drive";

/// What was served.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    schema: String,
    version: String,
    device: String,
    scheme: String,
    set: Vec<(String, String)>,
    seed: u64,
    initial: String,
}

impl Header {
    pub(crate) fn of(run: &RunSpec) -> Header {
        Header {
            schema: SCHEMA.to_string(),
            version: wordline_run::VERSION.to_string(),
            device: run.device.clone(),
            scheme: run.scheme.clone(),
            set: run.set.clone(),
            seed: run.seed,
            initial: run.initial.clone(),
        }
    }

    /// The run that was served, over other defaults.
    pub(crate) fn into_run(self, over: RunSpec) -> RunSpec {
        let Header { device, scheme, set, seed, initial, .. } = self;
        RunSpec { device, scheme, set, seed, initial, ..over }
    }
}

/// An event of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A request was submitted.
    Submit(SimTime, HostRequest),
    /// The power was cut.
    Cut(SimTime),
    /// A die is slowed down by a factor from now on.
    Slow(SimTime, DieId, u32),
    /// A block is retired at its next erase.
    Retire(SimTime, BlockId),
    /// A command arrived on the control socket. By itself it changes nothing in the drive.
    Order(SimTime, String),
    /// The drive begins to drain, after all that is due until then.
    Drain(SimTime),
}

/// A session while it is written.
pub(crate) struct SessionLog {
    folder: PathBuf,
    file: BufWriter<File>,
    trace: BufWriter<File>,
    writes: Option<WriteLog>,
    /// Why it is no longer written.
    broken: Option<io::Error>,
    /// Whether that has been reported.
    is_told: bool,
}

impl SessionLog {
    /// Begin a session in a folder, which is created if missing.
    pub(crate) fn create(
        folder: &Path,
        run: &RunSpec,
        served_before: Option<&Folder>,
    ) -> Result<SessionLog, ServeError> {
        let path = folder.join(EVENTS);
        let wrong = |e: io::Error| {
            ServeError::Input(format!(
                "--session {}: {}: cannot be written: {e}",
                folder.display(),
                path.display()
            ))
        };
        std::fs::create_dir_all(folder).map_err(wrong)?;
        if path.exists() {
            return Err(ServeError::Input(format!(
                "--session {}: the folder already has a session\n  allowed: a new or an empty folder",
                folder.display()
            )));
        }
        if let Some(drive) = served_before {
            drive.copy_without_bytes(&folder.join(DRIVE))?;
        }
        let mut file = BufWriter::new(File::create(&path).map_err(wrong)?);
        let header = serde_json::to_string(&Header::of(run)).map_err(|e| wrong(e.into()))?;
        writeln!(file, "{header}").map_err(wrong)?;
        let mut trace = BufWriter::new(File::create(folder.join(TRACE)).map_err(wrong)?);
        writeln!(trace, "fio version 3 iolog\n0 drive add\n0 drive open").map_err(wrong)?;
        let folder = folder.to_path_buf();
        let mut log = SessionLog { folder, file, trace, writes: None, broken: None, is_told: false };
        log.write_out();
        log.broken.take().map_or(Ok(log), |e| Err(wrong(e)))
    }

    /// Keep the data of all writes to a drive that serves `size` bytes, too.
    pub(crate) fn keep_data(&mut self, size: u64, sector: u64) -> Result<(), ServeError> {
        let path = self.folder.join(WRITES);
        let wrong =
            |e| ServeError::Input(format!("--session-data: {}: cannot be written: {e}", path.display()));
        self.writes = Some(WriteLog::create(&path, size, sector).map_err(wrong)?);
        Ok(())
    }

    /// The log of writes, if there is one.
    pub(crate) fn writes(&mut self) -> &mut Option<WriteLog> {
        &mut self.writes
    }

    /// Why it is no longer written; returned once.
    pub(crate) fn failure(&mut self) -> Option<String> {
        let of_writes = self.writes.as_ref().and_then(WriteLog::broken).map(|e| (WRITES, e));
        let broken = self.broken.as_ref().map(|e| (EVENTS, e)).or(of_writes);
        let (file, broken) = broken.filter(|_| !self.is_told)?;
        self.is_told = true;
        let path = self.folder.join(file);
        Some(format!(
            "{}: cannot be written: {broken}; this session cannot be replayed; the drive still serves",
            path.display()
        ))
    }

    /// Write what waits in memory to the files, so that a server that is killed has lost little of its session.
    pub(crate) fn write_out(&mut self) {
        if self.broken.is_none() {
            self.broken = self.file.flush().and_then(|()| self.trace.flush()).err();
        }
        self.writes.iter_mut().for_each(WriteLog::write_out);
    }

    /// Write an event. The first error is kept.
    pub(crate) fn note(&mut self, event: &Event) {
        if self.broken.is_some() {
            return;
        }
        let written = match event {
            Event::Submit(at, r) => writeln!(
                self.file,
                "submit {} {} {} {} {} {}",
                at.0,
                r.arrival.0,
                r.op.key(),
                r.lba.0,
                r.blocks,
                u8::from(r.attributes)
            )
            .and_then(|()| trace(&mut self.trace, *at, r)),
            Event::Cut(at) => writeln!(self.file, "cut {}", at.0).and_then(|()| self.file.flush()),
            Event::Slow(at, die, factor) => writeln!(self.file, "slow {} {} {factor}", at.0, die.0),
            Event::Retire(at, block) => writeln!(self.file, "retire {} {}", at.0, block.0),
            Event::Order(at, words) => {
                if let (Some(writes), Some(text)) = (&mut self.writes, words.strip_prefix("mark ")) {
                    writes.mark(text);
                }
                writeln!(self.file, "order {} {words}", at.0)
            }
            Event::Drain(at) => writeln!(self.file, "drain {}", at.0),
        };
        self.broken = written.err();
    }

    /// Write the results, and end the session.
    pub(crate) fn end(mut self, report: &serde_json::Value) -> Result<PathBuf, ServeError> {
        let failed = |path: &Path, e: io::Error| {
            ServeError::Machine(format!(
                "{}: cannot write the session: {e}; free some space and start the server again",
                path.display()
            ))
        };
        if let Some(e) = self.broken {
            return Err(failed(&self.folder.join(EVENTS), e));
        }
        writeln!(self.file, "{END}")
            .and_then(|()| self.file.flush())
            .and_then(|()| self.trace.flush())
            .map_err(|e| failed(&self.folder.join(EVENTS), e))?;
        let path = self.folder.join(REPORT);
        std::fs::write(&path, format!("{report:#}\n")).map_err(|e| failed(&path, e))?;
        let writes = self.writes.take().map_or(Ok(()), WriteLog::end);
        writes.map_err(|e| failed(&self.folder.join(WRITES), e))?;
        Ok(self.folder)
    }
}

/// Write a request as a line of the trace.
fn trace(to: &mut impl Write, at: SimTime, request: &HostRequest) -> io::Result<()> {
    let (us, offset) = (at.0 / 1000, request.lba.0 * LBA_BYTES);
    let length = u64::from(request.blocks) * LBA_BYTES;
    match request.op {
        HostOp::Read => writeln!(to, "{us} drive read {offset} {length}"),
        HostOp::Write => writeln!(to, "{us} drive write {offset} {length}"),
        HostOp::Trim => writeln!(to, "{us} drive trim {offset} {length}"),
        HostOp::Flush => writeln!(to, "{us} drive sync 0 0"),
    }
}

/// A session while it is read.
pub(crate) struct Recorded {
    pub header: Header,
    /// The folder of the drive, if it had been served before.
    pub served_before: Option<PathBuf>,
    pub events: Events,
    /// The hash of the session's result. None if its server did not end it.
    pub result_hash: Option<String>,
}

/// The events of a session, in order.
pub(crate) struct Events {
    path: PathBuf,
    lines: BufReader<File>,
    line: u64,
    /// Whether a server has ended the session, so that its last line is known.
    is_ended: bool,
}

/// Whether a folder holds a session.
pub fn is_session(folder: &Path) -> bool {
    folder.join(EVENTS).is_file()
}

impl Recorded {
    pub(crate) fn open(folder: &Path) -> Result<Recorded, ServeError> {
        let path = folder.join(EVENTS);
        let unread =
            |path: &Path, e: io::Error| ServeError::Input(format!("{}: cannot be read: {e}", path.display()));
        let mut lines = BufReader::new(File::open(&path).map_err(|e| unread(&path, e))?);
        let mut first = String::new();
        lines.read_line(&mut first).map_err(|e| unread(&path, e))?;
        let header: Header = serde_json::from_str(&first).map_err(|e| {
            let what = format!("line 1: not a session: {e}");
            ServeError::Input(format!(
                "{}: {what}\n  allowed: what `wordline serve --session` wrote",
                path.display()
            ))
        })?;
        if header.schema != SCHEMA {
            let what = format!("line 1: unknown schema {:?}", header.schema);
            return Err(ServeError::Input(format!("{}: {what}\n  allowed: {SCHEMA:?}", path.display())));
        }
        let report = folder.join(REPORT);
        let result_hash = match std::fs::read_to_string(&report) {
            // It is written when the server ends.
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(unread(&report, e)),
            Ok(text) => {
                let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
                let Some(hash) = value["result_hash"].as_str().map(str::to_string) else {
                    let what = format!("{}: result_hash is missing", report.display());
                    return Err(ServeError::Input(what));
                };
                Some(hash)
            }
        };
        let served_before = Some(folder.join(DRIVE)).filter(|drive| drive.exists());
        let events = Events { path, lines, line: 1, is_ended: result_hash.is_some() };
        Ok(Recorded { header, served_before, events, result_hash })
    }
}

impl Events {
    /// The next event; nothing at the end. A session that its server did not end has its last whole line there.
    pub(crate) fn next(&mut self) -> Result<Option<Event>, ServeError> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line);
        read.map_err(|e| ServeError::Input(format!("{}: cannot be read: {e}", self.path.display())))?;
        let whole = line.strip_suffix('\n');
        if whole.is_none() && self.is_ended {
            let what = format!("truncated at line {}", self.line);
            let allowed = format!("a last line {END:?}; use the complete file");
            return Err(ServeError::Input(format!("{}: {what}\n  allowed: {allowed}", self.path.display())));
        }
        self.line += 1;
        let Some(line) = whole.filter(|line| *line != END) else { return Ok(None) };
        event(line).map(Some).ok_or_else(|| {
            let allowed =
                "submit AT ARRIVAL OP LBA BLOCKS ATTRIBUTES, cut AT, slow AT DIE FACTOR, retire AT BLOCK, order AT WORDS, drain AT";
            ServeError::Input(format!(
                "{}: line {}: {line:?} is not an event\n  allowed: {allowed}",
                self.path.display(),
                self.line
            ))
        })
    }
}

fn event(line: &str) -> Option<Event> {
    let time = |word: &str| word.parse().ok().map(SimTime).filter(|at| *at < SimTime::NEVER);
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        ["submit", at, arrival, op, lba, blocks, attributes] => {
            let request = HostRequest {
                arrival: time(arrival)?,
                lba: Lba(lba.parse().ok()?),
                blocks: blocks.parse().ok()?,
                op: op.parse::<HostOp>().ok()?,
                attributes: Attributes::from(attributes.parse::<u8>().ok()?),
                volume: 0,
            };
            Some(Event::Submit(time(at)?, request))
        }
        ["cut", at] => Some(Event::Cut(time(at)?)),
        ["drain", at] => Some(Event::Drain(time(at)?)),
        ["slow", at, die, factor] => {
            Some(Event::Slow(time(at)?, DieId(die.parse().ok()?), factor.parse().ok()?))
        }
        ["retire", at, block] => Some(Event::Retire(time(at)?, BlockId(block.parse().ok()?))),
        ["order", at, _, ..] => {
            let words = line.splitn(3, ' ').nth(2)?;
            Some(Event::Order(time(at)?, words.to_string()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunSpec::new("demo-8gb", "slc-cache", "uniform");
        let mut log = SessionLog::create(folder.path(), &run, None).unwrap();
        let request = HostRequest::new(HostOp::Write, 8, 16).at(SimTime(70));
        let request = HostRequest { attributes: Attributes::FUA, ..request };
        let events = [
            Event::Submit(SimTime(80), request),
            Event::Slow(SimTime(85), DieId(2), 3),
            Event::Retire(SimTime(86), BlockId(7)),
            Event::Order(SimTime(90), "cut within=2ms seed=3".to_string()),
            Event::Cut(SimTime(90)),
            Event::Drain(SimTime(95)),
        ];
        events.iter().for_each(|e| log.note(e));
        assert!(SessionLog::create(folder.path(), &run, None).is_err(), "a session is never written over");
        log.end(&serde_json::json!({ "result_hash": "abc" })).unwrap();
        assert!(is_session(folder.path()));
        let mut read = Recorded::open(folder.path()).unwrap();
        assert_eq!((read.header.clone(), read.result_hash.as_deref()), (Header::of(&run), Some("abc")));
        let found: Vec<Event> = std::iter::from_fn(|| read.events.next().unwrap()).collect();
        assert_eq!(found, events);
        // Readers of traces recognize the format by these lines.
        let text = std::fs::read_to_string(folder.path().join(EVENTS)).unwrap();
        assert!(text.starts_with("{\"schema\":\"wordline-session/") && text.ends_with("\nend\n"), "{text}");
        let trace = std::fs::read_to_string(folder.path().join(TRACE)).unwrap();
        assert_eq!(trace, "fio version 3 iolog\n0 drive add\n0 drive open\n0 drive write 4096 8192\n");
    }

    #[test]
    fn a_line_that_is_no_event_is_named() {
        let all = "|submit 1 2 write 3 4|submit 1 2 wipe 3 4 0|cut|cut -1|submit 1 2 read 3 4 900";
        let never =
            "cut NEVER|submit NEVER 2 read 3 4 0|submit 1 NEVER read 3 4 0|slow NEVER 1 2|retire NEVER 1";
        assert!(never.split('|').all(|line| event(&line.replace("NEVER", "7")).is_some()));
        let never = never.replace("NEVER", &u64::MAX.to_string());
        for line in all.split('|').chain(never.split('|')) {
            assert_eq!(event(line), None, "{line}");
        }
    }
}
