//! The writes of a session with their data, in the format of `wordline crash --log`. A power cut leaves part of what no
//! FLUSH covers: the log then has the contents that these sectors have from there on, as durable writes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use wordline_volatile::{Event, Log, Op, Request};

/// Maximum bytes of data per event.
const PIECE: usize = 32 << 20;
/// Maximum bytes per event of contents that are not a client's.
const CONTENTS: u64 = 1 << 20;

/// Disjoint ranges of bytes: the end of each by its start.
#[derive(Default)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Add a range, joined with those that it touches.
    fn add(&mut self, range: &Range<u64>) {
        let (mut from, mut to) = (range.start, range.end);
        while let Some((&start, &end)) = self.0.range(..=to).next_back().filter(|(_, end)| **end >= from) {
            self.0.remove(&start);
            (from, to) = (from.min(start), to.max(end));
        }
        self.0.insert(from, to);
    }

    /// Take all ranges of another.
    fn take_all(&mut self, other: &mut Ranges) {
        std::mem::take(&mut other.0).into_iter().for_each(|(from, to)| self.add(&(from..to)));
    }
}

/// A log while it is written.
pub(crate) struct WriteLog {
    file: BufWriter<File>,
    /// The number of the next event.
    next: u64,
    /// Events of each command in flight, with the ranges that they change.
    in_flight: BTreeMap<u64, Vec<(u64, Range<u64>)>>,
    /// What no FLUSH has covered, and what the one in flight covers.
    acknowledged: Ranges,
    flushing: Ranges,
    flush: Option<u64>,
    /// The first error.
    broken: Option<io::Error>,
}

impl WriteLog {
    /// Begin the log of a drive of `size` bytes.
    pub(crate) fn create(path: &Path, size: u64, sector: u64) -> io::Result<WriteLog> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        Log { size, sector, base: 0, events: vec![] }.write_head(&mut file)?;
        let (in_flight, acknowledged, flushing) = Default::default();
        Ok(WriteLog { file, next: 1, in_flight, acknowledged, flushing, flush: None, broken: None })
    }

    /// Write what waits in memory to the file.
    pub(crate) fn write_out(&mut self) {
        let written = self.file.flush();
        self.keep(written);
    }

    /// Why it is no longer written.
    pub(crate) fn broken(&self) -> Option<&io::Error> {
        self.broken.as_ref()
    }

    /// Note what the drive holds in ranges of bytes before the first request.
    pub(crate) fn note_contents(
        &mut self,
        held: impl Iterator<Item = Range<u64>>,
        contents: impl FnMut(Range<u64>) -> Vec<u8>,
    ) {
        let mut ranges = Ranges::default();
        held.for_each(|range| ranges.add(&range));
        self.put_contents(ranges, contents);
        let events = self.file.flush().map(|()| 2 * (self.next - 1));
        let written = events.and_then(|n| self.file.get_ref().write_all_at(&n.to_le_bytes(), Log::BASE_AT));
        self.keep(written);
    }

    /// Note the write, trim or zeroing of whole sectors; a write has data.
    pub(crate) fn write(&mut self, request: &Request, range: &Range<u64>, data: &[u8]) {
        let &Request { op, connection, fua, .. } = request;
        if op != Op::Write && data.iter().all(|byte| *byte == 0) {
            let (offset, length) = (range.start, range.end - range.start);
            let event = |id| Event::Zero { id, connection, offset, length, fua, trim: op == Op::Trim };
            return self.begin(request.id, range.clone(), event);
        }
        let mut offset = range.start;
        for piece in data.chunks(PIECE) {
            let event = |id| Event::Write { id, connection, offset, fua, data: piece.to_vec() };
            self.begin(request.id, offset..offset + piece.len() as u64, event);
            offset += piece.len() as u64;
        }
    }

    /// Note that a FLUSH has arrived.
    pub(crate) fn flush(&mut self, command: u64, connection: u64) {
        self.begin(command, 0..0, |id| Event::Flush { id, connection });
        if self.flush.is_none() {
            self.flush = Some(command);
            self.flushing.take_all(&mut self.acknowledged);
        }
    }

    /// Note that a command was acknowledged, or failed.
    pub(crate) fn done(&mut self, command: u64, failed: bool) {
        let events = self.in_flight.remove(&command).unwrap_or_default();
        let is_flush = self.flush.take_if(|flush| *flush == command).is_some();
        for (id, range) in events {
            if !failed {
                self.put(&Event::Done { id });
            }
            if !range.is_empty() {
                self.acknowledged.add(&range);
            }
        }
        if is_flush && !failed {
            self.flushing = Ranges::default();
            let written = self.file.flush();
            self.keep(written);
        } else if is_flush {
            self.acknowledged.take_all(&mut self.flushing);
        }
    }

    /// Note a mark of the control socket.
    pub(crate) fn mark(&mut self, text: &str) {
        self.put(&Event::Mark(text.to_string()));
    }

    /// Note a power cut that the drive has recovered from: what was in flight ends, and all that no FLUSH covers is as the drive
    /// has it.
    pub(crate) fn cut(&mut self, contents: impl FnMut(Range<u64>) -> Vec<u8>) {
        let mut open = Ranges::default();
        for (id, range) in std::mem::take(&mut self.in_flight).into_values().flatten() {
            if !range.is_empty() {
                self.put(&Event::Done { id });
                open.add(&range);
            }
        }
        self.flush = None;
        open.take_all(&mut self.acknowledged);
        open.take_all(&mut self.flushing);
        self.put_contents(open, contents);
        let written = self.file.flush();
        self.keep(written);
    }

    /// Write all that is left.
    pub(crate) fn end(mut self) -> io::Result<()> {
        match self.broken.take() {
            Some(e) => Err(e),
            None => self.file.flush(),
        }
    }

    /// Note contents of the drive, as writes that are durable.
    fn put_contents(&mut self, ranges: Ranges, mut contents: impl FnMut(Range<u64>) -> Vec<u8>) {
        for (from, to) in ranges.0 {
            for offset in (from..to).step_by(CONTENTS as usize) {
                let data = contents(offset..(offset + CONTENTS).min(to));
                let id = self.number();
                self.put(&Event::Write { id, connection: 0, offset, fua: true, data });
                self.put(&Event::Done { id });
            }
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    fn begin(&mut self, command: u64, range: Range<u64>, event: impl FnOnce(u64) -> Event) {
        let id = self.number();
        self.in_flight.entry(command).or_default().push((id, range));
        self.put(&event(id));
    }

    fn put(&mut self, event: &Event) {
        if self.broken.is_none() {
            let written = event.write(&mut self.file);
            self.keep(written);
        }
    }

    /// Keep the first error.
    fn keep(&mut self, written: io::Result<()>) {
        if let Err(e) = written {
            self.broken.get_or_insert(e);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_joined() {
        let mut ranges = Ranges::default();
        for range in [10..20, 30..40, 50..60, 20..25, 28..30, 35..38, 45..52, 24..29] {
            ranges.add(&range);
        }
        assert_eq!(ranges.0.into_iter().collect::<Vec<_>>(), [(10, 40), (45, 60)]);
    }
}
