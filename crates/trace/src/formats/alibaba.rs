//! Alibaba cloud block storage: a thousand virtual disks, January 2020.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, scaled, separated};
use crate::reading::record::Record;
use crate::reading::units::{STATED, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Keeps, Naming, Row, Rows, Writing};
use crate::text::numbers::{time, unsigned};
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "alibaba",
    title: "Alibaba cloud block storage CSV",
    grammar: "\
device_id,opcode,offset,length,timestamp

device_id       number of the virtual disk; each has its own address space
opcode          R read, W write
offset, length  bytes
timestamp       microseconds

No header line, though one is stepped over. Rows are sorted by time.",
    parameters: STATED,
    order: Order::Loose,
    timing: Timing::Stated { unit: "us", decimals: false },
    quirks: Quirks { dated: true, ..Quirks::NONE },
    extents: Extents::Bytes,
    detect,
    open: |settings, input| {
        LineReader::open(Alibaba(UNITS.with_settings(settings)), Volumes::default(), input)
    },
    write: |_| Ok(Writing::new(KEEPS, Rows { title: "", row })),
    example: Example {
        options: "",
        body: Body::Lines {
            title: "",
            time: |i| (1_577_808_000_000_046 + i).to_string(),
            line: |r, time| format!("419,{},{},{},{time}", r.op("R", "W"), r.sector * 512, r.sectors * 512),
        },
    },
};

const UNITS: Units = Units::stated(1_000, 1, 1);

struct Alibaba(Units);

impl LineFormat for Alibaba {
    #[inline]
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        let [device, opcode, offset, length, when] = separated(line, b',')?;
        let op = match opcode {
            b"R" => HostOp::Read,
            b"W" => HostOp::Write,
            b"opcode" if device == b"device_id" => return Ok(Parsed::Header),
            _ => return Err("the opcode is neither R nor W".to_string()),
        };
        unsigned(device).map_err(|e| e.of("device", device))?;
        let offset = scaled("offset", offset, self.0.offset)?;
        let bytes = scaled("length", length, self.0.size)?;
        let time = time(when, self.0.time).map_err(|e| e.of("time stamp", when))?;
        let volume = volumes.number_of(device)?;
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes: Attributes::NONE, volume }))
    }
}

const KEEPS: Keeps = Keeps { tick: 1_000, volumes: Naming::Number, ..Keeps::TRANSFERS };

fn row(r: &Record, volume: &str, out: &mut Vec<u8>) {
    let op = if r.op == HostOp::Read { ",R," } else { ",W," };
    out.text(volume).text(op).number(r.offset).text(",").number(r.bytes).text(",").number(r.time / 1_000);
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally = Tally::of(sample, Alibaba(UNITS.with_settings(told)), Volumes::default()).at_least_half()?;
    let what = "have a device, R or W second, offset, length and a time";
    Ok(tally.found(Confidence::Certain, "device_id,opcode,offset,length,timestamp", what).with(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_is_bytes_and_microseconds_and_bad_fields_named() {
        let mut v = Volumes::default();
        let Ok(Parsed::Request(r)) = Alibaba(UNITS).parse(b"419,W,8192,16384,1577808000000046", &mut v)
        else {
            panic!()
        };
        assert_eq!((r.time, r.offset, r.bytes), (1_577_808_000_000_046_000, 8192, 16_384));
        for (line, word) in [
            ("419,W,8192,16384", "4 columns"),
            ("419,X,8192,16384,1", "neither R nor W"),
            ("x,W,8192,16384,1", "device"),
            ("419,W,8k,16384,1", "offset"),
            ("419,W,8192,16384,18446744073709551615", "too large"),
        ] {
            let e = Alibaba(UNITS).parse(line.as_bytes(), &mut v).err().unwrap();
            assert!(e.contains(word), "{line}: {e}");
        }
    }
}
