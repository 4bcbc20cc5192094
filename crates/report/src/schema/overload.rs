//! Whether requests arrived faster than the drive completed them. Latencies of such a run measure a queue that
//! grows with its length, so no conclusion is drawn from them; throughput can be compared.

use crate::schema::report::Report;
use std::borrow::Borrow;

/// An overloaded open loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overload {
    /// Requests under way on average, by Little's law.
    pub under_way: f64,
    /// Requests that the drive admits at once.
    pub admitted: u64,
}

/// More outstanding requests on average than the drive admits: most of the latency is then waiting for
/// admission. `None` for a closed loop, or where the drive kept up.
pub fn overload(report: &Report) -> Option<Overload> {
    let admitted = report.config.pointer("/pacing/open/queue_depth")?.as_u64()?;
    let kinds = [report.latency_us.read, report.latency_us.write];
    let sum_us: f64 = kinds.into_iter().flatten().map(|l| l.mean * l.count as f64).sum();
    let under_way = sum_us / 1e6 / report.simulated_s.max(1e-9);
    (under_way > admitted as f64).then_some(Overload { under_way, admitted })
}

/// Which runs are overloaded, where others are not: their latencies cannot be compared with those of the others.
pub(crate) fn overloaded_among(reports: &[impl Borrow<Report>]) -> Vec<bool> {
    let are: Vec<bool> = reports.iter().map(|report| overload(report.borrow()).is_some()).collect();
    if are.contains(&false) { are } else { vec![false; are.len()] }
}

/// Whether all runs are overloaded, so that no latency can be compared.
pub(crate) fn all_overloaded(reports: &[impl Borrow<Report>]) -> bool {
    !reports.is_empty() && reports.iter().all(|report| overload(report.borrow()).is_some())
}
