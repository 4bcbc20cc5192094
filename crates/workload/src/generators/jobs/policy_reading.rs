//! Parses the policies of a job from its keys.

use crate::generators::jobs::engines::{Engine, engine, usable};
use crate::generators::jobs::job::{Kinds, MICROSECOND, Overlap, PRIORITY_CLASSES, SECOND, WRITE_HINTS};
use crate::generators::jobs::policy::{
    Depth, ExitScope, FlowShare, LatencyTarget, Priorities, RateFloor, Steady, Streams, TrimBacklog, Verify,
};
use crate::generators::jobs::reading::Reading;
use crate::generators::jobs::spell::{DIRECTIONS, KiloBase, by_direction, bytes, range, real, time, whole};
use crate::generators::jobs::values::percentage;
use wordline_units::{Attributes, LatencyHint};

/// A size with its percentage and an optional class.
type SizeClass = (Option<u64>, u32, Option<LatencyHint>);

const MILLISECOND: u64 = 1_000_000;

/// The queue depth of the job, and how it submits requests.
pub(crate) fn depth(keys: &mut Reading) -> Depth {
    let asked = keys.number("iodepth", 1, 1..=65_536) as u32;
    let name = keys.text("ioengine").unwrap_or("psync");
    let offload = keys.word("io_submit_mode", &[("inline", false), ("offload", true)], false);
    let mut most = asked;
    match engine(name) {
        Some(Engine::Asynchronous) => {}
        Some(Engine::Synchronous) if offload => {}
        Some(Engine::Synchronous) => {
            most = 1;
            if asked > 1 {
                let by = if keys.has("ioengine") { "" } else { ", the default engine," };
                keys.remark(format!(
                    "{name}{by} keeps one request outstanding, as in fio, and ignores iodepth={asked}; \
                     use ioengine=libaio or io_uring for that depth."
                ));
            }
        }
        Some(Engine::Refused(what)) => refuse_engine(keys, name, what),
        None => {
            let what = format!("{name:?} is not an engine that reads and writes a drive");
            keys.reject("ioengine", what, &usable().join(", "));
        }
    }
    let count = 0..=u32::MAX as u64;
    let batch = keys.number("iodepth_batch", 1, count.clone()) as u32;
    let reap = keys.number("iodepth_batch_complete_min", 1, count.clone()) as u32;
    let low = keys.number("iodepth_low", 0, count) as u32;
    let or_most = |n: u32| if n == 0 || n > most { most } else { n };
    Depth { most, batch: or_most(batch), reap: reap.clamp(1, most), low: or_most(low) }
}

fn refuse_engine(keys: &mut Reading, name: &str, what: &str) {
    let hint = match keys.asking() {
        [] => String::new(),
        jobs => {
            format!("select jobs that access a drive, after the file name: section={}", jobs.join("+"))
        }
    };
    keys.reject_with_hint("ioengine", format!("{name} {what}"), &usable().join(", "), hint);
}

/// The streams of the job's writes, from a lifetime hint or placement identifiers.
pub(crate) fn streams(keys: &mut Reading) -> Streams {
    let hint = keys.word("write_hint", &WRITE_HINTS, 0);
    let by_key = if keys.flag("fdp", false) { 1 } else { 0 };
    let placed = keys.word("dataplacement", &[("none", 0), ("fdp", 1), ("streams", 2)], by_key);
    let drawn = keys.word("plid_select", &[("roundrobin", false), ("random", true)], false);
    let first = u64::from(placed == 1);
    let allowed = format!("numbers up to {} by commas", Attributes::MOST_STREAMS as u64 - first);
    let numbers = keys.get("plids", vec![], &allowed, |text, _| identifiers(text, first));
    let written = keys.get("stream_id", 0, "1 to 31", |text, _| Ok(identifiers(text, 0)?[0]));
    if placed > 0 {
        if numbers.is_empty() {
            keys.remark(
                "dataplacement without plids= uses every identifier that the device reports; this one \
                 reports none, so its writes have no stream."
                    .into(),
            );
        }
        if !numbers.is_empty() {
            let of = if first == 1 {
                "identifier N of fdp is stream N + 1"
            } else {
                "stream N of fio is stream N"
            };
            keys.remark(format!("dataplacement: {of}; schemes without stream support ignore streams."));
        }
        return Streams { numbers, drawn };
    }
    let stream = if keys.text("sg_write_mode") == Some("write_stream") { written } else { hint };
    Streams { numbers: [stream].into_iter().filter(|s| *s > 0).collect(), drawn: false }
}

