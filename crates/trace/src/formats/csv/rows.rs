//! The rows of a table, as requests.

use crate::formats::csv::plan::{Extent, Meaning, Measure, Op, Places, Plan, meaning};
use crate::reading::detection::Settings;
use crate::reading::lines_of::{LineFormat, Parsed, columns, places, trimmed};
use crate::reading::record::Record;
use crate::reading::volumes::Volumes;
use crate::text::numbers::{NumberFault, date, excerpt, hexadecimal, quantity};
use wordline_units::{Attributes, HostOp, LatencyHint};

pub(crate) struct Csv {
    /// The options, or why they are invalid, which detection has already reported.
    plan: Result<Plan, String>,
    places: Option<Places>,
    lines: u64,
    /// The fields of the row, as ranges of the line.
    fields: Vec<(u32, u32)>,
    /// Number of columns, and the first column that is not used, for rows with extra fields.
    spare: Option<(usize, usize)>,
}

impl Csv {
    pub(crate) fn of(settings: &Settings) -> Csv {
        let plan = Plan::of(settings).map_err(|miss| miss.reason);
        Csv { plan, places: None, lines: 0, fields: Vec::new(), spare: None }
    }

    pub(crate) fn volumes(&self) -> Volumes {
        match &self.plan {
            Ok(Plan { device: Some(_), .. }) => Volumes::default(),
            _ => Volumes::unnamed(),
        }
    }
}

/// Splits a row. Double quotes around a field are removed.
#[inline]
pub(crate) fn split(line: &[u8], delimiter: u8, fields: &mut Vec<(u32, u32)>) -> Result<(), String> {
    fields.clear();
    if memchr::memchr(b'"', line).is_some() {
        return split_quoted(line, delimiter, fields);
    }
    if delimiter == b' ' {
        let mut at = 0;
        for word in line.split(|c| matches!(c, b' ' | b'\t')) {
            if !word.is_empty() {
                fields.push((at as u32, (at + word.len()) as u32));
            }
            at += word.len() + 1;
        }
        return Ok(());
    }
    let mut start = 0;
    for at in places(line, delimiter) {
        fields.push((start as u32, at as u32));
        start = at + 1;
    }
    fields.push((start as u32, line.len() as u32));
    Ok(())
}

#[cold]
fn split_quoted(line: &[u8], delimiter: u8, fields: &mut Vec<(u32, u32)>) -> Result<(), String> {
    let parts = |c: u8| c == delimiter || delimiter == b' ' && c == b'\t';
    let mut at = 0;
    loop {
        while at < line.len() && line[at].is_ascii_whitespace() && (delimiter == b' ' || !parts(line[at])) {
            at += 1;
        }
        if delimiter == b' ' && at == line.len() {
            return Ok(());
        }
        let (start, end);
        if line.get(at) == Some(&b'"') {
            start = at + 1;
            at = start;
            // A doubled quote is one quote and does not end the field.
            loop {
                let close =
                    memchr::memchr(b'"', &line[at..]).ok_or("a quoted field is not closed in its line")?;
                at += close + 1;
                if line.get(at) != Some(&b'"') {
                    break;
                }
                at += 1;
            }
            end = at - 1;
            while at < line.len() && !parts(line[at]) {
                at += 1;
            }
        } else {
            start = at;
            while at < line.len() && !parts(line[at]) {
                at += 1;
            }
            end = at;
        }
        fields.push((start as u32, end as u32));
        if at == line.len() {
            return Ok(());
        }
        at += 1;
    }
}

