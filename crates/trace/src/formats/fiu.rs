//! FIU IODedup and SyLab traces: requests of servers with the hash of each block. Copies often are the
//! beginning of a tar archive, whose header then precedes the first record.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, scaled};
use crate::reading::record::Record;
use crate::reading::units::{STATED, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Keeps, Naming, Row, Rows, Writing};
use crate::text::numbers::time;
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "fiu",
    title: "FIU IODedup and SyLab (homes, mail, web-vm)",
    grammar: "\
ts pid process lba size op major minor md5          (spaces between)

ts            nanoseconds
pid, process  who asked; not used. A name may itself hold spaces, but no number
lba, size     512-byte sectors
op            R read, W write
major, minor  the device, which is the volume (6.0)
md5           of the content; not used

The header of a tar archive before the first record, and its padding after the last, are set aside.",
    parameters: STATED,
    order: Order::Kept,
    timing: Timing::Stated { unit: "ns", decimals: false },
    quirks: Quirks::NONE,
    extents: Extents::Sectors,
    detect,
    open: |settings, input| LineReader::open(Fiu::of(settings), Volumes::default(), input),
    write: |_| Ok(Writing::new(KEEPS, Rows { title: "", row })),
    example: Example {
        options: "",
        body: Body::Lines {
            title: "",
            time: |i| (89_966_522_969_723 + i * 1_000).to_string(),
            line: |r, time| {
                let op = r.op("R", "W");
                format!(
                    "{time} 4253 nfsd {} {} {op} 6 0 d6c75ba46e82326fefa545b57a12e221",
                    r.sector, r.sectors
                )
            },
        },
    },
};

const UNITS: Units = Units::stated(1, 512, 512);

struct Fiu {
    units: Units,
    /// Whether the first record has been read, so that no archive header can follow.
    begun: bool,
}

impl Fiu {
    fn of(settings: &Settings) -> Fiu {
        Fiu { units: UNITS.with_settings(settings), begun: false }
    }
}

impl LineFormat for Fiu {
    #[inline]
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        let line = match memchr::memrchr(0, line) {
            None => line,
            Some(_) if line.iter().all(|c| *c == 0) => return Ok(Parsed::Aside),
            Some(_) if self.begun => return Err("the line contains NUL bytes".to_string()),
            Some(at) => match &line[at + 1..] {
                [] => return Ok(Parsed::Aside),
                rest => rest,
            },
        };
        if !self.begun && is_pax(line) {
            return Ok(Parsed::Aside);
        }
        let ([lba, size, op, device], left) = last_fields(line).ok_or("fewer than 9 columns")?;
        let mut words = left.split(|c| *c == b' ');
        let when = words.next().unwrap_or_default();
        // A process name may contain spaces. A number in it is more likely a split column.
        if words.skip(2).any(|w| w.iter().all(u8::is_ascii_digit)) {
            return Err("a number in the name of the process".to_string());
        }
        let time = time(when, self.units.time).map_err(|e| e.of("time stamp", when))?;
        let offset = scaled("address", lba, self.units.offset)?;
        let bytes = scaled("size", size, self.units.size)?;
        let op = match op {
            b"R" => HostOp::Read,
            b"W" => HostOp::Write,
            _ => return Err("the op is neither R nor W".to_string()),
        };
        if !device.iter().all(|c| c.is_ascii_digit() || *c == b' ') {
            return Err("the device is not two numbers".to_string());
        }
        let volume = volumes.number_of(device)?;
        self.begun = true;
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes: Attributes::NONE, volume }))
    }
}

/// A record of a pax header, such as `28 ctime=1410563671.7201132`.
fn is_pax(line: &[u8]) -> bool {
    let digits = line.iter().take_while(|c| c.is_ascii_digit()).count();
    let name = line.get(digits..).and_then(|rest| rest.strip_prefix(b" "));
    let name = name.filter(|n| digits > 0 && n.first().is_some_and(u8::is_ascii_lowercase));
    name.is_some_and(|n| {
        let word = n.iter().take_while(|c| c.is_ascii_lowercase() || **c == b'.').count();
        n.get(word) == Some(&b'=')
    })
}

