//! MSR Cambridge CSV: block traces of 13 servers, 36 volumes, one week of 2007.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, columns, scaled};
use crate::reading::record::Record;
use crate::reading::units::{STATED, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Keeps, Naming, Row, Rows, Writing};
use crate::text::numbers::{leading, time};
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "msr",
    title: "MSR Cambridge CSV (Microsoft Research, 2007; SNIA IOTTA)",
    grammar: "\
Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime

Timestamp     Windows FILETIME: ticks of 100 ns since 1601-01-01 UTC
Hostname      the server; with DiskNumber it names the volume (hm.0)
Type          Read or Write
Offset, Size  bytes
ResponseTime  ticks of 100 ns; not used

No header line, though one is stepped over. The last line may lack its newline.",
    parameters: STATED,
    order: Order::Kept,
    timing: Timing::Stated { unit: "100ns", decimals: false },
    quirks: Quirks { dated: true, ..Quirks::NONE },
    extents: Extents::Bytes,
    detect,
    open: |settings, input| LineReader::open(Msr::of(settings), Volumes::default(), input),
    write: |_| Ok(Writing::new(KEEPS, Rows { title: "", row })),
    example: Example {
        options: "",
        body: Body::Lines {
            title: "",
            time: |i| (128_166_372_000_000_000 + i * 997).to_string(),
            line: |r, time| {
                let op = r.op("Read", "Write");
                format!("{time},srv,0,{op},{},{},100", r.sector * 512, r.sectors * 512)
            },
        },
    },
};

/// Nanoseconds of a FILETIME tick.
const TICK_NS: u64 = 100;

const UNITS: Units = Units::stated(TICK_NS, 1, 1);

struct Msr {
    units: Units,
    /// Whether a previous line had the response time. Then a line without it is truncated.
    timed: bool,
}

impl Msr {
    fn of(settings: &Settings) -> Msr {
        Msr { units: UNITS.with_settings(settings), timed: false }
    }
}

impl LineFormat for Msr {
    #[inline]
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        match usual(line, self.units) {
            Some((record, volume)) => {
                let volume = volumes.number_of(volume)?;
                self.timed = true;
                Ok(Parsed::Request(Record { volume, ..record }))
            }
            None => self.unusual(line, volumes),
        }
    }
}

/// A number and the comma after it. Returns the number and the rest of the line.
#[inline]
fn number_and_comma(text: &[u8]) -> Option<(u64, &[u8])> {
    let (value, length) = leading(text)?;
    (*text.get(length)? == b',').then(|| (value, &text[length + 1..]))
}

/// A well-formed line in one pass. Returns the request and the volume's name.
#[inline]
fn usual(line: &[u8], units: Units) -> Option<(Record, &[u8])> {
    let (ticks, rest) = number_and_comma(line)?;
    let host = rest.iter().position(|c| *c == b',')?;
    let disk = rest[host + 1..].iter().position(|c| *c == b',')?;
    let (volume, rest) = (&rest[..host + 1 + disk], &rest[host + disk + 2..]);
    let (op, rest) = match rest {
        [b'R' | b'r', b'e', b'a', b'd', b',', rest @ ..] => (HostOp::Read, rest),
        [b'W' | b'w', b'r', b'i', b't', b'e', b',', rest @ ..] => (HostOp::Write, rest),
        _ => return None,
    };
    let (offset, rest) = number_and_comma(rest)?;
    let (bytes, rest) = number_and_comma(rest)?;
    let (offset, bytes) = (offset.checked_mul(units.offset)?, bytes.checked_mul(units.size)?);
    if rest.contains(&b',') {
        return None;
    }
    let time = ticks.checked_mul(units.time)?;
    Some((Record { time, offset, bytes, op, attributes: Attributes::NONE, volume: 0 }, volume))
}

