//! Common parts of text formats: a reader that parses each line with a [`LineFormat`], and the tally of a
//! sample for detection.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::lines::{Lines, Next};
use crate::reading::record::{Event, Input, Position, Record, RecordReader};
use crate::reading::volumes::Volumes;
use crate::text::numbers::{excerpt, grouped, unsigned};
use std::io;

/// The meaning of a line.
pub(crate) enum Parsed {
    Request(Record),
    /// A request with a preflush.
    AfterFlush(Record),
    /// Part of the grammar, but not a request.
    Aside,
    /// A title row.
    Header,
}

/// A text format with one request per line.
pub(crate) trait LineFormat: Send {
    /// Parses a line that is not blank.
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String>;
}

/// A file of lines.
pub(crate) struct LineReader<F> {
    lines: Lines,
    format: F,
    volumes: Volumes,
    /// The request after the FLUSH that was returned last.
    flushed: Option<Record>,
}

impl<F: LineFormat + 'static> LineReader<F> {
    pub fn open(format: F, volumes: Volumes, input: Input) -> Box<dyn RecordReader> {
        Box::new(LineReader { lines: Lines::new(input), format, volumes, flushed: None })
    }
}

impl<F: LineFormat> RecordReader for LineReader<F> {
    #[inline]
    fn next(&mut self) -> io::Result<Option<Event>> {
        if let Some(record) = self.flushed.take() {
            return Ok(Some(Event::Request(record)));
        }
        loop {
            let range = match self.lines.advance()? {
                Next::Line(range) => range,
                Next::TooLong => return Ok(Some(Event::Unusable("the line is too long for a trace".into()))),
                Next::End => return Ok(None),
            };
            let line = self.lines.line(range);
            if is_blank(line) {
                continue;
            }
            return Ok(Some(match self.format.parse(line, &mut self.volumes) {
                Ok(Parsed::Request(record)) => match record.checked() {
                    Ok(record) => Event::Request(record),
                    Err(reason) => Event::Unusable(reason),
                },
                Ok(Parsed::AfterFlush(record)) => match record.checked() {
                    Ok(record) => {
                        self.flushed = Some(record);
                        Event::Request(record.flush_before())
                    }
                    Err(reason) => Event::Unusable(reason),
                },
                Ok(Parsed::Aside) => Event::Aside(1),
                Ok(Parsed::Header) => continue,
                Err(reason) => Event::Unusable(with_text(reason, line)),
            }));
        }
    }

    fn position(&self) -> Position {
        Position::Line(self.lines.number())
    }

    fn open_end(&self) -> bool {
        self.lines.open_end()
    }

    fn volumes(&self) -> &Volumes {
        &self.volumes
    }
}

#[inline]
fn is_blank(line: &[u8]) -> bool {
    line.first().is_none_or(u8::is_ascii_whitespace) && line.iter().all(u8::is_ascii_whitespace)
}

/// A field without surrounding spaces and tabs. No format uses other white space.
#[inline]
pub(crate) fn trimmed(mut field: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = field {
        field = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = field {
        field = rest;
    }
    field
}

/// The `N` fields of a line between `separator`s, trimmed; or the number of fields if it differs.
#[inline]
pub(crate) fn separated<const N: usize>(line: &[u8], separator: u8) -> Result<[&[u8]; N], String> {
    let mut out: [&[u8]; N] = [&[]; N];
    if separated_up_to(line, separator, &mut out) == N {
        Ok(out)
    } else {
        Err(wrong_count(line, separator, N))
    }
}

#[cold]
fn wrong_count(line: &[u8], separator: u8, wanted: usize) -> String {
    format!("{} instead of {wanted}", columns(memchr::memchr_iter(separator, line).count() + 1))
}

/// `1 column`, `5 columns`.
#[cold]
pub(crate) fn columns(count: usize) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} column{s}")
}

/// Fills `out` with the fields between `separator`s. Returns their number, or one more than the length of
/// `out` if there are more.
#[inline]
pub(crate) fn separated_up_to<'a>(line: &'a [u8], separator: u8, out: &mut [&'a [u8]]) -> usize {
    let (mut count, mut start) = (0, 0);
    for at in places(line, separator) {
        let Some(field) = out.get_mut(count) else { return count + 1 };
        *field = trimmed(&line[start..at]);
        count += 1;
        start = at + 1;
    }
    if let Some(field) = out.get_mut(count) {
        *field = trimmed(&line[start..]);
    }
    count + 1
}

/// The positions of a byte, found eight bytes at a time: fields are too short for a call of `memchr` each.
#[inline]
pub(crate) fn places(line: &[u8], byte: u8) -> impl Iterator<Item = usize> {
    let (mut next, mut found) = (0, 0);
    std::iter::from_fn(move || {
        while found == 0 {
            found = equal(eight_at(line, next)?, byte);
            next += 8;
        }
        let at = next - 8 + found.trailing_zeros() as usize / 8;
        found &= found - 1;
        // The bytes after the end are 0, which separates nothing.
        (at < line.len()).then_some(at)
    })
}

/// Eight bytes from `at`, with zeros after the end of the line.
#[inline]
fn eight_at(line: &[u8], at: usize) -> Option<u64> {
    if at >= line.len() {
        return None;
    }
    Some(match (line.get(at..at + 8), line.last_chunk::<8>()) {
        (Some(eight), _) => eight.try_into().map_or(0, u64::from_le_bytes),
        (None, Some(last)) => u64::from_le_bytes(*last) >> (8 * (at + 8 - line.len())),
        (None, None) => line.iter().rfold(0, |word, c| word << 8 | *c as u64),
    })
}

