//! Any delimited text, by naming its columns. This is for traces that no other format knows; what
//! each column is called and measured in is said in the options, nothing is guessed but the
//! delimiter, and that by the title row.

use crate::error::did_you_mean;
use crate::formats::detection::{Confidence, Detection, Miss, OptionFault, Sample, Settings};
use crate::formats::format::{Extents, Format, Order, Timing};
use crate::formats::lines_of::{LineFormat, LineReader, Parsed, Tally, places, trimmed};
use crate::formats::record::Record;
use crate::formats::table::decoded;
use crate::formats::units::{UNIT, unit_bytes};
use crate::formats::volumes::Volumes;
use crate::formats::writing::{Keeps, RecordWriter, Row, Writing};
use crate::text::numbers::{NumberFault, Style, date, excerpt, hexadecimal, quantity};
use crate::text::parameter::{Parameter, choice};
use wordline_units::{Attributes, Bytes, HostOp, LatencyHint};

const fn column(key: &'static str, default: &'static str, about: &'static str) -> Parameter {
    Parameter { key, unit: "column", default, allowed: "a title, or #N", choices: &[], about }
}

const fn words(key: &'static str, default: &'static str, about: &'static str) -> Parameter {
    Parameter { key, unit: "words", default, allowed: "words parted by /", choices: &[], about }
}

/// The format.
pub static FORMAT: Format = Format {
    name: "csv",
    title: "any delimited text: name its columns and their units",
    grammar: "\
format=csv,time=COLUMN[:UNIT],offset=COLUMN[:UNIT][:hex],size=COLUMN[:UNIT][:hex],op=COLUMN

COLUMN  a title of the title row, or #1, #2, ... where there is none. Write a title that holds a comma
        in double quotes.
UNIT    of time: ns, us, ms, s, filetime or 100ns, date (2016-02-21 22:52:25.133, UTC).
        Of offset and size: byte, sector (512), or a size such as 4KiB that is counted in.
        Without it, a unit in brackets at the end of the title holds (Init Time (s)); without that,
        unit= or byte. A time without one is found by evidence, or asked for; so is unit= where nine of
        ten requests would be shorter than 512 bytes.

time=none is for a table without a clock: it is replayed as a closed loop.

size=always:4KiB and op=always:write hold for all rows; end=COLUMN may stand for size. Lines before the
title row are set aside. Fields may be in double quotes. Rows are sorted by time.

A table is written with the same options, columns by their titles; those that are not told are Time (ns),
Volume, Op, Offset and Size, and a write with FUA is the word fua. Latency hints and streams are written if
hint= and stream= say what their columns are called.",
    parameters: &[
        column(
            "time",
            "none",
            "when the request came, with its unit: Init Time:us; or none, if no column says it",
        ),
        column("offset", "none", "first byte or unit, perhaps :hex"),
        column("size", "none", "length, perhaps :hex; always:4KiB for all rows"),
        column("end", "none", "one past the last byte or unit, in place of size"),
        Parameter {
            default: "byte",
            about: "what offset and size count in where their columns do not say it; a sector is 512 bytes",
            ..UNIT
        },
        column("op", "none", "what is asked; always:write for all rows"),
        column("device", "one volume", "names the volume"),
        column("hint", "none", "how short the host wants the latency: short, medium, long, or nothing"),
        column(
            "stream",
            "none",
            "the stream that a write is part of: 1 to 31, or 0 or nothing; not read for other rows",
        ),
        words("read", "r/read/rd", "words of op that are a read, whatever their case"),
        words("write", "w/write/wr", "words of op that are a write"),
        words("flush", "f/flush/sync/fsync", "words of op that are a FLUSH; offset and size are not read"),
        words("trim", "t/trim/d/discard/unmap", "words of op that are a trim"),
        words("fua", "none", "words of op that are a write with force unit access"),
        words("ignore", "none", "words of op that are no request, such as completions"),
        choice(
            "delimiter",
            "by the title row",
            "comma, semicolon, tab, space, bar",
            &["comma", "semicolon", "tab", "space", "bar"],
            "what parts the columns; space is any run of white space",
        ),
        choice("decimal", "point", "point, comma", &["point", "comma"], "what parts whole and fraction"),
        choice(
            "thousands",
            "nothing",
            "comma, point, space, apostrophe, underscore",
            &["comma", "point", "space", "apostrophe", "underscore"],
            "what parts the digits of long numbers",
        ),
        Parameter {
            key: "preamble",
            unit: "count",
            default: "up to the title row",
            allowed: "0 or more",
            choices: &[],
            about: "lines to step over first",
        },
        Parameter {
            key: "comment",
            unit: "text",
            default: "none",
            allowed: "the beginning of a line",
            choices: &[],
            about: "lines that begin so are set aside",
        },
    ],
    order: Order::Loose,
    timing: Timing::Told,
    dated: false,
    extents: Extents::Bytes,
    detect,
    open: |settings, input| {
        let csv = Csv::of(settings);
        let volumes = csv.volumes();
        LineReader::open(csv, volumes, input)
    },
    write,
};

