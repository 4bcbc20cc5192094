//! The first scan of a trace: number of requests, duration, extent, and unusable lines. A run needs it before
//! it starts, because volumes are concatenated by their sizes, and because an error in line nine million
//! should be found before the simulation, not during it.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::reading::record::Position;
use crate::requests::pages::PageSet;
use crate::text::numbers::grouped;
use crate::trace::cursor::{Cursor, Found, Step};
use serde::Serialize;
use wordline_units::{HostOp, LBA_BYTES};

/// Maximum number of unusable lines that are stored with number and reason. Others are only counted.
pub(crate) const KEPT: usize = 20;

/// A position in a trace without a request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct UnusableLine {
    /// Its file, if the trace has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its line or byte.
    pub at: Position,
    /// The error.
    pub reason: String,
}

/// Unusable positions in a trace.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize)]
pub struct Unusable {
    /// The number of requests lost there, one for a line.
    pub count: u64,
    /// Whether more may be lost: the rest of a file cannot be read.
    pub at_least: bool,
    /// The number of positions.
    pub places: u64,
    /// The first of them, up to a limit.
    pub first: Vec<UnusableLine>,
}

/// A request that is earlier than a previous one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StepBack {
    /// Its file, if the trace has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its line or byte.
    pub at: Position,
    /// Its time on the file's clock, in nanoseconds.
    pub time_ns: u64,
    /// The latest time before it.
    pub after_ns: u64,
}

impl Unusable {
    /// `4,096`, or `at least 1`.
    pub(crate) fn counted(&self) -> String {
        let count = grouped(self.count);
        if self.at_least { format!("at least {count}") } else { count }
    }
}

/// Requests that are earlier than a previous one.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize)]
pub struct Backwards {
    /// Their number.
    pub count: u64,
    /// The first.
    pub first: Option<StepBack>,
    /// The largest step back, in nanoseconds.
    pub largest_ns: u64,
}

/// One volume's part of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct VolumeScan {
    pub label: String,
    pub requests: u64,
    /// One past the highest touched block.
    pub end: u64,
    pub pages: PageSetPair,
}

/// Touched and written pages of 4 KiB.
#[derive(Clone, Default)]
pub(crate) struct PageSetPair {
    pub all: PageSet,
    pub written: PageSet,
}

impl std::fmt::Debug for PageSetPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} pages", self.all.count())
    }
}

/// Result of the scan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    pub requests: u64,
    /// By `HostOp`.
    pub count: [u64; 4],
    /// Bytes by `HostOp`, in whole blocks as the drive sees them.
    pub bytes: [u64; 4],
    pub first_time: u64,
    pub last_time: u64,
    pub largest_gap_ns: u64,
    pub largest_gap_at: Option<Position>,
    /// Its file, if there are several.
    pub largest_gap_in: Option<String>,
    pub backwards: Backwards,
    pub rounded: u64,
    /// Writes with force unit access.
    pub fua: u64,
    /// Writes that belong to a stream.
    pub in_streams: u64,
    /// Requests that were out of order and have been sorted.
    pub reordered: u64,
    /// Whether a text ended without a newline.
    pub open_end: bool,
    pub unusable: Unusable,
    /// Requests among the lines in which the unusable ones were counted: more than `requests` if a part of a
    /// sorted trace was requested.
    pub usable: u64,
    pub asides: u64,
    pub volumes: Vec<VolumeScan>,
    /// Longest read, write or trim in blocks.
    pub longest: u32,
    /// Reads and writes by size class: class `n` holds sizes above 2^(n−1) and up to 2^n blocks.
    pub sizes: [[u64; 32]; 2],
}

/// What to scan.
pub(crate) struct Ask {
    /// Stop after this many requests.
    pub requests: Option<u64>,
    /// Stop at this time after the first request.
    pub until_ns: Option<u64>,
    /// Whether to collect the pages.
    pub pages: bool,
}

/// Blocks per page, in which footprints are stated.
pub(crate) const PAGE_BLOCKS: u64 = 4096 / LBA_BYTES;

/// `line 7`, or `a.csv, line 7` in a trace of several files.
pub(crate) fn place(file: Option<&str>, at: Position) -> String {
    file.map_or_else(|| at.to_string(), |f| format!("{f}, {at}"))
}

/// `a.csv:7`: a place in the trace called `label`, or in one of its files.
pub(crate) fn place_in(label: &str, file: Option<&str>, at: Position) -> String {
    at.in_file(&file.map_or_else(|| label.to_string(), |f| format!("{label}, {f}")))
}

impl Scan {
    /// Scans the trace, or the requested part.
    pub fn of(cursor: &mut Cursor, ask: &Ask) -> Result<Scan, WorkloadError> {
        let mut pass = Pass { scan: Scan::default(), cursor, pages: ask.pages };
        pass.run(ask)?;
        let Pass { mut scan, cursor, .. } = pass;
        scan.asides = cursor.asides();
        scan.reordered = cursor.reordered();
        scan.usable = scan.requests.max(cursor.read_ahead());
        scan.open_end = cursor.open_end();
        for (volume, label) in scan.volumes.iter_mut().zip(cursor.volumes()) {
            volume.label.clone_from(label);
        }
        Ok(scan)
    }

