//! The trace formats: one file each, and the list [`FORMATS`]. A format states its grammar, says
//! whether a sample of a file looks like it and why, turns bytes into [`Record`]s one at a time, and
//! writes them. Adding one is its file and one line of the list.

mod addresses;
mod alibaba;
mod blkparse;
mod blktrace;
mod csv;
mod etw;
mod fio;
mod fiu;
mod five_columns;
mod ftrace;
mod lines_of;
mod msr;
mod oracle_general;
mod plausible;
mod readings;
mod records;
mod rwbs;
mod spc;
mod systor;
mod tencent;
mod units;
mod vscsi;
mod vscsi_csv;
mod wiscsee;
mod wordline;
mod writing;

pub(crate) use readings::{Extents, Judged, Reading, Settled, judge_whole, settle, table};
use units::TIME;
pub use units::Timing;
pub(crate) use writing::{Clock, Keeps, Naming, Writing};

use crate::numbers::excerpt;
use crate::parameter::Parameter;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Read};
use wordline_units::{Attributes, HostOp};

/// Every format that is known, in the order in which detection tries them.
pub static FORMATS: &[&Format] = &[
    &wordline::FORMAT,
    &blktrace::FORMAT,
    &vscsi::V1,
    &vscsi::V2,
    &vscsi_csv::FORMAT,
    &msr::FORMAT,
    &systor::FORMAT,
    &spc::FORMAT,
    &alibaba::FORMAT,
    &tencent::FORMAT,
    &fio::FORMAT,
    &blkparse::FORMAT,
    &ftrace::FORMAT,
    &etw::FORMAT,
    &fiu::FORMAT,
    &wiscsee::FORMAT,
    &five_columns::FORMAT,
    &oracle_general::FORMAT,
    &addresses::FORMAT,
    &csv::FORMAT,
];

/// A trace format.
pub struct Format {
    /// The word that `format=` takes.
    pub name: &'static str,
    /// One line for a list.
    pub title: &'static str,
    /// The grammar, in full.
    pub grammar: &'static str,
    /// Options that only this format has.
    pub parameters: &'static [Parameter],
    /// Whether its files are in order of time.
    pub order: Order,
    /// What its files say of their clock.
    pub timing: Timing,
    /// Whether its times are dates, and not times since a start.
    pub(crate) dated: bool,
    pub(crate) extents: Extents,
    pub(crate) detect: fn(&Sample, &Settings) -> Result<Detection, Miss>,
    pub(crate) open: fn(&Settings, Input) -> Box<dyn RecordReader>,
    /// A writer with these settings, or the option that it cannot go by.
    pub(crate) write: fn(&Settings) -> Result<Writing, Miss>,
}

impl Format {
    /// Whether traces are written in it, too.
    pub fn is_written(&self) -> bool {
        (self.write)(&Settings::new()).is_ok()
    }

    /// What stands in for what its files do not say, in a sentence; for reports.
    pub(crate) fn stands_in(&self) -> Option<&'static str> {
        match self.name {
            name if name == oracle_general::FORMAT.name => Some(
                "the trace has objects and neither operations nor addresses; each record is one request for an \
                 object, laid out by first use.",
            ),
            name if name == addresses::FORMAT.name => {
                Some("the trace has addresses only; operation and size of every request are assumed or told.")
            }
            _ => None,
        }
    }

    /// The first lines of its grammar, and what its files say of their clock.
    pub fn outline(&self) -> String {
        let lines = self.grammar.lines().take_while(|l| !l.trim().is_empty());
        let rows: Vec<&str> = lines.map(str::trim_end).collect();
        rows.join("\n")
    }

    /// Whether it must be asked for by name, since no content shows it.
    pub fn must_be_told(&self) -> bool {
        self.name == csv::FORMAT.name
    }

    /// The settings with this unit of time.
    pub(crate) fn with_time(&self, settings: &Settings, unit: &str) -> Settings {
        let mut settings = settings.clone();
        let value = match settings.get(TIME.key).filter(|_| self.timing == Timing::Told) {
            Some(column) => format!("{column}:{unit}"),
            None => unit.to_string(),
        };
        settings.insert(TIME.key, value);
        settings
    }

    /// Whether the settings say the unit of time.
    pub(crate) fn tells_time(&self, settings: &Settings) -> bool {
        match self.timing {
            Timing::Told => csv::tells_time(settings),
            _ => settings.contains_key(TIME.key),
        }
    }
}