const DELIMITERS: [(&str, u8); 5] =
    [("comma", b','), ("semicolon", b';'), ("tab", b'\t'), ("bar", b'|'), ("space", b' ')];

/// A column as it is told.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Name {
    Title(String),
    /// From 0.
    Number(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Measure {
    /// Times so many nanoseconds or bytes.
    Decimal(u64),
    Hexadecimal(u64),
    Date,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Column {
    name: Name,
    measure: Measure,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Extent {
    Size(Column),
    End(Column),
    Always(u64),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Op {
    Column(Name),
    Always(Meaning),
}

/// What a word of the op column means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    Is(HostOp),
    WriteThrough,
    Nothing,
}

/// The options, understood.
#[derive(Clone, Debug)]
struct Plan {
    /// None in a table without a clock.
    time: Option<Column>,
    offset: Column,
    extent: Extent,
    op: Op,
    device: Option<Name>,
    hint: Option<Name>,
    stream: Option<Name>,
    words: Vec<(Vec<u8>, Meaning)>,
    delimiter: Option<u8>,
    style: Style,
    preamble: u64,
    comment: Vec<u8>,
}

fn fault(key: &'static str, reason: String, allowed: &str) -> Miss {
    let option = OptionFault { key, allowed: allowed.to_string() };
    Miss { fits: 0, reason, option: Some(option) }
}

const TIME_UNITS: &str = "a column with its unit: ns, us, ms, s, filetime, date";
const EXTENT_UNITS: &str = "a column, with byte, sector or a size such as 4KiB as its unit, and perhaps :hex";

/// Whether a field is this title, in UTF-8 or Latin-1, with either of the two micro signs.
fn is_title(field: &[u8], title: &str) -> bool {
    field == title.as_bytes()
        || !(field.is_ascii() && title.is_ascii()) && decoded(field) == decoded(title.as_bytes())
}

fn time_unit(word: &str) -> Option<Measure> {
    let word = word.trim().to_ascii_lowercase();
    Some(match word.as_str() {
        "ns" => Measure::Decimal(1),
        "us" | "µs" | "μs" => Measure::Decimal(1_000),
        "ms" => Measure::Decimal(1_000_000),
        "s" | "sec" | "seconds" => Measure::Decimal(1_000_000_000),
        "filetime" | "100ns" => Measure::Decimal(100),
        "date" => Measure::Date,
        _ => return None,
    })
}

fn extent_unit(word: &str) -> Option<u64> {
    let word = word.trim();
    match word.to_ascii_lowercase().as_str() {
        "byte" | "bytes" | "b" => Some(1),
        "sector" | "sectors" => Some(512),
        "kib" => Some(1 << 10),
        "mib" => Some(1 << 20),
        _ => word.parse::<Bytes>().ok().map(|b| b.0).filter(|b| *b > 0),
    }
}

/// The unit in brackets at the end of a title.
fn bracketed(title: &str) -> Option<&str> {
    let inside = title.trim_end().strip_suffix(')')?;
    Some(&inside[inside.rfind('(')? + 1..])
}

fn name_of(key: &'static str, text: &str) -> Result<Name, Miss> {
    let text = text.trim();
    match text.strip_prefix('#') {
        None if text.is_empty() => Err(fault(key, format!("{key} names no column"), "a title, or #N")),
        None => Ok(Name::Title(text.to_string())),
        Some(number) => match number.parse::<usize>() {
            Ok(n @ 1..=4096) => Ok(Name::Number(n - 1)),
            _ => Err(fault(key, format!("{text:?} is no number of a column"), "#1 to #4096")),
        },
    }
}

impl Plan {
    fn of(settings: &Settings) -> Result<Plan, Miss> {
        let text = |key: &'static str| settings.get(key).map(String::as_str);
        let needed = |key: &'static str, allowed: &str| {
            text(key).ok_or_else(|| fault(key, format!("format=csv needs {key}=COLUMN"), allowed))
        };
        let usual = text(UNIT.key).and_then(unit_bytes).unwrap_or(1);
        let column = |key, text: &str| extent(key, text, usual);
        let extent = match (text("size"), text("end")) {
            (Some(_), Some(_)) => {
                return Err(fault("end", "both size and end are given".into(), "one of them"));
            }
            (None, Some(end)) => Extent::End(column("end", end)?),
            (size, None) => match size.and_then(|s| s.strip_prefix("always:")) {
                Some(always) => Extent::Always(extent_unit(always).ok_or_else(|| {
                    fault("size", format!("{always:?} is not a size"), "a size such as 4KiB")
                })?),
                None => Extent::Size(column("size", needed("size", EXTENT_UNITS)?)?),
            },
        };
        let words = words_of(settings);
        let op = needed("op", "a column, or always:read, always:write")?;
        let op = match op.strip_prefix("always:") {
            None => Op::Column(name_of("op", op)?),
            Some(word) => Op::Always(meaning(&words, word.as_bytes()).ok_or_else(|| {
                fault("op", format!("{word:?} is no operation"), "always:read, always:write, always:trim")
            })?),
        };
        let letter = |word: &str| match word {
            "comma" => b',',
            "point" => b'.',
            "space" => b' ',
            "apostrophe" => b'\'',
            _ => b'_',
        };
        let style =
            Style { decimal: text("decimal").map_or(b'.', letter), thousands: text("thousands").map(letter) };
        if style.thousands == Some(style.decimal) {
            let reason = "decimals and thousands are parted by the same sign".to_string();
            return Err(fault("thousands", reason, "another sign than decimal has"));
        }
        let preamble = match text("preamble").map(str::parse::<u64>) {
            None => 0,
            Some(Ok(n)) => n,
            Some(Err(_)) => {
                return Err(fault("preamble", "the preamble is no number".into(), "0 or more lines"));
            }
        };
        let delimiter = text("delimiter").and_then(|d| DELIMITERS.iter().find(|(n, _)| *n == d));
        Ok(Plan {
            time: time_column(needed("time", TIME_UNITS)?)?,
            offset: column("offset", needed("offset", EXTENT_UNITS)?)?,
            extent,
            op,
            device: text("device").map(|d| name_of("device", d)).transpose()?,
            hint: text("hint").map(|h| name_of("hint", h)).transpose()?,
            stream: text("stream").map(|s| name_of("stream", s)).transpose()?,
            words,
            delimiter: delimiter.map(|(_, d)| *d),
            style,
            preamble,
            comment: text("comment").unwrap_or_default().as_bytes().to_vec(),
        })
    }

    /// The columns that are needed, in the order of [`Places`].
    fn names(&self) -> [Option<&Name>; 7] {
        let extent = match &self.extent {
            Extent::Size(c) | Extent::End(c) => Some(&c.name),
            Extent::Always(_) => None,
        };
        let op = match &self.op {
            Op::Column(name) => Some(name),
            Op::Always(_) => None,
        };
        let [device, hint, stream] = [&self.device, &self.hint, &self.stream].map(Option::as_ref);
        [self.time.as_ref().map(|t| &t.name), Some(&self.offset.name), extent, op, device, hint, stream]
    }

    /// Whether there must be a title row.
    fn is_titled(&self) -> bool {
        self.names().into_iter().flatten().any(|n| matches!(n, Name::Title(_)))
    }

    /// Where the columns are, if `fields` is the title row; or the titles that it lacks.
    fn places(&self, fields: &[&[u8]]) -> Result<Places, Vec<String>> {
        let mut missing = Vec::new();
        let at = self.names().map(|name| match name? {
            Name::Number(n) => Some(*n),
            Name::Title(title) => {
                let at = fields.iter().position(|f| is_title(trimmed(f), title));
                if at.is_none() {
                    missing.push(title.clone());
                }
                at
            }
        });
        if missing.is_empty() { Ok(Places(at)) } else { Err(missing) }
    }
}

/// Whether the column says what times are measured in.
pub(crate) fn tells_time(settings: &Settings) -> bool {
    let text = settings.get("time").map_or("", String::as_str);
    text == NO_CLOCK || split_time(text).is_some()
}

/// The word for a table without times.
const NO_CLOCK: &str = "none";

/// A column and its unit, if it has one.
fn split_time(text: &str) -> Option<(&str, Measure)> {
    if let Some((name, unit)) = text.rsplit_once(':')
        && let Some(measure) = time_unit(unit)
    {
        return Some((name, measure));
    }
    bracketed(text).and_then(time_unit).map(|measure| (text, measure))
}

/// The column of times; a unit that is not said is found by evidence before a file is read.
fn time_column(text: &str) -> Result<Option<Column>, Miss> {
    if text == NO_CLOCK {
        return Ok(None);
    }
    let (name, measure) = split_time(text).unwrap_or((text, Measure::Decimal(1)));
    Ok(Some(Column { name: name_of("time", name)?, measure }))
}

/// A column of offsets or sizes, which count in `usual` bytes where it does not say in what.
fn extent(key: &'static str, text: &str, usual: u64) -> Result<Column, Miss> {
    let (mut name, mut unit, mut hex) = (text, None, false);
    while let Some((rest, word)) = name.rsplit_once(':') {
        if word.trim() == "hex" && !hex {
            hex = true;
        } else if let (Some(bytes), None) = (extent_unit(word), unit) {
            unit = Some(bytes);
        } else {
            break;
        }
        name = rest;
    }
    let unit = unit.or_else(|| bracketed(name).and_then(extent_unit)).unwrap_or(usual);
    let measure = if hex { Measure::Hexadecimal(unit) } else { Measure::Decimal(unit) };
    Ok(Column { name: name_of(key, name)?, measure })
}

/// The words of every operation, those that are told before those that hold by default.
fn words_of(settings: &Settings) -> Vec<(Vec<u8>, Meaning)> {
    let kinds = [
        ("read", Meaning::Is(HostOp::Read), "r/read/rd"),
        ("write", Meaning::Is(HostOp::Write), "w/write/wr"),
        ("flush", Meaning::Is(HostOp::Flush), "f/flush/sync/fsync"),
        ("trim", Meaning::Is(HostOp::Trim), "t/trim/d/discard/unmap"),
        ("fua", Meaning::WriteThrough, ""),
        ("ignore", Meaning::Nothing, ""),
    ];
    let split = |list: &str, meaning: Meaning| -> Vec<_> {
        let words = list.split('/').map(|w| w.trim().to_ascii_lowercase().into_bytes());
        words.filter(|w| !w.is_empty()).map(|w| (w, meaning)).collect()
    };
    let told = kinds.iter().filter_map(|(key, m, _)| Some(split(settings.get(key)?, *m))).flatten();
    let default =
        kinds.iter().filter(|(key, ..)| !settings.contains_key(key)).flat_map(|(_, m, d)| split(d, *m));
    told.chain(default).collect()
}

fn meaning(words: &[(Vec<u8>, Meaning)], word: &[u8]) -> Option<Meaning> {
    words.iter().find(|(w, _)| w.eq_ignore_ascii_case(word)).map(|(_, m)| *m)
}

/// Where time, offset, size or end, op, device, hint and stream stand in a row.
#[derive(Clone, Copy, Debug)]
struct Places([Option<usize>; 7]);

struct Csv {
    /// The options; or why they cannot be gone by, which detection has said already.
    plan: Result<Plan, String>,
    places: Option<Places>,
    lines: u64,
    /// The fields of the row, as ranges of the line.
    fields: Vec<(u32, u32)>,
}

impl Csv {
    fn of(settings: &Settings) -> Csv {
        let plan = Plan::of(settings).map_err(|miss| miss.reason);
        Csv { plan, places: None, lines: 0, fields: Vec::new() }
    }

    fn volumes(&self) -> Volumes {
        match &self.plan {
            Ok(Plan { device: Some(_), .. }) => Volumes::default(),
            _ => Volumes::unnamed(),
        }
    }
}

/// Splits a row; fields in double quotes lose them.
#[inline]
fn split(line: &[u8], delimiter: u8, fields: &mut Vec<(u32, u32)>) -> Result<(), String> {
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
            // A doubled quote stands for one and does not end the field.
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
                self.places = plan.places(&[]).ok();
                return self.row(line, volumes);
            }
            let fields: Vec<&[u8]> = self.fields.iter().map(|f| &line[f.0 as usize..f.1 as usize]).collect();
            self.places = outcome.ok().and_then(|()| plan.places(&fields).ok());
            return Ok(if self.places.is_some() { Parsed::Header } else { Parsed::Aside });
        };
        outcome?;
        plan.request(places, line, &self.fields, volumes)
    }
}

