//! SPC trace files, as in the UMass repository: Financial1 and 2, WebSearch1 to 3.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, columns, scaled, separated_up_to};
use crate::reading::record::Record;
use crate::reading::units::{SECOND, STATED, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Clock, Keeps, Naming, Row, Rows, Writing};
use crate::text::numbers::{time, unsigned};
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "spc",
    title: "SPC ASCII (UMass Financial, WebSearch)",
    grammar: "\
ASU,LBA,Size,Opcode,Timestamp[,more]

ASU        number of the volume; each has its own address space
LBA        512-byte sectors on the volume
Size       bytes
Opcode     r or R read, w or W write
Timestamp  seconds from the start, with decimals

No header line. Spaces around the commas and further columns are stepped over.",
    parameters: STATED,
    order: Order::Kept,
    timing: Timing::Stated { unit: "s", decimals: true },
    quirks: Quirks::NONE,
    extents: Extents::SectorsAndBytes,
    detect,
    open: |settings, input| LineReader::open(Spc(UNITS.with_settings(settings)), Volumes::default(), input),
    write: |_| Ok(Writing::new(KEEPS, Rows { title: "", row })),
    example: Example {
        options: "",
        body: Body::Lines {
            title: "",
            time: |i| format!("1.{i:06}"),
            line: |r, time| format!("0,{},{},{},{time}", r.sector, r.sectors * 512, r.op("R", "W")),
        },
    },
};

const UNITS: Units = Units::stated(SECOND, 512, 1);

struct Spc(Units);

impl LineFormat for Spc {
    #[inline]
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        let mut fields: [&[u8]; 5] = [&[]; 5];
        let count = separated_up_to(line, b',', &mut fields);
        if count < 5 {
            return Err(format!("{} instead of 5 or more", columns(count)));
        }
        let [asu, lba, size, opcode, when] = fields;
        unsigned(asu).map_err(|e| e.of("ASU", asu))?;
        let offset = scaled("LBA", lba, self.0.offset)?;
        let bytes = scaled("size", size, self.0.size)?;
        let op = match opcode {
            b"r" | b"R" => HostOp::Read,
            b"w" | b"W" => HostOp::Write,
            _ => return Err("the opcode is neither R nor W".to_string()),
        };
        let time = time(when, self.0.time).map_err(|e| e.of("time stamp", when))?;
        let volume = volumes.number_of(asu)?;
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes: Attributes::NONE, volume }))
    }
}

/// Sizes are in bytes, but addresses in sectors.
const KEEPS: Keeps =
    Keeps { unit: 512, clock: Clock::FromStart, volumes: Naming::Number, ..Keeps::TRANSFERS };

fn row(r: &Record, volume: &str, out: &mut Vec<u8>) {
    let op = if r.op == HostOp::Read { ",R," } else { ",W," };
    out.text(volume).text(",").number(r.offset / 512).text(",").number(r.bytes).text(op).fixed(r.time, 9);
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally = Tally::of(sample, Spc(UNITS.with_settings(told)), Volumes::default()).at_least_half()?;
    let what = "have an ASU, a sector, a size, R or W fourth and a time in seconds fifth";
    Ok(tally.found(Confidence::Certain, "", what).with(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Record, String> {
        match Spc(UNITS).parse(line.as_bytes(), &mut Volumes::default())? {
            Parsed::Request(r) => r.checked(),
            _ => Err("no request".into()),
        }
    }

    #[test]
    fn sectors_bytes_and_seconds_are_told_apart() {
        let want = Record {
            time: 26_214_000,
            offset: 20_941_264 * 512,
            bytes: 8192,
            op: HostOp::Write,
            attributes: Attributes::NONE,
            volume: 0,
        };
        assert_eq!(parse("0,20941264,8192,W,0.026214"), Ok(want));
        assert_eq!(parse("0, 20941264, 8192, w, 0.026214, 7, x"), Ok(want));
    }

    #[test]
    fn each_bad_field_is_named() {
        for (line, word) in [
            ("0,1,512,W", "4 columns"),
            ("a,1,512,W,0.1", "ASU"),
            ("0,-1,512,W,0.1", "LBA \"-1\" is negative"),
            ("0,36028797018963968,512,W,0.1", "LBA 36028797018963968 is too large"),
            ("0,1,0,W,0.1", "length zero"),
            ("0,1,512,X,0.1", "neither R nor W"),
            ("0,1,512,R,1e3", "time stamp"),
        ] {
            let e = parse(line).unwrap_err();
            assert!(e.contains(word), "{line}: {e}");
        }
    }
}
