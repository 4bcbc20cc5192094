//! CloudPhysics vSCSI captures: fixed-size binary records of the commands that a hypervisor's virtual disks
//! received. There are two versions; every record has a version byte.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Asked, Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::record::{Event, Input, Position, Record, RecordReader};
use crate::reading::records::Window;
use crate::reading::scsi::{KEEPS, SECTOR, command};
use crate::reading::units::{STATED, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{RecordWriter, Writing};
use crate::text::numbers::grouped;
use std::io;
use wordline_units::{Attributes, HostOp};

/// Version 1.
pub static V1: Format = Format {
    name: "vscsi1",
    title: "CloudPhysics vSCSI capture, binary version 1",
    grammar: "\
records of 32 bytes, little-endian, no header

u32 sn, u32 len (bytes), u32 nSG, u16 cmd, u16 ver, u64 lbn (512 B), u64 ts (us)

cmd 0x2a, 0x8a, 0xaa write; 0x28, 0x88, 0xa8 read; 0x35, 0x91 flush; others move no data of the
disk and are counted aside. ver >> 8 is 1.",
    parameters: STATED,
    order: Order::Kept,
    timing: Timing::Stated { unit: "us", decimals: false },
    quirks: Quirks::NONE,
    extents: Extents::Bytes,
    detect: |sample, told| detect(sample, told, &LAYOUT_1),
    open: |settings, input| Box::new(Vscsi::open(input, settings, &LAYOUT_1)),
    write: |_| Ok(Writing::new(KEEPS, Capture { layout: &LAYOUT_1, number: 0 })),
    example: Example {
        options: "",
        body: Body::Records {
            record: |r| record(1, r),
            faults: &[(15, &[0x77]), (4, &[0; 4]), (23, &[0xff])],
        },
    },
};

/// Version 2.
pub static V2: Format = Format {
    name: "vscsi2",
    title: "CloudPhysics vSCSI capture, binary version 2",
    grammar: "\
records of 40 bytes, little-endian, no header

u16 cmd, u16 ver, u32 sn, u32 len (bytes), u32 nSG, u64 lbn (512 B), u64 ts (us), u64 rt (us)

Commands as in version 1. ver >> 8 is 2.",
    parameters: STATED,
    order: Order::Kept,
    timing: Timing::Stated { unit: "us", decimals: false },
    quirks: Quirks::NONE,
    extents: Extents::Bytes,
    detect: |sample, told| detect(sample, told, &LAYOUT_2),
    open: |settings, input| Box::new(Vscsi::open(input, settings, &LAYOUT_2)),
    write: |_| Ok(Writing::new(KEEPS, Capture { layout: &LAYOUT_2, number: 0 })),
    example: Example {
        options: "",
        body: Body::Records {
            record: |r| record(2, r),
            faults: &[(3, &[0x77]), (8, &[0; 4]), (23, &[0xff])],
        },
    },
};

/// A record of a version.
fn record(version: u16, r: &Asked) -> Vec<u8> {
    let command: u16 = if r.is_read { 0x28 } else { 0x2a };
    let kind = [command.to_le_bytes(), (version << 8).to_le_bytes()].concat();
    let numbers = [r.number as u32, r.sectors as u32 * 512, 1].map(u32::to_le_bytes).concat();
    let place = [r.sector, 1_000 + r.number * 97].map(u64::to_le_bytes).concat();
    match version {
        1 => [numbers, kind, place].concat(),
        _ => [kind, numbers, place, 5u64.to_le_bytes().to_vec()].concat(),
    }
}

/// Offsets of the fields of a record.
struct Layout {
    version: u16,
    bytes: usize,
    sn: usize,
    cmd: usize,
    ver: usize,
    len: usize,
    lbn: usize,
    ts: usize,
}

static LAYOUT_1: Layout = Layout { version: 1, bytes: 32, sn: 0, cmd: 12, ver: 14, len: 4, lbn: 16, ts: 24 };
static LAYOUT_2: Layout = Layout { version: 2, bytes: 40, sn: 4, cmd: 0, ver: 2, len: 8, lbn: 16, ts: 24 };

#[inline]
fn number<const N: usize>(record: &[u8], at: usize) -> u64 {
    let mut wide = [0u8; 8];
    wide[..N].copy_from_slice(&record[at..at + N]);
    u64::from_le_bytes(wide)
}

impl Layout {
    #[inline]
    fn parse(&self, record: &[u8], units: Units) -> Result<Event, String> {
        let version = number::<2>(record, self.ver) >> 8;
        if version != self.version as u64 {
            return Err(format!("the record's version is {version} instead of {}", self.version));
        }
        let Some(op) = command(number::<2>(record, self.cmd)) else {
            return Ok(Event::Aside(1));
        };
        let lbn = number::<8>(record, self.lbn);
        let offset =
            lbn.checked_mul(units.offset).ok_or_else(|| format!("the block number {lbn} is too large"))?;
        let ts = number::<8>(record, self.ts);
        let time = ts.checked_mul(units.time).ok_or_else(|| format!("the time stamp {ts} is too large"))?;
        let record = Record {
            time,
            offset,
            bytes: number::<4>(record, self.len) * units.size,
            op,
            attributes: Attributes::NONE,
            volume: 0,
        };
        Ok(Event::Request(record.checked()?))
    }
}

const UNITS: Units = Units::stated(1_000, SECTOR, 1);

struct Vscsi {
    window: Window,
    layout: &'static Layout,
    units: Units,
    /// Start of the record last returned, as a byte of the file.
    at: u64,
    volumes: Volumes,
}

impl Vscsi {
    fn open(input: Input, settings: &Settings, layout: &'static Layout) -> Vscsi {
        let units = UNITS.with_settings(settings);
        Vscsi { window: Window::new(input), layout, units, at: 0, volumes: Volumes::unnamed() }
    }
}

impl RecordReader for Vscsi {
    fn next(&mut self) -> io::Result<Option<Event>> {
        let size = self.layout.bytes;
        self.at = self.window.offset();
        let content = self.window.at_least(size)?;
        let left = content.len();
        if left == 0 {
            return Ok(None);
        }
        if left < size {
            self.window.skip(left);
            return Ok(Some(Event::Unusable(format!(
                "the file is truncated: the last record has {left} of {size} bytes"
            ))));
        }
        let event = self.layout.parse(&content[..size], self.units).unwrap_or_else(Event::Unusable);
        self.window.skip(size);
        Ok(Some(event))
    }

    fn position(&self) -> Position {
        Position::Byte(self.at)
    }

    fn volumes(&self) -> &Volumes {
        &self.volumes
    }
}

/// A capture being written. The response time is not known and written as 0.
struct Capture {
    layout: &'static Layout,
    number: u32,
}

impl RecordWriter for Capture {
    fn write(&mut self, r: &Record, _volumes: &[String], out: &mut Vec<u8>) {
        let l = self.layout;
        let command: u16 = match r.op {
            HostOp::Read => 0x28,
            HostOp::Flush => 0x35,
            HostOp::Write | HostOp::Trim => 0x2a,
        };
        let start = out.len();
        out.resize(start + l.bytes, 0);
        let mut put = |at: usize, bytes: &[u8]| {
            out[start + at..start + at + bytes.len()].copy_from_slice(bytes);
        };
        put(l.sn, &self.number.to_le_bytes());
        put(l.len, &(r.bytes as u32).to_le_bytes());
        put(l.len + 4, &1u32.to_le_bytes());
        put(l.cmd, &command.to_le_bytes());
        put(l.ver, &(l.version << 8).to_le_bytes());
        put(l.lbn, &(r.offset / SECTOR).to_le_bytes());
        put(l.ts, &(r.time / 1_000).to_le_bytes());
        self.number = self.number.wrapping_add(1);
    }
}

fn detect(sample: &Sample, told: &Settings, layout: &Layout) -> Result<Detection, Miss> {
    let (mut records, mut fit, mut first) = (0u64, 0u64, String::new());
    for record in sample.bytes.chunks_exact(layout.bytes) {
        records += 1;
        match layout.parse(record, UNITS.with_settings(told)) {
            Ok(Event::Request(_)) => fit += 1,
            Ok(_) => first = format!("record {records}: an unknown SCSI command"),
            Err(e) if first.is_empty() => first = format!("record {records}: {e}"),
            Err(_) => {}
        }
    }
    if records == 0 || fit * 10 < records * 9 {
        let fits = (fit * 1000).checked_div(records).unwrap_or(0);
        if records == 0 {
            first = format!("{} bytes are less than one record", sample.bytes.len());
        }
        return Err(Miss::new(fits, first));
    }
    Ok(Detection {
        confidence: if fit == records && records > 1 { Confidence::Certain } else { Confidence::Likely },
        reason: format!(
            "{} of the first {} records of {} bytes carry version {} and a SCSI read or write",
            grouped(fit),
            grouped(records),
            layout.bytes,
            layout.version
        ),
        settings: told.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn record_2(cmd: u16, lbn: u64, len: u32, ts: u64) -> Vec<u8> {
        let mut r = Vec::new();
        r.extend(cmd.to_le_bytes());
        r.extend(0x0200u16.to_le_bytes());
        r.extend(7u32.to_le_bytes());
        r.extend(len.to_le_bytes());
        r.extend(1u32.to_le_bytes());
        r.extend(lbn.to_le_bytes());
        r.extend(ts.to_le_bytes());
        r.extend(99u64.to_le_bytes());
        r
    }

    #[test]
    fn version_two_records_are_40_bytes_and_recognized() {
        let mut bytes = Vec::new();
        for i in 0..100u64 {
            bytes.extend(record_2(if i % 2 == 0 { 0x2a } else { 0x88 }, i * 8, 4096, 1000 + i));
        }
        let sample = Sample { bytes: &bytes, complete: true };
        assert!((V1.detect)(&sample, &Settings::new()).is_err());
        assert_eq!((V2.detect)(&sample, &Settings::new()).ok().unwrap().confidence, Confidence::Certain);
        let mut reader = Vscsi::open(Box::new(Cursor::new(bytes)), &Settings::new(), &LAYOUT_2);
        let Ok(Some(Event::Request(r))) = reader.next() else { panic!() };
        let want = Record {
            time: 1_000_000,
            offset: 0,
            bytes: 4096,
            op: HostOp::Write,
            attributes: Attributes::NONE,
            volume: 0,
        };
        assert_eq!(r, want);
        let Ok(Some(Event::Request(r))) = reader.next() else { panic!() };
        assert_eq!((r.op, r.offset, reader.position()), (HostOp::Read, 4096, Position::Byte(40)));
    }

    #[test]
    fn a_record_cut_short_is_reported_with_its_byte() {
        let mut bytes = record_2(0x2a, 0, 4096, 1);
        bytes.extend(&record_2(0x2a, 0, 4096, 1)[..13]);
        let mut reader = Vscsi::open(Box::new(Cursor::new(bytes)), &Settings::new(), &LAYOUT_2);
        assert!(matches!(reader.next(), Ok(Some(Event::Request(_)))));
        let Ok(Some(Event::Unusable(reason))) = reader.next() else { panic!() };
        assert!(reason.contains("13 of 40 bytes"), "{reason}");
        assert_eq!(reader.position(), Position::Byte(40));
        assert!(matches!(reader.next(), Ok(None)));
    }

    #[test]
    fn a_command_that_moves_no_data_is_an_aside() {
        let bytes = record_2(0x1a, 0, 0, 1);
        let mut reader = Vscsi::open(Box::new(Cursor::new(bytes)), &Settings::new(), &LAYOUT_2);
        assert!(matches!(reader.next(), Ok(Some(Event::Aside(1)))));
    }
}