/// Whether writes complete only when their data are on flash.
pub(crate) fn writes_through(keys: &mut Reading) -> bool {
    const WORDS: [(&str, bool); 5] =
        [("0", false), ("none", false), ("1", true), ("sync", true), ("dsync", true)];
    let sync = keys.word("sync", &WORDS, false);
    let mode = keys.text("sg_write_mode").is_some_and(|m| ["verify", "write_and_verify"].contains(&m));
    keys.flag("writefua", false) || sync || mode
}

/// Whether what fio counts as a write is a read for the drive: SCSI's VERIFY.
pub(crate) fn reads_for_writes(keys: &mut Reading) -> bool {
    const MODES: [(&str, bool); 10] = [
        ("write", false),
        ("write_and_verify", false),
        ("verify", false),
        ("write_same", false),
        ("same", false),
        ("write_same_ndob", false),
        ("write_stream", false),
        ("verify_bytchk_00", true),
        ("verify_bytchk_01", true),
        ("verify_bytchk_11", true),
    ];
    let reads = keys.word("sg_write_mode", &MODES, false);
    if reads {
        keys.remark(
            "sg_write_mode=verify_bytchk_* is a VERIFY, which fio counts among writes: the drive reads \
             the range and programs nothing."
                .into(),
        );
    }
    reads
}

/// The latency hints of single requests.
pub(crate) fn priorities(keys: &mut Reading) -> Option<Priorities> {
    let class = |text: &str| {
        let found = PRIORITY_CLASSES.iter().find(|c| c.0 == text).map(|c| c.1);
        found.ok_or_else(|| format!("{text:?} is not a class from 0 to 3"))
    };
    let default = [LatencyHint::Short; DIRECTIONS];
    let classes =
        keys.get("cmdprio_class", default, "0 to 3, `reads,writes`", |t, _| by_direction(t, &default, class));
    let percent = keys.get("cmdprio_percentage", [0; DIRECTIONS], "0 to 100, `reads,writes`", |t, _| {
        by_direction(t, &[0; DIRECTIONS], |p| whole(p).and_then(|n| percentage(n, p)))
    });
    let none: [Vec<SizeClass>; DIRECTIONS] = Default::default();
    let allowed = "SIZE/PERCENT[/CLASS/LEVEL]:..., `reads,writes`";
    let split = keys.get("cmdprio_bssplit", none.clone(), allowed, |text, kilo| {
        by_direction(text, &none, |t| sizes_with_classes(t, kilo, class))
    });
    if keys.has("cmdprio_percentage") && keys.has("cmdprio_bssplit") {
        let what = "conflicts with cmdprio_percentage".to_string();
        keys.reject("cmdprio_bssplit", what, "one of the two, as in fio");
    }
    let of = |d: usize| {
        let by_size = split[d].iter().map(|(size, share, hint)| (*size, *share, hint.unwrap_or(classes[d])));
        let all = (percent[d] > 0).then_some((None, percent[d] as u32, classes[d]));
        by_size.chain(all).collect::<Vec<_>>()
    };
    let both = [of(0), of(1)];
    (!both.iter().all(Vec::is_empty)).then_some(Priorities(both))
}