impl LineFormat for Csv {
    #[inline]
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        let plan = self.plan.as_ref().map_err(String::clone)?;
        self.lines += 1;
        let line = if self.lines == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        if self.lines <= plan.preamble || !plan.comment.is_empty() && line.starts_with(&plan.comment) {
            return Ok(Parsed::Aside);
        }
        let delimiter = plan.delimiter.unwrap_or(b',');
        let outcome = split(line, delimiter, &mut self.fields);
        let Some(places) = self.places else {
            if !plan.is_titled() {
                let places = plan.places(&[]).map_err(|_| "the columns are not known")?;
                self.places = Some(places);
                return Row { plan, places, line, fields: &self.fields }.request(volumes);
            }
            let fields: Vec<&[u8]> = self.fields.iter().map(|f| &line[f.0 as usize..f.1 as usize]).collect();
            self.places = outcome.ok().and_then(|()| plan.places(&fields).ok());
            if let Some(places) = self.places.filter(|_| delimiter == b' ') {
                let free = (0..fields.len()).find(|n| !places.0.contains(&Some(*n)));
                self.spare = free.map(|n| (fields.len(), n));
            }
            return Ok(if self.places.is_some() { Parsed::Header } else { Parsed::Aside });
        };
        outcome?;
        if let Some((columns, spare)) = self.spare.filter(|(columns, _)| self.fields.len() > *columns) {
            // A name contains spaces, so later fields are shifted by as many positions.
            self.fields.drain(spare + 1..spare + 1 + self.fields.len() - columns);
        }
        Row { plan, places, line, fields: &self.fields }.request(volumes)
    }
}

/// A day in nanoseconds. It is added to times before latencies are subtracted, so that requests that began
/// before the first completion have a time.
const BEFORE: u64 = 86_400_000_000_000;

/// A row of a table, split into fields.
struct Row<'a> {
    plan: &'a Plan,
    places: Places,
    line: &'a [u8],
    /// As ranges of the line.
    fields: &'a [(u32, u32)],
}

impl Row<'_> {
    #[inline]
    fn request(&self, volumes: &mut Volumes) -> Result<Parsed, String> {
        let plan = self.plan;
        let meaning = match &plan.op {
            Op::Always(meaning) => *meaning,
            Op::Column(_) => {
                let word = self.field(3)?;
                meaning(&plan.words, word).ok_or_else(|| unknown_word(word))?
            }
        };
        let (op, fua) = match meaning {
            Meaning::Is(op) => (op, false),
            Meaning::WriteThrough => (HostOp::Write, true),
            Meaning::Nothing => return Ok(Parsed::Aside),
        };
        let mut time = match &plan.time {
            Some(column) => self.value(column.measure, self.field(0)?, "time")?,
            None => 0,
        };
        if let Some(column) = &plan.latency {
            let took = self.value(column.measure, self.field(7)?, "latency")?;
            time = time.saturating_add(BEFORE).checked_sub(took).ok_or("the latency is longer than a day")?;
        }
        let (mut offset, mut bytes) = (0, 0);
        if op != HostOp::Flush {
            offset = self.extent(plan.offset.measure, self.field(1)?, "offset")?;
            bytes = match &plan.extent {
                Extent::Always(bytes) => *bytes,
                Extent::Size(c, zero) => {
                    let size = self.extent(c.measure, self.field(2)?, "size")?;
                    size.checked_add(*zero).ok_or("the size is too large")?
                }
                Extent::End(c) => {
                    let end = self.extent(c.measure, self.field(2)?, "end")?;
                    end.checked_sub(offset).ok_or("the end is before the offset")?
                }
            };
        }
        let volume = if plan.device.is_some() { volumes.number_of(self.field(4)?)? } else { 0 };
        let hint = if plan.hint.is_some() { hint(self.field(5)?)? } else { LatencyHint::None };
        let stream = if plan.stream.is_some() && op == HostOp::Write { stream(self.field(6)?)? } else { 0 };
        let attributes = Attributes::NONE.with_fua(fua).with_hint(hint).with_stream(stream);
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes, volume }))
    }

    /// The field of a column, by its index in [`Places`].
    #[inline]
    fn field(&self, n: usize) -> Result<&[u8], String> {
        let place = self.places.0[n].unwrap_or(0);
        let range = self.fields.get(place).ok_or_else(|| short_row(self.fields.len(), place))?;
        Ok(trimmed(&self.line[range.0 as usize..range.1 as usize]))
    }

    #[inline]
    fn value(&self, measure: Measure, field: &[u8], name: &str) -> Result<u64, String> {
        let style = self.plan.style;
        let value = match measure {
            Measure::Decimal(unit) => quantity(field, unit, style),
            Measure::Date => date(field, style.decimal),
            Measure::Hexadecimal(unit) => {
                hexadecimal(field).and_then(|n| n.checked_mul(unit).ok_or(NumberFault::TooLarge))
            }
        };
        value.map_err(|e| number_fault(e, measure, field, name))
    }

    /// A whole number of bytes.
    #[inline]
    fn extent(&self, measure: Measure, field: &[u8], name: &str) -> Result<u64, String> {
        let value = self.value(measure, field, name)?;
        match measure {
            Measure::Decimal(unit) if field.contains(&self.plan.style.decimal) => {
                self.whole_bytes(value, unit, field, name)
            }
            _ => Ok(value),
        }
    }

    #[cold]
    fn whole_bytes(&self, value: u64, unit: u64, field: &[u8], name: &str) -> Result<u64, String> {
        let style = self.plan.style;
        let finer = unit.checked_mul(1_000_000).and_then(|unit| quantity(field, unit, style).ok());
        if finer == value.checked_mul(1_000_000) {
            return Ok(value);
        }
        Err(format!("the {name} \"{}\" is not a whole number of bytes", excerpt(field, 32)))
    }
}

