//! Microsoft's production server traces: the disk events of an ETW log, dumped as CSV.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, separated_up_to};
use crate::reading::record::Record;
use crate::reading::units::{STATED, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Clock, Keeps, Naming, Row, Rows, Writing};
use crate::text::numbers::{NumberFault, hexadecimal, time, unsigned};
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "etw",
    title: "Microsoft ETW CSV (production server traces; SNIA IOTTA)",
    grammar: "\
BeginHeader
...                                        (a line for each kind of event)
EndHeader
DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime,
DiskNum, IrpFlags, DiskSvcTime, I/O Pri, VolSnap, FileObject, FileName
DiskWrite likewise; DiskFlush without ByteOffset and IOSize

TimeStamp           microseconds
ByteOffset, IOSize  bytes, hexadecimal
DiskNum             the volume

Some variants have a CPU after ThreadID; IrpPtr, the first column with 0x, says where the rest stands.
Other events, DiskReadInit and DiskWriteInit among them, are set aside.",
    parameters: STATED,
    order: Order::Kept,
    timing: Timing::Stated { unit: "us", decimals: false },
    quirks: Quirks::NONE,
    extents: Extents::Bytes,
    detect,
    open: |settings, input| LineReader::open(Etw::of(settings), Volumes::default(), input),
    write: |_| Ok(Writing::new(KEEPS, Rows { title: TITLE, row })),
    example: Example {
        options: "",
        body: Body::Lines {
            title: "BeginHeader\n  DiskRead, TimeStamp\nEndHeader\n",
            time: |i| (46 + i).to_string(),
            line: |r, time| {
                let (op, at, bytes) = (r.op("DiskRead", "DiskWrite"), r.sector * 512, r.sectors * 512);
                let who = "a.exe ( 812), 5460, 0xfffffa80069d1b30";
                format!("{op}, {time}, {who}, 0x{at:08x}, 0x{bytes:x}, 6022, 2, 0x060043, 5963, Normal")
            },
        },
    },
};

const UNITS: Units = Units::stated(1_000, 1, 1);

struct Etw {
    units: Units,
    in_header: bool,
}

impl Etw {
    fn of(settings: &Settings) -> Etw {
        Etw { units: UNITS.with_settings(settings), in_header: false }
    }
}

impl LineFormat for Etw {
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        let mut fields: [&[u8]; 10] = [&[]; 10];
        let count = separated_up_to(line, b',', &mut fields);
        let kind = fields[0];
        match kind {
            b"BeginHeader" => self.in_header = true,
            b"EndHeader" => self.in_header = false,
            _ => {}
        }
        if self.in_header || kind == b"EndHeader" {
            return Ok(Parsed::Header);
        }
        let op = match kind {
            b"DiskRead" => HostOp::Read,
            b"DiskWrite" => HostOp::Write,
            b"DiskFlush" => HostOp::Flush,
            _ if is_event(kind) && count > 1 => return Ok(Parsed::Aside),
            _ => return Err("the line does not begin with the name of an event".to_string()),
        };
        let time = time(fields[1], self.units.time).map_err(|e| e.of("time stamp", fields[1]))?;
        // The columns before IrpPtr are four, or five with the CPU.
        let pointer = (4..6).find(|n| fields[*n].starts_with(b"0x"));
        let pointer = pointer.ok_or("IrpPtr (0x...) is missing in column 5 or 6")?;
        let disk_at = pointer + if op == HostOp::Flush { 2 } else { 4 };
        if count <= disk_at {
            return Err(format!("{count} columns, and DiskNum would be column {}", disk_at + 1));
        }
        let disk = fields[disk_at];
        unsigned(disk).map_err(|e| e.of("disk", disk))?;
        let volume = volumes.number_of(disk)?;
        let (mut offset, mut bytes) = (0, 0);
        if op != HostOp::Flush {
            let [at, size] = [fields[pointer + 1], fields[pointer + 2]];
            let scaled = |name: &str, field: &[u8], unit: u64| {
                let n = hexadecimal(field).map_err(|e| e.of(name, field))?;
                n.checked_mul(unit).ok_or_else(|| NumberFault::TooLarge.of(name, field))
            };
            offset = scaled("byte offset", at, self.units.offset)?;
            bytes = scaled("size", size, self.units.size)?;
        }
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes: Attributes::NONE, volume }))
    }
}