/// How writes are read back; `mapped` says whether each address occurs once.
pub(crate) fn verify(keys: &mut Reading, mapped: bool, time_based: bool) -> Option<Verify> {
    let wanted = keys.text("verify").is_some_and(|v| !["0", "none"].contains(&v));
    let trims = trims(keys);
    let at_end = keys.flag("do_verify", true);
    let only = keys.flag("verify_only", false);
    let drawn_again = keys.flag("experimental_verify", false);
    let backlog = keys.number("verify_backlog", 0, 0..=u32::MAX as u64);
    let batch = keys.number("verify_backlog_batch", 0, 0..=u32::MAX as u64);
    if !wanted || !at_end {
        return None;
    }
    if time_based && backlog == 0 {
        keys.remark(
            "verify with time_based reads back only what a loop wrote before the end of runtime, as in \
             fio."
                .into(),
        );
    }
    let batch = if batch == 0 { backlog } else { batch };
    Some(Verify { at_end, backlog, batch, only, sorted: !mapped && !drawn_again, trims })
}

/// Which of the writes to be read back are trimmed. As in fio, nothing without a backlog.
fn trims(keys: &mut Reading) -> Option<TrimBacklog> {
    let percent = keys.number("trim_percentage", 0, 0..=100);
    let every = keys.number("trim_backlog", 0, 0..=u64::from(u32::MAX));
    let batch = keys.number("trim_backlog_batch", 0, 0..=u64::from(u32::MAX));
    let keeps = keys.flag("trim_verify_zero", true);
    if percent > 0 && every == 0 {
        keys.remark("trim_percentage without trim_backlog= trims nothing, as in fio.".into());
    }
    let batch = if batch == 0 { every } else { batch };
    (percent > 0 && every > 0).then_some(TrimBacklog { percent, every, batch, keeps })
}

pub(crate) fn flow(keys: &mut Reading) -> Option<FlowShare> {
    let weight = keys.number("flow", 0, 0..=u32::MAX as u64);
    let flow = keys.number("flow_id", 0, 0..=u32::MAX as u64);
    let sleep = keys.get("flow_sleep", 0, "a time, in microseconds", |t, _| time(t, MICROSECOND));
    (weight > 0).then_some(FlowShare { flow, weight, sleep })
}

pub(crate) fn rate_floor(keys: &mut Reading) -> Option<RateFloor> {
    let per_second = |text: &str, kilo: KiloBase| by_direction(text, &[0; DIRECTIONS], |t| bytes(t, kilo));
    let none = [0; DIRECTIONS];
    let bytes = keys.get("rate_min", none, "bytes per second, `reads,writes,trims`", per_second);
    let requests = keys.get("rate_iops_min", none, "requests per second, `reads,writes,trims`", per_second);
    let cycle = keys.get("rate_cycle", 1000 * MILLISECOND, "milliseconds", |t, _| time(t, MILLISECOND));
    (bytes != none || requests != none).then_some(RateFloor { bytes, requests, cycle })
}

pub(crate) fn latency_target(keys: &mut Reading) -> Option<LatencyTarget> {
    let micro = |text: &str, _: KiloBase| time(text, MICROSECOND);
    let most = keys.get("latency_target", 0, "a time, in microseconds", micro);
    let window = keys.get("latency_window", 0, "a time, in microseconds", micro);
    let percent = keys.get("latency_percentile", 100.0, "a percentage", |t, _| real(t));
    let again = keys.flag("latency_run", false);
    (most > 0).then_some(LatencyTarget { most, window, percent, again })
}

