//! What text formats share: a reader that asks a [`LineFormat`] about each line, and the tally of
//! a sample by which a format is recognised.

use super::{Event, Input, Miss, Position, Record, RecordReader, Sample, Volumes};
use crate::lines::{Lines, Next};
use crate::numbers::excerpt;
use std::io;

/// What a line is.
pub(crate) enum Parsed {
    Request(Record),
    /// A title row.
    Header,
}

/// A text format, one request a line.
pub(crate) trait LineFormat: Send {
    /// Reads a line that is not blank.
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String>;
}

/// A file of lines.
pub(crate) struct LineReader<F> {
    lines: Lines,
    format: F,
    volumes: Volumes,
}

impl<F: LineFormat + 'static> LineReader<F> {
    pub fn open(format: F, volumes: Volumes, input: Input) -> Box<dyn RecordReader> {
        Box::new(LineReader { lines: Lines::new(input), format, volumes })
    }
}

impl<F: LineFormat> RecordReader for LineReader<F> {
    #[inline]
    fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            let range = match self.lines.advance()? {
                Next::Line(range) => range,
                Next::TooLong => return Ok(Some(Event::Unusable("the line is too long for a trace".into()))),
                Next::End => return Ok(None),
            };
            let line = self.lines.line(range);
            if line.is_empty() || line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return Ok(Some(match self.format.parse(line, &mut self.volumes) {
                Ok(Parsed::Request(record)) => match record.checked() {
                    Ok(record) => Event::Request(record),
                    Err(reason) => Event::Unusable(reason),
                },
                Ok(Parsed::Header) => continue,
                Err(reason) => Event::Unusable(with_text(reason, line)),
            }));
        }
    }

    fn position(&self) -> Position {
        Position::Line(self.lines.number())
    }

    fn volumes(&self) -> &Volumes {
        &self.volumes
    }
}

#[cold]
fn with_text(reason: String, line: &[u8]) -> String {
    format!("{reason} in \"{}\"", excerpt(line, 60))
}

/// How a sample fares with a format.
pub(crate) struct Tally {
    pub lines: u64,
    pub requests: u64,
    pub header: bool,
    pub first_fault: String,
    pub volumes: usize,
}

impl Tally {
    /// Reads the sample's lines.
    pub fn of(sample: &Sample, mut format: impl LineFormat, mut volumes: Volumes) -> Tally {
        let mut t = Tally { lines: 0, requests: 0, header: false, first_fault: String::new(), volumes: 0 };
        for (i, line) in sample.lines().enumerate().filter(|(_, l)| !l.iter().all(u8::is_ascii_whitespace)) {
            match format.parse(line, &mut volumes) {
                Ok(Parsed::Header) => t.header = true,
                Ok(Parsed::Request(_)) => {
                    t.lines += 1;
                    t.requests += 1;
                }
                Err(reason) => {
                    t.lines += 1;
                    if t.first_fault.is_empty() {
                        t.first_fault = format!("line {}: {}", i + 1, with_text(reason, line));
                    }
                }
            }
        }
        t.volumes = volumes.labels().len();
        t
    }

    /// The tally if at least half of the lines fit, else the miss.
    pub fn at_least_half(self) -> Result<Tally, Miss> {
        if self.requests > 0 && self.requests * 2 >= self.lines || self.header && self.lines == 0 {
            return Ok(self);
        }
        let fits = (self.requests * 1000).checked_div(self.lines).unwrap_or(0);
        Err(Miss { fits, reason: self.first_fault })
    }

    /// `all of the first 1,000 lines`, or how many of them.
    pub fn share(&self) -> String {
        use crate::numbers::grouped;
        if self.requests == self.lines {
            format!("all of the first {} lines", grouped(self.lines))
        } else {
            format!("{} of the first {} lines", grouped(self.requests), grouped(self.lines))
        }
    }
}