impl Csv {
    /// The first row of a text without titles.
    fn row(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        match (&self.plan, self.places) {
            (Ok(plan), Some(places)) => plan.request(places, line, &self.fields, volumes),
            _ => Err("the columns are not known".to_string()),
        }
    }
}

impl Plan {
    #[inline]
    fn request(
        &self,
        places: Places,
        line: &[u8],
        fields: &[(u32, u32)],
        volumes: &mut Volumes,
    ) -> Result<Parsed, String> {
        let field = |n: usize| -> Result<&[u8], String> {
            let place = places.0[n].unwrap_or(0);
            let range = fields.get(place).ok_or_else(|| short_row(fields.len(), place))?;
            Ok(trimmed(&line[range.0 as usize..range.1 as usize]))
        };
        let meaning = match &self.op {
            Op::Always(meaning) => *meaning,
            Op::Column(_) => {
                let word = field(3)?;
                meaning(&self.words, word).ok_or_else(|| unknown_word(word))?
            }
        };
        let (op, fua) = match meaning {
            Meaning::Is(op) => (op, false),
            Meaning::WriteThrough => (HostOp::Write, true),
            Meaning::Nothing => return Ok(Parsed::Aside),
        };
        let time = match &self.time {
            Some(column) => self.value(column.measure, field(0)?, "time")?,
            None => 0,
        };
        let (mut offset, mut bytes) = (0, 0);
        if op != HostOp::Flush {
            offset = self.value(self.offset.measure, field(1)?, "offset")?;
            bytes = match &self.extent {
                Extent::Always(bytes) => *bytes,
                Extent::Size(c) => self.value(c.measure, field(2)?, "size")?,
                Extent::End(c) => {
                    let end = self.value(c.measure, field(2)?, "end")?;
                    end.checked_sub(offset).ok_or("the end is before the offset")?
                }
            };
        }
        let volume = if self.device.is_some() { volumes.number_of(field(4)?)? } else { 0 };
        let hint = if self.hint.is_some() { hint(field(5)?)? } else { LatencyHint::None };
        let stream = if self.stream.is_some() && op == HostOp::Write { stream(field(6)?)? } else { 0 };
        let attributes = Attributes::NONE.with_fua(fua).with_hint(hint).with_stream(stream);
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes, volume }))
    }

    #[inline]
    fn value(&self, measure: Measure, field: &[u8], name: &str) -> Result<u64, String> {
        let value = match measure {
            Measure::Decimal(unit) => quantity(field, unit, self.style),
            Measure::Date => date(field, self.style.decimal),
            Measure::Hexadecimal(unit) => {
                hexadecimal(field).and_then(|n| n.checked_mul(unit).ok_or(NumberFault::TooLarge))
            }
        };
        value.map_err(|e| self.number_fault(e, measure, field, name))
    }

    #[cold]
    fn number_fault(&self, e: NumberFault, measure: Measure, field: &[u8], name: &str) -> String {
        let hint = match e {
            NumberFault::NotANumber if measure == Measure::Date => {
                ": a date is written 2016-02-21 22:52:25.133"
            }
            NumberFault::NotANumber if matches!(measure, Measure::Hexadecimal(_)) => {
                ": it is read as hexadecimal"
            }
            NumberFault::NotANumber if name == "time" && field.contains(&b':') => {
                ": say time=COLUMN:date if it is a date"
            }
            NumberFault::NotANumber if field.contains(&b',') => {
                ": say decimal=comma or thousands=comma if that is what the comma is"
            }
            NumberFault::NotANumber if field.starts_with(b"0x") => ": hexadecimal numbers need COLUMN:hex",
            _ => "",
        };
        format!("{}{hint}", e.of(name, field))
    }
}

