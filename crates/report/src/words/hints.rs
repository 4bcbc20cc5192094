//! Advice and warnings: those in the runs, and those derived from their figures.

use crate::schema::report::Report;
use crate::words::labels::labels;
use crate::words::number;
use crate::words::phrases::{self, Said};

/// Whether a hint proposes an initial state.
fn begins(hint: &str) -> bool {
    hint.contains("--initial ")
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
                "{} of {} requests failed ({}); latencies and WAF cover the others, and are not marked best.",
                number::count(r.host.failures()),
                number::count(r.host.requests),
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
        if let Some(replicas) = r.replicas.as_ref().filter(|r| r.are_identical()) {
            let text = format!(
                "all {} replicas have identical results, so there are no intervals: this run does not \
                 depend on its seed.",
                replicas.runs.len()
            );
            add(text, run);
        }
    }
    phrases::once(hints, &labels(reports), 2)
}