/// Whether the requests of a file are in order of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// They are; one that is not is a fault of the file.
    Kept,
    /// Not by the nature of the format, so they are sorted unless told otherwise.
    Loose,
}

/// Looks a format up by name.
pub fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|f| f.name == name)
}

/// The content of a trace file, decompressed.
pub(crate) type Input = Box<dyn Read + Send>;

/// What is set for a format's own parameters.
pub(crate) type Settings = BTreeMap<&'static str, String>;

/// How sure detection is of a format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Some of the sample fits.
    Possible,
    /// The sample fits, and evidence speaks against every other reading.
    Likely,
    /// The sample fits a grammar that nothing else shares.
    Certain,
    /// The user said so.
    Told,
}

impl Confidence {
    /// The word that reports use.
    pub const fn name(self) -> &'static str {
        ["possible", "likely", "certain", "as told"][self as usize]
    }
}

/// A format that fits a sample.
#[derive(Clone)]
pub(crate) struct Detection {
    pub confidence: Confidence,
    /// Why, in a sentence.
    pub reason: String,
    /// Values of the format's own parameters, told or found.
    pub settings: Settings,
}

impl Detection {
    /// The same with what is told.
    fn with(mut self, told: &Settings) -> Detection {
        self.settings.extend(told.iter().map(|(k, v)| (*k, v.clone())));
        self
    }
}

/// Why a format does not fit, and how much of the sample did.
pub(crate) struct Miss {
    /// Share of the sample that fits, in per mille.
    pub fits: u64,
    /// What the first misfit was.
    pub reason: String,
    /// The option that is at fault, if it is not the content.
    pub option: Option<OptionFault>,
}

impl Miss {
    /// The content is at fault.
    pub fn new(fits: u64, reason: impl Into<String>) -> Miss {
        Miss { fits, reason: reason.into(), option: None }
    }
}

/// An option that a format cannot go by.
pub(crate) struct OptionFault {
    pub key: &'static str,
    pub allowed: String,
}

/// The beginning of a file.
pub(crate) struct Sample<'a> {
    pub bytes: &'a [u8],
    /// Whether this is the whole file.
    pub complete: bool,
}

impl<'a> Sample<'a> {
    /// The sample up to the end of its last whole line; all of it where there are no lines.
    pub fn whole_lines(&self) -> &'a [u8] {
        if self.complete {
            return self.bytes;
        }
        memchr::memrchr(b'\n', self.bytes).map_or(self.bytes, |at| &self.bytes[..at + 1])
    }

    /// The lines of the sample that are whole.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.whole_lines();
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let at = memchr::memchr(b'\n', rest);
            let (line, next) = at.map_or((rest, &[][..]), |at| (&rest[..at], &rest[at + 1..]));
            rest = next;
            Some(line.strip_suffix(b"\r").unwrap_or(line))
        })
    }
}

/// One request as the file states it, before time zero, volumes, fit and pace are applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    /// Nanoseconds by the file's own clock.
    pub time: u64,
    /// First byte on its volume.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    pub op: HostOp,
    /// What the host said beside it: a latency hint, and of a write FUA and its stream.
    pub attributes: Attributes,
    /// Position in the reader's list of volumes.
    pub volume: u16,
}

/// Reads and writes longer than this are taken for damage; 512 times what hosts issue.
const LONGEST_TRANSFER: u64 = 1 << 32;
/// A trim may be as long as a request can say: 2^32 − 1 blocks of 512 bytes.
const LONGEST_TRIM: u64 = (u32::MAX as u64) << 9;
/// Addresses end here, so that sums of addresses never overflow.
pub(crate) const HIGHEST_ADDRESS: u64 = 1 << 62;

impl Record {
    /// The record, or why no drive could be asked for it.
    #[inline]
    pub fn checked(self) -> Result<Record, String> {
        if self.op == HostOp::Flush {
            return Ok(Record { offset: 0, bytes: 0, attributes: Attributes::NONE, ..self });
        }
        let longest = if self.op == HostOp::Trim { LONGEST_TRIM } else { LONGEST_TRANSFER };
        let well = self.bytes > 0 && self.bytes <= longest && self.offset <= HIGHEST_ADDRESS - self.bytes;
        if well { Ok(self) } else { Err(self.fault(longest)) }
    }

    /// The FLUSH that the host wants before this request.
    pub fn flush_before(self) -> Record {
        Record { offset: 0, bytes: 0, op: HostOp::Flush, attributes: Attributes::NONE, ..self }
    }