#[cold]
fn short_row(count: usize, place: usize) -> String {
    format!("{count} columns, and column {} is needed", place + 1)
}

#[cold]
fn unknown_word(word: &[u8]) -> String {
    format!("the op \"{}\" has no meaning; say read=, write=, flush=, trim= or ignore=", excerpt(word, 24))
}

/// Words of latency hints, by number; no word is none.
const HINTS: [&str; 4] = ["", "short", "medium", "long"];

fn hint(word: &[u8]) -> Result<LatencyHint, String> {
    let known = HINTS.iter().position(|w| w.as_bytes().eq_ignore_ascii_case(word));
    known.map(|n| LatencyHint::ALL[n]).ok_or_else(|| unknown_hint(word))
}

#[cold]
fn unknown_hint(word: &[u8]) -> String {
    format!("the hint \"{}\" is none of short, medium, long and nothing", excerpt(word, 24))
}

/// The number of a stream; nothing is none.
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
    format!("the stream \"{}\" is none of 1 to {most}, and no stream is 0 or nothing", excerpt(word, 24))
}

/// The columns of a table being written, in order, and their titles where none is told.
const WRITTEN: [(&str, &str); 5] =
    [("time", "Time (ns)"), ("device", "Volume"), ("op", "Op"), ("offset", "Offset"), ("size", "Size")];

