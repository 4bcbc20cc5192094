//! The block events of ftrace, as `trace_pipe`, `trace-cmd report` and `perf script` print them.

use crate::formats::blkparse::EVENT;
use crate::formats::detection::{Confidence, Detection, Miss, OptionFault, Sample, Settings};
use crate::formats::format::{Extents, Format, Order, Timing};
use crate::formats::lines_of::{LineFormat, LineReader, Parsed, Tally, scaled, spaced_up_to};
use crate::formats::rwbs::Flags;
use crate::formats::units::{SECOND, TIME, UNIT, Units};
use crate::formats::volumes::Volumes;
use crate::text::numbers::time;
use crate::text::parameter::Parameter;

/// The format.
pub static FORMAT: Format = Format {
    name: "ftrace",
    title: "block events of ftrace: trace_pipe, trace-cmd report, perf script",
    grammar: "\
task-pid [cpu] flags time: block_rq_issue: maj,min RWBS bytes (command) sector + sectors ... [process]

time             seconds, with decimals
block_rq_issue   sent to the device; block_bio_queue: queued before merging (option event). Other events
                 are set aside
maj,min          the device, which is the volume (8.16)
RWBS             R, W, D (discard), F (flush), N; F before W is a preflush, F after W is FUA
sector, sectors  of 512 bytes

Record with: trace-cmd record -e block:block_rq_issue, and print with trace-cmd report; or read trace_pipe.
perf script prints block:block_rq_issue. CPUs are printed in turns, so requests are sorted by time.",
    parameters: &[
        Parameter {
            about: "D: block_rq_issue, as the device got it; Q: block_bio_queue, before merging",
            ..EVENT
        },
        TIME,
        UNIT,
    ],
    order: Order::Loose,
    timing: Timing::Stated { unit: "s", decimals: true },
    dated: false,
    extents: Extents::Sectors,
    detect,
    open: |settings, input| LineReader::open(Ftrace::of(settings), Volumes::default(), input),
    write: |_| {
        let option = OptionFault { key: "--to", allowed: "blkparse or another format".to_string() };
        let reason = "ftrace is read and not written; blkparse keeps as much".to_string();
        Err(Miss { fits: 0, reason, option: Some(option) })
    },
};

const UNITS: Units = Units::stated(SECOND, 512, 512);

struct Ftrace {
    units: Units,
    event: &'static [u8],
}

const ISSUE: &[u8] = b"block_rq_issue";
const QUEUE: &[u8] = b"block_bio_queue";

impl Ftrace {
    fn of(settings: &Settings) -> Ftrace {
        let event = if settings.get("event").is_some_and(|e| e == "Q") { QUEUE } else { ISSUE };
        Ftrace { units: UNITS.told(settings), event }
    }
}

/// The time, the event's name and its fields: what stands around `block_...:`.
fn parts(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let at = memchr::memmem::find(line, b": block_").map(|at| at + 2);
    // perf script: `time: block:block_rq_issue: ...`.
    let at = at.or_else(|| memchr::memmem::find(line, b" block:block_").map(|at| at + 7))?;
    let name = &line[at..];
    let end = name.iter().position(|c| *c == b':')?;
    let before = line[..at].trim_ascii_end().strip_suffix(b"block:").unwrap_or(&line[..at]).trim_ascii_end();
    let when = before.strip_suffix(b":")?;
    let when = &when[when.iter().rposition(|c| *c == b' ').map_or(0, |at| at + 1)..];
    Some((when, &name[..end], &name[end + 1..]))
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
        let (when, name, fields) = parts(line).ok_or("there is no time and block_ event")?;
        let time = time(when, self.units.time).map_err(|e| e.of("time", when))?;
        if name != self.event {
            return Ok(Parsed::Aside);
        }
        let mut words: [&[u8]; 2] = [&[]; 2];
        spaced_up_to(fields, &mut words);
        let [device, letters] = words;
        let flags = Flags::of_letters(letters).ok_or("unknown letters for what is asked")?;
        if !device.contains(&b',') || !device.iter().all(|c| c.is_ascii_digit() || *c == b',') {
            return Err("the device is not maj,min".to_string());
        }
        let volume = volumes.number_of(device)?;
        let plus = memchr::memmem::find(fields, b" + ").ok_or("there is no sector + sectors")?;
        let sector = &fields[..plus];
        let sector = &sector[sector.iter().rposition(|c| *c == b' ').map_or(0, |at| at + 1)..];
        let count = fields[plus + 3..].split(|c| *c == b' ').next().unwrap_or_default();
        // A flush without data has no place.
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
    let (mut name, mut tally) = ("D", tally_of(Ftrace::of(told).event));
    if tally.requests == 0 && !told.contains_key("event") {
        (name, tally) = ("Q", tally_of(QUEUE));
    }
    let what = "are a time and block_rq_issue or block_bio_queue with a device and sectors";
    let mut detection = tally.at_least_half()?.found(Confidence::Certain, "", what).with(told);
    detection.settings.entry("event").or_insert_with(|| name.to_string());
    Ok(detection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::HostOp;

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
    fn other_events_and_headings_are_set_aside_and_faults_are_named() {
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
            ("fio-1 [002] x: block_rq_issue: 259,0 W 4096 () 1 + 8 [f]", "time"),
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
