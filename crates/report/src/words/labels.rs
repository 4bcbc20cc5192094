//! Conventions shared by all pictures and tables: labels of runs, which runs can be marked best, and the meaning of
//! ±.

use crate::schema::replicas::mean;
use crate::schema::report::Report;
use std::borrow::Borrow;

/// A distinct name for each run: the scheme's, numbered if repeated.
pub(crate) fn labels(reports: &[Report]) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::with_capacity(reports.len());
    reports
        .iter()
        .map(|r| {
            let name = r.scheme.name.as_str();
            seen.push(name);
            match seen.iter().filter(|s| **s == name).count() {
                1 => name.to_string(),
                n => format!("{name} ({n})"),
            }
        })
        .collect()
}

/// Meaning of ± and % with replicas and differences; `None` where none of them has an interval.
pub(crate) fn replicas(reports: &[Report]) -> Option<String> {
    Some(intervals(reports)? + if reports.len() > 1 { "; differences are paired by seed." } else { "." })
}

/// Meaning of ± with replicas, without its full stop.
pub(crate) fn intervals(reports: &[Report]) -> Option<String> {
    let count = reports.iter().filter_map(|r| r.replicas.as_ref()).find(|r| !r.are_identical())?.runs.len();
    Some(format!("Means of {count} replicas ± half-width of the 95 % confidence interval (Student's t)"))
}

/// Which runs can be marked best: those without failed requests. A drive that fails requests is fast for the wrong
/// reason.
pub(crate) fn eligible(reports: &[impl Borrow<Report>]) -> Vec<bool> {
    reports.iter().map(|r| failures(r.borrow()) == 0.0).collect()
}

/// Requests that came out with an error, the mean over the replicas.
fn failures(report: &Report) -> f64 {
    mean(report, &|r| Some(r.host.failures() as f64)).unwrap_or(0.0)
}
