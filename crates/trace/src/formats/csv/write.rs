//! Writes a table that the same options can read.

use crate::formats::csv::plan::{
    Column, Extent, Measure, Name, Op, Plan, TIME_UNITS, ZERO_BASED, fault, tells_time,
};
use crate::formats::csv::rows::HINTS;
use crate::reading::detection::{Miss, Settings};
use crate::reading::record::Record;
use crate::reading::writing::{Keeps, RecordWriter, Row, Writing};

/// The columns of a written table in order, and their default titles.
pub(crate) const WRITTEN: [(&str, &str); 5] =
    [("time", "Time (ns)"), ("device", "Volume"), ("op", "Op"), ("offset", "Offset"), ("size", "Size")];

/// A writer of a table that the same options can read.
pub(crate) fn write(told: &Settings) -> Result<Writing, Miss> {
    for key in ["preamble", "comment", "thousands", "ignore", "latency"] {
        if told.contains_key(key) {
            return Err(fault(
                key,
                format!("{key} is allowed for input tables only"),
                "no value for an output table",
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
        Name::Number(_) => Err(fault(key, "an output column needs a title".to_string(), "a title")),
    };
    let Some(time) = plan.time.as_ref().filter(|_| tells_time(&settings)) else {
        let reason = "an output table needs times with a unit".to_string();
        return Err(fault("time", reason, TIME_UNITS));
    };
    let Measure::Decimal(time_ns) = time.measure else {
        return Err(fault(
            "time",
            "dates are supported for input only".to_string(),
            "ns, us, ms, s, filetime",
        ));
    };
    let extent = match &plan.extent {
        Extent::Size(extent, 0) | Extent::End(extent) => extent,
        Extent::Size(..) => {
            let reason = format!("{ZERO_BASED} is allowed for input tables only");
            return Err(fault("size", reason, "a title, perhaps with a unit"));
        }
        Extent::Always(_) => {
            let reason = "an output table needs the size of each request".to_string();
            return Err(fault("size", reason, "a title"));
        }
    };
    let Op::Column(op) = &plan.op else {
        return Err(fault(
            "op",
            "an output table needs the operation of each request".to_string(),
            "a title",
        ));
    };
    let delimiter = plan.delimiter.unwrap_or(b',');
    if delimiter == plan.style.decimal {
        let reason = "columns and decimals use the same separator".to_string();
        return Err(fault("delimiter", reason, "semicolon, tab, space or bar with decimal=comma"));
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
    // The least common multiple of both units.
    let (a, b) = (offset.0, extent_unit.0);
    let (hints, streams) = (plan.hint.is_some(), plan.stream.is_some());
    let keeps = Keeps { unit: a / gcd(a, b) * b, hints, streams, ..Keeps::ALL };
    Ok(Writing { read_with: settings, ..Writing::new(keeps, table) })
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A table being written.
pub(crate) struct Table {
    /// In the order of [`WRITTEN`].
    pub(crate) titles: [String; 5],
    /// The titles of the columns of hints and streams, which come last, if they are written.
    pub(crate) hint: Option<String>,
    pub(crate) stream: Option<String>,
    /// By `HostOp`.
    pub(crate) words: [String; 4],
    pub(crate) fua: String,
    pub(crate) time_decimals: usize,
    /// The unit in bytes, and whether numbers are hexadecimal.
    pub(crate) offset: (u64, bool),
    pub(crate) extent: (u64, bool),
    pub(crate) ends: bool,
    pub(crate) delimiter: u8,
    pub(crate) decimal: u8,
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
