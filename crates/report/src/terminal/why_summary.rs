//! What the slowest requests have in common: the cause in a few lines, and two tables on request.

use crate::schema::why_summary::{RootCause, WayShare, WhySummary};
use crate::words::figures::terms::latency_part;
use crate::words::names::{cause_title, mode_title};
use crate::words::number::{self, Quantity};
use std::fmt::Write;

/// The cause of an operation.
fn of(cause: &str) -> String {
    match cause {
        "host" => "of the host".into(),
        "gc" => "of GC".into(),
        "migrate" => "of migration".into(),
        "rmw" => "for read-modify-write".into(),
        other => format!("of {}", cause_title(other)),
    }
}

/// A kind of request in the plural.
fn several(op: &str) -> String {
    if op == "flush" { "flushes".into() } else { format!("{op}s") }
}

fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.0005 { "<0.1 %".into() } else { format!("{:.1} %", share * 100.0) }
}

/// Shares below this in both columns are omitted from the text; the data have them.
const LEAST: f64 = 0.005;

/// The summary in words, at most four lines: the requests, the cause, its symptom, and all requests for
/// comparison.
pub(crate) fn summary_text(out: &mut String, s: &WhySummary) {
    // Writing to a string cannot fail.
    let ops = several(&s.op);
    let which = if s.asked.ends_with('%') { format!("{} of the {ops}", s.asked) } else { ops.clone() };
    let counted = format!("{} of {}", number::count(s.slowest), number::count(s.of));
    let (slow, all) = means(s);
    if s.all_ns == 0 && s.slowest_ns == 0 && s.of > 0 {
        let _ = writeln!(out, "{ops} ({}): {IN_NO_TIME}", number::count(s.of));
        return;
    }
    let _ = writeln!(
        out,
        "slowest {which} ({counted}): {} or more, mean {slow}; all {ops}: mean {all}",
        time(s.over_ns)
    );
    if let Some(cause) = s.causes.first() {
        let _ = writeln!(
            out,
            "  cause: {} ({:.0} % of their time)",
            cause_in_words(cause, &s.op),
            cause.share * 100.0
        );
    }
    if let Some(cause) = s.causes.get(1).filter(|cause| cause.share >= LEAST_CAUSE) {
        let _ = writeln!(out, "  then:  {} ({:.0} %)", cause_in_words(cause, &s.op), cause.share * 100.0);
    }
    if let Some(way) = s.ways.first().filter(|way| way.slowest >= LEAST) {
        let _ = writeln!(
            out,
            "  spent: {:.0} % {} (all {ops}: {:.0} %)",
            way.slowest * 100.0,
            way_in_words(way, &s.op),
            way.all * 100.0
        );
    }
}

/// A second cause below this share is omitted from the text.
const LEAST_CAUSE: f64 = 0.1;

fn time(ns: u64) -> String {
    Quantity::Latency.show(ns as f64 / 1e3)
}

/// Mean latencies of the slowest and of all.
fn means(s: &WhySummary) -> (String, String) {
    let mean = |ns: u64, n: u64| time(ns.checked_div(n).unwrap_or_default());
    (mean(s.slowest_ns, s.slowest), mean(s.all_ns, s.of))
}

/// Two tables: shares by cause of waiting, and by latency part.
pub(crate) fn shares_text(out: &mut String, s: &WhySummary) {
    let ops = several(&s.op);
    let (slow, all) = means(s);
    let _ = writeln!(out, "  {:<50}{:>12}{:>12}", format!("slowest {ops}"), "slowest", format!("all {ops}"));
    let _ = writeln!(out, "  {:<50}{slow:>12}{all:>12}", "mean latency");
    let _ = writeln!(out, "  latency by cause");
    let row = |out: &mut String, what: &str, slowest: f64, all: f64| {
        if slowest >= LEAST || all >= LEAST {
            let _ = writeln!(out, "    {what:<48}{:>12}{:>12}", percent(slowest), percent(all));
        }
    };
    s.ways.iter().for_each(|way| row(out, &way_in_words(way, &s.op), way.slowest, way.all));
    let _ = writeln!(out, "  latency by part");
    s.parts.iter().for_each(|p| row(out, &latency_part(&p.part), p.slowest, p.all));
    if s.looked_at < s.of {
        let seen = number::count(s.looked_at);
        let _ = writeln!(out, "  (causes for all {ops} from a sample of {seen})");
    }
}

