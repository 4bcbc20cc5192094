//! The block events of ftrace, as `trace_pipe`, `trace-cmd report` and `perf script` print them.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, scaled, spaced_up_to};
use crate::reading::record::Record;
use crate::reading::rwbs::Flags;
use crate::reading::units::{SECOND, TIME, UNIT, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::read_only;
use crate::text::numbers::{hexadecimal, time, unsigned};
use crate::text::parameter::choice;
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "ftrace",
    title: "block and NVMe events of ftrace: trace_pipe, trace-cmd report, perf script",
    grammar: "\
task-pid [cpu] flags time: block_rq_issue: maj,min RWBS bytes (command) sector + sectors ... [process]
task-pid [cpu] flags time: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=2, ... cmd=(nvme_cmd_write slba=8, len=7, ctrl=0x0, ...)

time             seconds, with decimals
block_rq_issue   sent to the device; block_bio_queue: queued before merging; nvme_setup_cmd: the NVMe
                 commands (option event). Other events are set aside
maj,min, disk    the device, which is the volume (8.16)
RWBS             R, W, D (discard), WZ (write zeroes, read as a discard), F (flush); F before W is a
                 preflush, F after W is FUA; N and orders to zones are set aside; U is an atomic write
sector, sectors  of 512 bytes
slba, len        blocks of the namespace, 512 bytes by default (unit=4KiB); len counts from 0. Bit 14 of
                 ctrl is FUA. A DSM event has no ranges and cannot be used

Record with: trace-cmd record -e block:block_rq_issue, and print with trace-cmd report; or read trace_pipe.
perf script prints block:block_rq_issue. CPUs are printed in turns, so requests are sorted by time.",
    parameters: &[
        choice(
            "event",
            "the first one that occurs",
            "D, Q, N",
            &["D", "Q", "N"],
            "D: block_rq_issue, when issued to the device; Q: block_bio_queue, before merging; N: \
             nvme_setup_cmd",
        ),
        TIME,
        UNIT,
    ],
    order: Order::Loose,
    timing: Timing::Stated { unit: "s", decimals: true },
    quirks: Quirks::NONE,
    extents: Extents::Sectors,
    detect,
    open: |settings, input| LineReader::open(Ftrace::of(settings), Volumes::default(), input),
    write: |_| {
        read_only(
            "ftrace is read-only; blkparse keeps the same information",
            "blkparse or another format",
        )
    },
    example: Example {
        options: ",event=D",
        body: Body::Lines {
            title: "",
            time: |i| format!("7.{:09}", i * 1_000),
            line: |r, time| {
            let (op, bytes) = (r.op("R", "WS"), r.sectors * 512);
            let event = format!("block_rq_issue: 8,16 {op} {bytes} () {} + {} none,0,0 [java]", r.sector, r.sectors);
            format!("  java-3645  [003] d..1. {time}: {event}")
            },
        },
    },
};

const UNITS: Units = Units::stated(SECOND, 512, 512);

struct Ftrace {
    units: Units,
    event: &'static [u8],
}

const ISSUE: &[u8] = b"block_rq_issue";
const QUEUE: &[u8] = b"block_bio_queue";
const NVME: &[u8] = b"nvme_setup_cmd";

/// The events that can be read, by the words of their option.
const EVENTS: [(&str, &[u8]); 3] = [("D", ISSUE), ("Q", QUEUE), ("N", NVME)];

impl Ftrace {
    fn of(settings: &Settings) -> Ftrace {
        let told = settings.get("event");
        let event = EVENTS.iter().find(|(word, _)| told.is_some_and(|t| t == word)).map_or(ISSUE, |e| e.1);
        Ftrace { units: UNITS.with_settings(settings), event }
    }
}

/// Whether a word is a time and a colon: `12345.678901:`.
fn is_time(word: &[u8]) -> bool {
    let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let Some(number) = word.strip_suffix(b":") else { return false };
    number
        .iter()
        .position(|c| *c == b'.')
        .is_some_and(|at| digits(&number[..at]) && digits(&number[at + 1..]))
}

