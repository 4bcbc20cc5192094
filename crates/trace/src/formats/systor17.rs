//! Systor '17 traces: virtual desktop storage, with one file per LUN and hour.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, scaled, separated};
use crate::reading::record::Record;
use crate::reading::units::{SECOND, STATED, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Keeps, Naming, Row, Rows, Writing};
use crate::text::numbers::{time, unsigned};
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "systor17",
    title: "Systor '17 virtual desktops CSV (SNIA IOTTA)",
    grammar: "\
Timestamp,Response,IOType,LUN,Offset,Size          (title row)

Timestamp     Unix seconds with nine decimals
Response      seconds, perhaps empty; not used
IOType        R, W, or empty: no request, counted aside
LUN           number of the volume
Offset, Size  bytes

Rows stand in order of completion, so they are sorted by time.",
    parameters: STATED,
    order: Order::Loose,
    timing: Timing::Stated { unit: "s", decimals: true },
    quirks: Quirks { dated: true, ..Quirks::NONE },
    extents: Extents::Bytes,
    detect,
    open: |settings, input| {
        LineReader::open(Systor(UNITS.with_settings(settings)), Volumes::default(), input)
    },
    write: |_| Ok(Writing::new(KEEPS, Rows { title: "Timestamp,Response,IOType,LUN,Offset,Size\n", row })),
    example: Example {
        options: "",
        body: Body::Lines {
            title: "Timestamp,Response,IOType,LUN,Offset,Size\n",
            time: |i| format!("1456095145.{:09}", i * 1_000),
            line: |r, time| {
                format!("{time},0.0008,{},0,{},{}", r.op("R", "W"), r.sector * 512, r.sectors * 512)
            },
        },
    },
};

const UNITS: Units = Units::stated(SECOND, 1, 1);

struct Systor(Units);

const TITLE: &[u8] = b"Timestamp,Response,IOType,LUN,Offset,Size";

impl LineFormat for Systor {
    #[inline]
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        let [when, response, kind, lun, offset, size] = separated(line, b',')?;
        let op = match kind {
            b"R" => HostOp::Read,
            b"W" => HostOp::Write,
            b"" => {
                time(when, self.0.time).map_err(|e| e.of("time stamp", when))?;
                return Ok(Parsed::Aside);
            }
            _ if line.trim_ascii() == TITLE => return Ok(Parsed::Header),
            _ => return Err("the type is neither R nor W nor empty".to_string()),
        };
        let time = time(when, self.0.time).map_err(|e| e.of("time stamp", when))?;
        if !response.iter().all(|c| c.is_ascii_digit() || *c == b'.') {
            return Err("the response time is not a number".to_string());
        }
        unsigned(lun).map_err(|e| e.of("LUN", lun))?;
        let offset = scaled("offset", offset, self.0.offset)?;
        let bytes = scaled("size", size, self.0.size)?;
        let volume = volumes.number_of(lun)?;
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes: Attributes::NONE, volume }))
    }
}

const KEEPS: Keeps = Keeps { volumes: Naming::Number, ..Keeps::TRANSFERS };

/// The response time is not known and left empty.
fn row(r: &Record, volume: &str, out: &mut Vec<u8>) {
    let op = if r.op == HostOp::Read { ",,R," } else { ",,W," };
    out.fixed(r.time, 9).text(op).text(volume).text(",").number(r.offset).text(",").number(r.bytes);
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally = Tally::of(sample, Systor(UNITS.with_settings(told)), Volumes::default()).at_least_half()?;
    let title = "Timestamp,Response,IOType,LUN,Offset,Size";
    Ok(tally.found(Confidence::Certain, title, "have its six columns with R or W third").with(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_survive_and_an_empty_type_is_skipped() {
        let mut v = Volumes::default();
        let line = b"1456095145.133076001,,R,0,899056122368,131072";
        let Ok(Parsed::Request(r)) = Systor(UNITS).parse(line, &mut v) else { panic!() };
        assert_eq!((r.time, r.offset, r.bytes), (1_456_095_145_133_076_001, 899_056_122_368, 131_072));
        assert!(matches!(Systor(UNITS).parse(b"1456095145.1,,,0,,", &mut v), Ok(Parsed::Aside)));
        assert!(matches!(Systor(UNITS).parse(TITLE, &mut v), Ok(Parsed::Header)));
    }

    #[test]
    fn each_bad_field_is_named() {
        for (line, word) in [
            ("1.0,0.1,R,0,512", "5 columns"),
            ("x,0.1,R,0,512,512", "time stamp"),
            ("x,0.1,,0,512,512", "time stamp"),
            ("1.0,slow,R,0,512,512", "response"),
            ("1.0,0.1,Read,0,512,512", "neither R nor W"),
            ("1.0,0.1,R,a,512,512", "LUN"),
            ("1.0,0.1,R,0,-512,512", "negative"),
            ("1.0,0.1,R,0,512,99999999999999999999", "too large"),
        ] {
            let e = Systor(UNITS).parse(line.as_bytes(), &mut Volumes::default()).err().unwrap();
            assert!(e.contains(word), "{line}: {e}");
        }
    }
}
