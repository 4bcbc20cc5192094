//! The CSV form of CloudPhysics vSCSI traces: the same capture as text.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, scaled, separated};
use crate::reading::record::Record;
use crate::reading::scsi::{KEEPS, SECTOR, command};
use crate::reading::units::{STATED, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Row, Rows, Writing};
use crate::text::numbers::hexadecimal;
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "vscsi-csv",
    title: "CloudPhysics vSCSI capture as CSV",
    grammar: "\
version,time,op,size,lbn          (header line)

version  of the capture: 1 or 2
time     microseconds
op       SCSI command, hexadecimal: 2a, 8a, aa write; 28, 88, a8 read; 35, 91 flush
size     bytes
lbn      512-byte sectors

The same capture as a binary file gives the same requests.",
    parameters: STATED,
    order: Order::Kept,
    timing: Timing::Stated { unit: "us", decimals: false },
    quirks: Quirks::NONE,
    extents: Extents::SectorsAndBytes,
    detect,
    open: |settings, input| {
        LineReader::open(VscsiCsv(UNITS.with_settings(settings)), Volumes::unnamed(), input)
    },
    write: |_| Ok(Writing::new(KEEPS, Rows { title: "version,time,op,size,lbn\n", row })),
    example: Example {
        options: "",
        body: Body::Lines {
            title: "version,time,op,size,lbn\n",
            time: |i| (1_000 + i).to_string(),
            line: |r, time| format!("1,{time},{},{},{}", r.op("28", "2a"), r.sectors * 512, r.sector),
        },
    },
};

const UNITS: Units = Units::stated(1_000, SECTOR, 1);

struct VscsiCsv(Units);

impl LineFormat for VscsiCsv {
    fn parse(&mut self, line: &[u8], _volumes: &mut Volumes) -> Result<Parsed, String> {
        let fields: [&[u8]; 5] = separated(line, b',')?;
        if fields == [&b"version"[..], b"time", b"op", b"size", b"lbn"] {
            return Ok(Parsed::Header);
        }
        if !matches!(fields[0], b"1" | b"2") {
            return Err("the version is neither 1 nor 2".to_string());
        }
        let time = crate::text::numbers::time(fields[1], self.0.time).map_err(|e| e.of("time", fields[1]))?;
        let code = hexadecimal(fields[2]).map_err(|e| e.of("command", fields[2]))?;
        let op = command(code).ok_or_else(|| format!("SCSI command {code:#x} is neither read nor write"))?;
        let bytes = scaled("size", fields[3], self.0.size)?;
        let offset = scaled("block number", fields[4], self.0.offset)?;
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes: Attributes::NONE, volume: 0 }))
    }
}

fn row(r: &Record, _volume: &str, out: &mut Vec<u8>) {
    let op = match r.op {
        HostOp::Read => ",28,",
        HostOp::Flush => ",35,",
        HostOp::Write | HostOp::Trim => ",2a,",
    };
    out.text("1,").number(r.time / 1_000).text(op).number(r.bytes).text(",").number(r.offset / SECTOR);
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally = Tally::of(sample, VscsiCsv(UNITS.with_settings(told)), Volumes::unnamed()).at_least_half()?;
    let (confidence, header) = if tally.header {
        (Confidence::Certain, "the header version,time,op,size,lbn is there, and ")
    } else {
        (Confidence::Likely, "")
    };
    Ok(Detection {
        confidence,
        reason: format!("{header}{} have its five columns with a SCSI command third", tally.share()),
        settings: told.clone(),
    })
}
