//! Why requests took so long: what each of them waited for, operation by operation, as data and in words, and what
//! the slowest have in common.
//! This is the schema `wordline.why/1`. Every interval in it is a use of the flash that the operation log and
//! the timeline of the same run have, too.

use crate::number::{self, Quantity};
use crate::rows::cause_title;
use crate::why_summary::{WhySummary, summary_text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The name of the schema that [`Why`] follows.
pub const WHY_SCHEMA: &str = "wordline.why/1";

/// The stories of some requests of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// Always `wordline.why/1`.
    pub schema: String,
    /// The version of Wordline that ran.
    pub version: String,
    /// The scheme, as the command line spells it.
    pub scheme: String,
    /// The device.
    pub device: String,
    /// The workload.
    pub workload: String,
    /// The seed of the run.
    pub seed: u64,
    /// What the slowest requests have in common, by kind of request, if that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<WhySummary>,
    /// The stories, in the order asked for, or the slowest first.
    pub stories: Vec<Story>,
}

/// One request, and where its time went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Story {
    /// Its number, counted from 0 in the order of arrival.
    pub number: u64,
    /// `read`, `write`, `trim` or `flush`.
    pub op: String,
    /// Its first block of 512 bytes.
    pub lba: u64,
    /// How many of them.
    pub blocks: u64,
    /// `done`, `out_of_space`, `uncorrectable` or `worn_out`.
    pub outcome: String,
    /// When it arrived, in nanoseconds of simulated time.
    pub arrival_ns: u64,
    /// When it ended.
    pub completion_ns: u64,
    /// The parts of its latency, in nanoseconds, as completions have them; those of no time are left out.
    pub parts_ns: BTreeMap<String, u64>,
    /// What the drive was at when it let the request in; absent where that was at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub let_in_beside: Option<Beside>,
    /// The operation that ended last; none where the drive's RAM sufficed.
    pub last: Option<LastPiece>,
    /// The read that brought what a page lacked before that could be queued, if there was one.
    pub brought: Option<LastPiece>,
    /// Its time from arrival to completion, cut where something else is what it waits for.
    pub stretches: Vec<Stretch>,
}

/// The requests that a drive worked on as it let another in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// How many, by kind: `read`, `write`, `trim`, `flush`.
    pub requests: BTreeMap<String, u64>,
    /// The number of the oldest of them.
    pub oldest: u64,
    /// Since when the drive worked on it, in nanoseconds of simulated time.
    pub oldest_since_ns: u64,
}

impl Beside {
    fn words(&self) -> String {
        let kinds = [("read", "reads"), ("write", "writes"), ("trim", "trims"), ("flush", "flushes")];
        let of = |(kind, several): (&str, &str)| match self.requests.get(kind)? {
            0 => None,
            1 => Some(format!("1 {kind}")),
            n => Some(format!("{} {several}", number::count(*n))),
        };
        let kinds: Vec<String> = kinds.into_iter().filter_map(of).collect();
        let since = instant(self.oldest_since_ns);
        format!(
            "{} were under way as it was let in, the oldest, request {}, since {since}",
            kinds.join(", "),
            self.oldest
        )
    }
}

/// The operation with which a request ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LastPiece {
    /// The operation, from the moment that it had its plane.
    pub work: Work,
    /// When it was queued at its plane.
    pub queued_ns: u64,
    /// When it first found no free page; null if it did not.
    pub blocked_ns: Option<u64>,
    /// Whether it was queued for this request, and not for others before it.
    pub own: bool,
    /// Pages of data that it wrote or read, and pages that it covers.
    pub pages: [u32; 2],
}

/// What a stretch of a request's time was spent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spent {
    /// As many requests as the drive admits were outstanding.
    QueueFull,
    /// The write buffer had no room.
    BufferFull,
    /// For the page of the map that says where its data lie, or will lie.
    MapMiss,
    /// In the drive's RAM: for other data, or for the operation of another request.
    InRam,
    /// The plane worked for others.
    PlaneBusy,
    /// The plane was free, and the array that it shares was not.
    ArrayBusy,
    /// The channel's bus moved other data.
    BusBusy,
    /// No page was free.
    NoSpace,
    /// The array worked on it.
    Array,
    /// Its data moved over the bus.
    Bus,
    /// The host link moved its data, or those before it.
    Link,
}

/// A stretch of a request's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// What it was spent on.
    pub spent: Spent,
    /// The operation that waited or worked then; null outside of the flash.
    pub op: Option<u64>,
    /// From when, in nanoseconds of simulated time.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// What stood in its way, in the order in which it began.
    pub behind: Vec<Work>,
}

impl Stretch {
    /// How long it is.
    pub fn ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }

    /// How much of it a piece of work takes.
    pub fn shared_with(&self, work: &Work) -> u64 {
        work.end_ns.min(self.to_ns).saturating_sub(work.start_ns.max(self.from_ns))
    }
}

