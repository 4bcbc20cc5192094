//! Explanations of single requests, as lines of text.

use crate::schema::why::{Beside, Busy, Emptied, LastPiece, Spent, Story, Stretch, Why, Work};
use crate::terminal::why_summary::{buffer_full, shares_text, summary_text};
use crate::words::figures::terms::latency_part;
use crate::words::names::cause_title;
use crate::words::number::{self, Quantity};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Summaries in a few lines, with shares if requested, and stories.
pub fn why_text(why: &Why, shares: bool) -> String {
    let mut out = format!("{} on {}, {}, seed {}\n", why.scheme, why.device, why.workload, why.seed);
    for summary in &why.summaries {
        summary_text(&mut out, summary);
    }
    for summary in why.summaries.iter().filter(|_| shares) {
        out.push('\n');
        shares_text(&mut out, summary);
    }
    for story in &why.stories {
        out.push('\n');
        tell(&mut out, story);
    }
    out
}

fn time(ns: u64) -> String {
    Quantity::Latency.show(ns as f64 / 1e3)
}

/// An instant to the nanosecond, as the timeline and the log have it.
fn instant(ns: u64) -> String {
    format!("{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000)
}

fn tell(out: &mut String, s: &Story) {
    // Writing to a string cannot fail.
    let size = number::bytes(s.blocks * 512);
    let what = if s.op == "flush" { String::new() } else { format!(" of {size} at sector {}", s.lba) };
    let took = time(s.completion_ns - s.arrival_ns);
    let ended =
        if s.outcome == "done" { String::new() } else { format!(", {}", s.outcome.replace('_', " ")) };
    let _ = writeln!(out, "request {}: {}{what} took {took}{ended}", s.number, s.op);
    let _ = writeln!(out, "  arrived {}, ended {}", instant(s.arrival_ns), instant(s.completion_ns));
    let mut told = None;
    let least = longest(&s.stretches);
    let is_short = |stretch: &&Stretch| stretch.ns() < least;
    for stretch in s.stretches.iter().filter(|stretch| !is_short(stretch)) {
        if stretch.op != told {
            told = stretch.op;
            piece(out, s, stretch.op);
        }
        let _ = writeln!(out, "  {:>9}  {}", time(stretch.ns()), spent(s, stretch));
        for line in groups(stretch) {
            let _ = writeln!(out, "  {:>9}    {line}", "");
        }
    }
    let short: Vec<u64> = s.stretches.iter().filter(is_short).map(Stretch::ns).collect();
    if !short.is_empty() {
        let _ = writeln!(
            out,
            "  {:>9}  in {} shorter intervals",
            time(short.iter().sum()),
            number::count(short.len() as u64)
        );
    }
    let parts: Vec<String> =
        s.parts_ns.iter().map(|(part, ns)| format!("{} {}", latency_part(part), time(*ns))).collect();
    let parts = if parts.is_empty() { "no part of the drive took any time".into() } else { parts.join(", ") };
    let _ = writeln!(out, "  {took:>9}  total: {parts}");
}

/// Maximum number of intervals of a request, and of causes, in the text; the data have all.
const MOST: usize = 12;
const MOST_CAUSES: usize = 5;

/// The length from which on stretches are told.
fn longest(stretches: &[Stretch]) -> u64 {
    let mut lengths: Vec<u64> = stretches.iter().map(Stretch::ns).collect();
    lengths.sort_unstable_by_key(|ns| std::cmp::Reverse(*ns));
    lengths.get(MOST - 1).copied().unwrap_or(0)
}

/// The operation that the next lines are about.
fn piece(out: &mut String, s: &Story, op: Option<u64>) {
    let is = |piece: &&LastPiece| Some(piece.work.op) == op;
    let (what, found) = match s.brought.as_ref().filter(is) {
        Some(read) => ("missing data of a page:", Some(read)),
        None => ("its last operation:", s.last.as_ref().filter(is)),
    };
    let Some(LastPiece { work: w, queued_ns, pages, .. }) = found else { return };
    let place = format!("plane {} of die {} on channel {}", w.plane, w.die, w.channel);
    let _ = writeln!(out, "  {what} {}\n    in {place}, queued {}", of_op(w, *pages), instant(*queued_ns));
}

/// The last operation of a request, in words.
fn of_op(w: &Work, [data, covers]: [u32; 2]) -> String {
    let mode = w.mode.to_uppercase();
    let place = format!("block {} ({mode}, region {})", w.block, w.region);
    let mut text = match w.kind.as_str() {
        "read" => format!("a read of slot {} of {place}", w.slot),
        "program" if covers > 1 => {
            format!("a program of slots {} to {} of {place}", w.slot, w.slot + covers - 1)
        }
        "program" => format!("a program of slot {} of {place}", w.slot),
        _ => format!("an erase of {place}"),
    };
    if w.kind == "program" && covers > data {
        let _ = write!(text, ", {} of them padding", covers - data);
    }
    if w.cause != "host" {
        let _ = write!(text, ", for {}", cause(w));
    }
    text
}

fn spent(s: &Story, stretch: &Stretch) -> String {
    let pieces = s.brought.iter().chain(&s.last);
    let read = pieces.clone().find(|piece| Some(piece.work.op) == stretch.op && piece.work.kind == "read");
    match stretch.spent {
        Spent::QueueFull => match &s.let_in_beside {
            Some(beside) => format!("waiting for the drive, whose queue was full: {}", outstanding(beside)),
            None => "waiting for the drive, which had its maximum of outstanding requests".into(),
        },
        Spent::BufferFull => buffer_full(s.op == "write").into(),
        Spent::MapMiss => "mapping table miss: its page of the map was read from flash".into(),
        Spent::InRam if s.last.is_none() => "served from the drive's RAM".into(),
        Spent::InRam if s.last.as_ref().is_some_and(|last| !last.own) => {
            "in the drive's RAM, until an operation of another request completed".into()
        }
        Spent::InRam if !stretch.behind.is_empty() => {
            "in the drive's RAM, until its missing data were read".into()
        }
        Spent::InRam => "in the drive's RAM, waiting for the other pages of a one-shot program".into(),
        Spent::PlaneBusy => "its plane was busy".into(),
        Spent::ArrayBusy => "its plane was free, but the array of its die was busy".into(),
        Spent::BusBusy => "its plane was free, but the channel bus was busy".into(),
        Spent::NoSpace => "no free page in its region".into(),
        Spent::Array if let Some(read) = read => match read.work.retries {
            0 => "array read".into(),
            1 => "array read with 1 retry".into(),
            n => format!("array read with {n} retries"),
        },
        Spent::Array => "array program".into(),
        Spent::Bus => "data transfer over the bus".into(),
        Spent::Link => "on the host link".into(),
    }
}

/// The reason for an operation, in words.
fn cause(w: &Work) -> String {
    cause_of(&w.cause)
}

fn cause_of(cause: &str) -> String {
    match cause {
        "migrate" => "migration".into(),
        "rmw" => "the missing part of a page".into(),
        "host" => "the host".into(),
        other => cause_title(other).to_string(),
    }
}

/// The operations ahead, merged by cause and block, in order of their start.
fn groups(stretch: &Stretch) -> Vec<String> {
    type Key = (String, Option<Emptied>);
    let mut all: Vec<(Key, Vec<&Work>)> = vec![];
    for work in &stretch.behind {
        let key = (work.cause.clone(), work.empties.clone());
        match all.iter_mut().find(|(k, _)| *k == key) {
            Some((_, works)) => works.push(work),
            None => all.push((key, vec![work])),
        }
    }
    let line = |((_, empties), works): &(Key, Vec<&Work>)| {
        let shared: u64 = works.iter().map(|w| stretch.shared_with(w)).sum();
        let mut text = format!("{} {}", time(shared), cause(works[0]));
        if let Some(e) = empties {
            let why = match e.reason.as_str() {
                "shortage" => format!("because erased blocks ran short ({} left)", e.free_blocks),
                "idleness" => "because the drive was idle".into(),
                "levelling" => "for wear leveling".into(),
                _ => "for data refresh".into(),
            };
            let _ = write!(text, " of block {} since {}, {why}", e.block, instant(e.since_ns));
        }
        let mut kinds: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
        for w in works {
            let (count, ns) = kinds.entry(&w.kind).or_default();
            (*count, *ns) = (*count + 1, *ns + stretch.shared_with(w));
        }
        let counted: Vec<String> = kinds
            .iter()
            .map(|(kind, (n, ns))| format!("{n} {kind}{} {}", if *n == 1 { "" } else { "s" }, time(*ns)))
            .collect();
        let _ = write!(text, ": {}", counted.join(", "));
        if let [only] = works.as_slice() {
            let _ = write!(text, " (operation {} from {})", only.op, instant(only.start_ns));
        }
        text
    };
    let shared = |(_, works): &(Key, Vec<&Work>)| works.iter().map(|w| stretch.shared_with(w)).sum::<u64>();
    let mut lengths: Vec<u64> = all.iter().map(shared).collect();
    lengths.sort_unstable_by_key(|ns| std::cmp::Reverse(*ns));
    let least = lengths.get(MOST_CAUSES - 1).copied().unwrap_or(0);
    let (long, short): (Vec<_>, Vec<_>) = all.iter().partition(|group| shared(group) >= least);
    let mut lines: Vec<String> = long.into_iter().map(line).collect();
    if !short.is_empty() {
        let rest: u64 = short.iter().map(|group| shared(group)).sum();
        lines.push(format!("{} for {} others", time(rest), number::count(short.len() as u64)));
    }
    lines.extend(meanwhile(stretch));
    lines
}

/// What the planes did while a request waited outside of the flash.
fn meanwhile(stretch: &Stretch) -> Option<String> {
    let all: u64 = stretch.meanwhile.iter().map(|b| b.busy_ns).sum();
    let of = |b: &Busy| {
        let region = if b.region.is_empty() { String::new() } else { format!(" of region {}", b.region) };
        let share = b.busy_ns as f64 * 100.0 / all.max(1) as f64;
        let victims = match &b.empties {
            Some(e) if b.cause == "gc" => format!(" (a victim {} % valid)", e.valid_percent),
            _ => String::new(),
        };
        format!("{}{region} {share:.0} %{victims}", cause_of(&b.cause))
    };
    let told: Vec<String> = stretch.meanwhile.iter().take(3).map(of).collect();
    (!told.is_empty()).then(|| format!("meanwhile the planes were busy with {}", told.join(", ")))
}

fn outstanding(beside: &Beside) -> String {
    let kinds = [("read", "reads"), ("write", "writes"), ("trim", "trims"), ("flush", "flushes")];
    let of = |(kind, several): (&str, &str)| match beside.requests.get(kind)? {
        0 => None,
        1 => Some(format!("1 {kind}")),
        n => Some(format!("{} {several}", number::count(*n))),
    };
    let kinds: Vec<String> = kinds.into_iter().filter_map(of).collect();
    let since = instant(beside.oldest_since_ns);
    format!(
        "{} were outstanding when it was admitted; the oldest, request {}, since {since}",
        kinds.join(", "),
        beside.oldest
    )
}