/// Which of eight bytes equal `byte`, marked by the lowest bit of each.
#[inline]
fn equal(eight: u64, byte: u8) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let differs = eight ^ u64::from_ne_bytes([byte; 8]);
    // The highest bit of each byte that is zero, and no other.
    !((differs & LOW).wrapping_add(LOW) | differs | LOW) >> 7
}

/// Fills `out` with the fields between white space. Returns their number.
#[inline]
pub(crate) fn spaced_up_to<'a>(line: &'a [u8], out: &mut [&'a [u8]]) -> usize {
    let (mut count, mut at) = (0, 0);
    loop {
        while at < line.len() && matches!(line[at], b' ' | b'\t') {
            at += 1;
        }
        if at == line.len() {
            return count;
        }
        let start = at;
        while at < line.len() && !matches!(line[at], b' ' | b'\t') {
            at += 1;
        }
        if let Some(field) = out.get_mut(count) {
            *field = &line[start..at];
        }
        count += 1;
    }
}

/// A whole number of sectors or other units, converted to bytes.
#[inline]
pub(crate) fn scaled(name: &str, field: &[u8], unit: u64) -> Result<u64, String> {
    let n = unsigned(field).map_err(|e| e.of(name, field))?;
    n.checked_mul(unit).ok_or_else(|| too_large(name, n))
}

#[cold]
fn too_large(name: &str, n: u64) -> String {
    format!("the {name} {n} is too large")
}

#[cold]
fn with_text(reason: String, line: &[u8]) -> String {
    format!("{reason} in \"{}\"", excerpt(line, 60))
}

/// After this many lines without a request, a format is rejected.
const ENOUGH_FAULTS: u64 = 1_000;

/// How many lines of a sample fit a format.
pub(crate) struct Tally {
    pub lines: u64,
    pub requests: u64,
    pub header: bool,
    pub first_fault: String,
}

impl Tally {
    /// Reads the sample's lines.
    pub fn of(sample: &Sample, mut format: impl LineFormat, mut volumes: Volumes) -> Tally {
        let mut t = Tally { lines: 0, requests: 0, header: false, first_fault: String::new() };
        for (i, line) in sample.lines().enumerate().filter(|(_, l)| !l.iter().all(u8::is_ascii_whitespace)) {
            if t.lines == ENOUGH_FAULTS && t.requests == 0 {
                break;
            }
            match format.parse(line, &mut volumes) {
                Ok(Parsed::Header) => t.header = true,
                Ok(Parsed::Aside) => {}
                Ok(Parsed::Request(_) | Parsed::AfterFlush(_)) => {
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
        t
    }

    /// The tally if at least half of the lines fit, otherwise the miss.
    pub fn at_least_half(self) -> Result<Tally, Miss> {
        if self.requests > 0 && self.requests * 2 >= self.lines || self.header && self.lines == 0 {
            return Ok(self);
        }
        let fits = (self.requests * 1000).checked_div(self.lines).unwrap_or(0);
        Err(Miss::new(fits, self.first_fault))
    }

    /// The detection result of this tally: `what` its lines have, and the maximum certainty without a title
    /// row.
    pub fn found(&self, at_most: Confidence, title: &str, what: &str) -> Detection {
        let (confidence, header) = if self.header {
            (Confidence::Certain, format!("the title row {title} is there, and "))
        } else if self.requests == self.lines {
            (at_most, String::new())
        } else {
            (at_most.min(Confidence::Likely), String::new())
        };
        let reason = format!("{header}{} {what}", self.share());
        Detection { confidence, reason, settings: Settings::new() }
    }

    /// `all of the first 1,000 lines`, or how many of them.
    pub fn share(&self) -> String {
        if self.requests == self.lines {
            format!("all of the first {} lines", grouped(self.lines))
        } else {
            format!("{} of the first {} lines", grouped(self.requests), grouped(self.lines))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fields_are_those_that_a_plain_search_finds(
            line in prop::collection::vec(prop::sample::select(b" \t ab".to_vec()), 0..200),
        ) {
            let plain: Vec<&[u8]> =
                line.split(|c| matches!(c, b' ' | b'\t')).filter(|f| !f.is_empty()).collect();
            let mut out: [&[u8]; 100] = [&[]; 100];
            let count = spaced_up_to(&line, &mut out);
            prop_assert_eq!(&out[..count], plain);
        }

        #[test]
        fn places_are_those_that_a_plain_search_finds(line in prop::collection::vec(b'*'..b'0', 0..200)) {
            let plain: Vec<usize> = (0..line.len()).filter(|i| line[*i] == b',').collect();
            prop_assert_eq!(places(&line, b',').collect::<Vec<_>>(), plain);
        }
    }

    #[test]
    fn fields_are_counted_up_to_one_too_many() {
        let mut out: [&[u8]; 2] = [&[]; 2];
        assert_eq!(separated_up_to(b"a, b ", b',', &mut out), 2);
        assert_eq!(out, [&b"a"[..], b"b"]);
        assert_eq!(separated_up_to(b"a,b,c,d", b',', &mut out), 3);
        assert_eq!(out, [&b"a"[..], b"b"]);
        assert_eq!(separated::<2>(b"a,b,c,d", b',').unwrap_err(), "4 columns instead of 2");
        assert_eq!(separated::<2>(b"", b',').unwrap_err(), "1 column instead of 2");
    }
}
