//! The text output of `blkparse` for a block trace.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, columns, scaled, spaced_up_to};
use crate::reading::record::Record;
use crate::reading::rwbs::{EVENT, Flags};
use crate::reading::units::{SECOND, TIME, UNIT, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Clock, Keeps, Naming, RecordWriter, Row, Writing};
use crate::text::numbers::{time, unsigned};
use wordline_units::HostOp;

/// The format.
pub static FORMAT: Format = Format {
    name: "blkparse",
    title: "text of blkparse (Linux block trace)",
    grammar: "\
maj,min cpu seq time pid ACTION RWBS sector + sectors [process]

maj,min          the device, which is the volume (8.16)
time             seconds from the start of the trace, with nine decimals
ACTION           D sent to the device, Q queued before merging (option event); others are set aside
RWBS             R, W, D (discard), WZ (write zeroes, read as a discard), F (flush); F before W is a
                 preflush: a FLUSH, then the write; F after W is FUA; N and orders to zones (ZR, ZO, ZC,
                 ZF) are set aside; A, S, M, E and U (atomic) are not used
sector, sectors  of 512 bytes

Lines without \" + \" (plugs, messages, SCSI commands) are set aside, as is the summary at the end. CPUs
are printed in turns, so requests are sorted by time. A time of more than ten years since the start is
a clock that was not set yet when the event was logged; the line cannot be used.",
    parameters: &[EVENT, TIME, UNIT],
    order: Order::Loose,
    timing: Timing::Stated { unit: "s", decimals: true },
    quirks: Quirks::NONE,
    extents: Extents::Sectors,
    detect,
    open: |settings, input| LineReader::open(Blkparse::of(settings), Volumes::default(), input),
    write: |settings| Ok(Writing::new(KEEPS, Printer { event: Blkparse::of(settings).event, sequence: 0 })),
    example: Example {
        options: ",event=D",
        body: Body::Lines {
            title: "",
            time: |i| format!("0.{:09}", i * 1_000),
            line: |r, time| {
                let (number, op) = (r.number, r.op("R", "WS"));
                format!(
                    "  8,16   3 {number:8}     {time}  3645  D   {op} {} + {} [java]",
                    r.sector, r.sectors
                )
            },
        },
    },
};

/// Maximum length of a trace.
const LONGEST_TRACE_NS: u64 = 10 * 365 * 86_400 * 1_000_000_000;

const UNITS: Units = Units::stated(SECOND, 512, 512);

struct Blkparse {
    units: Units,
    event: u8,
    summary: bool,
}

impl Blkparse {
    fn of(settings: &Settings) -> Blkparse {
        let event = settings.get("event").and_then(|e| e.bytes().next()).unwrap_or(b'D');
        Blkparse { units: UNITS.with_settings(settings), event, summary: false }
    }
}

/// All actions of `blkparse`, and `m` for a message.
const ACTIONS: &[u8] = b"QMFGSRDCPUTIXBAm";

impl LineFormat for Blkparse {
    #[inline]
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        let mut fields: [&[u8]; 10] = [&[]; 10];
        let count = spaced_up_to(line, &mut fields);
        let [device, cpu, sequence, when, _pid, action, letters, sector, plus, sectors] = fields;
        if !is_device(device) {
            return self.not_an_event(line);
        }
        self.summary = false;
        let known = match action {
            [one] => ACTIONS.contains(one),
            _ => action == b"UT",
        };
        if count < 7 || !known {
            return Err(match count {
                ..7 => format!("{} instead of 7 or more", columns(count)),
                _ => "column 6 is not an action of blkparse, such as D or Q".to_string(),
            });
        }
        if action != [self.event] {
            return Ok(Parsed::Aside);
        }
        unsigned(cpu).map_err(|e| e.of("CPU", cpu))?;
        unsigned(sequence).map_err(|e| e.of("sequence number", sequence))?;
        let time = time(when, self.units.time).map_err(|e| e.of("time", when))?;
        if time > LONGEST_TRACE_NS {
            return Err("the time is more than ten years after the start, so the clock was not set".into());
        }
        let flags = Flags::of_letters(letters).ok_or_else(|| Flags::fault(letters))?;
        let volume = volumes.number_of(device)?;
        if plus != b"+" {
            // A flush may have no sectors. For a SCSI command, this field holds its bytes.
            let empty = count == 7 || sector.starts_with(b"[");
            return Ok(if empty { flags.request(time, 0, 0, volume) } else { Parsed::Aside });
        }
        let offset = scaled("sector", sector, self.units.offset)?;
        let bytes = scaled("number of sectors", sectors, self.units.size)?;
        Ok(flags.request(time, offset, bytes, volume))
    }
}

impl Blkparse {
    /// The summary extends from `CPU0 (sdb):` to the end.
    fn not_an_event(&mut self, line: &[u8]) -> Result<Parsed, String> {
        let line = line.trim_ascii();
        self.summary |= line.ends_with(b"):") && (line.starts_with(b"CPU") || line.starts_with(b"Total"));
        if self.summary { Ok(Parsed::Aside) } else { Err("the line does not begin with maj,min".to_string()) }
    }
}

/// Whether a field is `major,minor`.
#[inline]
fn is_device(field: &[u8]) -> bool {
    let comma = field.iter().position(|c| *c == b',');
    comma.is_some_and(|at| {
        at > 0 && at + 1 < field.len() && field.iter().enumerate().all(|(i, c)| i == at || c.is_ascii_digit())
    })
}

const KEEPS: Keeps =
    Keeps { unit: 512, clock: Clock::FromStart, volumes: Naming::MajorMinor, ..Keeps::STATED };