impl Msr {
    /// Any other line: a header, an unusual number of columns, or an error to report.
    #[cold]
    fn unusual(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        let mut commas = [0usize; 6];
        let mut found = 0;
        for at in memchr::memchr_iter(b',', line) {
            if found == 6 {
                found += 1;
                break;
            }
            commas[found] = at;
            found += 1;
        }
        // Some copies omit the response time.
        if found != 6 && (found != 5 || self.timed) {
            return Err(columns_fault(line));
        }
        let size_end = if found == 6 { commas[5] } else { line.len() };
        let time = match time(&line[..commas[0]], self.units.time) {
            Ok(t) => t,
            Err(_) if line.starts_with(b"Timestamp") => return Ok(Parsed::Header),
            Err(e) => return Err(e.of("time stamp", &line[..commas[0]])),
        };
        let op = match &line[commas[2] + 1..commas[3]] {
            b"Read" | b"read" => HostOp::Read,
            b"Write" | b"write" => HostOp::Write,
            _ => return Err("the type is neither Read nor Write".to_string()),
        };
        let offset = &line[commas[3] + 1..commas[4]];
        let offset = scaled("offset", offset, self.units.offset)?;
        let size = &line[commas[4] + 1..size_end];
        let bytes = scaled("size", size, self.units.size)?;
        let volume = volumes.number_of(&line[commas[0] + 1..commas[2]])?;
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes: Attributes::NONE, volume }))
    }
}

#[cold]
fn columns_fault(line: &[u8]) -> String {
    let n = memchr::memchr_iter(b',', line).count() + 1;
    format!("{} instead of 7", columns(n))
}

/// The response time is not known and written as 0.
const KEEPS: Keeps = Keeps { tick: TICK_NS, volumes: Naming::HostAndDisk, ..Keeps::TRANSFERS };

fn row(r: &Record, volume: &str, out: &mut Vec<u8>) {
    let (host, disk) = volume.rsplit_once('.').unwrap_or((volume, "0"));
    let op = if r.op == HostOp::Read { "Read" } else { "Write" };
    out.number(r.time / TICK_NS).text(",").text(host).text(",").text(disk).text(",").text(op).text(",");
    out.number(r.offset).text(",").number(r.bytes).text(",0");
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally = Tally::of(sample, Msr::of(told), Volumes::default()).at_least_half()?;
    let all = tally.requests == tally.lines;
    let first = sample.bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    // Some copies omit the response time.
    let columns = if memchr::memchr_iter(b',', first).count() == 5 { "six" } else { "seven" };
    Ok(Detection {
        confidence: if all { Confidence::Certain } else { Confidence::Likely },
        reason: format!(
            "{} have {columns} comma-separated columns with a FILETIME first and Read or Write fourth",
            tally.share()
        ),
        settings: told.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Record, String> {
        match Msr::of(&Settings::new()).parse(line.as_bytes(), &mut Volumes::default())? {
            Parsed::Request(r) => r.checked(),
            _ => Err("no request".into()),
        }
    }

    #[test]
    fn no_tick_of_a_filetime_is_lost() {
        let r = parse("128166386783630075,hm,0,Write,3164164096,40960,2896").unwrap();
        assert_eq!(r.time, 12_816_638_678_363_007_500);
        assert_eq!((r.offset, r.bytes, r.op), (3_164_164_096, 40_960, HostOp::Write));
    }

    #[test]
    fn a_response_time_is_missing_in_all_lines_or_in_none() {
        let (mut msr, mut v) = (Msr::of(&Settings::new()), Volumes::default());
        assert!(msr.parse(b"128166386783630075,hm,0,Write,0,4096", &mut v).is_ok());
        assert!(msr.parse(b"128166386783630075,hm,0,Write,0,4096,1", &mut v).is_ok());
        let e = msr.parse(b"128166386783630075,hm,0,Write,0,40", &mut v).err().unwrap();
        assert!(e.contains("6 columns instead of 7"), "{e}");
    }

    #[test]
    fn each_bad_field_is_named() {
        for (line, word) in [
            ("128166386783630075,hm,0,Write,3164164096", "5 columns"),
            ("x,hm,0,Write,0,4096,1", "time stamp"),
            ("1,hm,0,Erase,0,4096,1", "neither Read nor Write"),
            ("1,hm,0,Read,-1,4096,1", "offset \"-1\" is negative"),
            ("1,hm,0,Read,0,4k,1", "size \"4k\" is not a number"),
            ("1,hm,0,Read,0,0,1", "length zero"),
            ("1,hm,0,Read,9223372036854775807,512,1", "beyond 2^62"),
            ("1,hm,0,Read,0,99999999999,1", "is more than"),
            ("18446744073709551615,hm,0,Read,0,512,1", "too large"),
        ] {
            let e = parse(line).unwrap_err();
            assert!(e.contains(word), "{line}: {e}");
        }
    }
}