    #[cold]
    fn fault(self, longest: u64) -> String {
        if self.bytes == 0 {
            "the request has length zero".to_string()
        } else if self.bytes > longest {
            format!("the length of {} bytes is more than {longest}", self.bytes)
        } else {
            format!("the request at byte {} ends beyond 2^62 bytes", self.offset)
        }
    }
}

/// What a reader meets.
pub(crate) enum Event {
    Request(Record),
    /// So many parts of the grammar that are no requests (messages, commands that move no data).
    Aside(u64),
    /// Not part of the grammar, or not a possible request; with the reason.
    Unusable(String),
}

/// Where a reader is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Position {
    /// A line of a text, from 1.
    Line(u64),
    /// A byte of a binary file, from 0, after decompression.
    Byte(u64),
}

impl Position {
    /// `file:line`, or `file, byte N`.
    pub fn in_file(self, label: &str) -> String {
        match self {
            Position::Line(n) => format!("{label}:{n}"),
            Position::Byte(n) => format!("{label}, byte {n}"),
        }
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Position::Line(n) => write!(f, "line {n}"),
            Position::Byte(n) => write!(f, "byte {n}"),
        }
    }
}

/// A file being read.
pub(crate) trait RecordReader: Send {
    /// The next thing in the file.
    fn next(&mut self) -> io::Result<Option<Event>>;
    /// Where the thing last returned begins.
    fn position(&self) -> Position;
    /// The part of the trace that it is in, by number.
    fn part(&self) -> u32 {
        0
    }
    /// Requests so far that were earlier than one before them and have been put in order.
    fn reordered(&self) -> u64 {
        0
    }
    /// Whether a text ended without a newline, so that its last number may have been cut.
    fn open_end(&self) -> bool {
        false
    }
    /// The volumes met so far, in order of appearance.
    fn volumes(&self) -> &Volumes;
}

/// Names of volumes, numbered in order of appearance.
#[derive(Clone, Default)]
pub(crate) struct Volumes {
    labels: Vec<String>,
    unnamed: bool,
    numbers: FxHashMap<Box<[u8]>, u16>,
    /// Short names met lately, so that interleaved volumes need no map; empty until there is one.
    recent: Vec<Option<(ShortName, u16)>>,
}

/// More than most traces have volumes; 64 KiB of them.
const RECENT: usize = 4096;

/// A name of four to eight bytes as its first and last four, a shorter one as its bytes; and its length.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ShortName(u64, usize);

impl ShortName {
    #[inline]
    fn of(key: &[u8]) -> Option<ShortName> {
        let word = match (key.first_chunk::<4>(), key.last_chunk::<4>()) {
            _ if key.len() > 8 => return None,
            (Some(first), Some(last)) => {
                (u32::from_le_bytes(*first) as u64) << 32 | u32::from_le_bytes(*last) as u64
            }
            _ => key.iter().fold(0, |word, c| word << 8 | *c as u64),
        };
        Some(ShortName(word, key.len()))
    }

    /// Its place among [`RECENT`] names.
    #[inline]
    fn slot(self) -> usize {
        (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT.ilog2())) as usize
    }
}

impl Volumes {
    /// A file that holds one volume and does not name it.
    pub fn unnamed() -> Volumes {
        Volumes { labels: vec!["0".to_string()], unnamed: true, ..Volumes::default() }
    }

    /// Whether the file does not say which volume it is of.
    pub fn are_unnamed(&self) -> bool {
        self.unnamed
    }

    /// The number of the volume called `key`.
    #[inline]
    pub fn number_of(&mut self, key: &[u8]) -> Result<u16, String> {
        let Some(short) = ShortName::of(key) else {
            return self.look_up(key);
        };
        match self.recent.get(short.slot()) {
            Some(Some((name, number))) if *name == short => Ok(*number),
            _ => {
                let number = self.look_up(key)?;
                self.recent.resize(RECENT, None);
                self.recent[short.slot()] = Some((short, number));
                Ok(number)
            }
        }
    }

    fn look_up(&mut self, key: &[u8]) -> Result<u16, String> {
        let number = match self.numbers.get(key) {
            Some(n) => *n,
            None => {
                let number = u16::try_from(self.labels.len())
                    .map_err(|_| "the file holds more than 65,536 volumes".to_string())?;
                self.labels.push(excerpt(key, 64).replace([',', ' '], "."));
                self.numbers.insert(key.into(), number);
                number
            }
        };
        Ok(number)
    }

    /// The names, by number.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }
}
