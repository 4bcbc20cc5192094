//! Raw blktrace, as the Linux kernel logs it, with one file per CPU; no external program is needed. The files
//! of a folder or tar archive are merged by time. A missing CPU is not an error, since a CPU that issued
//! nothing has no file.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::Parsed;
use crate::reading::record::{Event, Input, Position, Record, RecordReader};
use crate::reading::records::Window;
use crate::reading::rwbs::{EVENT, Flags};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Keeps, Naming, RecordWriter, Writing};
use crate::text::numbers::grouped;
use std::io;
use wordline_units::HostOp;

/// The format.
pub static FORMAT: Format = Format {
    name: "blktrace",
    title: "raw blktrace of Linux, a folder or tar of per-CPU files",
    grammar: "\
records of 48 or 64 bytes, each with pdu_len bytes behind it; little- or big-endian, as the magic says

version 7: u32 magic (0x65617407), u32 sequence, u64 time (ns), u64 sector (512 B), u32 bytes, u32 action,
           u32 pid, u32 device, u32 cpu, u16 error, u16 pdu_len
version 8: u32 magic (0x65617408), ... u32 bytes, u32 pid, u64 action, u32 device, u32 cpu, u16 error,
           u16 pdu_len, 12 bytes of padding (protocol 2, Linux 6.19)

action, low 16     7 D sent to the device, 1 Q queued before merging (option event); others are set
                   aside
action, above      bit 1 write, 2 flush, 9 SCSI command, 10 notice, 13 discard, 15 FUA, 16 to 21 orders
                   to zones (set aside), 22 write zeroes (read as a discard). A write with flush is a
                   FLUSH, then the write; without data it is a FLUSH
device             major << 20 | minor, which is the volume (8.16)

Give the folder or the tar archive of sdb.blktrace.0, sdb.blktrace.1, ...: they are merged by time.",
    parameters: &[EVENT],
    order: Order::Kept,
    timing: Timing::Exact("ns"),
    quirks: Quirks::NONE,
    extents: Extents::Fixed,
    detect,
    open: |settings, input| Box::new(Blktrace::open(settings, input)),
    write: |settings| Ok(Writing::new(KEEPS, Kernel { event: event_of(settings), sequence: 0 })),
    example: Example {
        options: "",
        body: Body::Records {
            record: |r| {
                let action = ISSUED | if r.is_read { 1 << 16 } else { WRITE };
                record(
                    1_000 + r.number * 97,
                    r.sector,
                    r.sectors as u32 * 512,
                    action,
                    r.number as u16 % 3 * 4,
                )
            },
            faults: &[(0, &[0x77]), (24, &[0; 4]), (23, &[0xff])],
        },
    },
};

/// The flag of a write in an action.
const WRITE: u32 = 1 << 17;

/// A record of CPU 0 on device 8,16, followed by `behind` bytes.
fn record(time: u64, sector: u64, bytes: u32, action: u32, behind: u16) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let place = [time.to_le_bytes(), sector.to_le_bytes()].concat();
    let what = words(&[bytes, action, 99, 8 << 20 | 16, 0, (behind as u32) << 16]);
    [words(&[MAGIC | VERSION, 1]), place, what, vec![0xee; behind as usize]].concat()
}

/// Bytes of a record by its version.
const HEADER: usize = 48;
const HEADER_OF_8: usize = 64;
/// The first three bytes of the magic; the fourth is the version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;

/// Byte order of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Endian {
    Little,
    Big,
}

/// Byte order and version of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    endian: Endian,
    is_8: bool,
}

impl Shape {
    /// The shape that the magic at the start of a record states.
    #[inline]
    fn of(record: &[u8]) -> Option<Shape> {
        let magic: [u8; 4] = record.get(..4)?.try_into().ok()?;
        let both = [(Endian::Little, u32::from_le_bytes(magic)), (Endian::Big, u32::from_be_bytes(magic))];
        let (endian, number) = both.into_iter().find(|(_, n)| n & !0xff == MAGIC)?;
        match number & 0xff {
            VERSION => Some(Shape { endian, is_8: false }),
            8 => Some(Shape { endian, is_8: true }),
            _ => None,
        }
    }

    /// Length of the record in bytes, including what follows it.
    #[inline]
    fn length(self, record: &[u8]) -> Option<usize> {
        let (header, at) = if self.is_8 { (HEADER_OF_8, 50) } else { (HEADER, 46) };
        let pair: [u8; 2] = record.get(at..at + 2)?.try_into().ok()?;
        let behind =
            if self.endian == Endian::Little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) };
        Some(header + behind as usize)
    }

    #[inline]
    fn action(self, record: &[u8; HEADER]) -> u64 {
        if self.is_8 { self.endian.u64(record, 32) } else { self.endian.u32(record, 28) as u64 }
    }

    #[inline]
    fn device(self, record: &[u8; HEADER]) -> u32 {
        self.endian.u32(record, if self.is_8 { 40 } else { 36 })
    }
}

