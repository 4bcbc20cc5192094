//! Bursts and files of requests, as figures of a trace or a twin.

use crate::generators::twin::files_found::class;
use crate::generators::twin::statistics::Statistics;
use wordline_units::HostOp;

/// Bursts and files of requests of one kind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct InBursts {
    /// Share of the requests in a burst.
    pub bursts: f64,
    /// Share of files among the requests in bursts, and among the others.
    pub files: f64,
    pub files_apart: f64,
    /// Mean number of requests per file. None without files.
    pub length: Option<f64>,
    /// Of the requests of files: the share in files that start on a 16 KiB boundary.
    pub aligned: Option<f64>,
    /// Share of the files that start after the previous one.
    pub near: Option<f64>,
}

impl InBursts {
    /// Of reads or of writes. None without such requests.
    pub(crate) fn of(statistics: &Statistics, op: HostOp) -> Option<InBursts> {
        let side = statistics.side(op);
        if side.requests() == 0 {
            return None;
        }
        let within = class(statistics.span_s() * 1e9 / side.requests() as f64) as usize;
        let totals = side.files().totals();
        let count = |gaps: &[u64]| gaps[..=within].iter().sum::<u64>() as f64;
        let (bursts, of_files) = (count(side.files().gaps()), count(&totals.gaps));
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let (all, requests) = (side.requests() as f64, totals.requests as f64);
        let some = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let aligned = totals.begins.range(32..).map(|(_, n)| n).sum();
        Some(InBursts {
            bursts: bursts / all,
            files: share(of_files, bursts),
            files_apart: share(requests - of_files, all - bursts),
            length: some(totals.requests, totals.files),
            aligned: some(aligned, totals.requests),
            near: some(totals.near, totals.files),
        })
    }
}
