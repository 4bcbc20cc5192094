//! Counts by cause, kind or mode, under their words in reports.

use crate::amounts::Nanoseconds;
use crate::cause::{Cause, Due, OpKind};
use std::collections::BTreeMap;
use wordline_units::CellMode;

fn named<K>(all: impl IntoIterator<Item = (&'static str, K)>) -> BTreeMap<String, K> {
    all.into_iter().map(|(word, count)| (word.to_string(), count)).collect()
}

/// By cause of programs, without causes of zero.
pub fn by_cause(counts: &[u64; Cause::COUNT]) -> BTreeMap<String, u64> {
    let all = Cause::PROGRAMS.map(|cause| (cause.word(), counts[cause as usize]));
    named(all.into_iter().filter(|(_, count)| *count > 0))
}

/// Durations by cause of programs in seconds, without causes of zero.
pub(crate) fn seconds_by_cause(durations: &[Nanoseconds; Cause::COUNT]) -> BTreeMap<String, f64> {
    let all = Cause::PROGRAMS.map(|cause| (cause.word(), durations[cause as usize]));
    named(all.into_iter().filter(|(_, time)| time.0 > 0).map(|(word, time)| (word, time.seconds())))
}

/// By cause of reads.
pub fn by_reader(counts: &[u64; Cause::COUNT]) -> BTreeMap<String, u64> {
    named(Cause::READS.map(|cause| (cause.word(), counts[cause as usize])))
}

/// By the kind of operation.
pub fn by_kind(counts: &[u64; OpKind::COUNT]) -> BTreeMap<String, u64> {
    named(OpKind::ALL.map(|kind| (kind.key(), counts[kind as usize])))
}

/// By reason of a refresh.
pub fn by_due(counts: &[u64; Due::COUNT]) -> BTreeMap<String, u64> {
    named(Due::ALL.map(|due| (due.key(), counts[due as usize])))
}

/// Lists of counts of equal length by mode, stored one after another: each up to its last count, without empty modes.
#[expect(clippy::ptr_arg, reason = "it is given the counter as it is declared")]
pub(crate) fn lists_by_mode(lists: &Vec<u64>) -> BTreeMap<String, Vec<u64>> {
    let length = (lists.len() / CellMode::ALL.len()).max(1);
    let up_to_last =
        |list: &[u64]| list[..list.iter().rposition(|n| *n > 0).map_or(0, |last| last + 1)].to_vec();
    let all = CellMode::ALL
        .into_iter()
        .zip(lists.chunks(length))
        .map(|(mode, list)| (mode.key(), up_to_last(list)));
    named(all.filter(|(_, list)| !list.is_empty()))
}