impl Endian {
    #[inline]
    fn u32(self, record: &[u8; HEADER], at: usize) -> u32 {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&record[at..at + 4]);
        if self == Endian::Little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    }

    #[inline]
    fn u64(self, record: &[u8; HEADER], at: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&record[at..at + 8]);
        if self == Endian::Little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) }
    }
}

const QUEUED: u32 = 1;
const ISSUED: u32 = 7;
/// Bits of an action above its low 16 bits.
const SCSI_COMMAND: u64 = 1 << 9;
const NOTICE: u64 = 1 << 10;

/// Whether an action is an event of a request.
#[inline]
fn is_event(action: u64, event: u32) -> bool {
    // The cgroup bit only says what follows the record.
    action & 0xfeff == event as u64 && action >> 16 & (NOTICE | SCSI_COMMAND) == 0
}

struct Blktrace {
    window: Window,
    event: u32,
    /// Start of the item last returned, as a byte of the file.
    at: u64,
    volumes: Volumes,
    device: Option<(u32, u16)>,
    /// The request after the FLUSH that was last returned.
    kept: Option<Record>,
}

/// The number of the event that counts.
fn event_of(settings: &Settings) -> u32 {
    if settings.get("event").is_some_and(|e| e == "Q") { QUEUED } else { ISSUED }
}

/// What is found at a place of the file.
enum Found {
    /// A record: its header and its length with what follows it.
    Record(Shape, usize),
    /// The end of the file, within a record of which only this many bytes exist.
    Cut(usize),
    /// Bytes that are not a record.
    Damage,
    End,
}

impl Blktrace {
    fn open(settings: &Settings, input: Input) -> Blktrace {
        let event = event_of(settings);
        let (window, volumes) = (Window::new(input), Volumes::default());
        Blktrace { window, event, at: 0, volumes, device: None, kept: None }
    }

    fn volume(&mut self, device: u32) -> Result<u16, String> {
        if let Some((known, number)) = self.device
            && known == device
        {
            return Ok(number);
        }
        let name = format!("{}.{}", device >> 20, device & 0xf_ffff);
        let number = self.volumes.number_of(name.as_bytes())?;
        self.device = Some((device, number));
        Ok(number)
    }

    /// The request in a record, if it is of the requested event.
    fn request(&mut self, shape: Shape, header: &[u8; HEADER]) -> Event {
        let parsed = self.parse(shape, header);
        match parsed {
            Ok(Parsed::Request(record)) => record.checked().map_or_else(Event::Unusable, Event::Request),
            Ok(Parsed::AfterFlush(record)) => match record.checked() {
                Ok(record) => {
                    self.kept = Some(record);
                    Event::Request(record.flush_before())
                }
                Err(reason) => Event::Unusable(reason),
            },
            Ok(Parsed::Aside | Parsed::Header) => Event::Aside(1),
            Err(reason) => Event::Unusable(reason),
        }
    }

    fn parse(&mut self, shape: Shape, header: &[u8; HEADER]) -> Result<Parsed, String> {
        let endian = shape.endian;
        let sector = endian.u64(header, 16);
        let offset = sector.checked_mul(512).ok_or_else(|| format!("the sector {sector} is too large"))?;
        let volume = self.volume(shape.device(header))?;
        let flags = Flags::of_bits(shape.action(header) >> 16);
        Ok(flags.request(endian.u64(header, 8), offset, endian.u32(header, 24) as u64, volume))
    }

    /// Skips damage up to the next magic or the end.
    #[cold]
    fn step_over(&mut self) -> io::Result<Event> {
        let mut bytes = 0;
        loop {
            let content = self.window.at_least(HEADER)?;
            if content.is_empty() || bytes > 0 && Shape::of(content).is_some() {
                return Ok(Event::Unusable(format!("{} bytes are not a blktrace record", grouped(bytes))));
            }
            let next = (1..content.len()).find(|at| Shape::of(&content[*at..]).is_some());
            // A magic may begin in the last three bytes of the window.
            let last = if content.len() < HEADER { content.len() } else { content.len() - 3 };
            let step = next.unwrap_or(last);
            self.window.skip(step);
            bytes += step as u64;
        }
    }
}

fn look(content: &[u8]) -> Found {
    if content.is_empty() {
        return Found::End;
    }
    let Some(shape) = Shape::of(content) else {
        return if content.len() < 4 { Found::Cut(content.len()) } else { Found::Damage };
    };
    match shape.length(content) {
        Some(length) if content.len() >= length => Found::Record(shape, length),
        _ => Found::Cut(content.len()),
    }
}

