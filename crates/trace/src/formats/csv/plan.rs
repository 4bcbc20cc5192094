//! The options of a table, parsed: the meaning and unit of each column.

use crate::reading::detection::{Miss, OptionFault, Settings};
use crate::reading::lines_of::trimmed;
use crate::reading::units::{UNIT, unit_bytes};
use crate::text::numbers::{Style, grouped};
use wordline_units::{Bytes, HostOp};

/// A title row as text: UTF-8, or else Latin-1. The two micro signs are treated as one.
pub(crate) fn decoded(bytes: &[u8]) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().map(|b| char::from(*b)).collect(),
    };
    text.replace('\u{3bc}', "\u{b5}")
}

pub(crate) const DELIMITERS: [(&str, u8); 5] =
    [("comma", b','), ("semicolon", b';'), ("tab", b'\t'), ("bar", b'|'), ("space", b' ')];

/// A column as the user names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Name {
    Title(String),
    /// By number, from 0.
    Number(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Measure {
    /// The factor to nanoseconds or bytes.
    Decimal(u64),
    Hexadecimal(u64),
    Date,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Column {
    pub(crate) name: Name,
    pub(crate) measure: Measure,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    /// With the bytes of a 0: none, or a unit where the column has one less than the count, as NLB of NVMe.
    Size(Column, u64),
    End(Column),
    Always(u64),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Column(Name),
    Always(Meaning),
}

/// The meaning of a word in the op column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    Is(HostOp),
    WriteThrough,
    Nothing,
}

/// The parsed options.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// None in a table without times.
    pub(crate) time: Option<Column>,
    /// How long requests took. Given if the times are those of completion.
    pub(crate) latency: Option<Column>,
    pub(crate) offset: Column,
    pub(crate) extent: Extent,
    pub(crate) op: Op,
    pub(crate) device: Option<Name>,
    pub(crate) hint: Option<Name>,
    pub(crate) stream: Option<Name>,
    pub(crate) words: Vec<(Vec<u8>, Meaning)>,
    pub(crate) delimiter: Option<u8>,
    pub(crate) style: Style,
    pub(crate) preamble: u64,
    pub(crate) comment: Vec<u8>,
}

pub(crate) fn fault(key: &'static str, reason: String, allowed: &str) -> Miss {
    let option = OptionFault { key, allowed: allowed.to_string() };
    Miss { fits: 0, reason, option: Some(option) }
}

pub(crate) const TIME_UNITS: &str = "a column with its unit: ns, us, ms, s, filetime, date";
pub(crate) const EXTENT_UNITS: &str =
    "a column, with byte, sector or a size such as 4KiB as its unit, and perhaps :hex";

/// Whether a field equals a title, in UTF-8 or Latin-1, with either of the two micro signs.
pub(crate) fn is_title(field: &[u8], title: &str) -> bool {
    field == title.as_bytes()
        || !(field.is_ascii() && title.is_ascii()) && decoded(field) == decoded(title.as_bytes())
}

