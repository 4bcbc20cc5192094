//! What the slowest requests of a run have in common: shares of their time, by the parts of their latency and by
//! what was in the way, beside the same of all requests. As data, and in words.

use crate::number::{self, Quantity};
use crate::rows::cause_title;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Where the time of the slowest requests of a kind went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhySummary {
    /// `read`, `write`, `trim` or `flush`.
    pub op: String,
    /// What was asked for: `0.1%`, or `10`.
    pub asked: String,
    /// How many requests are summed up as the slowest.
    pub slowest: u64,
    /// Out of so many that ended.
    pub of: u64,
    /// The least latency among the slowest, in nanoseconds.
    pub over_ns: u64,
    /// The sum of the latencies of the slowest, in nanoseconds.
    pub slowest_ns: u64,
    /// The same of all.
    pub all_ns: u64,
    /// How many of all were looked at for what was in their way: every so-manieth of a long run.
    pub looked_at: u64,
    /// Shares by the parts of the latency, in the order of a request's way.
    pub parts: Vec<PartShare>,
    /// Shares by what was in the way, the largest first.
    pub ways: Vec<WayShare>,
}

/// A part of the latency, as shares of the time of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartShare {
    /// The part, as reports and completions have it.
    pub part: String,
    /// Its share of the time of the slowest, 0 to 1.
    pub slowest: f64,
    /// Its share of the time of all.
    pub all: f64,
}

/// What requests spent their time on or behind, as shares of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WayShare {
    /// `behind` an operation; `queue_full`, `buffer_full`, `map_miss`, `in_ram`, `no_space` before one could be
    /// done; `array`, `bus` and `link` for its own work; `other` for a wait in which nothing was seen.
    pub way: String,
    /// The operation that was in the way: `read`, `program` or `erase`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What that was done for: `host`, `gc`, `migrate`, `pad`, `metadata` or `rmw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Its share of the time of the slowest, 0 to 1.
    pub slowest: f64,
    /// Its share of the time of all that were looked at.
    pub all: f64,
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