/// Maximum length of a record: a header, and what 16 bits can count.
const LONGEST: usize = HEADER_OF_8 + u16::MAX as usize;

impl RecordReader for Blktrace {
    fn next(&mut self) -> io::Result<Option<Event>> {
        if let Some(kept) = self.kept.take() {
            return Ok(Some(Event::Request(kept)));
        }
        let mut asides = 0;
        loop {
            let content = self.window.at_least(LONGEST)?;
            let found = look(content);
            if let (Found::Record(shape, length), Some(&header)) = (&found, content.first_chunk::<HEADER>()) {
                if !is_event(shape.action(&header), self.event) {
                    asides += 1;
                    self.window.skip(*length);
                    continue;
                }
                if asides == 0 {
                    self.at = self.window.offset();
                    self.window.skip(*length);
                    return Ok(Some(self.request(*shape, &header)));
                }
            }
            // What was found is kept for the next call.
            if asides > 0 {
                return Ok(Some(Event::Aside(asides)));
            }
            self.at = self.window.offset();
            return Ok(match found {
                Found::Record(..) | Found::End => None,
                Found::Damage => Some(self.step_over()?),
                Found::Cut(left) => {
                    self.window.skip(left);
                    let reason = format!("the file is truncated: its last record has only {left} bytes");
                    Some(Event::Unusable(reason))
                }
            });
        }
    }

    fn position(&self) -> Position {
        Position::Byte(self.at)
    }

    fn volumes(&self) -> &Volumes {
        &self.volumes
    }
}

const KEEPS: Keeps =
    Keeps { unit: 512, longest: u32::MAX as u64 / 512 * 512, volumes: Naming::MajorMinor, ..Keeps::STATED };

/// Writes the log of one CPU.
struct Kernel {
    event: u32,
    sequence: u32,
}

impl RecordWriter for Kernel {
    fn write(&mut self, r: &Record, volumes: &[String], out: &mut Vec<u8>) {
        let volume = volumes.get(r.volume as usize).map_or("", String::as_str);
        let (major, minor) = volume.split_once('.').unwrap_or(("0", volume));
        let number = |t: &str| t.parse::<u32>().unwrap_or(0);
        let flags: u32 = match r.op {
            HostOp::Read => 1 << 0,
            HostOp::Write if r.attributes.is_fua() => 1 << 1 | 1 << 3 | 1 << 15,
            HostOp::Write => 1 << 1,
            HostOp::Trim => 1 << 1 | 1 << 13,
            HostOp::Flush => 1 << 1 | 1 << 2,
        };
        self.sequence = self.sequence.wrapping_add(1);
        out.extend((MAGIC | VERSION).to_le_bytes());
        out.extend(self.sequence.to_le_bytes());
        out.extend(r.time.to_le_bytes());
        out.extend((r.offset / 512).to_le_bytes());
        let device = number(major) << 20 | number(minor);
        for word in [r.bytes as u32, self.event | flags << 16, 0, device, 0, 0] {
            out.extend(word.to_le_bytes());
        }
    }
}