struct Printer {
    event: u8,
    sequence: u64,
}

impl RecordWriter for Printer {
    fn write(&mut self, r: &Record, volumes: &[String], out: &mut Vec<u8>) {
        let volume = volumes.get(r.volume as usize).map_or("", String::as_str);
        let (major, minor) = volume.split_once('.').unwrap_or(("0", volume));
        let letters = match r.op {
            HostOp::Read => "R ",
            HostOp::Write if r.attributes.is_fua() => "WFS ",
            HostOp::Write => "W ",
            HostOp::Trim => "D ",
            HostOp::Flush => "FN ",
        };
        self.sequence += 1;
        out.text("  ").text(major).text(",").text(minor).text(" 0 ").number(self.sequence).text(" ");
        out.fixed(r.time, 9).text(" 0 ");
        out.push(self.event);
        out.text(" ").text(letters);
        if r.op != HostOp::Flush {
            out.number(r.offset / 512).text(" + ").number(r.bytes / 512).text(" ");
        }
        out.text("[wordline]\n");
    }
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally_of = |event| Tally::of(sample, Blkparse { event, ..Blkparse::of(told) }, Volumes::default());
    let events: &[u8] = match told.get("event").and_then(|e| e.bytes().next()) {
        Some(b'Q') => b"Q",
        Some(_) => b"D",
        None => b"DQ",
    };
    let mut tallies = events.iter().map(|e| (*e, tally_of(*e)));
    let (event, tally) = match tallies.next() {
        Some((e, t)) if t.requests > 0 => (e, t),
        first => tallies.next().or(first).ok_or(Miss::new(0, ""))?,
    };
    let tally = tally.at_least_half()?;
    let name = char::from(event);
    let what = format!("with the event {name} have maj,min first, a time in seconds and an operation");
    let mut detection = tally.found(Confidence::Certain, "", &what).with(told);
    detection.settings.insert("event", name.to_string());
    Ok(detection)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str, event: u8) -> Result<Parsed, String> {
        Blkparse { event, ..Blkparse::of(&Settings::new()) }.parse(line.as_bytes(), &mut Volumes::default())
    }

    #[test]
    fn chosen_event_is_the_request_and_others_are_skipped() {
        let line = "  8,16   3        5     0.000026421  3645  D   R 4938888 + 256 [java]";
        let Ok(Parsed::Request(r)) = parse(line, b'D') else { panic!() };
        assert_eq!((r.time, r.offset, r.bytes, r.op), (26_421, 4_938_888 * 512, 131_072, HostOp::Read));
        for aside in [
            line,
            "  8,0    1       10     0.1     99  P   N [kworker]",
            "  8,0    1       10     0.1     99 UT   N [kworker] 3",
            "  8,0    1       10     0.1     99  C  WS 123 + 8 [0]",
            "  8,0    1       10     0.1     99  A   W 123 + 8 <- (8,1) 60",
            "  8,0    1       10     0.1     99  m   N cfq1 schedule dispatch",
        ] {
            assert!(matches!(parse(aside, b'Q'), Ok(Parsed::Aside)), "{aside}");
        }
        let scsi = "  8,0    1       10     0.1     99  D   R 36 (12 00 00 00 24 00) [smartd]";
        assert!(matches!(parse(scsi, b'D'), Ok(Parsed::Aside)));
        let flush = "  8,0    1       10     0.1     99  D  FN [swapper/0]";
        assert!(matches!(parse(flush, b'D'), Ok(Parsed::Request(r)) if r.op == HostOp::Flush));
        let commit = "  8,0    1       10     0.1     99  Q FWFSM 123 + 8 [jbd2/sda1-8]";
        assert!(
            matches!(parse(commit, b'Q'), Ok(Parsed::AfterFlush(r)) if r.attributes.is_fua() && r.bytes == 4096)
        );
    }

    #[test]
    fn summary_is_skipped_and_foreign_lines_are_named() {
        let mut reader = Blkparse::of(&Settings::new());
        let mut v = Volumes::default();
        assert!(reader.parse(b" Reads Queued:  0", &mut v).is_err());
        assert!(matches!(reader.parse(b"CPU0 (8,16):", &mut v), Ok(Parsed::Aside)));
        assert!(matches!(reader.parse(b" Reads Queued:  0", &mut v), Ok(Parsed::Aside)));
        for (line, word) in [
            ("8,16 3 5 0.1 1 Z R 8 + 8 [x]", "column 6 is not an action of blkparse"),
            ("8,16 3 5 0.1", "4 columns instead of 7 or more"),
            ("8,16 3 5 0.1 1 D R", ""),
            ("8,16 c 5 0.1 1 D R 8 + 8 [x]", "CPU"),
            ("8,16 3 5 1266874889.7 1 D R 8 + 8 [x]", "more than ten years"),
            ("8,16 3 5 0.1 1 D Q 8 + 8 [x]", "unknown operation letters \""),
            ("8,16 3 5 0.1 1 D R 8x + 8 [x]", "sector"),
            ("8,16 3 5 0.1 1 D R 8 + 99999999999999999999 [x]", "too large"),
            ("816 3 5 0.1 1 D R 8 + 8 [x]", "maj,min"),
        ] {
            match parse(line, b'D') {
                Err(e) => assert!(e.contains(word), "{line}: {e}"),
                Ok(Parsed::Request(r)) => assert!(word.is_empty() && r.checked().is_err(), "{line}"),
                Ok(_) => panic!("{line}"),
            }
        }
    }
}