/// A table that the same options read.
fn write(told: &Settings) -> Result<Writing, Miss> {
    for key in ["preamble", "comment", "thousands", "ignore"] {
        if told.contains_key(key) {
            return Err(fault(
                key,
                format!("{key} is for tables that are read"),
                "no value, in a table to write",
            ));
        }
    }
    let mut settings = told.clone();
    for (key, title) in WRITTEN {
        if key != "size" || !told.contains_key("end") {
            settings.entry(key).or_insert_with(|| title.to_string());
        }
    }
    settings.entry("fua").or_insert_with(|| "fua".to_string());
    let plan = Plan::of(&settings)?;
    let titled = |key: &'static str, name: &Name| match name {
        Name::Title(title) => Ok(title.clone()),
        Name::Number(_) => Err(fault(key, "a column to write needs a title".to_string(), "a title")),
    };
    let Some(time) = plan.time.as_ref().filter(|_| tells_time(&settings)) else {
        let reason = "a table to write has times, in a unit that is said".to_string();
        return Err(fault("time", reason, TIME_UNITS));
    };
    let Measure::Decimal(time_ns) = time.measure else {
        return Err(fault("time", "dates are read, not written".to_string(), "ns, us, ms, s, filetime"));
    };
    let (Extent::Size(extent) | Extent::End(extent)) = &plan.extent else {
        return Err(fault("size", "a table to write has the size of each request".to_string(), "a title"));
    };
    let Op::Column(op) = &plan.op else {
        return Err(fault("op", "a table to write has the kind of each request".to_string(), "a title"));
    };
    let delimiter = plan.delimiter.unwrap_or(b',');
    if delimiter == plan.style.decimal {
        let reason = "columns and decimals are parted by the same sign".to_string();
        return Err(fault("delimiter", reason, "semicolon, tab, space or bar beside decimal=comma"));
    }
    let unit = |c: &Column| match c.measure {
        Measure::Decimal(unit) => (unit, false),
        Measure::Hexadecimal(unit) => (unit, true),
        Measure::Date => (1, false),
    };
    let device = plan.device.as_ref().map(|d| titled("device", d)).transpose()?.unwrap_or_default();
    let hint = plan.hint.as_ref().map(|h| titled("hint", h)).transpose()?;
    let stream = plan.stream.as_ref().map(|s| titled("stream", s)).transpose()?;
    let titles = [
        titled("time", &time.name)?,
        device,
        titled("op", op)?,
        titled("offset", &plan.offset.name)?,
        titled(if matches!(plan.extent, Extent::End(_)) { "end" } else { "size" }, &extent.name)?,
    ];
    let word = |key: &str, otherwise: &str| {
        let first = settings.get(key).and_then(|list| list.split('/').map(str::trim).find(|w| !w.is_empty()));
        first.unwrap_or(otherwise).to_string()
    };
    let (offset, extent_unit) = (unit(&plan.offset), unit(extent));
    let table = Table {
        titles,
        hint,
        stream,
        words: [word("read", "read"), word("write", "write"), word("trim", "trim"), word("flush", "flush")],
        fua: word("fua", "fua"),
        time_decimals: time_ns.ilog10() as usize,
        offset,
        extent: extent_unit,
        ends: matches!(plan.extent, Extent::End(_)),
        delimiter,
        decimal: plan.style.decimal,
    };
    // Whole numbers of either unit.
    let (a, b) = (offset.0, extent_unit.0);
    let (hints, streams) = (plan.hint.is_some(), plan.stream.is_some());
    let keeps = Keeps { unit: a / gcd(a, b) * b, hints, streams, ..Keeps::ALL };
    Ok(Writing { read_with: settings, ..Writing::new(keeps, table) })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A table being written.