pub(crate) fn steady(keys: &mut Reading) -> Option<Steady> {
    let seconds = |text: &str, _: KiloBase| time(text, SECOND);
    let duration = keys.get("steadystate_duration", 0, "a time, in seconds", seconds);
    let ramp = keys.get("steadystate_ramp_time", 0, "a time, in seconds", seconds);
    const ALLOWED: &str = "iops:LIMIT, iops_slope:LIMIT, bw:LIMIT or bw_slope:LIMIT; a LIMIT may end in %";
    let rule = keys.get("steadystate", None, ALLOWED, |text, kilo| {
        let (word, limit) = text.split_once(':').unwrap_or((text, ""));
        let (bytes_count, slope) = match word {
            "iops" => (false, false),
            "iops_slope" => (false, true),
            "bw" => (true, false),
            "bw_slope" => (true, true),
            _ => return Err(format!("{word:?} is not a steady-state criterion")),
        };
        let (limit, percent) = match limit.strip_suffix('%') {
            Some(share) => (real(share)?, true),
            None if bytes_count => (bytes(limit, kilo)? as f64, false),
            None => (real(limit)?, false),
        };
        Ok(Some((bytes_count, slope, limit, percent)))
    });
    let seconds = duration / SECOND;
    let (bytes, slope, limit, percent) = rule?;
    (seconds > 0).then_some(Steady { bytes, slope, limit, percent, seconds, ramp })
}

/// Whether a request waits for outstanding requests that it overlaps. As in fio, this only applies to
/// writes and trims at a queue depth above 1, and to requests that other threads submit.
pub(crate) fn overlap(keys: &mut Reading, kinds: Kinds, depth: u32) -> Option<Overlap> {
    let asked = keys.flag("serialize_overlap", false);
    if keys.text("io_submit_mode") == Some("offload") {
        return asked.then_some(Overlap::OfAllJobs);
    }
    let matters = depth > 1 && kinds != Kinds::Only(0);
    (asked && matters).then_some(Overlap::OfThisJob)
}

pub(crate) fn file_size(keys: &mut Reading) -> Option<u64> {
    keys.get("filesize", None, "one size: a job has one file, the drive", |text, kilo| {
        let (low, high) = range(text, |t| bytes(t, kilo))?;
        match (low == high, low) {
            (true, 0) => Ok(None),
            (true, size) => Ok(Some(size)),
            (false, _) => Err(format!("{text:?} gives files of several sizes")),
        }
    })
}

pub(crate) fn exits(keys: &mut Reading) -> Option<ExitScope> {
    const SCOPES: [(&str, ExitScope); 3] =
        [("group", ExitScope::Group), ("stonewall", ExitScope::Begun), ("all", ExitScope::All)];
    let scope = keys.word("exit_what", &SCOPES, ExitScope::Group);
    keys.flag("exitall", false).then_some(scope)
}

/// Number of requests between pauses for thinking. Unlimited if only time counts.
pub(crate) fn think_every(keys: &mut Reading) -> u64 {
    let default = if keys.has("thinktime_iotime") { u64::MAX } else { 1 };
    keys.number("thinktime_blocks", default, 1..=u64::MAX)
}

/// Parse placement identifiers: numbers and ranges. Stream numbers are higher by `first`.
fn identifiers(text: &str, first: u64) -> Result<Vec<u8>, String> {
    let mut all = vec![];
    for part in text.split(',').map(str::trim) {
        let (low, high) = range(part, whole)?;
        for number in low..=high {
            let stream = number.saturating_add(first);
            if stream == 0 || stream > Attributes::MOST_STREAMS as u64 {
                return Err(format!("{number} is not a valid stream"));
            }
            all.push(stream as u8);
        }
    }
    Ok(all)
}

/// `64k/25/1/1:64k/75/3/2`: size, percentage, and optionally class and level.
fn sizes_with_classes(
    text: &str,
    kilo: KiloBase,
    class: impl Fn(&str) -> Result<LatencyHint, String>,
) -> Result<Vec<SizeClass>, String> {
    let mut all = vec![];
    for part in text.split(':').filter(|p| !p.is_empty()) {
        let fields: Vec<&str> = part.split('/').map(str::trim).collect();
        let (size, share, hint) = match fields.as_slice() {
            [size, share] => (size, share, None),
            [size, share, word, _] => (size, share, Some(class(word)?)),
            _ => return Err(format!("{part:?} is not SIZE/PERCENT[/CLASS/LEVEL]")),
        };
        let share = whole(share).and_then(|n| percentage(n, share))? as u32;
        if share > 0 {
            all.push((Some(bytes(size, kilo)?), share, hint));
        }
    }
    Ok(all)
}
