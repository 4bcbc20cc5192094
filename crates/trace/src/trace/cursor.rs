//! A pass over a trace: the requests of the selected volumes, in units of 512 bytes. The first scan of a file
//! and every run use the same code, so that they count alike.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::reading::record::{Event, Position, Record, RecordReader};
use crate::source::source::Source;
use wordline_units::{Attributes, HostOp, LBA_BYTES};

/// A request with the addresses of its own volume.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// Time on the file's own clock, in nanoseconds.
    pub time: u64,
    /// First block on its volume.
    pub lba: u64,
    pub blocks: u32,
    pub op: HostOp,
    pub attributes: Attributes,
    pub volume: u16,
    /// Whether it was rounded to whole blocks.
    pub rounded: bool,
}

/// The result of a step: a selected request, or an error.
pub(crate) enum Step<R = Found> {
    Request(R),
    Unusable(String),
}

/// A pass over a trace.
pub(crate) struct Cursor {
    source: Source,
    reader: Box<dyn RecordReader>,
    wanted: Option<String>,
    wanted_number: Option<u16>,
    asides: u64,
    /// How many requests the last unusable item stands for, where that is known.
    lost: Option<u64>,
}

impl Cursor {
    /// A pass over all volumes, or over the one called `wanted`.
    pub fn new(source: &Source, reader: Box<dyn RecordReader>, wanted: Option<&str>) -> Cursor {
        let wanted = wanted.map(str::to_string);
        Cursor { source: source.clone(), reader, wanted, wanted_number: None, asides: 0, lost: None }
    }

    /// Steps to the next request, in whole blocks, or to an error.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Step>, WorkloadError> {
        loop {
            match self.next_record()? {
                Some(Step::Request(record)) => match in_blocks(record) {
                    Some(found) => return Ok(Some(Step::Request(found))),
                    None => self.asides += 1,
                },
                Some(Step::Unusable(reason)) => return Ok(Some(Step::Unusable(reason))),
                None => return Ok(None),
            }
        }
    }

    /// Steps to the next request, exactly as the file states it, or to an error.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Step<Record>>, WorkloadError> {
        loop {
            let event = match self.reader.next() {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(None),
                Err(e) => return Err(self.broken(&e)),
            };
            match event {
                Event::Request(record) => {
                    if self.wanted.is_some() && !self.is_wanted(record.volume) {
                        continue;
                    }
                    return Ok(Some(Step::Request(record)));
                }
                Event::Unusable(reason) => {
                    self.lost = Some(1);
                    return Ok(Some(Step::Unusable(reason)));
                }
                Event::Lost(requests, reason) => {
                    self.lost = requests;
                    return Ok(Some(Step::Unusable(reason)));
                }
                Event::Aside(n) => self.asides += n,
            }
        }
    }

    /// How many requests the last unusable item stands for; `None` if only the file's writer knew.
    pub fn lost(&self) -> Option<u64> {
        self.lost
    }

    #[cold]
    fn broken(&self, e: &std::io::Error) -> WorkloadError {
        let label = self.label();
        let place = match self.reader.position() {
            Position::Line(0) => format!("{label}, before the first line"),
            Position::Line(n) => format!("{label}, after line {n}"),
            at => at.in_file(label),
        };
        match self.source.parts().get(self.reader.part() as usize) {
            Some(part) => part.broken(place, e),
            None => Problem::new(ErrorKind::Io, place, e.to_string()).into(),
        }
    }

    /// The part of the trace that is being read.
    fn label(&self) -> &str {
        let part = self.source.parts().get(self.reader.part() as usize);
        part.map_or(self.source.label(), |p| p.label.as_str())
    }

    fn is_wanted(&mut self, volume: u16) -> bool {
        if self.wanted_number.is_none() {
            let labels = self.reader.volumes().labels();
            let at = labels.iter().position(|l| Some(l) == self.wanted.as_ref());
            self.wanted_number = at.map(|n| n as u16);
        }
        self.wanted_number == Some(volume)
    }

    /// Position of the last item in the file.
    pub fn place(&self) -> String {
        self.position().in_file(self.label())
    }

    /// The name of its part, if there are several.
    pub fn part(&self) -> Option<String> {
        let part = self.source.parts().get(self.reader.part() as usize);
        part.filter(|_| self.source.parts().len() > 1).map(|p| p.name.clone())
    }

    /// The position, without the file's name.
    pub fn position(&self) -> Position {
        self.reader.position()
    }

    /// The volumes found so far.
    pub fn volumes(&self) -> &[String] {
        self.reader.volumes().labels()
    }

    /// Number of requests that were earlier than a previous one and have been sorted.
    pub fn reordered(&self) -> u64 {
        self.reader.reordered()
    }

    /// Number of requests read before the first was returned.
    pub fn read_ahead(&self) -> u64 {
        self.reader.read_ahead()
    }

    /// Whether a text ended without a newline.
    pub fn open_end(&self) -> bool {
        self.reader.open_end()
    }

    /// Parts of the format that are not requests.
    pub fn asides(&self) -> u64 {
        self.asides
    }
}

/// Rounds to whole blocks: reads and writes outward, trims inward. Nothing for a trim of less than a block.
#[inline]
fn in_blocks(r: Record) -> Option<Found> {
    let end = r.offset + r.bytes;
    let rounded = !(r.offset | r.bytes).is_multiple_of(LBA_BYTES);
    let (first, past) = match r.op {
        HostOp::Flush => (0, 0),
        HostOp::Trim => (r.offset.div_ceil(LBA_BYTES), end / LBA_BYTES),
        HostOp::Read | HostOp::Write => (r.offset / LBA_BYTES, end.div_ceil(LBA_BYTES)),
    };
    if past <= first && r.op != HostOp::Flush {
        return None;
    }
    let blocks = (past - first) as u32;
    Some(Found {
        time: r.time,
        lba: first,
        blocks,
        op: r.op,
        attributes: r.attributes,
        volume: r.volume,
        rounded,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(op: HostOp, offset: u64, bytes: u64) -> Option<(u64, u32, bool)> {
        in_blocks(Record { time: 0, offset, bytes, op, attributes: Attributes::NONE, volume: 0 })
            .map(|f| (f.lba, f.blocks, f.rounded))
    }

    #[test]
    fn reads_and_writes_round_outward_and_trims_inward() {
        assert_eq!(found(HostOp::Read, 1023, 2), Some((1, 2, true)));
        assert_eq!(found(HostOp::Write, 512, 1), Some((1, 1, true)));
        assert_eq!(found(HostOp::Write, 512, 1024), Some((1, 2, false)));
        assert_eq!(found(HostOp::Trim, 1, 1535), Some((1, 2, true)));
        assert_eq!(found(HostOp::Trim, 1, 1000), None);
        assert_eq!(found(HostOp::Flush, 7, 0), Some((0, 0, true)));
    }
}