/// Address, size, op and `major minor`, from the end of the line, and what precedes them.
#[inline]
fn last_fields(line: &[u8]) -> Option<([&[u8]; 4], &[u8])> {
    let mut spaces = [0; 6];
    let mut found = 0;
    for at in (0..line.len()).rev().filter(|at| line[*at] == b' ') {
        spaces[found] = at;
        found += 1;
        if found == 6 {
            break;
        }
    }
    // ts, pid and process precede the sixth space from the end.
    let left = &line[..spaces[5]];
    if found < 6 || left.iter().filter(|c| **c == b' ').count() < 2 {
        return None;
    }
    let between = |a: usize, b: usize| &line[spaces[a] + 1..spaces[b]];
    Some(([between(5, 4), between(4, 3), between(3, 2), between(2, 0)], left))
}

const KEEPS: Keeps = Keeps { unit: 512, volumes: Naming::MajorMinor, ..Keeps::TRANSFERS };

/// Process and data are not known: process 0, and the hash of no data.
fn row(r: &Record, volume: &str, out: &mut Vec<u8>) {
    let (major, minor) = volume.split_once('.').unwrap_or(("0", volume));
    let op = if r.op == HostOp::Read { " R " } else { " W " };
    out.number(r.time).text(" 0 wordline ").number(r.offset / 512).text(" ").number(r.bytes / 512).text(op);
    out.text(major).text(" ").text(minor).text(" d41d8cd98f00b204e9800998ecf8427e");
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally = Tally::of(sample, Fiu::of(told), Volumes::default()).at_least_half()?;
    let what = "have nine columns: sectors fourth and fifth, R or W sixth, a device and a hash after it";
    Ok(tally.found(Confidence::Certain, "", what).with(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[u8]) -> Result<Record, String> {
        match Fiu::of(&Settings::new()).parse(line, &mut Volumes::default())? {
            Parsed::Request(r) => r.checked(),
            _ => Err("aside".into()),
        }
    }

    // A name may hold spaces.
    #[test]
    fn record_is_found_behind_a_tar_header() {
        let plain = b"89966522969723 4270 rpc.mountd 18579576 8 W 6 0 d6c75ba46e82326fefa545b57a12e221";
        let want = Record {
            time: 89_966_522_969_723,
            offset: 18_579_576 * 512,
            bytes: 4096,
            op: HostOp::Write,
            attributes: Attributes::NONE,
            volume: 0,
        };
        assert_eq!(parse(plain), Ok(want));
        assert_eq!(parse(&[b"ustar\0\0\0".as_slice(), plain].concat()), Ok(want));
        let spaced = b"89966522969723 4270 my mail (2) 18579576 8 W 6 0 d6c75ba46e82326fefa545b57a12e221";
        assert_eq!(parse(spaced), Ok(want));
        for remains in [&b"28 ctime=1410563671.7201132"[..], b"x\0\0\x0030 atime=1.5", b"\0\0\0\0"] {
            assert_eq!(parse(remains), Err("aside".to_string()));
        }
    }

    #[test]
    fn each_bad_field_is_named() {
        for (line, word) in [
            ("1 2 p 3 8 W 6 0", "fewer than 9"),
            ("x 2 p 3 8 W 6 0 h", "time stamp"),
            ("1 2 p -3 8 W 6 0 h", "negative"),
            ("1 2 p 3 8 X 6 0 h", "neither R nor W"),
            ("1 2 p 3 8 W a 0 h", "device"),
            ("1 2 p 508 516672 8 W 6 0 h", "name of the process"),
            ("1 2 p 36028797018963968 8 W 6 0 h", "too large"),
        ] {
            let e = parse(line.as_bytes()).unwrap_err();
            assert!(e.contains(word), "{line}: {e}");
        }
    }
}
