//! fio's I/O logs, versions 2 and 3, as `write_iolog` writes and `read_iolog` reads them.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, scaled, spaced_up_to};
use crate::reading::record::Record;
use crate::reading::units::{STATED, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Clock, Keeps, RecordWriter, Row, Writing};
use crate::text::numbers::unsigned;
use crate::text::parameter::choice;
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "fio-iolog",
    title: "fio I/O log, version 2 or 3",
    grammar: "\
fio version 2 iolog                       fio version 3 iolog

file add|open|close                       us file add|open|close
file action offset length                 us file action offset length

action          read, write, trim; sync and datasync are a FLUSH; wait (version 2 only), with a number in the
                column of offset: what follows comes so many milliseconds after fio's start, as fio 3.33
                replays it. wait=between reads it as fio's manual has it: so many microseconds pass
us              microseconds from the start (version 3)
offset, length  bytes
file            its name; each file is a volume

A log of version 2 without waits has no times: all requests arrive at time 0. closed=QD replays it at
the pace of the drive.",
    parameters: &[
        STATED[0],
        STATED[1],
        choice(
            "wait",
            "since-start",
            "since-start, between",
            &["since-start", "between"],
            "for version 2: milliseconds since the start of fio, as fio replays it; or microseconds \
             between requests, as its manual says",
        ),
    ],
    order: Order::Kept,
    timing: Timing::Stated { unit: "us", decimals: false },
    quirks: Quirks { may_lack_clock: |_| true, endings: &["iolog"], ..Quirks::NONE },
    extents: Extents::Bytes,
    detect,
    open: |settings, input| LineReader::open(Fio::of(settings), Volumes::default(), input),
    write: |_| Ok(Writing::new(KEEPS, Log)),
    example: Example {
        options: "",
        body: Body::Lines {
            title: "fio version 3 iolog\n0 /dev/sdb add\n0 /dev/sdb open\n",
            time: |i| (i * 10).to_string(),
            line: |r, time| {
                let op = r.op("read", "write");
                format!("{time} /dev/sdb {op} {} {}", r.sector * 512, r.sectors * 512)
            },
        },
    },
};

/// Default units of a log.
const UNITS: Units = Units::stated(1_000, 1, 1);

struct Fio {
    units: Units,
    version: Version,
    /// Whether a wait counts from the previous request instead of the start of the log.
    between: bool,
    /// When the next request is due according to the waits, in nanoseconds.
    waited: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Unknown,
    Two,
    Three,
}

impl Fio {
    fn of(settings: &Settings) -> Fio {
        let between = settings.get("wait").is_some_and(|w| w == "between");
        Fio { units: UNITS.with_settings(settings), version: Version::Unknown, between, waited: 0 }
    }
}

impl LineFormat for Fio {
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        if self.version == Version::Unknown {
            self.version = version(line)?;
            return Ok(Parsed::Header);
        }
        let mut fields: [&[u8]; 5] = [&[]; 5];
        let count = spaced_up_to(line, &mut fields);
        let (when, fields, count) = match self.version {
            Version::Three => (fields[0], &fields[1..], count.saturating_sub(1)),
            _ => (&[][..], &fields[..4], count),
        };
        let [file, action, offset, length] = fields else { return Err("too few columns".into()) };
        let time = match self.version {
            Version::Three => {
                crate::text::numbers::time(when, self.units.time).map_err(|e| e.of("time", when))?
            }
            _ => self.waited,
        };
        match (count, *action) {
            (2, b"add" | b"open" | b"close") => return Ok(Parsed::Aside),
            (2 | 4, b"sync" | b"datasync") => {
                let volume = volumes.number_of(file)?;
                let record = Record {
                    time,
                    offset: 0,
                    bytes: 0,
                    op: HostOp::Flush,
                    attributes: Attributes::NONE,
                    volume,
                };
                return Ok(Parsed::Request(record));
            }
            (3 | 4, b"wait") if self.version == Version::Two => {
                let count = unsigned(offset).map_err(|e| e.of("wait", offset))?;
                let since = if self.between { self.waited } else { 0 };
                let until = count.checked_mul(self.units.time).and_then(|ns| since.checked_add(ns));
                // A wait that has already passed delays nothing.
                self.waited = until.ok_or("the wait is longer than 584 years")?.max(self.waited);
                return Ok(Parsed::Aside);
            }
            (_, b"wait") => return Err("version 3 does not support wait".to_string()),
            (4, _) => {}
            (n, _) => return Err(format!("{n} columns for a file action or a request")),
        }
        let op = match *action {
            b"read" => HostOp::Read,
            b"write" => HostOp::Write,
            b"trim" => HostOp::Trim,
            _ => return Err("the action is not read, write, trim, sync, datasync or wait".to_string()),
        };
        let offset = scaled("offset", offset, self.units.offset)?;
        let bytes = scaled("length", length, self.units.size)?;
        let volume = volumes.number_of(file)?;
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes: Attributes::NONE, volume }))
    }
}

fn version(line: &[u8]) -> Result<Version, String> {
    match line.trim_ascii() {
        b"fio version 2 iolog" => Ok(Version::Two),
        b"fio version 3 iolog" => Ok(Version::Three),
        other if other.starts_with(b"fio version ") => Err("unsupported version; allowed: 2, 3".to_string()),
        _ => Err("the first line is not \"fio version 2 iolog\" or \"fio version 3 iolog\"".to_string()),
    }
}

const KEEPS: Keeps = Keeps { fua: false, tick: 1_000, clock: Clock::FromStart, ..Keeps::STATED };

/// Writes a log of version 3.
struct Log;

