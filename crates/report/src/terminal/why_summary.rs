//! What the slowest requests have in common, told in a sentence and two tables.

use crate::schema::why_summary::{WayShare, WhySummary};
use crate::words::names::cause_title;
use crate::words::number::{self, Quantity};
use std::fmt::Write;

/// What an operation was done for.
fn of(cause: &str) -> String {
    match cause {
        "host" => "of the host".into(),
        "gc" => "of collection".into(),
        "migrate" => "of migration".into(),
        "rmw" => "of missing parts of pages".into(),
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

/// Shares of which neither reaches this are left out of the words; the data have them.
const LEAST: f64 = 0.005;

/// The summary in words: a sentence, then both tables.
pub(crate) fn summary_text(out: &mut String, s: &WhySummary) {
    // Writing to a string cannot fail.
    let (ops, time) = (several(&s.op), |ns: u64| Quantity::Latency.show(ns as f64 / 1e3));
    let which = if s.asked.ends_with('%') { format!("{} of the {ops}", s.asked) } else { ops.clone() };
    let counted = format!("{} of {}", number::count(s.slowest), number::count(s.of));
    let _ = writeln!(out, "the slowest {which}: {counted}, each of {} or more", time(s.over_ns));
    let head: Vec<String> = s
        .ways
        .iter()
        .take(2)
        .filter(|way| way.slowest >= LEAST)
        .map(|way| {
            let all = format!("of all {ops} {:.0} %", way.all * 100.0);
            format!("{:.0} % of their time {} ({all})", way.slowest * 100.0, way.words())
        })
        .collect();
    let _ = writeln!(out, "  they spent {}", head.join(", "));
    let mean = |ns: u64, n: u64| time(ns.checked_div(n).unwrap_or_default());
    let _ = writeln!(out, "\n  {:<50}{:>12}{:>12}", "", "slowest", format!("all {ops}"));
    let (slow, all) = (mean(s.slowest_ns, s.slowest), mean(s.all_ns, s.of));
    let _ = writeln!(out, "  {:<50}{slow:>12}{all:>12}", "mean latency");
    let _ = writeln!(out, "  what it was spent on");
    let row = |out: &mut String, what: &str, slowest: f64, all: f64| {
        if slowest >= LEAST || all >= LEAST {
            let _ = writeln!(out, "    {what:<48}{:>12}{:>12}", percent(slowest), percent(all));
        }
    };
    s.ways.iter().for_each(|way| row(out, &way.words(), way.slowest, way.all));
    let _ = writeln!(out, "  by the parts of the latency");
    s.parts.iter().for_each(|p| row(out, &p.part.replace('_', " "), p.slowest, p.all));
    if s.looked_at < s.of {
        let seen = number::count(s.looked_at);
        let _ = writeln!(out, "  (what all {ops} were spent on: of {seen} of them, evenly spread)");
    }
}

impl WayShare {
    fn words(&self) -> String {
        let cause = self.cause.as_deref().unwrap_or_default();
        match self.way.as_str() {
            "behind" => {
                format!("behind {}s {}", self.kind.as_deref().unwrap_or("operation"), of(cause))
            }
            "queue_full" => "before the drive, whose queue was full".into(),
            "buffer_full" => "before the write buffer, which had no room".into(),
            "map_miss" => "for a page of the map".into(),
            "in_ram" => "in the drive's RAM, for other pages or requests".into(),
            "no_space" => "as no page was free".into(),
            "array" => "being sensed or programmed".into(),
            "bus" => "on the channel's bus".into(),
            "link" => "on the host link".into(),
            _ => "waiting, with nothing seen in the way".into(),
        }
    }
}
