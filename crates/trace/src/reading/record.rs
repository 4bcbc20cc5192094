//! A request of a file, and the reader that returns them one by one.

use crate::reading::volumes::Volumes;
use serde::Serialize;
use std::io::{self, Read};
use wordline_units::{Attributes, HostOp};

/// The content of a trace file, decompressed.
pub(crate) type Input = Box<dyn Read + Send>;

/// A request of a file, before start time, volumes, fit and pacing are applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    /// Time on the file's own clock, in nanoseconds.
    pub time: u64,
    /// First byte on its volume.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    pub op: HostOp,
    /// Further attributes: a latency hint; for a write, FUA and its stream.
    pub attributes: Attributes,
    /// Index in the reader's list of volumes.
    pub volume: u16,
}

/// Longer reads and writes count as damage: 512 times what hosts issue.
pub(crate) const LONGEST_TRANSFER: u64 = 1 << 32;
/// Maximum length of a trim, that of a request: 2^32 − 1 blocks of 512 bytes.
pub(crate) const LONGEST_TRIM: u64 = (u32::MAX as u64) << 9;
/// Limit of addresses, so that sums of addresses never overflow.
pub(crate) const HIGHEST_ADDRESS: u64 = 1 << 62;

impl Record {
    /// The record, or why no drive can execute it.
    #[inline]
    pub fn checked(self) -> Result<Record, String> {
        if self.op == HostOp::Flush {
            return Ok(Record { offset: 0, bytes: 0, attributes: Attributes::NONE, ..self });
        }
        let longest = if self.op == HostOp::Trim { LONGEST_TRIM } else { LONGEST_TRANSFER };
        let well = self.bytes > 0 && self.bytes <= longest && self.offset <= HIGHEST_ADDRESS - self.bytes;
        if well { Ok(self) } else { Err(self.fault(longest)) }
    }

    /// The FLUSH before this request.
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

/// An item of a reader.
pub(crate) enum Event {
    Request(Record),
    /// This many parts of the grammar that are not requests, such as messages or commands without data.
    Aside(u64),
    /// Not part of the grammar, or an impossible request; with the reason.
    Unusable(String),
    /// A part of the file with this many requests, where that is known, which cannot be read; with the reason.
    Lost(Option<u64>, String),
}

/// Position of a reader.
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
    /// The next item of the file.
    fn next(&mut self) -> io::Result<Option<Event>>;
    /// Start of the last item.
    fn position(&self) -> Position;
    /// Number of the part of the trace to which it belongs.
    fn part(&self) -> u32 {
        0
    }
    /// Number of requests so far that were earlier than a previous one and have been sorted.
    fn reordered(&self) -> u64 {
        0
    }
    /// Number of requests read so far, if it reads them before it returns the first.
    fn read_ahead(&self) -> u64 {
        0
    }
    /// Whether a text ended without a newline, so that its last number may be truncated.
    fn open_end(&self) -> bool {
        false
    }
    /// The volumes found so far, in order of appearance.
    fn volumes(&self) -> &Volumes;
}