impl RecordWriter for Log {
    fn begin(&mut self, volumes: &[String], out: &mut Vec<u8>) {
        out.text("fio version 3 iolog\n");
        for action in [" add\n", " open\n"] {
            for volume in volumes {
                out.text("0 ").text(volume).text(action);
            }
        }
    }

    fn write(&mut self, r: &Record, volumes: &[String], out: &mut Vec<u8>) {
        let volume = volumes.get(r.volume as usize).map_or("", String::as_str);
        let action = match r.op {
            HostOp::Read => " read ",
            HostOp::Write => " write ",
            HostOp::Trim => " trim ",
            HostOp::Flush => " sync ",
        };
        out.number(r.time / 1_000).text(" ").text(volume).text(action);
        out.number(r.offset).text(" ").number(r.bytes).text("\n");
    }
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let first = sample.lines().next().unwrap_or_default();
    let fits = if first.starts_with(b"fio version ") { 500 } else { 0 };
    version(first).map_err(|reason| Miss::new(fits, format!("line 1: {reason}")))?;
    let mut settings = told.clone();
    let waits = sample.lines().any(|l| l.split(|c| *c == b' ').nth(1) == Some(b"wait"));
    let mut what = "are requests".to_string();
    if version(first) == Ok(Version::Two) && waits {
        let between = told.get("wait").is_some_and(|w| w == "between");
        let unit = settings.entry("time").or_insert_with(|| if between { "us" } else { "ms" }.to_string());
        what += &match between {
            true => format!("; waits are in {unit} between requests, as set by wait="),
            false => format!(
                "; waits are in {unit} since fio's start, as fio 3.33 replays them (its manual says us \
                 between requests, which is wait=between); the first request is assumed to arrive at that \
                 start"
            ),
        };
    }
    let tally = Tally::of(sample, Fio::of(&settings), Volumes::default());
    let title = String::from_utf8_lossy(first.trim_ascii()).into_owned();
    Ok(tally.found(Confidence::Certain, &title, &what).with(&settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time, op, offset, bytes, volume.
    type Seen = (u64, HostOp, u64, u64, u16);

    fn requests(text: &str) -> Vec<Result<Seen, String>> {
        requests_with(text, &Settings::new())
    }

    fn requests_with(text: &str, settings: &Settings) -> Vec<Result<Seen, String>> {
        let (mut fio, mut volumes) = (Fio::of(settings), Volumes::default());
        let parsed = text.lines().map(|l| fio.parse(l.as_bytes(), &mut volumes));
        parsed
            .filter_map(|p| match p {
                Ok(Parsed::Request(r)) => Some(Ok((r.time, r.op, r.offset, r.bytes, r.volume))),
                Ok(_) => None,
                Err(e) => Some(Err(e)),
            })
            .collect()
    }

    /// The behavior of fio 3.33, measured with fio itself: a wait ends this many milliseconds after the start
    /// of the log, and a wait that has already passed delays nothing.
    #[test]
    fn waits_count_from_the_start_and_files_are_volumes() {
        let log = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 4096 512\n/dev/a wait 200 0\n\
                   /dev/b read 0 1024\n/dev/a wait 400 0\n/dev/a sync 0 0\n/dev/a wait 300 0\n\
                   /dev/a trim 0 4096\n/dev/a close\n";
        let at = |ms: [u64; 4]| {
            [
                Ok((ms[0], HostOp::Write, 4096, 512, 0)),
                Ok((ms[1], HostOp::Read, 0, 1024, 1)),
                Ok((ms[2], HostOp::Flush, 0, 0, 0)),
                Ok((ms[3], HostOp::Trim, 0, 4096, 0)),
            ]
        };
        let read = |told: &[(&'static str, &str)]| {
            let sample = Sample { bytes: log.as_bytes(), complete: true };
            let told = told.iter().map(|(k, v)| (*k, v.to_string())).collect();
            let found = detect(&sample, &told).ok().unwrap();
            (requests_with(log, &found.settings), found.reason)
        };
        let (seen, reason) = read(&[]);
        assert_eq!(seen, at([0, 200_000_000, 400_000_000, 400_000_000]));
        assert!(reason.contains("since fio's start") && reason.contains("wait=between"), "{reason}");
        assert_eq!(read(&[("wait", "between")]).0, at([0, 200_000, 600_000, 900_000]));
    }

    #[test]
    fn version_three_states_the_time_of_each_action() {
        let log = "fio version 3 iolog\n0 /dev/a add\n7 /dev/a write 4096 512\n9 /dev/a datasync 0 0\n";
        assert_eq!(
            requests(log),
            [Ok((7_000, HostOp::Write, 4096, 512, 0)), Ok((9_000, HostOp::Flush, 0, 0, 0))]
        );
    }

    #[test]
    fn each_fault_is_named() {
        for (log, word) in [
            ("fio version 4 iolog", "allowed: 2, 3"),
            ("/dev/a add", "first line"),
            ("fio version 2 iolog\n/dev/a write 1", "3 columns"),
            ("fio version 2 iolog\n/dev/a erase 1 2", "is not read, write"),
            ("fio version 2 iolog\n/dev/a write x 2", "offset"),
            ("fio version 2 iolog\n/dev/a wait 999999999999999999 0", "584 years"),
            ("fio version 3 iolog\n1 /dev/a wait 5 0", "does not support wait"),
            ("fio version 3 iolog\nx /dev/a read 5 9", "time"),
        ] {
            let e = requests(log).remove(0).unwrap_err();
            assert!(e.contains(word), "{log}: {e}");
        }
    }
}