#[cold]
fn number_fault(e: NumberFault, measure: Measure, field: &[u8], name: &str) -> String {
    let hint = match e {
        NumberFault::NotANumber if measure == Measure::Date => ": write a date as 2016-02-21 22:52:25.133",
        NumberFault::NotANumber if matches!(measure, Measure::Hexadecimal(_)) => {
            ": it is parsed as hexadecimal"
        }
        NumberFault::NotANumber if name == "time" && field.contains(&b':') => {
            ": use time=COLUMN:date if it is a date"
        }
        NumberFault::NotANumber if field.contains(&b',') => {
            ": use decimal=comma or thousands=comma to define the comma"
        }
        NumberFault::NotANumber if field.starts_with(b"0x") => ": hexadecimal numbers need COLUMN:hex",
        _ => "",
    };
    format!("{}{hint}", e.of(name, field))
}

#[cold]
fn short_row(count: usize, place: usize) -> String {
    format!("{}, and column {} is needed", columns(count), place + 1)
}

#[cold]
fn unknown_word(word: &[u8]) -> String {
    format!(
        "the op \"{}\" is unknown; map it with read=, write=, flush=, trim= or ignore=",
        excerpt(word, 24)
    )
}

/// Words of latency hints, by number. An empty word means no hint.
pub(crate) const HINTS: [&str; 4] = ["", "short", "medium", "long"];

fn hint(word: &[u8]) -> Result<LatencyHint, String> {
    let known = HINTS.iter().position(|w| w.as_bytes().eq_ignore_ascii_case(word));
    known.map(|n| LatencyHint::ALL[n]).ok_or_else(|| unknown_hint(word))
}

#[cold]
fn unknown_hint(word: &[u8]) -> String {
    format!("the hint \"{}\" is not short, medium, long or empty", excerpt(word, 24))
}

/// The number of a stream. An empty word means no stream.
fn stream(word: &[u8]) -> Result<u8, String> {
    if word.is_empty() {
        return Ok(0);
    }
    let digits = word.len() <= 8 && word.iter().all(u8::is_ascii_digit);
    let number = word.iter().fold(0, |n: u32, c| n.wrapping_mul(10).wrapping_add(u32::from(c & 15)));
    let known = u8::try_from(number).ok().filter(|n| digits && *n <= Attributes::MOST_STREAMS);
    known.ok_or_else(|| unknown_stream(word))
}

#[cold]
fn unknown_stream(word: &[u8]) -> String {
    let most = Attributes::MOST_STREAMS;
    format!("the stream \"{}\" is not 0 to {most} or empty", excerpt(word, 24))
}
