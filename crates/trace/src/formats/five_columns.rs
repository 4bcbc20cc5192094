//! Five columns: the format shared by SSDSim, MQSim, DiskSim (ASCII), Microsoft's converted production traces
//! and block replayers. The file states neither the unit of time nor that of addresses, so both are inferred
//! (see `readings`) or set by options.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, columns, scaled, spaced_up_to};
use crate::reading::record::Record;
use crate::reading::units::{TIME, UNIT, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Keeps, Naming, RecordWriter, Row, Writing};
use crate::text::numbers::{leading, time};
use crate::text::parameter::Parameter;
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "five-columns",
    title: "time dev lba size op: SSDSim, MQSim, DiskSim ASCII, replayers",
    grammar: "\
time dev lba size op              (white space between)

time  integer or with decimals; the unit is not in the file (option time)
dev   device number; each has its own address space
lba   first 512-byte sector, or first byte (option unit)
size  512-byte sectors, or bytes (option unit)
op    0 = write, 1 = read (option op)

No header line. SSDSim and MQSim write ns, DiskSim and replayers ms with decimals. It is written in ns and
sectors by default.",
    parameters: &[
        Parameter { default: "by evidence", ..TIME },
        Parameter { default: "by evidence", ..UNIT },
        Parameter {
            key: "op",
            unit: "word",
            default: "0:write",
            allowed: "0:write, 0:read",
            choices: &["0:write", "0:read"],
            about: "what an op of 0 means; 1 is then the other",
        },
    ],
    order: Order::Kept,
    timing: Timing::Open,
    quirks: Quirks::NONE,
    extents: Extents::Open,
    detect,
    open: |settings, input| LineReader::open(FiveColumns::of(settings), Volumes::default(), input),
    write: |settings| {
        let columns = FiveColumns::of(settings);
        let keeps = Keeps { unit: columns.units.offset, ..KEEPS };
        let mut read_with = settings.clone();
        read_with.entry("time").or_insert_with(|| "ns".to_string());
        read_with.entry("unit").or_insert_with(|| "sector".to_string());
        Ok(Writing { read_with, ..Writing::new(keeps, columns) })
    },
    example: Example {
        options: ",time=ns,unit=sector",
        body: Body::Lines {
            title: "",
            time: |i| (i * 1_000).to_string(),
            line: |r, time| format!("{time} 0 {} {} {}", r.sector, r.sectors, r.op("1", "0")),
        },
    },
};

/// The units of SSDSim and MQSim.
const UNITS: Units = Units::stated(1, 512, 512);

struct FiveColumns {
    units: Units,
    zero: HostOp,
    one: HostOp,
}

impl FiveColumns {
    fn of(settings: &Settings) -> FiveColumns {
        let (zero, one) = match settings.get("op").map(String::as_str) {
            Some("0:read") => (HostOp::Read, HostOp::Write),
            _ => (HostOp::Write, HostOp::Read),
        };
        FiveColumns { units: UNITS.with_settings(settings), zero, one }
    }
}

/// The five fields of a line, or the number of fields if it differs.
fn fields(line: &[u8]) -> Result<[&[u8]; 5], usize> {
    let mut out: [&[u8]; 5] = [&[]; 5];
    match spaced_up_to(line, &mut out) {
        5 => Ok(out),
        n => Err(n),
    }
}

impl LineFormat for FiveColumns {
    #[inline]
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        match self.usual(line) {
            Some((record, device)) => {
                let volume = volumes.number_of(device)?;
                Ok(Parsed::Request(Record { volume, ..record }))
            }
            None => self.unusual(line, volumes),
        }
    }
}

/// A number and the one space or tab after it. Returns the number and the rest of the line.
#[inline]
fn number_and_space(text: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let (value, length) = leading(text)?;
    matches!(text.get(length)?, b' ' | b'\t').then(|| (value, &text[..length], &text[length + 1..]))
}