/// The time, the event's name and its fields. The name of a task may contain any words.
fn parts(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut at = 0;
    while at < line.len() {
        let start = at + line[at..].iter().position(|c| *c != b' ' && *c != b'\t')?;
        let end =
            line[start..].iter().position(|c| *c == b' ' || *c == b'\t').map_or(line.len(), |n| start + n);
        if is_time(&line[start..end]) {
            let rest = line[end..].trim_ascii_start();
            let stop = rest.iter().position(|c| *c == b' ' || *c == b'\t').unwrap_or(rest.len());
            // perf script: `time: block:block_rq_issue: ...`.
            let name = rest[..stop].strip_suffix(b":")?;
            let name = &name[name.iter().rposition(|c| *c == b':').map_or(0, |at| at + 1)..];
            return Some((&line[start..end - 1], name, &rest[stop..]));
        }
        at = end;
    }
    None
}

/// The number after `key=` in the fields of an NVMe command.
fn number_of(fields: &[u8], key: &[u8]) -> Option<u64> {
    let at = memchr::memmem::find(fields, key)? + key.len();
    let text = &fields[at..];
    let end = text.iter().position(|c| matches!(c, b',' | b')' | b' ')).unwrap_or(text.len());
    let text = &text[..end];
    if text.starts_with(b"0x") { hexadecimal(text).ok() } else { unsigned(text).ok() }
}

impl Ftrace {
    /// `nvme0: disk=nvme0n1, qid=1, cmdid=5, nsid=1, ..., cmd=(nvme_cmd_read slba=0, len=7, ctrl=0x0, ...)`
    fn nvme(&self, time: u64, fields: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        const FUA: u64 = 1 << 14;
        if number_of(fields, b"qid=") == Some(0) {
            // Admin commands transfer no data.
            return Ok(Parsed::Aside);
        }
        let at = memchr::memmem::find(fields, b"cmd=(").ok_or("cmd=( is missing")? + 5;
        let command = &fields[at..];
        let end = command.iter().position(|c| matches!(c, b' ' | b')')).unwrap_or(command.len());
        let (name, arguments) = command.split_at(end);
        let op = match name {
            b"nvme_cmd_read" => HostOp::Read,
            b"nvme_cmd_write" => HostOp::Write,
            b"nvme_cmd_write_zeroes" => HostOp::Trim,
            b"nvme_cmd_flush" => HostOp::Flush,
            b"nvme_cmd_dsm" => return Err("the event of a DSM command lacks its ranges".to_string()),
            _ => return Ok(Parsed::Aside),
        };
        let disk = memchr::memmem::find(fields, b"disk=").map(|at| &fields[at + 5..]).unwrap_or(fields);
        let disk = disk.trim_ascii_start();
        let disk = &disk[..disk.iter().position(|c| matches!(c, b',' | b':')).unwrap_or(disk.len())];
        let volume = volumes.number_of(disk)?;
        let attributes = Attributes::NONE;
        if op == HostOp::Flush {
            return Ok(Parsed::Request(Record { time, offset: 0, bytes: 0, op, attributes, volume }));
        }
        let first = number_of(arguments, b"slba=").ok_or("the command has no slba=")?;
        let blocks = number_of(arguments, b"len=").ok_or("the command has no len=")? + 1;
        let scaled =
            |n: u64, unit: u64| n.checked_mul(unit).ok_or_else(|| format!("the slba {first} is too large"));
        let (offset, bytes) = (scaled(first, self.units.offset)?, scaled(blocks, self.units.size)?);
        let fua = op == HostOp::Write && number_of(arguments, b"ctrl=").is_some_and(|c| c & FUA != 0);
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes: attributes.with_fua(fua), volume }))
    }
}