/// A flash operation, and when it had what was waited for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The operation, by its number in the run.
    pub op: u64,
    /// `read`, `program` or `erase`.
    pub kind: String,
    /// `host`, `gc`, `migrate`, `pad`, `metadata` or `rmw`.
    pub cause: String,
    /// What it had: its `plane` all the while, an `array` or a `bus`.
    pub had: String,
    /// From when, in nanoseconds of simulated time.
    pub start_ns: u64,
    /// Until when.
    pub end_ns: u64,
    /// Its channel.
    pub channel: u32,
    /// Its die.
    pub die: u32,
    /// Its plane.
    pub plane: u32,
    /// Its block.
    pub block: u32,
    /// The first slot of the block that it covers.
    pub slot: u32,
    /// The region that owns the block.
    pub region: String,
    /// The mode of the block's cells: `slc`, `mlc`, `tlc`, `qlc`.
    pub mode: String,
    /// The bit of the wordline: `lsb`, `csb`, `msb`, `tsb`.
    pub page: String,
    /// How often a read was repeated.
    pub retries: u8,
    /// The block being emptied by it, if one is.
    pub empties: Option<Emptied>,
}

/// A block being emptied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Emptied {
    /// The block.
    pub block: u32,
    /// `shortage`, `idleness`, `levelling` or `refresh`.
    pub reason: String,
    /// Since when, in nanoseconds of simulated time.
    pub since_ns: u64,
    /// Erased blocks that its region could open in its plane then.
    pub free_blocks: u32,
}

/// Summaries and stories in words.
pub fn why_text(why: &Why) -> String {
    let mut out = format!("{} on {}, {}, seed {}\n", why.scheme, why.device, why.workload, why.seed);
    for summary in &why.summaries {
        out.push('\n');
        summary_text(&mut out, summary);
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
    for stretch in &s.stretches {
        if stretch.op != told {
            told = stretch.op;
            piece(out, s, stretch.op);
        }
        let _ = writeln!(out, "  {:>9}  {}", time(stretch.ns()), spent(s, stretch));
        for line in groups(stretch) {
            let _ = writeln!(out, "  {:>9}    {line}", "");
        }
    }
    let parts: Vec<String> =
        s.parts_ns.iter().map(|(part, ns)| format!("{} {}", part.replace('_', " "), time(*ns))).collect();
    let _ = writeln!(out, "  {:>9}  in all: {}", took, parts.join(", "));
}

/// The operation that the next lines are about.
fn piece(out: &mut String, s: &Story, op: Option<u64>) {
    let is = |piece: &&LastPiece| Some(piece.work.op) == op;
    let (what, found) = match s.brought.as_ref().filter(is) {
        Some(read) => ("a page lacked something:", Some(read)),
        None => ("its last operation:", s.last.as_ref().filter(is)),
    };
    let Some(LastPiece { work: w, queued_ns, pages, .. }) = found else { return };
    let place = format!("plane {} of die {} on channel {}", w.plane, w.die, w.channel);
    let _ = writeln!(out, "  {what} {}\n    in {place}, queued {}", of_op(w, *pages), instant(*queued_ns));
}

/// The operation by which a request ends, in words.
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
            Some(beside) => format!("before the drive, whose queue was full: {}", beside.words()),
            None => "before the drive: as many requests as it admits were outstanding".into(),
        },
        Spent::BufferFull => "before the write buffer, which had no room".into(),
        Spent::MapMiss => "its page of the map was not in RAM, and was read".into(),
        Spent::InRam if s.last.is_none() => "in the drive's RAM, which sufficed".into(),
        Spent::InRam if s.last.as_ref().is_some_and(|last| !last.own) => {
            "in the drive's RAM, until the operation of another request ended".into()
        }
        Spent::InRam if !stretch.behind.is_empty() => {
            "in the drive's RAM, until what it lacked was read".into()
        }
        Spent::InRam => "in the drive's RAM, for the company of other pages".into(),
        Spent::PlaneBusy => "its plane worked for others".into(),
        Spent::ArrayBusy => "its plane was free, and the array of its die was not".into(),
        Spent::BusBusy => "its plane was free, and the channel's bus was not".into(),
        Spent::NoSpace => "no page was free where it had to go".into(),
        Spent::Array if let Some(read) = read => match read.work.retries {
            0 => "it was sensed".into(),
            1 => "it was sensed, and once again".into(),
            n => format!("it was sensed, and {n} times again"),
        },
        Spent::Array => "it was programmed".into(),
        Spent::Bus => "its data moved over the bus".into(),
        Spent::Link => "on the host link".into(),
    }
}

/// Why an operation was done, in words.
fn cause(w: &Work) -> String {
    match w.cause.as_str() {
        "migrate" => "migration".into(),
        "rmw" => "the missing part of a page".into(),
        "host" => "the host".into(),
        other => cause_title(other).to_string(),
    }
}

/// What stood in the way, those of one cause and block together, in the order in which they began.
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
                "shortage" => format!("as erased blocks ran short ({} left)", e.free_blocks),
                "idleness" => "as the drive was idle".into(),
                "levelling" => "to level wear".into(),
                _ => "as its data were due to be written anew".into(),
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
    all.iter().map(line).collect()
}