/// Whether a word may be the name of an event: letters and digits, beginning with a capital.
fn is_event(word: &[u8]) -> bool {
    word.first().is_some_and(u8::is_ascii_uppercase)
        && word.iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'/'))
}

const KEEPS: Keeps =
    Keeps { flush: true, tick: 1_000, clock: Clock::FromStart, volumes: Naming::Number, ..Keeps::TRANSFERS };

const TITLE: &str = "\
BeginHeader
                DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri
               DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri
               DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,                           ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri
EndHeader
";

/// Process and response time are not known.
fn row(r: &Record, volume: &str, out: &mut Vec<u8>) {
    let kind = match r.op {
        HostOp::Read => "DiskRead, ",
        HostOp::Flush => "DiskFlush, ",
        HostOp::Write | HostOp::Trim => "DiskWrite, ",
    };
    out.text(kind).number(r.time / 1_000).text(", Unknown (  -1), 0, 0x0000000000000000, ");
    if r.op != HostOp::Flush {
        out.hexadecimal(r.offset, 10).text(", ").hexadecimal(r.bytes, 8).text(", ");
    }
    out.text("0, ").text(volume).text(", 0x000000, 0, Normal");
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally = Tally::of(sample, Etw::of(told), Volumes::default()).at_least_half()?;
    if tally.requests == 0 && !tally.header {
        return Err(Miss::new(0, "neither BeginHeader nor a disk event found"));
    }
    Ok(tally.found(Confidence::Certain, "BeginHeader", "are DiskRead, DiskWrite or DiskFlush").with(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: &str = "DiskRead, 46, svchost.exe ( 812), 5460, 0xfffffa80069d1b30, 0x0042ed0000, 0x00010000, 6022, 2, 0x060043, 5963, Normal, , 0xfffff880, \"c:\\\\a.log\"";

    fn parse(line: &str) -> Result<Parsed, String> {
        Etw::of(&Settings::new()).parse(line.as_bytes(), &mut Volumes::default())
    }

    #[test]
    fn offsets_are_hexadecimal_and_a_cpu_column_may_exist() {
        let with_cpu = READ.replace("5460,", "5460, 3,");
        for line in [READ, &with_cpu] {
            let Ok(Parsed::Request(r)) = parse(line) else { panic!("{line}") };
            assert_eq!((r.time, r.offset, r.bytes, r.op), (46_000, 0x42ed_0000, 0x1_0000, HostOp::Read));
        }
        let flush = "DiskFlush, 99, System ( 4), 12, 0xfffffa80, 411, 2, 0x0, 400, Normal";
        assert!(matches!(parse(flush), Ok(Parsed::Request(r)) if r.op == HostOp::Flush));
        let init = "DiskReadInit, 40, svchost.exe ( 812), 5460, 0xfffffa80069d1b30";
        assert!(matches!(parse(init), Ok(Parsed::Aside)));
    }

    #[test]
    fn the_header_is_stepped_over() {
        let mut etw = Etw::of(&Settings::new());
        let mut v = Volumes::default();
        for line in ["BeginHeader", "   DiskRead, TimeStamp, Process Name ( PID), ThreadID", "EndHeader"] {
            assert!(matches!(etw.parse(line.as_bytes(), &mut v), Ok(Parsed::Header)), "{line}");
        }
        assert!(matches!(etw.parse(READ.as_bytes(), &mut v), Ok(Parsed::Request(_))));
    }

    #[test]
    fn each_bad_field_is_named() {
        for (line, word) in [
            (READ.replace("46", "x"), "time stamp"),
            (READ.replace("0xfffffa80069d1b30", "7").replace("0x0042ed0000", "9"), "IrpPtr"),
            (READ.replace("0xfffffa80069d1b30", "7"), "disk"),
            (READ.replace("0x0042ed0000", "0x0042edzz"), "byte offset"),
            (READ.replace("0x00010000", ""), "size"),
            (READ.replace("6022, 2", "6022, c"), "disk"),
            ("DiskRead, 46, a ( 1), 5, 0xff, 0x0, 0x1".to_string(), "DiskNum would be column 9"),
            ("it was a bright cold day".to_string(), "the line does not begin with the name of an event"),
        ] {
            let e = parse(&line).err().unwrap();
            assert!(e.contains(word), "{line}: {e}");
        }
    }
}