pub(crate) fn time_unit(word: &str) -> Option<Measure> {
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

pub(crate) fn extent_unit(word: &str) -> Option<u64> {
    let word = word.trim();
    match word.to_ascii_lowercase().as_str() {
        "byte" | "bytes" | "b" => Some(1),
        "sector" | "sectors" => Some(512),
        "kib" => Some(1 << 10),
        "mib" => Some(1 << 20),
        "gib" => Some(1 << 30),
        _ => {
            let bytes = word.parse::<Bytes>().or_else(|_| format!("1{word}").parse());
            bytes.ok().map(|b| b.0).filter(|b| *b > 0)
        }
    }
}

/// The unit of offsets or sizes in a title, in bytes. It must be a word: a number or single letter may be
/// part of a name. A unit with two possible sizes is excluded.
pub(crate) fn titled_unit(word: &str) -> Option<u64> {
    let is_word = word.len() > 1 && !word.starts_with(|c: char| c.is_ascii_digit()) || word == "B";
    extent_unit(word).filter(|_| is_word && of_either(word).is_none())
}

/// The two sizes of an ambiguous unit in a title, each with its unambiguous word. For example, `KB` is 1024
/// or 1000 bytes.
pub(crate) fn of_either(word: &str) -> Option<[(&'static str, u64); 2]> {
    match word.trim().to_ascii_lowercase().as_str() {
        "kb" => Some([("KiB", 1 << 10), ("kB", 1_000)]),
        "mb" => Some([("MiB", 1 << 20), ("MB", 1_000_000)]),
        "gb" => Some([("GiB", 1 << 30), ("GB", 1_000_000_000)]),
        _ => None,
    }
}

/// The unit in brackets at the end of a title.
pub(crate) fn bracketed(title: &str) -> Option<&str> {
    let inside = title.trim_end().strip_suffix(')')?;
    Some(&inside[inside.rfind('(')? + 1..])
}

/// The unit at the end of a title: in brackets, or the last word, as in `timestamp_ms`.
pub(crate) fn unit_of(title: &str) -> Option<&str> {
    let last = || title.trim_end().trim_matches('"').rsplit_once('_').map(|(_, word)| word);
    bracketed(title).or_else(last)
}

pub(crate) fn name_of(key: &'static str, text: &str) -> Result<Name, Miss> {
    let text = text.trim();
    match text.strip_prefix('#') {
        None if text.is_empty() => Err(fault(key, format!("{key} does not name a column"), "a title, or #N")),
        None => Ok(Name::Title(text.to_string())),
        Some(number) => match number.parse::<usize>() {
            Ok(n @ 1..=4096) => Ok(Name::Number(n - 1)),
            _ => Err(fault(key, format!("{text:?} is not a column number"), "#1 to #4096")),
        },
    }
}

impl Plan {
    pub(crate) fn of(settings: &Settings) -> Result<Plan, Miss> {
        let text = |key: &'static str| settings.get(key).map(String::as_str);
        let needed = |key: &'static str, allowed: &str| {
            text(key).ok_or_else(|| fault(key, format!("format=csv needs {key}=COLUMN"), allowed))
        };
        let usual = text(UNIT.key).and_then(unit_bytes).unwrap_or(1);
        let column = |key, text: &str| extent(key, text, usual);
        let extent = match (text("size"), text("end")) {
            (Some(_), Some(_)) => {
                return Err(fault("end", "size and end exclude each other".into(), "one of them"));
            }
            (None, Some(end)) => Extent::End(column("end", end)?),
            (size, None) => match size.and_then(|s| s.strip_prefix("always:")) {
                Some(always) => Extent::Always(extent_unit(always).ok_or_else(|| {
                    fault("size", format!("{always:?} is not a size"), "a size such as 4KiB")
                })?),
                None => sized(needed("size", EXTENT_UNITS)?, usual)?,
            },
        };
        let words = words_of(settings);
        let op = needed("op", "a column, or always:read, always:write")?;
        let op = match op.strip_prefix("always:") {
            None => Op::Column(name_of("op", op)?),
            Some(word) => Op::Always(meaning(&words, word.as_bytes()).ok_or_else(|| {
                fault("op", format!("{word:?} is not an operation"), "always:read, always:write, always:trim")
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
            let reason = "decimal and thousands use the same separator".to_string();
            return Err(fault("thousands", reason, "a separator different from decimal"));
        }
        let preamble = match text("preamble").map(str::parse::<u64>) {
            None => 0,
            Some(Ok(n)) => n,
            Some(Err(_)) => {
                return Err(fault("preamble", "the preamble is not a number".into(), "0 or more lines"));
            }
        };
        let delimiter = text("delimiter").and_then(|d| DELIMITERS.iter().find(|(n, _)| *n == d));
        Ok(Plan {
            time: time_column(needed("time", TIME_UNITS)?)?,
            latency: text("latency").map(latency_column).transpose()?,
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

    /// The named columns, in the order of [`Places`].
    pub(crate) fn names(&self) -> [Option<&Name>; 8] {
        let extent = match &self.extent {
            Extent::Size(c, _) | Extent::End(c) => Some(&c.name),
            Extent::Always(_) => None,
        };
        let op = match &self.op {
            Op::Column(name) => Some(name),
            Op::Always(_) => None,
        };
        let [device, hint, stream] = [&self.device, &self.hint, &self.stream].map(Option::as_ref);
        let [time, latency] = [&self.time, &self.latency].map(|c| c.as_ref().map(|c| &c.name));
        [time, Some(&self.offset.name), extent, op, device, hint, stream, latency]
    }

    /// Whether a title row is required.
    pub(crate) fn is_titled(&self) -> bool {
        self.names().into_iter().flatten().any(|n| matches!(n, Name::Title(_)))
    }

    /// The positions of the columns, if `fields` is the title row; otherwise the titles that it lacks.
    pub(crate) fn places(&self, fields: &[&[u8]]) -> Result<Places, Vec<String>> {
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

/// Whether the name of the time column states a unit.
pub(crate) fn tells_time(settings: &Settings) -> bool {
    let text = settings.get("time").map_or("", String::as_str);
    text == NO_CLOCK || split_time(text).is_some()
}

/// The word for a table without times.
pub(crate) const NO_CLOCK: &str = "none";

/// A column and its unit, if it has one.
pub(crate) fn split_time(text: &str) -> Option<(&str, Measure)> {
    if let Some((name, unit)) = text.rsplit_once(':')
        && let Some(measure) = time_unit(unit)
    {
        return Some((name, measure));
    }
    let said = bracketed(text).and_then(time_unit).or_else(|| {
        // The last word may be part of a name, as in `arrival_date`.
        unit_of(text).and_then(time_unit).filter(|measure| matches!(measure, Measure::Decimal(_)))
    });
    said.map(|measure| (text, measure))
}

/// The column of times. If the unit is not given, it is inferred before a file is read.
pub(crate) fn time_column(text: &str) -> Result<Option<Column>, Miss> {
    if text == NO_CLOCK {
        return Ok(None);
    }
    let (name, measure) = split_time(text).unwrap_or((text, Measure::Decimal(1)));
    Ok(Some(Column { name: name_of("time", name)?, measure }))
}

/// The column of latencies, which must state a unit.
fn latency_column(text: &str) -> Result<Column, Miss> {
    match split_time(text) {
        Some((name, measure @ Measure::Decimal(_))) => {
            Ok(Column { name: name_of("latency", name)?, measure })
        }
        _ => Err(fault("latency", format!("{text:?} has no unit"), "a column with its unit: ns, us, ms, s")),
    }
}

/// A column of offsets or sizes. Without a unit, it counts in units of `usual` bytes.
pub(crate) fn extent(key: &'static str, text: &str, usual: u64) -> Result<Column, Miss> {
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
    if let (None, Some([(one, binary), (other, decimal)])) = (unit, unit_of(name).and_then(of_either)) {
        let [binary, decimal] = [binary, decimal].map(grouped);
        return Err(fault(
            key,
            format!("the unit of {name:?} is ambiguous: {binary} or {decimal} bytes"),
            &format!("{key}={name}:{one}, {key}={name}:{other}"),
        ));
    }
    let unit = unit.or_else(|| unit_of(name).and_then(titled_unit)).unwrap_or(usual);
    let measure = if hex { Measure::Hexadecimal(unit) } else { Measure::Decimal(unit) };
    Ok(Column { name: name_of(key, name)?, measure })
}

/// The word of a column of sizes in which 0 is one unit.
pub(crate) const ZERO_BASED: &str = ":zero-based";

/// A column of sizes, which may be [`ZERO_BASED`].
fn sized(text: &str, usual: u64) -> Result<Extent, Miss> {
    if !text.contains(ZERO_BASED) {
        return Ok(Extent::Size(extent("size", text, usual)?, 0));
    }
    let name = text.replacen(ZERO_BASED, "", 1);
    let column = extent("size", &name, usual)?;
    match column.measure {
        Measure::Decimal(unit) | Measure::Hexadecimal(unit) if unit > 1 => Ok(Extent::Size(column, unit)),
        _ => Err(fault(
            "size",
            format!("{text:?} does not say what its unit is"),
            &format!("size={name}:sector{ZERO_BASED}, size={name}:4KiB{ZERO_BASED}"),
        )),
    }
}

/// The words of every operation. The words of the options come first, so that one of them can change the meaning of a
/// usual word, and the other usual words keep theirs.
pub(crate) fn words_of(settings: &Settings) -> Vec<(Vec<u8>, Meaning)> {
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
    let usual = kinds.iter().flat_map(|(_, m, d)| split(d, *m));
    told.chain(usual).collect()
}

pub(crate) fn meaning(words: &[(Vec<u8>, Meaning)], word: &[u8]) -> Option<Meaning> {
    words.iter().find(|(w, _)| w.eq_ignore_ascii_case(word)).map(|(_, m)| *m)
}

/// Positions of time, offset, size or end, op, device, hint, stream and latency in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places(pub(crate) [Option<usize>; 8]);
