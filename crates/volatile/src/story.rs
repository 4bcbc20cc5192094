//! A crash state in words: which requests reached the disk and which did not.

use crate::cache::Write;
use crate::digits::{counted, grouped};
use crate::log::Log;
use crate::replay::Interval;
use crate::state::{State, runs};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Up to this many requests, those that survived are listed, too.
const MOST: usize = 12;

/// What happened to a request, in words.
fn fate(write: &Write, lost: Option<&BTreeSet<u64>>, sector: u64) -> String {
    let Some(lost) = lost else { return "survived".to_string() };
    if lost == write.sectors() {
        return "LOST".to_string();
    }
    let begin = write.request().offset / sector;
    let count = write.request().length.div_ceil(sector);
    let runs: Vec<String> = runs(lost).map(|(from, to)| format!("{}-{}", from - begin, to - begin)).collect();
    format!("LOST: sectors {} of 0-{}", runs.join(", "), count - 1)
}

/// What a state of a log lost, in the interval of its cut.
pub fn story(log: &Log, interval: &Interval, state: &State) -> String {
    let cache = interval.cache();
    let writes: Vec<&Write> = cache.writes().collect();
    let mut text = format!(
        "power cut after event {} of {}, {} not durable",
        grouped(interval.at() as u64),
        grouped(log.events.len() as u64),
        counted(writes.len(), "request")
    );
    if let Some(id) = state.dropped {
        let _ = write!(text, "; the drive ignored FLUSH or FUA of request {id} (dropped-flush)");
    }
    if let Some(fault) = &state.fault {
        let _ = write!(text, "; a broken drive: {}", fault.kind());
    }
    text.push('\n');
    let effect = state.fault.and_then(|fault| fault.effect(interval, &interval.image(&state.lost)));
    if let (Some(fault), Some(effect)) = (&state.fault, effect) {
        let _ = writeln!(text, "  {}: {effect}", fault.kind());
    }
    let is_shown = |write: &&&Write| writes.len() <= MOST || state.lost.contains_key(&write.request().id);
    for write in writes.iter().filter(is_shown).take(4 * MOST) {
        let request = write.request();
        let flags = if request.fua { ", FUA" } else { "" };
        let done = if write.acknowledged().is_some() { "acknowledged" } else { "in flight" };
        let fate = fate(write, state.lost.get(&request.id), cache.rules().sector);
        let _ = writeln!(
            text,
            "  request {:<6} {:<12} {:>9} bytes at {:>13}, connection {}, {done}{flags}: {fate}",
            request.id,
            request.op.key(),
            grouped(request.length),
            grouped(request.offset),
            request.connection,
        );
    }
    if writes.len() > MOST {
        text.push_str(if state.lost.is_empty() { "  all survived\n" } else { "  all others survived\n" });
    }
    if state.lost.is_empty() && state.dropped.is_none() && state.fault.is_none() {
        text.push_str(
            "  no request was lost: what the check misses was not sent before the cut, or was overwritten\n",
        );
    }
    for (id, fault) in log.faults_before(interval.at()).take(MOST) {
        let of = if id == 0 { "a read".to_string() } else { format!("request {id}") };
        let _ = writeln!(text, "  fault of the drive in {of}: {fault}, {}", fault.effect());
    }
    match log.marks(interval.at()).last() {
        Some(mark) => {
            let _ = writeln!(text, "  last mark before the cut: {mark}");
        }
        None => text.push_str("  no mark before the cut\n"),
    }
    text
}