/// The cause as a noun, with its region, victims and pace.
fn cause_in_words(cause: &RootCause, op: &str) -> String {
    let region = if cause.region.is_empty() { String::new() } else { format!(" of region {}", cause.region) };
    let plane = cause.plane.map_or(String::new(), |plane| format!(" in plane {plane}"));
    let mode = if cause.mode.is_empty() { String::new() } else { format!(" ({})", mode_title(&cause.mode)) };
    let valid = cause
        .valid
        .map_or(String::new(), |valid| format!(", whose victims are {:.0} % valid", valid * 100.0));
    let since = cause.short_since_ns.filter(|ns| *ns > 0);
    let since = since.map_or(String::new(), |ns| format!(" since {}", Quantity::Time.show(ns as f64 / 1e9)));
    match cause.cause.as_str() {
        "gc" => format!("GC{region}{plane}{valid}"),
        "migrate" if cause.valid.is_some() => {
            let pace = cause
                .bytes_per_s
                .map_or(String::new(), |rate| format!(" at {} MB/s", number::significant(rate / 1e6)));
            let cache = if cause.mode == "slc" { "SLC cache" } else { "source" };
            format!("{cache} (region {}) short of free blocks{since}, migration{pace}{plane}", cause.region)
        }
        "migrate" => format!("migration to region {}{mode}{plane}", cause.region),
        "host" => format!("other host requests{}{mode}{plane}", region.replace(" of ", " in ")),
        "rmw" => format!("read-modify-write reads{region}{plane}"),
        "metadata" => format!("mapping table on flash{plane}"),
        "refresh" => format!("data refresh{region}{plane}"),
        "levelling" => format!("wear leveling{region}{plane}"),
        "own" => {
            let work = if op == "read" { "array read and transfer" } else { "array program and transfer" };
            format!("their own {work}{}{mode}", region.replace(" of ", " in "))
        }
        "group" => format!("waiting for the other pages of a program{region}{mode}"),
        "link" => "the host link".into(),
        "pad" => format!("padding{region}{plane}"),
        "parity" => format!("parity{region}{plane}"),
        _ => "cause not observed".into(),
    }
}

/// Text for requests that take no time in the drive.
const IN_NO_TIME: &str = "each completes on arrival: no waiting, and RAM and host link take no time";

/// Waiting for space in the write buffer: a write for its own, and others in the queue behind it.
pub(crate) const fn buffer_full(is_write: bool) -> &'static str {
    if is_write {
        "waiting for space in the write buffer"
    } else {
        "queued behind writes that wait for space in the write buffer"
    }
}

fn way_in_words(share: &WayShare, op: &str) -> String {
    let cause = share.cause.as_deref().unwrap_or_default();
    match share.way.as_str() {
        "behind" => {
            format!("behind {}s {}", share.kind.as_deref().unwrap_or("operation"), of(cause))
        }
        "queue_full" => "waiting for the drive, whose queue was full".into(),
        "buffer_full" => buffer_full(op == "write").into(),
        "map_miss" => "mapping table miss".into(),
        "in_ram" => "staging in RAM, for other pages or requests".into(),
        "no_space" => "waiting for free space".into(),
        "array" => "array read or program".into(),
        "bus" => "on the channel bus".into(),
        "link" => "on the host link".into(),
        _ => "waiting, cause not observed".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_named_with_victims_and_pace() {
        let of = |cause: &str, region: &str| RootCause {
            cause: cause.into(),
            region: region.into(),
            ..Default::default()
        };
        let gc = RootCause { plane: Some(3), valid: Some(0.94), ..of("gc", "D") };
        assert_eq!(cause_in_words(&gc, "write"), "GC of region D in plane 3, whose victims are 94 % valid");
        let cache = RootCause {
            valid: Some(0.5),
            short_since_ns: Some(7_000_000_000),
            bytes_per_s: Some(88e6),
            mode: "slc".into(),
            ..of("migrate", "S")
        };
        let told = cause_in_words(&cache, "write").replace(number::NO_BREAK, " ");
        assert_eq!(told, "SLC cache (region S) short of free blocks since 7.00 s, migration at 88.0 MB/s");
        let own = RootCause { mode: "qlc".into(), ..of("own", "D") };
        assert_eq!(cause_in_words(&own, "read"), "their own array read and transfer in region D (QLC)");
    }

    #[test]
    fn requests_without_latency_have_no_cause() {
        let ways = vec![WayShare { way: "in_ram".into(), slowest: 1.0, ..Default::default() }];
        let s = WhySummary {
            op: "write".into(),
            asked: "10".into(),
            slowest: 10,
            of: 5_923,
            ways,
            ..Default::default()
        };
        let mut out = String::new();
        summary_text(&mut out, &s);
        assert_eq!(out, format!("writes (5,923): {IN_NO_TIME}\n"));
    }

    /// A read needs no room in the write buffer: it waits for those before it in the queue.
    #[test]
    fn only_writes_wait_for_room_in_the_buffer() {
        let way = WayShare { way: "buffer_full".into(), ..Default::default() };
        assert_eq!(way_in_words(&way, "write"), "waiting for space in the write buffer");
        for op in ["read", "trim", "flush"] {
            assert!(
                way_in_words(&way, op)
                    .starts_with("queued behind writes that wait for space in the write buffer"),
                "{op}"
            );
        }
    }

    #[test]
    fn summary_has_four_lines_at_most() {
        let cause = |share| RootCause { cause: "gc".into(), region: "D".into(), share, ..Default::default() };
        let way = WayShare { way: "buffer_full".into(), slowest: 1.0, all: 0.5, ..Default::default() };
        let s = WhySummary {
            op: "write".into(),
            asked: "0.1%".into(),
            causes: vec![cause(0.7), cause(0.3)],
            ways: vec![way.clone(), way],
            ..Default::default()
        };
        let mut out = String::new();
        summary_text(&mut out, &s);
        assert_eq!(out.lines().count(), 4, "{out}");
        assert!(out.lines().nth(1).is_some_and(|line| line.starts_with("  cause: GC of region D")), "{out}");
    }
}