/// What is wrong with content that does not begin with a known record.
fn other_version(bytes: &[u8]) -> Miss {
    let magic = bytes.first_chunk::<4>().map(|m| [u32::from_le_bytes(*m), u32::from_be_bytes(*m)]);
    match magic.into_iter().flatten().find(|n| n & !0xff == MAGIC) {
        Some(n) => Miss::new(500, format!("unsupported blktrace version {}; allowed: 7, 8", n & 0xff)),
        None => Miss::new(0, "the magic number of blktrace is missing"),
    }
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let (mut rest, mut records) = (sample.bytes, 0u64);
    let (mut issued, mut queued) = (0u64, 0u64);
    let mut version = VERSION;
    while let Found::Record(shape, length) = look(rest) {
        if let Some(header) = rest.first_chunk::<HEADER>() {
            let action = shape.action(header);
            issued += u64::from(is_event(action, ISSUED));
            queued += u64::from(is_event(action, QUEUED));
        }
        version = if shape.is_8 { 8 } else { VERSION };
        records += 1;
        rest = &rest[length..];
    }
    if records == 0 {
        return Err(other_version(sample.bytes));
    }
    let event = match told.get("event") {
        Some(event) => event.as_str(),
        None if issued == 0 && queued > 0 => "Q",
        None => "D",
    };
    Ok(Detection {
        confidence: Confidence::Certain,
        reason: format!(
            "it begins with {} records that carry blktrace's magic and version {version}, {} of them D and {} Q",
            grouped(records),
            grouped(issued),
            grouped(queued)
        ),
        settings: [("event", event.to_string())].into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn events(content: Vec<u8>) -> Vec<(u64, Event)> {
        let mut reader = Blktrace::open(&Settings::new(), Box::new(Cursor::new(content)));
        let mut out = Vec::new();
        while let Some(event) = reader.next().unwrap() {
            let Position::Byte(at) = reader.position() else { panic!() };
            out.push((at, event));
        }
        out
    }

    #[test]
    fn requests_are_found_and_a_preflush_comes_first() {
        let content = [
            record(1, 0, 0, 1024 << 16, 8),
            record(5, 8, 4096, ISSUED | WRITE, 0),
            record(6, 8, 4096, QUEUED | WRITE, 3),
            record(7, 16, 512, ISSUED | WRITE | 1 << 18 | 1 << 31, 0),
            record(8, 0, 0, ISSUED | WRITE | 1 << 18, 0),
        ];
        let found = events(content.concat());
        let ops = found.iter().filter_map(|(_, e)| match e {
            Event::Request(r) => Some((r.time, r.op, r.bytes, r.attributes.is_fua())),
            _ => None,
        });
        let want = [
            (5, HostOp::Write, 4096, false),
            (7, HostOp::Flush, 0, false),
            (7, HostOp::Write, 512, true),
            (8, HostOp::Flush, 0, false),
        ];
        assert_eq!(ops.collect::<Vec<_>>(), want);
        let asides = found.iter().map(|(_, e)| if let Event::Aside(n) = e { *n } else { 0 });
        assert_eq!(asides.sum::<u64>(), 2);
    }

    /// A record of protocol 2: the process, an action of 64 bits, and padding.
    fn record_of_8(time: u64, sector: u64, bytes: u32, action: u64, behind: u16) -> Vec<u8> {
        let seven = record(time, sector, bytes, 0, behind);
        let magic = (MAGIC | 8).to_le_bytes();
        let what = [&99u32.to_le_bytes()[..], &action.to_le_bytes(), &(259u32 << 20).to_le_bytes()].concat();
        [&magic, &seven[4..28], &what, &seven[40..48], &[0; 12], &seven[48..]].concat()
    }

    #[test]
    fn protocol_2_reads_like_protocol_1() {
        const ZEROES: u64 = 1 << 38;
        let content = [
            record_of_8(5, 8, 4096, (ISSUED | WRITE) as u64, 12),
            record_of_8(6, 8, 4096, (QUEUED | WRITE) as u64, 0),
            record_of_8(7, 16, 8192, (ISSUED | WRITE) as u64 | ZEROES, 0),
            record_of_8(8, 0, 0, ISSUED as u64 | 1 << 33, 0),
            record_of_8(9, 32, 4096, (ISSUED | WRITE | 0x100) as u64 | 1 << 31, 8),
        ];
        let ops = |content: Vec<u8>| {
            let found = events(content).into_iter().filter_map(|(_, e)| match e {
                Event::Request(r) => Some((r.time, r.op, r.offset, r.bytes, r.attributes.is_fua())),
                _ => None,
            });
            found.collect::<Vec<_>>()
        };
        let want = [
            (5, HostOp::Write, 4096, 4096, false),
            (7, HostOp::Trim, 8192, 8192, false),
            (9, HostOp::Write, 16_384, 4096, true),
        ];
        assert_eq!(ops(content.concat()), want);
        let of = |bytes: &[u8]| detect(&Sample { bytes, complete: true }, &Settings::new());
        assert!(of(&content.concat()).ok().unwrap().reason.contains("version 8"));
        let mut other = content[0].clone();
        other[0] = 9;
        assert!(of(&other).err().unwrap().reason.contains("version 9; allowed: 7, 8"));
    }

    // With its byte and length.
    #[test]
    fn damage_is_reported_once_and_reading_continues() {
        let good = record(5, 8, 4096, ISSUED, 0);
        let content = [good.clone(), vec![7; 100], good.clone(), good[..20].to_vec()].concat();
        let found = events(content);
        assert!(matches!(&found[1], (48, Event::Unusable(r)) if r.starts_with("100 bytes")));
        assert!(matches!(&found[2], (148, Event::Request(_))));
        assert!(matches!(&found[3], (196, Event::Unusable(r)) if r.contains("only 20 bytes")));
        assert_eq!(found.len(), 4);
        let found = events([good, vec![7; 300_000]].concat());
        assert!(matches!(&found[1], (48, Event::Unusable(r)) if r.starts_with("300,000 bytes")));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_big_endian_trace_reads_like_a_little_endian_one() {
        let little = record(5, 8, 4096, ISSUED | WRITE, 0);
        let mut big = Vec::new();
        let mut at = 0;
        for width in [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2] {
            big.extend(little[at..at + width].iter().rev());
            at += width;
        }
        let (Event::Request(a), Event::Request(b)) = (&events(little).remove(0).1, &events(big).remove(0).1)
        else {
            panic!()
        };
        assert_eq!(a, b);
    }
}