impl FiveColumns {
    /// A well-formed line with an integer time and single spaces, in one pass.
    #[inline]
    fn usual<'a>(&self, line: &'a [u8]) -> Option<(Record, &'a [u8])> {
        let (when, _, rest) = number_and_space(line)?;
        let (_, device, rest) = number_and_space(rest)?;
        let (lba, _, rest) = number_and_space(rest)?;
        let (size, _, rest) = number_and_space(rest)?;
        let op = match rest {
            b"0" => self.zero,
            b"1" => self.one,
            _ => return None,
        };
        let time = when.checked_mul(self.units.time)?;
        let offset = lba.checked_mul(self.units.offset)?;
        let bytes = size.checked_mul(self.units.offset)?;
        Some((Record { time, offset, bytes, op, attributes: Attributes::NONE, volume: 0 }, device))
    }

    /// Any other line: decimals, other spacing, or an error to report.
    fn unusual(&self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        let [when, dev, lba, size, op] = fields(line).map_err(|n| format!("{} instead of 5", columns(n)))?;
        let time = time(when, self.units.time).map_err(|e| e.of("time", when))?;
        if !dev.iter().all(u8::is_ascii_digit) {
            return Err("the device is not a number".to_string());
        }
        let offset = scaled("address", lba, self.units.offset)?;
        let bytes = scaled("size", size, self.units.offset)?;
        let op = match op {
            b"0" => self.zero,
            b"1" => self.one,
            _ => return Err("the op is neither 0 nor 1".to_string()),
        };
        let volume = volumes.number_of(dev)?;
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes: Attributes::NONE, volume }))
    }
}

const KEEPS: Keeps = Keeps { volumes: Naming::Number, ..Keeps::TRANSFERS };

impl RecordWriter for FiveColumns {
    fn write(&mut self, r: &Record, volumes: &[String], out: &mut Vec<u8>) {
        let volume = volumes.get(r.volume as usize).map_or("0", String::as_str);
        out.fixed(r.time, self.units.time.ilog10() as usize).text(" ").text(volume).text(" ");
        out.number(r.offset / self.units.offset).text(" ").number(r.bytes / self.units.offset);
        out.text(if r.op == self.zero { " 0\n" } else { " 1\n" });
    }
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally = Tally::of(sample, FiveColumns::of(told), Volumes::default()).at_least_half()?;
    let reason = format!("{} have five columns, the last 0 or 1", tally.share());
    Ok(Detection { confidence: Confidence::Likely, reason, settings: told.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str, settings: &[(&'static str, &str)]) -> Result<Record, String> {
        let settings = settings.iter().map(|(k, v)| (*k, v.to_string())).collect();
        match FiveColumns::of(&settings).parse(line.as_bytes(), &mut Volumes::default())? {
            Parsed::Request(r) => r.checked(),
            _ => Err("no request".into()),
        }
    }

    #[test]
    fn zero_is_a_write_unless_told_otherwise() {
        assert_eq!(parse("0 0 8 8 0", &[]).unwrap().op, HostOp::Write);
        assert_eq!(parse("0 0 8 8 1", &[]).unwrap().op, HostOp::Read);
        assert_eq!(parse("0 0 8 8 0", &[("op", "0:read")]).unwrap().op, HostOp::Read);
        assert_eq!(parse("0 0 8 8 1", &[("op", "0:read")]).unwrap().op, HostOp::Write);
    }

    #[test]
    fn units_of_time_and_address_are_applied() {
        let r = parse("5265.313\t0  6357144 8 0", &[("time", "ms")]).unwrap();
        assert_eq!((r.time, r.offset, r.bytes), (5_265_313_000, 6_357_144 * 512, 4096));
        let r = parse("7 0 4096 512 1", &[("time", "us"), ("unit", "byte")]).unwrap();
        assert_eq!((r.time, r.offset, r.bytes), (7_000, 4096, 512));
    }

    #[test]
    fn each_bad_field_is_named() {
        for (line, word) in [
            ("1 0 8 8", "4 columns"),
            ("1 0 8 8 0 9", "6 columns"),
            ("x 0 8 8 0", "time"),
            ("1 a 8 8 0", "device"),
            ("1 0 99999999999999999999 8 0", "too large"),
            ("1 0 9999999999999999999 8 0", "too large"),
            ("1 0 8 0 0", "length zero"),
            ("1 0 8 99999999 0", "is more than"),
            ("1 0 8 8 2", "neither 0 nor 1"),
        ] {
            let e = parse(line, &[]).unwrap_err();
            assert!(e.contains(word), "{line}: {e}");
        }
    }
}