struct Table {
    /// In the order of [`WRITTEN`].
    titles: [String; 5],
    /// The titles of the columns of hints and of streams, which stand last, where there are such.
    hint: Option<String>,
    stream: Option<String>,
    /// By `HostOp`.
    words: [String; 4],
    fua: String,
    time_decimals: usize,
    /// Bytes that are counted in, and whether in hexadecimal.
    offset: (u64, bool),
    extent: (u64, bool),
    ends: bool,
    delimiter: u8,
    decimal: u8,
}

impl RecordWriter for Table {
    fn begin(&mut self, _volumes: &[String], out: &mut Vec<u8>) {
        for (n, title) in self.titles.iter().chain(&self.hint).chain(&self.stream).enumerate() {
            if n > 0 {
                out.push(self.delimiter);
            }
            let parted = title.bytes().any(|c| c == self.delimiter || c.is_ascii_whitespace());
            let quote = if parted { "\"" } else { "" };
            out.text(quote).text(title).text(quote);
        }
        out.push(b'\n');
    }

    fn write(&mut self, r: &Record, volumes: &[String], out: &mut Vec<u8>) {
        let start = out.len();
        out.fixed(r.time, self.time_decimals);
        if let Some(point) = out[start..].iter().position(|c| *c == b'.') {
            out[start + point] = self.decimal;
        }
        out.push(self.delimiter);
        out.text(volumes.get(r.volume as usize).map_or("", String::as_str));
        out.push(self.delimiter);
        out.text(if r.attributes.is_fua() { &self.fua } else { &self.words[r.op as usize] });
        let second = if self.ends { r.offset + r.bytes } else { r.bytes };
        for (bytes, (unit, hexadecimal)) in [(r.offset, self.offset), (second, self.extent)] {
            out.push(self.delimiter);
            if hexadecimal {
                out.hexadecimal(bytes / unit, 0)
            } else {
                out.number(bytes / unit)
            };
        }
        if self.hint.is_some() {
            out.push(self.delimiter);
            out.text(HINTS[r.attributes.hint() as usize]);
        }
        if self.stream.is_some() {
            out.push(self.delimiter);
            out.number(r.attributes.stream().into());
        }
        out.push(b'\n');
    }
}