    /// Start of each volume in blocks when volumes are concatenated in order of appearance, and the end of
    /// the last one. Sizes are rounded up to 1 MiB to preserve alignment.
    pub fn concatenated(&self, label: &str) -> Result<(Vec<u64>, u64), WorkloadError> {
        const STEP: u64 = (1 << 20) / LBA_BYTES;
        let mut bases = Vec::with_capacity(self.volumes.len());
        let (mut next, mut end) = (0u64, 0u64);
        for volume in &self.volumes {
            bases.push(next);
            if volume.requests > 0 {
                end = end.max(next + volume.end);
            }
            next += volume.end.next_multiple_of(STEP);
            if next > 1 << 54 {
                let what = format!("{} concatenated volumes exceed 2^63 bytes", self.volumes.len());
                return Err(Problem::new(ErrorKind::Content, label, what)
                    .hint("select one with volume=LABEL")
                    .into());
            }
        }
        Ok((bases, end))
    }

    /// Time from the first request to the last.
    pub fn span_ns(&self) -> u64 {
        self.last_time - self.first_time
    }
}

/// A pass that scans.
struct Pass<'a> {
    scan: Scan,
    cursor: &'a mut Cursor,
    /// Whether to collect the pages.
    pages: bool,
}

impl Pass<'_> {
    fn run(&mut self, ask: &Ask) -> Result<(), WorkloadError> {
        while self.scan.requests < ask.requests.unwrap_or(u64::MAX) {
            match self.cursor.next()? {
                None => break,
                Some(Step::Unusable(reason)) => {
                    let unusable = &mut self.scan.unusable;
                    let lost = self.cursor.lost();
                    unusable.count += lost.unwrap_or(1);
                    unusable.at_least |= lost.is_none();
                    unusable.places += 1;
                    if unusable.first.len() < KEPT {
                        let (file, at) = (self.cursor.part(), self.cursor.position());
                        unusable.first.push(UnusableLine { file, at, reason });
                    }
                }
                Some(Step::Request(found)) => {
                    let first = self.scan.requests == 0;
                    let arrival = if first { 0 } else { found.time.saturating_sub(self.scan.first_time) };
                    if ask.until_ns.is_some_and(|until| arrival >= until) {
                        break;
                    }
                    self.add(found)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn add(&mut self, found: Found) -> Result<(), WorkloadError> {
        let scan = &mut self.scan;
        if scan.requests == 0 {
            scan.first_time = found.time;
            scan.last_time = found.time;
        }
        if found.time < scan.last_time {
            step_back(scan, found.time, self.cursor);
        } else {
            let gap = found.time - scan.last_time;
            if gap > scan.largest_gap_ns {
                scan.largest_gap_ns = gap;
                scan.largest_gap_at = Some(self.cursor.position());
                scan.largest_gap_in = self.cursor.part();
            }
            scan.last_time = found.time;
        }
        scan.requests += 1;
        let op = found.op as usize;
        scan.count[op] += 1;
        scan.bytes[op] = scan.bytes[op]
            .checked_add(found.blocks as u64 * LBA_BYTES)
            .ok_or_else(|| too_much(self.cursor, "the number of bytes transferred exceeds 64 bits"))?;
        scan.rounded += u64::from(found.rounded);
        scan.fua += u64::from(found.attributes.is_fua());
        scan.in_streams += u64::from(found.attributes.stream() != 0);
        let volume = found.volume as usize;
        if volume >= scan.volumes.len() {
            scan.volumes.resize_with(volume + 1, VolumeScan::default);
        }
        let volume = &mut scan.volumes[volume];
        volume.requests += 1;
        if found.op == HostOp::Flush {
            return Ok(());
        }
        scan.longest = scan.longest.max(found.blocks);
        let end = found.lba + found.blocks as u64;
        volume.end = volume.end.max(end);
        if matches!(found.op, HostOp::Read | HostOp::Write) {
            scan.sizes[op][found.blocks.next_power_of_two().trailing_zeros() as usize] += 1;
            if self.pages {
                let touched = found.lba / PAGE_BLOCKS..end.div_ceil(PAGE_BLOCKS);
                if found.op == HostOp::Write {
                    volume.pages.written.insert(touched.clone());
                }
                volume.pages.all.insert(touched);
            }
        }
        Ok(())
    }
}

#[cold]
fn step_back(scan: &mut Scan, time: u64, cursor: &Cursor) {
    let b = &mut scan.backwards;
    b.count += 1;
    b.largest_ns = b.largest_ns.max(scan.last_time - time);
    if b.first.is_none() {
        let (file, at) = (cursor.part(), cursor.position());
        b.first = Some(StepBack { file, at, time_ns: time, after_ns: scan.last_time });
    }
}

#[cold]
fn too_much(cursor: &Cursor, what: &str) -> WorkloadError {
    Problem::new(ErrorKind::Content, cursor.place(), what).into()
}
