//! Advice and warnings: those in the runs, and those derived from their figures.

use crate::schema::report::Report;
use crate::words::labels::labels;
use crate::words::number;
use crate::words::phrases::{self, Said};

/// Whether a hint proposes an initial state.
fn begins(hint: &str) -> bool {
    hint.contains("--initial ")
}

/// Requests from which on a percentile is not simply the slowest of them.
const FOR_P99: u64 = 100;
const FOR_P999: u64 = 1_000;

/// Says of which requests there are too few for a tail percentile.
fn few(count: u64, kind: &str) -> Option<String> {
    let which = match count {
        0 | FOR_P999.. => return None,
        1..FOR_P99 => "p99 and p99.9",
        _ => "p99.9",
    };
    Some(format!(
        "{} {kind} are too few for {which}, which {} the slowest of them; p99.9 needs {} or more.",
        number::count(count),
        if count < FOR_P99 { "are" } else { "is" },
        number::count(FOR_P999)
    ))
}

/// Whether any run has so few requests of a kind that its p99.9 is their maximum.
pub(crate) fn are_few(reports: &[Report]) -> bool {
    let kinds = |r: &Report| [r.latency_us.write, r.latency_us.read];
    reports.iter().flat_map(kinds).flatten().any(|l| l.count > 0 && l.count < FOR_P999)
}

/// Advice of all runs and further warnings, each once, with the runs concerned.
pub(crate) fn hints(reports: &[Report]) -> Vec<Said> {
    let mut hints: Vec<(usize, String)> = Vec::new();
    let mut add = |text: String, run| hints.push((run, text));
    for (run, r) in reports.iter().enumerate() {
        if r.host.failures() > 0 {
            let outcomes: Vec<String> = r
                .host
                .failed
                .iter()
                .filter(|(_, n)| **n > 0)
                .map(|(outcome, n)| format!("{} {}", number::count(*n), outcome.replace('_', " ")))
                .collect();
            let text = format!(
                "{} of {} failed ({}); latencies and WAF cover the others, and are not marked best.",
                number::count(r.host.failures()),
                number::requests(r.host.requests),
                outcomes.join(", ")
            );
            add(text, run);
        }
        if r.host.unplaced_bytes > 0 {
            let text = format!(
                "{} of acknowledged writes are still in the write buffer at the end, because the drive is \
                 full. A power cut does not lose them; a trim frees space.",
                number::bytes(r.host.unplaced_bytes)
            );
            add(text, run);
        }
    }
    // What one run could begin with, another may have no room for.
    let all_begin_so = reports.iter().all(|r| r.hints.iter().any(|hint| begins(hint)));
    for (run, r) in reports.iter().enumerate() {
        for hint in r.hints.iter().filter(|hint| all_begin_so || !begins(hint)) {
            add(hint.clone(), run);
        }
        for (latency, kind) in [(r.latency_us.write, "writes"), (r.latency_us.read, "reads")] {
            if let Some(text) = latency.and_then(|l| few(l.count, kind)) {
                add(text, run);
            }
        }
        if let Some(replicas) = r.replicas.as_ref().filter(|r| r.are_identical()) {
            let text = format!(
                "{} replicas have identical results, so there are no intervals: this run does not \
                 depend on its seed.",
                phrases::all_of(replicas.runs.len())
            );
            add(text, run);
        }
    }
    phrases::once(hints, &labels(reports), 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With fewer than 1,000 requests the rank of p99.9 is the last one; with fewer than 100, that of p99 too.
    #[test]
    fn few_requests_are_noted_until_p_differs_from_max() {
        let said = |count| few(count, "writes").unwrap_or_default();
        assert!(
            said(50).starts_with("50 writes are too few for p99 and p99.9, which are the slowest of them;")
        );
        assert!(said(999).starts_with("999 writes are too few for p99.9, which is the slowest of them;"));
        assert_eq!([said(0), said(1_000)], ["", ""]);
    }
}