impl LineFormat for Ftrace {
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        let text = line.trim_ascii_start();
        if text.starts_with(b"#") || text.starts_with(b"cpus=") || text.starts_with(b"version =") {
            return Ok(Parsed::Aside);
        }
        if text.starts_with(b"CPU") && text.ends_with(b"EVENTS]") {
            return Ok(Parsed::Aside);
        }
        let (when, name, fields) = parts(line).ok_or("no time followed by an event found")?;
        let time = time(when, self.units.time).map_err(|e| e.of("time", when))?;
        if name != self.event {
            return Ok(Parsed::Aside);
        }
        if name == NVME {
            return self.nvme(time, fields, volumes);
        }
        let mut words: [&[u8]; 2] = [&[]; 2];
        spaced_up_to(fields, &mut words);
        let [device, letters] = words;
        let flags = Flags::of_letters(letters).ok_or_else(|| Flags::fault(letters))?;
        if !device.contains(&b',') || !device.iter().all(|c| c.is_ascii_digit() || *c == b',') {
            return Err("the device is not maj,min".to_string());
        }
        if flags.op.is_none() && !flags.preflush {
            // A command of the driver or of a zone has no address.
            return Ok(Parsed::Aside);
        }
        let volume = volumes.number_of(device)?;
        let plus = memchr::memmem::find(fields, b" + ").ok_or("sector + sectors is missing")?;
        let sector = &fields[..plus];
        let sector = &sector[sector.iter().rposition(|c| *c == b' ').map_or(0, |at| at + 1)..];
        let count = fields[plus + 3..].split(|c| *c == b' ').next().unwrap_or_default();
        // A flush without data has no address.
        if matches!(count, b"0") {
            return Ok(flags.request(time, 0, 0, volume));
        }
        let offset = scaled("sector", sector, self.units.offset)?;
        let bytes = scaled("number of sectors", count, self.units.size)?;
        Ok(flags.request(time, offset, bytes, volume))
    }
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally_of = |event| Tally::of(sample, Ftrace { event, ..Ftrace::of(told) }, Volumes::default());
    let told_event = told.get("event");
    let mut candidates = EVENTS.iter().filter(|(word, _)| told_event.is_none_or(|t| t == word));
    let first = candidates.next().ok_or_else(|| Miss::new(0, "unknown event"))?;
    let (mut found, mut tally) = (first, tally_of(first.1));
    for event in candidates {
        if tally.requests > 0 {
            break;
        }
        let other = tally_of(event.1);
        if other.requests > 0 {
            (found, tally) = (event, other);
        }
    }
    let name = String::from_utf8_lossy(found.1);
    let what = match found.1 {
        NVME => "are a time and nvme_setup_cmd with slba and len, taken as blocks of 512 bytes unless unit=4KiB says otherwise".to_string(),
        _ => format!("are a time and {name} with a device and sectors"),
    };
    let sure = if found.1 == NVME { Confidence::Likely } else { Confidence::Certain };
    let mut detection = tally.at_least_half()?.found(sure, "", &what).with(told);
    detection.settings.entry("event").or_insert_with(|| found.0.to_string());
    Ok(detection)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Parsed, String> {
        Ftrace::of(&Settings::new()).parse(line.as_bytes(), &mut Volumes::default())
    }

    #[test]
    fn the_three_tools_print_the_same_request() {
        for line in [
            "             fio-4211    [002] d..1. 12345.678901: block_rq_issue: 259,0 WS 4096 () 123456 + 8 none,0,0 [fio]",
            "             fio-4211  [002] 12345.678901: block_rq_issue:       259,0 WS 4096 () 123456 + 8 [fio]",
            "fio  4211 [002] 12345.678901: block:block_rq_issue: 259,0 WS 4096 () 123456 + 8 [fio]",
        ] {
            let Ok(Parsed::Request(r)) = parse(line) else { panic!("{line}") };
            assert_eq!(
                (r.time, r.offset, r.bytes, r.op),
                (12_345_678_901_000, 123_456 * 512, 4096, HostOp::Write)
            );
        }
        let flush =
            "kworker/0:1H-88 [000] d..1. 5.000001: block_rq_issue: 259,0 FF 0 () 0 + 0 [kworker/0:1H]";
        assert!(matches!(parse(flush), Ok(Parsed::Request(r)) if r.op == HostOp::Flush));
    }

    #[test]
    fn new_letters_are_read_among_other_events() {
        let log = "\
# tracer: nop
   xfs io-42 [009] .....  4143.325110: block_bio_queue: 259,0 WFSU 768 + 32 [xfs_io]
   xfs io-42 [009] .....  4143.325220: block_rq_issue: 259,0 WFSU 16384 () 768 + 32 none,0,0 [xfs io]
   <idle>-0 [009] .....  4143.325330: block_rq_complete: 259,0 WFSU () 768 + 32 none,0,0 [0]
   kworker/20:1H-736 [009] .....  4143.325440: block_rq_issue: 259,0 WZS 40960 () 81920 + 80 be,0,4 [k]
   kworker/20:1H-736 [009] .....  4143.325450: block_rq_issue: 259,0 N 0 () 18446744073709551615 + 8 [k]
   bash-9 [000] d....  4143.325460: sched_switch: prev_comm=bash prev_pid=9 ==> next_comm=fio\n";
        let (mut reader, mut volumes) = (Ftrace::of(&Settings::new()), Volumes::default());
        let asked: Vec<_> = (log.lines().filter_map(|l| reader.parse(l.as_bytes(), &mut volumes).ok()))
            .filter_map(|p| {
                if let Parsed::Request(r) = p { Some((r.op, r.bytes, r.attributes.is_fua())) } else { None }
            })
            .collect();
        assert_eq!(asked, [(HostOp::Write, 16_384, true), (HostOp::Trim, 40_960, false)]);
        let found = detect(&Sample { bytes: log.as_bytes(), complete: true }, &Settings::new()).ok().unwrap();
        assert_eq!((found.confidence, found.settings["event"].as_str()), (Confidence::Certain, "D"));
    }

    #[test]
    fn commands_of_nvme_alone_are_read() {
        let event = |command: &str| {
            format!(
                "fio-1 [002] d..1. 7.000010: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=2, cmdid=12, nsid=1, flags=0x0, meta=0x0, cmd=({command})\n"
            )
        };
        let log = [
            event("nvme_cmd_write slba=4096, len=7, ctrl=0x4000, dsmgmt=0, reftag=0"),
            event("nvme_cmd_read slba=8, len=0, ctrl=0x0, dsmgmt=0, reftag=0"),
            event("nvme_cmd_write_zeroes slba=16, len=15, ctrl=0x0, dsmgmt=0, reftag=0"),
            event("nvme_cmd_flush nsid=1"),
            event("nvme_cmd_write slba=1, len=7, ctrl=0x0").replace("qid=2", "qid=0"),
            event("nvme_cmd_dsm nr=0, attributes=4"),
        ];
        let found = detect(&Sample { bytes: log.concat().as_bytes(), complete: true }, &Settings::new())
            .ok()
            .unwrap();
        assert_eq!((found.confidence, found.settings["event"].as_str()), (Confidence::Likely, "N"));
        assert!(found.reason.contains("unit=4KiB"), "{}", found.reason);
        let (mut reader, mut volumes) = (Ftrace::of(&found.settings), Volumes::default());
        let mut read = |line: &str| match reader.parse(line.trim_end().as_bytes(), &mut volumes) {
            Ok(Parsed::Request(r)) => Ok((r.op, r.offset, r.bytes, r.attributes.is_fua())),
            Ok(_) => Err("aside".to_string()),
            Err(e) => Err(e),
        };
        assert_eq!(read(&log[0]), Ok((HostOp::Write, 4096 * 512, 4096, true)));
        assert_eq!(read(&log[1]), Ok((HostOp::Read, 4096, 512, false)));
        assert_eq!(read(&log[2]), Ok((HostOp::Trim, 8192, 8192, false)));
        assert_eq!(read(&log[3]), Ok((HostOp::Flush, 0, 0, false)));
        assert_eq!(read(&log[4]), Err("aside".into()));
        assert!(read(&log[5]).unwrap_err().contains("the event of a DSM command lacks its ranges"));
        assert_eq!(volumes.labels(), ["nvme0n1"]);
    }

    #[test]
    fn other_events_are_skipped_and_faults_are_named() {
        for aside in [
            "# tracer: nop",
            "cpus=4",
            "CPU:2 [LOST 12 EVENTS]",
            "fio-1 [002] 1.000001: block_rq_complete: 259,0 WS () 123456 + 8 [0]",
        ] {
            assert!(matches!(parse(aside), Ok(Parsed::Aside)), "{aside}");
        }
        for (line, word) in [
            ("hello", "no time"),
            ("fio-1 [002] x: block_rq_issue: 259,0 W 4096 () 1 + 8 [f]", "no time"),
            ("fio-1 [002] 1.5: block_rq_issue: 259 W 4096 () 1 + 8 [f]", "maj,min"),
            ("fio-1 [002] 1.5: block_rq_issue: 259,0 Q 4096 () 1 + 8 [f]", "letters"),
            ("fio-1 [002] 1.5: block_rq_issue: 259,0 W 4096 () 1 - 8 [f]", "sector + sectors"),
            ("fio-1 [002] 1.5: block_rq_issue: 259,0 W 4096 () 1x + 8 [f]", "sector"),
        ] {
            let e = parse(line).err().unwrap();
            assert!(e.contains(word), "{line}: {e}");
        }
    }
}