/// Lines in which a title row is looked for.
const PREAMBLE_LINES: usize = 1_000;

/// The delimiter with which a line is the title row, or the words nearest to one.
fn find_delimiter(plan: &Plan, sample: &Sample) -> Result<u8, Miss> {
    let told = |d: &&(&str, u8)| plan.delimiter.is_none_or(|t| t == d.1);
    let lines = || sample.lines().skip(plan.preamble as usize).take(PREAMBLE_LINES);
    let mut fields = Vec::new();
    if !plan.is_titled() {
        // Without titles, the delimiter that gives the first row its columns.
        let most = plan.names().into_iter().flatten().filter_map(|n| match n {
            Name::Number(n) => Some(*n),
            Name::Title(_) => None,
        });
        let most = most.max().unwrap_or(0);
        let first = lines().find(|l| !l.trim_ascii().is_empty()).unwrap_or_default();
        let fits = DELIMITERS
            .iter()
            .filter(told)
            .find(|(_, d)| split(first, *d, &mut fields).is_ok() && fields.len() > most);
        return fits.map(|(_, d)| *d).ok_or_else(|| {
            Miss::new(0, format!("no delimiter parts the first row into {} columns", most + 1))
        });
    }
    let mut nearest: (usize, Vec<String>, String) = (usize::MAX, Vec::new(), String::new());
    for line in lines() {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        for (_, delimiter) in DELIMITERS.iter().filter(told) {
            if split(line, *delimiter, &mut fields).is_err() {
                continue;
            }
            let titles: Vec<&[u8]> = fields.iter().map(|f| &line[f.0 as usize..f.1 as usize]).collect();
            match plan.places(&titles) {
                Ok(_) => return Ok(*delimiter),
                Err(missing) if missing.len() < nearest.0 => {
                    let shown = titles
                        .iter()
                        .take(24)
                        .map(|t| decoded(t.trim_ascii()).replace(char::is_control, " "));
                    nearest = (missing.len(), missing, shown.collect::<Vec<_>>().join(" | "));
                }
                Err(_) => {}
            }
        }
    }
    let (_, missing, titles) = nearest;
    let hints = missing.iter().map(|m| did_you_mean(m, titles.split(" | ")));
    let hint = hints.filter(|h| !h.is_empty()).collect::<Vec<_>>().join(" ");
    let reason = format!("no title row has {}; the nearest is: {titles}. {hint}", missing.join(", "));
    Err(Miss::new(0, reason.trim_end().to_string()))
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let plan = Plan::of(told)?;
    let delimiter = find_delimiter(&plan, sample)?;
    let mut settings = told.clone();
    if let Some((name, _)) = DELIMITERS.iter().find(|(_, d)| *d == delimiter) {
        settings.insert("delimiter", name.to_string());
    }
    let csv = Csv::of(&settings);
    let volumes = csv.volumes();
    let tally = Tally::of(sample, csv, volumes).at_least_half()?;
    let titles = plan.names().into_iter().flatten().filter_map(|n| match n {
        Name::Title(t) => Some(t.as_str()),
        Name::Number(_) => None,
    });
    let titles = titles.collect::<Vec<_>>().join(", ");
    let what = "have a time, an offset, a size and an operation where the options say";
    Ok(Detection { settings, ..tally.found(Confidence::Certain, &format!("with {titles}"), what) })
}
